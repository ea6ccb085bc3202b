"""The boosters: identities, invariances, what noise does to them, and the corners."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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

EVERY = [
    AdaBoostClassifier(random_state=0),
    AdaBoostClassifier("robust_logistic", random_state=0),
    RBoostClassifier(random_state=0),
    RBoostClassifier("robust_logistic", gamma=(0.2, 0.1), learn_gamma=False, random_state=0),
    GentleBoostClassifier(random_state=0),
    ModestBoostClassifier(random_state=0),
]


def named(booster):
    return f"{booster.name}-{getattr(booster, 'base', 'tree')}"


every = pytest.mark.parametrize("booster", EVERY, ids=named)
linear = pytest.mark.parametrize("booster", EVERY[:4], ids=named)


def fresh(booster, **settings):
    return clone(booster).set_params(**settings)


def ring(n=200, seed=0, up=0.2, down=0.2):
    """Points inside a circle against points outside, with flipped labels; the last column is pure noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 < 1.4).astype(int)
    return X, np.where(rng.random(n) < np.where(y == 0, up, down), 1 - y, y), y


def twonorm(n, seed, up, down):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, 20)) + (4 * y[:, np.newaxis] - 2) / math.sqrt(20)
    return X, np.where(rng.random(n) < np.where(y == 0, up, down), 1 - y, y), y


def test_adaboost_round_by_round_as_the_textbook_has_it():
    X, y, _ = ring()
    s = 2.0 * y - 1
    model = AdaBoostClassifier(weighting="reweight", rounds=30).fit(X, y)
    ZT = np.ascontiguousarray(np.column_stack([np.ones(len(X)), X]).T)
    weights = np.full(len(X), 1 / len(X))
    for member, step in zip(model.members_, model.steps_, strict=True):
        theta = np.zeros(4)
        weighted_logistic.fit(ZT, s, weights * len(X), theta, 1e-3, np.zeros(2), False, 15)
        h = weighted_logistic.decisions(ZT, theta)
        error = weights[h != s].sum()
        alpha = 0.5 * math.log((1 - error) / error)
        np.testing.assert_allclose(member, theta, atol=1e-8)
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
    robust = RBoostClassifier(**settings, gamma=(0.0, 0.0), learn_gamma=False).fit(X, y)
    np.testing.assert_array_equal(plain.members_, robust.members_)
    np.testing.assert_array_equal(plain.steps_, robust.steps_)
    np.testing.assert_array_equal(plain.decision_function(X), robust.decision_function(X))
    np.testing.assert_array_equal(robust.flip_matrix_, np.eye(2))


def test_adaboost_is_scikit_learns_with_the_same_penalty():
    X, y, _ = twonorm(300, 1, 0.1, 0.1)
    X[:, 0] += X[:, 1] ** 2
    # theirs: weights that sum to 1 and 1/2 ||w||^2; ours: weights that sum to n and lam ||w||^2
    ours = AdaBoostClassifier(weighting="reweight", lam=150.0, rounds=10, newton_steps=50).fit(X, y)
    theirs = TheirAdaBoost(LogisticRegression(tol=1e-10), n_estimators=10).fit(X, y)
    pairs = list(zip(ours.staged_predict(X), theirs.staged_predict(X), strict=False))
    assert len(pairs) >= 3
    for mine, his in pairs:
        np.testing.assert_array_equal(mine, his)


@linear
def test_the_loss_falls_in_every_exact_line_search(booster):
    X, y, _ = ring()
    model = fresh(booster).fit(X, y)
    gammas = [booster.gamma, *model.gamma_path_] if hasattr(model, "gamma_path_") else [(0.0, 0.0)] * 101
    before = np.zeros(len(X))
    for gamma, after in zip(gammas, model.staged_decision_function(X), strict=False):
        loss = FlippedExponential(2.0 * y - 1, tuple(gamma))
        assert loss.log_value(after) <= loss.log_value(before) + 1e-12
        before = after


@every
def test_the_last_stage_is_the_whole(booster):
    X, y, _ = ring()
    model = fresh(booster, rounds=12).fit(X, y)
    stages = list(model.staged_decision_function(X))
    classes = list(model.staged_predict(X))
    assert len(stages) == len(classes) == len(model.steps_) == len(model.log_losses_) == 12
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(classes[-1], model.predict(X))
    shorter = fresh(booster, rounds=5).fit(X, y)
    np.testing.assert_allclose(stages[4], shorter.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("model", [AdaBoostClassifier, RBoostClassifier])
def test_the_order_of_the_points_does_not_matter_without_resampling(model):
    X, y, _ = ring()
    order = np.random.default_rng(0).permutation(len(X))
    booster = model(weighting="reweight", rounds=20)
    expected = booster.fit(X, y).decision_function(X)
    np.testing.assert_allclose(booster.fit(X[order], y[order]).decision_function(X), expected, atol=1e-8)


def test_changing_the_roles_of_the_classes_mirrors_gamma():
    X, y, _ = twonorm(300, 0, 0.3, 0.0)
    booster = RBoostClassifier(weighting="reweight", rounds=20, gamma=(0.3, 0.1))
    gamma = booster.fit(X, y).gamma_path_
    mirrored = booster.set_params(gamma=(0.1, 0.3)).fit(X, 1 - y).gamma_path_
    np.testing.assert_allclose(mirrored, gamma[:, ::-1], atol=1e-6)


def disc(n, seed):
    """Clean points inside and around a disc, which neither a line nor a tree of three splits can separate."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, ((X**2).sum(axis=1) < 1.2).astype(int)


@every
def test_rounds_help_and_members_differ(booster):
    (X, y), (X_test, y_test) = disc(400, 0), disc(4000, 1)
    settings = {"learn_gamma": False, "gamma": (0.0, 0.0)} if isinstance(booster, RBoostClassifier) else {}
    model = fresh(booster, rounds=50, **settings).fit(X, y)
    errors = [np.mean(found != y_test) for found in model.staged_predict(X_test)]
    assert errors[-1] < 0.5 * errors[0]
    inputs = model._inputs(X_test)
    outputs = {model._outputs(member, inputs).tobytes() for member in model.members_}
    assert len(outputs) > 0.5 * len(model.members_)


def test_gentle_boost_starts_with_a_least_squares_tree():
    X, y, _ = ring()
    tree = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, 2.0 * y - 1)
    found = GentleBoostClassifier(rounds=1, random_state=0).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), tree.predict(X), atol=1e-12)


def test_modest_boost_leaf_by_leaf():
    X, y, _ = ring(up=0.0, down=0.0)
    s = 2.0 * y - 1
    model = ModestBoostClassifier(rounds=6, random_state=0).fit(X, y)
    H = np.zeros(len(X))
    for (tree, values), after in zip(model.members_, model.staged_decision_function(X), strict=True):
        a = np.exp(-s * H)
        a /= a.sum()
        inverse = (1 / a) / (1 / a).sum()
        leaves = tree.apply(model._inputs(X))
        for leaf in np.unique(leaves):
            inside = leaves == leaf
            P = a[inside & (s > 0)].sum()
            N = a[inside & (s < 0)].sum()
            v = P * (1 - inverse[inside & (s > 0)].sum()) - N * (1 - inverse[inside & (s < 0)].sum())
            expected = v if np.sign(v) == np.sign(P - N) else 0.0
            assert values[leaf] == pytest.approx(expected, abs=1e-15)
        H = after


def test_known_rates_help_where_one_class_is_flipped_and_learned_ones_do_not():
    errors = {"adaboost": [], "known": [], "learned": []}
    for seed in range(4):
        X, noisy, _ = twonorm(300, seed, 0.3, 0.0)
        test, _, y = twonorm(2000, 100 + seed, 0.0, 0.0)
        models = {
            "adaboost": AdaBoostClassifier(random_state=0),
            "known": RBoostClassifier(gamma=(0.3, 0.0), learn_gamma=False, random_state=0),
            "learned": RBoostClassifier(random_state=0),
        }
        for name, model in models.items():
            errors[name].append(1 - model.fit(X, noisy).score(test, y))
        assert models["learned"].flip_matrix_[0, 1] < 0.1  # the noise was learned as if it were signal
    adaboost, known, learned = (np.mean(errors[name]) for name in ("adaboost", "known", "learned"))
    assert known < adaboost - 0.03
    assert known < learned - 0.03


def test_trusted_labels_move_gamma_towards_the_truth():
    X, noisy, y = twonorm(400, 5, 0.3, 0.0)
    trusted, _, clean = twonorm(60, 6, 0.0, 0.0)
    booster = RBoostClassifier(rounds=40, random_state=0)
    alone = booster.fit(X, noisy).flip_matrix_[0, 1]
    helped = booster.fit(X, noisy, trusted=(trusted, clean)).flip_matrix_[0, 1]
    assert abs(helped - 0.3) < abs(alone - 0.3)
    flipped = booster.true_label_posterior(X, noisy)[(noisy == 1) & (y == 0)].mean()
    kept = booster.true_label_posterior(X, noisy)[(noisy == 1) & (y == 1)].mean()
    assert flipped < kept
    assert not booster.flagged_


@every
@pytest.mark.parametrize("rounds", [1, 20])
def test_the_corners_are_numbers(booster, rounds):
    two = (np.array([[0.0], [1.0]]), np.array([0, 1]))
    separated = (np.repeat([[-1.0, 0.0], [1.0, 0.0]], 10, axis=0), np.repeat([0, 1], 10))
    same = (np.zeros((6, 2)), np.array([0, 1, 0, 1, 1, 1]))
    contradiction = (np.repeat([[0.0], [1.0]], 4, axis=0), np.tile([0, 1], 4))
    huge = (1e30 * separated[0], separated[1])
    for X, y in (two, separated, same, contradiction, huge):
        model = fresh(booster, rounds=rounds).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.log_losses_).all()
        if hasattr(model, "gamma_path_"):
            assert np.isfinite(model.gamma_path_).all()
            assert (model.gamma_path_ < 0.5).all()
    assert fresh(booster, rounds=20).fit(*separated).score(*separated) == 1.0


def test_a_calibration_that_says_nothing_is_flagged():
    X, y, _ = ring()
    booster = RBoostClassifier(rounds=3, random_state=0)
    booster.fit(X, y, trusted=(X[y == 1], y[y == 1]))
    assert booster.flagged_
    assert "calibration" in booster.flags_
    assert np.isfinite(booster.flip_matrix_).all()


# The exponential loss with flips

RATES = st.tuples(st.floats(0.0, 0.49), st.floats(0.0, 0.49))


def points(seed, n=40):
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], n), 2 * rng.standard_normal(n), rng.choice([-1.0, 1.0], n)


def test_the_loss_and_the_two_interpretations_of_its_weights():
    H = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(exponential_loss(H, 1, (0.3, 0.0)), 0.7 * np.exp(-H) + 0.3 * np.exp(H))
    np.testing.assert_allclose(exponential_loss(H, -1, (0.3, 0.0)), np.exp(H))
    a, b = mixture([1, -1], (0.3, 0.1))
    assert (a.tolist(), b.tolist()) == ([0.7, 0.9], [0.3, 0.1])
    a, b = mixture([1, -1], (0.3, 0.1), "likelihood")
    assert (a.tolist(), b.tolist()) == ([0.9, 0.7], [0.3, 0.1])
    np.testing.assert_array_equal(mixture([1, -1], (0.2, 0.2)), mixture([1, -1], (0.2, 0.2), "likelihood"))


@given(st.integers(0, 1000), RATES, st.sampled_from(["convex", "likelihood"]))
def test_the_step_is_the_root_of_the_derivative_and_the_loss_falls(seed, gamma, loss_weights):
    s, H, h = points(seed)
    loss = FlippedExponential(s, gamma, loss_weights)
    loss.weigh(H)
    step = loss.step(h)
    a, b = mixture(s, gamma, loss_weights)

    def derivative(t):
        margin = s * (H + t * h)
        return (s * h * (b * np.exp(margin) - a * np.exp(-margin))).sum()

    if derivative(-15.0) < 0 < derivative(15.0):  # h neither wholly right nor wholly wrong
        assert step == pytest.approx(brentq(derivative, -15, 15, xtol=1e-13), abs=1e-9)
    assert loss.log_value(H + step * h) <= loss.log_value(H) + 1e-12
    for near in (-1e-3, 1e-3):
        assert loss.log_value(H + step * h) <= loss.log_value(H + (step + near) * h) + 1e-12


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_step_is_bounded(sign):
    s, H, _ = points(0)
    loss = FlippedExponential(s)
    loss.weigh(H)
    assert loss.step(sign * s) == pytest.approx(sign * 0.5 * math.log(1e12), rel=1e-9)


@given(st.integers(0, 1000), RATES, st.sampled_from(["convex", "likelihood"]))
def test_the_weights_are_the_slope_of_the_loss(seed, gamma, loss_weights):
    s, H, _ = points(seed, 12)
    weights, targets = FlippedExponential(s, gamma, loss_weights).weigh(H)
    a, b = mixture(s, gamma, loss_weights)
    slope = s * (b * np.exp(s * H) - a * np.exp(-s * H))
    np.testing.assert_allclose(-weights * targets * np.abs(slope).sum(), slope * weights.sum(), atol=1e-9)


def test_a_point_that_is_too_sure_asks_for_the_opposite_or_is_left_out():
    s = np.array([1.0, 1.0])
    H = np.array([2.0, -2.0])
    weights, targets = FlippedExponential(s, (0.3, 0.0)).weigh(H)
    assert targets.tolist() == [-1.0, 1.0]
    assert weights[0] > 0
    clipped, _ = FlippedExponential(s, (0.3, 0.0), negative_weights="clip").weigh(H)
    assert clipped.tolist() == [0.0, weights[1]]


@pytest.mark.parametrize("gamma", [(0.0, 0.0), (0.3, 0.1)])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_scores_may_be_huge(scale, gamma):
    s, H, h = points(0)
    loss = FlippedExponential(s, gamma)
    weights, _ = loss.weigh(scale * np.abs(H) * s)
    assert np.isfinite(weights).all()
    assert weights.any()
    assert math.isfinite(loss.step(h))
    expected = math.log(exponential_loss(H, s, gamma).mean())
    assert loss.log_value(H) == pytest.approx(expected, abs=1e-12)
    assert math.isfinite(loss.log_value(scale * H))
