"""Reader of ``benchmarks.mat``: one MATLAB struct per set, fields x, t, train, test.

x and t hold each labelled pattern once; train and test are one-based, and name a pattern as often as it
occurs in the set.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.readers import mat
from reproduction.data.readers.streams import MEND

_FIELDS = ("x", "t", "train", "test")


def read(
    path: Path, name: str, rows: int, train: int, splits: int
) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int32], NDArray[np.int32]]:
    """X (n, d), y (n,) in {-1, +1}, zero-based indices (R, train) and (R, n - train) of one set, n = rows.

    A pattern that occurs m times becomes m equal rows, so that every split is a partition of the rows. R is
    the number of splits in the file, ``splits`` at most.

    Raises
    ------
    ValueError : the struct or a field is missing, labels other than -1 and +1, other sizes, rows that are not
        there, or splits that are not all partitions of the same multiset of patterns.
    """
    variables = mat.read(path)
    key = "diabetis" if name == "diabetes" else name.replace("-", "_")  # the repository's spelling
    if key not in variables:
        raise ValueError(f"{path.name}: no set {key!r}, found {mat.contents(variables)}")
    struct, where = variables[key], f"{path.name}: {key}"
    names = getattr(struct.dtype, "names", None) or ()
    if struct.shape != (1, 1) or not set(_FIELDS) <= set(names):
        raise ValueError(f"{where} is not a struct with fields {', '.join(_FIELDS)}; {MEND}")
    fields: dict[str, Any] = {field: struct[0, 0][field] for field in _FIELDS}
    x, t, first, second = (mat.numeric(fields, field, where) for field in _FIELDS)
    if t.size != len(x) or not np.isin(t, [-1, 1]).all():
        raise ValueError(
            f"{where}.t must hold {len(x)} labels -1 or +1, found {mat.contents(fields)}; {MEND}"
        )
    R = len(first)
    if not 1 <= R <= splits or first.shape != (R, train) or second.shape != (R, rows - train):
        expected = f"{splits}x{train} and {splits}x{rows - train}, or fewer rows"
        raise ValueError(f"{where}: train and test must be {expected}, found {mat.contents(fields)}; {MEND}")
    patterns, order = _expanded(np.hstack([first, second]), len(x), where)
    return x[patterns].astype(float), t.ravel()[patterns].astype(np.int8), order[:, :train], order[:, train:]


def _expanded(named: NDArray[Any], count: int, where: str) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The pattern of each of the n rows, and the splits (R, n) as rows instead of patterns.

    named : (R, n), one-based patterns. Sorted, each split must be the same list: the pattern of every row.
    """
    if not (np.equal(named, np.floor(named)).all() and named.min() >= 1 and named.max() <= count):
        raise ValueError(f"{where}: train and test must name patterns 1..{count}; {MEND}")
    sort = np.argsort(named, axis=1, kind="stable")
    patterns = np.take_along_axis(named, sort, axis=1).astype(np.intp) - 1
    if (differs := (patterns != patterns[0]).any(axis=1)).any():
        split = int(differs.argmax()) + 1
        raise ValueError(f"{where}: split {split} holds other patterns than split 1; {MEND}")
    order = np.empty(named.shape, np.int32)
    np.put_along_axis(order, sort, np.arange(named.shape[1], dtype=np.int32)[np.newaxis], axis=1)
    return patterns[0], order
