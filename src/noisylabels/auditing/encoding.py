"""Columns of numbers and words as a matrix: one column per category, missing values filled in and marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.headed_csv import is_number
from noisylabels.classifiers.base import LARGEST

Array = NDArray[np.float64]
Column = Array | Sequence[str | None]
"""Numbers with NaN where one is missing, or texts with None or one of `MISSING` there."""

MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "<NA>")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
MOST_CATEGORIES = 50
MOSTLY = 0.8
"""A column with this share of numbers is one of numbers; a word in it is a mistake."""


class Encoded(NamedTuple):
    """X (n, d), the names of its columns, and what had to be done, in sentences."""

    X: Array
    names: list[str]
    notes: list[str]


class _Part(NamedTuple):
    """The columns (n, k) that one column of the table became, their names, and what is to be told."""

    values: Array
    names: list[str]
    note: str = ""


def encode(columns: Mapping[str, Column], file: str, place: Callable[[int], str]) -> Encoded:
    """X of the columns of a table: numbers as they are, words as one 0/1 column per category.

    Missing numbers become the median, missing words the most frequent one, and a 0/1 column says where.
    Constant columns (but for their gaps) and those of more than 50 categories are left out; notes say so.
    place : where row i is in the file, such as "beans.csv, line 9".

    Raises ValueError : a word among numbers, a number that is not finite, nothing left to learn from.
    """
    parts = []
    for name, column in columns.items():
        numbers = _numbers(name, column, place)
        parts.append(_numeric(name, numbers) if numbers is not None else _categories(name, list(column)))
    notes = [part.note for part in parts if part.note]
    kept = [part for part in parts if part.values.size]
    if not kept:
        why = f" ({'; '.join(notes[:2])})" if notes else ""
        raise ValueError(f"{file}: no column to learn from beside the label{why}")
    return Encoded(np.hstack([part.values for part in kept]), [n for part in kept for n in part.names], notes)


def is_missing(value: Any) -> bool:
    """Is it None, NaN, or a word for "not known"?"""
    return str(value).strip() in MISSING


def _numbers(name: str, column: Column, place: Callable[[int], str]) -> Array | None:
    """The column as floats with NaN where a value is missing; None if it is one of words."""
    if not isinstance(column, np.ndarray):
        there = [i for i, value in enumerate(column) if not is_missing(value)]
        words = [i for i in there if not is_number(str(column[i]))]
        commas = [i for i in words if DECIMAL_COMMA.fullmatch(str(column[i]).strip())]
        if commas and len(commas) >= MOSTLY * len(words):
            raise ValueError(
                f"{place(commas[0])}: column {name!r} is {column[commas[0]]!r}: write numbers with a decimal "
                "point, not a comma"
            )
        if len(there) - len(words) < MOSTLY * len(there):
            return None
        if words:
            raise ValueError(
                f"{place(words[0])}: column {name!r} is {column[words[0]]!r}, not a number (with a decimal "
                "point) as the others in it; correct it, or leave it empty if it is not known"
            )
        column = np.array([np.nan if is_missing(value) else float(str(value)) for value in column])
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        raise ValueError(f"{place(int(infinite[0]))}: column {name!r} is infinite; leave it empty")
    large = np.flatnonzero(np.abs(column) > LARGEST)
    if len(large):
        i = int(large[0])
        raise ValueError(
            f"{place(i)}: column {name!r} is {column[i]:g}, beyond {LARGEST:g}; scale the column"
        )
    return column


def _numeric(name: str, values: Array) -> _Part:
    missing = np.isnan(values)
    if missing.all():
        return _Part(np.empty((len(values), 0)), [], f"column {name!r} is empty and was left out")
    filled = np.where(missing, np.median(values[~missing]), values)
    if filled.min() == filled.max():
        return _one_value(name, missing)
    return _with_indicator(name, filled[:, np.newaxis], [name], missing, "the median")


def _categories(name: str, values: list[Any]) -> _Part:
    missing = np.array([is_missing(value) for value in values])
    words = [str(value).strip() for value in values]
    often = Counter(word for word, gap in zip(words, missing, strict=True) if not gap).most_common()
    nothing = np.empty((len(values), 0))
    if len(often) > MOST_CATEGORIES:
        note = (
            f"column {name!r} has {len(often)} different texts, more than {MOST_CATEGORIES}, and was left out"
        )
        return _Part(nothing, [], note)
    if len(often) < 2:
        return _one_value(name, missing)
    filled = np.array([often[0][0] if gap else word for word, gap in zip(words, missing, strict=True)])
    levels = sorted(word for word, _ in often)
    levels = levels[1:] if len(levels) == 2 else levels
    values_01 = (filled[:, np.newaxis] == np.array(levels)).astype(float)
    return _with_indicator(
        name, values_01, [f"{name}={w}" for w in levels], missing, "the most frequent text"
    )


def _one_value(name: str, missing: NDArray[np.bool_]) -> _Part:
    """A column that never varies tells nothing, unless it has gaps: then where they are is kept."""
    if not missing.any():
        return _Part(np.empty((len(missing), 0)), [], f"column {name!r} is constant and was left out")
    note = f"column {name!r} has one value and {int(missing.sum())} gaps; only where it has gaps is used"
    return _Part(missing[:, np.newaxis].astype(float), [f"{name} missing"], note)


def _with_indicator(
    name: str, values: Array, names: list[str], missing: NDArray[np.bool_], filled_with: str
) -> _Part:
    if not missing.any():
        return _Part(values, names)
    count = int(missing.sum())
    note = f"column {name!r} lacks {count} of {len(missing)} values; {filled_with} stands in for them"
    return _Part(np.column_stack([values, missing.astype(float)]), [*names, f"{name} missing"], note)
