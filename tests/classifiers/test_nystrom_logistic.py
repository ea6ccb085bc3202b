"""Nystrom's logistic regressions are the exact ones where all rows are landmarks, and near them with few."""

import numpy as np
import pytest
from problems import two_moons

from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression,
    NystromLogisticRegression,
    RobustKernelLogisticRegression,
    RobustNystromLogisticRegression,
)

PAIRS = [
    (KernelLogisticRegression, NystromLogisticRegression),
    (RobustKernelLogisticRegression, RobustNystromLogisticRegression),
]


def problem(n, K=2, flips=0.25):
    """X (n, 2) and observed labels: class 0 is taken for class 1 with probability ``flips``."""
    X, y = two_moons(n)
    if K == 3:
        y = np.where(X[:, 0] > 1.2, 2, y)
    flipped = (y == 0) & (np.random.default_rng(1).random(n) < flips)
    return X, np.where(flipped, 1, y)


@pytest.mark.parametrize("bias", ["none", "free", "penalised"])
@pytest.mark.parametrize(("exact", "ours"), PAIRS)
def test_with_all_rows_as_landmarks_nothing_is_approximated(exact, ours, bias):
    X, y = problem(90)
    wanted = exact(1.0, 0.1, bias=bias, penalty="rkhs").fit(X, y)
    model = ours(1.0, 0.1, bias=bias).fit(X, y)
    assert model.landmarks_ == "all rows"
    assert model.converged_
    assert model.objective_ == pytest.approx(wanted.objective_, rel=1e-6)
    assert model.decision_function(X) == pytest.approx(wanted.decision_function(X), abs=5e-3)
    if model.robust:
        assert model.flip_matrix_ == pytest.approx(wanted.flip_matrix_, abs=2e-3)


@pytest.mark.parametrize(("exact", "ours"), PAIRS)
def test_three_classes_are_exact_as_well(exact, ours):
    X, y = problem(90, K=3)
    wanted = exact(1.0, 0.1, bias="free", penalty="rkhs").fit(X, y)
    model = ours(1.0, 0.1, bias="free").fit(X, y)
    assert model.decision_function(X) == pytest.approx(wanted.decision_function(X), abs=5e-3)
    assert np.array_equal(model.predict(X), wanted.predict(X))


@pytest.mark.parametrize("choice", ["uniform", "kmeans", "leverage"])
def test_forty_landmarks_of_six_hundred_points_are_nearly_enough(choice):
    X, y = problem(600)
    exact = RobustKernelLogisticRegression(1.0, 0.1, penalty="rkhs").fit(X, y)
    model = RobustNystromLogisticRegression(1.0, 0.1, landmarks=40, choice=choice, random_state=0).fit(X, y)
    assert (model.landmarks_, model.X_fit_.shape) == (choice, (40, 2))
    assert model.features_ <= 40
    assert (model.predict(X) == exact.predict(X)).mean() > 0.99
    assert model.flip_matrix_ == pytest.approx(exact.flip_matrix_, abs=0.01)


def test_the_fit_is_the_same_for_a_seed():
    X, y = problem(200)
    first, second = (NystromLogisticRegression(landmarks=20, random_state=3).fit(X, y) for _ in range(2))
    assert np.array_equal(first.dual_coef_, second.dual_coef_)
