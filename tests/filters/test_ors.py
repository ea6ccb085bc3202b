"""The compiled loops of ORS equal the paper's formulas, each other, and respect its symmetries."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import as_rows, filters, sequence, side_information
from scipy.optimize import minimize_scalar

from noisylabels.filters.base import Filter, NoisySequence, Sliding, window_means, window_starts
from noisylabels.filters.lms import NLMS
from noisylabels.filters.ors import ORS, VARIANTS

shapes = st.tuples(st.integers(40, 120), st.integers(1, 30), st.booleans(), st.integers(0, 2**31))


def close(a, b, bound):
    """Decide whether the largest difference, relative to the largest value, is within a bound."""
    difference = float(np.abs(a - b).max())
    return difference <= bound * float(np.abs(b).max())


@settings(max_examples=30)
@given(shapes, st.sampled_from(sorted(VARIANTS)))
def test_run_equals_the_formulas_of_the_paper(shape, variant):
    T, d, sliding, seed = shape
    data = sequence(T, d, sliding=sliding, seed=seed)
    (f,) = [f for f in filters() if f.variant == variant]
    prediction = f.run(data.x, data.labels[:, 0], **side_information(data))
    wanted = reference.run(variant, data)
    assert close(prediction, wanted, 1e-12)


@settings(max_examples=15)
@given(shapes, st.integers(1, 7))
def test_losses_of_many_rows_equal_the_formulas_of_the_paper(shape, windows):
    T, d, sliding, seed = shape
    data = sequence(T, d, sliding=sliding, seed=seed)
    starts = window_starts(T, windows)
    wanted = []
    for variant in VARIANTS:
        prediction = reference.run(variant, data)
        squared_error = (prediction - data.y) ** 2
        wanted.append(window_means(squared_error, starts))
    losses = ORS.losses(filters(), data, windows)
    assert losses == pytest.approx(np.array(wanted), rel=1e-11)


@settings(max_examples=15, deadline=None)
@given(st.integers(64, 300), st.integers(0, 60), st.integers(-70, 70), st.integers(0, 2**31))
def test_blocks_of_a_sliding_window_equal_the_row_by_row_form(d, extra_rows, delay, seed):
    data = sequence(d + 200 + extra_rows, d, sliding=True, delay=delay, seed=seed)
    rows = as_rows(data)
    for f, g in zip(filters(), filters(), strict=True):
        by_block = f.run(data.x, data.labels[:, 0], **side_information(data))
        by_row = g.run(rows.x, rows.labels[:, 0], **side_information(rows))
        assert close(by_block, by_row, 1e-11)
        assert close(f.w, g.w, 1e-11)


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_filters_that_share_a_window_equal_filters_alone(count):
    data = sequence(500, 70, sliding=True)
    chosen = filters()[:count]
    together = ORS.losses(chosen, data, 3)
    alone = Filter.losses(chosen, data, 3)
    assert together == pytest.approx(alone, rel=1e-11)
    of_rows = ORS.losses(chosen, as_rows(data), 3)
    assert together == pytest.approx(of_rows, rel=1e-11)


@pytest.mark.parametrize("count", [1, 8, 9])
def test_lanes_do_not_depend_on_their_neighbours(count):
    data = sequence(300, 20)
    chosen = (filters() * 2)[:count]
    together = ORS.losses(chosen, data, 4)
    alone = [ORS.losses([f], data, 4) for f in chosen]
    assert np.array_equal(together, np.concatenate(alone))


def test_energy_survives_a_fall_into_silence():
    """A loud passage leaves rounding errors in running sums that dwarf the quiet one after it."""
    rng = np.random.default_rng(3)
    T, d = 12000, 64
    loudness = np.repeat([1e4, 1e-3, 1.0], [3000, 6000, 3000])
    x = Sliding(rng.normal(size=T) * loudness, d)
    y = rng.normal(size=T)
    by_block = ORS("noisy", r=1e-6).run(x, y)
    by_row = ORS("noisy", r=1e-6).run(x.rows(0, T), y)
    assert close(by_block, by_row, 1e-11)


@settings(max_examples=10)
@given(st.integers(2, 12), st.floats(0.01, 100.0), st.integers(0, 2**31))
def test_a_rotation_of_x_or_c_x_with_c_squared_r_changes_no_loss(d, c, seed):
    data = sequence(80, d, seed=seed)
    matrix = np.random.default_rng(seed).normal(size=(d, d))
    rotation, _ = np.linalg.qr(matrix)
    turned = NoisySequence(data.x @ (c * rotation), data.y, data.labels, data.v)
    losses = ORS.losses(filters(2.0 * c * c), turned, 2)
    wanted = ORS.losses(filters(2.0), data, 2)
    assert losses == pytest.approx(wanted, rel=1e-10)


def test_beta_zero_is_noisy_to_the_last_bit():
    data = sequence(300, 10)
    fixed_weighting = ORS("beta", beta=0)
    of_beta, of_noisy = ORS.losses([fixed_weighting, ORS("noisy")], data, 5)
    assert np.array_equal(of_beta, of_noisy)


@pytest.mark.parametrize("variant", ["noisy", "one_pred_u", "two_u", "two_noisy", "clean"])
def test_variants_of_unknown_variance_do_not_read_it(variant):
    data = sequence(200, 6)
    with_other_variances = NoisySequence(data.x, data.y, data.labels, 1 + 7 * data.v)
    f = ORS(variant)
    losses = ORS.losses([f], data, 2)
    other_losses = ORS.losses([f], with_other_variances, 2)
    assert np.array_equal(losses, other_losses)
    first, second = data.labels.T
    side = {"second": second, "clean": data.y}
    blind = ORS(variant).run(data.x, first, **side)
    informed = ORS(variant).run(data.x, first, v=data.v, **side)
    assert np.array_equal(blind, informed)


positive = st.floats(0.05, 20.0)
seeds = st.integers(0, 2**32 - 1)


@given(seeds, positive, positive)
def test_equation_5_minimises_the_expected_clean_cost(seed, r, v):
    """E of |w' - w|^2 / 2 + (y - w' x)^2 / (2 r) over two labels y +- sqrt(v), from a known w."""
    rng = np.random.default_rng(seed)
    w, x = rng.normal(size=(2, 4))
    prediction = w @ x
    y = prediction + rng.choice([-1, 1]) * rng.uniform(0.1, 3)
    deviation = np.sqrt(v)
    labels = np.array([y - deviation, y + deviation])

    def cost(weights_of_labels):
        moves = weights_of_labels - w
        distances = np.sum(moves**2, axis=1) / 2
        errors = y - weights_of_labels @ x
        return float(np.mean(distances + errors**2 / (2 * r)))

    def cost_of_step(step):
        steps = step * (labels - prediction)
        return cost(w + np.outer(steps, x))

    chosen = []
    for label in labels:
        f = ORS("opt", r=r)
        f._start(4)
        f.w = w.copy()
        f.partial_fit(x[None], [label], v=v, clean=[y])
        chosen.append(f.w)
    lowest = minimize_scalar(cost_of_step)
    assert cost(np.array(chosen)) == pytest.approx(lowest.fun, rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_zero_rows_and_exact_predictions_do_no_harm(variant):
    """r = 0 with x = 0, delta = v = 0: the 0/0 of the formulas."""
    x = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    y = np.array([1.0, 1.0, 1.0, 0.0])
    beta = 1.0 if variant == "beta" else None
    for r in (0.0, 1.0):
        f = ORS(variant, r=r, beta=beta)
        f.fit(x, y, v=0.0, second=y, clean=y)
        assert np.isfinite(f.w).all()
    unregularised = ORS("noisy", r=0).fit(x, y)
    assert np.array_equal(unregularised.w, [1.0, 0.0])


@given(seeds, positive)
def test_one_pred_u_is_nlms_with_half_a_step(seed, r):
    """Its two proxies cancel: g = 1/2 whatever the noise."""
    data = sequence(60, 4, seed=seed)
    labels = data.labels[:, 0]
    half = NLMS(mu=0.5, eps=r).run(data.x, labels)
    prediction = ORS("one_pred_u", r=r).run(data.x, labels)
    assert prediction == pytest.approx(half, rel=1e-11, abs=1e-13)


def test_two_full_is_two_with_twice_the_variance():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    y = rng.normal(size=50)
    second = rng.normal(size=50)
    v = rng.uniform(size=50)
    full = ORS("two", r=1, two_variance="full").run(x, y, second=second, v=v)
    half = ORS("two", r=1).run(x, y, second=second, v=2 * v)
    assert np.array_equal(full, half)
