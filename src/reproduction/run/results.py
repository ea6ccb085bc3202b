"""The tidy result table: columns, reading, writing and joining.

Equal runs give equal bytes: fixed columns and number format, rows in the order in which the
protocol yields them, and no times.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MEANINGS = {
    "dataset": "id of the data set; `synthetic` only where a protocol draws its own data",
    "source": "which variant of the data it was",
    "noise": "label of the noise, as in the settings",
    "setting": "what else tells rows apart, such as how a method was selected; may be empty",
    "method": "label of the method, as in the settings",
    "repetition": "number of the split or of the draw; rows of one repetition are paired",
    "metric": "what was measured, one of the `labels` that the protocol declares",
    "x": "place on a curve; empty of a single number",
    "value": "the number, finite",
}
"""Column of a result table -> what it holds."""
COLUMNS = [*MEANINGS]

Row = dict[str, Any]
"""Column of `COLUMNS` -> entry of a row."""

LABELS = ("dataset", "source", "noise", "setting", "method", "metric")
DEFAULTS = {
    "dataset": "synthetic",
    "source": "synthetic",
    "noise": "",
    "setting": "",
    "x": math.nan,
}
NOT_IN_LABELS = set(',"\r\n')
KEY_COLUMNS = [column for column in COLUMNS if column != "value"]


def key_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Make the key of a row: its columns without the value, as text."""
    full: Row = DEFAULTS | dict(row)
    texts = {column: str(full.get(column, "")) for column in KEY_COLUMNS}
    if isinstance(full["x"], int | float):
        texts["x"] = f"{float(full['x']):.10g}"  # as the table writes them
    return tuple(texts.values())


def format_value(row: Mapping[str, Any]) -> str:
    """Write the value of a row in the form of the table."""
    return f"{float(row['value']):.10g}"


def write_rows(rows: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Write result rows as a byte-stable CSV.

    Parameters
    ----------
    rows : iterable of dict
        Rows with the keys of `COLUMNS`; missing ones take `DEFAULTS`.
    path : Path or str
        File to write.

    Raises
    ------
    ValueError
        If a row has an unknown or a missing column, a value that is not finite, or a label with a
        comma; nothing is written.
    """
    lines = [",".join(COLUMNS)]
    for number, row in enumerate(rows):
        lines.append(_line(row, f"row {number}: "))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _line(row: Mapping[str, Any], prefix: str) -> str:
    """Write a row as a line of the table; a message about it begins with the prefix."""
    unknown = sorted(set(row) - set(COLUMNS))
    if unknown:
        raise ValueError(f"{prefix}unknown columns {unknown}; a result row has {COLUMNS}")
    full: Row = DEFAULTS | dict(row)
    missing = [column for column in COLUMNS if column not in full]
    if missing:
        raise ValueError(f"{prefix}missing columns {missing}")
    x = float(full["x"])
    value = float(full["value"])
    _check_numbers(full, x, value, prefix)
    cells = {column: str(full[column]) for column in LABELS}
    for column, text in cells.items():
        if not NOT_IN_LABELS.isdisjoint(text):
            rule = "holds a comma, a quote or a line break; use a plain label"
            raise ValueError(f"{prefix}{column} {text!r} {rule}")
    cells["repetition"] = str(int(full["repetition"]))
    cells["x"] = "" if math.isnan(x) else f"{x:.10g}"
    cells["value"] = f"{value:.10g}"
    return ",".join(cells[column] for column in COLUMNS)


def _check_numbers(row: Row, x: float, value: float, prefix: str) -> None:
    """Refuse a value or an x that is not a number."""
    if not math.isfinite(value):
        measured = f"{row['metric']} of method {row['method']}"
        point = f"repetition {row['repetition']}, x = {x}"
        rule = "results must be finite"
        raise ValueError(f"{prefix}the value of {measured} ({point}) is {value}; {rule}")
    if math.isinf(x):
        raise ValueError(f"{prefix}x is infinite")


def concatenate(parts: Iterable[str | Path], path: str | Path) -> None:
    """Join tables, in their order, into one table.

    Parameters
    ----------
    parts : iterable of Path or str
        Tables to join.
    path : Path or str
        File to write.

    Raises
    ------
    ValueError
        If the header of a part is not that of a result table, if a part ends within a line, or if
        two rows differ in their value only.
    """
    header = ",".join(COLUMNS) + "\n"
    body = []
    keys = set[str]()
    for part in parts:
        text = Path(part).read_text(encoding="utf-8")
        if not text.startswith(header) or not text.endswith("\n"):
            remedy = "delete it and run again"
            raise ValueError(f"{part} is not a whole result table (columns {COLUMNS}); {remedy}")
        for line in text.splitlines()[1:]:
            key = line.rpartition(",")[0]
            if key in keys:
                remedy = "each row of a table needs another key (all columns but the value)"
                raise ValueError(f"{part}: an earlier row has the key {key}; {remedy}")
            keys.add(key)
        body.append(text.removeprefix(header))
    Path(path).write_text(header + "".join(body), encoding="utf-8", newline="\n")


def read_table(path: str | Path | IO[bytes]) -> "pd.DataFrame":
    """Read a result table with text columns as text and empty labels as "".

    Raises ValueError: columns other than `COLUMNS`.
    """
    import pandas as pd

    types = dict.fromkeys(COLUMNS, "object")
    types |= {"repetition": "int64", "x": "float64", "value": "float64"}
    frame = pd.read_csv(path, keep_default_na=False, na_values={"x": [""]}, dtype=types)
    if list(frame.columns) != COLUMNS:
        columns = list(frame.columns)
        raise ValueError(f"{path} has the columns {columns}, a result table has {COLUMNS}")
    return frame
