"""Features of examples as classifiers get them."""

from __future__ import annotations

from typing import Any

import numpy as np

LARGEST = 1e35
"""Trees hold features in single precision, which ends at 3e38; beyond 1e70 LIBLINEAR never ends."""


def bounded(X: Any) -> Any:
    """X (n, d), dense or sparse, as it is; ValueError: a feature beyond 1e35 in size."""
    with np.errstate(over="ignore"):  # one fast pass
        square = np.einsum("ij,ij->", X, X) if isinstance(X, np.ndarray) else np.dot(X.data, X.data)
    if float(square) > LARGEST**2:
        rows, columns = _far(X)
        if len(rows):
            place = f"value at index ({rows[0]}, {columns[0]})"
            raise ValueError(f"X: {place} is beyond {LARGEST:g} in size; scale the features")
    return X


def _far(X: Any) -> tuple[Any, Any]:
    """Rows and columns of the features that are too large."""
    if isinstance(X, np.ndarray):
        rows, columns = np.nonzero(np.abs(X.astype(np.float64)) > LARGEST)
        return rows, columns
    entries = X.tocoo()
    far = np.abs(entries.data.astype(np.float64)) > LARGEST
    return entries.row[far], entries.col[far]
