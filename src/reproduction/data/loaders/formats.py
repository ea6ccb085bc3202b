"""Readers of file formats, and the form in which loaders hand over what they read.

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
"""(rows, columns) fields of a table, as text."""
PIECES = ("data", "indices", "indptr", "shape")
HEADER_LINES = {".tab": 3, ".tsv": 1}
"""Of Orange's tables, and of tables with names; their fields are separated by tabs."""
SIGNS = {-1.0: -1, 1.0: 1}


def only(files: Files) -> Path:
    """The one path of a source; ValueError lists the names if there are none or several."""
    if len(files) != 1:
        raise ValueError(f"expected one file, got {', '.join(sorted(files)) or 'none'}")
    return next(iter(files.values()))


def fact(name: str) -> bytes:
    """Bytes of a small file that comes with the project, such as the row mask of a7a."""
    return (resources(__package__) / "facts" / name).read_bytes()


def pack(X: Matrix, y: NDArray[Any], part: str = "") -> Arrays:
    """Named arrays of (X, y), y as int8; ``part`` is "" or, for an official test set, "test"."""
    if isinstance(X, np.ndarray):
        arrays: Arrays = {"X": np.ascontiguousarray(X)}
    else:
        values = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), np.array(X.shape, np.int64))
        arrays = dict(zip(PIECES, values, strict=True))
    suffix = f"_{part}" if part else ""
    return {f"{name}{suffix}": array for name, array in (arrays | {"y": y.astype(np.int8)}).items()}


def unpack(arrays: Mapping[str, NDArray[Any]], part: str = "") -> tuple[Matrix, NDArray[np.int8]]:
    """(X, y) of one part of a prepared data set, X dense or CSR, as it was packed.

    Raises KeyError : the data set has no such part.
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
    """Fields of every line, split at tabs in ``.tab`` and ``.tsv`` files, else at commas or blanks.

    Lines with "@" belong to the header of a KEEL file. ValueError: a line with another number of fields.
    """
    header = HEADER_LINES.get(path.suffix, 0)
    lines = path.read_text(encoding="utf-8").split("\n")[header:]
    rows = [
        line.split("\t" if header else "," if "," in line else None)
        for line in lines
        if line.strip() and not line.startswith("@")
    ]
    if bad := [row for row in rows if len(row) != columns]:
        raise ValueError(f"{path.name}: {len(bad[0])} fields in {bad[0][:9]}, expected {columns}")
    return np.char.strip(np.array(rows)) if header != 1 else np.array(rows)


def numbers(fields: Fields) -> NDArray[np.float64]:
    """The fields as numbers. ValueError: a field that is none."""
    return np.array(fields.tolist(), np.float64)


def codes(fields: NDArray[Any], coding: Mapping[Any, int]) -> NDArray[np.int8]:
    """The codes of fields or numbers, such as class names to -1 and +1. ValueError: one without a code."""
    values, place = np.unique(fields, return_inverse=True)
    if unknown := [str(value) for value in values if value not in coding]:
        raise ValueError(f"value {unknown[0]!r} is not one of {', '.join(map(str, coding))}")
    return np.array([coding[value] for value in values], np.int8)[place]


def svmlight(
    source: Path | IO[bytes],
    features: int,
    classes: Mapping[float, int] = SIGNS,
    dtype: DTypeLike = np.float64,
) -> tuple["csr_matrix[Any]", NDArray[np.int8]]:
    """(n, features) sparse matrix and (n,) int8 labels, by ``classes``, of ``label index:value ...``.

    ValueError : an index outside 1..features, or a label without a class.
    """
    from sklearn.datasets import load_svmlight_file

    file = str(source) if isinstance(source, Path) else source
    X, labels = load_svmlight_file(file, n_features=features, dtype=dtype, zero_based=False)
    if X.nnz and (X.indices.min() < 0 or X.indices.max() >= features):
        raise ValueError(f"a feature index is outside 1..{features}")
    return X, codes(labels, classes)


def numeric_csv(path: Path) -> NDArray[np.float32]:
    """(rows, columns) values of a CSV file without a header. ValueError: a field is not a number."""
    import pandas as pd

    return pd.read_csv(path, header=None, dtype=np.float32).to_numpy()


def mat(path: Path) -> dict[str, Any]:
    """Variables of a MATLAB file up to version 7, without MATLAB's own entries."""
    from scipy.io import loadmat

    return {name: value for name, value in loadmat(path).items() if not name.startswith("__")}


def matrix(variables: Mapping[str, Any], name: str, where: str) -> NDArray[Any]:
    """Two-dimensional numeric variable ``name``, dense; ValueError : none, and what there is."""
    value: Any = variables.get(name)
    value = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if value.ndim != 2 or value.dtype.kind not in "biuf":
        shapes = {name: "x".join(map(str, np.shape(value))) for name, value in sorted(variables.items())}
        found = ", ".join(f"{name} ({shape})" for name, shape in shapes.items()) or "nothing"
        raise ValueError(f"{where}: no numeric matrix {name!r}, found {found}")
    return value
