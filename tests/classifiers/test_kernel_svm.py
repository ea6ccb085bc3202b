"""The path of support vector machines gives the solutions of scikit-learn's SVC for every C."""

import numpy as np
import pytest
from problems import gram, noisy_columns, two_moons
from sklearn.svm import SVC

from noisylabels.classifiers.kernel import KernelSVMClassifier
from noisylabels.solvers import svm_path

GRID = np.exp2(np.arange(-10, 11, 2))


def dual(K, y, beta):
    return y @ beta - beta @ K @ beta / 2


@pytest.mark.parametrize("width", [2.0**e for e in (-6, -2, 0, 1, 3, 8)])
@pytest.mark.parametrize("seed", range(3))
def test_every_point_of_the_path_is_the_solution_of_svc(width, seed):
    X, y = two_moons(70, seed)
    kernel = gram(X, X, width)
    for column in noisy_columns(y, ("independent 0.1", "independent 0.3", "negative_only 0.3"), seed).T:
        signs = 2.0 * column - 1
        beta, b, converged, _ = svm_path.path(svm_path.padded(kernel.K), signs, GRID, 1e-6, 10**6)
        assert converged.all()
        for k, C in enumerate(GRID):
            svc = SVC(C=C, kernel="precomputed", tol=1e-6, max_iter=10**7).fit(kernel.K, signs)
            theirs = np.zeros(70)
            theirs[svc.support_] = svc.dual_coef_[0]
            best = dual(kernel.K, signs, theirs)
            assert dual(kernel.K, signs, beta[k]) >= best - 1e-6 * C * len(X)
            assert violation(kernel.K, signs, beta[k], C) < 1.1e-6
            assert ((signs * beta[k] >= 0) & (signs * beta[k] <= C)).all()
            assert abs(beta[k].sum()) < 1e-10 * C * len(X)
            single = 1e-6 * np.abs(theirs).sum()  # LIBSVM keeps the kernel in single precision
            free = (np.abs(theirs) > 1e-6 * C) & (np.abs(theirs) < C * (1 - 1e-6))
            f, theirs = kernel.K @ beta[k] + b[k], kernel.K @ theirs + svc.intercept_[0]
            if not free.any():  # then b is known to an interval only, whose middle depends on rounding
                f, theirs = f - f.mean(), theirs - theirs.mean()
            np.testing.assert_allclose(f, theirs, atol=1e-4 + single)


def violation(K, y, beta, C):
    """Of the optimality conditions, from their definition."""
    residual, alpha = y - K @ beta, y * beta
    grows = np.where(y > 0, alpha < C, alpha > 0)
    shrinks = np.where(y > 0, alpha > 0, alpha < C)
    return residual[grows].max() - residual[shrinks].min()


@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_a_gap_bounds_the_distance_to_the_best_objective(width):
    X, y = two_moons(150, 2)
    K, signs = gram(X, X, width).K, 2.0 * noisy_columns(y, ("independent 0.3",))[:, 0] - 1
    exact = svm_path.path(svm_path.padded(K), signs, GRID, 1e-6, 10**6)
    rough = svm_path.path(svm_path.padded(K), signs, GRID, 1e-6, 10**6, 1e-2)
    assert rough[2].all()
    assert rough[3].sum() < exact[3].sum()
    for C, beta, b, best in zip(GRID, rough[0], rough[1], exact[0], strict=True):
        primal = beta @ K @ beta / 2 + C * np.maximum(0.0, 1.0 - signs * (K @ beta + b)).sum()
        assert dual(K, signs, beta) >= dual(K, signs, best) - 1e-2 * len(X) * C
        assert primal <= dual(K, signs, best) + 2e-2 * len(X) * C


def test_repeated_points_with_contradicting_labels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 3)).astype(float)  # 8 distinct points: a singular kernel
    y = np.where(rng.random(80) < 0.2 + 0.6 * X[:, 0], 1.0, -1.0)
    for width in (0.3, 1.0, 30.0):
        K = gram(X, X, width).K
        beta, _, converged, _ = svm_path.path(svm_path.padded(K), y, GRID, 1e-3, 10**5)
        assert converged.all()
        for C, solution in zip(GRID, beta, strict=True):
            assert violation(K, y, solution, C) < 1.1e-3


def test_without_bounded_support_vectors_all_larger_C_share_one_solution():
    X, y = two_moons(50, 1, spread=0.05)
    signs = 2.0 * y - 1
    beta, _, _, steps = svm_path.path(svm_path.padded(gram(X, X, 0.5).K), signs, GRID, 1e-3, 10**5)
    first = next(k for k, C in enumerate(GRID) if np.abs(beta[k]).max() < C)
    assert first < len(GRID) - 1
    assert (beta[first:] == beta[first]).all()
    assert (steps[first + 1 :] == 0).all()


def test_newton_steps_save_most_smo_steps_at_large_C():
    X, y = two_moons(200, 0, spread=0.5)
    signs = 2.0 * noisy_columns(y, ("independent 0.3",))[:, 0] - 1
    kernel = gram(X, X, 1.0).K
    _, _, _, steps = svm_path.path(svm_path.padded(kernel), signs, GRID, 1e-3, 10**6)
    svc = SVC(C=GRID[-1], kernel="precomputed").fit(kernel, signs)
    assert steps.sum() < svc.n_iter_.sum() / 3


def test_the_order_of_the_grid_does_not_matter_and_steps_that_run_out_are_flagged():
    X, y = two_moons(60)
    labels, grid = noisy_columns(y), np.array([4.0, 0.25, 64.0])
    kernel = gram(X, two_moons(30, 5)[0], 0.7)
    fits, ordered = (KernelSVMClassifier.fit_many(kernel, labels, each) for each in (grid, np.sort(grid)))
    np.testing.assert_array_equal(fits.scores[:, np.argsort(grid)], ordered.scores)
    assert not fits.flagged.any()
    X, y = two_moons(40)
    kernel = gram(X, X, 1.0)
    assert KernelSVMClassifier.fit_many(kernel, y[:, None], [1.0], max_steps=1, tolerance=1e-12).flagged.all()
    assert not hasattr(KernelSVMClassifier(), "predict_proba")
