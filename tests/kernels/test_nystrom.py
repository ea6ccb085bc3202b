"""Nystrom's features reproduce the kernel at the landmarks; who the landmarks are; widths by rule."""

from typing import get_args

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

from noisylabels.kernels import nystrom
from noisylabels.kernels import nystrom as landmarks
from noisylabels.kernels.gaussian import Parametrisation, rate, squared_distances, width_of
from noisylabels.kernels.nystrom import nystrom as features_of

GAMMA = 0.3


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 3))


def kernel(A, B=None):
    return np.exp(-GAMMA * squared_distances(A, B))


def test_nothing_is_lost_where_one_of_two_points_is_a_landmark(X):
    Z = X[:25]
    features = features_of(Z, GAMMA)
    phi, at_landmarks = features.features(X), features.features(Z)
    assert phi @ at_landmarks.T == pytest.approx(kernel(X, Z), abs=1e-8)
    left = np.linalg.eigvalsh(kernel(X) - phi @ phi.T)
    assert left.min() > -1e-8  # the approximation is from below


def test_repeated_landmarks_add_no_features(X):
    once, twice = features_of(X[:20], GAMMA), features_of(np.vstack([X[:20], X[:20]]), GAMMA)
    assert once.r == twice.r == 20
    assert twice.features(X) @ twice.features(X).T == pytest.approx(
        once.features(X) @ once.features(X).T, abs=1e-8
    )


def test_blocks_of_rows_change_nothing(X, monkeypatch):
    features = features_of(X[:30], GAMMA)
    w = np.random.default_rng(1).standard_normal((30, 2))
    whole, values = features.features(X, bias=True), features.times(X, w)
    monkeypatch.setattr(nystrom, "BLOCK", 7)
    assert features.features(X, bias=True) == pytest.approx(whole, abs=1e-9)
    assert features.times(X, w) == pytest.approx(values, abs=1e-12)
    assert values == pytest.approx(kernel(X, X[:30]) @ w, abs=1e-12)
    assert np.array_equal(whole[:, -1], np.ones(len(X)))


def test_leverage_scores_of_all_rows_are_the_definition(X):
    ridge = 0.7
    K = kernel(X)
    exact = np.diag(K @ np.linalg.inv(K + ridge * np.eye(len(K))))
    assert landmarks.leverage_scores(X, X, GAMMA, ridge) == pytest.approx(exact, abs=1e-9)
    some = landmarks.leverage_scores(X, X[:40], GAMMA, ridge)
    assert np.corrcoef(some, exact)[0, 1] > 0.7


@pytest.mark.parametrize("how", get_args(landmarks.Landmarks))
def test_landmarks_are_as_many_as_asked_for_and_the_same_for_a_seed(X, how):
    first, second = (landmarks.choose(X, 10, how, GAMMA, 1.0, np.random.default_rng(5)) for _ in range(2))
    assert first.shape == (10, 3)
    assert np.array_equal(first, second)
    assert len(np.unique(first, axis=0)) == 10
    if how != "kmeans":
        assert (squared_distances(first, X).min(axis=1) == 0).all()
    assert np.array_equal(landmarks.choose(X, 60, how, GAMMA, 1.0, np.random.default_rng(5)), X)


def test_leverage_prefers_the_rare_points():
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.standard_normal((500, 2)), rng.uniform(-9, 9, (25, 2))])
    tau = landmarks.leverage_scores(X, X[::5], 1.0, 1.0)
    assert tau[500:].mean() > 5 * tau[:500].mean()


def test_wrong_landmarks_are_refused():
    with pytest.raises(ValueError, match="landmarks: must be a whole number >= 1, got 0"):
        landmarks.check(0, "uniform")
    with pytest.raises(ValueError, match="choice: 'best' is unknown; known: uniform, kmeans, leverage"):
        landmarks.check(5, "best")


@pytest.mark.parametrize("parametrisation", get_args(Parametrisation))
def test_scale_is_scikit_learns_gamma(X, parametrisation):
    X = X * [1.0, 2.0, 5.0] + 3.0
    theirs = SVC(gamma="scale").fit(X, np.arange(60) % 2)._gamma
    assert rate(width_of("scale", X, parametrisation), parametrisation) == pytest.approx(theirs)
    assert width_of(0.5, X, parametrisation) == 0.5


def test_scale_of_standardised_features_is_the_root_of_half_their_number(X):
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    width = width_of("scale", X)
    assert width == pytest.approx(np.sqrt(1.5))
    assert np.exp(-rate(width) * squared_distances(X)) == pytest.approx(RBF(width)(X))
    assert width_of("scale", np.ones((4, 8))) == pytest.approx(2.0)
    assert width_of("scale", X, weights=np.ones(60)) == pytest.approx(width)
    doubled = width_of("scale", np.vstack([X, X[:5]]))
    assert width_of("scale", X, weights=1.0 + (np.arange(60) < 5)) == pytest.approx(doubled)


@pytest.mark.parametrize("width", ["auto", "median"])
def test_other_words_are_no_width(X, width):
    with pytest.raises(ValueError, match=f"must be a number or 'scale', got '{width}'"):
        width_of(width, X)
