"""LIBSVM sets: official files and their rebuilt equals give the same arrays; stand-ins keep promises."""

import bz2
import gzip
import inspect
import io
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import ndtri
from sklearn.svm import LinearSVC

from reproduction.data import libsvm
from reproduction.data.formats import fact, unpack
from reproduction.data.prepare import check_arrays
from reproduction.data.registry import load_registry

PEOPLE = [
    "39.000 State-gov 77516 Bachelors 13 Never-married Adm-clerical Not-in-family White Male 2174 0 40 "
    "United-States <=50K",
    "25 ? 106642 Preschool 8 Divorced ? Wife Black Female 0 1 34 ? >50K",
    "26 ? 106642 Preschool 8 Divorced ? Wife Black Female 0 1 34 ? >50K",
]
INDICES = [
    [3, 11, 14, 19, 39, 42, 55, 64, 67, 73, 75, 76, 80, 83],
    [1, 14, 34, 35, 41, 61, 71, 72, 74, 77, 78],
    [2, 14, 34, 35, 41, 61, 71, 72, 74, 77, 78],
]


def test_people_of_adult_become_rows_of_a7a(tmp_path, monkeypatch):
    """Numbers are cut after the quintile, unknown values give no index; one bit says which half has a row."""
    path, mask = tmp_path / "adult.tab", bytes([0b101])
    path.write_text("a\nb\nc\n" + "".join("\t".join(person.split()) + "\n" for person in PEOPLE))
    monkeypatch.setattr(libsvm, "fact", lambda name: mask if name == "a7a_rows.bin" else fact(name))
    (X, y), (X_test, y_test) = libsvm.halves_of_adult(path)
    found = [(np.flatnonzero(row) + 1).tolist() for row in (*X.toarray(), *X_test.toarray())]
    assert found == [INDICES[0], INDICES[2], INDICES[1]]
    assert (y.tolist(), y_test.tolist()) == ([-1, 1], [1])


def _svmlight(X, y):
    from sklearn.datasets import dump_svmlight_file

    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=False)
    return stream.getvalue()


@pytest.mark.parametrize(("loader", "columns"), [("a7a", 123), ("ijcnn1", 22)])
def test_official_files_have_a_test_part(loader, columns, tmp_path):
    rng = np.random.default_rng(0)
    parts = {part: rng.standard_normal((n, columns)) for part, n in (("", 9), ("test", 6))}
    for part, X in parts.items():
        content = _svmlight(X, np.arange(len(X)) % 2 * 2 - 1)
        (tmp_path / f"{loader}{'.t' if part else ''}").write_bytes(content)
    arrays = getattr(libsvm, loader)({path.name: path for path in tmp_path.iterdir()})
    for part, X in parts.items():
        found, y = unpack(arrays, part)
        assert isinstance(found, csr_matrix) == (loader == "a7a")
        np.testing.assert_allclose(found.toarray() if isinstance(found, csr_matrix) else found, X)
        assert np.array_equal(y, np.arange(len(X)) % 2 * 2 - 1)


def test_real_sim_is_read_packed(tmp_path):
    (tmp_path / "real-sim.bz2").write_bytes(bz2.compress(_svmlight(np.eye(4, 22), np.array([-1, 1, -1, 1]))))
    X, y = unpack(libsvm.real_sim({"real-sim.bz2": tmp_path / "real-sim.bz2"}))
    assert X.shape == (4, 20958)
    assert np.array_equal(X.toarray()[:, :22], np.eye(4, 22))
    assert y.tolist() == [-1, 1, -1, 1]


def csv(path, values):
    rows = [",".join(f"{value:.18e}" for value in row) for row in values.tolist()]
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    return {path.name: path}


def test_the_last_rows_of_susy_are_its_test_set(tmp_path):
    rng = np.random.default_rng(0)
    X, label = rng.standard_normal((50, 18)).astype(np.float32), rng.integers(0, 2, 50)
    arrays = libsvm.susy(csv(tmp_path / "SUSY.csv.gz", np.column_stack([label, X])), test=10)
    assert np.array_equal(np.vstack([arrays["X"], arrays["X_test"]]), X)
    assert np.array_equal(np.r_[arrays["y"], arrays["y_test"]], 2 * label - 1)
    assert (len(arrays["y_test"]), arrays["X"].dtype) == (10, np.float32)
    with pytest.raises(ValueError, match="is none of 0, 1"):
        libsvm.susy(csv(tmp_path / "SUSY.csv.gz", np.column_stack([label + 1, X])), test=10)


def test_lodgepole_pine_stands_against_the_rest_of_covtype(tmp_path):
    values = np.column_stack([np.arange(7 * 54.0).reshape(7, 54), np.arange(1, 8)])
    arrays = libsvm.covtype(csv(tmp_path / "covtype.data.gz", values))
    assert np.array_equal(arrays["X"], values[:, :54])
    assert arrays["y"].tolist() == [-1, 1, -1, -1, -1, -1, -1]


# stand-ins


def linear_error(X, y, X_test, y_test):
    return 1 - LinearSVC(dual=False).fit(X, y).score(X_test, y_test)


def test_susy_has_a_bayes_error_of_twenty_percent():
    arrays = libsvm.susy_stand_in({}, n=100_000)
    X, y = np.vstack([arrays["X"], arrays["X_test"]]), np.r_[arrays["y"], arrays["y_test"]]
    assert (X.shape, X.dtype) == ((100_000, 18), np.float32)
    assert (len(arrays["y_test"]), (y == 1).mean()) == (10_000, pytest.approx(0.46))
    log_odds = 2 * X.sum(axis=1) * -ndtri(0.2) / np.sqrt(18)
    assert (np.sign(log_odds) != y).mean() == pytest.approx(0.2, abs=0.005)


def test_ijcnn1_is_hard_for_a_hyperplane():
    arrays = libsvm.ijcnn1_stand_in({}, n=8000, n_test=8000)
    X, y = arrays["X"], arrays["y"]
    assert (X.shape, (y == 1).mean()) == ((8000, 22), pytest.approx(0.097))
    assert (X[:, :10].sum(axis=1) == 1).all()
    assert np.abs(X).max() <= 1
    assert 0.06 < linear_error(X, y, arrays["X_test"], arrays["y_test"]) < 0.095


def test_real_sim_has_51_words_a_row_and_unit_rows():
    X, y = unpack(libsvm.real_sim_stand_in({}, n=4000))
    assert X.shape == (4000, 20958)
    assert (np.diff(X.indptr) == 51).all()
    assert X.has_canonical_format
    assert np.allclose(X.multiply(X).sum(axis=1), 1)
    assert (X.data > 0).all()
    assert (y == 1).mean() == pytest.approx(0.31)
    assert 0.01 < linear_error(X[:3000], y[:3000], X[3000:], y[3000:]) < 0.12


def test_covtype_has_one_area_and_one_soil_a_row():
    arrays = libsvm.covtype_stand_in({}, n=20_000)
    X, y = arrays["X"], arrays["y"]
    assert (X.shape, X.dtype) == ((20_000, 54), np.float32)
    assert (X[:, 10:14].sum(axis=1) == 1).all()
    assert (X[:, 14:].sum(axis=1) == 1).all()
    assert (X.min(), X.max()) == (0, 1)
    assert (y == 1).mean() == pytest.approx(0.4876, abs=1e-4)
    assert 0.15 < linear_error(X[:10_000], y[:10_000], X[10_000:], y[10_000:]) < 0.35


@pytest.mark.parametrize("name", ["susy", "real_sim", "covtype"])
def test_a_stand_in_is_the_same_in_every_run(name):
    one, two = (getattr(libsvm, f"{name}_stand_in")({}, n=500) for _ in range(2))
    assert all(np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ijcnn1", "real_sim", "covtype"])
def test_a_stand_in_has_the_registered_shape(name):
    entry = load_registry(Path(__file__).parents[2] / "config" / "datasets.yaml")[name]
    shape = entry.stand_in.shape.model_dump(exclude={"classes"}, exclude_none=True)
    check_arrays(name, "stand-in", getattr(libsvm, f"{name}_stand_in")({}), shape)


def test_susy_has_the_registered_shape_by_default():
    shape = load_registry(Path(__file__).parents[2] / "config" / "datasets.yaml")["susy"].stand_in.shape
    n = inspect.signature(libsvm.susy_stand_in).parameters["n"].default
    assert (n - n // 10, libsvm.susy_stand_in({}, n=100)["X"].shape[1]) == (shape.rows, shape.columns)
