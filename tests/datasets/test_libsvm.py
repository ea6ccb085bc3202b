"""LIBSVM sets: official files and their rebuilt equals give the same arrays."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from reproduction.data import adult, libsvm, matrices

PERSON = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, "
    "40, United-States, <=50K"
)
LINE = b"-1 3:1 11:1 14:1 19:1 39:1 42:1 55:1 64:1 67:1 73:1 75:1 76:1 80:1 83:1 \n"


def test_the_first_person_of_adult_is_the_first_line_of_a9a(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_text(PERSON + "\n\n")
    assert adult.encode(tmp_path / "adult.data") == [LINE]
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + PERSON + ".\n")
    assert adult.encode(tmp_path / "adult.test") == [LINE]
    fields = PERSON.replace("39,", "39.000,").split(", ")
    (tmp_path / "adult.tab").write_text("a\nb\nc\n" + "\t".join(fields) + "\n")
    assert adult.encode(tmp_path / "adult.tab") == [LINE]


def test_numbers_are_cut_after_the_quintile_and_unknown_values_give_no_index(tmp_path: Path) -> None:
    person = "25, ?, 106642, Preschool, 8, Divorced, ?, Wife, Black, Female, 0, 1, 34, ?, >50K"
    (tmp_path / "adult.data").write_text(person)
    expected = b"+1 1:1 14:1 34:1 35:1 41:1 61:1 71:1 72:1 74:1 77:1 78:1 \n"
    assert adult.encode(tmp_path / "adult.data") == [expected]
    (tmp_path / "adult.data").write_text(person.replace("25", "26"))
    assert adult.encode(tmp_path / "adult.data")[0].startswith(b"+1 2:1")


def test_a_value_that_is_not_of_the_census_is_named(tmp_path: Path) -> None:
    for wrong in (PERSON.replace("State-gov", "State"), PERSON.replace("77516", "x")):
        (tmp_path / "adult.data").write_text(PERSON + "\n" + wrong)
        with pytest.raises(ValueError, match=r"adult\.data, line 2: unknown value"):
            adult.encode(tmp_path / "adult.data")


def test_a7a_is_a_subsequence_of_a9a_and_a7a_t_the_rest() -> None:
    lines = [b"%d" % i for i in range(32561)]
    first, second = adult.halves(lines)
    assert (len(first), len(second)) == (16100, 16461)
    assert sorted(first + second, key=int) == lines
    assert first == sorted(first, key=int)
    with pytest.raises(ValueError, match="5 rows, expected 32561"):
        adult.halves(lines[:5])


def test_a_rebuilt_file_that_is_not_libsvms_to_the_last_byte_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a7a rebuilt from Adult has sha256 .* expected d383cf15"):
        adult.checked([LINE], "a7a")


def _svmlight(X: np.ndarray, y: np.ndarray) -> bytes:
    from sklearn.datasets import dump_svmlight_file

    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=False)
    return stream.getvalue()


def test_official_a7a_files_are_read_with_or_without_compression(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    files = {}
    for name, negative, positive in (("a7a", 12182, 3918), ("a7a.t", 12538, 3923)):
        X = np.zeros((negative + positive, 123))
        X[np.arange(len(X)), rng.integers(123, size=len(X))] = 1
        y = rng.permutation(np.repeat([-1, 1], [negative, positive]))
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(_svmlight(X, y), 1))
        files[f"{name}.gz"] = tmp_path / f"{name}.gz"
    arrays = libsvm.a7a(files)
    X_test, y_test = matrices.unpack(arrays, "test")
    assert isinstance(X_test, csr_matrix)
    assert np.array_equal(X_test.toarray(), X)
    assert np.array_equal(y_test, y)
    with pytest.raises(ValueError, match=r"no file a7a\.t, got a7a\.gz"):
        libsvm.a7a({"a7a.gz": files["a7a.gz"]})


def test_class_two_of_covtype_is_positive_in_both_layouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, rng = 60, np.random.default_rng(0)
    X, kind = rng.integers(0, 9, (n, 54)), rng.integers(1, 8, n)
    small = {-1: int((kind != 2).sum()), 1: int((kind == 2).sum())}
    check, read = libsvm.supervised, libsvm.numeric_csv.read
    monkeypatch.setattr(
        libsvm, "supervised", lambda name, X, y, columns, classes: check(name, X, y, columns, small)
    )
    monkeypatch.setattr(libsvm.numeric_csv, "read", lambda path, rows, columns: read(path, n, columns))
    (tmp_path / "covtype.data.gz").write_bytes(
        gzip.compress("\n".join(",".join(map(str, row)) for row in np.c_[X, kind]).encode())
    )
    (tmp_path / "covtype.libsvm.binary").write_bytes(_svmlight(X, np.where(kind == 2, 2, 1)))
    one, two = (libsvm.covtype({p.name: p}) for p in sorted(tmp_path.iterdir()))
    assert all(np.array_equal(one[key], two[key]) for key in one)
    assert np.array_equal(one["X"], X)
    assert np.array_equal(one["y"] == 1, kind == 2)
    assert one["X"].dtype == np.float32


def test_the_last_rows_of_susy_are_its_test_set(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, label = rng.standard_normal((50, 18)).astype(np.float32), rng.integers(0, 2, 50)
    rows = [",".join(f"{v:.18e}" for v in (y, *x)) for x, y in zip(X.tolist(), label.tolist(), strict=True)]
    path = tmp_path / "SUSY.csv.gz"
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    arrays = libsvm.susy({path.name: path}, rows=50, test=10)
    assert np.array_equal(np.vstack([arrays["X"], arrays["X_test"]]), X)
    assert np.array_equal(np.r_[arrays["y"], arrays["y_test"]], 2 * label - 1)
    assert len(arrays["y_test"]) == 10
    assert arrays["X"].dtype == np.float32
    with pytest.raises(ValueError, match=r"SUSY\.csv\.gz: 50 rows, expected 51"):
        libsvm.susy({path.name: path}, rows=51)
    path.write_bytes(gzip.compress(("2" + "\n".join(rows)[1:]).encode()))
    with pytest.raises(ValueError, match="a label is neither 0 nor 1"):
        libsvm.susy({path.name: path}, rows=50, test=10)


def test_a_design_matrix_survives_packing_dense_and_sparse() -> None:
    y = np.array([1, -1, 1], np.int8)
    dense = np.arange(6.0).reshape(3, 2)
    sparse = csr_matrix(random_array((3, 4), density=0.5, rng=np.random.default_rng(0)))
    for X in (dense, sparse):
        arrays = matrices.pack(X, y) | matrices.pack(X[:2], y[:2], "test")
        for part, n in (("", 3), ("test", 2)):
            found, labels = matrices.unpack(arrays, part)
            assert type(found) is type(X)
            assert abs(found - X[:n]).max() == 0
            assert np.array_equal(labels, y[:n])
    with pytest.raises(KeyError, match="no test part"):
        matrices.unpack(matrices.pack(dense, y), "test")


def test_sets_of_known_size_are_refused_at_another_and_read_at_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = np.eye(4, 22), np.array([-1, 1, -1, 1])
    for name in ("ijcnn1", "ijcnn1.t", "real-sim"):
        (tmp_path / name).write_bytes(_svmlight(X, y))
    files = {path.name: path for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="ijcnn1: 4x22 values and 4 labels, expected 49990x22"):
        libsvm.ijcnn1(files)
    with pytest.raises(ValueError, match="real-sim: 4x20958 values and 4 labels, expected 72309x20958"):
        libsvm.real_sim(files)
    check = libsvm.supervised
    monkeypatch.setattr(
        libsvm, "supervised", lambda name, X, y, d, classes, _: check(name, X, y, d, classes, 4)
    )
    arrays = libsvm.ijcnn1(files)
    assert np.array_equal(arrays["X"], X)
    assert np.array_equal(arrays["y_test"], y)
    sparse, labels = matrices.unpack(libsvm.real_sim(files))
    assert np.array_equal(sparse.toarray()[:, :22], X)
    assert np.array_equal(labels, y)


def test_the_sample_of_covtype_has_its_label_first(tmp_path: Path) -> None:
    files = {}
    for part, negative, positive in (("train", 490, 486), ("test", 516, 508)):
        y = np.repeat([-1, 1], [negative, positive])
        path = tmp_path / f"covtype.1000.{part}.csv"
        np.savetxt(path, np.c_[y, np.full((len(y), 54), 0.25)], fmt="%g", delimiter=",")
        files[path.name] = path
    arrays = libsvm.covtype_sample(files)
    assert arrays["X"].shape == (976, 54)
    assert arrays["X_test"].shape == (1024, 54)
    assert (arrays["y_test"] == 1).sum() == 508
    assert (arrays["X"] == 0.25).all()
