"""One kernel model without eigenvectors of its kernel: gradients, and the maximum of others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from noisylabels.kernels.gaussian import basis, rbf, squared_distances
from noisylabels.solvers.flipped_kernel import FEWEST_ROWS, _Descent, fit_one, leading_eigenvectors
from noisylabels.solvers.flipped_logistic import fit_batch


def problem(n=FEWEST_ROWS + 50, width=0.1, seed=0):
    """A kernel of full rank (n, n) and labels of which a fifth is flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    flipped = rng.random(n) < 0.2
    return rbf(squared_distances(X), width, "gamma"), ((X[:, 0] > 0) != flipped).astype(float)


def test_leading_eigenvectors_are_those_of_the_kernel():
    K, _ = problem(width=0.01)
    values, Q = leading_eigenvectors(K, 40)
    exact = np.linalg.eigvalsh(K)[-10:]
    assert_allclose(values[-10:], exact, rtol=1e-3)
    assert_allclose(Q.T @ Q, np.eye(40), atol=1e-12)


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("bias", ["none", "free", "penalised"])
def test_gradients_are_finite_differences(robust, bias):
    K, y = problem(n=30)
    descent = _Descent(K, y, 0.5, robust, bias, *leading_eigenvectors(K, 5))
    x = descent.start() + 0.3 * np.random.default_rng(1).standard_normal(33)
    if not robust:
        x[-2:] = 0.0
    assert check_grad(lambda x: descent(x)[0], lambda x: descent(x)[1], x) < 1e-4


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("bias", ["none", "free", "penalised"])
def test_it_ends_where_the_solver_of_many_models_ends(robust, bias):
    K, y = problem()
    fit = fit_one(K, y, 0.5, robust, bias, 1e-10)
    space = basis(K)
    labels = y[np.newaxis]
    spaces = np.zeros(1, np.int64)
    batch = fit_batch(space, labels, spaces, np.array([0.5]), robust, 1e-10, bias)
    assert fit.converged
    assert fit.objective == pytest.approx(-batch.objective[0], rel=1e-7)
    assert_allclose(fit.w, space.Q @ batch.v[0], atol=1e-3 * np.abs(fit.w).max())
    assert fit.bias == pytest.approx(batch.bias[0], abs=1e-3)
    rates = [batch.omega01[0], batch.omega10[0]]
    assert fit.omega[[0, 1], [1, 0]] == pytest.approx(rates, abs=1e-3)


def test_without_flips_it_is_logistic_regression_on_the_kernel():
    K, y = problem()
    solution = fit_one(K, y, 1.0, False, "none", 1e-12)
    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-8, max_iter=5000).fit(K, y)
    assert_allclose(solution.w, theirs.coef_[0], atol=1e-4)


def test_it_is_not_tried_where_it_does_not_pay():
    K_of_few, labels_of_few = problem(n=FEWEST_ROWS - 1)
    assert fit_one(K_of_few, labels_of_few, 1.0, True, "none", 1e-9) is None
    low_rank, labels = problem(width=1e-4)
    assert fit_one(low_rank, labels, 1.0, True, "none", 1e-9) is None
    K, y = problem()
    assert fit_one(K, y, 1e-6, True, "none", 1e-9) is None
