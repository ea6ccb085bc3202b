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
    return 1 - LinearSVC(dual=False).fit(X, y).score(X_test, y_test)


def test_susy_has_a_bayes_error_of_twenty_percent():
    arrays = stand_ins.susy({}, n=100_000)
    X = np.vstack([arrays["X"], arrays["X_test"]])
    y = np.r_[arrays["y"], arrays["y_test"]]
    assert (X.shape, X.dtype) == ((100_000, 18), np.float32)
    assert (len(arrays["y_test"]), (y == 1).mean()) == (10_000, pytest.approx(0.46))
    log_odds = 2 * X.sum(axis=1) * -ndtri(0.2) / np.sqrt(18)
    assert (np.sign(log_odds) != y).mean() == pytest.approx(0.2, abs=0.005)


def test_ijcnn1_is_hard_for_a_hyperplane():
    arrays = stand_ins.ijcnn1({}, n=8000, n_test=8000)
    X, y = arrays["X"], arrays["y"]
    assert (X.shape, (y == 1).mean()) == ((8000, 22), pytest.approx(0.097))
    assert (X[:, :10].sum(axis=1) == 1).all()
    assert np.abs(X).max() <= 1
    assert 0.06 < linear_error(X, y, arrays["X_test"], arrays["y_test"]) < 0.095


def test_real_sim_has_51_words_a_row_and_unit_rows():
    X, y = unpack(stand_ins.real_sim({}, n=4000))
    assert X.shape == (4000, 20958)
    assert (np.diff(X.indptr) == 51).all()
    assert X.has_canonical_format
    assert np.allclose(X.multiply(X).sum(axis=1), 1)
    assert (X.data > 0).all()
    assert (y == 1).mean() == pytest.approx(0.31)
    assert 0.01 < linear_error(X[:3000], y[:3000], X[3000:], y[3000:]) < 0.12


def test_covtype_has_one_area_and_one_soil_a_row():
    arrays = stand_ins.covtype({}, n=20_000)
    X, y = arrays["X"], arrays["y"]
    assert (X.shape, X.dtype) == ((20_000, 54), np.float32)
    assert (X[:, 10:14].sum(axis=1) == 1).all()
    assert (X[:, 14:].sum(axis=1) == 1).all()
    assert (X.min(), X.max()) == (0, 1)
    assert (y == 1).mean() == pytest.approx(0.4876, abs=1e-4)
    assert 0.15 < linear_error(X[:10_000], y[:10_000], X[10_000:], y[10_000:]) < 0.35


def test_susy_has_the_registered_shape_by_default_and_is_the_same_in_every_run():
    shape = load_registry(REGISTRY)["susy"].stand_in.shape
    n = inspect.signature(stand_ins.susy).parameters["n"].default
    first, second = (stand_ins.susy({}, n=100) for _ in range(2))
    assert (n - n // 10, first["X"].shape[1]) == (shape.rows, shape.columns)
    assert all(np.array_equal(first[key], second[key]) for key in first)
