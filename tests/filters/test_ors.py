"""The compiled loops of ORS equal the paper's formulas, each other, and respect its symmetries."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import as_rows, filters, sequence, told
from scipy.optimize import minimize_scalar

from noisylabels.filters.base import Filter, NoisySequence, Sliding, window_means, window_starts
from noisylabels.filters.lms import NLMS
from noisylabels.filters.ors import ORS, VARIANTS

shapes = st.tuples(st.integers(40, 120), st.integers(1, 30), st.booleans(), st.integers(0, 2**31))


def close(a: np.ndarray, b: np.ndarray, bound: float) -> bool:
    """Largest difference relative to the largest value."""
    return float(np.abs(a - b).max()) <= bound * float(np.abs(b).max())


@settings(max_examples=30)
@given(shapes, st.sampled_from(sorted(VARIANTS)))
def test_run_equals_the_formulas_of_the_paper(shape: tuple, variant: str) -> None:
    T, d, sliding, seed = shape
    data = sequence(T, d, sliding=sliding, seed=seed)
    f = next(f for f in filters() if f.variant == variant)
    assert close(f.run(data.x, data.labels[:, 0], **told(data)), reference.run(variant, data), 1e-12)


@settings(max_examples=15)
@given(shapes, st.integers(1, 7))
def test_losses_of_many_rows_equal_the_formulas_of_the_paper(shape: tuple, windows: int) -> None:
    T, d, sliding, seed = shape
    data = sequence(T, d, sliding=sliding, seed=seed)
    starts = window_starts(T, windows)
    wanted = [window_means((reference.run(v, data) - data.y) ** 2, starts) for v in VARIANTS]
    assert ORS.losses(filters(), data, windows) == pytest.approx(np.array(wanted), rel=1e-11)


@settings(max_examples=15, deadline=None)
@given(st.integers(64, 300), st.integers(0, 60), st.integers(-70, 70), st.integers(0, 2**31))
def test_blocks_of_a_sliding_window_equal_the_row_by_row_form(
    d: int, more: int, delay: int, seed: int
) -> None:
    data = sequence(d + 200 + more, d, sliding=True, delay=delay, seed=seed)
    rows = as_rows(data)
    for f, g in zip(filters(), filters(), strict=True):
        block = f.run(data.x, data.labels[:, 0], **told(data))
        assert close(block, g.run(rows.x, rows.labels[:, 0], **told(rows)), 1e-11)
        assert close(f.w, g.w, 1e-11)


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_filters_that_share_a_window_equal_filters_alone(count: int) -> None:
    data = sequence(500, 70, sliding=True)
    chosen = filters()[:count]
    together = ORS.losses(chosen, data, 3)
    assert together == pytest.approx(Filter.losses(chosen, data, 3), rel=1e-11)
    assert together == pytest.approx(ORS.losses(chosen, as_rows(data), 3), rel=1e-11)


@pytest.mark.parametrize("count", [1, 8, 9])
def test_lanes_do_not_depend_on_their_neighbours(count: int) -> None:
    data = sequence(300, 20)
    chosen = (filters() * 2)[:count]
    together = ORS.losses(chosen, data, 4)
    assert np.array_equal(together, np.concatenate([ORS.losses([f], data, 4) for f in chosen]))


def test_energy_survives_a_fall_into_silence() -> None:
    """A loud passage leaves rounding errors in the running sums that dwarf the quiet one after it."""
    rng = np.random.default_rng(3)
    T, d = 12000, 64
    loudness = np.where(np.arange(T) < 3000, 1e4, np.where(np.arange(T) < 9000, 1e-3, 1.0))
    x = Sliding(rng.normal(size=T) * loudness, d)
    y = rng.normal(size=T)
    f, g = ORS("noisy", r=1e-6), ORS("noisy", r=1e-6)
    assert close(f.run(x, y), g.run(x.rows(0, T), y), 1e-11)


def test_r_zero_on_a_sliding_window_interpolates() -> None:
    data = sequence(400, 80, sliding=True)
    f = ORS("noisy", r=0)
    f.run(data.x, data.labels[:, 0])
    assert f.predict(data.x.rows(399, 400)[0]) == pytest.approx(data.labels[399, 0], abs=1e-9)
    assert ORS.losses([f], data, 2) == pytest.approx(Filter.losses([f], data, 2), rel=1e-12)


@settings(max_examples=10)
@given(st.integers(2, 12), st.floats(0.01, 100.0), st.integers(0, 2**31))
def test_a_rotation_of_x_or_c_x_with_c_squared_r_changes_no_loss(d: int, c: float, seed: int) -> None:
    data = sequence(80, d, seed=seed)
    turn = c * np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    turned = NoisySequence(data.x @ turn, data.y, data.labels, data.v)
    found, wanted = ORS.losses(filters(2.0 * c * c), turned, 2), ORS.losses(filters(2.0), data, 2)
    assert found == pytest.approx(wanted, rel=1e-10)


def test_beta_zero_is_noisy_to_the_last_bit() -> None:
    data = sequence(300, 10)
    assert np.array_equal(*ORS.losses([ORS("beta", beta=0), ORS("noisy")], data, 5))


@pytest.mark.parametrize("variant", ["noisy", "one_pred_u", "two_u", "two_noisy", "clean"])
def test_variants_of_unknown_variance_do_not_read_it(variant: str) -> None:
    data = sequence(200, 6)
    other = NoisySequence(data.x, data.y, data.labels, 1 + 7 * data.v)
    f = ORS(variant)
    assert np.array_equal(ORS.losses([f], data, 2), ORS.losses([f], other, 2))
    side = {"second": data.labels[:, 1], "clean": data.y}
    blind = ORS(variant).run(data.x, data.labels[:, 0], **side)
    assert np.array_equal(blind, ORS(variant).run(data.x, data.labels[:, 0], v=data.v, **side))


def test_the_first_table_holds_on_figure_2() -> None:
    """Order and size of the final errors at shared r = 17.8, as in the paper's Fig. 2."""
    rng = np.random.default_rng(5)
    T, d = 50_000, 20
    x = rng.normal(size=(T, d))
    y = x @ rng.normal(size=d) + 0.1 * rng.normal(size=T)
    v = rng.uniform(0, 5, size=T)
    data = NoisySequence(x, y, y[:, None] + np.sqrt(v)[:, None] * rng.normal(size=(T, 2)), v)
    error = dict(zip(VARIANTS, ORS.losses(filters(r=17.8, beta=10.0), data, 1)[:, 0], strict=True))
    published = {"clean": 0.024, "noisy": 0.925, "beta": 0.116, "opt": 0.028, "one": 0.62, "one_pred": 0.373}
    published |= {"two": 0.321, "one_pred_u": 0.411, "two_u": 0.379, "two_noisy": 0.473}
    for variant, value in published.items():
        assert error[variant] == pytest.approx(value, rel=0.25), variant
    assert error["opt"] < error["beta"] < error["one_pred"] < error["one"] < error["noisy"]


positive = st.floats(0.05, 20.0)
seeds = st.integers(0, 2**32 - 1)


class Step:
    """One round with a known w, x, clean label y, variance v, weight r."""

    def __init__(self, seed: int, r: float, v: float, d: int = 4) -> None:
        rng = np.random.default_rng(seed)
        self.w, self.x = rng.normal(size=d), rng.normal(size=d)
        self.yhat, self.X = float(self.w @ self.x), float(self.x @ self.x)
        self.y = self.yhat + rng.choice([-1, 1]) * rng.uniform(0.1, 3)
        self.delta, self.r, self.v = self.y - self.yhat, r, v
        self.labels = (self.y - np.sqrt(v), self.y + np.sqrt(v))

    def update(self, label: float, r_t: float) -> np.ndarray:
        """Equation (4)."""
        return self.w + (label - self.yhat) * self.x / (r_t + self.X)

    def cost(self, w: np.ndarray, label: float, share: float = 1.0) -> float:
        """The objective C, or C~ with the example shrunk by sqrt(share)."""
        return float(0.5 * np.sum((w - self.w) ** 2) + share / (2 * self.r) * (label - w @ self.x) ** 2)

    def expected_cost(self, r_t: float) -> float:
        """E C(w_t) over the two labels."""
        return float(np.mean([self.cost(self.update(label, r_t), self.y) for label in self.labels]))

    @property
    def best_r(self) -> float:
        """Equation (5)."""
        return self.r + (self.r + self.X) * self.v / self.delta**2

    def ors(self, variant: str, label: float, **side: float) -> np.ndarray:
        """w after one round of the class."""
        beta = side.pop("beta", None)
        f = ORS(variant, r=self.r, beta=beta)
        f._start(len(self.w))
        f.w = self.w.copy()
        f.run(self.x[None], [label], **{name: [value] for name, value in side.items()})
        return f.w


@given(seeds, positive, positive)
def test_equation_5_minimises_the_expected_clean_cost(seed: int, r: float, v: float) -> None:
    step = Step(seed, r, v)
    found = minimize_scalar(
        lambda q: step.expected_cost(1 / q - step.X), bounds=(1e-9, 1 / step.X), method="bounded"
    )
    # a quadratic in q = 1/(r_t + X_t): its vertex is known to about the square root of the rounding error
    assert found.x == pytest.approx(1 / (step.best_r + step.X), rel=1e-4)
    assert step.expected_cost(step.best_r) <= found.fun * (1 + 1e-12)


@given(seeds, positive, positive)
def test_the_first_definition_of_alpha_is_degenerate(seed: int, r: float, v: float) -> None:
    """min_w C~(w) = e^2 / (2 (r/alpha + X)) grows with alpha, so minimising it over alpha always gives 0."""
    step = Step(seed, r, v)
    shares = np.linspace(0.05, 1, 20)
    label = step.labels[1] if abs(step.labels[1] - step.yhat) > 1e-3 else step.labels[0]
    least = [step.cost(step.update(label, r / share), label, share) for share in shares]
    assert np.all(np.diff(least) > 0)
    assert least == pytest.approx((label - step.yhat) ** 2 / (2 * (r / shares + step.X)), rel=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
def test_zero_rows_and_exact_predictions_do_no_harm(variant: str) -> None:
    """r = 0 with x = 0, delta = v = 0: the 0/0 of the formulas."""
    x = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    y = np.array([1.0, 1.0, 1.0, 0.0])
    for r in (0.0, 1.0):
        f = ORS(variant, r=r, beta=1.0 if variant == "beta" else None)
        f.fit(x, y, v=0.0, second=y, clean=y)
        assert np.isfinite(f.w).all()
    assert np.array_equal(ORS("noisy", r=0).fit(x, y).w, [1.0, 0.0])


@given(seeds, positive, positive)
def test_one_pred_u_is_nlms_with_half_a_step(seed: int, r: float, v: float) -> None:
    """Its two proxies cancel: g = 1/2 whatever the noise. So it is "noisy" with r' = 2 r + X."""
    step = Step(seed, r, v)
    for label in step.labels:
        w = step.ors("one_pred_u", label)
        half = NLMS(mu=0.5, eps=r)
        half._start(len(step.w))
        half.w = step.w.copy()
        assert w == pytest.approx(half.partial_fit(step.x[None], [label]).w, rel=1e-13, abs=1e-13)
        assert w == pytest.approx(step.update(label, 2 * r + step.X), rel=1e-13, abs=1e-13)


def test_two_full_is_two_with_twice_the_variance() -> None:
    rng = np.random.default_rng(0)
    x, y, second, v = rng.normal(size=(50, 3)), rng.normal(size=50), rng.normal(size=50), rng.uniform(size=50)
    full = ORS("two", r=1, two_variance="full").run(x, y, second=second, v=v)
    assert np.array_equal(full, ORS("two", r=1).run(x, y, second=second, v=2 * v))
