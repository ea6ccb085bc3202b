"""KLR, rKLR and rLR: maxima by other ways, what changes nothing, degenerate data, bias, penalty."""

from itertools import product
from typing import get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import gram, noisy_columns, two_moons
from sklearn.linear_model import LogisticRegression

from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
    marginal_zeta,
)
from noisylabels.classifiers.logistic import RobustLogisticRegression
from noisylabels.kernels.gaussian import Gram, basis, rbf, squared_distances
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_logistic import Bias, Penalty, fit_batch
from noisylabels.solvers.flipped_softmax import em_newton

KLR, rKLR, rLR = (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
    RobustLogisticRegression,
)
GRID = np.array(KLR.GRID)


def flipped(y, omega01, omega10, rng):
    rates = np.where(y == 1, omega10, omega01)
    is_flipped = rng.random(len(y)) < rates
    return np.where(is_flipped, 1 - y, y)


def twonorm(n, d=20, seed=0, omega01=0.0, omega10=0.0):
    """X (n, d), true and observed labels, 0 and 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(float)
    signs = 2 * y[:, None] - 1
    X = rng.standard_normal((n, d)) + signs * 2 / np.sqrt(d)
    return X, y, flipped(y, omega01, omega10, rng)


def rings(n=120, seed=0, rate=0.2):
    """A problem that no line solves: points inside and outside a circle."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    squared_radius = (X**2).sum(axis=1)
    y = (squared_radius > 1.4).astype(float)
    return X, y, flipped(y, rate, rate, rng)


def batch(X, labels, grid=GRID, width=1.0, robust=False, **parameters):
    """`fit_batch` for columns of labels (n, L) and a grid; the factor Z of the basis with it."""
    space = basis(rbf(squared_distances(X), width))
    rows = np.ascontiguousarray(labels.T)
    column = np.repeat(np.arange(len(rows)), len(grid))
    zetas = np.tile(grid, len(rows))
    fits = fit_batch(space, rows, column, zetas, robust, **parameters)
    return space.Q * space.lam, fits


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0, 16.0])
def test_klr_reaches_the_maximum_of_its_concave_objective(width):
    X, y, noisy = rings()
    labels = np.column_stack([y, noisy])
    Z, fits = batch(X, labels, width=width)
    _, tight = batch(X, labels, width=width, tolerance=1e-9)
    assert fits.converged.all()
    assert tight.converged.all()
    objective_of_zero = len(X) * np.log(2)  # that of f = 0
    for c, (column, zeta) in enumerate(product(labels.T, GRID)):
        penalties = np.full(Z.shape[1], zeta)
        best = em_newton(Z, column, penalties, np.eye(2), learn_omega=False)
        lowest = -best.objectives[-1]
        assert lowest - 1e-8 <= fits.objective[c] <= lowest + 1e-5 * objective_of_zero
        assert tight.objective[c] <= lowest * (1 + 1e-5)


def test_rklr_never_ends_above_where_em_newton_starts_and_seldom_above_where_it_ends():
    X, _, noisy = rings(150, rate=0.3)
    Z, fits = batch(X, noisy[:, None], robust=True)
    objective_of_zero = len(X) * np.log(2)
    worse = 0
    for objective, zeta in zip(fits.objective, GRID, strict=True):
        penalties = np.full(Z.shape[1], zeta)
        em = em_newton(Z, noisy, penalties, flips.START, rounds=300)
        rises = np.diff(em.objectives)
        assert (rises >= -1e-9).all()  # EM is monotone
        assert objective <= objective_of_zero
        lowest = -em.objectives[-1]
        worse += objective > lowest * (1 + 1e-3)
    assert worse <= 1


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_order_of_the_training_points_does_not_matter(model):
    X, _, noisy = rings()
    order = np.random.default_rng(1).permutation(len(X))
    X_reordered = X[order]
    noisy_reordered = noisy[order]
    estimator = model(1.0, 1.0, solver="em_newton")
    f = estimator.fit(X, noisy).decision_function(X)
    f_reordered = estimator.fit(X_reordered, noisy_reordered).decision_function(X)
    assert_allclose(f, f_reordered, atol=1e-8)
    grid = GRID[2:]
    fits = model.fit_many(gram(X, X), noisy[:, None], grid)
    fits_reordered = model.fit_many(gram(X_reordered, X), noisy_reordered[:, None], grid)
    scores = fits.scores
    scores_reordered = fits_reordered.scores
    assert_array_equal(scores > 0, scores_reordered > 0)
    largest = np.abs(scores).max()
    assert_allclose(scores, scores_reordered, atol=0.02 * largest)


def test_swapping_the_classes_mirrors_omega():
    X, _, noisy = twonorm(200, omega01=0.3)
    omega = rLR().fit(X, noisy).flip_matrix_
    swapped = rLR().fit(X, 1 - noisy).flip_matrix_
    assert_allclose(omega, swapped[::-1, ::-1], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rlr_recovers_the_flip_rates(seed):
    X, y, noisy = twonorm(2000, seed=seed, omega01=0.3, omega10=0.1)
    model = rLR().fit(X, noisy)
    assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.05)
    assert model.converged_
    is_right = model.predict(X) == y
    assert is_right.mean() > 0.96
    rises = np.diff(model.objectives_)
    assert (rises >= -1e-8).all()
    q = model.true_label_posterior(X, noisy)
    agrees = (q > 0.5) == y
    assert agrees.mean() > 0.96


def test_rklr_beats_klr_where_one_class_is_flipped():
    X, _, noisy = twonorm(400, omega01=0.4)
    X_test, y_test, _ = twonorm(2000, seed=1)

    def error_of(model):
        predicted = model(8.0, 2.0**-6).fit(X, noisy).predict(X_test)
        return (predicted != y_test).mean()

    assert error_of(rKLR) < error_of(KLR) - 0.02


@pytest.mark.parametrize("frequent", [0.0, 1.0])
def test_f_of_zero_at_all_points_is_the_frequent_class_and_flagged(frequent):
    X, y, _ = rings(41)
    y = np.where(np.arange(41) % 3 == 0, 1.0 - frequent, frequent)
    for model in (KLR, rKLR):
        fits = model.fit_many(gram(X, X + 1e4), y[:, None], GRID)
        assert ((fits.scores > 0) == frequent).all()
        assert fits.flagged.all()


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_a_single_point_with_f_of_zero_gets_no_hidden_bias(model):
    X, _, _ = rings(41)
    y = np.where(np.arange(41) % 3 == 0, 0.0, 1.0)  # class 1 is the frequent one
    far = X[:2] + 1e4
    out = np.vstack([X[:5], far])
    fits = model.fit_many(gram(X, out), y[:, None], GRID)
    assert_array_equal(fits.scores[..., 5:], 0.0)  # and f > 0 is what makes class 1
    assert not fits.flagged.any()
    single = model().fit(X, y)
    assert (single.predict(far) == 0).all()


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_a_tiny_f_decides_by_its_sign(model):
    X = np.array([[0.0], [100.0], [200.0]])
    y = np.array([0.0, 1.0, 1.0])
    X_out = np.array([[9.0], [91.0], [100.0]])  # K is exp(-40.5) at the first two
    (scores,) = model.fit_many(gram(X, X_out), y[:, None], GRID).scores
    assert (np.abs(scores[:, :2]) < 1e-12).all()
    assert (scores[:, 0] < 0).all()
    assert (scores[:, 1] > 0).all()


def test_wrong_labels_of_many_fits_are_named():
    X, y, _ = rings(20)
    with pytest.raises(ValueError, match="0 and 1"):
        KLR.fit_many(gram(X, X), 2 * y[:, None] - 1, GRID)
    with pytest.raises(ValueError, match="n = 20"):
        KLR.fit_many(gram(X, X), y[:10, None], GRID)
    with pytest.raises(ValueError, match="zeta"):
        KLR.fit_many(gram(X, X), y[:, None], [0.0])
    with pytest.raises(ValueError, match="penalty: 'ridge' is unknown; known: weights, rkhs"):
        rKLR.fit_many(gram(X, X), y[:, None], GRID, penalty="ridge")
    with pytest.raises(ValueError, match="one class only"):
        rLR().fit(X, y, sample_weight=y)


# Bias and penalty

BIASES = get_args(Bias)
PENALTIES = get_args(Penalty)
READINGS = list(product(BIASES, PENALTIES))
THREE = np.array([2.0**-6, 1.0, 2.0**6])


def problem(n=60, width=1.0):
    """K (n, n), X and noisy labels of two moons, more of one class than of the other."""
    X, y = two_moons(n)
    labels = noisy_columns(y)[:, 1].astype(float)
    return rbf(squared_distances(X), width), X, labels


def fit_grid(space, labels, robust, tolerance, bias, penalty, grid=THREE):
    """`fit_batch` for one column of labels and a grid."""
    rows = labels[np.newaxis]
    column = np.zeros(len(grid), np.int64)
    return fit_batch(space, rows, column, grid, robust, tolerance, bias, penalty)


def objective(K, labels, zeta, reading, w, b, omega01=0.0, omega10=0.0):
    """What is minimised, written as in the docstring of the estimator."""
    bias, penalty = reading
    omega = flips.from_rates(omega01, omega10)
    fit = flips.log_likelihood(K @ w + b, labels, omega).sum()
    norm = w @ w if penalty == "weights" else w @ K @ w
    if bias == "penalised":
        norm = norm + b * b
    return zeta * norm - fit


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("width", [0.3, 1.0, 16.0])
def test_no_direction_leads_down(reading, robust, width):
    K, _, labels = problem(width=width)
    space = basis(K)
    fits = fit_grid(space, labels, robust, 1e-12, *reading)
    assert fits.converged.all()
    rng = np.random.default_rng(0)
    h = 1e-5
    scale = np.abs(np.sqrt(space.lam) @ space.Q.T).max()
    for c, zeta in enumerate(THREE):
        w = space.Q @ fits.v[c]
        b = fits.bias[c]
        rates = (fits.omega01[c], fits.omega10[c])

        def objective_at(w, b, zeta=zeta, rates=rates):
            return objective(K, labels, zeta, reading, w, b, *rates)

        assert fits.objective[c] == pytest.approx(objective_at(w, b), rel=1e-9)
        start = objective(K, labels, zeta, reading, 0 * w, 0.0)
        for _ in range(5):  # central differences in w and b
            d = space.Q @ rng.standard_normal(len(space.lam))
            e = float(rng.standard_normal())
            if reading[0] == "none":
                e = 0.0
            d /= max(scale, np.abs(K @ d).max())
            forwards = objective_at(w + h * d, b + h * e)
            backwards = objective_at(w - h * d, b - h * e)
            slope = (forwards - backwards) / (2 * h)
            assert abs(slope) < 2e-3 * start
        if robust:  # an update of the rates changes nothing
            omega = flips.from_rates(*rates)
            q = flips.posterior(K @ w + b, labels, omega)
            updated = flips.updated(q, labels, omega)
            assert_allclose(updated, omega, atol=1e-3)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("model", [KLR, rKLR])
def test_both_solvers_and_the_batch_agree(reading, model):
    _, X, labels = problem()
    X_out, _ = two_moons(20, seed=3)
    bias, penalty = reading
    options = {"bias": bias, "penalty": penalty}
    fits = model.fit_many(gram(X, X_out), labels[:, np.newaxis], THREE, **options)
    assert not fits.flagged.any()
    assert np.isnan(fits.omega01).all() == (model is KLR)
    tolerance = 3e-3 if model.robust else 1e-5  # EM is slow
    for zeta, scores in zip(THREE, fits.scores[0], strict=True):
        lbfgs = model(1.0, zeta, solver="lbfgs", **options).fit(X, labels)
        em = model(1.0, zeta, solver="em_newton", **options).fit(X, labels)
        rounding_error = 1e-6 * abs(em.objective_)
        assert lbfgs.objective_ >= em.objective_ - rounding_error
        assert lbfgs.objective_ == pytest.approx(em.objective_, rel=tolerance)
        f = lbfgs.decision_function(X_out)
        largest = np.abs(f).max()
        assert_allclose(scores, f, atol=0.03 * (1 + largest))
        assert (lbfgs.intercept_ == 0.0) == (bias == "none")


@pytest.mark.parametrize("zeta", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_klr_with_a_free_bias_and_the_rkhs_penalty_is_scikit_learns(zeta, width):
    K, X, labels = problem(width=width)
    space = basis(K)
    roots = space.Q * np.sqrt(space.lam)  # roots roots^T = K
    oracle = LogisticRegression(C=0.5 / zeta, tol=1e-10, max_iter=20000)
    oracle.fit(roots, labels)
    ours = KLR(width, zeta, bias="free", penalty="rkhs").fit(X, labels)
    their_f = oracle.decision_function(roots)
    assert_allclose(ours.decision_function(X), their_f, atol=5e-3)
    their_bias = float(oracle.intercept_[0])
    assert ours.intercept_ == pytest.approx(their_bias, abs=5e-3)


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_with_the_rkhs_penalty_a_penalised_bias_adds_one_to_the_kernel(model):
    K, X, labels = problem()
    ours = model(1.0, 0.5, bias="penalised", penalty="rkhs").fit(X, labels)
    plus_one = basis(K + 1.0)
    grid = np.array([0.5])
    fits = fit_grid(plus_one, labels, model.robust, 1e-10, "none", "rkhs", grid)
    w = plus_one.Q @ fits.v[0]
    f = (K + 1.0) @ w
    assert_allclose(ours.decision_function(X), f, atol=2e-2)
    sum_of_weights = ours.dual_coef_.sum()
    assert ours.intercept_ == pytest.approx(sum_of_weights, abs=2e-2)  # the representer theorem


def test_with_the_norm_of_the_weights_a_penalised_bias_is_one_more_weight():
    K, X, labels = problem()
    ours = KLR(1.0, 0.5, bias="penalised").fit(X, labels)
    Z = np.column_stack([K, np.ones(len(K))])
    oracle = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=20000)
    their_f = oracle.fit(Z, labels).decision_function(Z)
    assert_allclose(ours.decision_function(X), their_f, atol=5e-3)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_on_a_constant_kernel_the_free_bias_is_the_log_odds_of_the_labels(penalty):
    X = np.zeros((40, 2))
    labels = (np.arange(40) < 12).astype(float)
    log_odds = np.log(12 / 28)
    free = KLR(1.0, 1.0, bias="free", penalty=penalty).fit(X, labels)
    assert_allclose(free.decision_function(X), log_odds, atol=1e-4)
    tight = KLR(1.0, 1e4, bias="penalised", penalty=penalty).fit(X, labels)
    f = tight.decision_function(X)
    assert abs(f[0]) < 2e-2
    loose = KLR(1.0, 1e-6, bias="penalised", penalty=penalty).fit(X, labels)
    f = loose.decision_function(X)
    assert f[0] == pytest.approx(log_odds, abs=1e-3)
    robust = rKLR(1.0, 1.0, bias="free", penalty=penalty).fit(X, labels)
    f = robust.decision_function(X)
    log_share_of_ones = flips.log_likelihood(f, np.ones(40), robust.flip_matrix_)
    share_of_ones = np.exp(log_share_of_ones)
    # the rates of the classes explain the observed labels
    assert_allclose(share_of_ones, 12 / 40, atol=1e-3)


def test_on_the_identity_both_penalties_are_the_same():
    labels = (np.arange(30) < 10).astype(float)
    space = basis(np.eye(30))
    first, second = PENALTIES
    of_first = fit_grid(space, labels, False, 1e-10, "free", first)
    of_second = fit_grid(space, labels, False, 1e-10, "free", second)
    assert_array_equal(of_first.v, of_second.v)
    assert_array_equal(of_first.bias, of_second.bias)


@pytest.mark.parametrize(("bias", "penalty"), READINGS)
@pytest.mark.parametrize("factor", ["slides", "exact"])
def test_bayes_counts_what_is_penalised(bias, penalty, factor):
    K, X, labels = problem()
    model = rKLR(regularisation="bayes", prior_factor=factor, bias=bias, penalty=penalty)
    model.fit(X, labels)
    w = model.dual_coef_
    square = float(w @ w if penalty == "weights" else w @ K @ w)
    weights = len(X)
    if bias == "penalised":
        square += model.intercept_**2
        weights += 1
    assert model.zeta_ == pytest.approx(marginal_zeta(square, weights, factor), rel=1e-3)


@pytest.mark.parametrize("cls", [KLR, rKLR])
def test_many_bayes_fits_end_where_zeta_and_the_weights_agree(cls):
    K, X, labels = problem()
    kernel = Gram(K, K)
    column = labels[:, None]
    bayes = cls.fit_many(kernel, column, [1.0, 64.0], regularisation="bayes")
    from_one, from_64 = bayes.scores[0]
    assert_array_equal(from_one, from_64)
    w, *_ = np.linalg.lstsq(K, from_one, rcond=1e-10)
    zeta = marginal_zeta(float(w @ w), len(X), "slides")
    fits = cls.fit_many(kernel, column, [zeta])
    fixed = fits.scores[0, 0]
    largest = np.abs(fixed).max()
    assert_allclose(fixed, from_one, rtol=0, atol=0.02 * largest)
