"""Doubts about data sets of users, for `./run check` and the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.prepared import find_target
from reproduction.data.registry import OWN, Entry
from reproduction.run import label_check

FEWEST = 20
"""Number of rows below which a column may equal the label by chance."""
SCREENED = 1000
"""Number of rows that are compared before a whole column is."""
MOST_NAMED = 5
EQUAL = 1 - 1e-9
"""Correlation from which a column counts as a multiple of a real target."""

Array = NDArray[Any]
Names = Callable[[], Sequence[str]]


def describe_data(arrays: Mapping[str, Array], task: str, read_names: Names = list) -> list[str]:
    """List doubts about a data set.

    Parameters
    ----------
    arrays : mapping
        Prepared arrays.
    task : str
        Task of the registry.
    read_names : callable
        Reads the names of the columns of X, if they are known; called where they are needed.

    Returns
    -------
    list of str
        What its loader and its preparation noted, such as copies of rows; columns that hold the
        label; labels that cannot be predicted from their rows.
    """
    doubts = [str(note) for note in arrays.get("notes", ())]
    columns = dict(find_label_columns(arrays))
    if columns:
        doubts.append(_describe_columns(columns, read_names()))
    doubt = label_check.describe_labels(arrays, task)
    if doubt:
        doubts.append(f"warning: {doubt}")
    return doubts


def find_label_columns(arrays: Mapping[str, Array]) -> Iterator[tuple[int, str]]:
    """Find columns of X that hold the label: a copy, another code, or one of its classes.

    Yields
    ------
    column : int
        Number of the column, from 0.
    what : str
        What it holds.
    """
    X = arrays.get("X")
    y = arrays.get("y")
    if X is None or y is None or X.ndim != 2 or X.dtype.kind not in "biuf" or len(X) != len(y):
        return
    if len(y) < FEWEST or len(np.unique(y)) < 2:
        return
    chosen = np.random.default_rng(0).permutation(len(y))[:SCREENED]
    describe = _describe_real_column
    if find_target(y) != "real":
        describe = _describe_column
        y = np.unique(y, return_inverse=True)[1]
    for column in range(X.shape[1]):
        if describe(X[chosen, column], y[chosen]):
            description = describe(X[:, column], y)
            if description:
                yield column, description


def _describe_column(values: Array, y: Array) -> str:
    """Say whether the values of a column give a class without an error."""
    codes = np.unique(values, return_inverse=True)[1]
    count = len(np.unique(y))
    if codes.max() + 1 == count and len(np.unique(codes * count + y)) == count:
        return "the label"
    if codes.max() != 1:
        return ""
    for label in np.unique(y):
        is_class = y == label
        if np.array_equal(codes, is_class) or np.array_equal(codes, ~is_class):
            return "one of the classes"
    return ""


def _describe_real_column(values: Array, y: Array) -> str:
    """Say whether a column is a real target multiplied or shifted."""
    if np.std(values) == 0 or np.std(y) == 0:
        return ""
    is_multiple = abs(np.corrcoef(values, y)[0, 1]) > EQUAL
    return "the target" if is_multiple else ""


def _describe_columns(columns: Mapping[int, str], names: Sequence[str]) -> str:
    """Name the columns that hold the label, and say what to do."""
    parts = []
    for column, description in columns.items():
        name = ""
        if column < len(names):
            name = f" ({names[column]})"
        number = column + 1
        parts.append(f"column {number} of X{name} holds {description}")
    further = len(parts) - MOST_NAMED
    if further > 0:
        parts = parts[:MOST_NAMED]
        parts.append(f"and so do {further} more")
    remedy = "every method can read it there, so drop it unless it is measured without the label"
    return f"warning: {', '.join(parts)}, row by row; {remedy}"


def read_column_names(entry: Entry) -> list[str]:
    """Read the names of the columns of a user's table; [] where a loader of the user makes X."""
    from noisylabels.auditing import tables

    files: list[str] = []
    for source in entry.sources:
        files += [file.path for file in source.files if file.path]
    names: list[str] = []
    if entry.loader == OWN.loader and len(files) == 1:
        label = str(entry.options.get("label", "y"))
        columns = entry.options.get("columns", ())
        with suppress(ValueError, OSError):  # the message works without names
            path = entry.file.parent / files[0]
            table = tables.read(path, label, columns=columns, check=lambda *_: None, words=False)
            names = [*table.names]
    return names
