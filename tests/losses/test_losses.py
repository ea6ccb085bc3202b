"""Losses: derivatives, bounds, limits, the identities of the paper and of Theorem 2."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from noisylabels.losses import margin as losses

EVERY = [make() for make in losses.LOSSES.values()]
EVERY += [losses.Ramp(-2.0), losses.SmoothRamp(-0.7, 3.0, -0.15), losses.RGomp(0.5), losses.RGomp(4.0)]
each_loss = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: f"{loss.name}{loss.parameters}")


@each_loss
def test_slope_is_the_central_difference(loss):
    z = np.random.default_rng(1).uniform(-4, 4, 400)
    z = z[np.all([np.abs(z - kink) > 1e-3 for kink in (*loss.kinks, 9.0)], axis=0)]
    h = 1e-6
    difference = (loss.value(z + h) - loss.value(z - h)) / (2 * h)
    np.testing.assert_allclose(loss.slope(z), difference, rtol=1e-7, atol=2e-8)


@each_loss
def test_curvature_is_the_largest_second_derivative(loss):
    if loss.smooth and loss.name != "unhinged":
        z = np.linspace(-6, 6, 200_001)
        h = 1e-5
        second = np.abs(loss.slope(z + h) - loss.slope(z - h)) / (2 * h)
        assert second.max() == pytest.approx(loss.curvature, rel=1e-6)


@each_loss
@given(z=st.floats(-1e6, 1e6))
def test_value_is_monotone_and_bounded(loss, z):
    value = float(loss.value(z))
    assert value <= loss.bound * (1 + 1e-15)
    assert value >= 0 or loss.name == "unhinged"
    if loss.decreasing:
        assert loss.slope(z) <= 0
        assert value >= loss.value(z + 1e-3)


@each_loss
@given(z=st.floats(-9, 9), gap=st.floats(0, 9))
def test_the_slope_of_a_convex_loss_never_falls(loss, z, gap):
    if loss.convex:
        assert loss.slope(z + gap) >= loss.slope(z)


def test_a_loss_that_is_not_convex_says_so():
    z = np.linspace(-4, 4, 801)
    for loss in EVERY:
        assert loss.convex == (np.diff(loss.slope(z)) >= 0).all()


@each_loss
def test_extreme_margins_are_finite_and_silent(loss):
    z = np.array([-1e300, -1e6, -800.0, -40.0, 0.0, 40.0, 800.0, 1e6, 1e300])
    if loss.name == "squared_hinge":
        z = z[1:]  # 1e600 is not a number of this machine
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.all(np.isfinite(loss.value(z)))
        assert np.all(np.isfinite(loss.slope(z)))


@pytest.mark.parametrize(
    "loss", [loss for loss in EVERY if math.isfinite(loss.bound)], ids=lambda loss: loss.name
)
def test_bounded_losses_reach_their_bound_and_lose_their_slope_at_both_ends(loss):
    assert float(loss.value(-1e6)) == pytest.approx(loss.bound, rel=1e-5)
    np.testing.assert_allclose(loss.slope([-1e6, 1e6]), 0.0, atol=1e-10)


@pytest.mark.parametrize("s", [-0.7, -1.0, -2.0, 0.0])
def test_ramp_is_a_difference_of_hinges(s):
    z = np.linspace(-5, 5, 1001)
    np.testing.assert_allclose(
        losses.Ramp(s).value(z), np.maximum(1 - z, 0) - np.maximum(s - z, 0), atol=1e-15
    )


@pytest.mark.parametrize("c", [0.5, 1.0, 2.0, 4.0])
def test_reversed_gompertz_landmarks(c):
    loss = losses.RGomp(c)
    assert float(loss.value(0.0)) == pytest.approx(1 / math.e, rel=1e-15)
    assert float(loss.slope(0.0)) == pytest.approx(-c / math.e, rel=1e-15)
    assert np.abs(loss.slope(np.linspace(-9, 9, 10_001))).max() == pytest.approx(c / math.e, rel=1e-12)
    assert loss.curvature == pytest.approx(0.30900 * c**2, rel=1e-4)


@pytest.mark.parametrize(("s", "alpha", "beta"), [(-0.7, 3.0, -0.15), (-1.0, 2.0, -0.03), (-2.0, 1.5, 0.5)])
def test_smooth_ramp_landmarks(s, alpha, beta):
    loss = losses.SmoothRamp(s, alpha, beta)
    assert float(loss.value(-beta)) == pytest.approx((1 - s) / 2, rel=1e-14)
    assert float(loss.slope(-beta)) == pytest.approx(-(1 - s) * alpha / 4, rel=1e-14)
    assert loss.curvature == pytest.approx(0.09623 * (1 - s) * alpha**2, rel=1e-4)


def test_sigmoid_is_a_smooth_ramp():
    z = np.linspace(-9, 9, 91)
    np.testing.assert_allclose(losses.Sigmoid().value(z), 1 / (1 + np.exp(z)), rtol=1e-14)


@pytest.mark.parametrize("update", ["smooth_ramp", "rgomp"])
def test_updates_are_those_of_algorithm_1(update):
    g = np.linspace(-8, 2, 101)
    if update == "smooth_ramp":
        phi = np.exp(2.0 * (g - 0.03))
        typed, slope = 2.0 * 2.0 * phi / (1 + phi) ** 2, losses.SmoothRamp(-1.0, 2.0, -0.03).slope(g)
    else:
        typed, slope = 2.0 * np.exp(2.0 * g - np.exp(2.0 * g)), losses.RGomp(2.0).slope(g)
    np.testing.assert_allclose(-slope, typed, rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "symmetric"),
    [
        (losses.SmoothRamp(-1.0, 2.0, 0.0), True),
        (losses.Sigmoid(), True),
        (losses.Unhinged(), True),
        (losses.Ramp(-1.0), True),
        (losses.SmoothRamp(-2.0, 1.5, 0.5), False),
        (losses.RGomp(2.0), False),
        (losses.Hinge(), False),
        (losses.Log(), False),
    ],
    ids=lambda item: getattr(item, "name", item),
)
def test_symmetric_loss_condition(loss, symmetric):
    z = np.linspace(-6, 6, 601)
    total = loss.value(z) + loss.value(-z)
    assert (np.ptp(total) < 1e-12) == symmetric


@pytest.mark.parametrize(
    "loss",
    [losses.SmoothRamp(-0.7, 3.0, -0.15), losses.SmoothRamp(), losses.SmoothRamp(-2.0, 1.5, 0.5)]
    + [losses.RGomp(c) for c in (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)],
    ids=lambda loss: f"{loss.name}{loss.parameters}",
)
def test_rs_10_the_weight_of_a_wrong_label_falls_with_its_distance(loss):
    z = np.linspace(-12, -1e-6, 4001)
    weight = loss.weight(z)
    assert np.all(np.diff(weight)[weight[:-1] > 0] > 0)


def test_rs_10_robust_weights_vanish_faster_than_the_hinge():
    far = -20.0
    assert losses.Hinge().weight(far) == pytest.approx(1 / 21)
    for loss in (losses.SmoothRamp(), losses.RGomp()):
        assert loss.weight(far) < 1e-10


def test_theorem_2_formulas():
    z = np.linspace(-5, -0.1, 50)
    s, alpha, beta, c = -1.0, 2.0, -0.03, 2.0
    delta = np.exp(alpha * beta)
    printed = (1 - s) * alpha * delta * np.exp(alpha * z) / ((1 - z) * (1 + delta * np.exp(alpha * z)) ** 2)
    np.testing.assert_allclose(losses.SmoothRamp(s, alpha, beta).weight(z), printed, rtol=1e-12)
    np.testing.assert_allclose(
        losses.RGomp(c).weight(z), c * np.exp(c * z - np.exp(c * z)) / (1 - z), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.Ramp(0.5), "s, the margin where the ramp becomes flat, must be <= 0, got 0.5"),
        (lambda: losses.Ramp(math.nan), "must be <= 0, got nan"),
        (lambda: losses.Ramp(-math.inf), "s: must be a finite number"),
        (lambda: losses.SmoothRamp(0.1), "must be <= 0"),
        (
            lambda: losses.SmoothRamp(-0.5),
            r"presets for s = -0\.7, -1\.0, -2\.0 only; for s = -0\.5 give alpha and beta",
        ),
        (lambda: losses.SmoothRamp(-1.0, 2.0), "give both alpha and beta, or neither; got 2.0 and None"),
        (
            lambda: losses.SmoothRamp(-1.0, 0.0, 0.0),
            "alpha, the steepness of the smooth ramp, must be > 0, got 0",
        ),
        (lambda: losses.SmoothRamp(-1.0, 1.0, math.nan), "beta: must be a finite number"),
        (lambda: losses.RGomp(0.0), "c, the steepness of the reversed Gompertz loss, must be > 0, got 0"),
        (lambda: losses.RGomp(math.inf), "c: must be a finite number"),
        (lambda: losses.resolve("rgom"), "loss: 'rgom' is unknown; known: log, hinge"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def nearest(s):
    """alpha, beta of least integrated square: beta puts the centre on the ramp's, by symmetry."""
    z, beta = np.linspace(-30, 30, 120_001), -(1 + s) / 2

    def distance(k):
        return ((losses.SmoothRamp(s, k / (1 - s), beta).value(z) - losses.Ramp(s).value(z)) ** 2).sum()

    k = minimize_scalar(distance, bounds=(3.0, 8.0), method="bounded").x
    return k / (1 - s), beta


def test_the_steepness_scales_with_the_width_of_the_ramp():
    assert [nearest(s)[0] * (1 - s) for s in losses.PRESETS] == pytest.approx([5.3011] * 3, abs=1e-3)


def test_only_the_first_preset_rounds_the_nearest_smooth_ramp():
    fits = {s: nearest(s) for s in losses.PRESETS}
    assert [round(fits[s][0], 3) for s in losses.PRESETS] == [3.118, 2.651, 1.767]
    assert losses.PRESETS[-0.7] == (round(fits[-0.7][0]), round(fits[-0.7][1], 2))
    assert losses.PRESETS[-1.0][0] != round(fits[-1.0][0])


@pytest.mark.parametrize("s", losses.PRESETS)
def test_without_alpha_and_beta_the_preset_is_taken(s):
    assert losses.SmoothRamp(s) == losses.SmoothRamp(s, *losses.PRESETS[s])
    assert losses.SmoothRamp(int(s) if s == int(s) else s).parameters == (s, *losses.PRESETS[s])
