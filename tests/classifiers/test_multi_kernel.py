"""Robust multi-kernel logistic regression: formulas, guards, and the promised errors."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import line_search, minimize
from scipy.special import expit

from noisylabels.classifiers.kernel_logistic import marginal_zeta
from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression as rMKLR
from noisylabels.classifiers.multi_kernel import smooth_collapse
from noisylabels.kernels.bank import KernelBank, Stack, mixed, mixtures, responses
from noisylabels.kernels.gaussian import rbf, squared_distances
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers import multi_kernel as path
from noisylabels.solvers.flipped_logistic import likelihood
from noisylabels.solvers.multi_kernel import CURVATURE, DECREASE, conjugate_gradient, wolfe_step

ROUNDING = 1e-4  # the path amplifies the last bits, which depend on the order of sums
OMEGA = np.array([[0.7, 0.3], [0.1, 0.9]])


def blobs(n=60, d=3, seed=0, flips=0.2):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 2).astype(float)
    signs = 2 * y[:, None] - 1
    X = rng.standard_normal((n, d)) + 1.5 * signs
    is_flipped = rng.random(n) < flips
    return X, y, np.where(is_flipped, 1 - y, y)


def gradient(function, x, h=1e-6):
    slopes = []
    for step in h * np.eye(len(x)):
        rise = function(x + step) - function(x - step)
        slopes.append(rise / (2 * h))
    return np.array(slopes)


# Formulas


def residuals(f, y):
    """q - sigma, the slope of the log likelihood in f."""
    return flips.posterior(f, y, OMEGA) - expit(f)


def objective_of_u(F, y, xi):
    """The part of the objective that depends on u, as a function of u."""

    def objective(u):
        eta = u * u
        log_likelihoods = flips.log_likelihood(eta @ F, y, OMEGA)
        return log_likelihoods.sum() - xi @ eta

    return objective


def test_gradient_of_u_is_the_finite_difference():
    _, _, y = blobs(25)
    rng = np.random.default_rng(1)
    F = rng.standard_normal((4, 25))
    u = rng.standard_normal(4)
    xi = rng.random(4)
    f = (u * u) @ F
    computed = path.u_gradient(F, residuals(f, y), u, xi)
    expected = gradient(objective_of_u(F, y, xi), u)
    assert_allclose(computed, expected, rtol=1e-7)


def test_zeta_is_read_off_the_marginal_prior():
    w = np.random.default_rng(2).standard_normal(7)
    beta = 2.0

    def minus_log_prior(w):
        return (len(w) / 2 + 1) * np.log(0.5 * w @ w + beta)

    square = float(w @ w)
    exact = marginal_zeta(square, len(w), "exact", beta)
    slope = gradient(minus_log_prior, w)
    assert_allclose(slope, 2 * exact * w, rtol=1e-8)  # of exact ||w||^2
    assert marginal_zeta(square, len(w), "slides", beta) == 2 * exact


def test_xi_is_the_slope_of_the_marginal_prior():
    eta = np.array([1e-3, 0.5, 7.0])
    rise = np.log(eta * 1.000001) - np.log(eta * 0.999999)
    slope = rise / (eta * 2e-6)
    rates = path.penalty_rates(eta)
    assert_allclose(rates, 2 * slope, rtol=1e-8)  # p = psi/(eta + psi)^2
    (rate_of_zero,) = path.penalty_rates(np.zeros(1))
    assert rate_of_zero == 2e100
    assert 0.0 * rate_of_zero == 0  # a pruned kernel has gradient 0


# Conjugate gradients


@pytest.fixture
def quadratic_like():
    X, _, y = blobs(50)
    K = rbf(squared_distances(X), 1.5) + 0.1 * np.eye(50)

    def phi(w, zeta):
        f = K @ w
        log_likelihoods = flips.log_likelihood(f, y, OMEGA)
        value = zeta * w @ w - log_likelihoods.sum()
        slope = 2 * zeta * w - K @ residuals(f, y)
        return value, slope

    return K, y, phi


def test_conjugate_gradients_take_the_steps_of_scipy(quadratic_like):
    K, y, phi = quadratic_like
    start = np.zeros(50)
    w, f = conjugate_gradient(K, start, y, OMEGA, 3.0, iterations=40)
    theirs = minimize(phi, start, args=(3.0,), jac=True, method="CG", options={"maxiter": 40})
    assert_allclose(w, theirs.x, atol=2e-5)
    assert_allclose(f, K @ w, atol=1e-10)


def test_every_step_makes_the_objective_smaller(quadratic_like):
    K, y, phi = quadratic_like
    values = []
    for iterations in range(12):
        w, _ = conjugate_gradient(K, np.zeros(50), y, OMEGA, 0.05, iterations)
        value, _ = phi(w, 0.05)
        values.append(value)
    rises = np.diff(values)
    assert (rises < 0).all()


@pytest.mark.parametrize("first", [1e-6, 1e-3, 1.0, 100.0])
def test_line_search_meets_the_strong_wolfe_conditions(quadratic_like, first):
    K, y, phi = quadratic_like
    zeta = 0.5
    w = 0.1 * np.random.default_rng(3).standard_normal(50)
    value, g = phi(w, zeta)
    d = -g
    residual = np.empty(50)
    t, reached = wolfe_step(
        K @ w,
        K @ d,
        y,
        0.3,
        0.1,
        zeta,
        w @ w,
        w @ d,
        d @ d,
        value,
        g @ d,
        first,
        residual,
    )
    moved = w + t * d
    value_there, slope_there = phi(moved, zeta)
    assert reached == pytest.approx(value_there, rel=1e-12)
    assert value_there <= value + DECREASE * t * (g @ d)
    assert abs(slope_there @ d) <= CURVATURE * abs(g @ d)
    assert_allclose(residual, residuals(K @ moved, y), atol=1e-12)

    def value_at(w):
        return phi(w, zeta)[0]

    def slope_at(w):
        return phi(w, zeta)[1]

    their_step, *_ = line_search(value_at, slope_at, w, d, c2=CURVATURE)
    assert their_step > 0


def test_newton_reaches_the_stationary_point(quadratic_like):
    K, y, phi = quadratic_like
    w, _ = path.newton_steps(K, np.zeros(50), y, OMEGA, 3.0, steps=60)
    _, slope = phi(w, 3.0)
    assert np.abs(slope).max() < 1e-3


def test_u_step_grows_the_objective_and_keeps_pruned_kernels():
    _, _, y = blobs(30)
    F = np.random.default_rng(4).standard_normal((5, 30))
    u = np.array([1.0, 0.0, 0.5, -0.7, 1.0])
    xi = np.full(5, 0.1)
    copies = np.ones(5)

    def fit(f, slope):
        return likelihood(f, 0 * f, 0.0, y, OMEGA[0, 1], OMEGA[1, 0], slope)[0]

    new = path.u_step(F, fit, u, xi, copies)
    objective = objective_of_u(F, y, xi)
    assert objective(new) > objective(u)
    assert new[1] == 0
    halvings = -np.log2(np.linalg.norm(new - u))
    assert halvings == pytest.approx(round(halvings), abs=1e-9)
    assert 0 <= round(halvings) <= 14
    flat = path.u_step(0 * F, fit, u, 0 * xi, copies)
    assert_array_equal(flat, u)


# The bank


def test_sums_of_kernels_equal_numpy():
    X, _, _ = blobs(40)
    widths = [0.3, 1.0, 4.0]
    bank = KernelBank.of_widths(widths, groups=2)
    D = np.stack([squared_distances(X[:, :1]), squared_distances(X)])
    stack = bank.stack(D)
    kernels = [rbf(distances, width) for distances, width in product(D, widths)]
    plain = np.stack(kernels)
    assert_allclose(stack.K, plain, rtol=1e-13)
    off_diagonal = ~np.eye(40, dtype=bool)
    mean_off_diagonal = [kernel[off_diagonal].mean() for kernel in kernels]
    assert_allclose(stack.spread, mean_off_diagonal, rtol=1e-12)
    rng = np.random.default_rng(0)
    is_used = np.array([[1], [0], [1], [1], [0], [1]])
    eta = rng.random((6, 2)) * is_used
    w = rng.standard_normal((40, 2))
    mixture = mixed(stack.K, eta.T)
    assert_allclose(mixture, np.tensordot(eta.T, plain, 1), rtol=1e-12)
    response = responses(stack.K, w.T.copy())
    wanted = np.einsum("snm,ml->lsn", plain, w)
    assert_allclose(response, wanted, atol=1e-12)
    scores = bank.scores(D[:, :7], w, eta)
    wanted = np.einsum("sl,snm,ml->ln", eta, plain[:, :7], w)
    assert_allclose(scores, wanted, atol=1e-12)


def test_mixtures_have_the_distances_of_their_points():
    X, _, _ = blobs(12)
    rng = np.random.default_rng(0)
    first = rng.integers(12, size=9)
    second = rng.integers(12, size=9)
    share = rng.random(9)
    column = share[:, None]
    points = column * X[first] + (1 - column) * X[second]
    expected = squared_distances(points, X)
    distances = squared_distances(X)[None]
    (mixed_distances,) = mixtures(distances, first, second, share)
    assert_allclose(mixed_distances, expected, atol=1e-12)


def test_one_copy_of_equal_kernels_is_the_uncollapsed_fit():
    X, _, y = blobs(50, d=8)
    widths = np.r_[2.0 ** np.arange(-7, 4), 1e8, 1e9]
    bank = KernelBank.of_widths(widths)
    D = squared_distances(X)[None]
    merged = bank.stack(D)
    member = merged.member
    S = len(member)
    plain = Stack(merged.K[member], np.ones(S), np.arange(S), merged.spread[member])
    assert len(merged.K) < len(plain.K) - 4
    assert sorted(merged.copies)[-2:] != [1, 1]
    labels = np.stack([y, 1 - y], axis=1)
    collapsed, *_ = path.ascend(merged, labels)
    uncollapsed, *_ = path.ascend(plain, labels)
    assert_allclose(collapsed.eta[member], uncollapsed.eta, rtol=ROUNDING, atol=ROUNDING)
    assert_allclose(collapsed.w, uncollapsed.w, atol=ROUNDING)
    assert_allclose(collapsed.omega, uncollapsed.omega, atol=ROUNDING)


def test_single_precision_beyond_the_limit(monkeypatch):
    X, _, y = blobs(50)
    D = squared_distances(X)
    widths = [0.5, 1, 2, 4]
    exact = rMKLR.fit_distances(D, D, y[:, None], widths)
    bytes_of_stack = 8 * 4 * 50 * 50
    monkeypatch.setattr("noisylabels.kernels.bank.LARGEST_STACK", bytes_of_stack - 1)
    stack = KernelBank.of_widths(widths).stack(D[None])
    assert stack.K.dtype == np.float32
    single = rMKLR.fit_distances(D, D, y[:, None], widths)
    assert_allclose(single.scores, exact.scores, atol=1e-3)


# The classifier


def test_rows_can_be_reordered():
    X, _, y = blobs(80)
    order = np.random.default_rng(0).permutation(80)
    in_order = rMKLR(T=4).fit(X, y)
    reordered = rMKLR(T=4).fit(X[order], y[order])
    f = in_order.decision_function(X)
    assert_allclose(reordered.decision_function(X), f, atol=ROUNDING)


def test_attributes_and_probabilities():
    X, clean, y = blobs(100)
    model = rMKLR().fit(X, y)
    eta = model.eta_
    assert eta.shape == (21,)
    assert (eta >= 0).all()
    kept_weights = eta[eta > 0]
    assert (kept_weights >= 1e-8 * eta.max()).all()
    assert model.weights_.shape == (100,)
    assert 1 <= model.n_iter_ <= 10
    assert model.flags_ == ()
    assert not model.flagged_
    omega = model.flip_matrix_
    assert_allclose(omega.sum(axis=1), 1)
    f = model.decision_function(X)
    assert_allclose(model.predict_proba(X)[:, 1], expit(f))
    q = model.true_label_posterior(X, y)
    assert_allclose(q, flips.posterior(f, y, omega))
    is_right = model.predict(X) == clean
    is_clean = y == clean
    assert is_right.mean() > is_clean.mean()


def test_collapse_is_detected():
    X, _, y = blobs(50, d=8)
    D = squared_distances(X)[None]
    bank = KernelBank.of_widths([1e-3, 2.0])
    stack = bank.stack(D)
    w = np.random.default_rng(0).standard_normal((50, 1))

    def collapsed(*eta):
        column = np.array([eta]).T
        return smooth_collapse(bank, stack, D, w, column)

    assert collapsed(1.0, 1.0) == [False]
    assert collapsed(1.0, 0.0) == [True]
    assert collapsed(1e12, 1e3) == [True]
    assert collapsed(0.0, 1.0) == [False]
    narrow = rMKLR([1e-3]).fit(X, y)
    assert narrow.flags_ == ("collapsed",)
    far = narrow.decision_function(X + 100)
    assert np.abs(far).max() < 1e-300  # no hidden bias
    fits = rMKLR.fit_distances(D[0], D[0] + 1, y[:, None], [1e-3])
    assert fits.flagged.all()
    frequent_is_one = y.mean() >= 0.5
    assert ((fits.scores > 0) == frequent_is_one).all()


def test_round_that_is_not_finite_is_undone():
    X, _, y = blobs(20)
    D = squared_distances(X)[None]
    stack = KernelBank.of_widths([1.0]).stack(D)
    stack.K[0, 3, 4] = np.nan
    end, *_ = path.ascend(stack, y[:, None])
    assert end.broken
    assert np.isfinite(end.w).all()
    assert np.isfinite(end.eta).all()


def test_more_kernels_than_points():
    X, _, y = blobs(20, d=6)
    D = np.stack([squared_distances(column[:, None]) for column in X.T])
    widths = 2.0 ** np.arange(-3, 7)
    bank = KernelBank.of_widths(widths, groups=6)
    fits = rMKLR.fit_bank(bank, D, D, y[:, None])
    assert np.isfinite(fits.scores).all()
    predicted = fits.scores[0, 0] > 0
    assert np.mean(predicted == y) > 0.7


def twonorm(rng, negative, positive):
    """Breiman's: x | y ~ N(y a 1, I), a = 2/sqrt(20), 20 columns."""
    y = np.repeat([-1, 1], [negative, positive])
    centres = y[:, None] * 2 / np.sqrt(20)
    X = rng.standard_normal((len(y), 20)) + centres
    order = rng.permutation(len(y))
    return X[order], y[order]


def test_twonorm_with_thirty_percent_flips():
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = twonorm(rng, 1200, 1200)
        y_train = y[:400]
        is_flipped = rng.random(400) < 0.3
        noisy = np.where(is_flipped, -y_train, y_train)
        model = rMKLR().fit(X[:400], noisy)
        predicted = model.predict(X[400:])
        errors.append(100 * np.mean(predicted != y[400:]))
    assert np.mean(errors) < 7, errors
