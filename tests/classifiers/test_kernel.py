"""The path of the support vector machine and robust kernel Fisher discriminants.

The path gives the solutions of scikit-learn's SVC for every C. The fast direction of rKFD is
that of the textbook, and EM finds the flip rates.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
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


def noisy_signs(y, noise="independent 0.3", seed=0):
    """Make noisy labels -1 and 1 of one noise."""
    labels = noisy_columns(y, (noise,), seed)
    return 2.0 * labels[:, 0] - 1


def solve_path(K, signs, tolerance=1e-6, max_steps=10**6, **options):
    """Coefficients, biases, whether each converged, and numbers of steps for all of the grid."""
    padded = svm_path.padded(K)
    return svm_path.path(padded, signs, GRID, tolerance, max_steps, **options)


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
        solutions, biases, converged, _ = solve_path(K, signs)
        assert converged.all()
        for C, beta, b in zip(GRID, solutions, biases, strict=True):
            theirs, their_bias = svc_solution(K, signs, C)
            rounding_error = 1e-6 * C * len(X)
            assert dual(K, signs, beta) >= dual(K, signs, theirs) - rounding_error
            assert violation(K, signs, beta, C) < 1.1e-6
            alpha = signs * beta
            assert (alpha >= 0).all()
            assert (alpha <= C).all()
            assert abs(beta.sum()) < 1e-10 * C * len(X)
            sizes = np.abs(theirs)
            single = 1e-6 * sizes.sum()  # LIBSVM keeps the kernel in single precision
            is_free = (sizes > 1e-6 * C) & (sizes < C * (1 - 1e-6))
            f = K @ beta + b
            their_f = K @ theirs + their_bias
            if not is_free.any():  # then b is known to an interval only; rounding moves its middle
                f = f - f.mean()
                their_f = their_f - their_f.mean()
            assert_allclose(f, their_f, atol=1e-4 + single)


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
    exact, _, _, exact_steps = solve_path(K, signs)
    rough, biases, converged, rough_steps = solve_path(K, signs, gap=1e-2)
    assert converged.all()
    assert rough_steps.sum() < exact_steps.sum()
    for C, beta, b, best in zip(GRID, rough, biases, exact, strict=True):
        margins = signs * (K @ beta + b)
        hinge_losses = np.maximum(0.0, 1.0 - margins)
        primal = beta @ K @ beta / 2 + C * hinge_losses.sum()
        best_dual = dual(K, signs, best)
        gap = 1e-2 * len(X) * C
        assert dual(K, signs, beta) >= best_dual - gap
        assert primal <= best_dual + 2 * gap


@pytest.mark.parametrize("width", [0.3, 1.0, 30.0])
def test_repeated_points_with_contradicting_labels(width):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 3)).astype(float)  # 8 distinct points: a singular kernel
    share_of_ones = 0.2 + 0.6 * X[:, 0]
    y = np.where(rng.random(80) < share_of_ones, 1.0, -1.0)
    K = gram(X, X, width).K
    solutions, _, converged, _ = solve_path(K, y, 1e-3, 10**5)
    assert converged.all()
    for C, beta in zip(GRID, solutions, strict=True):
        assert violation(K, y, beta, C) < 1.1e-3


def test_without_bounded_support_vectors_all_larger_C_share_one_solution():
    X, y = two_moons(50, 1, spread=0.05)
    signs = 2.0 * y - 1
    K = gram(X, X, 0.5).K
    beta, _, _, steps = solve_path(K, signs, 1e-3, 10**5)
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
    _, _, _, steps = solve_path(K, signs, 1e-3)
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
    assert_array_equal(fits.scores[:, np.argsort(grid)], ordered.scores)
    assert not fits.flagged.any()
    X, y = two_moons(40)
    limits = {"max_steps": 1, "tolerance": 1e-12}
    stopped = KernelSVMClassifier.fit_many(gram(X, X), y[:, None], [1.0], **limits)
    assert stopped.flagged.all()
    assert not hasattr(KernelSVMClassifier(), "predict_proba")


def textbook_direction(K, r, mu):
    """a = (S_w + mu I)^-1 (m_1 - m_0) with S_w built point by point."""
    m1 = K @ r / r.sum()
    m0 = K @ (1 - r) / (1 - r).sum()
    S = mu * np.eye(len(r))
    for k, share in zip(K.T, r, strict=True):
        S += share * np.outer(k - m1, k - m1)
        S += (1 - share) * np.outer(k - m0, k - m0)
    return np.linalg.solve(S, m1 - m0)


def plain_em(K, labels, mu, rounds=50):
    """The algorithm as the slides give it, one model at a time, with the textbook's direction."""
    n = len(labels)
    r = np.where(labels == 1, 0.8, 0.2)
    omega = np.empty((2, 2))
    for _ in range(rounds):
        a = textbook_direction(K, r, mu)
        z = K @ a
        n1 = r.sum()
        n0 = n - n1
        m1 = (r * z).sum() / n1
        m0 = ((1 - r) * z).sum() / n0
        squares1 = (z - m1) ** 2
        squares0 = (z - m0) ** 2
        v = (r * squares1 + (1 - r) * squares0).sum() / n
        for k in (0, 1):
            is_k = labels == k
            omega[0, k] = (1 - r)[is_k].sum() / n0
            omega[1, k] = r[is_k].sum() / n1
        p1 = n1 * omega[1, labels] * np.exp(-squares1 / (2 * v))
        p0 = n0 * omega[0, labels] * np.exp(-squares0 / (2 * v))
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
    for k, column in enumerate(labels.T.astype(int)):
        row = column[np.newaxis].astype(float)
        for g, mu in enumerate(ridges(kernel.K, grid)):
            r, omega, (a, slope, offset) = plain_em(kernel.K, column, mu)
            scores = slope * (kernel.K_out @ a) + offset
            assert_allclose(fits.scores[k, g], scores, rtol=1e-4, atol=1e-4)
            assert_allclose(fits.omega01[k, g], omega[0, 1], atol=1e-5)
            assert_allclose(fits.omega10[k, g], omega[1, 0], atol=1e-5)
            models = expectation_maximisation(kernel.basis, row, np.array([mu]))
            assert_allclose(models.posterior[0], r, atol=1e-5)


def test_flip_rates_are_found():
    rng = np.random.default_rng(0)
    n = 1200
    y = (rng.random(n) < 0.5).astype(np.int8)
    centres = np.where(y == 1, 1.0, -1.0)[:, np.newaxis]
    X = rng.standard_normal((n, 4)) + centres
    rates = np.where(y == 1, 0.1, 0.3)
    is_flipped = rng.random(n) < rates
    labels = np.where(is_flipped, 1 - y, y)
    model = RobustKernelFisherClassifier(4.0, 1e-2).fit(X, labels)
    assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.06)
    is_right = model.predict(X) == y
    assert is_right.mean() > 0.95
    assert model.converged_
    assert model.flags_ == ()
    assert not model.flagged_


def fisher_scores(kernel, column, mu, threshold):
    """Score the points outside by the kernel Fisher discriminant of observed labels."""
    (ridge,) = ridges(kernel.K, mu)
    a = textbook_direction(kernel.K, column.astype(float), ridge)
    z = kernel.K @ a
    z0 = z[column == 0]
    z1 = z[column == 1]
    m0 = z0.mean()
    m1 = z1.mean()
    deviations = np.concatenate([z1 - m1, z0 - m0])
    slope = (m1 - m0) / deviations.var()
    middle = (m1 + m0) / 2
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
        assert (fits.omega01 == 0.0).all()
        assert (fits.omega10 == 0.0).all()
        for k, column in enumerate(labels.T):
            direct = fisher_scores(kernel, column, mu, threshold)
            assert_allclose(fits.scores[k, 0], direct, rtol=1e-5, atol=1e-5)


def test_the_midpoint_is_a_shift_by_the_log_odds_of_the_classes():
    X, y = two_moons(50)
    kernel = gram(X, X, 1.0)
    labels = noisy_columns(y)
    rKFD = RobustKernelFisherClassifier
    posterior = rKFD.fit_many(kernel, labels, [1e-2], threshold="posterior")
    midpoint = rKFD.fit_many(kernel, labels, [1e-2], threshold="midpoint")
    ridge = ridges(kernel.K, [1e-2])
    for k, column in enumerate(labels.T):
        shift = posterior.scores[k, 0] - midpoint.scores[k, 0]
        row = column[np.newaxis].astype(float)
        models = expectation_maximisation(kernel.basis, row, ridge)
        share = models.posterior[0].mean()
        log_odds = np.log(share / (1 - share))
        assert_allclose(shift, log_odds, atol=2e-3)
    model = rKFD(1.0, 1e-2, threshold="midpoint").fit(X, labels[:, 0])
    f = model.decision_function(X)
    assert_allclose(f, midpoint.scores[0, 0], rtol=1e-6, atol=1e-8)
