"""An .npz with the arrays X, y and, where it has splits of its own, train and test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.headed_csv import LARGEST, MEND


def read(path: Path) -> tuple[NDArray[np.float64], list[Any], dict[str, NDArray[Any]]]:
    """X (n, d) float64, the n labels, and {train, test}: rows of each split, where the file has them.

    Raises
    ------
    ValueError : no X or y, shapes that do not fit, a value that is not finite or beyond 1e35,
    a split with a row on both sides.
    """
    found = arrays(path)
    X, y = found["X"], found["y"]
    if X.ndim != 2 or X.shape[1] == 0 or X.dtype.kind not in "fiub":
        raise ValueError(f"{path.name}: X has type {X.dtype} and shape {X.shape}; expected (n, d) numbers")
    if y.shape != X.shape[:1]:
        raise ValueError(f"{path.name}: y has shape {y.shape}; expected {X.shape[:1]}, as X has {X.shape}")
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = map(int, bad[0])
        value = X[row, column]
        raise ValueError(f"{path.name}: X[{row}, {column}] is {value}, not finite; {MEND}")
    X = X.astype(np.float64)
    if len(far := np.argwhere(np.abs(X) > LARGEST)):
        row, column = map(int, far[0])
        value = X[row, column]
        raise ValueError(
            f"{path.name}: X[{row}, {column}] is {value:g}, beyond {LARGEST:g}; scale column {column}"
        )
    labels = (y + 0 if y.dtype == bool else y).tolist()
    return X, labels, _splits(found, path.name)


def arrays(path: Path) -> dict[str, NDArray[Any]]:
    """X, y and, where the file has them, train and test, as they are stored.

    Raises
    ------
    ValueError : no archive of arrays, no X or no y.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            missing = [name for name in ("X", "y") if name not in archive.files]
            if missing:
                found = ", ".join(archive.files) or "none"
                raise ValueError(f"no array {' and '.join(missing)}; it has: {found}")
            names = [name for name in ("X", "y", "train", "test") if name in archive.files]
            kept = {name: archive[name] for name in names}
            if strange := [name for name in names if not isinstance(kept[name], np.ndarray)]:
                raise ValueError(f"{', '.join(strange)} is no array")  # NumPy hands out the bytes
            return kept
    except Exception as error:  # a damaged archive makes NumPy raise nearly anything
        raise ValueError(f"{path.name}: {error}; save it with np.savez(file, X=X, y=y)") from None


def _splits(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """``train`` and ``test`` (splits, rows), if there are any and no row is on both sides of a split."""
    splits = {part: arrays[part] for part in ("train", "test") if part in arrays}
    if not splits:
        return {}
    n, shapes = len(arrays["X"]), {part: rows.shape for part, rows in splits.items()}
    if len(splits) < 2 or any(rows.ndim != 2 or rows.dtype.kind not in "iu" for rows in splits.values()):
        raise ValueError(f"{name}: splits need `train` and `test`, whole numbers in lines; found {shapes}")
    if shapes["train"][0] != shapes["test"][0]:
        raise ValueError(f"{name}: as many lines in `train` as in `test` are needed; found {shapes}")
    for number, rows in enumerate(np.hstack([splits["train"], splits["test"]]).tolist()):
        if min(rows) < 0 or max(rows) >= n or len(set(rows)) < len(rows):
            raise ValueError(f"{name}: split {number} has a row twice, or one that is not in 0 to {n - 1}")
    return splits
