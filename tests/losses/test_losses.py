"""Losses: derivatives, bounds, limits, the identities of the paper and of Theorem 2."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import central_difference
from scipy.optimize import minimize_scalar

from noisylabels.losses import margin as losses

LOSSES = [
    *[make() for make in losses.LOSSES.values()],
    losses.Ramp(-2.0),
    losses.SmoothRamp(-0.7, 3.0, -0.15),
    losses.SmoothRamp(-1.0, 2.0, 0.0),
    losses.RGomp(0.5),
    losses.RGomp(4.0),
]
SYMMETRIC = ("sigmoid", "unhinged")


def name_loss(loss):
    return f"{loss.name}{loss.parameters}"


each_loss = pytest.mark.parametrize("loss", LOSSES, ids=name_loss)


@each_loss
def test_slope_is_the_central_difference_and_curvature_the_largest_second_derivative(loss):
    z = np.random.default_rng(1).uniform(-4, 4, 400)
    difference = central_difference(loss.value, z, 1e-6)  # no point is that near to a kink
    assert_allclose(loss.slope(z), difference, rtol=1e-7, atol=2e-8)
    slopes = loss.slope(np.linspace(-9, 9, 1801))
    assert loss.convex == (np.diff(slopes) >= 0).all()
    if loss.smooth and loss.name != "unhinged":
        z = np.linspace(-6, 6, 200_001)
        second = central_difference(loss.slope, z, 1e-5)
        assert np.abs(second).max() == pytest.approx(loss.curvature, rel=1e-6)


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
def test_extreme_margins_are_finite_and_silent(loss):
    z = np.array([-1e300, -1e6, -800.0, -40.0, 0.0, 40.0, 800.0, 1e6, 1e300])
    if loss.name == "squared_hinge":
        z = z[1:]  # 1e600 is too large for a float
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.isfinite(loss.value(z)).all()
        assert np.isfinite(loss.slope(z)).all()


@each_loss
def test_bounded_losses_reach_their_bound_and_lose_their_slope_at_both_ends(loss):
    if math.isfinite(loss.bound):
        assert float(loss.value(-1e6)) == pytest.approx(loss.bound, rel=1e-5)
        assert_allclose(loss.slope([-1e6, 1e6]), 0.0, atol=1e-10)


@pytest.mark.parametrize("c", [0.5, 1.0, 2.0, 4.0])
def test_the_reversed_gompertz_loss_is_its_formula(c):
    loss = losses.RGomp(c)
    z = np.linspace(-9, 9, 10_001)
    formula = np.exp(-np.exp(c * z))
    assert_allclose(loss.value(z), formula, rtol=1e-12, atol=1e-100)
    steepest = np.abs(loss.slope(z)).max()
    assert steepest == pytest.approx(c / math.e, rel=1e-12)


@each_loss
def test_symmetric_loss_condition(loss):
    z = np.linspace(-6, 6, 601)
    symmetric_ramps = (losses.SmoothRamp(-1.0, 2.0, 0.0), losses.Ramp(-1.0))
    is_symmetric = loss in symmetric_ramps or loss.name in SYMMETRIC
    sums = loss.value(z) + loss.value(-z)
    is_constant = np.ptp(sums) < 1e-12
    assert is_constant == is_symmetric


@pytest.mark.parametrize("s", [-0.7, -1.0, -2.0, 0.0])
def test_ramps_are_their_formulas(s):
    z = np.linspace(-5, 5, 1001)
    ramp = losses.Ramp(s)
    hinges = np.maximum(1 - z, 0) - np.maximum(s - z, 0)
    assert_allclose(ramp.value(z), hinges, atol=1e-15)
    smooth_ramp = losses.SmoothRamp(s, 1.5, 0.2)
    logistic = (1 - s) / (1 + np.exp(1.5 * (z + 0.2)))
    assert_allclose(smooth_ramp.value(z), logistic, rtol=1e-14)
    sigmoid = losses.Sigmoid()
    ramp_of_sigmoid = losses.SmoothRamp(0, 1, 0)
    assert_allclose(sigmoid.value(z), ramp_of_sigmoid.value(z), rtol=1e-14)


def weight(loss, z):
    """phi(z) = -r'(z) / (1 - z): the weight of an example in an equivalent least-squares fit."""
    return -loss.slope(z) / (1.0 - z)


@pytest.mark.parametrize("s", losses.PRESETS)
def test_theorem_2_the_weights_of_a_smooth_ramp_and_of_the_reversed_gompertz_loss(s):
    z = np.linspace(-8, 0.9, 50)
    alpha, beta = losses.PRESETS[s]
    ramp = losses.SmoothRamp(s)
    phi = np.exp(alpha * (z + beta))
    published = (1 - s) * alpha * phi / ((1 - z) * (1 + phi) ** 2)
    assert_allclose(weight(ramp, z), published, rtol=1e-12)
    assert ramp == losses.SmoothRamp(s, alpha, beta)
    gompertz = losses.RGomp(2.0)
    published = 2.0 * np.exp(2.0 * z - np.exp(2.0 * z)) / (1 - z)
    assert_allclose(weight(gompertz, z), published, rtol=1e-12)


ROBUST = [losses.SmoothRamp(s) for s in losses.PRESETS]
ROBUST += [losses.RGomp(c) for c in (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)]


@pytest.mark.parametrize("loss", ROBUST, ids=name_loss)
def test_rs_10_the_weight_of_a_wrong_label_falls_with_its_distance(loss):
    weights = weight(loss, np.linspace(-12, -1e-6, 4001))
    rises = np.diff(weights)
    is_positive = weights[:-1] > 0
    assert (rises[is_positive] > 0).all()
    assert weight(losses.Hinge(), -20.0) == pytest.approx(1 / 21)
    # the robust ones vanish faster
    assert weight(losses.SmoothRamp(), -20.0) < 1e-10
    assert weight(losses.RGomp(), -20.0) < 1e-10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.Ramp(0.5), "s: must be a finite number <= 0, got 0.5"),
        (
            lambda: losses.SmoothRamp(-0.5),
            r"alpha and beta, or neither and s = -0\.7, -1\.0, -2\.0; got",
        ),
        (lambda: losses.SmoothRamp(-1.0, 2.0), r"both alpha and beta.*alpha=2\.0, beta=None"),
        (lambda: losses.SmoothRamp(-1.0, 0.0, 0.0), "alpha: must be a finite number > 0, got 0"),
        (lambda: losses.SmoothRamp(-1.0, 1.0, math.nan), "beta: must be a finite number"),
        (lambda: losses.RGomp(0.0), "c: must be a finite number > 0, got 0"),
        (lambda: losses.resolve("rgom"), "loss: 'rgom' is unknown; known: log, hinge"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("s", "alpha"), [(-0.7, 3.118), (-1.0, 2.651), (-2.0, 1.767)])
def test_only_the_first_preset_rounds_the_nearest_smooth_ramp(s, alpha):
    """In integrated square, alpha = 5.3011 / (1 - s); by symmetry beta centres it on the ramp."""
    z = np.linspace(-30, 30, 12_001)
    beta = -(1 + s) / 2
    ramp = losses.Ramp(s).value(z)

    def distance(k):
        smooth_ramp = losses.SmoothRamp(s, k / (1 - s), beta)
        difference = smooth_ramp.value(z) - ramp
        return difference @ difference

    k = minimize_scalar(distance, bounds=(3.0, 8.0), method="bounded").x
    assert k == pytest.approx(5.3011, abs=1e-3)
    assert round(k / (1 - s), 3) == alpha
    is_rounded = losses.PRESETS[s] == (round(alpha), round(beta, 2))
    assert is_rounded == (s == -0.7)
