"""Robust logistic regression on columns of any units, place and number, dependent ones included."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import noisylabels as nl


def amounts(K, seed=0, n=300):
    """Two columns of amounts that tell the class, and the labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    return np.column_stack([rng.lognormal(size=n) + 0.8 * y, 2 * rng.lognormal(size=n)]), y


def dependent(X, kind):
    if kind == "sum":
        return np.column_stack([X, X.sum(axis=1)])
    if kind == "copy":
        return np.column_stack([X, X[:, 0]])
    bins = np.digitize(X[:, 1], [1.0, 2.0, 4.0])
    return np.column_stack([X, np.eye(4)[bins], np.ones(len(X))])


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["sum", "copy", "all dummies and a constant"])
@pytest.mark.parametrize(
    ("scale", "offset"),
    [(1e6, 0.0), (1e12, 0.0), (1.0, 3e5), (1.0, 1e8), (1e-12, 0.0)],
)
def test_columns_that_depend_on_each_other_are_fitted_without_a_word(K, kind, scale, offset):
    X, y = amounts(K)
    plain = nl.RobustLogisticRegression(1e-9).fit(X, y)
    Z = dependent(scale * X + offset, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = nl.RobustLogisticRegression(1e-9 * min(1.0, scale**2)).fit(Z, y)
    assert np.isfinite(model.coef_).all()
    if "dummies" not in kind:
        assert model.score(Z, y) == pytest.approx(plain.score(X, y), abs=0.02)


@pytest.mark.parametrize("K", [2, 3])
def test_the_place_and_the_unit_of_columns_do_not_matter(K):
    X, y = amounts(K)
    model = nl.RobustLogisticRegression(0.5).fit(X, y)
    moved = nl.RobustLogisticRegression(0.5).fit(X + np.array([1000.0, -7.0]), y)
    assert_allclose(moved.coef_, model.coef_, rtol=1e-5)
    assert_allclose(moved.flip_matrix_, model.flip_matrix_, atol=1e-5)
    scaled = nl.RobustLogisticRegression(0.5 * 64.0**2).fit(64.0 * X, y)
    assert_allclose(scaled.coef_ * 64.0, model.coef_, rtol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_with_the_identity_it_is_logistic_regression(K):
    X, y = amounts(K)
    # lam |w|^2, and 2 lam sum_k |w_k|^2, are |w|^2 / (2 C) for C = 1.
    penalty = 0.5 if K == 2 else 0.25
    ours = nl.RobustLogisticRegression(penalty, omega=np.eye(K), learn_omega=False).fit(X, y)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_labels_that_no_rounds_suffice_for_are_flagged():
    X, y = amounts(2)
    model = nl.RobustLogisticRegression(max_iter=1).fit(X, y)
    assert model.flags_ == ("not_converged",)
    assert not model.converged_
