"""KLR and rKLR with a bias, or with the norm of the function space: optima by other roads, and limits."""

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
from noisylabels.kernels.gaussian import basis, rbf, squared_distances
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic import Bias, Penalty, fit_batch

KLR, rKLR = KernelLogisticRegression, RobustKernelLogisticRegression
BIASES, PENALTIES = get_args(Bias), get_args(Penalty)
READINGS = [(bias, penalty) for bias in BIASES for penalty in PENALTIES]
GRID = np.array([2.0**-6, 1.0, 2.0**6])


def problem(n=60, width=1.0):
    """K (n, n), X and noisy labels of two moons, more of one class than of the other."""
    X, y = two_moons(n)
    labels = noisy_columns(y)[:, 1].astype(float)
    return rbf(squared_distances(X), width), X, labels


def objective(K, labels, zeta, reading, w, b, omega01=0.0, omega10=0.0):
    """What is minimised, written as in the docstring of the estimator."""
    bias, penalty = reading
    fit = flip_matrix.log_likelihood(K @ w + b, labels, flip_matrix.from_rates(omega01, omega10)).sum()
    norm = w @ w if penalty == "weights" else w @ K @ w
    return zeta * (norm + (b * b if bias == "penalised" else 0.0)) - fit


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("width", [0.3, 1.0, 16.0])
def test_no_direction_leads_down(reading, robust, width):
    K, _, labels = problem(width=width)
    space = basis(K)
    column = np.zeros(len(GRID), np.int64)
    found = fit_batch(space, labels[np.newaxis], column, GRID, robust, 1e-12, *reading)
    assert found.converged.all()
    rng, h = np.random.default_rng(0), 1e-5
    for c, zeta in enumerate(GRID):
        w, b = space.Q @ found.v[c], found.bias[c]
        rates = found.omega01[c], found.omega10[c]
        here = objective(K, labels, zeta, reading, w, b, *rates)
        assert found.objective[c] == pytest.approx(here, rel=1e-9)
        scale = np.abs(np.sqrt(space.lam) @ space.Q.T).max()
        start = objective(K, labels, zeta, reading, 0 * w, 0.0)
        for _ in range(5):  # central differences in w and b
            d, e = space.Q @ rng.standard_normal(len(space.lam)), float(rng.standard_normal())
            e *= reading[0] != "none"
            d /= max(scale, np.abs(K @ d).max())
            ends = [objective(K, labels, zeta, reading, w + t * d, b + t * e, *rates) for t in (-h, h)]
            assert abs(ends[1] - ends[0]) / (2 * h) < 2e-3 * start
        if robust:
            for one, ten in ((h, 0.0), (0.0, h)):
                up = objective(K, labels, zeta, reading, w, b, rates[0] + one, rates[1] + ten)
                assert up >= here - 1e-6 * start


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("model", [KLR, rKLR])
def test_both_solvers_and_the_batch_agree(reading, model):
    _, X, labels = problem()
    out = two_moons(20, seed=3)[0]
    fits = model.fit_many(gram(X, out), labels[:, np.newaxis], GRID, bias=reading[0], penalty=reading[1])
    assert not fits.flagged.any()
    for g, zeta in enumerate(GRID):
        a, b = (
            model(1.0, zeta, bias=reading[0], penalty=reading[1], solver=solver).fit(X, labels)
            for solver in ("lbfgs", "em_newton")
        )
        assert a.objective_ >= b.objective_ - 1e-6 * abs(b.objective_)
        assert a.objective_ == pytest.approx(b.objective_, rel=3e-3 if model.robust else 1e-5)  # EM is slow
        f = a.decision_function(out)
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
    column, zeta = np.zeros(1, np.int64), np.array([0.5])
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
    X, labels = np.zeros((40, 2)), (np.arange(40) < 12).astype(float)
    model = KLR(1.0, 1.0, bias="free", penalty=penalty).fit(X, labels)
    np.testing.assert_allclose(model.decision_function(X), np.log(12 / 28), atol=1e-4)
    tight, loose = (KLR(1.0, zeta, bias="penalised", penalty=penalty).fit(X, labels) for zeta in (1e4, 1e-6))
    assert abs(tight.decision_function(X)[0]) < 2e-2
    assert loose.decision_function(X)[0] == pytest.approx(np.log(12 / 28), abs=1e-3)
    robust = rKLR(1.0, 1.0, bias="free", penalty=penalty).fit(X, labels)
    f, omega = robust.decision_function(X), robust.flip_matrix_
    seen = np.exp(flip_matrix.log_likelihood(f, np.ones(40), omega))
    np.testing.assert_allclose(seen, 12 / 40, atol=1e-3)  # the rates of the classes explain what is seen


def test_far_from_all_points_the_free_bias_decides():
    _, X, labels = problem()
    for model in (KLR, rKLR):
        fits = model.fit_many(gram(X, X + 1e4), labels[:, np.newaxis], GRID, bias="free")
        assert np.ptp(fits.scores, axis=2).max() == 0.0
        assert (fits.scores != 0.0).all()
        assert not fits.flagged.any()


def test_on_the_identity_both_penalties_are_the_same():
    labels = (np.arange(30) < 10).astype(float)[np.newaxis]
    space = basis(np.eye(30))
    column = np.zeros(len(GRID), np.int64)
    a, b = (fit_batch(space, labels, column, GRID, False, 1e-10, "free", penalty) for penalty in PENALTIES)
    np.testing.assert_array_equal(a.v, b.v)
    np.testing.assert_array_equal(a.bias, b.bias)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_bayes_counts_what_is_penalised(bias, penalty):
    K, X, labels = problem()
    model = rKLR(regularisation="bayes", bias=bias, penalty=penalty).fit(X, labels)
    w, b = model.dual_coef_, model.intercept_
    square = float(w @ w if penalty == "weights" else w @ K @ w) + (b * b if bias == "penalised" else 0.0)
    weights = len(X) + (bias == "penalised")
    assert model.zeta_ == pytest.approx(marginal_zeta(square, weights, 1.0), rel=1e-3)


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_an_unknown_reading_is_named(model):
    _, X, labels = problem(20)
    with pytest.raises(ValueError, match="bias: 'some' is unknown; known: none, free, penalised"):
        model(bias="some").fit(X, labels)
    with pytest.raises(ValueError, match="penalty: 'ridge' is unknown; known: weights, rkhs"):
        model.fit_many(gram(X, X), labels[:, np.newaxis], GRID, penalty="ridge")
