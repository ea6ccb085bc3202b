"""Nystrom's features reproduce the kernel at the landmarks; who the landmarks are; widths by rule."""

from typing import get_args

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

from noisylabels.kernels import gaussian
from noisylabels.kernels.gaussian import Parametrisation, rate, squared_distances, width_of

GAMMA = 0.3


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 3))


def kernel(A, B=None):
    return np.exp(-GAMMA * squared_distances(A, B))


def test_nothing_is_lost_where_one_of_two_points_is_a_landmark(X):
    Z = X[:25]
    root = gaussian.nystrom_features(Z, GAMMA)
    phi, at_landmarks = (gaussian.nystrom_times(A, Z, GAMMA, root) for A in (X, Z))
    assert phi @ at_landmarks.T == pytest.approx(kernel(X, Z), abs=1e-8)
    left = np.linalg.eigvalsh(kernel(X) - phi @ phi.T)
    assert left.min() > -1e-8  # the approximation is from below


def test_repeated_landmarks_add_no_features(X):
    once, twice = (
        gaussian.nystrom_times(X, Z, GAMMA, gaussian.nystrom_features(Z, GAMMA))
        for Z in (X[:20], np.vstack([X[:20]] * 2))
    )
    assert once.shape[1] == twice.shape[1] == 20
    assert twice @ twice.T == pytest.approx(once @ once.T, abs=1e-8)


def test_blocks_of_rows_change_nothing(X, monkeypatch):
    w = np.random.default_rng(1).standard_normal((30, 2))
    exact = np.column_stack([kernel(X, X[:30]) @ w, np.ones(60)])
    for block in (gaussian.BLOCK, 7):
        monkeypatch.setattr(gaussian, "BLOCK", block)
        assert gaussian.nystrom_times(X, X[:30], GAMMA, w, bias=True) == pytest.approx(exact, abs=1e-12)


def test_leverage_scores_of_all_rows_are_the_definition(X):
    ridge = 0.7
    K = kernel(X)
    exact = np.diag(K @ np.linalg.inv(K + ridge * np.eye(len(K))))
    assert gaussian.leverage_scores(X, X, GAMMA, ridge) == pytest.approx(exact, abs=1e-9)
    some = gaussian.leverage_scores(X, X[:40], GAMMA, ridge)
    assert np.corrcoef(some, exact)[0, 1] > 0.7


@pytest.mark.parametrize("how", get_args(gaussian.Landmarks))
def test_landmarks_are_as_many_as_asked_for_and_the_same_for_a_seed(X, how):
    first, second = (gaussian.landmarks(X, 10, how, GAMMA, 1.0, np.random.default_rng(5)) for _ in range(2))
    assert first.shape == (10, 3)
    assert np.array_equal(first, second)
    assert len(np.unique(first, axis=0)) == 10
    if how != "kmeans":
        assert (squared_distances(first, X).min(axis=1) == 0).all()
    assert np.array_equal(gaussian.landmarks(X, 60, how, GAMMA, 1.0, np.random.default_rng(5)), X)


def test_leverage_prefers_the_rare_points():
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.standard_normal((500, 2)), rng.uniform(-9, 9, (25, 2))])
    tau = gaussian.leverage_scores(X, X[::5], 1.0, 1.0)
    assert tau[500:].mean() > 5 * tau[:500].mean()


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
