"""The minimiser of a margin loss agrees with scikit-learn, and is always stationary."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from noisylabels.checks import check_classifier
from noisylabels.classifiers.linear import LiblinearClassifier, RobustSGDClassifier
from noisylabels.losses import margin as losses
from robust_sgd.minimiser import MarginMinimiser

LAM = 0.01


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.5, 1, -1)
    X = rng.standard_normal((300, 4)) + 0.8 * y[:, None] * np.array([1.0, 0.5, 0.0, 0.0])
    flipped = rng.random(300) < 0.2
    return X, np.where(flipped, -y, y)


def weights(model):
    return np.append(model.coef_[0], model.intercept_)


def with_constant(X):
    return np.column_stack([X, np.ones(len(X))])


def test_log_loss_equals_scikit_learn(problem):
    X, y = problem
    theirs = LogisticRegression(C=1 / (LAM * len(y)), fit_intercept=False, tol=1e-10)
    theirs.fit(with_constant(X), y)
    ours = MarginMinimiser("log", lam=LAM).fit(X, y)
    np.testing.assert_allclose(weights(ours), theirs.coef_[0], atol=1e-5)
    proba = ours.predict_proba(X)[:, 1]
    np.testing.assert_allclose(proba, theirs.predict_proba(with_constant(X))[:, 1], atol=1e-5)


def test_squared_hinge_equals_liblinear(problem):
    X, y = problem
    options = {"C": 1 / (LAM * len(y)), "fit_intercept": False, "dual": False, "tol": 1e-10}
    theirs = LinearSVC(**options).fit(with_constant(X), y)
    ours = MarginMinimiser("squared_hinge", lam=LAM).fit(X, y)
    np.testing.assert_allclose(weights(ours), theirs.coef_[0], atol=1e-4)
    classifier = LiblinearClassifier(LAM).fit(X, y)
    np.testing.assert_allclose(weights(ours), weights(classifier), atol=2e-2)


@pytest.mark.parametrize("name", ["log", "squared_hinge", "smooth_ramp", "rgomp"])
def test_the_minimum_is_stationary_and_no_run_of_sgd_lies_below(problem, name):
    X, y = problem
    model = MarginMinimiser(name, lam=LAM).fit(X, y)
    loss = losses.resolve(name)
    w = weights(model)
    Z = with_constant(X)
    gradient = Z.T @ (loss.slope(y * (Z @ w)) * y) / len(y) + LAM * w
    assert model.converged_
    assert np.abs(gradient).max() < 2e-5
    for average in ("none", "run"):
        sgd = RobustSGDClassifier(name, lam=LAM, epochs=30, average=average, random_state=0)
        sgd.fit(X, y)
        value = loss.value(y * (Z @ w)).mean() + 0.5 * LAM * w @ w
        assert value <= sgd.objective(X, y) + 1e-9


def test_sparse_and_dense_input_agree_and_nothing_is_random(problem):
    X, y = problem
    dense = MarginMinimiser(random_state=1).fit(X, y)
    other_seed = MarginMinimiser(random_state=2).fit(X, y)
    sparse = MarginMinimiser().fit(sp.csr_matrix(X), y)
    for model in (other_seed, sparse):
        np.testing.assert_allclose(weights(model), weights(dense), rtol=1e-6)


def test_it_keeps_the_contract_of_classifiers():
    check_classifier(MarginMinimiser("log"))


def test_a_whole_weight_is_as_many_rows(problem):
    X, y = problem
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = MarginMinimiser("log", lam=LAM).fit(X, y, sample_weight=counts)
    repeated = MarginMinimiser("log", lam=LAM)
    repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weights(weighted), weights(repeated), atol=1e-4)


def test_hinge_is_left_to_liblinear(problem):
    X, y = problem
    remedy = r"loss: hinge has kinks.*LiblinearClassifier\(loss='hinge'"
    with pytest.raises(ValueError, match=remedy):
        MarginMinimiser("hinge").fit(X, y)
    with pytest.raises(ValueError, match="the hinge loss in the dual only: add dual=True"):
        LiblinearClassifier(loss="hinge").fit(X, y)
    ours = LiblinearClassifier(LAM, loss="hinge", dual=True, random_state=0).fit(X, y)
    sgd = RobustSGDClassifier("hinge", lam=LAM, epochs=200, average="run", random_state=0).fit(X, y)
    np.testing.assert_allclose(weights(ours), weights(sgd), atol=0.05)
