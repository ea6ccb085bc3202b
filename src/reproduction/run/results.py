"""The tidy result table, one row per data set, noise, setting, method, repetition, metric, x.

Equal runs give equal bytes: fixed columns and number format, rows in the order in which the protocol yields
them, and no times.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MEANINGS = {
    "dataset": "id of the data set; `synthetic` where a protocol draws its own data, and nothing else",
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
"""Column of `COLUMNS` -> what a row has there."""

LABELS = ("dataset", "source", "noise", "setting", "method", "metric")
DEFAULTS = {"dataset": "synthetic", "source": "synthetic", "noise": "", "setting": "", "x": math.nan}


KEY_COLUMNS = [column for column in COLUMNS if column != "value"]


def key_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a row from all others: its columns but for the value, as text."""
    full: Row = DEFAULTS | dict(row)
    texts = {column: str(full.get(column, "")) for column in KEY_COLUMNS}
    if isinstance(full["x"], int | float):
        texts["x"] = f"{float(full['x']):.10g}"  # as the table has it
    return tuple(texts.values())


def format_value(row: Mapping[str, Any]) -> str:
    """Write the value of a row as the table has it."""
    return f"{float(row['value']):.10g}"


def write_rows(rows: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Write result rows (with the keys of `COLUMNS`; missing ones take `DEFAULTS`) as a byte-stable CSV.

    Raises ValueError: an unknown or missing column, a value that is not finite, a label with a comma; nothing
    is written.
    """
    lines = [",".join(COLUMNS), *(_line(row, f"row {number}: ") for number, row in enumerate(rows))]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _line(row: Mapping[str, Any], where: str) -> str:
    if unknown := sorted(set(row) - set(COLUMNS)):
        raise ValueError(f"{where}unknown columns {unknown}; a result row has {COLUMNS}")
    full: Row = DEFAULTS | dict(row)
    if missing := [column for column in COLUMNS if column not in full]:
        raise ValueError(f"{where}missing columns {missing}")
    x, value = float(full["x"]), float(full["value"])
    if not math.isfinite(value):
        what = f"{full['metric']} of method {full['method']}"
        place = f"repetition {full['repetition']}, x = {x}"
        raise ValueError(f"{where}the value of {what} ({place}) is {value}; results must be finite")
    if math.isinf(x):
        raise ValueError(f"{where}x is infinite")
    labels = {column: str(full[column]) for column in LABELS}
    for column, text in labels.items():
        if set(text) & set(',"\r\n'):
            rule = "holds a comma, a quote or a line break; use a plain label"
            raise ValueError(f"{where}{column} {text!r} {rule}")
    numbers = {"repetition": int(full["repetition"]), "x": "" if math.isnan(x) else f"{x:.10g}"}
    cells = {**labels, **numbers, "value": f"{value:.10g}"}
    return ",".join(str(cells[column]) for column in COLUMNS)


def concatenate(parts: Iterable[str | Path], path: str | Path) -> None:
    """Join the tables ``parts``, in the order given, into one table.

    Raises ValueError: a part whose header is not that of a result table, or that ends within a line; two
    rows that differ in their value only.
    """
    header, body = ",".join(COLUMNS) + "\n", []
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

    types = dict.fromkeys(COLUMNS, "object") | {"repetition": "int64", "x": "float64", "value": "float64"}
    frame = pd.read_csv(path, keep_default_na=False, na_values={"x": [""]}, dtype=types)
    if list(frame.columns) != COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, a result table has {COLUMNS}")
    return frame
