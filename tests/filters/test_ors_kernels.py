"""The compiled loops of ORS equal the paper's formulas, each other, and respect its symmetries."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import as_rows, filters, sequence, told

from noisylabels.filters.base import Filter, NoisySequence, Sliding, window_means, window_starts
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
@given(st.integers(2, 12), st.integers(0, 2**31))
def test_variants_commute_with_a_rotation_of_x(d: int, seed: int) -> None:
    data = sequence(80, d, seed=seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    turned = NoisySequence(data.x @ turn, data.y, data.labels, data.v)
    assert ORS.losses(filters(), turned, 2) == pytest.approx(ORS.losses(filters(), data, 2), rel=1e-10)


@settings(max_examples=10)
@given(st.floats(0.01, 100.0), st.integers(0, 2**31))
def test_scaling_x_by_c_and_r_by_c_squared_changes_no_prediction(c: float, seed: int) -> None:
    data = sequence(80, 5, seed=seed)
    scaled = NoisySequence(c * data.x, data.y, data.labels, data.v)
    wanted = ORS.losses(filters(r=2.0), data, 2)
    assert ORS.losses(filters(r=2.0 * c * c), scaled, 2) == pytest.approx(wanted, rel=1e-10)


def test_beta_zero_is_noisy_to_the_last_bit() -> None:
    data = sequence(300, 10)
    assert np.array_equal(*ORS.losses([ORS("beta", beta=0), ORS("noisy")], data, 5))


def test_small_r_sees_only_the_product_of_r_and_beta() -> None:
    """A ridge in the tuning of (r, beta), not an edge of the grid."""
    data = sequence(2000, 10)
    a, b = ORS.losses([ORS("beta", r=1e-6, beta=1e8), ORS("beta", r=1e-7, beta=1e9)], data, 1)[:, 0]
    assert a == pytest.approx(b, rel=1e-5)


@pytest.mark.parametrize("variant", ["noisy", "one_pred_u", "two_u", "two_noisy", "clean"])
def test_variants_of_unknown_variance_do_not_read_it(variant: str) -> None:
    data = sequence(200, 6)
    other = NoisySequence(data.x, data.y, data.labels, 1 + 7 * data.v)
    f = ORS(variant)
    assert np.array_equal(ORS.losses([f], data, 2), ORS.losses([f], other, 2))
    side = {"second": data.labels[:, 1], "clean": data.y}
    blind = ORS(variant).run(data.x, data.labels[:, 0], **side)
    assert np.array_equal(blind, ORS(variant).run(data.x, data.labels[:, 0], v=data.v, **side))


def test_losses_leave_the_filters_as_they_were() -> None:
    data = sequence(100, 4)
    f = ORS("noisy").fit(data.x, data.labels[:, 0])
    before = f.w.copy()
    ORS.losses([f], data, 1)
    assert np.array_equal(f.w, before)


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
