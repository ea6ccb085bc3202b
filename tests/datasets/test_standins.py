"""Stand-ins have the shape, sparsity, class rates and difficulty that they promise, the same in every run."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.svm import LinearSVC

from reproduction.data import keel, standins
from reproduction.data.matrices import unpack
from reproduction.data.prepare import check_shape
from reproduction.data.registry import load_registry


def linear_error(X, y, X_test, y_test) -> float:
    return 1 - LinearSVC(dual=False).fit(X, y).score(X_test, y_test)


def test_susy_has_a_bayes_error_of_twenty_percent() -> None:
    arrays = standins.susy({}, n=100_000)
    X, y = np.vstack([arrays["X"], arrays["X_test"]]), np.r_[arrays["y"], arrays["y_test"]]
    assert X.shape == (100_000, 18)
    assert X.dtype == np.float32
    assert len(arrays["y_test"]) == 10_000
    assert (y == 1).mean() == pytest.approx(0.46)
    log_odds = 2 * X.sum(axis=1) * -ndtri(0.2) / np.sqrt(18)
    assert (np.sign(log_odds) != y).mean() == pytest.approx(0.2, abs=0.005)


def test_ijcnn1_is_hard_for_a_hyperplane() -> None:
    arrays = standins.ijcnn1({}, n=8000, n_test=8000)
    X, y = arrays["X"], arrays["y"]
    assert X.shape == (8000, 22)
    assert (y == 1).mean() == pytest.approx(0.097)
    assert (X[:, :10].sum(axis=1) == 1).all()
    assert np.abs(X).max() <= 1
    assert 0.06 < linear_error(X, y, arrays["X_test"], arrays["y_test"]) < 0.095


def test_real_sim_has_51_words_a_row_and_unit_rows() -> None:
    X, y = unpack(standins.real_sim({}, n=4000))
    assert X.shape == (4000, 20958)
    assert (np.diff(X.indptr) == 51).all()
    assert X.has_canonical_format
    assert np.allclose(X.multiply(X).sum(axis=1), 1)
    assert (X.data > 0).all()
    assert (y == 1).mean() == pytest.approx(0.31)
    assert 0.01 < linear_error(X[:3000], y[:3000], X[3000:], y[3000:]) < 0.12


def test_covtype_has_one_area_and_one_soil_a_row() -> None:
    arrays = standins.covtype({}, n=20_000)
    X, y = arrays["X"], arrays["y"]
    assert X.shape == (20_000, 54)
    assert X.dtype == np.float32
    assert (X[:, 10:14].sum(axis=1) == 1).all()
    assert (X[:, 14:].sum(axis=1) == 1).all()
    assert (X.min(), X.max()) == (0, 1)
    assert (y == 1).mean() == pytest.approx(0.4876, abs=1e-4)
    assert 0.15 < linear_error(X[:10_000], y[:10_000], X[10_000:], y[10_000:]) < 0.35


@pytest.mark.parametrize("name", ["susy", "real_sim", "covtype"])
def test_a_stand_in_is_the_same_in_every_run(name: str) -> None:
    one, two = (getattr(standins, name)({}, n=500) for _ in range(2))
    assert all(np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ijcnn1", "real_sim", "covtype"])
def test_a_stand_in_has_the_registered_shape(name: str) -> None:
    entry = load_registry(Path(__file__).parents[2] / "config" / "datasets.yaml")[name]
    check_shape(name, "stand-in", getattr(standins, name)({}), entry["stand_in"]["shape"])


def test_susy_has_the_registered_shape_by_default() -> None:
    shape = load_registry(Path(__file__).parents[2] / "config" / "datasets.yaml")["susy"]["stand_in"]["shape"]
    n = inspect.signature(standins.susy).parameters["n"].default
    assert (n - n // 10, standins.susy({}, n=100)["X"].shape[1]) == (shape["rows"], shape["columns"])


def test_keel_attributes_become_one_column_per_level(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["f"] * 35 + [level, label] for level, label in (("b", "won"), ("n", "nowin"), ("w", "won"))]
    rows.append(["t"] * 35 + ["b", "nowin"])
    (tmp_path / "chess.dat").write_text("@data\n" + "\n".join(",".join(row) for row in rows))
    check = keel.supervised
    monkeypatch.setattr(
        keel, "supervised", lambda name, X, y, columns, _: check(name, X, y, columns, {-1: 2, 1: 2})
    )
    arrays = keel.chess({"chess.dat": tmp_path / "chess.dat"})
    assert arrays["X"].shape == (4, 73)
    assert (arrays["X"].sum(axis=1) == 36).all()
    assert arrays["X"][:, -3:].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert arrays["y"].tolist() == [1, -1, 1, -1]


KEEL = {  # loader -> columns, labels of the file -> expected y
    "magic": (10, {"g": 1, "h": -1}),
    "satimage": (36, {"1": -1, "2": -1, "3": 1, "4": 1, "5": -1, "7": 1}),
    "penbased8": (16, {"0": -1, "8": 1, "9": -1}),
    "optdigits38": (64, {"3": 1, "8": -1, "5": None}),
}


@pytest.mark.parametrize("name", KEEL)
def test_keel_labels_become_two_classes(name: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, labels = KEEL[name]
    rows = [[*(str(k + 0.5) for k in range(columns)), label] for label in labels]
    (tmp_path / "it.dat").write_text("@relation it\n@data\n" + "\n".join(", ".join(row) for row in rows))
    expected = [sign for sign in labels.values() if sign is not None]
    with pytest.raises(ValueError, match=f"{name}: {len(expected)}x{columns} values"):
        getattr(keel, name)({"it.dat": tmp_path / "it.dat"})
    check = keel.supervised
    counts = {sign: expected.count(sign) for sign in (-1, 1)}
    monkeypatch.setattr(keel, "supervised", lambda name, X, y, d, _: check(name, X, y, d, counts))
    arrays = getattr(keel, name)({"it.dat": tmp_path / "it.dat"})
    assert arrays["y"].tolist() == expected
    assert (arrays["X"] == np.arange(columns) + 0.5).all()
