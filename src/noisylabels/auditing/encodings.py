"""A table of your own, CSV or .npz: numbers in the columns, one of them the label of two classes."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import headed_csv, npz
from noisylabels.auditing.headed_csv import MEND, is_number

FEWEST_ROWS = 20
FEWEST_OF_A_CLASS = 5
"""Below these no split into training and test rows makes sense."""

Value = float | str


def table(
    files: Mapping[str, Path],
    *,
    label: str = "y",
    positive: str | float | None = None,
    columns: Sequence[str] = (),
) -> dict[str, NDArray[Any]]:
    """``X`` (n, d) float64, ``y`` (n,) int8, +1 for the positive class and -1 for the others, and any splits.

    Parameters
    ----------
    files : one file. A CSV has a header line; its fields are split at commas, semicolons or tabs.
        An .npz has the arrays ``X`` (n, d) and ``y`` (n,); ``label`` and ``columns`` are not for it. It may
        have splits of its own, ``train`` and ``test``: numbers of rows from 0, one line for each split.
    label : the column with the labels.
    positive : the class that becomes +1; without it, the larger of two numbers.
    columns : the columns to learn from; all but the label by default.

    Raises
    ------
    ValueError : in one line, the file, the row and the column that are wrong, and what to do.
    """
    path = _only(files)
    splits: dict[str, NDArray[Any]] = {}
    if path.suffix.lower() == ".npz":
        if columns or label != "y":
            raise ValueError(
                f"{path.name}: `label` and `columns` are for CSV; an .npz has the arrays X and y"
            )
        X, labels, splits = npz.read(path)
        where = "y"
    else:
        X, labels = headed_csv.read(path, label, columns)
        where = f"column {label!r}"
    y = _signs(labels, positive, path.name, where)
    _check_size(y, path.name)
    arrays: dict[str, NDArray[Any]] = {"X": X, "y": y}
    return arrays | splits


def _only(files: Mapping[str, Path]) -> Path:
    if len(files) != 1:
        raise ValueError(f"expected one table, got {', '.join(files) or 'none'}")
    return next(iter(files.values()))


def _signs(labels: list[Any], positive: str | float | None, name: str, where: str) -> NDArray[np.int8]:
    """+1 where the label is the positive class, else -1; numbers are compared as numbers."""
    values: list[Value] = [str(label) for label in labels]
    if all(is_number(str(label)) for label in labels):
        values = [float(label) for label in labels]
        if not all(math.isfinite(label) for label in map(float, labels)):
            raise ValueError(f"{name}: {where} holds a label that is not finite; {MEND}")
    classes = sorted(set(values), key=lambda value: (str(type(value)), value))
    if len(classes) < 2:
        only = ", ".join(map(_shown, classes)) or "no value"
        raise ValueError(f"{name}: {where} holds one class only ({only}); two are needed")
    chosen = _positive(classes, positive, f"{name}: {where}")
    return np.array([1 if value == chosen else -1 for value in values], dtype=np.int8)


def _positive(classes: list[Value], positive: str | float | None, where: str) -> Value:
    some = ", ".join(map(_shown, classes[:10])) + (", ..." if len(classes) > 10 else "")
    numbers = isinstance(classes[0], float)
    if positive is None:
        if numbers and len(classes) == 2:
            return classes[1]
        raise ValueError(f"{where} holds the classes {some}; say which is the positive one: `positive`")
    if isinstance(positive, bool) and str(positive) not in classes:
        raise ValueError(
            f"{where} holds the classes {some}; put `positive` in quotes, it was read as {positive}"
        )
    wanted: Value = float(positive) if numbers and is_number(str(positive)) else str(positive)
    if wanted not in classes:
        raise ValueError(f"{where} holds the classes {some}, none of them `positive`: {positive!r}")
    return wanted


def _shown(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _check_size(y: NDArray[np.int8], name: str) -> None:
    if len(y) < FEWEST_ROWS:
        raise ValueError(f"{name}: {len(y)} rows; at least {FEWEST_ROWS} are needed")
    fewest = min(int((y > 0).sum()), int((y < 0).sum()))
    if fewest < FEWEST_OF_A_CLASS:
        raise ValueError(f"{name}: a class with {fewest} rows; at least {FEWEST_OF_A_CLASS} are needed")
