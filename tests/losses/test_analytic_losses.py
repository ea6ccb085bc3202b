"""Losses with an analytic derivative: series, majorants, gaps, and what is refused."""

import functools
import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import central_difference
from scipy.special import erfi

from noisylabels.losses import analytic
from noisylabels.losses.analytic import (
    analytic_loss,
    smoothed_absolute,
    smoothed_hinge,
    smoothing_gap,
)

LOSSES = [analytic.squared(), analytic.exponential(), smoothed_absolute(0.7), smoothed_hinge(1.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


@each_loss
def test_the_series_is_the_derivative_of_the_loss(loss):
    b = np.linspace(-1, 1, 21)
    slope = loss.slope(b)
    series = np.polynomial.polynomial.polyval(b, loss.coefficients(100))
    assert_allclose(series, slope, atol=1e-12)
    formula = [loss.formula(x, loss.s) for x in b]
    assert_allclose(formula, slope, atol=1e-14)
    a = np.linspace(-2, 2, 9)
    for y in (-1.0, 1.0):
        difference = central_difference(functools.partial(loss.loss, y=y), a, 1e-6)
        assert_allclose(loss.derivative(a, y), difference, atol=1e-8)


@each_loss
@pytest.mark.parametrize("r", [0.3, 1.0, 2.5])
def test_majorant_and_second_moment_are_the_sums_of_the_series(loss, r):
    gamma = loss.coefficients(160)
    powers = r ** np.arange(161)
    majorant = math.exp(loss.log_majorant(r))
    assert majorant == pytest.approx(np.abs(gamma) @ powers, rel=1e-10)
    second_moment = math.exp(analytic.log_second_moment(loss, r))
    assert second_moment == pytest.approx(gamma**2 @ powers**2, rel=1e-10)


def test_closed_forms_of_the_majorants_and_their_bounds():
    for s, r in itertools.product((0.5, 1.0, 2.0), (0.2, 1.0, 3.0)):
        closed_form = erfi(s * r)
        absolute = math.exp(smoothed_absolute(s).log_majorant(r))
        assert absolute == pytest.approx(closed_form)
        hinge = math.exp(smoothed_hinge(s).log_majorant(r))
        assert hinge == pytest.approx(0.5 + 0.5 * closed_form)
        tail = (math.exp((s * r) ** 2) - 1) / (math.sqrt(math.pi) * s * r)
        assert closed_form <= 2 * tail
    exponential = math.exp(analytic.exponential().log_majorant(2.0))
    assert exponential == pytest.approx(math.exp(2.0))
    squared = math.exp(analytic.squared().log_majorant(2.0))
    assert squared == pytest.approx(4.0)


@each_loss
def test_high_coefficients_are_kept_in_logs(loss):
    signs, logs = loss.series(1200)
    assert not np.isnan(logs).any()
    assert loss.name == "squared" or np.isfinite(logs[1001::2]).all()
    assert set(np.unique(signs)) <= {-1.0, 1.0}


def test_smoothed_losses_are_convex_and_above_what_they_smooth():
    b = np.linspace(-4, 4, 4001)
    absolute = np.abs(b)
    hinge = np.maximum(-b, 0)
    for s in (0.5, 1.0, 3.0):
        for loss, limit in ((smoothed_absolute(s), absolute), (smoothed_hinge(s), hinge)):
            value = loss.value(b)
            gap = value - limit
            assert gap.min() >= -1e-15
            largest_gap = smoothing_gap(s, hinge=loss.kind != analytic.DIFFERENCE)
            assert gap.max() == pytest.approx(largest_gap)
            assert b[gap.argmax()] == pytest.approx(0, abs=1e-12)
            assert np.diff(value, 2).min() >= -1e-12


def test_names():
    assert analytic_loss("squared").name == "squared"
    assert analytic_loss("smoothed_absolute", 0.5).name == "smoothed absolute, s = 0.5"
    for name in ("hinge", "absolute"):
        with pytest.raises(ValueError, match=f"not analytic.*take 'smoothed_{name}'"):
            analytic_loss(name)
    with pytest.raises(ValueError, match="'logistic' is unknown; known: exponential"):
        analytic_loss("logistic")
