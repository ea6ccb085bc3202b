"""The path of the support vector machine and robust kernel Fisher discriminants.

The path gives the solutions of scikit-learn's SVC for every C. The fast direction of rKFD is
that of the textbook, and EM finds the flip rates.
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


WIDTHS = [2.0**exponent for exponent in (-6, -2, 0, 1, 3, 8)]

THREE_NOISES = ("independent 0.1", "independent 0.3", "negative_only 0.3")


def dual(K, y, beta):
    return y @ beta - beta @ K @ beta / 2


def noisy_signs(y, noise="independent 0.3"):
    """Make noisy labels -1 and 1 of one noise."""
    return 2.0 * noisy_columns(y, (noise,))[:, 0] - 1


def svc_solution(K, signs, C):
    """Return the dual coefficients and the bias of scikit-learn's SVC."""
    svc = SVC(C=C, kernel="precomputed", tol=1e-6, max_iter=10**7).fit(K, signs)
    coefficients = np.zeros(len(K))
    coefficients[svc.support_] = svc.dual_coef_[0]
    return coefficients, svc.intercept_[0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", range(3))
def test_every_point_of_the_path_is_the_solution_of_svc(width, seed):
    X, y = two_moons(70, seed)
    K = gram(X, X, width).K
    for column in noisy_columns(y, THREE_NOISES, seed).T:
        signs = 2.0 * column - 1
        beta, b, converged, _ = svm_path.path(svm_path.padded(K), signs, GRID, 1e-6, 10**6)
        assert converged.all()
        for k, C in enumerate(GRID):
            theirs, their_bias = svc_solution(K, signs, C)
            rounding_error = 1e-6 * C * len(X)
            assert dual(K, signs, beta[k]) >= dual(K, signs, theirs) - rounding_error
            assert violation(K, signs, beta[k], C) < 1.1e-6
            alpha = signs * beta[k]
            assert ((alpha >= 0) & (alpha <= C)).all()
            assert abs(beta[k].sum()) < 1e-10 * C * len(X)
            sizes = np.abs(theirs)
            single = 1e-6 * sizes.sum()  # LIBSVM keeps the kernel in single precision
            is_free = (sizes > 1e-6 * C) & (sizes < C * (1 - 1e-6))
            f = K @ beta[k] + b[k]
            their_f = K @ theirs + their_bias
            if not is_free.any():  # then b is known to an interval only; rounding moves its middle
                f = f - f.mean()
                their_f = their_f - their_f.mean()
            np.testing.assert_allclose(f, their_f, atol=1e-4 + single)


def violation(K, y, beta, C):
    """Of the optimality conditions, from their definition."""
    residual = y - K @ beta
    alpha = y * beta
    grows = np.where(y > 0, alpha < C, alpha > 0)
    shrinks = np.where(y > 0, alpha > 0, alpha < C)
    return residual[grows].max() - residual[shrinks].min()


@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_a_gap_bounds_the_distance_to_the_best_objective(width):
    X, y = two_moons(150, 2)
    K = gram(X, X, width).K
    signs = noisy_signs(y)
    padded = svm_path.padded(K)
    exact, _, _, exact_steps = svm_path.path(padded, signs, GRID, 1e-6, 10**6)
    rough, biases, converged, rough_steps = svm_path.path(padded, signs, GRID, 1e-6, 10**6, 1e-2)
    assert converged.all()
    assert rough_steps.sum() < exact_steps.sum()
    for C, beta, b, best in zip(GRID, rough, biases, exact, strict=True):
        hinge_losses = np.maximum(0.0, 1.0 - signs * (K @ beta + b))
        primal = beta @ K @ beta / 2 + C * hinge_losses.sum()
        best_dual = dual(K, signs, best)
        assert dual(K, signs, beta) >= best_dual - 1e-2 * len(X) * C
        assert primal <= best_dual + 2e-2 * len(X) * C


def test_repeated_points_with_contradicting_labels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 3)).astype(float)  # 8 distinct points: a singular kernel
    share_of_ones = 0.2 + 0.6 * X[:, 0]
    y = np.where(rng.random(80) < share_of_ones, 1.0, -1.0)
    for width in (0.3, 1.0, 30.0):
        K = gram(X, X, width).K
        beta, _, converged, _ = svm_path.path(svm_path.padded(K), y, GRID, 1e-3, 10**5)
        assert converged.all()
        for C, solution in zip(GRID, beta, strict=True):
            assert violation(K, y, solution, C) < 1.1e-3


def test_without_bounded_support_vectors_all_larger_C_share_one_solution():
    X, y = two_moons(50, 1, spread=0.05)
    signs = 2.0 * y - 1
    padded = svm_path.padded(gram(X, X, 0.5).K)
    beta, _, _, steps = svm_path.path(padded, signs, GRID, 1e-3, 10**5)
    is_unbounded = np.abs(beta).max(axis=1) < GRID
    first = int(np.argmax(is_unbounded))
    assert is_unbounded[first]
    assert first < len(GRID) - 1
    assert (beta[first:] == beta[first]).all()
    assert (steps[first + 1 :] == 0).all()


def test_newton_steps_save_most_smo_steps_at_large_C():
    X, y = two_moons(200, 0, spread=0.5)
    signs = noisy_signs(y)
    K = gram(X, X, 1.0).K
    _, _, _, steps = svm_path.path(svm_path.padded(K), signs, GRID, 1e-3, 10**6)
    svc = SVC(C=GRID[-1], kernel="precomputed").fit(K, signs)
    assert steps.sum() < svc.n_iter_.sum() / 3


def test_the_order_of_the_grid_does_not_matter_and_steps_that_run_out_are_flagged():
    X, y = two_moons(60)
    X_out, _ = two_moons(30, 5)
    labels = noisy_columns(y)
    grid = np.array([4.0, 0.25, 64.0])
    kernel = gram(X, X_out, 0.7)
    fits = KernelSVMClassifier.fit_many(kernel, labels, grid)
    ordered = KernelSVMClassifier.fit_many(kernel, labels, np.sort(grid))
    np.testing.assert_array_equal(fits.scores[:, np.argsort(grid)], ordered.scores)
    assert not fits.flagged.any()
    X, y = two_moons(40)
    kernel = gram(X, X, 1.0)
    stopped = KernelSVMClassifier.fit_many(kernel, y[:, None], [1.0], max_steps=1, tolerance=1e-12)
    assert stopped.flagged.all()
    assert not hasattr(KernelSVMClassifier(), "predict_proba")


def textbook_direction(K, r, mu):
    """a = (S_w + mu I)^-1 (m_1 - m_0) with S_w built point by point."""
    m1 = K @ r / r.sum()
    m0 = K @ (1 - r) / (1 - r).sum()
    S = np.zeros_like(K)
    for k, share in zip(K.T, r, strict=True):
        S += share * np.outer(k - m1, k - m1)
        S += (1 - share) * np.outer(k - m0, k - m0)
    return np.linalg.solve(S + mu * np.eye(len(r)), m1 - m0)


def plain_em(K, labels, mu, rounds=50):
    """The algorithm as the slides give it, one model at a time, with the textbook's direction."""
    n = len(labels)
    r = np.where(labels == 1, 0.8, 0.2)
    omega = np.empty((2, 2))
    for _ in range(rounds):
        a = textbook_direction(K, r, mu)
        z = K @ a
        n1 = r.sum()
        n0 = n - r.sum()
        m1 = (r * z).sum() / n1
        m0 = ((1 - r) * z).sum() / n0
        v = (r * (z - m1) ** 2 + (1 - r) * (z - m0) ** 2).sum() / n
        for k in (0, 1):
            omega[0, k] = ((1 - r) * (labels == k)).sum() / n0
            omega[1, k] = (r * (labels == k)).sum() / n1
        p1 = n1 * omega[1, labels] * np.exp(-((z - m1) ** 2) / (2 * v))
        p0 = n0 * omega[0, labels] * np.exp(-((z - m0) ** 2) / (2 * v))
        new = p1 / (p1 + p0)
        change = np.abs(new - r).max()
        r = new
        if change < 1e-4:
            break
    slope = (m1 - m0) / v
    offset = np.log(n1 / n0) - (m1**2 - m0**2) / (2 * v)
    return r, omega, (a, slope, offset)


def test_em_is_the_plain_one():
    X, y = two_moons(50, spread=0.5)
    X_out, _ = two_moons(20, 4)
    kernel = gram(X, X_out, 1.0)
    labels = noisy_columns(y)
    grid = [1e-2, 1e-1]
    fits = RobustKernelFisherClassifier.fit_many(kernel, labels, grid)
    for k in range(2):
        column = labels[:, k].astype(int)
        for g, mu in enumerate(ridges(kernel.K, grid)):
            r, omega, (a, slope, offset) = plain_em(kernel.K, column, mu)
            scores = slope * (kernel.K_out @ a) + offset
            np.testing.assert_allclose(fits.scores[k, g], scores, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(fits.omega01[k, g], omega[0, 1], atol=1e-5)
            np.testing.assert_allclose(fits.omega10[k, g], omega[1, 0], atol=1e-5)
            row = column[np.newaxis].astype(float)
            models = expectation_maximisation(kernel.basis, row, np.array([mu]))
            np.testing.assert_allclose(models.posterior[0], r, atol=1e-5)


def test_flip_rates_are_found():
    rng = np.random.default_rng(0)
    n = 1200
    y = (rng.random(n) < 0.5).astype(np.int8)
    centres = np.where(y == 1, 1.0, -1.0)[:, np.newaxis]
    X = rng.standard_normal((n, 4)) + centres
    rates = np.where(y == 1, 0.1, 0.3)
    labels = np.where(rng.random(n) < rates, 1 - y, y)
    model = RobustKernelFisherClassifier(4.0, 1e-2).fit(X, labels)
    np.testing.assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.06)
    assert (model.predict(X) == y).mean() > 0.95
    assert model.converged_
    assert model.flags_ == ()
    assert not model.flagged_


def fisher_scores(kernel, column, mu, threshold):
    """Score the points outside by the kernel Fisher discriminant of observed labels."""
    ridge = float(ridges(kernel.K, mu)[0])
    a = textbook_direction(kernel.K, column.astype(float), ridge)
    z = kernel.K @ a
    z0 = z[column == 0]
    z1 = z[column == 1]
    deviations = np.concatenate([z1 - z1.mean(), z0 - z0.mean()])
    slope = (z1.mean() - z0.mean()) / deviations.var()
    middle = (z1.mean() + z0.mean()) / 2
    prior = np.log(len(z1) / len(z0)) if threshold == "posterior" else 0.0
    return slope * (kernel.K_out @ a - middle) + prior


@pytest.mark.parametrize(("width", "mu"), [(0.1, 1e-4), (0.3, 1e-2), (1.0, 1e-4), (4.0, 1e-2)])
def test_without_rounds_it_is_the_kernel_fisher_discriminant_of_the_observed_labels(width, mu):
    X, y = two_moons(50)
    X_out, _ = two_moons(20, 4)
    kernel = gram(X, X_out, width)
    labels = noisy_columns(y)
    for threshold in ("posterior", "midpoint"):
        options = {"rounds": 0, "threshold": threshold}
        fits = RobustKernelFisherClassifier.fit_many(kernel, labels, [mu], **options)
        assert not fits.flagged.any()
        for k, column in enumerate(labels.T):
            direct = fisher_scores(kernel, column, mu, threshold)
            np.testing.assert_allclose(fits.scores[k, 0], direct, rtol=1e-5, atol=1e-5)
            assert fits.omega01[k, 0] == 0.0
            assert fits.omega10[k, 0] == 0.0


def test_the_midpoint_is_a_shift_by_the_log_odds_of_the_classes():
    X, y = two_moons(50)
    kernel = gram(X, X, 1.0)
    labels = noisy_columns(y)
    rKFD = RobustKernelFisherClassifier
    posterior = rKFD.fit_many(kernel, labels, [1e-2], threshold="posterior")
    midpoint = rKFD.fit_many(kernel, labels, [1e-2], threshold="midpoint")
    ridge = ridges(kernel.K, [1e-2])
    for k in range(2):
        shift = posterior.scores[k, 0] - midpoint.scores[k, 0]
        column = labels[:, [k]].T.astype(float)
        models = expectation_maximisation(kernel.basis, column, ridge)
        share = models.posterior[0].mean()
        np.testing.assert_allclose(shift, np.log(share / (1 - share)), atol=2e-3)
    model = rKFD(1.0, 1e-2, threshold="midpoint").fit(X, labels[:, 0])
    f = model.decision_function(X)
    np.testing.assert_allclose(f, midpoint.scores[0, 0], rtol=1e-6, atol=1e-8)
