"""The flip probability of random projections: its limits, its slope, its bounds, Monte Carlo."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad

from noisylabels.classifiers.projections import (
    flip_probability,
    gaussian_bound,
    margins,
    simulated,
    slope,
    sub_gaussian_bound,
    uniform_bound,
)

THETA = np.linspace(0.0, np.pi, 41)
KS = np.array([1, 2, 3, 5, 10, 50, 300])


def test_its_limits():
    assert_allclose(flip_probability(THETA, 1), THETA / np.pi, atol=1e-14)
    assert_allclose(flip_probability(THETA, 2), (1 - np.cos(THETA)) / 2, atol=1e-14)
    assert_allclose(flip_probability(np.pi / 2, KS), 0.5, atol=1e-14)
    assert (flip_probability(0.0, KS) == 0).all()
    assert (flip_probability(np.pi, KS) == 1).all()


@given(st.floats(0.0, math.pi), st.integers(1, 300))
def test_an_obtuse_angle_mirrors_an_acute_one(theta, k):
    mirrored = flip_probability(math.pi - theta, k)
    assert mirrored == pytest.approx(1 - flip_probability(theta, k), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 10, 50])
def test_it_is_the_papers_integral(k):
    theta = 1.1
    # Gamma(k) / Gamma(k/2)^2 int_0^{tan^2(theta/2)} z^((k-2)/2) / (1+z)^k dz
    factor = math.exp(math.lgamma(k) - 2 * math.lgamma(k / 2))

    def integrand(z):
        return z ** ((k - 2) / 2) / (1 + z) ** k

    integral, _ = quad(integrand, 0, math.tan(theta / 2) ** 2)
    assert flip_probability(theta, k) == pytest.approx(factor * integral, rel=1e-8)


@pytest.mark.parametrize("k", KS)
def test_its_slope(k):
    theta = np.linspace(0.2, np.pi - 0.2, 15)
    h = 1e-5
    rise = flip_probability(theta + h, k) - flip_probability(theta - h, k)
    assert_allclose(slope(theta, k), rise / (2 * h), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("k", KS)
def test_it_falls_as_the_margin_grows_and_lies_below_both_bounds(k):
    margin = np.linspace(0.01, 1.0, 100)
    f = flip_probability(np.arccos(margin), k)
    gaussian = gaussian_bound(margin, k)
    assert (np.diff(f) <= 0).all()
    assert (f <= gaussian).all()
    assert (gaussian <= sub_gaussian_bound(margin, k)).all()
    # they say nothing without a margin
    assert gaussian_bound(-0.5, k) == 1.0
    assert sub_gaussian_bound(0.0, k) == 1.0


@pytest.mark.parametrize(("margin", "k"), [(0.1, 1), (0.5, 5), (-0.3, 3), (0.4, 20)])
def test_monte_carlo_agrees(margin, k):
    trials = 100_000
    expected = float(flip_probability(math.acos(margin), k))
    share = simulated(margin, k, trials, np.random.default_rng(7))
    standard_error = math.sqrt(expected * (1 - expected) / trials)
    assert abs(share - expected) < 4.5 * standard_error
    if margin >= 0.4:
        of_signs = simulated(margin, k, 20_000, np.random.default_rng(1), "rademacher")
        assert of_signs < sub_gaussian_bound(margin, k)


def test_projections_are_drawn_in_batches_without_a_rest():
    for margin, wanted in ((1.0, 0.0), (-1.0, 1.0)):
        assert simulated(margin, 7, 60_001, np.random.default_rng(0), d=10) == wanted


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flip_probability(-0.1, 2), "theta, an angle"),
        (lambda: flip_probability(math.nan, 2), "theta, an angle"),
        (
            lambda: flip_probability(1.0, 0),
            "k, the dimension of the projection, must be at least 1",
        ),
        (lambda: slope(1.0, math.inf), "k, the dimension"),
        (lambda: gaussian_bound(1.5, 2), "margin, a cosine"),
        (
            lambda: simulated(2.0, 1, 1, np.random.default_rng()),
            "margin: must be a finite number >= -1",
        ),
        (lambda: simulated(0.5, 0, 1, np.random.default_rng()), "k: must be a whole number >= 1"),
        (
            lambda: simulated(0.5, 1, 1, np.random.default_rng(), "cauchy"),
            "entries: 'cauchy' is unknown",
        ),
        (lambda: margins([0.0], [[1.0]], [1]), "h is the zero vector"),
        (lambda: margins([1.0], [[0.0]], [1]), "every row of X is zero"),
        (lambda: uniform_bound([], 2, 0.1), "at least one"),
        (lambda: uniform_bound([1.2], 2, 0.1), "numbers in"),
        (lambda: uniform_bound([0.2], 0, 0.1), "k, the dimension"),
        (lambda: uniform_bound([0.2], 2, 1.0), "delta: must be a finite number > 0 and < 1"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_margins_are_cosines_whatever_the_scale():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    h = rng.standard_normal(4)
    s = rng.choice([-1, 1], 30)
    cosines = margins(h, X, s)
    scaled_rows = X * rng.uniform(0.1, 9, (30, 1))
    assert_allclose(cosines, margins(3 * h, scaled_rows, s))
    wanted = s[0] * X[0] @ h / np.linalg.norm(X[0]) / np.linalg.norm(h)
    assert cosines[0] == pytest.approx(wanted)
    # a zero row has no angle
    assert margins([1.0, 0.0], [[0.0, 0.0], [2.0, 0.0]], [1, -1]).tolist() == [-1]


def test_the_terms_of_the_uniform_bound():
    c = np.array([0.9, 0.2, -0.5])
    bound = uniform_bound(c, 5, 0.05)
    f = flip_probability(np.arccos(c), 5)
    assert bound.risk == pytest.approx((2 * f[0] + 2 * f[1] + 1) / 3)
    assert bound.complexity == pytest.approx(2 * math.sqrt(2 / math.pi) * math.sqrt(5 / 3))
    assert bound.confidence == pytest.approx(3 * math.sqrt(math.log(40) / 6))
    assert bound.total == bound.risk + bound.complexity + bound.confidence


def test_the_risk_bounds_the_training_error_and_tends_to_it():
    c = np.random.default_rng(1).uniform(-1, 1, 200)
    c = c[np.abs(c) > 0.1]
    training_error = np.mean(c <= 0)
    risks = [uniform_bound(c, k, 0.1).risk for k in (1, 10, 100, 5000)]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] >= training_error
    assert risks[-1] == pytest.approx(training_error, abs=1e-9)
