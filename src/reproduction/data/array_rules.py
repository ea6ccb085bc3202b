"""Rules for the arrays of every data set: lengths, indices, and the targets of its task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

OF_ROWS = ("X", "p", "votes", "wrong", "y_noisy")
"""Arrays with one line for each label of ``y``."""
OF_VOTES = ("item", "worker", "response")
"""Arrays of a crowd with one entry for each vote."""
SHOWN_VALUES = 5

Arrays = Mapping[str, NDArray[Any]]


def check_rules(arrays: Arrays, task: str) -> None:
    """Check the rules for the arrays of every data set, and those of its task for ``y``.

    Parameters
    ----------
    arrays : mapping
        Name -> array.
    task : str
        Task of the registry: ``binary``, ``classes``, ``regression`` or another.

    Raises
    ------
    ValueError
        If a rule is broken; one line that names the arrays and what is expected.
    """
    for suffix in ("", "_test"):
        _check_rows(arrays, suffix)
        _check_sparse(arrays, suffix)
    if "X_test" in arrays:
        _require(
            "X" in arrays and arrays["X_test"].shape[1] == arrays["X"].shape[1],
            "X_test needs as many columns as X",
        )
    if "shape_test" in arrays:
        _require(
            arrays["shape_test"][1] == arrays["shape"][1],
            "shape_test needs as many columns as shape",
        )
    if "train" in arrays or "test" in arrays:
        _check_splits(arrays)
    _check_votes(arrays)
    if "y" in arrays:
        check_task(arrays["y"], task)


def check_task(y: NDArray[Any], task: str) -> None:
    """Check that targets are what a task needs."""
    values = np.unique(y)
    shown = ", ".join(map(str, values[:SHOWN_VALUES]))
    if len(values) > SHOWN_VALUES:
        shown += ", ..."
    if task == "binary":
        is_number = y.dtype.kind in "biuf"
        is_binary = is_number and len(values) == 2 and (values > 0).sum() == 1
        remedy = "two classes are -1 and 1, or 0 and 1; else write `task: classes`"
        _require(is_binary, f"task: binary, and y holds {len(values)} values ({shown}); {remedy}")
    elif task == "classes":
        are_classes = y.dtype.kind in "biu"
        if y.dtype.kind == "f":
            are_classes = bool((y % 1 == 0).all())
        remedy = "classes are whole numbers; of real values write `task: regression`"
        _require(are_classes, f"task: classes, and y holds {shown}; {remedy}")
        _require(len(values) > 1, f"task: classes, and y holds one value only ({shown})")
    elif task == "regression":
        remedy = "numbers are expected"
        _require(y.dtype.kind in "iuf", f"task: regression, and y holds {shown}; {remedy}")


def _check_rows(arrays: Arrays, suffix: str) -> None:
    labels = f"y{suffix}"
    if labels not in arrays:
        if f"X{suffix}" in arrays and suffix:
            raise ValueError(f"X{suffix} is there and {labels} is not; give both or none")
        return
    y = arrays[labels]
    _require(y.ndim == 1, f"{labels} has the shape {y.shape}; one label for each row is expected")
    for name in OF_ROWS:
        rows = arrays.get(f"{name}{suffix}")
        if rows is None:
            continue
        if name in ("X", "p"):
            rule = "rows and columns are expected"
            _require(rows.ndim == 2, f"{name}{suffix} has the shape {rows.shape}; {rule}")
        counts = f"{name}{suffix} has {len(rows)} rows and {labels} has {len(y)} labels"
        _require(len(rows) == len(y), f"{counts}; each row needs its label")


def _check_sparse(arrays: Arrays, suffix: str) -> None:
    """Check the arrays of a sparse matrix in compressed rows."""
    if f"shape{suffix}" not in arrays:
        return
    parts = ("data", "indices", "indptr")
    lacking = [f"{part}{suffix}" for part in parts if f"{part}{suffix}" not in arrays]
    _require(not lacking, f"shape{suffix} is of a sparse matrix, which lacks {', '.join(lacking)}")
    rows, columns = arrays[f"shape{suffix}"].tolist()
    starts = arrays[f"indptr{suffix}"]
    indices = arrays[f"indices{suffix}"]
    counts = f"shape{suffix} has {rows} rows, indptr{suffix} {len(starts) - 1}"
    _require(len(starts) == rows + 1, f"{counts}; as many are expected")
    _require(starts[-1] == len(indices), f"indptr{suffix} and indices{suffix} do not fit together")
    if len(indices):
        in_range = indices.min() >= 0 and indices.max() < columns
        _require(bool(in_range), f"indices{suffix} are not all in 0 to {columns - 1}")
    if f"y{suffix}" in arrays:
        count = len(arrays[f"y{suffix}"])
        _require(count == rows, f"shape{suffix} has {rows} rows and y{suffix} has {count} labels")


def _check_splits(arrays: Arrays) -> None:
    """Check official splits: they list rows of the data set, and no row is on both sides."""
    _require("train" in arrays and "test" in arrays, "splits need both train and test")
    train = arrays["train"]
    test = arrays["test"]
    for name, rows in (("train", train), ("test", test)):
        is_list = rows.ndim == 2 and rows.dtype.kind in "iu" and rows.size > 0
        _require(is_list, f"{name} needs a line of row numbers for each split, as whole numbers")
        count = len(arrays["y"]) if "y" in arrays else len(arrays["X"])
        in_range = rows.min() >= 0 and rows.max() < count
        _require(bool(in_range), f"{name} has a row that is not in 0 to {count - 1}")
    _require(len(train) == len(test), f"train has {len(train)} splits and test has {len(test)}")
    for number, (left, right) in enumerate(zip(train, test, strict=True)):
        shared = np.intersect1d(left, right)
        if len(shared):
            raise ValueError(f"split {number}: row {shared[0]} is in train and in test")


def _check_votes(arrays: Arrays) -> None:
    counts = {name: len(arrays[name]) for name in OF_VOTES if name in arrays}
    message = f"a vote needs one entry in each array; found {counts}"
    _require(len(set(counts.values())) <= 1, message)
    if "item" in arrays and "y" in arrays and len(arrays["item"]):
        item = arrays["item"]
        count = len(arrays["y"])
        in_range = item.min() >= 0 and item.max() < count
        _require(bool(in_range), f"item has a number that is not in 0 to {count - 1}")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
