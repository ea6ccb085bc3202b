"""Readers of file formats, and the form in which loaders return what they read.

A loader is called with {name in the registry: path} and returns arrays:

=========  ===========  ============================================  ========
part       dense        sparse (CSR)                                  labels
=========  ===========  ============================================  ========
training   ``X``        ``data, indices, indptr, shape``              ``y``
test       ``X_test``   ``data_test, indices_test, ...``              ``y_test``
=========  ===========  ============================================  ========

Loaders read; `reproduction.data.prepare` compares what they read with the registry.
"""

from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

Arrays = dict[str, NDArray[Any]]
Files = Mapping[str, Path]
Matrix = NDArray[np.floating[Any]] | csr_matrix[Any]
Fields = NDArray[np.str_]
"""The fields (rows, columns) of a table, as texts."""
PIECES = ("data", "indices", "indptr", "shape")
HEADER_LINES = {".tab": 3, ".tsv": 1}
"""Number of header lines in Orange's tables and in tables with names, separated by tabs."""
SIGNS = {-1.0: -1, 1.0: 1}


def only(files: Files) -> Path:
    """Return the one path of a source, or refuse none or several."""
    if len(files) != 1:
        raise ValueError(f"expected one file, got {', '.join(sorted(files)) or 'none'}")
    return next(iter(files.values()))


def fact(name: str) -> bytes:
    """Read a small file that is part of the project, such as the row mask of a7a."""
    return (resources(__package__) / "facts" / name).read_bytes()


def pack(X: Matrix, y: NDArray[Any], part: str = "") -> Arrays:
    """Name the arrays of (X, y), y as int8; ``part`` is "" or, of an official test set, "test"."""
    if isinstance(X, np.ndarray):
        arrays: Arrays = {"X": np.ascontiguousarray(X)}
    else:
        indices = X.indices.astype(np.int32)
        indptr = X.indptr.astype(np.int64)
        values = (X.data, indices, indptr, np.array(X.shape, np.int64))
        arrays = dict(zip(PIECES, values, strict=True))
    suffix = f"_{part}" if part else ""
    arrays["y"] = y.astype(np.int8)
    return {f"{name}{suffix}": array for name, array in arrays.items()}


def unpack(arrays: Mapping[str, NDArray[Any]], part: str = "") -> tuple[Matrix, NDArray[np.int8]]:
    """Take (X, y) of one part of a prepared data set, X dense or CSR, as it was packed.

    Raises
    ------
    KeyError
        If the data set has no such part.
    """
    suffix = f"_{part}" if part else ""
    if f"X{suffix}" in arrays:
        return arrays[f"X{suffix}"], arrays[f"y{suffix}"]
    if f"data{suffix}" not in arrays:
        raise KeyError(f"no {part or 'training'} part among the arrays {', '.join(sorted(arrays))}")
    data, indices, indptr, shape = (arrays[f"{name}{suffix}"] for name in PIECES)
    rows, columns = (int(n) for n in shape)
    return csr_matrix((data, indices, indptr), shape=(rows, columns)), arrays[f"y{suffix}"]


def table(path: Path, columns: int) -> Fields:
    """Read the fields of every line, split at tabs in ``.tab`` and ``.tsv`` files.

    Others are split at commas or blanks. Lines with "@" belong to the header of a KEEL file.

    Raises
    ------
    ValueError
        If a line has another number of fields.
    """
    header = HEADER_LINES.get(path.suffix, 0)
    lines = path.read_text(encoding="utf-8").split("\n")[header:]
    rows = []
    for line in lines:
        if not line.strip() or line.startswith("@"):
            continue
        separator = None  # str.split then splits at blanks
        if header:
            separator = "\t"
        elif "," in line:
            separator = ","
        row = line.split(separator)
        if len(row) != columns:
            raise ValueError(f"{path.name}: {len(row)} fields in {row[:9]}, expected {columns}")
        rows.append(row)
    return np.char.strip(np.array(rows)) if header != 1 else np.array(rows)


def numbers(fields: Fields) -> NDArray[np.float64]:
    """Read fields as numbers, and refuse a field that is not one."""
    return np.array(fields.tolist(), np.float64)


def codes(fields: NDArray[Any], coding: Mapping[Any, int]) -> NDArray[np.int8]:
    """Replace fields or numbers by codes, such as names of classes by -1 and +1.

    Raises
    ------
    ValueError
        If a field has no code.
    """
    values, inverse = np.unique(fields, return_inverse=True)
    unknown = [str(value) for value in values if value not in coding]
    if unknown:
        raise ValueError(f"value {unknown[0]!r} is not one of {', '.join(map(str, coding))}")
    return np.array([coding[value] for value in values], np.int8)[inverse]


def svmlight(
    source: Path | IO[bytes],
    features: int,
    classes: Mapping[float, int] = SIGNS,
    dtype: DTypeLike = np.float64,
) -> tuple["csr_matrix[Any]", NDArray[np.int8]]:
    """Read lines ``label index:value ...``.

    Parameters
    ----------
    source : Path or file
        The lines.
    features : int
        Number of columns.
    classes : mapping
        Label in the file -> label.
    dtype : dtype
        Type of the values.

    Returns
    -------
    X : csr_matrix of shape (n, features)
    y : ndarray of shape (n,)
        Labels, int8.

    Raises
    ------
    ValueError
        If an index is outside 1..features, or a label has no class.
    """
    from sklearn.datasets import load_svmlight_file

    file = str(source) if isinstance(source, Path) else source
    X, labels = load_svmlight_file(file, n_features=features, dtype=dtype, zero_based=False)
    if X.nnz and (X.indices.min() < 0 or X.indices.max() >= features):
        raise ValueError(f"a feature index is outside 1..{features}")
    return X, codes(labels, classes)


def numeric_csv(path: Path) -> NDArray[np.float32]:
    """Read a CSV file of numbers without a header; ValueError if a field is not a number."""
    import pandas as pd

    return pd.read_csv(path, header=None, dtype=np.float32).to_numpy()


def mat(path: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB file up to version 7, without MATLAB's own entries."""
    from scipy.io import loadmat

    return {name: value for name, value in loadmat(path).items() if not name.startswith("__")}


def matrix(variables: Mapping[str, Any], name: str, location: str) -> NDArray[Any]:
    """Take the two-dimensional numeric variable ``name``, dense."""
    value: Any = variables.get(name)
    value = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if value.ndim != 2 or value.dtype.kind not in "biuf":
        listed = []
        for key, content in sorted(variables.items()):
            shape = "x".join(map(str, np.shape(content)))
            listed.append(f"{key} ({shape})")
        available = ", ".join(listed) or "nothing"
        raise ValueError(f"{location}: no numeric matrix {name!r}, found {available}")
    return value
