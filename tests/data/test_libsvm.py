"""LIBSVM sets and MNIST: official files and their rebuilt equals give the same arrays."""

import bz2
import gzip
import io
import pickle
import struct

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from reproduction.data.loaders import libsvm
from reproduction.data.loaders.formats import fact, unpack

PEOPLE = [
    "39.000 State-gov 77516 Bachelors 13 Never-married Adm-clerical Not-in-family White Male "
    "2174 0 40 "
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
    """Numbers are cut after the quintile, unknown values have no index; a bit names the half."""
    path = tmp_path / "adult.tab"
    mask = bytes([0b101])
    path.write_text("a\nb\nc\n" + "".join("\t".join(person.split()) + "\n" for person in PEOPLE))
    monkeypatch.setattr(libsvm, "fact", lambda name: mask if name == "a7a_rows.bin" else fact(name))
    (X, y), (X_test, y_test) = libsvm.halves_of_adult(path)
    rows = [*X.toarray(), *X_test.toarray()]
    indices = [(np.flatnonzero(row) + 1).tolist() for row in rows]
    assert indices == [INDICES[0], INDICES[2], INDICES[1]]
    assert y.tolist() == [-1, 1]
    assert y_test.tolist() == [1]


def _svmlight(X, y):
    from sklearn.datasets import dump_svmlight_file

    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=False)
    return stream.getvalue()


@pytest.mark.parametrize(("loader", "columns"), [("a7a", 123), ("ijcnn1", 22)])
def test_official_files_have_a_test_part(loader, columns, tmp_path):
    rng = np.random.default_rng(0)
    parts = {"": rng.standard_normal((9, columns)), "test": rng.standard_normal((6, columns))}
    for part, X in parts.items():
        labels = np.arange(len(X)) % 2 * 2 - 1
        name = f"{loader}.t" if part else loader
        (tmp_path / name).write_bytes(_svmlight(X, labels))
    arrays = getattr(libsvm, loader)({path.name: path for path in tmp_path.iterdir()})
    for part, X in parts.items():
        unpacked, y = unpack(arrays, part)
        assert isinstance(unpacked, csr_matrix) == (loader == "a7a")
        if isinstance(unpacked, csr_matrix):
            unpacked = unpacked.toarray()
        np.testing.assert_allclose(unpacked, X)
        assert np.array_equal(y, np.arange(len(X)) % 2 * 2 - 1)


def test_real_sim_is_read_packed(tmp_path):
    content = _svmlight(np.eye(4, 22), np.array([-1, 1, -1, 1]))
    path = tmp_path / "real-sim.bz2"
    path.write_bytes(bz2.compress(content))
    X, y = unpack(libsvm.real_sim({"real-sim.bz2": path}))
    assert X.shape == (4, 20958)
    assert np.array_equal(X.toarray()[:, :22], np.eye(4, 22))
    assert y.tolist() == [-1, 1, -1, 1]


def csv(path, values):
    rows = []
    for row in values.tolist():
        rows.append(",".join(f"{value:.18e}" for value in row))
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    return {path.name: path}


def test_the_last_rows_of_susy_are_its_test_set(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 18)).astype(np.float32)
    label = rng.integers(0, 2, 50)
    path = tmp_path / "SUSY.csv.gz"
    arrays = libsvm.susy(csv(path, np.column_stack([label, X])), test=10)
    assert np.array_equal(np.vstack([arrays["X"], arrays["X_test"]]), X)
    assert np.array_equal(np.r_[arrays["y"], arrays["y_test"]], 2 * label - 1)
    assert len(arrays["y_test"]) == 10
    assert arrays["X"].dtype == np.float32
    files = csv(path, np.column_stack([label + 1, X]))
    with pytest.raises(ValueError, match="is not one of 0, 1"):
        libsvm.susy(files, test=10)


def test_lodgepole_pine_stands_against_the_rest_of_covtype(tmp_path):
    values = np.column_stack([np.arange(7 * 54.0).reshape(7, 54), np.arange(1, 8)])
    arrays = libsvm.covtype(csv(tmp_path / "covtype.data.gz", values))
    assert np.array_equal(arrays["X"], values[:, :54])
    assert arrays["y"].tolist() == [-1, 1, -1, -1, -1, -1, -1]


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
            sizes = struct.pack(f">{array.ndim}I", *array.shape)
            header = bytes([0, 0, 8, array.ndim]) + sizes
            (folder / f"{part}-{name}-ubyte").write_bytes(header + array.tobytes())
    return {path.name: path for path in folder.iterdir()}


def test_threes_and_eights_are_chosen_and_scaled(tmp_path):
    arrays = libsvm.mnist38(idx_files(tmp_path))
    for part, suffix in (("train", ""), ("t10k", "_test")):
        pixels, digits = images(part)
        chosen = digits != 5
        chosen_pixels = np.rint(arrays[f"X{suffix}"] * 255)
        assert np.array_equal(chosen_pixels, pixels[chosen].reshape(-1, 784))
        labels = np.where(digits[chosen] == 3, 1, -1)
        assert np.array_equal(arrays[f"y{suffix}"], labels)
    assert arrays["X"].dtype == np.float32
    assert arrays["X"].max() == 1


def flat_images(part):
    """Make the images as rows of numbers from 0 to 1, as the pickle has them."""
    pixels, digits = images(part)
    scaled = pixels.reshape(-1, 784) / np.float32(256)
    return scaled.astype(np.float32), digits


def test_the_pickle_gives_the_same_and_holds_nothing_but_arrays(tmp_path):
    x, y = flat_images("train")
    x_test, y_test = flat_images("t10k")
    parts = ((x[:90], y[:90]), (x[90:], y[90:]), (x_test, y_test))
    of_idx = libsvm.mnist38(idx_files(tmp_path))
    path = tmp_path / "mnist.pkl.gz"
    pickled = pickle.dumps(parts, protocol=2).replace(b"numpy._core", b"numpy.core")
    path.write_bytes(gzip.compress(pickled, 1))
    of_pickle = libsvm.mnist38({path.name: path})
    assert all(np.array_equal(of_pickle[key], of_idx[key]) for key in of_idx)
    path.write_bytes(gzip.compress(pickle.dumps((print, 1))))
    with pytest.raises(ValueError, match=r"needs builtins\.print, which is not part of an array"):
        libsvm.mnist38({path.name: path})
