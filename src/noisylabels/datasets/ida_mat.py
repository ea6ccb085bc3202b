"""Reader of ``benchmarks.mat``: one MATLAB struct per set, fields x, t, train, test (one-based rows)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.datasets.readers import mat
from noisylabels.datasets.readers.streams import MEND

_FIELDS = ("x", "t", "train", "test")


def read(
    path: Path, name: str, splits: int, train: int
) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int32], NDArray[np.int32]]:
    """X (n, d), y (n,) in {-1, +1}, zero-based indices (splits, train) and (splits, n - train) of one set.

    Raises
    ------
    ValueError : the struct or a field is missing, labels other than -1 and +1, another number of splits, or a
        split that is not a partition of the rows.
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
    n = len(x)
    if t.size != n or not np.isin(t, [-1, 1]).all():
        raise ValueError(f"{where}.t must hold {n} labels -1 or +1, found {mat.contents(fields)}; {MEND}")
    if first.shape != (splits, train) or second.shape != (splits, n - train):
        expected = f"{splits}x{train} and {splits}x{n - train}"
        raise ValueError(f"{where}: train and test must be {expected}, found {mat.contents(fields)}; {MEND}")
    rows = np.sort(np.hstack([first, second]), axis=1)
    if not np.array_equal(rows, np.tile(np.arange(1, n + 1), (splits, 1))):
        raise ValueError(f"{where}: a split is not a partition of the rows 1..{n}; {MEND}")
    labels = t.ravel().astype(np.int8)
    return x.astype(float), labels, (first - 1).astype(np.int32), (second - 1).astype(np.int32)
