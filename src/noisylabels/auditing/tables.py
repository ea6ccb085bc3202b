"""Tables to be audited: a CSV, Parquet or .npz file, a data frame, or arrays."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import headed_csv, npz
from noisylabels.auditing.encoding import Array, Column, encode, is_missing
from noisylabels.auditing.encodings import FEWEST_OF_A_CLASS, FEWEST_ROWS
from noisylabels.auditing.headed_csv import is_number

SUFFIXES = (".csv", ".tsv", ".parquet", ".npz")
MOST_COLUMNS = 2000
MOST_CLASSES = 50


@dataclass(frozen=True)
class Table:
    """What is audited.

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


def read(path: Path, label: str, *, columns: Sequence[str] = (), trusted: str | None = None) -> Table:
    """The table of a file: .csv or .tsv with a header line, .parquet, or .npz with the arrays X and y.

    label : the column in doubt; of an .npz always "y".   columns : what to learn from, by default all others.
    trusted : a column with verified labels, empty where there is none.

    Raises ValueError : in one line, the file, the row and the column that are wrong, and what to do.
    """
    if not path.is_file():
        raise ValueError(f"{path}: {'a folder, not a table' if path.is_dir() else 'no such file'}")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path.name}: no table that can be read; save it as one of {', '.join(SUFFIXES)}")
    found, lines = {".npz": _npz, ".parquet": _parquet}.get(suffix, _csv)(path)
    for name in (label, *columns, *([trusted] if trusted else [])):
        if name not in found:
            raise ValueError(f"{path.name}: no column {name!r}; {_near(name, list(found))}")
    if label in columns or label == trusted:
        raise ValueError(
            f"{path.name}: column {label!r} is the label; it cannot be {_role(label, columns)} too"
        )
    used = {name: found[name] for name in columns or found if name not in (label, trusted)}
    verified = list(found[trusted]) if trusted else None
    return assembled(used, list(found[label]), verified, path.name, f"column {label!r}", lines)


def of_arrays(X: Any, y: Any, trusted: Any = None) -> Table:
    """The table of a data frame or array X (n, d), labels y (n,) and verified labels, None or NaN elsewhere.

    Raises ValueError : X or y of another shape, or what `assembled` refuses.
    """
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        if not X.columns.is_unique:
            raise ValueError("X: two columns of one name; rename one")
        _check_width(X.shape[1], "X")
        columns = {str(name): _series(X[name]) for name in X.columns}
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
) -> Table:
    """The `Table` of columns and labels; rows without a label are left out, and the notes say how many.

    Raises ValueError : too few rows, one class only, a class with fewer than 5 rows, labels that are
    measurements, trusted labels that are no class; see also `encode`.
    """
    kept = np.array([i for i, value in enumerate(labels) if not is_missing(value)], dtype=np.intp)
    if len(labels) and not len(kept):
        raise ValueError(f"{file}: {where} holds no label at all; fill it in or name another column")
    values = as_classes([labels[i] for i in kept])
    check_classes(values, f"{file}: {where}")

    def place(i: int) -> str:
        return f"{file}, line {lines[i]}" if lines else f"{file}, row {i}"

    X, names, notes = encode(columns, file, place)
    if left := len(labels) - len(kept):
        notes = [f"{left} rows without a label were left out", *notes]
    verified = (
        [None] * len(kept) if trusted is None else _trusted([trusted[i] for i in kept], values, place, kept)
    )
    numbers = np.array(lines, dtype=np.intp)[kept] if lines else np.zeros(len(kept), dtype=np.intp)
    return Table(X[kept], names, values, kept, numbers, verified, notes)


def as_classes(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array: whole numbers as int, other numbers as float, everything else as text."""
    texts = [str(label).strip() for label in labels]
    if not all(map(is_number, texts)):
        return np.array(texts)
    numbers = np.array(texts, dtype=float)
    whole = np.isfinite(numbers).all() and bool((numbers == np.round(numbers)).all())
    return numbers.astype(np.int64) if whole else numbers


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Nothing if the labels (n,) can be audited; else a ValueError that says why."""
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


def _csv(path: Path) -> tuple[dict[str, Column], list[int] | None]:
    with path.open("rb") as file:
        first = file.readline()
    _check_width(1 + max(first.count(mark) for mark in (b",", b";", b"\t")), path.name)
    table = headed_csv.rows(path)
    headed_csv.check_header(table.header, path.name)
    columns = zip(*table.fields, strict=True) if table.fields else [()] * len(table.header)
    return {name: list(column) for name, column in zip(table.header, columns, strict=True)}, table.lines


def _npz(path: Path) -> tuple[dict[str, Column], None]:
    found = npz.arrays(path)
    X, y = found["X"], found["y"]
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"{path.name}: X has type {X.dtype} and shape {X.shape}; expected (n, d) numbers")
    if y.shape != X.shape[:1]:
        raise ValueError(f"{path.name}: y has shape {y.shape}; expected {X.shape[:1]}, as X has {X.shape}")
    _check_width(X.shape[1], path.name)
    return {f"x{j}": X[:, j].astype(float) for j in range(X.shape[1])} | {"y": y.tolist()}, None


def _parquet(path: Path) -> tuple[dict[str, Column], None]:
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
    return {name: _texts_or_numbers(table.column(name).to_pylist()) for name in table.column_names}, None


def _series(values: Any) -> Column:
    return _texts_or_numbers([None if gone else v for v, gone in zip(values, values.isna(), strict=True)])


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


def _trusted(
    trusted: list[Any], labels: NDArray[Any], place: Callable[[int], str], rows: NDArray[np.intp]
) -> list[Any]:
    """Verified labels as the classes are written, None where there is none."""
    known = {str(label): label for label in np.unique(labels)}
    found = []
    for row, value in zip(rows, trusted, strict=True):
        text = "" if is_missing(value) else str(as_classes([value])[0])
        if text and text not in known:
            raise ValueError(f"{place(int(row))}: the trusted label {text!r} is none of {', '.join(known)}")
        found.append(known[text] if text else None)
    return found


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=2)
    some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has: {some}"


def _role(label: str, columns: Sequence[str]) -> str:
    return "learnt from" if label in columns else "trusted"
