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
    lines = ["a", "b", "c"]
    lines += ["\t".join(person.split()) for person in PEOPLE]
    path.write_text("\n".join(lines) + "\n")
    first_and_third = bytes([0b101])

    def made_fact(name):
        return first_and_third if name == "a7a_rows.bin" else fact(name)

    monkeypatch.setattr(libsvm, "fact", made_fact)
    (X, y), (X_test, y_test) = libsvm.halves_of_adult(path)
    rows = [*X.toarray(), *X_test.toarray()]
    indices = [(np.flatnonzero(row) + 1).tolist() for row in rows]
    assert indices == [INDICES[0], INDICES[2], INDICES[1]]
    assert y.tolist() == [-1, 1]
    assert y_test.tolist() == [1]


def _labels(n):
    """Make labels -1 and 1 in turn."""
    return np.resize([-1, 1], n)


def _svmlight(X):
    from sklearn.datasets import dump_svmlight_file

    stream = io.BytesIO()
    dump_svmlight_file(X, _labels(len(X)), stream, zero_based=False)
    return stream.getvalue()


@pytest.mark.parametrize(("loader", "columns"), [("a7a", 123), ("ijcnn1", 22)])
def test_official_files_have_a_test_part(loader, columns, tmp_path):
    rng = np.random.default_rng(0)
    parts = {"": rng.standard_normal((9, columns)), "test": rng.standard_normal((6, columns))}
    files = {loader: tmp_path / loader, f"{loader}.t": tmp_path / f"{loader}.t"}
    for path, X in zip(files.values(), parts.values(), strict=True):
        path.write_bytes(_svmlight(X))
    load = getattr(libsvm, loader)
    arrays = load(files)
    for part, X in parts.items():
        unpacked, y = unpack(arrays, part)
        assert isinstance(unpacked, csr_matrix) == (loader == "a7a")
        if isinstance(unpacked, csr_matrix):
            unpacked = unpacked.toarray()
        np.testing.assert_allclose(unpacked, X)
        assert np.array_equal(y, _labels(len(X)))


def test_real_sim_is_read_packed(tmp_path):
    content = _svmlight(np.eye(4, 22))
    path = tmp_path / "real-sim.bz2"
    path.write_bytes(bz2.compress(content))
    X, y = unpack(libsvm.real_sim({"real-sim.bz2": path}))
    assert X.shape == (4, 20958)
    assert np.array_equal(X.toarray()[:, :22], np.eye(4, 22))
    assert y.tolist() == [-1, 1, -1, 1]


def csv(path, values):
    lines = []
    for row in values.tolist():
        lines.append(",".join(f"{value:.18e}" for value in row))
    content = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(content))
    return {path.name: path}


def test_the_last_rows_of_susy_are_its_test_set(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 18)).astype(np.float32)
    label = rng.integers(0, 2, 50)
    path = tmp_path / "SUSY.csv.gz"
    files = csv(path, np.column_stack([label, X]))
    arrays = libsvm.susy(files, test=10)
    X_read = np.vstack([arrays["X"], arrays["X_test"]])
    assert np.array_equal(X_read, X)
    y_read = np.concatenate([arrays["y"], arrays["y_test"]])
    assert np.array_equal(y_read, 2 * label - 1)
    assert len(arrays["y_test"]) == 10
    assert arrays["X"].dtype == np.float32
    files = csv(path, np.column_stack([label + 1, X]))
    with pytest.raises(ValueError, match="is not one of 0, 1"):
        libsvm.susy(files, test=10)


def test_lodgepole_pine_stands_against_the_rest_of_covtype(tmp_path):
    X = np.arange(7 * 54.0).reshape(7, 54)
    classes = np.arange(1, 8)
    values = np.column_stack([X, classes])
    arrays = libsvm.covtype(csv(tmp_path / "covtype.data.gz", values))
    assert np.array_equal(arrays["X"], X)
    assert arrays["y"].tolist() == [-1, 1, -1, -1, -1, -1, -1]


# digits

COUNTS = {"train": (58, 61, 18), "t10k": (9, 10, 16)}  # eights, threes, others


def images(part):
    rng = np.random.default_rng(len(part))
    sorted_digits = np.repeat(np.array([8, 3, 5], np.uint8), COUNTS[part])
    digits = rng.permutation(sorted_digits)
    pixels = rng.integers(0, 256, (len(digits), 28, 28), dtype=np.uint8)
    return pixels, digits


def write_array(path, array):
    """Write bytes as an IDX file: two zeros, 8 for bytes, the number of axes, the sizes."""
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    header = bytes([0, 0, 8, array.ndim]) + sizes
    path.write_bytes(header + array.tobytes())


def idx_files(folder):
    for part in COUNTS:
        pixels, digits = images(part)
        write_array(folder / f"{part}-images-idx3-ubyte", pixels)
        write_array(folder / f"{part}-labels-idx1-ubyte", digits)
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
    training = (x[:90], y[:90])
    validation = (x[90:], y[90:])
    test = flat_images("t10k")
    from_idx = libsvm.mnist38(idx_files(tmp_path))
    path = tmp_path / "mnist.pkl.gz"
    pickled = pickle.dumps((training, validation, test), protocol=2)
    pickled = pickled.replace(b"numpy._core", b"numpy.core")
    path.write_bytes(gzip.compress(pickled, 1))
    from_pickle = libsvm.mnist38({path.name: path})
    for name, array in from_idx.items():
        assert np.array_equal(from_pickle[name], array)
    path.write_bytes(gzip.compress(pickle.dumps((print, 1))))
    with pytest.raises(ValueError, match=r"needs builtins\.print, which is not part of an array"):
        libsvm.mnist38({path.name: path})
