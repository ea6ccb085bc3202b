"""Support vector machine: its path gives the solutions of scikit-learn's SVC for every C. rKFD: the fast
direction is the one of the textbook, and EM finds the flip rates.
"""

import numpy as np
import pytest
from problems import gram, noisy_columns, two_moons
from sklearn.svm import SVC

from noisylabels.classifiers.kernel_fisher import (
    RobustKernelFisherClassifier,
    expectation_maximisation,
    ridges,
)
from noisylabels.classifiers.kernel_svm import KernelSVMClassifier
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
                f = f - f.mean()
                theirs = theirs - theirs.mean()
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
    K = gram(X, X, width).K
    signs = 2.0 * noisy_columns(y, ("independent 0.3",))[:, 0] - 1
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
    labels = noisy_columns(y)
    grid = np.array([4.0, 0.25, 64.0])
    kernel = gram(X, two_moons(30, 5)[0], 0.7)
    fits, ordered = (KernelSVMClassifier.fit_many(kernel, labels, each) for each in (grid, np.sort(grid)))
    np.testing.assert_array_equal(fits.scores[:, np.argsort(grid)], ordered.scores)
    assert not fits.flagged.any()
    X, y = two_moons(40)
    kernel = gram(X, X, 1.0)
    assert KernelSVMClassifier.fit_many(kernel, y[:, None], [1.0], max_steps=1, tolerance=1e-12).flagged.all()
    assert not hasattr(KernelSVMClassifier(), "predict_proba")


def textbook_direction(K, r, mu):
    """a = (S_w + mu I)^-1 (m_1 - m_0) with S_w built point by point."""
    m1 = K @ r / r.sum()
    m0 = K @ (1 - r) / (1 - r).sum()
    S = np.zeros_like(K)
    for n in range(len(r)):
        S += r[n] * np.outer(K[:, n] - m1, K[:, n] - m1)
        S += (1 - r[n]) * np.outer(K[:, n] - m0, K[:, n] - m0)
    return np.linalg.solve(S + mu * np.eye(len(r)), m1 - m0)


def plain_em(K, labels, mu, rounds=50):
    """The algorithm as the slides give it, one model at a time, with the textbook's direction."""
    n = len(labels)
    r = np.where(labels == 1, 0.8, 0.2)
    for _ in range(rounds):
        a = textbook_direction(K, r, mu)
        z = K @ a
        n1 = r.sum()
        n0 = n - r.sum()
        m1 = (r * z).sum() / n1
        m0 = ((1 - r) * z).sum() / n0
        v = (r * (z - m1) ** 2 + (1 - r) * (z - m0) ** 2).sum() / n
        omega = np.array([[((1 - r) * (labels == k)).sum() / n0 for k in (0, 1)],
                          [(r * (labels == k)).sum() / n1 for k in (0, 1)]])  # fmt: skip
        p1 = n1 * omega[1, labels] * np.exp(-((z - m1) ** 2) / (2 * v))
        p0 = n0 * omega[0, labels] * np.exp(-((z - m0) ** 2) / (2 * v))
        new = p1 / (p1 + p0)
        change = np.abs(new - r).max()
        r = new
        if change < 1e-4:
            break
    return r, omega, (a, (m1 - m0) / v, np.log(n1 / n0) - (m1**2 - m0**2) / (2 * v))


def test_em_is_the_plain_one():
    X, y = two_moons(50, spread=0.5)
    X_out, _ = two_moons(20, 4)
    kernel = gram(X, X_out, 1.0)
    labels = noisy_columns(y)
    grid = [1e-2, 1e-1]
    fits = RobustKernelFisherClassifier.fit_many(kernel, labels, grid)
    for k in range(2):
        for g, mu in enumerate(ridges(kernel.K, grid)):
            r, omega, (a, slope, offset) = plain_em(kernel.K, labels[:, k].astype(int), mu)
            np.testing.assert_allclose(
                fits.scores[k, g], slope * (kernel.K_out @ a) + offset, rtol=1e-4, atol=1e-4
            )
            np.testing.assert_allclose(
                [fits.omega01[k, g], fits.omega10[k, g]], [omega[0, 1], omega[1, 0]], atol=1e-5
            )
            models = expectation_maximisation(kernel.basis, labels[:, [k]].T.astype(float), np.array([mu]))
            np.testing.assert_allclose(models.posterior[0], r, atol=1e-5)


def test_flip_rates_are_found():
    rng = np.random.default_rng(0)
    n = 1200
    y = (rng.random(n) < 0.5).astype(np.int8)
    X = rng.standard_normal((n, 4)) + np.where(y == 1, 1.0, -1.0)[:, np.newaxis]
    labels = np.where(rng.random(n) < np.where(y == 1, 0.1, 0.3), 1 - y, y)
    model = RobustKernelFisherClassifier(4.0, 1e-2).fit(X, labels)
    np.testing.assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.06)
    assert (model.predict(X) == y).mean() > 0.95
    assert (model.converged_, model.flags_, model.flagged_) == (True, (), False)


@pytest.mark.parametrize(("width", "mu"), [(0.1, 1e-4), (0.3, 1e-2), (1.0, 1e-4), (4.0, 1e-2)])
def test_without_rounds_it_is_the_kernel_fisher_discriminant_of_the_observed_labels(width, mu):
    X, y = two_moons(50)
    kernel = gram(X, two_moons(20, 4)[0], width)
    labels = noisy_columns(y)
    for threshold in ("posterior", "midpoint"):
        fits = RobustKernelFisherClassifier.fit_many(kernel, labels, [mu], rounds=0, threshold=threshold)
        assert not fits.flagged.any()
        for k, column in enumerate(labels.T):
            a = textbook_direction(kernel.K, column.astype(float), float(ridges(kernel.K, mu)[0]))
            z = kernel.K @ a
            n1 = column.sum()
            means = z[column == 1].mean(), z[column == 0].mean()
            within = np.concatenate([z[column == 1] - means[0], z[column == 0] - means[1]])
            slope = (means[0] - means[1]) / within.var()
            prior = np.log(n1 / (50 - n1)) if threshold == "posterior" else 0.0
            direct = slope * (kernel.K_out @ a - sum(means) / 2) + prior
            np.testing.assert_allclose(fits.scores[k, 0], direct, rtol=1e-5, atol=1e-5)
            assert (fits.omega01[k, 0], fits.omega10[k, 0]) == (0.0, 0.0)


def test_the_midpoint_is_a_shift_by_the_log_odds_of_the_classes():
    X, y = two_moons(50)
    kernel = gram(X, X, 1.0)
    labels = noisy_columns(y)
    a, b = (
        RobustKernelFisherClassifier.fit_many(kernel, labels, [1e-2], threshold=threshold)
        for threshold in ("posterior", "midpoint")
    )
    for k in range(2):
        shift = a.scores[k, 0] - b.scores[k, 0]
        models = expectation_maximisation(
            kernel.basis, labels[:, [k]].T.astype(float), ridges(kernel.K, [1e-2])
        )
        share = models.posterior[0].mean()
        np.testing.assert_allclose(shift, np.log(share / (1 - share)), atol=2e-3)
    model = RobustKernelFisherClassifier(1.0, 1e-2, threshold="midpoint").fit(X, labels[:, 0])
    np.testing.assert_allclose(model.decision_function(X), b.scores[0, 0], rtol=1e-6, atol=1e-8)
