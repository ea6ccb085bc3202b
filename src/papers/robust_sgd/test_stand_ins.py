"""Stand-ins for large sets have the stated shape, sparsity and difficulty."""

import inspect

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.svm import LinearSVC

from reproduction.data.loaders.formats import unpack
from reproduction.data.registry import REGISTRY, load_registry
from robust_sgd import stand_ins


def linear_error(X, y, X_test, y_test):
    hyperplane = LinearSVC(dual=False)
    hyperplane.fit(X, y)
    accuracy = hyperplane.score(X_test, y_test)
    return 1 - accuracy


def error_between_parts(X, y, size):
    """Learn from the first rows, and test on the others."""
    X_test = X[size:]
    y_test = y[size:]
    return linear_error(X[:size], y[:size], X_test, y_test)


def share_of_positives(y):
    is_positive = y == 1
    return is_positive.mean()


def test_susy_has_a_bayes_error_of_twenty_percent():
    arrays = stand_ins.susy({}, n=100_000)
    y_test = arrays["y_test"]
    X = np.vstack([arrays["X"], arrays["X_test"]])
    y = np.concatenate([arrays["y"], y_test])
    assert X.shape == (100_000, 18)
    assert X.dtype == np.float32
    assert len(y_test) == 10_000
    assert share_of_positives(y) == pytest.approx(0.46)
    distance_of_means = -2 * ndtri(0.2)
    log_odds = distance_of_means * X.sum(axis=1) / np.sqrt(18)
    is_wrong = np.sign(log_odds) != y
    assert is_wrong.mean() == pytest.approx(0.2, abs=0.005)


def test_ijcnn1_is_hard_for_a_hyperplane():
    arrays = stand_ins.ijcnn1({}, n=8000, n_test=8000)
    X = arrays["X"]
    y = arrays["y"]
    assert X.shape == (8000, 22)
    assert share_of_positives(y) == pytest.approx(0.097)
    phases = X[:, :10]
    assert (phases.sum(axis=1) == 1).all()
    assert np.abs(X).max() <= 1
    error = linear_error(X, y, arrays["X_test"], arrays["y_test"])
    assert 0.06 < error < 0.095


def test_real_sim_has_51_words_a_row_and_unit_rows():
    arrays = stand_ins.real_sim({}, n=4000)
    X, y = unpack(arrays)
    assert X.shape == (4000, 20958)
    words_of_rows = np.diff(X.indptr)
    assert (words_of_rows == 51).all()
    assert X.has_canonical_format
    squares = X.multiply(X)
    assert np.allclose(squares.sum(axis=1), 1)
    assert (X.data > 0).all()
    assert share_of_positives(y) == pytest.approx(0.31)
    error = error_between_parts(X, y, 3000)
    assert 0.01 < error < 0.12


def test_covtype_has_one_area_and_one_soil_a_row():
    arrays = stand_ins.covtype({}, n=20_000)
    X = arrays["X"]
    y = arrays["y"]
    assert X.shape == (20_000, 54)
    assert X.dtype == np.float32
    areas = X[:, 10:14]
    assert (areas.sum(axis=1) == 1).all()
    soils = X[:, 14:]
    assert (soils.sum(axis=1) == 1).all()
    assert X.min() == 0
    assert X.max() == 1
    assert share_of_positives(y) == pytest.approx(0.4876, abs=1e-4)
    error = error_between_parts(X, y, 10_000)
    assert 0.15 < error < 0.35


def test_susy_has_the_registered_shape_by_default_and_is_the_same_in_every_run():
    registered = load_registry(REGISTRY)["susy"]
    shape = registered.stand_in.shape
    parameters = inspect.signature(stand_ins.susy).parameters
    n = parameters["n"].default
    training_rows = n - n // 10
    assert training_rows == shape.rows
    first = stand_ins.susy({}, n=100)
    second = stand_ins.susy({}, n=100)
    assert first["X"].shape[1] == shape.columns
    for name, array in first.items():
        assert np.array_equal(array, second[name])
