"""A table of your own, CSV or .npz: numbers in the columns, one of them the label of two classes."""

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MEND = "fill it in or delete the row"
FEWEST_ROWS = 20
FEWEST_OF_A_CLASS = 5
"""Below these no split into training and test rows makes sense."""

Value = float | str


class _Rows(NamedTuple):
    """Header, fields of every row, and the line at which each row ends."""

    header: list[str]
    fields: list[list[str]]
    lines: list[int]


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
        X, labels, splits = _from_npz(path)
        where = "y"
    else:
        X, labels = _from_csv(path, label, columns)
        where = f"column {label!r}"
    y = _signs(labels, positive, path.name, where)
    _check_size(y, path.name)
    return {"X": X, "y": y} | splits


def _only(files: Mapping[str, Path]) -> Path:
    if len(files) != 1:
        raise ValueError(f"expected one table, got {', '.join(files) or 'none'}")
    return next(iter(files.values()))


# CSV


def _from_csv(path: Path, label: str, columns: Sequence[str]) -> tuple[NDArray[np.float64], list[str]]:
    rows = _read(path)
    _check_header(rows.header, path.name)
    for name in (label, *columns):
        if name not in rows.header:
            key = "label" if name == label else "columns"
            raise ValueError(
                f"{path.name}: no column {name!r}; name one of {', '.join(rows.header)} as `{key}`"
            )
    if label in columns:
        raise ValueError(f"{path.name}: column {label!r} is the label; take it off `columns`")
    used = [rows.header.index(name) for name in columns or rows.header if name != label]
    if not used:
        raise ValueError(f"{path.name}: no column beside the label {label!r} to learn from")
    X = np.empty((len(rows.fields), len(used)))
    for i, fields in enumerate(rows.fields):
        for j, column in enumerate(used):
            X[i, j] = _number(fields[column], f"{path.name}, line {rows.lines[i]}", rows.header[column])
    target = rows.header.index(label)
    labels = [fields[target] for fields in rows.fields]
    if "" in labels:
        line = rows.lines[labels.index("")]
        raise ValueError(f"{path.name}, line {line}: column {label!r} holds no label; {MEND}")
    return X, labels


def _read(path: Path) -> _Rows:
    """Fields of every line that is not blank, stripped."""
    text = _text(path)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    header: list[str] = []
    found: list[list[str]] = []
    lines: list[int] = []
    try:
        for raw in reader:
            fields = [field.strip() for field in raw]
            if not any(fields):
                continue
            if not header:
                header = fields
                continue
            if len(fields) != len(header):
                raise ValueError(
                    f"{path.name}, line {reader.line_num}: {len(fields)} fields, the header has {len(header)}"
                )
            found.append(fields)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise ValueError(f"{path.name}, line {reader.line_num}: not a CSV line ({error})") from None
    return _Rows(header, found, lines)


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path.name}, line {line}: not UTF-8 text; save the CSV in UTF-8") from None


def _check_header(header: list[str], name: str) -> None:
    if not header:
        raise ValueError(f"{name}: the file is empty; the first line should name the columns")
    if all(map(_is_number, header)):
        raise ValueError(f"{name}, line 1: numbers only; the first line should name the columns")
    if "" in header:
        raise ValueError(f"{name}, line 1: column {header.index('') + 1} has no name; name it or remove it")
    twice = [column for column, count in Counter(header).items() if count > 1]
    if twice:
        places = " and ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise ValueError(f"{name}, line 1: columns {places} are both called {twice[0]!r}; rename one")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # float() alone takes "1_000" for a number


def _number(text: str, where: str, column: str) -> float:
    if not _is_number(text) and text not in ("", "?", "NA", "null"):
        raise ValueError(
            f"{where}: column {column!r} is {text!r}, not a number (with a decimal point); "
            "turn it into one, or list in `columns` what to learn from"
        )
    value = float(text) if _is_number(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{where}: column {column!r} is {text!r}, not a finite number; {MEND}")
    return value


# .npz


def _from_npz(path: Path) -> tuple[NDArray[np.float64], list[Any], dict[str, NDArray[Any]]]:
    arrays = _arrays(path)
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or X.shape[1] == 0 or X.dtype.kind not in "fiub":
        raise ValueError(f"{path.name}: X has type {X.dtype} and shape {X.shape}; expected (n, d) numbers")
    if y.shape != X.shape[:1]:
        raise ValueError(f"{path.name}: y has shape {y.shape}; expected {X.shape[:1]}, as X has {X.shape}")
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = map(int, bad[0])
        value = X[row, column]
        raise ValueError(f"{path.name}: X[{row}, {column}] is {value}, not finite; {MEND}")
    labels = (y + 0 if y.dtype == bool else y).tolist()
    return X.astype(np.float64), labels, _splits(arrays, path.name)


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            missing = [name for name in ("X", "y") if name not in archive.files]
            if missing:
                found = ", ".join(archive.files) or "none"
                raise ValueError(f"no array {' and '.join(missing)}; it has: {found}")
            return {name: archive[name] for name in ("X", "y", "train", "test") if name in archive.files}
    except (ValueError, OSError, EOFError, AttributeError) as error:
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


# labels


def _signs(labels: list[Any], positive: str | float | None, name: str, where: str) -> NDArray[np.int8]:
    """+1 where the label is the positive class, else -1; numbers are compared as numbers."""
    values: list[Value] = [str(label) for label in labels]
    if all(_is_number(str(label)) for label in labels):
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
    wanted: Value = float(positive) if numbers and _is_number(str(positive)) else str(positive)
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
