"""Nystrom's logistic regressions: exact where all rows are landmarks, and nearly so with few."""

import numpy as np
import pytest
from problems import two_moons

from noisylabels.classifiers import nystrom_logistic
from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
)
from noisylabels.classifiers.nystrom_logistic import (
    NystromLogisticRegression,
    RobustNystromLogisticRegression,
)
from noisylabels.kernels.gaussian import squared_distances

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


@pytest.mark.parametrize("choice", ["uniform", "kmeans"])
def test_forty_landmarks_of_six_hundred_points_are_nearly_enough(choice):
    X, y = problem(600)
    exact = RobustKernelLogisticRegression(1.0, 0.1, penalty="rkhs").fit(X, y)
    options = {"landmarks": 40, "choice": choice, "random_state": 0}
    model = RobustNystromLogisticRegression(1.0, 0.1, **options).fit(X, y)
    assert model.landmarks_ == choice
    assert model.X_fit_.shape == (40, 2)
    assert model.features_ <= 40
    assert (model.predict(X) == exact.predict(X)).mean() > 0.99
    assert model.flip_matrix_ == pytest.approx(exact.flip_matrix_, abs=0.01)


def test_repeated_rows_add_nothing():
    X, y = problem(90)
    wanted = NystromLogisticRegression(1.0, 0.2, landmarks=90).fit(X, y)
    X_twice = np.vstack([X, X])
    y_twice = np.concatenate([y, y])
    model = NystromLogisticRegression(1.0, 0.4, landmarks=180).fit(X_twice, y_twice)
    assert model.decision_function(X) == pytest.approx(wanted.decision_function(X), abs=5e-3)


def test_rows_far_from_the_origin_give_the_same_fit():
    X, y = problem(200)
    near_origin = NystromLogisticRegression(1.0, 0.1, landmarks=40, random_state=0).fit(X, y)
    far_away = NystromLogisticRegression(1.0, 0.1, landmarks=40, random_state=0).fit(X + 2.0**20, y)
    f = far_away.decision_function(X + 2.0**20)
    assert f == pytest.approx(near_origin.decision_function(X), abs=1e-4)


def test_a_block_of_rows_is_as_large_as_the_memory_allows_and_changes_nothing(monkeypatch):
    X, y = problem(200)
    whole = NystromLogisticRegression(1.0, 0.1, landmarks=40, random_state=0).fit(X, y)
    monkeypatch.setattr(nystrom_logistic, "ROWS_OF_A_BLOCK", 7)
    model = NystromLogisticRegression(1.0, 0.1, landmarks=40, random_state=0).fit(X, y)
    assert model.decision_function(X) == pytest.approx(whole.decision_function(X), abs=1e-5)


def test_landmarks_are_rows_or_centres_and_as_many_as_asked_for():
    X, y = problem(200)
    drawn = NystromLogisticRegression(landmarks=10, random_state=0).fit(X, y)
    distances = squared_distances(drawn.X_fit_, X)
    assert distances.min(axis=1) == pytest.approx(np.zeros(10), abs=1e-20)
    centres = NystromLogisticRegression(landmarks=10, choice="kmeans", random_state=0).fit(X, y)
    assert np.unique(centres.X_fit_, axis=0).shape == (10, 2)


def test_the_choice_that_was_removed_names_the_one_that_serves():
    X, y = problem(90)
    with pytest.raises(ValueError, match=r'^choice: "leverage" was removed; take choice="kmeans"$'):
        NystromLogisticRegression(landmarks=10, choice="leverage").fit(X, y)


def test_the_fit_is_the_same_for_a_seed():
    X, y = problem(200)
    first = NystromLogisticRegression(landmarks=20, random_state=3).fit(X, y)
    second = NystromLogisticRegression(landmarks=20, random_state=3).fit(X, y)
    assert np.array_equal(first.dual_coef_, second.dual_coef_)
