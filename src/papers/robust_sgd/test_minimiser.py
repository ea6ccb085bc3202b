"""The minimiser of a margin loss agrees with scikit-learn, and is always stationary."""

import numpy as np
import pytest
import scipy.sparse as sp
from problems import with_constant
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from noisylabels.checks import check_classifier
from noisylabels.classifiers.linear import LiblinearClassifier, RobustSGDClassifier
from noisylabels.losses import margin as losses
from robust_sgd.minimiser import MarginMinimiser

LAM = 0.01
MEANS = np.array([0.8, 0.4, 0.0, 0.0])
"""Of the features of the positive class; those of the negative class are opposite."""


@pytest.fixture(scope="module")
def problem():
    """Draw two classes of 300 rows together, with one label in five flipped."""
    rng = np.random.default_rng(0)
    is_positive = rng.random(300) < 0.5
    y = np.where(is_positive, 1, -1)
    X = rng.standard_normal((300, 4)) + y[:, None] * MEANS
    flipped = rng.random(300) < 0.2
    return X, np.where(flipped, -y, y)


def weights(model):
    return np.append(model.coef_[0], model.intercept_)


def test_log_loss_equals_scikit_learn(problem):
    X, y = problem
    Z = with_constant(X)
    C = 1 / (LAM * len(y))
    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-10).fit(Z, y)
    ours = MarginMinimiser("log", lam=LAM).fit(X, y)
    np.testing.assert_allclose(weights(ours), theirs.coef_[0], atol=1e-5)
    probabilities = ours.predict_proba(X)
    np.testing.assert_allclose(probabilities, theirs.predict_proba(Z), atol=1e-5)


def test_squared_hinge_equals_liblinear(problem):
    X, y = problem
    C = 1 / (LAM * len(y))
    theirs = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-10)
    theirs.fit(with_constant(X), y)
    ours = MarginMinimiser("squared_hinge", lam=LAM).fit(X, y)
    np.testing.assert_allclose(weights(ours), theirs.coef_[0], atol=1e-4)
    classifier = LiblinearClassifier(LAM).fit(X, y)
    np.testing.assert_allclose(weights(ours), weights(classifier), atol=2e-2)


@pytest.mark.parametrize("name", ["log", "squared_hinge", "smooth_ramp", "rgomp"])
def test_the_minimum_is_stationary_and_no_run_of_sgd_is_below(problem, name):
    X, y = problem
    model = MarginMinimiser(name, lam=LAM).fit(X, y)
    assert model.converged_
    loss = losses.resolve(name)
    w = weights(model)
    Z = with_constant(X)
    margins = y * (Z @ w)
    slopes = loss.slope(margins) * y
    gradient = Z.T @ slopes / len(y) + LAM * w
    assert np.abs(gradient).max() < 2e-5
    objective = loss.value(margins).mean() + 0.5 * LAM * w @ w
    for average in ("none", "run"):
        sgd = RobustSGDClassifier(name, lam=LAM, epochs=30, average=average, random_state=0)
        sgd.fit(X, y)
        assert objective <= sgd.objective(X, y) + 1e-9


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
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, len(y))
    weighted = MarginMinimiser("log", lam=LAM).fit(X, y, sample_weight=counts)
    repeated_X = np.repeat(X, counts, axis=0)
    repeated_y = np.repeat(y, counts)
    repeated = MarginMinimiser("log", lam=LAM).fit(repeated_X, repeated_y)
    np.testing.assert_allclose(weights(weighted), weights(repeated), atol=1e-4)


def test_hinge_is_left_to_liblinear(problem):
    X, y = problem
    remedy = r"loss: hinge has kinks.*LiblinearClassifier\(loss='hinge'"
    with pytest.raises(ValueError, match=remedy):
        MarginMinimiser("hinge").fit(X, y)
    with pytest.raises(ValueError, match="the hinge loss in the dual only: add dual=True"):
        LiblinearClassifier(loss="hinge").fit(X, y)


def test_the_hinge_loss_in_the_dual_has_the_minimum_that_sgd_finds(problem):
    X, y = problem
    dual = LiblinearClassifier(LAM, loss="hinge", dual=True, random_state=0)
    sgd = RobustSGDClassifier("hinge", lam=LAM, epochs=200, average="run", random_state=0)
    dual.fit(X, y)
    sgd.fit(X, y)
    np.testing.assert_allclose(weights(dual), weights(sgd), atol=0.05)
