"""Robust multi-kernel logistic regression: formulas, guards, and the errors that the recipe promises."""

import numpy as np
import pytest
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
    X = rng.standard_normal((n, d)) + 1.5 * (2 * y[:, None] - 1)
    return X, y, np.where(rng.random(n) < flips, 1 - y, y)


def gradient(function, x, h=1e-6):
    steps = h * np.eye(len(x))
    return np.array([(function(x + step) - function(x - step)) / (2 * h) for step in steps])


# Formulas


def test_gradient_of_u_is_the_finite_difference():
    _, _, y = blobs(25)
    rng = np.random.default_rng(1)
    F = rng.standard_normal((4, 25))
    u = rng.standard_normal(4)
    xi = rng.random(4)

    def objective(u):
        return flips.log_likelihood((u * u) @ F, y, OMEGA).sum() - xi @ (u * u)

    def fit(f, slope):
        return likelihood(f, 0 * f, 0.0, y, OMEGA[0, 1], OMEGA[1, 0], slope)[0]

    f = (u * u) @ F
    residual = flips.posterior(f, y, OMEGA) - expit(f)
    np.testing.assert_allclose(path.u_gradient(F, residual, u, xi), gradient(objective, u), rtol=1e-7)


def test_zeta_is_read_off_the_marginal_prior():
    w = np.random.default_rng(2).standard_normal(7)
    beta = 2.0

    def minus_log_prior(w):
        return (len(w) / 2 + 1) * np.log(0.5 * w @ w + beta)

    exact, slides = (marginal_zeta(float(w @ w), len(w), name, beta) for name in ("exact", "slides"))
    np.testing.assert_allclose(gradient(minus_log_prior, w), 2 * exact * w, rtol=1e-8)  # of exact ||w||^2
    assert slides == 2 * exact


def test_xi_is_the_slope_of_the_marginal_prior():
    eta = np.array([1e-3, 0.5, 7.0])
    slope = [(np.log(e * 1.000001) - np.log(e * 0.999999)) / (e * 2e-6) for e in eta]
    np.testing.assert_allclose(
        path.penalty_rates(eta), 2 * np.array(slope), rtol=1e-8
    )  # p = psi/(eta + psi)^2
    assert path.penalty_rates(np.zeros(1)) == 2e100
    assert 0.0 * path.penalty_rates(np.zeros(1)) == 0  # a pruned kernel has gradient 0


# Conjugate gradients


@pytest.fixture
def quadratic_like():
    X, _, y = blobs(50)
    K = rbf(squared_distances(X), 1.5) + 0.1 * np.eye(50)

    def phi(w, zeta):
        f = K @ w
        value = zeta * w @ w - flips.log_likelihood(f, y, OMEGA).sum()
        return value, 2 * zeta * w - K @ (flips.posterior(f, y, OMEGA) - expit(f))

    return K, y, phi


def test_conjugate_gradients_take_the_steps_of_scipy(quadratic_like):
    K, y, phi = quadratic_like
    w, f = conjugate_gradient(K, np.zeros(50), y, OMEGA, 3.0, iterations=40)
    theirs = minimize(phi, np.zeros(50), args=(3.0,), jac=True, method="CG", options={"maxiter": 40})
    np.testing.assert_allclose(w, theirs.x, atol=2e-5)
    np.testing.assert_allclose(f, K @ w, atol=1e-10)


def test_every_step_makes_the_objective_smaller(quadratic_like):
    K, y, phi = quadratic_like
    values = [phi(conjugate_gradient(K, np.zeros(50), y, OMEGA, 0.05, k)[0], 0.05)[0] for k in range(12)]
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("first", [1e-6, 1e-3, 1.0, 100.0])
def test_line_search_meets_the_strong_wolfe_conditions(quadratic_like, first):
    K, y, phi = quadratic_like
    zeta = 0.5
    w = 0.1 * np.random.default_rng(3).standard_normal(50)
    value, g = phi(w, zeta)
    d = -g
    residual = np.empty(50)
    t, reached = wolfe_step(
        K @ w, K @ d, y, 0.3, 0.1, zeta, w @ w, w @ d, d @ d, value, g @ d, first, residual
    )
    there, slope = phi(w + t * d, zeta)
    assert reached == pytest.approx(there, rel=1e-12)
    assert there <= value + DECREASE * t * (g @ d)
    assert abs(slope @ d) <= CURVATURE * abs(g @ d)
    q_minus_sigma = flips.posterior(K @ (w + t * d), y, OMEGA) - expit(K @ (w + t * d))
    np.testing.assert_allclose(residual, q_minus_sigma, atol=1e-12)
    assert line_search(lambda w: phi(w, zeta)[0], lambda w: phi(w, zeta)[1], w, d, c2=CURVATURE)[0] > 0


def test_newton_reaches_the_stationary_point(quadratic_like):
    K, y, phi = quadratic_like
    w, _ = path.newton_steps(K, np.zeros(50), y, OMEGA, 3.0, steps=60)
    assert np.abs(phi(w, 3.0)[1]).max() < 1e-3


def test_u_step_grows_the_objective_and_keeps_pruned_kernels():
    _, _, y = blobs(30)
    F = np.random.default_rng(4).standard_normal((5, 30))
    u = np.array([1.0, 0.0, 0.5, -0.7, 1.0])
    xi = np.full(5, 0.1)
    copies = np.ones(5)

    def objective(u):
        return flips.log_likelihood((u * u) @ F, y, OMEGA).sum() - xi @ (u * u)

    def fit(f, slope):
        return likelihood(f, 0 * f, 0.0, y, OMEGA[0, 1], OMEGA[1, 0], slope)[0]

    new = path.u_step(F, fit, u, xi, copies)
    assert objective(new) > objective(u)
    assert new[1] == 0
    halvings = -np.log2(np.linalg.norm(new - u))
    assert halvings == pytest.approx(round(halvings), abs=1e-9)
    assert 0 <= round(halvings) <= 14
    np.testing.assert_array_equal(path.u_step(0 * F, fit, u, 0 * xi, copies), u)


# The bank


def test_sums_of_kernels_equal_numpy():
    X, _, _ = blobs(40)
    bank = KernelBank.of_widths([0.3, 1.0, 4.0], groups=2)
    D = np.stack([squared_distances(X[:, :1]), squared_distances(X)])
    stack = bank.stack(D)
    plain = np.stack([rbf(D[g], width) for g in range(2) for width in (0.3, 1.0, 4.0)])
    np.testing.assert_allclose(stack.K, plain, rtol=1e-13)
    np.testing.assert_allclose(stack.spread, (plain.sum((1, 2)) - 40) / (40 * 39), rtol=1e-12)
    rng = np.random.default_rng(0)
    eta = rng.random((6, 2)) * np.array([[1], [0], [1], [1], [0], [1]])
    w = rng.standard_normal((40, 2))
    np.testing.assert_allclose(mixed(stack.K, eta.T), np.tensordot(eta.T, plain, 1), rtol=1e-12)
    np.testing.assert_allclose(responses(stack.K, w.T.copy()), np.einsum("snm,ml->lsn", plain, w), atol=1e-12)
    np.testing.assert_allclose(
        bank.scores(D[:, :7], w, eta), np.einsum("sl,snm,ml->ln", eta, plain[:, :7], w), atol=1e-12
    )


def test_mixtures_have_the_distances_of_their_points():
    X, _, _ = blobs(12)
    rng = np.random.default_rng(0)
    first = rng.integers(12, size=9)
    second = rng.integers(12, size=9)
    share = rng.random(9)
    points = share[:, None] * X[first] + (1 - share[:, None]) * X[second]
    expected = squared_distances(points, X)
    np.testing.assert_allclose(
        mixtures(squared_distances(X)[None], first, second, share)[0], expected, atol=1e-12
    )


def test_one_copy_of_equal_kernels_is_the_uncollapsed_fit():
    X, _, y = blobs(50, d=8)
    widths = np.r_[2.0 ** np.arange(-7, 4), 1e8, 1e9]
    bank = KernelBank.of_widths(widths)
    D = squared_distances(X)[None]
    merged = bank.stack(D)
    S = len(merged.member)
    plain = Stack(merged.K[merged.member], np.ones(S), np.arange(S), merged.spread[merged.member])
    assert len(merged.K) < len(plain.K) - 4
    assert sorted(merged.copies)[-2:] != [1, 1]
    one, two = (path.ascend(stack, np.stack([y, 1 - y], axis=1))[0] for stack in (merged, plain))
    np.testing.assert_allclose(one.eta[merged.member], two.eta, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(one.w, two.w, atol=ROUNDING)
    np.testing.assert_allclose(one.omega, two.omega, atol=ROUNDING)


def test_single_precision_beyond_the_limit(monkeypatch):
    X, _, y = blobs(50)
    D = squared_distances(X)
    widths = [0.5, 1, 2, 4]
    exact = rMKLR.fit_distances(D, D, y[:, None], widths)
    monkeypatch.setattr("noisylabels.kernels.bank.LARGEST_STACK", 8 * 4 * 50 * 50 - 1)
    assert KernelBank.of_widths(widths).stack(D[None]).K.dtype == np.float32
    single = rMKLR.fit_distances(D, D, y[:, None], widths)
    np.testing.assert_allclose(single.scores, exact.scores, atol=1e-3)


# The classifier


def test_rows_can_be_reordered():
    X, _, y = blobs(80)
    f = rMKLR(T=4).fit(X, y).decision_function(X)
    order = np.random.default_rng(0).permutation(80)
    shuffled = rMKLR(T=4).fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.decision_function(X), f, atol=ROUNDING)


def test_attributes_and_probabilities():
    X, clean, y = blobs(100)
    model = rMKLR().fit(X, y)
    assert model.eta_.shape == (21,)
    assert (model.eta_ >= 0).all()
    assert ((model.eta_ == 0) | (model.eta_ >= 1e-8 * model.eta_.max())).all()
    assert model.weights_.shape == (100,)
    assert 1 <= model.n_iter_ <= 10
    assert (model.flags_, model.flagged_) == ((), False)
    np.testing.assert_allclose(model.flip_matrix_.sum(axis=1), 1)
    f = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(f))
    q = model.true_label_posterior(X, y)
    np.testing.assert_allclose(q, flips.posterior(f, y, model.flip_matrix_))
    assert np.mean(model.predict(X) == clean) > np.mean(y == clean)


def test_collapse_is_detected():
    X, _, y = blobs(50, d=8)
    D = squared_distances(X)[None]
    bank = KernelBank.of_widths([1e-3, 2.0])
    stack = bank.stack(D)
    w = np.random.default_rng(0).standard_normal(50)

    def collapsed(*eta):
        return smooth_collapse(bank, stack, D, w[:, None], np.array([eta]).T)

    assert collapsed(1.0, 1.0) == [False]
    assert collapsed(1.0, 0.0) == [True]
    assert collapsed(1e12, 1e3) == [True]
    assert collapsed(0.0, 1.0) == [False]
    narrow = rMKLR([1e-3]).fit(X, y)
    assert narrow.flags_ == ("collapsed",)
    assert np.abs(narrow.decision_function(X + 100)).max() < 1e-300  # no hidden bias
    fits = rMKLR.fit_distances(D[0], D[0] + 1, y[:, None], [1e-3])
    assert fits.flagged.all()
    assert ((fits.scores > 0) == (y.mean() >= 0.5)).all()


def test_round_that_is_not_finite_is_undone():
    X, _, y = blobs(20)
    stack = KernelBank.of_widths([1.0]).stack(squared_distances(X)[None])
    stack.K[0, 3, 4] = np.nan
    end = path.ascend(stack, y[:, None])[0]
    assert end.broken
    assert np.isfinite(end.w).all()
    assert np.isfinite(end.eta).all()


def test_more_kernels_than_points():
    X, _, y = blobs(20, d=6)
    D = np.stack([squared_distances(X[:, [j]]) for j in range(6)])
    bank = KernelBank.of_widths(2.0 ** np.arange(-3, 7), groups=6)
    fits = rMKLR.fit_bank(bank, D, D, y[:, None])
    assert np.isfinite(fits.scores).all()
    assert np.mean((fits.scores[0, 0] > 0) == y) > 0.7


def twonorm(rng, negative, positive):
    """Breiman's: x | y ~ N(y a 1, I), a = 2/sqrt(20), 20 columns."""
    y = np.repeat([-1, 1], [negative, positive])
    X = rng.standard_normal((len(y), 20)) + y[:, None] * 2 / np.sqrt(20)
    order = rng.permutation(len(y))
    return X[order], y[order]


def test_twonorm_with_thirty_percent_flips():
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = twonorm(rng, 1200, 1200)
        train, test = X[:400], X[400:]
        noisy = np.where(rng.random(400) < 0.3, -y[:400], y[:400])
        model = rMKLR().fit(train, noisy)
        errors.append(100 * np.mean(model.predict(test) != y[400:]))
    assert np.mean(errors) < 7, errors
