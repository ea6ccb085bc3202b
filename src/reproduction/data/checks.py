"""The last look at a data set before it is stored: shape, finite values, classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from reproduction.data.readers.streams import MEND

Matrix = NDArray[np.floating] | csr_matrix[Any]


def supervised(
    name: str,
    X: Matrix,
    y: NDArray[Any],
    columns: int,
    classes: Mapping[int, int | None],
    rows: int | None = None,
) -> tuple[Matrix, NDArray[np.int8]]:
    """(X, y) as given, y as int8, if X is finite and of the expected shape, and y has the expected classes.

    Parameters
    ----------
    classes : class -> number of its rows, None where only the number of all rows is known for certain.
    rows : number of rows; by default the sum of the class counts.

    Raises
    ------
    ValueError : anything else; the message has the name, what was found and what was expected.
    """
    rows = sum(count or 0 for count in classes.values()) if rows is None else rows
    if X.shape != (rows, columns) or y.shape != (rows,):
        found = f"{'x'.join(map(str, X.shape))} values and {len(y)} labels"
        raise ValueError(f"{name}: {found}, expected {rows}x{columns} and {rows}; {MEND}")
    values = X.data if issparse(X) else X
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: a value is not finite; {MEND}")
    counts = {int(label): int(n) for label, n in zip(*np.unique(y, return_counts=True), strict=True)}
    if counts != {label: counts.get(label) if n is None else n for label, n in classes.items()}:
        raise ValueError(f"{name}: rows per class {counts}, expected {dict(sorted(classes.items()))}; {MEND}")
    return X, y.astype(np.int8)
