"""The constants of the theorems: orders among them, known values, and what they bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import gaussian_pair, rational_pair, truncated_rational
from noisylabels.losses import analytic
from noisylabels.online import theory
from noisylabels.online.theory import (
    feature_moment,
    feature_moment_bound,
    second_moment,
    second_moment_bound,
)


def test_the_best_step_is_the_best_and_m_times_it_costs_its_factor():
    eta = theory.best_step(2.0, 30.0, 1000)
    best = theory.regret(2.0, 30.0, 1000)
    assert theory.regret(2.0, 30.0, 1000, eta) == pytest.approx(best)
    for m in (0.2, 4.0, 8.0):
        factor = (m + 1 / m) / 2
        assert theory.regret(2.0, 30.0, 1000, m * eta) == pytest.approx(best * factor)
    of_log = theory.best_step_of_log(2.0, math.log(30.0), 1000)
    assert of_log == pytest.approx(eta)
    of_large_log = theory.best_step_of_log(2.0, 800.0, 1000)
    assert of_large_log == pytest.approx(math.exp(-400.0) * 0.04472, rel=1e-3)


@given(p=st.floats(1.05, 8.0), size=st.floats(0.1, 4.0), hinge=st.booleans())
def test_exact_second_moments_are_below_the_bounds_of_the_theorems(p, size, hinge):
    loss = analytic.smoothed_absolute(0.5) if hinge else analytic.exponential()
    gamma = np.abs(loss.coefficients(80))
    bound = second_moment_bound(gamma, p, size)
    assert second_moment(gamma, p, size) <= bound * (1 + 1e-12)
    for kernel in (tensor.gaussian(4.0), tensor.gaussian(1.0), tensor.polynomial(3)):
        bound = feature_moment_bound(kernel, p, size)
        assert feature_moment(kernel, p, size) <= bound * (1 + 1e-12)


def test_the_conference_versions_exponent_is_too_small():
    p = 2.0
    sigma2 = 2.0
    for B_x in (2.0, 4.0):
        exponent = (math.sqrt(p) * B_x + 2 * p * math.sqrt(B_x)) / sigma2
        published = (p / (p - 1)) ** 2 * math.exp(exponent)
        exact = feature_moment(tensor.gaussian(sigma2), p, B_x)
        assert published < exact


@pytest.mark.parametrize(
    ("loss", "B_w", "p", "B_x", "loose", "tight"),
    [
        (analytic.squared(), 1.0, 2.0, 1 + 2 * 0.35**2, 778, 778),
        (analytic.exponential(), 1.0, 2.0, 1 + 2 * 0.36, 2.3e4, 3.4e3),
        (analytic.smoothed_absolute(0.5), 0.25, 1.5, 1 + 2 * 0.35**2, 45, 24),
    ],
)
def test_nu_of_the_linear_experiments(loss, B_w, p, B_x, loose, tight):
    B_psi = feature_moment(tensor.linear(), p, B_x)
    B_y = math.hypot(0.7, 0.5) + 0.1
    if B_w == 0.25:
        B_y = 0.5 * B_y
    for expected, is_tight in ((loose, False), (tight, True)):
        log_nu = theory.log_gradient_moment(loss, p, B_w, B_psi, B_y=B_y, tight=is_tight)
        assert math.exp(log_nu) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("kernel", [tensor.polynomial(2), tensor.gaussian(3.0)])
def test_nu_and_u_are_two_ways_to_write_theorems_6_and_7(kernel):
    p = 1.7
    B_w = 0.6
    B_x = 0.8
    T = 10_000
    loss = analytic.exponential()
    moment_bound = feature_moment_bound(kernel, p, B_x)
    log_nu = theory.log_gradient_moment(loss, p, B_w, moment_bound)
    by_nu = theory.regret(B_w, math.exp(log_nu), T)
    u = p * B_w * moment_bound / (p - 1)
    log_majorant = loss.log_majorant(math.sqrt((p - 1) * u))
    by_u = math.exp(log_majorant) * math.sqrt(u * T)
    assert by_nu == pytest.approx(by_u)


def test_no_single_copy_learner_avoids_the_worse_world():
    smoothed_hinge = analytic.smoothed_hinge(1.0)
    smoothed_absolute = analytic.smoothed_absolute(1.0)
    expected = {
        lambda a: np.exp(-a): (0.275, 3.0, 0.365),
        lambda a: np.logaddexp(0, -a): (0.454, 3.0, 0.193),
        lambda a: np.maximum(1 - a, 0): (0.333, 1.0, 0.222),
        lambda a: smoothed_hinge.loss(a, 1.0): (0.439, 3.0, 0.243),
        lambda a: smoothed_absolute.loss(a, 1.0): (0.240, 1.0, 0.146),
    }
    for loss, values in expected.items():
        worlds = theory.worlds(loss)
        assert_allclose(worlds[:3], values, atol=1e-3)
    best = 1 / math.sqrt(5)
    worlds = theory.worlds(lambda a: (a - 1) ** 2)
    assert_allclose(worlds, (0.2, 1, (1 - best) ** 2, best), atol=1e-5)
    copies = theory.copies(np.random.default_rng(0), 10_000)
    assert set(np.unique(copies)) == {3.0, -1.0}
    assert copies.mean() == pytest.approx(1.0, abs=0.1)


@given(low=st.floats(0.01, 0.44), extra=st.floats(1e-3, 0.05), c=st.floats(1.0, 4.5))
def test_more_noise_and_a_better_approximation_cost_a_larger_bound(low, extra, c):
    """Theorems 3 and 5, for a difference of kernel functions at (0.5, 0.5) and (-0.5, -0.5)."""
    centres = np.array([[0.5, 0.5], [-0.5, -0.5]])
    gamma = np.array([1.0, -1.0])

    def price(pair):
        K = pair.kernel(centres, centres)
        B = gamma @ K @ gamma
        alpha = theory.angle(gamma, K)
        ball = theory.surrogate_ball(B, alpha, pair.domination)
        moment = theory.surrogate_moment(ball, pair.diagonal, 1.01)
        return ball * moment

    quiet = gaussian_pair(1.0, [low] * 2)
    noisy = gaussian_pair(1.0, [low + extra] * 2)
    assert price(quiet) < price(noisy)
    coarse = rational_pair(c, [0.2] * 2)
    fine = rational_pair(c + extra, [0.2] * 2)
    assert price(coarse) < price(fine)
    for truncation in (c, c + extra):
        largest_error = 1 - truncated_rational(0.0, truncation)
        assert largest_error == pytest.approx(math.exp(-truncation))


def vectors_of_the_plane(largest):
    return st.lists(st.floats(-largest, largest), min_size=2, max_size=2).map(np.array)


@given(
    w=vectors_of_the_plane(1).filter(lambda w: np.linalg.norm(w) > 0.1),
    target=vectors_of_the_plane(2),
    v=st.floats(0.01, 2.0),
)
def test_no_vector_is_below_the_floor_of_appendix_a(w, target, v):
    """E (<v', x + n> - |w|)^2 = (<v', x> - |w|)^2 + v |v'|^2 with x = w / |w|, n of variance v."""
    size = np.linalg.norm(w)
    x = w / size
    floor = theory.scored_on_noise(w, v)

    def loss(u):
        return (u @ x - size) ** 2 + v * (u @ u)

    assert loss(w / (1 + v)) == pytest.approx(floor)
    assert loss(target) >= floor * (1 - 1e-12)
