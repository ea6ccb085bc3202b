"""KLR, rKLR and rLR: their maxima by other ways, what changes nothing, degenerate data, bias and penalty."""

from typing import get_args

import numpy as np
import pytest
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

KLR, rKLR, rLR = KernelLogisticRegression, RobustKernelLogisticRegression, RobustLogisticRegression
GRID = np.array(KLR.GRID)


def flipped(y, omega01, omega10, rng):
    return np.where(rng.random(len(y)) < np.where(y == 1, omega10, omega01), 1 - y, y)


def twonorm(n, d=20, seed=0, omega01=0.0, omega10=0.0):
    """X (n, d), true and observed labels, 0 and 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(float)
    X = rng.standard_normal((n, d)) + np.where(y == 1, 1, -1)[:, None] * 2 / np.sqrt(d)
    return X, y, flipped(y, omega01, omega10, rng)


def rings(n=120, seed=0, rate=0.2):
    """A problem that no line solves: points inside and outside a circle."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = ((X**2).sum(axis=1) > 1.4).astype(float)
    return X, y, flipped(y, rate, rate, rng)


def batch(X, labels, grid=GRID, width=1.0, robust=False, **parameters):
    """`solve` for columns of labels (n, L) and a grid; the basis with it."""
    found = basis(rbf(squared_distances(X), width))
    rows = np.ascontiguousarray(labels.T)
    column = np.repeat(np.arange(len(rows)), len(grid))
    return found, fit_batch(found, rows, column, np.tile(grid, len(rows)), robust, **parameters)


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0, 16.0])
def test_klr_reaches_the_maximum_of_its_concave_objective(width):
    X, y, noisy = rings()
    labels = np.column_stack([y, noisy])
    base, fits = batch(X, labels, width=width)
    _, tight = batch(X, labels, width=width, tolerance=1e-9)
    Z = base.Q * base.lam
    assert fits.converged.all()
    assert tight.converged.all()
    for c, zeta in enumerate(np.tile(GRID, 2)):
        column = labels[:, c // len(GRID)]
        best = em_newton(Z, column, np.full(Z.shape[1], zeta), np.eye(2), learn_omega=False)
        least = -best.objectives[-1]
        assert least - 1e-8 <= fits.objective[c] <= least + 1e-5 * len(X) * np.log(2)  # that of f = 0
        assert tight.objective[c] <= least * (1 + 1e-5)


def test_rklr_never_ends_above_where_em_newton_starts_and_seldom_above_where_it_ends():
    X, _, noisy = rings(150, rate=0.3)
    base, fits = batch(X, noisy[:, None], robust=True)
    Z = base.Q * base.lam
    worse = 0
    for c, zeta in enumerate(GRID):
        em = em_newton(Z, noisy, np.full(Z.shape[1], zeta), flips.START, rounds=300)
        assert (np.diff(em.objectives) >= -1e-9).all()  # EM is monotone
        assert fits.objective[c] <= len(X) * np.log(2)
        worse += fits.objective[c] > -em.objectives[-1] * (1 + 1e-3)
    assert worse <= 1


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_order_of_the_training_points_does_not_matter(model):
    X, _, noisy = rings()
    order = np.random.default_rng(1).permutation(len(X))
    a, b = (model(1.0, 1.0, solver="em_newton") for _ in range(2))
    a.fit(X, noisy), b.fit(X[order], noisy[order])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)
    one = model.fit_many(gram(X, X), noisy[:, None], GRID[2:])
    two = model.fit_many(gram(X[order], X), noisy[order, None], GRID[2:])
    np.testing.assert_array_equal(one.scores > 0, two.scores > 0)
    np.testing.assert_allclose(one.scores, two.scores, atol=0.02 * np.abs(one.scores).max())


def test_swapping_the_classes_mirrors_omega():
    X, _, noisy = twonorm(200, omega01=0.3)
    c = rLR().fit(X, noisy)
    d = rLR().fit(X, 1 - noisy)
    np.testing.assert_allclose(c.flip_matrix_, d.flip_matrix_[::-1, ::-1], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rlr_recovers_the_flip_rates(seed):
    X, y, noisy = twonorm(2000, seed=seed, omega01=0.3, omega10=0.1)
    model = rLR().fit(X, noisy)
    np.testing.assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.05)
    assert model.converged_
    assert (model.predict(X) == y).mean() > 0.96
    assert (np.diff(model.objectives_) >= -1e-8).all()
    q = model.true_label_posterior(X, noisy)
    assert ((q > 0.5) == y).mean() > 0.96


def test_rklr_beats_klr_where_one_class_is_flipped():
    X, _, noisy = twonorm(400, omega01=0.4)
    test, y, _ = twonorm(2000, seed=1)
    errors = [(model(8.0, 2.0**-6).fit(X, noisy).predict(test) != y).mean() for model in (KLR, rKLR)]
    assert errors[1] < errors[0] - 0.02


@pytest.mark.parametrize("one", [0.0, 1.0])
def test_f_of_zero_at_all_points_is_the_frequent_class_and_flagged(one):
    X, y, _ = rings(41)
    y = np.where(np.arange(41) % 3 == 0, 1.0 - one, one)
    for model in (KLR, rKLR):
        fits = model.fit_many(gram(X, X + 1e4), y[:, None], GRID)
        assert ((fits.scores > 0) == one).all()
        assert fits.flagged.all()


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_a_single_point_with_f_of_zero_gets_no_hidden_bias(model):
    X, _, _ = rings(41)
    y = np.where(np.arange(41) % 3 == 0, 0.0, 1.0)  # class 1 is the frequent one
    out = np.vstack([X[:5], X[:2] + 1e4])
    fits = model.fit_many(gram(X, out), y[:, None], GRID)
    np.testing.assert_array_equal(fits.scores[..., 5:], 0.0)  # and f > 0 is what makes class 1
    assert not fits.flagged.any()
    assert (model().fit(X, y).predict(out[5:]) == 0).all()


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_a_tiny_f_decides_by_its_sign(model):
    X = np.array([[0.0], [100.0], [200.0]])
    y = np.array([0.0, 1.0, 1.0])
    near = np.array([[9.0], [91.0], [100.0]])  # K is exp(-40.5) there
    scores = model.fit_many(gram(X, near), y[:, None], GRID).scores[0]
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
READINGS = [(bias, penalty) for bias in BIASES for penalty in PENALTIES]
THREE = np.array([2.0**-6, 1.0, 2.0**6])


def problem(n=60, width=1.0):
    """K (n, n), X and noisy labels of two moons, more of one class than of the other."""
    X, y = two_moons(n)
    labels = noisy_columns(y)[:, 1].astype(float)
    return rbf(squared_distances(X), width), X, labels


def objective(K, labels, zeta, reading, w, b, omega01=0.0, omega10=0.0):
    """What is minimised, written as in the docstring of the estimator."""
    bias, penalty = reading
    fit = flips.log_likelihood(K @ w + b, labels, flips.from_rates(omega01, omega10)).sum()
    norm = w @ w if penalty == "weights" else w @ K @ w
    return zeta * (norm + (b * b if bias == "penalised" else 0.0)) - fit


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("width", [0.3, 1.0, 16.0])
def test_no_direction_leads_down(reading, robust, width):
    K, _, labels = problem(width=width)
    space = basis(K)
    column = np.zeros(len(THREE), np.int64)
    found = fit_batch(space, labels[np.newaxis], column, THREE, robust, 1e-12, *reading)
    assert found.converged.all()
    rng = np.random.default_rng(0)
    h = 1e-5
    for c, zeta in enumerate(THREE):
        w, b = space.Q @ found.v[c], found.bias[c]
        rates = found.omega01[c], found.omega10[c]
        here = objective(K, labels, zeta, reading, w, b, *rates)
        assert found.objective[c] == pytest.approx(here, rel=1e-9)
        scale = np.abs(np.sqrt(space.lam) @ space.Q.T).max()
        start = objective(K, labels, zeta, reading, 0 * w, 0.0)
        for _ in range(5):  # central differences in w and b
            d = space.Q @ rng.standard_normal(len(space.lam))
            e = float(rng.standard_normal())
            e *= reading[0] != "none"
            d /= max(scale, np.abs(K @ d).max())
            ends = [objective(K, labels, zeta, reading, w + t * d, b + t * e, *rates) for t in (-h, h)]
            assert abs(ends[1] - ends[0]) / (2 * h) < 2e-3 * start
        if robust:  # an update of the rates changes nothing
            omega = flips.from_rates(*rates)
            q = flips.posterior(K @ w + b, labels, omega)
            np.testing.assert_allclose(flips.updated(q, labels, omega), omega, atol=1e-3)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("model", [KLR, rKLR])
def test_both_solvers_and_the_batch_agree(reading, model):
    _, X, labels = problem()
    out = two_moons(20, seed=3)[0]
    fits = model.fit_many(gram(X, out), labels[:, np.newaxis], THREE, bias=reading[0], penalty=reading[1])
    assert not fits.flagged.any()
    for g, zeta in enumerate(THREE):
        a, b = (
            model(1.0, zeta, bias=reading[0], penalty=reading[1], solver=solver).fit(X, labels)
            for solver in ("lbfgs", "em_newton")
        )
        assert a.objective_ >= b.objective_ - 1e-6 * abs(b.objective_)
        assert a.objective_ == pytest.approx(b.objective_, rel=3e-3 if model.robust else 1e-5)  # EM is slow
        f = a.decision_function(out)
        assert np.isnan(fits.omega01).all() == (model is KLR)
        np.testing.assert_allclose(fits.scores[0, g], f, atol=0.03 * (1 + np.abs(f).max()))
        assert (a.intercept_ == 0.0) == (reading[0] == "none")


@pytest.mark.parametrize("zeta", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_klr_with_a_free_bias_and_the_rkhs_penalty_is_scikit_learns(zeta, width):
    K, X, labels = problem(width=width)
    space = basis(K)
    roots = space.Q * np.sqrt(space.lam)  # roots roots^T = K
    oracle = LogisticRegression(C=0.5 / zeta, tol=1e-10, max_iter=20000).fit(roots, labels)
    ours = KLR(width, zeta, bias="free", penalty="rkhs").fit(X, labels)
    np.testing.assert_allclose(ours.decision_function(X), oracle.decision_function(roots), atol=5e-3)
    assert ours.intercept_ == pytest.approx(float(oracle.intercept_[0]), abs=5e-3)


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_with_the_rkhs_penalty_a_penalised_bias_adds_one_to_the_kernel(model):
    K, X, labels = problem()
    ours = model(1.0, 0.5, bias="penalised", penalty="rkhs").fit(X, labels)
    plus_one = basis(K + 1.0)
    column = np.zeros(1, np.int64)
    zeta = np.array([0.5])
    found = fit_batch(plus_one, labels[np.newaxis], column, zeta, model.robust, 1e-10, "none", "rkhs")
    np.testing.assert_allclose(ours.decision_function(X), (K + 1.0) @ plus_one.Q @ found.v[0], atol=2e-2)
    assert ours.intercept_ == pytest.approx(ours.dual_coef_.sum(), abs=2e-2)  # the representer theorem


def test_with_the_norm_of_the_weights_a_penalised_bias_is_one_more_weight():
    K, X, labels = problem()
    ours = KLR(1.0, 0.5, bias="penalised").fit(X, labels)
    Z = np.column_stack([K, np.ones(len(K))])
    oracle = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=20000).fit(Z, labels)
    np.testing.assert_allclose(ours.decision_function(X), oracle.decision_function(Z), atol=5e-3)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_on_a_constant_kernel_the_free_bias_is_the_log_odds_of_the_labels(penalty):
    X = np.zeros((40, 2))
    labels = (np.arange(40) < 12).astype(float)
    model = KLR(1.0, 1.0, bias="free", penalty=penalty).fit(X, labels)
    np.testing.assert_allclose(model.decision_function(X), np.log(12 / 28), atol=1e-4)
    tight, loose = (KLR(1.0, zeta, bias="penalised", penalty=penalty).fit(X, labels) for zeta in (1e4, 1e-6))
    assert abs(tight.decision_function(X)[0]) < 2e-2
    assert loose.decision_function(X)[0] == pytest.approx(np.log(12 / 28), abs=1e-3)
    robust = rKLR(1.0, 1.0, bias="free", penalty=penalty).fit(X, labels)
    f = robust.decision_function(X)
    omega = robust.flip_matrix_
    seen = np.exp(flips.log_likelihood(f, np.ones(40), omega))
    np.testing.assert_allclose(seen, 12 / 40, atol=1e-3)  # the rates of the classes explain what is seen


def test_on_the_identity_both_penalties_are_the_same():
    labels = (np.arange(30) < 10).astype(float)[np.newaxis]
    space = basis(np.eye(30))
    column = np.zeros(len(THREE), np.int64)
    a, b = (fit_batch(space, labels, column, THREE, False, 1e-10, "free", penalty) for penalty in PENALTIES)
    np.testing.assert_array_equal(a.v, b.v)
    np.testing.assert_array_equal(a.bias, b.bias)


@pytest.mark.parametrize(("bias", "penalty"), READINGS)
@pytest.mark.parametrize("factor", ["slides", "exact"])
def test_bayes_counts_what_is_penalised(bias, penalty, factor):
    K, X, labels = problem()
    model = rKLR(regularisation="bayes", prior_factor=factor, bias=bias, penalty=penalty).fit(X, labels)
    w, b = model.dual_coef_, model.intercept_
    square = float(w @ w if penalty == "weights" else w @ K @ w) + (b * b if bias == "penalised" else 0.0)
    weights = len(X) + (bias == "penalised")
    assert model.zeta_ == pytest.approx(marginal_zeta(square, weights, factor), rel=1e-3)


@pytest.mark.parametrize("cls", [KLR, rKLR])
def test_many_bayes_fits_end_where_zeta_and_the_weights_agree(cls):
    K, X, labels = problem()
    many = cls.fit_many(Gram(K, K), labels[:, None], [1.0, 64.0], regularisation="bayes").scores[0]
    np.testing.assert_array_equal(many[0], many[1])
    w = np.linalg.lstsq(K, many[0], rcond=1e-10)[0]
    zeta = marginal_zeta(float(w @ w), len(X), "slides")
    fixed = cls.fit_many(Gram(K, K), labels[:, None], [zeta]).scores[0, 0]
    np.testing.assert_allclose(fixed, many[0], rtol=0, atol=0.02 * np.abs(fixed).max())
