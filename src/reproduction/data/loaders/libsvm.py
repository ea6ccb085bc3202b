"""Data sets of the LIBSVM page, and MNIST's digits 3 and 8.

Sparse sets stay sparse. Where an official test set exists it is kept apart (``X_test`` or its CSR
pieces, ``y_test``).
"""

import gzip
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from reproduction.data.loaders.formats import (
    Arrays,
    Files,
    codes,
    fact,
    numbers,
    numeric_csv,
    only,
    pack,
    svmlight,
    table,
)

Digits = tuple[NDArray[np.uint8], NDArray[Any]]

ARRAY = ("numpy.core.multiarray _reconstruct", "numpy ndarray", "numpy dtype", "_codecs encode")
"""Names that a pickled array needs; all others are refused."""


def a7a(files: Files) -> Arrays:
    """Load a7a with 16100 training rows of 123 binary features, or rebuild it from Adult."""
    if "adult.tab" in files:
        train, test = halves_of_adult(only(files))
    else:
        train, test = (svmlight(files[name], 123) for name in ("a7a", "a7a.t"))
    return pack(*train) | pack(*test, "test")


def ijcnn1(files: Files) -> Arrays:
    """Load ijcnn1, dense, 22 columns: 49990 training and 91701 test rows."""
    (X, y), (X_test, y_test) = (svmlight(files[name], 22) for name in ("ijcnn1", "ijcnn1.t"))
    return pack(X.toarray(), y) | pack(X_test.toarray(), y_test, "test")


def real_sim(files: Files) -> Arrays:
    """Load real-sim, 72309 x 20958, CSR."""
    return pack(*svmlight(only(files), 20958))


def covtype(files: Files) -> Arrays:
    """Load forest cover, 581012 x 54: lodgepole pine (class 2, +1) and all others."""
    values = numeric_csv(only(files))
    is_lodgepole_pine = values[:, 54] == 2
    return pack(values[:, :54], np.where(is_lodgepole_pine, 1, -1))


def susy(files: Files, test: int = 500_000) -> Arrays:
    """Load SUSY, 18 float32 columns: 4,500,000 training rows and 500,000 test rows; +1 = signal."""
    values = numeric_csv(only(files))
    y = codes(values[:, 0], {0: -1, 1: 1})
    X = values[:, 1:]
    training = pack(X[:-test], y[:-test])
    return training | pack(X[-test:], y[-test:], "test")


def halves_of_adult(path: Path) -> list[tuple["csr_matrix[Any]", NDArray[np.int8]]]:
    """Rebuild LIBSVM's a7a and a7a.t from Orange's ``adult.tab``, one line per person.

    The 14 attributes are indices of 123 binary features: ``facts/adult.json`` has the first index
    of a column and its cuts (quintiles) or levels; "?" has none. Row i is in a7a by bit i & 7 of
    byte i >> 3 of ``facts/a7a_rows.bin``.
    """
    rows = table(path, 15)
    facts = json.loads(fact("adult.json"))
    index = np.empty((len(rows), 14), np.int32)
    for column, entry in facts["cuts"].items():
        j = int(column)
        quintile = np.searchsorted(entry["cuts"], numbers(rows[:, j]))
        index[:, j] = entry["first"] + quintile
    for column, entry in facts["levels"].items():
        j = int(column)
        coding = {"?": 0}
        for code, level in enumerate(entry["levels"], entry["first"]):
            coding[level] = code
        index[:, j] = codes(rows[:, j], coding)
    is_present = index > 0
    counts = is_present.sum(axis=1)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    ones = np.ones(indptr[-1])
    X = csr_matrix((ones, index[is_present] - 1, indptr), shape=(len(rows), 123))
    y = codes(rows[:, 14], {"<=50K": -1, ">50K": 1})
    packed = np.frombuffer(fact("a7a_rows.bin"), np.uint8)
    bits = np.unpackbits(packed, bitorder="little")
    half = bits[: len(rows)] == 1
    return [(X[half], y[half]), (X[~half], y[~half])]


def mnist38(files: Files) -> Arrays:
    """Load digits 3 (+1) and 8 (-1), 784 float32 pixels: 11982 training and 1984 test images."""
    if "mnist.pkl.gz" in files:
        train, test = _from_pickle(files["mnist.pkl.gz"])
    else:
        train, test = (
            (_idx(files[f"{part}-images-idx3-ubyte"]), _idx(files[f"{part}-labels-idx1-ubyte"]))
            for part in ("train", "t10k")
        )
    return _pair(*train) | _pair(*test, "test")


def _pair(pixels: NDArray[np.uint8], digits: NDArray[Any], part: str = "") -> Arrays:
    chosen = np.isin(digits, [3, 8])
    images = pixels[chosen]
    X = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
    return pack(X, np.where(digits[chosen] == 3, 1, -1), part)


def _idx(path: Path) -> NDArray[np.uint8]:
    """Read an IDX file: two zeros, type, number of axes, sizes, values."""
    raw = path.read_bytes()
    start = 4 + 4 * raw[3]
    shape = tuple(int(size) for size in np.frombuffer(raw[4:start], ">u4"))
    if raw[:3] != b"\0\0\x08" or math.prod(shape) != len(raw) - start:
        sizes = "x".join(map(str, shape))
        raise ValueError(f"{path.name}: not an IDX file of {sizes} unsigned bytes")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module} {name}" not in ARRAY:
            rule = "which is not part of an array; refused"
            raise ValueError(f"the pickle needs {module}.{name}, {rule}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def _from_pickle(path: Path) -> tuple[Digits, Digits]:
    """Read training (with validation) and test images of ``mnist.pkl.gz``.

    Its pixels are multiples of 1/256.
    """
    with gzip.open(path) as stream:
        (x1, y1), (x2, y2), (x3, y3) = _ArraysOnly(stream, encoding="latin1").load()
    training = (_to_bytes(np.concatenate([x1, x2])), np.concatenate([y1, y2]))
    return training, (_to_bytes(np.asarray(x3)), np.asarray(y3))


def _to_bytes(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    return (pixels * 256).astype(np.uint8)
