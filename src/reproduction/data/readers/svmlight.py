"""LIBSVM (svmlight) files, ``label index:value ...`` with one-based indices, through scikit-learn."""

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

from reproduction.data.readers.streams import MEND, open_bytes

Labelled = tuple["csr_matrix[Any]", NDArray[np.int8]]


def read(path: Path, features: int, classes: dict[float, int], dtype: DTypeLike = np.float64) -> Labelled:
    """(n, features) sparse matrix and (n,) int8 labels of a file; see ``parse``."""
    with open_bytes(path) as stream:
        return parse(stream, path.name, features, classes, dtype)


def parse(
    stream: IO[bytes], name: str, features: int, classes: dict[float, int], dtype: DTypeLike = np.float64
) -> Labelled:
    """(n, features) sparse matrix and (n,) int8 labels, ``classes`` mapping the file's labels to ours.

    Raises
    ------
    ValueError : unsorted or repeated indices, an index outside 1..features, a value that is not finite,
        a label that is not in ``classes``, or text that is not in this format;
        the message starts with ``name``.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, labels = load_svmlight_file(stream, n_features=features, dtype=dtype, zero_based=False)
    except (ValueError, OverflowError, IndexError) as error:
        raise ValueError(f"{name}: {error}; {MEND}") from error
    if X.nnz and (X.indices.min() < 0 or X.indices.max() >= features):
        raise ValueError(f"{name}: a feature index is outside 1..{features}; {MEND}")
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right"))
        raise ValueError(f"{name}, row {row}: a value is not finite; {MEND}")
    y = np.zeros(len(labels), np.int8)
    for label, code in classes.items():
        y[labels == label] = code
    if (y == 0).any():
        row = int(np.flatnonzero(y == 0)[0])
        known = ", ".join(f"{label:g}" for label in classes)
        raise ValueError(f"{name}, row {row + 1}: label {labels[row]:g} is none of {known}; {MEND}")
    return X, y
