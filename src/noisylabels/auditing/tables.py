"""The one reader of a user's table: a CSV, Parquet or .npz file, a data frame, or arrays.

Every column gets one rule, found from all of its values: numbers, dates (counted in days) or words (a 0/1
column for each). Labels and verified labels share theirs.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.classifiers.base import LARGEST

SUFFIXES = (".csv", ".tsv", ".parquet", ".npz")
MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "<NA>")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
MOST_COLUMNS, MOST_CLASSES, MOST_CATEGORIES = 2000, 50, 50
FEWEST_ROWS, FEWEST_OF_A_CLASS = 20, 5
"""Below these no split into training and test rows makes sense."""
MOSTLY = 0.8
"""A column with this share of numbers (or dates) is one of numbers; a word in it is a mistake."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Array = NDArray[np.float64]
Column = Array | Sequence[str | None]
"""Numbers with NaN where one is missing, or texts with None or one of `MISSING` there."""
Place = Callable[[int], str]
"""Where row i is in the file, such as "beans.csv, line 9"."""


@dataclass(frozen=True)
class Table:
    """A table with its labels.

    X (n, d) with the names of its columns; labels (n,), as they are written; rows (n,), numbers of the rows
    from 0; lines (n,), their lines in the file, 0 without one; trusted (n,), verified labels or None;
    notes, what had to be done to the table.
    """

    X: Array
    names: list[str]
    labels: NDArray[Any]
    rows: NDArray[np.intp]
    lines: NDArray[np.intp]
    trusted: list[Any]
    notes: list[str] = field(default_factory=list)


class Encoded(NamedTuple):
    """X (n, d), the names of its columns, and what had to be done, in sentences."""

    X: Array
    names: list[str]
    notes: list[str]


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Nothing if the labels (n,) can be learnt from and audited; else a ValueError that says why."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(labels) < FEWEST_ROWS:
        raise ValueError(f"{where}: {len(labels)} rows; at least {FEWEST_ROWS} are needed")
    if len(classes) < 2:
        raise ValueError(f"{where} holds one class only ({classes[0]}); two are needed")
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"{where} holds {len(classes)} different values in {len(labels)} rows: that is a measurement or "
            f"a name, not a class; at most {MOST_CLASSES} classes can be audited"
        )
    if counts.min() < FEWEST_OF_A_CLASS:
        few = classes[counts.argmin()]
        raise ValueError(
            f"{where}: the class {few} has {counts.min()} rows; at least {FEWEST_OF_A_CLASS} are needed: "
            "merge it with another class, or delete its rows"
        )


def read(
    path: Path,
    label: str,
    *,
    columns: Sequence[str] = (),
    trusted: str | None = None,
    check: Callable[[NDArray[Any], str], None] = check_classes,
) -> Table:
    """The table of a file: .csv or .tsv with a header line, .parquet, or .npz with the arrays X and y.

    label : the column in doubt; of an .npz always "y".   columns : what to learn from, by default all others.
    trusted : a column with verified labels, empty where there is none.   check : refuses labels.

    Raises ValueError : in one line, the file, the row and the column that are wrong, and what to do.
    """
    if not path.is_file():
        raise ValueError(f"{path}: {'a folder, not a table' if path.is_dir() else 'no such file'}")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path.name}: no table that can be read; save it as one of {', '.join(SUFFIXES)}")
    lines: list[int] | None = None
    if suffix == ".npz":
        found = _npz_columns(path)
    elif suffix == ".parquet":
        found = _parquet(path)
    else:
        found, lines = _csv(path)
    for name in (label, *columns, *([trusted] if trusted else [])):
        if name not in found:
            raise ValueError(f"{path.name}: no column {name!r}; {_near(name, list(found))}")
    if label in columns or label == trusted:
        role = "learnt from" if label in columns else "trusted"
        raise ValueError(f"{path.name}: column {label!r} is the label; it cannot be {role} too")
    used = {name: found[name] for name in columns or found if name not in (label, trusted)}
    verified = list(found[trusted]) if trusted else None
    return assembled(used, list(found[label]), verified, path.name, f"column {label!r}", lines, check)


def of_arrays(X: Any, y: Any, trusted: Any = None) -> Table:
    """The table of a data frame or array X (n, d), labels y (n,) and verified labels, None or NaN elsewhere.

    Raises ValueError : X or y of another shape, or what `assembled` refuses.
    """
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        if not X.columns.is_unique:
            raise ValueError("X: two columns of one name; rename one")
        _check_width(X.shape[1], "X")
        columns = {
            str(name): _texts_or_numbers(
                [None if gone else v for v, gone in zip(X[name], X[name].isna(), strict=True)]
            )
            for name in X.columns
        }
        n = len(X)
    else:
        if hasattr(X, "toarray"):
            raise ValueError("X is sparse; an audit needs it dense: X.toarray()")
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind == "c":
            kind = " of complex numbers" if X.dtype.kind == "c" else ""
            raise ValueError(f"X must be a table (n, d), got shape {X.shape}{kind}")
        _check_width(X.shape[1], "X")
        number = X.dtype.kind in "fiub"
        columns = {f"x{j}": X[:, j].astype(float) if number else list(X[:, j]) for j in range(X.shape[1])}
        n = len(X)
    if np.ndim(y) != 1:
        raise ValueError(f"y must have one label for each row, shape (n,), got shape {np.shape(y)}")
    labels = list(np.asarray(y).tolist())
    verified = None if trusted is None else list(np.asarray(trusted, dtype=object))
    for name, values in {"y": labels, "trusted": verified or labels}.items():
        if len(values) != n:
            raise ValueError(f"{name} has {len(values)} labels, X has {n} rows; give one label a row")
    return assembled(columns, labels, verified, "X", "y", None)


def assembled(
    columns: Mapping[str, Column],
    labels: list[Any],
    trusted: list[Any] | None,
    file: str,
    where: str,
    lines: list[int] | None,
    check: Callable[[NDArray[Any], str], None] = check_classes,
) -> Table:
    """The `Table` of columns and labels; rows without a label are left out, and the notes say how many.

    Raises ValueError : labels that ``check`` refuses, trusted labels that are no class; see also `encode`.
    """
    kept = np.array([i for i, value in enumerate(labels) if not is_missing(value)], dtype=np.intp)
    if len(labels) and not len(kept):
        raise ValueError(f"{file}: {where} holds no label at all; fill it in or name another column")
    rule = class_rule([labels[i] for i in kept])
    values = np.array([rule(labels[i]) for i in kept])
    check(values, f"{file}: {where}")

    def place(i: int) -> str:
        return f"{file}, line {lines[i]}" if lines else f"{file}, row {i}"

    X, names, notes = encode(columns, file, place)
    if left := len(labels) - len(kept):
        notes = [f"{left} rows without a label were left out", *notes]
    verified: list[Any] = [None] * len(kept)
    known = {str(value): value for value in np.unique(values)}
    for n, i in enumerate(kept if trusted else ()):
        value = trusted[i] if trusted else None
        if is_missing(value):
            continue
        text = str(rule(value) if is_number(str(value)) else value).strip()
        if text not in known:
            raise ValueError(f"{place(int(i))}: the trusted label {text!r} is none of {', '.join(known)}")
        verified[n] = known[text]
    numbers = np.array(lines, dtype=np.intp)[kept] if lines else np.zeros(len(kept), dtype=np.intp)
    return Table(X[kept], names, values, kept, numbers, verified, notes)


def class_rule(labels: Sequence[Any]) -> Callable[[Any], Any]:
    """How labels are read: as whole numbers if all are, as numbers if all are, else as text."""
    texts = [str(label).strip() for label in labels]
    if not all(map(is_number, texts)):
        return lambda label: str(label).strip()
    numbers = np.array(texts, dtype=float)
    whole = np.isfinite(numbers).all() and bool((numbers == np.round(numbers)).all())
    return (lambda label: int(float(str(label)))) if whole else (lambda label: float(str(label)))


# columns


def is_missing(value: Any) -> bool:
    """Is it None, NaN, or a word for "not known"?"""
    return str(value).strip() in MISSING


def is_number(text: str) -> bool:
    """Is it a number as a table has it: "3", "1e-3", "nan", but not "1_000"?"""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # float() takes it


def _days(text: str) -> float | None:
    """Days from 1970-01-01 to a date in ISO's form, with or without a time; None if it is no date."""
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - EPOCH) / timedelta(days=1)


def encode(columns: Mapping[str, Column], file: str, place: Place) -> Encoded:
    """X of the columns of a table: numbers as they are, dates as days, words as one 0/1 column per category.

    Missing numbers become the median, missing words the most frequent one, and a 0/1 column says where.
    Constant columns (but for their gaps) and those of more than 50 categories are left out; notes say so.

    Raises ValueError : a word among numbers, a number that is not finite, nothing left to learn from.
    """
    parts, names, notes = [], [], []
    for name, column in columns.items():
        numbers, note = _numbers(name, column, place)
        found = _encoded(name, column, numbers)
        parts += [found.X]
        names += found.names
        notes += [each for each in (note, *found.notes) if each]
    if not names:
        why = f" ({'; '.join(notes[:2])})" if notes else ""
        raise ValueError(f"{file}: no column to learn from beside the label{why}")
    return Encoded(np.hstack(parts), names, notes)


def _numbers(name: str, column: Column, place: Place) -> tuple[Array | None, str]:
    """The column as floats with NaN where a value is missing, and a note; None if it is one of words."""
    note = ""
    if not isinstance(column, np.ndarray):
        there = [i for i, value in enumerate(column) if not is_missing(value)]
        words = [i for i in there if not is_number(str(column[i]))]
        commas = [i for i in words if DECIMAL_COMMA.fullmatch(str(column[i]).strip())]
        if commas and len(commas) >= MOSTLY * len(words):
            raise ValueError(
                f"{place(commas[0])}: column {name!r} is {column[commas[0]]!r}: write numbers with a decimal "
                "point, not a comma"
            )
        days = {i: day for i in words if (day := _days(str(column[i]))) is not None}
        if days and len(days) >= MOSTLY * len(there):
            words, kind = [i for i in there if i not in days], "a date (such as 2026-01-31)"
            note = f"column {name!r} holds dates and is counted in days"
        elif len(there) - len(words) < MOSTLY * len(there):
            return None, ""
        else:
            days = {i: float(str(column[i])) for i in set(there) - set(words)}
            kind = "a number (with a decimal point)"
        if words:
            raise ValueError(
                f"{place(words[0])}: column {name!r} is {column[words[0]]!r}, not {kind} as the others in "
                "it; correct it, or leave it empty if it is not known"
            )
        column = np.array([days.get(i, np.nan) for i in range(len(column))])
    infinite = np.flatnonzero(np.isinf(column))
    if len(infinite):
        raise ValueError(f"{place(int(infinite[0]))}: column {name!r} is infinite; leave it empty")
    large = np.flatnonzero(np.abs(column) > LARGEST)
    if len(large):
        i = int(large[0])
        raise ValueError(
            f"{place(i)}: column {name!r} is {column[i]:g}, beyond {LARGEST:g}; scale the column"
        )
    return column, note


def _encoded(name: str, column: Column, numbers: Array | None) -> Encoded:
    """One column: its numbers, or a 0/1 column for each word (one for two); then one that marks its gaps."""
    n = len(column)
    missing = np.isnan(numbers) if numbers is not None else np.array([is_missing(value) for value in column])
    words = [str(value).strip() for value in column] if numbers is None else []
    often = Counter(word for word, gap in zip(words, missing, strict=False) if not gap).most_common()
    why = ""
    if numbers is not None and missing.all():
        why = "is empty and was left out"
    elif len(often) > MOST_CATEGORIES:
        why = f"has {len(often)} different texts, more than {MOST_CATEGORIES}, and was left out"
    elif numbers is None:
        constant, stand_in = len(often) < 2, "the most frequent text"
        levels = sorted(word for word, _ in often)[len(often) == 2 :]
        filled = np.array(
            [often[0][0] if gap and often else w for w, gap in zip(words, missing, strict=True)]
        )
        names, X = [f"{name}={w}" for w in levels], (filled[:, np.newaxis] == np.array(levels)).astype(float)
    else:
        filled, stand_in = np.where(missing, np.median(numbers[~missing]), numbers), "the median"
        constant, names, X = filled.min() == filled.max(), [name], filled[:, np.newaxis]
    if not why and constant and not missing.any():
        why = "is constant and was left out"
    if why:
        return Encoded(np.empty((n, 0)), [], [f"column {name!r} {why}"])
    if not missing.any():
        return Encoded(X, names, [])
    gaps, marked = int(missing.sum()), missing[:, np.newaxis].astype(float)
    if constant:  # where the gaps are is all that varies
        note = f"column {name!r} has one value and {gaps} gaps; only where it has gaps is used"
        return Encoded(marked, [f"{name} missing"], [note])
    note = f"column {name!r} lacks {gaps} of {n} values; {stand_in} stands in for them"
    return Encoded(np.hstack([X, marked]), [*names, f"{name} missing"], [note])


# files


def _csv(path: Path) -> tuple[dict[str, Column], list[int]]:
    """Columns by name, and the line at which each row ends; blank lines are passed over.

    Fields are split at commas, semicolons or tabs, whichever the header has most of.
    """
    content = path.read_bytes()
    _check_width(1 + max(content.partition(b"\n")[0].count(mark) for mark in (b",", b";", b"\t")), path.name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path.name}, line {line}: not UTF-8 text; save the CSV in UTF-8") from None
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    header: list[str] = []
    rows, lines = [], []
    try:
        for raw in reader:
            fields = [field.strip() for field in raw]
            if not any(fields):
                continue
            if header and len(fields) != len(header):
                raise ValueError(
                    f"{path.name}, line {reader.line_num}: {len(fields)} fields, the header has {len(header)}"
                )
            if header:
                rows.append(fields)
                lines.append(reader.line_num)
            else:
                header = fields
    except csv.Error as error:
        raise ValueError(f"{path.name}, line {reader.line_num}: not a CSV line ({error})") from None
    _check_header(header, path.name)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return {name: list(column) for name, column in zip(header, columns, strict=True)}, lines


def _check_header(header: list[str], name: str) -> None:
    if not header:
        raise ValueError(f"{name}: the file is empty; the first line should name the columns")
    if all(map(is_number, header)):
        raise ValueError(f"{name}, line 1: numbers only; the first line should name the columns")
    if "" in header:
        raise ValueError(f"{name}, line 1: column {header.index('') + 1} has no name; name it or remove it")
    if twice := [column for column, count in Counter(header).items() if count > 1]:
        places = " and ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise ValueError(f"{name}, line 1: columns {places} are both called {twice[0]!r}; rename one")


def npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """X (n, d), y (n,) and, where the file has them, train and test, as they are stored.

    Raises ValueError : no archive of arrays, no X or no y, or shapes that do not fit.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            if missing := [name for name in ("X", "y") if name not in archive.files]:
                found = ", ".join(archive.files) or "none"
                raise ValueError(f"no array {' and '.join(missing)}; it has: {found}")
            arrays = {name: archive[name] for name in ("X", "y", "train", "test") if name in archive.files}
            if strange := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"{', '.join(strange)} is no array")  # NumPy hands out the bytes
    except Exception as error:  # a damaged archive makes NumPy raise nearly anything
        raise ValueError(f"{path.name}: {error}; save it with np.savez(file, X=X, y=y)") from None
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"{path.name}: X has type {X.dtype} and shape {X.shape}; expected (n, d) numbers")
    if y.shape != X.shape[:1]:
        raise ValueError(f"{path.name}: y has shape {y.shape}; expected {X.shape[:1]}, as X has {X.shape}")
    return arrays


def _npz_columns(path: Path) -> dict[str, Column]:
    found = npz_arrays(path)
    X = found["X"]
    _check_width(X.shape[1], path.name)
    return {f"x{j}": X[:, j].astype(float) for j in range(X.shape[1])} | {"y": found["y"].tolist()}


def _parquet(path: Path) -> dict[str, Column]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ValueError(
            f"{path.name}: reading Parquet needs the package pyarrow; install it, or save the table as CSV"
        ) from None
    try:
        table = parquet.read_table(path)
    except Exception as error:  # a damaged file makes Arrow raise nearly anything
        raise ValueError(f"{path.name}: {' '.join(str(error).split())}") from None
    _check_width(table.num_columns, path.name)
    if len(set(table.column_names)) < table.num_columns:
        raise ValueError(f"{path.name}: two columns of one name; rename one")
    return {name: _texts_or_numbers(table.column(name).to_pylist()) for name in table.column_names}


def _texts_or_numbers(values: list[Any]) -> Column:
    if all(value is None or isinstance(value, int | float | np.number | np.bool_) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    return [None if value is None else str(value) for value in values]


def _check_width(columns: int, file: str) -> None:
    if columns > MOST_COLUMNS:
        raise ValueError(
            f"{file}: {columns} columns; at most {MOST_COLUMNS} can be audited: keep those that matter, or "
            "give a few principal components of them"
        )


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=2)
    some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has: {some}"
