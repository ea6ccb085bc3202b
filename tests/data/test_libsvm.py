"""LIBSVM sets: official files and their rebuilt equals give the same arrays; stand-ins keep promises."""

import bz2
import gzip
import inspect
import io
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import ndtri
from sklearn.svm import LinearSVC

from reproduction.data.loaders import libsvm
from reproduction.data.loaders.formats import fact, unpack
from reproduction.data.registry import REGISTRY, load_registry

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


def test_susy_has_the_registered_shape_by_default_and_is_the_same_in_every_run():
    shape = load_registry(REGISTRY)["susy"].stand_in.shape
    n = inspect.signature(libsvm.susy_stand_in).parameters["n"].default
    one, two = (libsvm.susy_stand_in({}, n=100) for _ in range(2))
    assert (n - n // 10, one["X"].shape[1]) == (shape.rows, shape.columns)
    assert all(np.array_equal(one[key], two[key]) for key in one)


# digits

COUNTS = {"train": (58, 61, 18), "t10k": (9, 10, 16)}  # eights, threes, others


def images(part):
    rng = np.random.default_rng(len(part))
    digits = rng.permutation(np.repeat(np.array([8, 3, 5], np.uint8), COUNTS[part]))
    pixels = rng.integers(0, 256, (len(digits), 28, 28), dtype=np.uint8)
    return pixels, digits


def idx_files(folder):
    for part in COUNTS:
        for array, name in zip(images(part), ("images-idx3", "labels-idx1"), strict=True):
            header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            (folder / f"{part}-{name}-ubyte").write_bytes(header + array.tobytes())
    return {path.name: path for path in folder.iterdir()}


def test_threes_and_eights_are_chosen_and_scaled(tmp_path):
    arrays = libsvm.mnist38(idx_files(tmp_path))
    for part, suffix in (("train", ""), ("t10k", "_test")):
        pixels, digits = images(part)
        chosen = digits != 5
        assert np.array_equal(np.rint(arrays[f"X{suffix}"] * 255), pixels[chosen].reshape(-1, 784))
        assert np.array_equal(arrays[f"y{suffix}"], np.where(digits[chosen] == 3, 1, -1))
    assert (arrays["X"].dtype, arrays["X"].max()) == (np.float32, 1)


def test_the_pickle_gives_the_same_and_holds_nothing_but_arrays(tmp_path):
    (x, y), (x3, y3) = images("train"), images("t10k")
    flat, flat3 = ((pixels.reshape(-1, 784) / np.float32(256)).astype(np.float32) for pixels in (x, x3))
    parts = ((flat[:90], y[:90]), (flat[90:], y[90:]), (flat3, y3))
    two = libsvm.mnist38(idx_files(tmp_path))
    path = tmp_path / "mnist.pkl.gz"
    path.write_bytes(gzip.compress(pickle.dumps(parts, protocol=2).replace(b"numpy._core", b"numpy.core"), 1))
    one = libsvm.mnist38({path.name: path})
    assert all(np.array_equal(one[key], two[key]) for key in two)
    path.write_bytes(gzip.compress(pickle.dumps((print, 1))))
    with pytest.raises(ValueError, match=r"asks for builtins\.print, which is not part of an array"):
        libsvm.mnist38({path.name: path})


BLOB = np.zeros((1, 28, 28))
BLOB[0, 10:18, 10:18] = 200.0


def test_a_move_is_one_of_nine_and_each_is_as_likely():
    """900 moves of a blob, by -1, 0 or 1 pixel: about 100 of each."""
    images = np.repeat(BLOB, 900, axis=0)
    moves = libsvm.moved(images, np.random.default_rng(0))
    corners = np.array([np.argwhere(image > 0)[0] for image in moves]) - 10
    assert (moves.sum(axis=(1, 2)) == BLOB.sum()).all()  # nothing is lost inside the frame
    _, counts = np.unique(corners, axis=0, return_counts=True)
    assert len(counts) == 9
    assert counts.min() > 70
    full = np.full((200, 28, 28), 255.0)  # what leaves the frame is lost, and what enters is black
    sums = {int(image.sum()) // 255 for image in libsvm.moved(full, np.random.default_rng(0))}
    assert sums == {784, 27 * 28, 27 * 27}


def test_a_constant_field_moves_a_ramp_by_its_size_and_values_stay_bytes():
    """x = 5 column + 3 row is moved exactly by first differences: x(c + 0.5, r - 0.2)."""
    row, column = np.indices((28, 28)).astype(float)
    image = (5 * column + 3 * row)[None]
    one = np.ones_like(image)
    expected = np.floor(np.clip(image + 5 * 0.5 - 3 * 0.2, 0, 255))
    assert np.array_equal(libsvm.displaced(image, 0.5 * one, -0.2 * one), expected)
    values = libsvm.displaced(BLOB, 50 * one, -50 * one)
    assert (values.min(), values.max()) == (0, 255)
    assert (values == np.rint(values)).all()


def test_fields_are_smooth_and_of_the_published_size():
    """A uniform value has variance 1/3; a Gaussian of s pixels keeps 1/(4 pi s^2) of it inside."""
    fields = libsvm.fields(np.random.default_rng(0), libsvm.SIZE)
    middle = fields[:, 12:16, 12:16]
    expected = libsvm.SIZE * np.sqrt(1 / 3 / (4 * np.pi * 16))
    assert np.sqrt((middle**2).mean()) == pytest.approx(expected, rel=0.02)
    neighbours = np.corrcoef(fields[:, 14, 14], fields[:, 14, 15])[0, 1]
    assert neighbours == pytest.approx(np.exp(-1 / (4 * 16)), abs=0.01)


def test_an_affine_map_moves_no_pixel_by_more_than_its_six_parameters():
    """A flat image stays flat inside: no map looks further out than 1 (shift) and 2 (matrix) pixels."""
    flat = np.full((50, 28, 28), 100.0)
    seen = libsvm.mapped(flat, np.random.default_rng(0))
    assert (seen[:, 3:-3, 3:-3] == 100).all()
    many = libsvm.mapped(np.repeat(BLOB, 20, axis=0), np.random.default_rng(1))
    assert len({image.tobytes() for image in many}) == 20


@pytest.mark.parametrize("load", [libsvm.shifted, libsvm.deformed, libsvm.half_deformed, libsvm.affine])
def test_a_set_is_four_seeded_copies_with_the_labels_of_their_digits(load, monkeypatch):
    y = np.repeat(np.array([-1, 1], np.int8), [20, 30])
    X = np.where(y > 0, 0.0, 128 / 255).astype(np.float32)[:, None] * np.ones((1, 784), np.float32)
    monkeypatch.setattr(libsvm, "mnist38", lambda files: {"X": X, "y": y})
    monkeypatch.setattr(libsvm, "POOL", 10)
    monkeypatch.setattr(libsvm, "COPIES", 2)
    first, again = load({"a": Path("a")}), load({"a": Path("a")})
    assert np.array_equal(first["X"], again["X"])
    assert np.array_equal(first["y"], np.tile(y, 2))
    assert first["X"].dtype == np.float32
    assert (first["X"][first["y"] > 0] == 0).all()
    assert (first["X"][first["y"] < 0] > 0).any(axis=1).all()
