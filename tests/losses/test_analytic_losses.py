"""Losses with an analytic derivative: series, majorants, gaps, and what is refused."""

import math

import numpy as np
import pytest
from scipy.special import erfi

from noisylabels.losses import analytic
from noisylabels.losses.analytic import analytic_loss, smoothed_absolute, smoothed_hinge, smoothing_gap

LOSSES = [analytic.squared(), analytic.exponential(), smoothed_absolute(0.7), smoothed_hinge(1.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


@each_loss
def test_the_series_is_the_derivative_of_the_loss(loss):
    b = np.linspace(-1, 1, 21)
    gamma = loss.coefficients(100)
    np.testing.assert_allclose(np.polynomial.polynomial.polyval(b, gamma), loss.slope(b), atol=1e-12)
    np.testing.assert_allclose([loss.formula(x, loss.s) for x in b], loss.slope(b), atol=1e-14)
    for y in (-1.0, 1.0):
        a = np.linspace(-2, 2, 9)
        h = 1e-6
        slope = (loss.loss(a + h, y) - loss.loss(a - h, y)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(a, y), slope, atol=1e-8)


@each_loss
@pytest.mark.parametrize("r", [0.3, 1.0, 2.5])
def test_majorant_and_second_moment_are_the_sums_of_the_series(loss, r):
    gamma = loss.coefficients(160)
    powers = r ** np.arange(161)
    assert math.exp(loss.log_majorant(r)) == pytest.approx(np.abs(gamma) @ powers, rel=1e-10)
    assert math.exp(analytic.log_second_moment(loss, r)) == pytest.approx(gamma**2 @ powers**2, rel=1e-10)


def test_closed_forms_of_the_majorants_and_their_bounds():
    for s in (0.5, 1.0, 2.0):
        for r in (0.2, 1.0, 3.0):
            assert math.exp(smoothed_absolute(s).log_majorant(r)) == pytest.approx(erfi(s * r))
            assert math.exp(smoothed_hinge(s).log_majorant(r)) == pytest.approx(0.5 + 0.5 * erfi(s * r))
            tail = (math.exp((s * r) ** 2) - 1) / (math.sqrt(math.pi) * s * r)
            assert erfi(s * r) <= 2 * tail
    assert math.exp(analytic.exponential().log_majorant(2.0)) == pytest.approx(math.exp(2.0))
    assert math.exp(analytic.squared().log_majorant(2.0)) == pytest.approx(4.0)


@each_loss
def test_high_coefficients_are_kept_in_logs(loss):
    signs, logs = loss.series(1200)
    assert not np.isnan(logs).any()
    assert loss.name == "squared" or np.isfinite(logs[1001::2]).all()
    assert set(np.unique(signs)) <= {-1.0, 1.0}


def test_smoothed_losses_are_convex_and_above_what_they_smooth():
    b = np.linspace(-4, 4, 4001)
    for s in (0.5, 1.0, 3.0):
        for loss, limit in ((smoothed_absolute(s), np.abs(b)), (smoothed_hinge(s), np.maximum(-b, 0))):
            gap = loss.value(b) - limit
            assert gap.min() >= -1e-15
            assert gap.max() == pytest.approx(smoothing_gap(s, hinge=loss.kind != analytic.DIFFERENCE))
            assert b[gap.argmax()] == pytest.approx(0, abs=1e-12)
            assert np.diff(loss.value(b), 2).min() >= -1e-12


def test_names():
    assert analytic_loss("squared").name == "squared"
    assert analytic_loss("smoothed_absolute", 0.5).name == "smoothed absolute, s = 0.5"
    for name in ("hinge", "absolute"):
        with pytest.raises(ValueError, match=f"not analytic.*take 'smoothed_{name}'"):
            analytic_loss(name)
    with pytest.raises(ValueError, match="'logistic' is unknown; known: exponential"):
        analytic_loss("logistic")
