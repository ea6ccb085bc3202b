"""Bound minimiser, 0-1 loss and margin distribution: optimality, invariances, corners."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from problems import with_constant
from scipy.optimize import check_grad
from sklearn.svm import LinearSVC

from noisylabels.classifiers.base import fold_numbers
from noisylabels.classifiers.large_margin import (
    BoundMinimiser,
    LargeMarginDistributionClassifier,
    ZeroOneLossClassifier,
    start_points,
)
from noisylabels.classifiers.projections import flip_probability, margins, slope, uniform_bound
from noisylabels.solvers.linear_margin import (
    NO_TABLE,
    best_move,
    coordinate_search,
    descend,
    interior_point,
    loss,
    quadratic,
)

LDM = LargeMarginDistributionClassifier


def data(n=120, d=4, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    target = X[:, 0] - X[:, 1] + 0.4
    noisy_target = target + noise * rng.standard_normal(n)
    return X, np.where(noisy_target > 0, 1, -1)


def signed(X, y):
    return y[:, np.newaxis] * with_constant(X)


def count_errors(UT, h):
    return np.count_nonzero(h @ UT <= 0)


def table(k, intervals=2048):
    theta = np.linspace(0, math.pi / 2, intervals + 1)
    return np.vstack([flip_probability(theta, k), slope(theta, k)])


def columns(U):
    """Make each row a column."""
    return np.ascontiguousarray(U.T)


def columns_of_length_1(U):
    """Make each row a column of length 1."""
    lengths = np.linalg.norm(U, axis=1, keepdims=True)
    return columns(U / lengths)


def weights_of(model):
    """The coefficients of a linear classifier, the intercept last."""
    return np.append(model.coef_[0], model.intercept_)


@pytest.mark.parametrize("lam1", [0.0, 2.0**-6, 0.5])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_primal_of_ldm_is_its_dual(lam1, C):
    X, y = data()
    ZT = columns(signed(X, y))
    A = quadratic(ZT, lam1)
    b = 0.25 * ZT.mean(axis=1)
    w, alpha, gap, _ = interior_point(ZT, A, b, C, 1e-8, 100)
    hinge_losses = np.maximum(0.0, 1.0 - w @ ZT)
    primal = 0.5 * w @ A @ w - b @ w + C * hinge_losses.sum()
    u = b + ZT @ alpha
    dual = alpha.sum() - 0.5 * u @ np.linalg.solve(A, u)
    rounding_error = 1e-9 * abs(primal)
    assert -rounding_error <= primal - dual <= gap + rounding_error
    assert gap <= 1e-8 * (1 + abs(dual))
    assert (alpha > 0).all()
    assert (alpha < C).all()


def test_the_quadratic_form_is_the_variance_of_the_margins():
    Z = signed(*data())
    w = np.array([0.3, -1.0, 0.2, 0.5, 0.7])
    A = quadratic(columns(Z), 0.5)
    variance = np.var(Z @ w)
    expected = w @ w + 0.5 * 2 * 2 * variance  # w.A w = ||w||^2 + 2 lam1 (2 Var)
    assert w @ A @ w == pytest.approx(expected)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_without_its_two_terms_ldm_is_the_svm(C):
    X, y = data()
    ours = LDM(C, lam1=0, lam2=0).fit(X, y)
    theirs = LinearSVC(C=C, loss="hinge", tol=1e-9, max_iter=10**6, random_state=0)
    theirs.fit(X, y)
    assert_allclose(weights_of(ours), weights_of(theirs), atol=1e-4)
    assert ours.converged_


def test_ldm_chooses_the_best_of_the_folds():
    X, y = data()
    model = LDM([0.1, 10], lam1=[0, 0.1], lam2=0.1, random_state=0).fit(X, y)
    grid = {(0.0, 0.1, 0.1), (0.0, 0.1, 10.0), (0.1, 0.1, 0.1), (0.1, 0.1, 10.0)}
    assert set(model.errors_) == grid
    chosen = (model.lam1_, model.lam2_, model.C_)
    assert model.errors_[chosen] == min(model.errors_.values())
    alone = LDM(model.C_, lam1=model.lam1_, lam2=model.lam2_).fit(X, y)
    assert_array_equal(alone.coef_, model.coef_)


@pytest.mark.parametrize("k", [1, 2, 5, 50, 300])
def test_the_angle_loss_is_the_empirical_risk(k):
    X, y = data()
    UT = columns_of_length_1(signed(X, y))
    h = np.array([1.0, -0.8, 0.1, 0.3, 0.2])
    angles = table(k)
    gradient = np.empty(5)
    value = loss(UT, h, 0.0, angles, gradient)
    bound = uniform_bound(margins(h, with_constant(X), y), k, 0.1)
    assert value == pytest.approx(bound.risk, abs=1e-9)
    scaled = loss(UT, 7 * h, 0.0, angles, np.empty(5))
    assert scaled == pytest.approx(value, abs=1e-12)
    assert abs(gradient @ h) < 1e-12  # the scale does not matter
    numeric = []
    for step in 1e-6 * np.eye(5):
        moved = loss(UT, h + step, 0.0, angles, np.empty(5))
        numeric.append((moved - value) / 1e-6)
    assert_allclose(gradient, numeric, atol=1e-5)


def test_the_sigmoid_loss_and_its_gradient():
    UT = np.ascontiguousarray(signed(*data()).T)

    def value(h, kappa=4.0):
        return loss(UT, h, kappa, NO_TABLE, np.empty(5))

    def gradient(h):
        result = np.empty(5)
        loss(UT, h, 4.0, NO_TABLE, result)
        return result

    h = np.array([0.5, -0.3, 0.1, 0.2, 0.0])
    assert check_grad(value, gradient, h) < 1e-6
    error_rate = count_errors(UT, h) / 120
    assert value(h, 1e6) == pytest.approx(error_rate, abs=1e-9)


@given(st.integers(0, 10_000))
def test_the_coordinate_search_never_raises_the_loss(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X, y = data(n, 2, seed)
    UT = columns(signed(X, y))
    UT[0] = np.round(UT[0])  # ties and zeros
    h = rng.standard_normal(3)
    errors_before = count_errors(UT, h)
    errors = coordinate_search(UT, h, 20)
    assert errors == count_errors(UT, h) <= errors_before


@given(st.integers(0, 10_000))
def test_no_move_along_a_coordinate_is_better(seed):
    rng = np.random.default_rng(seed)
    f = rng.standard_normal(15)
    row = np.round(2 * rng.standard_normal(15)) / 2
    errors, t = best_move(f, row)

    def errors_after(t):
        return np.count_nonzero(f + t * row <= 0)

    assert errors == errors_after(t)
    moves = row != 0
    sign_changes = -f[moves] / row[moves]
    breaks = np.sort(np.r_[-20, sign_changes, 20])
    middles = (breaks[1:] + breaks[:-1]) / 2
    assert errors == min(errors_after(middle) for middle in middles)


@pytest.mark.parametrize("kappa", [0.0, 2.0, 64.0])
def test_the_descent_goes_down(kappa):
    UT = columns_of_length_1(signed(*data()))
    start = np.array([0.2, 0.3, -0.1, 1.0, 0.0])
    angles = table(5)
    values = [descend(UT, start, kappa, angles, rounds)[1] for rounds in range(0, 30, 3)]
    rises = np.diff(values)
    assert (rises <= 1e-15).all()
    assert values[-1] < values[0]


def test_no_start_gets_everything_wrong():
    U = signed(*data(30, 2))
    for h in start_points(U, 5, np.random.default_rng(0)):
        assert np.linalg.norm(h) == pytest.approx(1.0)
        assert (U @ h > 0).any()


@pytest.mark.parametrize("k", ["cv", "bound", 5])
def test_the_bound_minimiser_ends_below_its_starts(k):
    X, y = data()
    model = BoundMinimiser(k, random_state=0).fit(X, y)
    Z = with_constant(X)

    def bound_of(h):
        return uniform_bound(margins(h, Z, y), model.k_, 0.05)

    for h in start_points(signed(X, y), 5, np.random.default_rng(0)):
        assert model.risk_ <= bound_of(h).risk + 1e-9
    bound = bound_of(weights_of(model))
    assert bound.total == pytest.approx(model.bound_.total, abs=1e-9)
    assert model.risk_ == pytest.approx(bound.risk, abs=1e-9)
    if k == "bound":
        # no larger than the dimension, the constant included
        assert set(model.by_k_) == {1, 2, 5}
        lowest = min(model.by_k_.values())
        assert model.bound_.total == pytest.approx(lowest, abs=1e-9)
    if k == "cv":
        _, best_k = min((error, number) for number, error in model.by_k_.items())
        assert model.k_ == best_k


def test_the_zero_one_loss_beats_its_starts_and_finds_a_separator():
    X, y = data()
    model = ZeroOneLossClassifier(random_state=0).fit(X, y)
    U = signed(X, y)
    starts = start_points(U, 5, np.random.default_rng(0))
    errors_of_starts = [count_errors(U.T, h) for h in starts]
    errors = np.count_nonzero(model.predict(X) != y)
    assert model.errors_ == errors <= min(errors_of_starts)
    separable, labels = data(noise=0.0)
    separator = ZeroOneLossClassifier(random_state=0).fit(separable, labels)
    assert separator.errors_ == 0


ALL = [
    BoundMinimiser(random_state=0),
    BoundMinimiser("bound", random_state=0),
    ZeroOneLossClassifier(random_state=0),
    LDM([1.0, 10.0], random_state=0),
]


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.name)
def test_the_corners_are_numbers(model):
    two_points = (np.array([[0.0], [1.0]]), np.array([0, 1]))
    X_apart = np.repeat([[-1.0, 0.0], [1.0, 0.0]], 10, axis=0)
    y_apart = np.repeat([0, 1], 10)
    zeros = (np.zeros((6, 2)), np.array([0, 1, 0, 1, 1, 1]))
    for X, y in (two_points, (X_apart, y_apart), zeros):
        f = model.fit(X, y).decision_function(X)
        assert np.isfinite(f).all()
    assert model.fit(X_apart, y_apart).score(X_apart, y_apart) == 1.0
    if model.name != "zero_one_loss":
        assert not model.flagged_
        needs_folds = getattr(model, "k", "cv") == "cv"
        assert model.fit(*two_points).flagged_ == needs_folds  # one point of a class: no folds


def test_folds_spread_the_classes():
    s = np.r_[np.ones(13), -np.ones(7)]
    folds = fold_numbers(s, 5, np.random.default_rng(0))
    assert np.bincount(folds[s > 0]).tolist() == [3, 3, 3, 2, 2]
    assert np.bincount(folds[s < 0]).tolist() == [2, 2, 1, 1, 1]
    three_of_a_class = np.r_[np.ones(9), -np.ones(3)]
    assert fold_numbers(three_of_a_class, 5, np.random.default_rng(0)).max() == 2
    one_of_a_class = np.array([1.0, -1.0, -1.0])
    assert fold_numbers(one_of_a_class, 5, np.random.default_rng(0)) is None
