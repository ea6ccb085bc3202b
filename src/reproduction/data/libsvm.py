"""Sets of the LIBSVM page that the robust-loss paper uses: one loader per set.

Sparse sets stay sparse. Where an official test set exists it is kept apart
(``X_test`` or its CSR pieces, ``y_test``).
"""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data import adult as census
from reproduction.data.checks import supervised
from reproduction.data.files import Files, named, only
from reproduction.data.matrices import pack
from reproduction.data.readers import numeric_csv, svmlight

Arrays = dict[str, NDArray[Any]]

_SIGNS = {-1.0: -1, 1.0: 1}
_UNKNOWN = {-1: None, 1: None}


def a7a(files: Files) -> Arrays:
    """a7a (16100) and a7a.t (16461 rows), 123 binary features, CSR; also rebuilt from Adult."""
    if any(name.startswith("adult") for name in files):
        lines = census.halves(census.encode(only(files)))
        contents = {
            name: census.checked(part, name) for name, part in zip(("a7a", "a7a.t"), lines, strict=True)
        }
        train, test = (_parse(content, name) for name, content in contents.items())
    else:
        train, test = (
            svmlight.read(named(files, name), census.FEATURES, _SIGNS) for name in ("a7a", "a7a.t")
        )
    return pack(*supervised("a7a", *train, census.FEATURES, {-1: 12182, 1: 3918})) | pack(
        *supervised("a7a.t", *test, census.FEATURES, {-1: 12538, 1: 3923}), "test"
    )


def adult(files: Files) -> Arrays:
    """UCI Adult in LIBSVM's 123 binary features (a9a and a9a.t), CSR: 32561 training and 16281 test rows."""
    train, test = (
        _parse(census.checked(census.encode(named(files, source)), name), name)
        for source, name in (("adult.data", "a9a"), ("adult.test", "a9a.t"))
    )
    return pack(*supervised("adult", *train, census.FEATURES, {-1: 24720, 1: 7841})) | pack(
        *supervised("adult", *test, census.FEATURES, {-1: 12435, 1: 3846}), "test"
    )


def _parse(content: bytes, name: str) -> svmlight.Labelled:
    return svmlight.parse(io.BytesIO(content), name, census.FEATURES, _SIGNS)


def ijcnn1(files: Files) -> Arrays:
    """ijcnn1, dense, 22 columns: 49990 training and 91701 test rows."""
    X, y = svmlight.read(named(files, "ijcnn1"), 22, _SIGNS)
    X_test, y_test = svmlight.read(named(files, "ijcnn1.t"), 22, _SIGNS)
    return pack(*supervised("ijcnn1", X.toarray(), y, 22, _UNKNOWN, 49990)) | pack(
        *supervised("ijcnn1.t", X_test.toarray(), y_test, 22, _UNKNOWN, 91701), "test"
    )


def real_sim(files: Files) -> Arrays:
    """real-sim, 72309 x 20958, CSR."""
    X, y = svmlight.read(named(files, "real-sim"), 20958, _SIGNS)
    return pack(*supervised("real-sim", X, y, 20958, _UNKNOWN, 72309))


def covtype(files: Files) -> Arrays:
    """Forest cover, lodgepole pine (class 2, +1) against the rest, 581012 x 54, float32.

    From LIBSVM's binary file, raw or scaled (labels 1 and 2), or from UCI's table of seven classes.
    """
    path = only(files)
    if "libsvm" in path.name:
        sparse, y = svmlight.read(path, 54, {1.0: -1, 2.0: 1}, np.float32)
        X = sparse.toarray()
    else:
        values = numeric_csv.read(path, 581012, 55)
        X, y = values[:, :54], np.where(values[:, 54] == 2, 1, -1).astype(np.int8)
    return pack(*supervised("covtype", X, y, 54, {-1: 297711, 1: 283301}))


def covtype_sample(files: Files) -> Arrays:
    """Forest cover, two classes, 976 + 1024 rows that come with liquidSVM; 54 columns in [0, 1]."""
    train, test = (
        numeric_csv.read(named(files, f"covtype.1000.{part}.csv"), rows, 55, np.float64)
        for part, rows in (("train", 976), ("test", 1024))
    )
    return pack(*supervised("covtype-sample", train[:, 1:], train[:, 0], 54, {-1: 490, 1: 486})) | pack(
        *supervised("covtype-sample", test[:, 1:], test[:, 0], 54, {-1: 516, 1: 508}), "test"
    )


def susy(files: Files, rows: int = 5_000_000, test: int = 500_000) -> Arrays:
    """SUSY, 18 float32 columns: 4,500,000 training rows and the last 500,000 as test set; +1 = signal.

    UCI's table (label first) is parsed once, in blocks, into one array of 380 MB.
    """
    values = numeric_csv.read(only(files), rows, 19)
    if not np.isin(values[:, 0], [0, 1]).all():
        raise ValueError("SUSY: a label is neither 0 nor 1; delete the file and fetch it again")
    y = np.where(values[:, 0] == 1, 1, -1).astype(np.int8)
    train = rows - test
    return pack(*supervised("susy", values[:train, 1:], y[:train], 18, _UNKNOWN, train)) | pack(
        *supervised("susy", values[train:, 1:], y[train:], 18, _UNKNOWN, test), "test"
    )
