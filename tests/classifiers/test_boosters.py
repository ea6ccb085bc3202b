"""The boosters: identities, invariances, what noise does to them, and the corners."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from noisylabels.classifiers.boosting import (
    AdaBoostClassifier,
    FlippedExponential,
    GentleBoostClassifier,
    ModestBoostClassifier,
    RBoostClassifier,
    exponential_loss,
    mixture,
)
from noisylabels.solvers import weighted_logistic

BOOSTERS = [
    AdaBoostClassifier(random_state=0),
    AdaBoostClassifier("robust_logistic", random_state=0),
    RBoostClassifier(random_state=0),
    RBoostClassifier("robust_logistic", gamma=(0.2, 0.1), learn_gamma=False, random_state=0),
    GentleBoostClassifier(random_state=0),
    ModestBoostClassifier(random_state=0),
]


def named(booster):
    base = getattr(booster, "base", "tree")
    return f"{booster.name}-{base}"


each_booster = pytest.mark.parametrize("booster", BOOSTERS, ids=named)
linear = pytest.mark.parametrize("booster", BOOSTERS[:4], ids=named)


def fresh(booster, **settings):
    return clone(booster).set_params(**settings)


def flipped(y, rng, rate_up, rate_down):
    """Flip each label with the rate of its class."""
    rates = np.where(y == 0, rate_up, rate_down)
    is_flipped = rng.random(len(y)) < rates
    return np.where(is_flipped, 1 - y, y)


def ring(n=200, seed=0, rate_up=0.2, rate_down=0.2):
    """Points inside a circle against points outside, with flipped labels; column 3 is noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    squared_radius = X[:, 0] ** 2 + X[:, 1] ** 2
    y = (squared_radius < 1.4).astype(int)
    return X, flipped(y, rng, rate_up, rate_down), y


def twonorm(n, seed, rate_up, rate_down):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    centres = (4 * y[:, np.newaxis] - 2) / math.sqrt(20)
    X = rng.standard_normal((n, 20)) + centres
    return X, flipped(y, rng, rate_up, rate_down), y


def test_adaboost_round_by_round_as_the_textbook_has_it():
    X, y, _ = ring()
    n = len(X)
    s = 2.0 * y - 1
    model = AdaBoostClassifier(weighting="reweight", rounds=30).fit(X, y)
    Z = np.column_stack([np.ones(n), X])
    ZT = np.ascontiguousarray(Z.T)
    weights = np.full(n, 1 / n)
    for member, step in zip(model.members_, model.steps_, strict=True):
        theta = np.zeros(4)
        weighted_logistic.fit(ZT, s, weights * n, theta, 1e-3, np.zeros(2), False, 15)
        assert_allclose(member, theta, atol=1e-8)
        h = weighted_logistic.decisions(ZT, theta)
        error = weights[h != s].sum()
        alpha = 0.5 * math.log((1 - error) / error)
        assert step == pytest.approx(alpha, abs=1e-9)
        weights = weights * np.exp(-alpha * s * h)
        weights /= weights.sum()


@pytest.mark.parametrize(
    ("base", "weighting"),
    [("logistic", "reweight"), ("robust_logistic", "resample")],
)
def test_adaboost_is_rboost_without_flips(base, weighting):
    X, y, _ = ring()
    settings = {"base": base, "weighting": weighting, "rounds": 25, "random_state": 3}
    plain = AdaBoostClassifier(**settings).fit(X, y)
    robust = RBoostClassifier(**settings, gamma=(0.0, 0.0), learn_gamma=False)
    robust.fit(X, y)
    assert_array_equal(plain.members_, robust.members_)
    assert_array_equal(plain.steps_, robust.steps_)
    assert_array_equal(plain.decision_function(X), robust.decision_function(X))
    assert_array_equal(robust.flip_matrix_, np.eye(2))


def test_adaboost_is_scikit_learns_with_the_same_penalty():
    X, y, _ = twonorm(300, 1, 0.1, 0.1)
    X[:, 0] += X[:, 1] ** 2
    # theirs: weights that sum to 1 and 1/2 ||w||^2; ours: weights that sum to n and lam ||w||^2
    ours = AdaBoostClassifier(weighting="reweight", lam=150.0, rounds=10, newton_steps=50)
    ours.fit(X, y)
    base = LogisticRegression(tol=1e-10)
    theirs = TheirAdaBoost(base, n_estimators=10).fit(X, y)
    pairs = list(zip(ours.staged_predict(X), theirs.staged_predict(X), strict=False))
    assert len(pairs) >= 3
    for our_classes, their_classes in pairs:
        assert_array_equal(our_classes, their_classes)


@linear
def test_the_loss_falls_in_every_exact_line_search(booster):
    X, y, _ = ring()
    model = fresh(booster).fit(X, y)
    gammas = itertools.repeat((0.0, 0.0))
    if hasattr(model, "gamma_path_"):
        gammas = [booster.gamma, *model.gamma_path_]
    signs = 2.0 * y - 1
    before = np.zeros(len(X))
    for gamma, after in zip(gammas, model.staged_decision_function(X), strict=False):
        loss = FlippedExponential(signs, tuple(gamma))
        assert loss.log_value(after) <= loss.log_value(before) + 1e-12
        before = after


@each_booster
def test_the_last_stage_is_the_whole(booster):
    X, y, _ = ring()
    model = fresh(booster, rounds=12).fit(X, y)
    stages = list(model.staged_decision_function(X))
    classes = list(model.staged_predict(X))
    assert len(stages) == len(classes) == len(model.steps_) == len(model.log_losses_) == 12
    assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
    assert_array_equal(classes[-1], model.predict(X))
    shorter = fresh(booster, rounds=5).fit(X, y)
    assert_allclose(stages[4], shorter.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("model", [AdaBoostClassifier, RBoostClassifier])
def test_the_order_of_the_points_does_not_matter_without_resampling(model):
    X, y, _ = ring()
    order = np.random.default_rng(0).permutation(len(X))
    booster = model(weighting="reweight", rounds=20)
    expected = booster.fit(X, y).decision_function(X)
    reordered = booster.fit(X[order], y[order]).decision_function(X)
    assert_allclose(reordered, expected, atol=1e-8)


def test_changing_the_roles_of_the_classes_mirrors_gamma():
    X, y, _ = twonorm(300, 0, 0.3, 0.0)
    booster = RBoostClassifier(weighting="reweight", rounds=20, gamma=(0.3, 0.1))
    gamma = booster.fit(X, y).gamma_path_
    booster.set_params(gamma=(0.1, 0.3))
    mirrored = booster.fit(X, 1 - y).gamma_path_
    assert_allclose(mirrored, gamma[:, ::-1], atol=1e-6)


def disc(n, seed):
    """Clean points in and around a disc, which no line and no tree of three splits separates."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    squared_radius = (X**2).sum(axis=1)
    return X, (squared_radius < 1.2).astype(int)


@each_booster
def test_rounds_help_and_members_differ(booster):
    X, y = disc(400, 0)
    X_test, y_test = disc(4000, 1)
    model = fresh(booster, rounds=50)
    if isinstance(booster, RBoostClassifier):
        model.set_params(learn_gamma=False, gamma=(0.0, 0.0))
    model.fit(X, y)
    errors = [np.mean(predicted != y_test) for predicted in model.staged_predict(X_test)]
    assert errors[-1] < 0.5 * errors[0]
    inputs = model._inputs(X_test)
    outputs = {model._outputs(member, inputs).tobytes() for member in model.members_}
    assert len(outputs) > 0.5 * len(model.members_)


def test_gentle_boost_starts_with_a_least_squares_tree():
    X, y, _ = ring()
    signs = 2.0 * y - 1
    tree = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, signs)
    model = GentleBoostClassifier(rounds=1, random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), tree.predict(X), atol=1e-12)


def test_modest_boost_leaf_by_leaf():
    X, y, _ = ring(rate_up=0.0, rate_down=0.0)
    s = 2.0 * y - 1
    model = ModestBoostClassifier(rounds=6, random_state=0).fit(X, y)
    inputs = model._inputs(X)
    H = np.zeros(len(X))
    stages = model.staged_decision_function(X)
    for (tree, values), after in zip(model.members_, stages, strict=True):
        a = np.exp(-s * H)
        a /= a.sum()
        inverse = 1 / a
        inverse /= inverse.sum()
        leaves = tree.apply(inputs)
        for leaf in np.unique(leaves):
            in_leaf = leaves == leaf
            positive = in_leaf & (s > 0)
            negative = in_leaf & (s < 0)
            P = a[positive].sum()
            N = a[negative].sum()
            inverse_P = inverse[positive].sum()
            inverse_N = inverse[negative].sum()
            v = P * (1 - inverse_P) - N * (1 - inverse_N)
            expected = v if np.sign(v) == np.sign(P - N) else 0.0
            assert values[leaf] == pytest.approx(expected, abs=1e-15)
        H = after


def test_known_rates_help_where_one_class_is_flipped_and_learned_ones_do_not():
    known_rates = {"gamma": (0.3, 0.0), "learn_gamma": False}
    models = {
        "adaboost": AdaBoostClassifier(random_state=0),
        "known": RBoostClassifier(**known_rates, random_state=0),
        "learned": RBoostClassifier(random_state=0),
    }
    errors = {name: [] for name in models}
    for seed in range(4):
        X, noisy, _ = twonorm(300, seed, 0.3, 0.0)
        X_test, _, y_test = twonorm(2000, 100 + seed, 0.0, 0.0)
        for name, model in models.items():
            model.fit(X, noisy)
            errors[name].append(1 - model.score(X_test, y_test))
        # the noise was learned as if it were signal
        assert models["learned"].flip_matrix_[0, 1] < 0.1
    error_with_known_rates = np.mean(errors["known"])
    assert error_with_known_rates < np.mean(errors["adaboost"]) - 0.03
    assert error_with_known_rates < np.mean(errors["learned"]) - 0.03


def test_trusted_labels_move_gamma_towards_the_truth():
    X, noisy, y = twonorm(400, 5, 0.3, 0.0)
    trusted, _, clean = twonorm(60, 6, 0.0, 0.0)
    booster = RBoostClassifier(rounds=40, random_state=0)
    alone = booster.fit(X, noisy).flip_matrix_[0, 1]
    helped = booster.fit(X, noisy, trusted=(trusted, clean)).flip_matrix_[0, 1]
    assert abs(helped - 0.3) < abs(alone - 0.3)
    posterior = booster.true_label_posterior(X, noisy)
    of_flipped = posterior[(noisy == 1) & (y == 0)]
    of_correct = posterior[(noisy == 1) & (y == 1)]
    assert of_flipped.mean() < of_correct.mean()
    assert not booster.flagged_


X_APART = np.repeat([[-1.0, 0.0], [1.0, 0.0]], 10, axis=0)
Y_APART = np.repeat([0, 1], 10)
CORNERS = {
    "two points": (np.array([[0.0], [1.0]]), np.array([0, 1])),
    "two points many times": (X_APART, Y_APART),
    "equal points": (np.zeros((6, 2)), np.array([0, 1, 0, 1, 1, 1])),
    "contradiction": (np.repeat([[0.0], [1.0]], 4, axis=0), np.tile([0, 1], 4)),
    "huge": (1e30 * X_APART, Y_APART),
}


@each_booster
@pytest.mark.parametrize("rounds", [1, 20])
def test_the_corners_are_numbers(booster, rounds):
    for X, y in CORNERS.values():
        model = fresh(booster, rounds=rounds).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.log_losses_).all()
        if hasattr(model, "gamma_path_"):
            gammas = model.gamma_path_
            assert np.isfinite(gammas).all()
            assert (gammas < 0.5).all()
    model = fresh(booster, rounds=20).fit(X_APART, Y_APART)
    assert model.score(X_APART, Y_APART) == 1.0


def test_a_calibration_that_says_nothing_is_flagged():
    X, y, _ = ring()
    of_one_class = (X[y == 1], y[y == 1])
    booster = RBoostClassifier(rounds=3, random_state=0)
    booster.fit(X, y, trusted=of_one_class)
    assert booster.flagged_
    assert "calibration" in booster.flags_
    assert np.isfinite(booster.flip_matrix_).all()


# The exponential loss with flips

RATES = st.tuples(st.floats(0.0, 0.49), st.floats(0.0, 0.49))


def points(seed, n=40):
    rng = np.random.default_rng(seed)
    s = rng.choice([-1.0, 1.0], n)
    H = 2 * rng.standard_normal(n)
    h = rng.choice([-1.0, 1.0], n)
    return s, H, h


def test_the_loss_and_the_two_interpretations_of_its_weights():
    H = np.linspace(-2, 2, 9)
    of_ones = exponential_loss(H, 1, (0.3, 0.0))
    of_minus_ones = exponential_loss(H, -1, (0.3, 0.0))
    assert_allclose(of_ones, 0.7 * np.exp(-H) + 0.3 * np.exp(H))
    assert_allclose(of_minus_ones, np.exp(H))
    a, b = mixture([1, -1], (0.3, 0.1))
    assert a.tolist() == [0.7, 0.9]
    assert b.tolist() == [0.3, 0.1]
    a, b = mixture([1, -1], (0.3, 0.1), "likelihood")
    assert a.tolist() == [0.9, 0.7]
    assert b.tolist() == [0.3, 0.1]
    convex = mixture([1, -1], (0.2, 0.2))
    likelihood = mixture([1, -1], (0.2, 0.2), "likelihood")
    assert_array_equal(convex, likelihood)


@given(st.integers(0, 1000), RATES, st.sampled_from(["convex", "likelihood"]))
def test_the_step_is_the_root_of_the_derivative_and_the_loss_falls(seed, gamma, loss_weights):
    s, H, h = points(seed)
    loss = FlippedExponential(s, gamma, loss_weights)
    loss.weigh(H)
    step = loss.step(h)
    a, b = mixture(s, gamma, loss_weights)

    def derivative(t):
        margin = s * (H + t * h)
        slopes = b * np.exp(margin) - a * np.exp(-margin)
        return (s * h * slopes).sum()

    def log_loss(t):
        return loss.log_value(H + t * h)

    if derivative(-15.0) < 0 < derivative(15.0):  # h neither wholly right nor wholly wrong
        root = brentq(derivative, -15, 15, xtol=1e-13)
        assert step == pytest.approx(root, abs=1e-9)
    lowest = log_loss(step)
    for other_step in (0.0, step - 1e-3, step + 1e-3):
        assert lowest <= log_loss(other_step) + 1e-12


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_step_is_bounded(sign):
    s, H, _ = points(0)
    loss = FlippedExponential(s)
    loss.weigh(H)
    largest_step = 0.5 * math.log(1e12)
    assert loss.step(sign * s) == pytest.approx(sign * largest_step, rel=1e-9)


@given(st.integers(0, 1000), RATES, st.sampled_from(["convex", "likelihood"]))
def test_the_weights_are_the_slope_of_the_loss(seed, gamma, loss_weights):
    s, H, _ = points(seed, 12)
    loss = FlippedExponential(s, gamma, loss_weights)
    weights, targets = loss.weigh(H)
    a, b = mixture(s, gamma, loss_weights)
    margin = s * H
    slope = s * (b * np.exp(margin) - a * np.exp(-margin))
    sum_of_slopes = np.abs(slope).sum()
    assert_allclose(-weights * targets * sum_of_slopes, slope * weights.sum(), atol=1e-9)


def test_a_point_that_is_too_sure_asks_for_the_opposite_or_is_left_out():
    s = np.array([1.0, 1.0])
    H = np.array([2.0, -2.0])
    weights, targets = FlippedExponential(s, (0.3, 0.0)).weigh(H)
    assert targets.tolist() == [-1.0, 1.0]
    assert weights[0] > 0
    clipping = FlippedExponential(s, (0.3, 0.0), negative_weights="clip")
    clipped, _ = clipping.weigh(H)
    assert clipped.tolist() == [0.0, weights[1]]


@pytest.mark.parametrize("gamma", [(0.0, 0.0), (0.3, 0.1)])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_scores_may_be_huge(scale, gamma):
    s, H, h = points(0)
    loss = FlippedExponential(s, gamma)
    sure_and_right = scale * np.abs(H) * s
    weights, _ = loss.weigh(sure_and_right)
    assert np.isfinite(weights).all()
    assert weights.any()
    assert math.isfinite(loss.step(h))
    mean_loss = exponential_loss(H, s, gamma).mean()
    assert loss.log_value(H) == pytest.approx(math.log(mean_loss), abs=1e-12)
    assert math.isfinite(loss.log_value(scale * H))
