"""The minimisers agree with other solvers, and with the paper on the smallest example."""

import numpy as np
import pytest
from problems import central_difference
from scipy.optimize import minimize

from unhinged.code import flipped, turned
from unhinged.methods import POTENTIALS, LinearPotential, minimiser, signed, threshold

EQUAL = np.full(80, 1 / 80)
"""Weights of the points."""


@pytest.fixture(scope="module")
def points():
    """Draw 80 points and whether each is positive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    noise = rng.standard_normal(80)
    return X, X[:, 0] + noise > 0.5


@pytest.fixture(scope="module")
def rows(points):
    """Make rows y x of the points with a constant feature."""
    X, is_positive = points
    return signed(X, is_positive)


@pytest.mark.parametrize("loss", [*POTENTIALS, "hinge loss"])
def test_the_minimiser_is_that_of_a_general_solver(rows, loss):
    lam = 0.05
    solution = minimiser(loss, rows, EQUAL, lam)

    def objective(w):
        margins = rows @ w
        if loss in POTENTIALS:
            losses = POTENTIALS[loss].value(margins)
        else:
            losses = np.maximum(0.0, 1 - margins)
        return losses.mean() + 0.5 * lam * w @ w

    start = solution + 0.1
    options = {"xatol": 1e-7, "fatol": 1e-12}
    minimum = minimize(objective, start, method="Nelder-Mead", options=options)
    assert objective(solution) <= minimum.fun + 1e-8


@pytest.mark.parametrize("loss", POTENTIALS)
def test_slopes_and_curvatures_are_those_of_the_values(loss):
    value, slope, curvature = POTENTIALS[loss]
    z = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(central_difference(value, z, 1e-5), slope(z), atol=1e-6)
    np.testing.assert_allclose(central_difference(slope, z, 1e-5), curvature(z), atol=1e-6)


def test_flips_shorten_the_unhinged_solution_and_do_not_turn_it(rows):
    clean = minimiser("unhinged loss", rows, EQUAL, 0.5)
    noisy_rows, weights = flipped(rows, EQUAL, 0.3)
    under_noise = minimiser("unhinged loss", noisy_rows, weights, 0.5)
    np.testing.assert_allclose(under_noise, 0.4 * clean, atol=1e-12)


def test_from_the_threshold_on_the_svm_is_the_unhinged_solution_and_not_before(rows):
    unhinged = EQUAL @ rows
    lam = threshold(rows)
    angles = []
    for multiple in (0.2, 1.0, 5.0):
        w = minimiser("hinge loss", rows, EQUAL, multiple * lam)
        angles.append(turned(w, unhinged))
    before, *from_threshold_on = angles
    assert before > 1e-4
    assert max(from_threshold_on) < 1e-12


def test_a_chosen_ridge_is_one_of_the_multiples(points):
    X, is_positive = points
    chosen = LinearPotential("logistic loss").fit(X, is_positive)
    is_equal = []
    for multiple in LinearPotential.MULTIPLES:
        fixed = LinearPotential("logistic loss", times=multiple).fit(X, is_positive)
        is_equal.append(np.array_equal(chosen.coef_, fixed.coef_))
    assert any(is_equal)
    is_right = chosen.predict(X) == is_positive
    assert is_right.mean() > 0.7


def test_the_hinge_minimiser_has_the_same_bytes_every_time():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    by_coins = rng.random(80) < 0.5
    rows = signed(X, by_coins)
    lam = threshold(rows)
    first = minimiser("hinge loss", rows, EQUAL, lam)
    for _ in range(3):
        next_one = minimiser("hinge loss", rows, EQUAL, lam)
        np.testing.assert_array_equal(next_one, first)
