"""The exponential loss with flips: weights are its slope, the step is exact, nothing overflows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from noisylabels.losses.exponential import FlippedExponential, exact_step, mixture, value

RATES = st.tuples(st.floats(0.0, 0.49), st.floats(0.0, 0.49))


def points(seed, n=40):
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], n), 2 * rng.standard_normal(n), rng.choice([-1.0, 1.0], n)


def test_the_loss_and_the_two_interpretations_of_its_weights():
    H = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(value(H, 1, (0.3, 0.0)), 0.7 * np.exp(-H) + 0.3 * np.exp(H))
    np.testing.assert_allclose(value(H, -1, (0.3, 0.0)), np.exp(H))
    a, b = mixture([1, -1], (0.3, 0.1))
    assert (a.tolist(), b.tolist()) == ([0.7, 0.9], [0.3, 0.1])
    a, b = mixture([1, -1], (0.3, 0.1), "likelihood")
    assert (a.tolist(), b.tolist()) == ([0.9, 0.7], [0.3, 0.1])
    np.testing.assert_array_equal(mixture([1, -1], (0.2, 0.2)), mixture([1, -1], (0.2, 0.2), "likelihood"))


@given(st.integers(0, 1000), RATES, st.sampled_from(["convex", "likelihood"]))
def test_the_step_is_the_root_of_the_derivative_and_the_loss_falls(seed, gamma, loss_weights):
    s, H, h = points(seed)
    loss = FlippedExponential(s, gamma, loss_weights)
    loss.weigh(H)
    step = loss.step(h)
    a, b = mixture(s, gamma, loss_weights)

    def derivative(t):
        margin = s * (H + t * h)
        return (s * h * (b * np.exp(margin) - a * np.exp(-margin))).sum()

    if derivative(-15.0) < 0 < derivative(15.0):  # h neither wholly right nor wholly wrong
        assert step == pytest.approx(brentq(derivative, -15, 15, xtol=1e-13), abs=1e-9)
    assert loss.log_value(H + step * h) <= loss.log_value(H) + 1e-12
    for near in (-1e-3, 1e-3):
        assert loss.log_value(H + step * h) <= loss.log_value(H + (step + near) * h) + 1e-12


def test_without_flips_the_step_is_adaboosts():
    s, _, h = points(3)
    loss = FlippedExponential(s)
    weights, targets = loss.weigh(np.zeros(len(s)))
    error = weights[h != s].sum() / weights.sum()
    assert loss.step(h) == pytest.approx(0.5 * math.log((1 - error) / error), abs=1e-10)
    np.testing.assert_array_equal(targets, s)


def test_the_step_is_bounded():
    assert exact_step(1.0, 0.0) == pytest.approx(0.5 * math.log(1e12), rel=1e-9)
    assert exact_step(0.0, 1.0) == -exact_step(1.0, 0.0)


@given(st.integers(0, 1000), RATES, st.sampled_from(["convex", "likelihood"]))
def test_the_weights_are_the_slope_of_the_loss(seed, gamma, loss_weights):
    s, H, _ = points(seed, 12)
    weights, targets = FlippedExponential(s, gamma, loss_weights).weigh(H)
    a, b = mixture(s, gamma, loss_weights)
    slope = s * (b * np.exp(s * H) - a * np.exp(-s * H))
    np.testing.assert_allclose(-weights * targets * np.abs(slope).sum(), slope * weights.sum(), atol=1e-9)


def test_a_point_that_is_too_sure_asks_for_the_opposite_or_is_left_out():
    s, H = np.array([1.0, 1.0]), np.array([2.0, -2.0])
    weights, targets = FlippedExponential(s, (0.3, 0.0)).weigh(H)
    assert targets.tolist() == [-1.0, 1.0]
    assert weights[0] > 0
    clipped, _ = FlippedExponential(s, (0.3, 0.0), negative_weights="clip").weigh(H)
    assert clipped.tolist() == [0.0, weights[1]]


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_scores_may_be_huge(scale):
    s, H, h = points(0)
    for gamma in [(0.0, 0.0), (0.3, 0.1)]:
        loss = FlippedExponential(s, gamma)
        weights, _ = loss.weigh(scale * np.abs(H) * s)
        assert np.isfinite(weights).all()
        assert weights.any()
        assert math.isfinite(loss.step(h))
        assert math.isfinite(loss.log_value(scale * H))


def test_the_log_of_the_loss_is_the_log_of_the_mean():
    s, H, _ = points(5)
    for gamma in [(0.0, 0.0), (0.3, 0.1)]:
        expected = math.log(value(H, s, gamma).mean())
        assert FlippedExponential(s, gamma).log_value(H) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0.5, 0.1),), "gamma: must be a finite number >= 0 and < 0.5, got 0.5"),
        (((0.1, -0.1),), "gamma: must be a finite number >= 0"),
        (((math.nan, 0.1),), "gamma: value at index 0 is not finite"),
        ((0.2,), r"gamma: must be the two flip rates \(gamma01, gamma10\)"),
        (((0.2,),), r"gamma: must be the two flip rates \(gamma01, gamma10\)"),
        (((0.1, 0.1), "both"), "loss_weights: 'both' is unknown; known: convex, likelihood"),
        (((0.1, 0.1), "convex", "drop"), "negative_weights: 'drop' is unknown; known: flip, clip"),
    ],
)
def test_wrong_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        FlippedExponential(np.array([1.0, -1.0]), *arguments)
