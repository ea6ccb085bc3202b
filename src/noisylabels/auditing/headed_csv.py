"""A CSV with a header line: numbers of some columns, labels of another."""

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MEND = "fill it in or delete the row"
LARGEST = 1e35
"""As in `bases.features`: no classifier takes larger features."""


class Rows(NamedTuple):
    """Header, fields of every row, and the line at which each row ends."""

    header: list[str]
    fields: list[list[str]]
    lines: list[int]


def read(path: Path, label: str, columns: Sequence[str]) -> tuple[NDArray[np.float64], list[str]]:
    """X (n, d) of the ``columns``, or of all but the label, and the n labels as text.

    Fields are split at commas, semicolons or tabs, whichever the header has most of.

    Raises
    ------
    ValueError : no such column, two of one name, a field that is no number or beyond 1e35, a missing label,
    a line with another number of fields, no header, text that is not UTF-8; with file, line and column.
    """
    found = rows(path)
    check_header(found.header, path.name)
    for name in (label, *columns):
        if name not in found.header:
            key = "label" if name == label else "columns"
            raise ValueError(
                f"{path.name}: no column {name!r}; name one of {', '.join(found.header)} as `{key}`"
            )
    if label in columns:
        raise ValueError(f"{path.name}: column {label!r} is the label; take it off `columns`")
    used = [found.header.index(name) for name in columns or found.header if name != label]
    if not used:
        raise ValueError(f"{path.name}: no column beside the label {label!r} to learn from")
    X = np.empty((len(found.fields), len(used)))
    for i, fields in enumerate(found.fields):
        for j, column in enumerate(used):
            X[i, j] = _number(fields[column], f"{path.name}, line {found.lines[i]}", found.header[column])
    target = found.header.index(label)
    labels = [fields[target] for fields in found.fields]
    if "" in labels:
        line = found.lines[labels.index("")]
        raise ValueError(f"{path.name}, line {line}: column {label!r} holds no label; {MEND}")
    return X, labels


def rows(path: Path) -> Rows:
    """Header and fields of every line that is not blank, stripped.

    Raises
    ------
    ValueError : a line with another number of fields, text that is not UTF-8.
    """
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
    return Rows(header, found, lines)


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path.name}, line {line}: not UTF-8 text; save the CSV in UTF-8") from None


def check_header(header: list[str], name: str) -> None:
    """Nothing if the names of the columns can be used.

    Raises
    ------
    ValueError : no header, numbers only, a column without a name, two of one name.
    """
    if not header:
        raise ValueError(f"{name}: the file is empty; the first line should name the columns")
    if all(map(is_number, header)):
        raise ValueError(f"{name}, line 1: numbers only; the first line should name the columns")
    if "" in header:
        raise ValueError(f"{name}, line 1: column {header.index('') + 1} has no name; name it or remove it")
    twice = [column for column, count in Counter(header).items() if count > 1]
    if twice:
        places = " and ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise ValueError(f"{name}, line 1: columns {places} are both called {twice[0]!r}; rename one")


def is_number(text: str) -> bool:
    """Is it a number as a table has it: "3", "1e-3", "nan", but not "1_000"?"""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # float() takes it


def _number(text: str, where: str, column: str) -> float:
    if not is_number(text) and text not in ("", "?", "NA", "null"):
        raise ValueError(
            f"{where}: column {column!r} is {text!r}, not a number (with a decimal point); "
            "turn it into one, or list in `columns` what to learn from"
        )
    value = float(text) if is_number(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{where}: column {column!r} is {text!r}, not a finite number; {MEND}")
    if abs(value) > LARGEST:
        raise ValueError(f"{where}: column {column!r} is {text}, beyond {LARGEST:g}; scale the column")
    return value
