"""The minimisers agree with other solvers, and with the paper on the smallest example."""

import numpy as np
import pytest
from scipy.optimize import minimize

from unhinged.code import flipped, turned
from unhinged.methods import POTENTIALS, LinearPotential, minimiser, signed, threshold


@pytest.fixture(scope="module")
def rows():
    """Make rows y x of 80 points with a constant feature."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    return signed(X, X[:, 0] + rng.standard_normal(80) > 0.5)


@pytest.mark.parametrize("loss", [*POTENTIALS, "hinge loss"])
def test_the_minimiser_is_that_of_a_general_solver(rows, loss):
    solution = minimiser(loss, rows, np.full(80, 1 / 80), 0.05)

    def objective(w):
        z = rows @ w
        losses = POTENTIALS[loss].value(z) if loss in POTENTIALS else np.maximum(0.0, 1 - z)
        return losses.mean() + 0.025 * w @ w

    options = {"xatol": 1e-7, "fatol": 1e-12}
    best = minimize(objective, solution + 0.1, method="Nelder-Mead", options=options).fun
    assert objective(solution) <= best + 1e-8


@pytest.mark.parametrize("loss", POTENTIALS)
def test_slopes_and_curvatures_are_those_of_the_values(loss):
    value, slope, curvature = POTENTIALS[loss]
    z = np.linspace(-3, 3, 50)
    h = 1e-5
    difference_of_values = (value(z + h) - value(z - h)) / (2 * h)
    np.testing.assert_allclose(difference_of_values, slope(z), atol=1e-6)
    difference_of_slopes = (slope(z + h) - slope(z - h)) / (2 * h)
    np.testing.assert_allclose(difference_of_slopes, curvature(z), atol=1e-6)


def test_flips_shorten_the_unhinged_solution_and_do_not_turn_it(rows):
    p = np.full(80, 1 / 80)
    clean = minimiser("unhinged loss", rows, p, 0.5)
    under_noise = minimiser("unhinged loss", *flipped(rows, p, 0.3), 0.5)
    np.testing.assert_allclose(under_noise, 0.4 * clean, atol=1e-12)


def test_from_the_threshold_on_the_svm_is_the_unhinged_solution_and_not_before(rows):
    p = np.full(80, 1 / 80)
    lam = threshold(rows)
    angles = []
    for x in (0.2, 1.0, 5.0):
        w = minimiser("hinge loss", rows, p, x * lam)
        angles.append(turned(w, p @ rows))
    assert angles[0] > 1e-4
    assert max(angles[1:]) < 1e-12


def test_a_chosen_ridge_is_one_of_the_multiples(rows):
    X = np.abs(rows[:, 3:]) * rows[:, :3] * rows[:, 3:]
    y = rows[:, 3] > 0
    chosen = LinearPotential("logistic loss").fit(X, y)
    is_equal = []
    for multiple in LinearPotential.MULTIPLES:
        fixed = LinearPotential("logistic loss", times=multiple).fit(X, y)
        is_equal.append(np.array_equal(chosen.coef_, fixed.coef_))
    assert any(is_equal)
    assert np.mean(chosen.predict(X) == y) > 0.7


def test_the_hinge_minimiser_has_the_same_bytes_every_time():
    rng = np.random.default_rng(0)
    Z = signed(rng.standard_normal((60, 5)), rng.random(60) < 0.5)
    p = np.full(60, 1 / 60)
    lam = threshold(Z)
    first = minimiser("hinge loss", Z, p, lam)
    for _ in range(3):
        np.testing.assert_array_equal(minimiser("hinge loss", Z, p, lam), first)
