"""The design matrix among the arrays of a prepared data set: dense as ``X``, sparse as its CSR pieces.

=========  ===========  ============================================  ========
part       dense        sparse (CSR)                                  labels
=========  ===========  ============================================  ========
training   ``X``        ``data, indices, indptr, shape``              ``y``
test       ``X_test``   ``data_test, indices_test, ...``              ``y_test``
=========  ===========  ============================================  ========
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from reproduction.data.checks import Matrix

_PIECES = ("data", "indices", "indptr", "shape")


def pack(X: Matrix, y: NDArray[np.int8], part: str = "") -> dict[str, NDArray[Any]]:
    """Named arrays of (X, y); ``part`` is "" or, for an official test set, "test"."""
    suffix = f"_{part}" if part else ""
    if isinstance(X, np.ndarray):
        arrays = {"X": np.ascontiguousarray(X)}
    else:
        arrays = {
            "data": X.data,
            "indices": X.indices.astype(np.int32),
            "indptr": X.indptr.astype(np.int64),
            "shape": np.array(X.shape, np.int64),
        }
    return {f"{name}{suffix}": array for name, array in (arrays | {"y": y}).items()}


def unpack(arrays: Mapping[str, NDArray[Any]], part: str = "") -> tuple[Matrix, NDArray[np.int8]]:
    """(X, y) of one part of a prepared data set, X dense or CSR, as it was packed.

    Raises
    ------
    KeyError : the data set has no such part.
    """
    suffix = f"_{part}" if part else ""
    if f"X{suffix}" in arrays:
        return arrays[f"X{suffix}"], arrays[f"y{suffix}"]
    if f"data{suffix}" not in arrays:
        raise KeyError(f"no {part or 'training'} part among the arrays {', '.join(sorted(arrays))}")
    data, indices, indptr, shape = (arrays[f"{name}{suffix}"] for name in _PIECES)
    rows, columns = (int(n) for n in shape)
    return csr_matrix((data, indices, indptr), shape=(rows, columns)), arrays[f"y{suffix}"]
