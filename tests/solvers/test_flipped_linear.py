"""The solver for two classes and many rows: gradients, the maximum of EM, limits, weights."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_linear import BLOCK, _Descent, fit_two_classes, likelihood
from noisylabels.solvers.flipped_softmax import em_newton

OMEGA = flips.from_rates(0.25, 0.1)
PENALTY = np.array([0.0, 0.3, 0.3])


def problem(n=BLOCK + 77, seed=0):
    """Columns ZT (3, n) with a constant, and observed labels (n,) of which some are flipped."""
    rng = np.random.default_rng(seed)
    true = np.arange(n) % 2
    centres = np.array([[-1.5, 0], [1.5, 0]])
    X = rng.standard_normal((n, 2)) + centres[true]
    chance_of_one = OMEGA[true, 1]
    observed = (rng.random(n) < chance_of_one).astype(float)
    Z = np.column_stack([np.ones(n), X])
    return np.ascontiguousarray(Z.T), observed


def fit_evenly(ZT, y, penalty=PENALTY, start=flips.START, **options):
    """Fit where every row weighs the same."""
    return fit_two_classes(ZT, y, np.ones(len(y)), penalty, start, **options)


def test_the_pass_is_the_likelihood_of_the_labels():
    ZT, y = problem()
    theta = np.array([0.2, 1.0, -0.5])
    a = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    gradient = np.empty(3)
    value, sum_of_ones, flipped_ones, sum_of_zeros, flipped_zeros = likelihood(
        ZT, theta, y, a, 0.25, 0.1, gradient
    )
    log_P, q = flips.expected(theta @ ZT, y, OMEGA)
    weight_of_one = a * q
    weight_of_zero = a * (1 - q)
    assert value == pytest.approx(a @ log_P)
    assert sum_of_ones == pytest.approx(weight_of_one.sum())
    assert sum_of_zeros == pytest.approx(weight_of_zero.sum())
    assert flipped_ones == pytest.approx(weight_of_one[y == 0].sum())
    assert flipped_zeros == pytest.approx(weight_of_zero[y == 1].sum())


@pytest.mark.parametrize("learn_omega", [True, False])
def test_gradients_are_finite_differences(learn_omega):
    ZT, y = problem(n=60)
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.5, 2.0, 60)
    descent = _Descent(ZT, y, weights, PENALTY, OMEGA, learn_omega)
    x = descent.start() + rng.standard_normal(5)
    assert check_grad(lambda x: descent(x)[0], lambda x: descent(x)[1], x) < 1e-4
    value, *_ = descent(x)
    value_of_rescaled, *_ = descent(descent.rescale(x))
    assert value_of_rescaled == pytest.approx(value)


def test_it_ends_where_em_ends():
    ZT, y = problem()
    classes = y.astype(np.intp)
    plain = em_newton(ZT.T, classes, PENALTY, flips.START, rounds=5000)
    fit = fit_evenly(ZT, y)
    assert plain.converged
    assert fit.converged
    assert fit.objectives[-1] >= plain.objectives[-1] - 1e-8
    assert fit.theta == pytest.approx(plain.theta, abs=0.01)
    assert fit.omega == pytest.approx(plain.omega, abs=1e-3)


def test_the_objective_never_falls_and_a_maximum_has_no_slope():
    ZT, y = problem()
    fit = fit_evenly(ZT, y)
    rises = np.diff(fit.objectives)
    assert rises.min() >= -1e-9
    omega01 = fit.omega[0, 1]
    omega10 = fit.omega[1, 0]
    gradient = np.empty(3)
    likelihood(ZT, fit.theta, y, np.ones(len(y)), omega01, omega10, gradient)
    slope_of_penalty = 2 * PENALTY * fit.theta
    assert gradient == pytest.approx(slope_of_penalty, abs=1e-2)


def test_without_flips_it_is_logistic_regression():
    ZT, y = problem()
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(ZT[1:].T, y)
    penalty = np.array([0.0, 0.5, 0.5])  # penalty |w|^2 = |w|^2 / (2 C)
    fit = fit_evenly(ZT, y, penalty, start=np.eye(2), learn_omega=False)
    assert np.array_equal(fit.omega, np.eye(2))
    their_theta = np.append(theirs.intercept_, theirs.coef_)
    assert fit.theta == pytest.approx(their_theta, abs=1e-4)


def test_flips_of_one_kind_only_are_found_without_a_division_by_zero():
    ZT, y = problem()
    fit = fit_evenly(ZT, y, start=flips.from_rates(0.2, 0.0))
    assert fit.converged
    assert fit.omega[1, 0] == 0.0  # as EM holds it
    assert fit.omega[0, 1] > 0.1


def test_weights_are_repetitions():
    ZT, y = problem(n=80)
    times = np.random.default_rng(3).integers(1, 4, len(y))
    weighted = fit_two_classes(ZT, y, times.astype(float), PENALTY, flips.START)
    rows = np.repeat(ZT, times, axis=1)
    labels = np.repeat(y, times)
    repeated = fit_evenly(rows, labels)
    assert weighted.theta == pytest.approx(repeated.theta, abs=1e-6)
    assert weighted.omega == pytest.approx(repeated.omega, abs=1e-6)


def test_names_that_change_places_are_told():
    ZT, y = problem()
    fit = fit_evenly(ZT, y, start=flips.from_rates(0.9, 0.9))
    assert fit.permuted


def test_too_few_rounds_are_told():
    ZT, y = problem()
    fit = fit_evenly(ZT, y, rounds=1)
    assert not fit.converged
    assert len(fit.objectives) == 2
