"""The tidy result table: one row per (data set, noise, setting, method, repetition, metric, x).

Tables are byte stable: fixed columns, fixed number format, no time stamps,
rows in the order in which the protocol yields them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["dataset", "source", "noise", "setting", "method", "repetition", "metric", "x", "value"]
DEFAULTS: dict[str, Any] = {
    "dataset": "synthetic",
    "source": "synthetic",
    "noise": "",
    "setting": "",
    "x": float("nan"),
}
_TEXT = ("dataset", "source", "noise", "setting", "method", "metric")


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.10g}"


def _text(value: object, column: str, row: int) -> str:
    text = str(value)
    if any(character in text for character in ',"\r\n'):
        raise ValueError(
            f"row {row}: {column} {text!r} holds a comma, a quote or a line break; use a plain label"
        )
    return text


def _line(row: dict[str, Any], index: int) -> str:
    unknown = set(row) - set(COLUMNS)
    if unknown:
        raise ValueError(f"row {index}: unknown columns {sorted(unknown)}; a result row has {COLUMNS}")
    full = DEFAULTS | row
    missing = [column for column in COLUMNS if column not in full]
    if missing:
        raise ValueError(f"row {index}: missing columns {missing}")
    if not np.isfinite(full["value"]):
        raise ValueError(
            f"row {index}: the value of {full['metric']} of method {full['method']} "
            f"(repetition {full['repetition']}, x = {full['x']}) is {full['value']}; results must be finite"
        )
    if np.isinf(full["x"]):
        raise ValueError(f"row {index}: x is infinite")
    cells = [_text(full[c], c, index) for c in _TEXT[:5]]
    cells += [str(int(full["repetition"])), _text(full["metric"], "metric", index)]
    return ",".join([*cells, _number(float(full["x"])), _number(float(full["value"]))])


def write_rows(rows: Iterable[dict[str, Any]], path: str | Path) -> None:
    """Write result rows (dicts with the keys of `COLUMNS`; missing ones take `DEFAULTS`)
    as a byte-stable CSV.

    Raises
    ------
    ValueError : an unknown or missing column, a value that is not finite,
    a label with a comma; nothing is written.
    """
    lines = [",".join(COLUMNS), *(_line(row, i) for i, row in enumerate(rows))]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def concatenate(parts: Iterable[str | Path], path: str | Path) -> None:
    """Join the tables ``parts``, in the order given, into one table.

    Raises
    ------
    ValueError : a part whose header is not that of a result table, or that ends in the middle of a line.
    """
    header = ",".join(COLUMNS) + "\n"
    body = []
    for part in parts:
        text = Path(part).read_text(encoding="utf-8")
        if not text.startswith(header) or not text.endswith("\n"):
            raise ValueError(
                f"{part} is not a whole result table (columns {COLUMNS}); delete it and run again"
            )
        body.append(text.removeprefix(header))
    Path(path).write_text(header + "".join(body), encoding="utf-8", newline="\n")


def verify(path: str | Path) -> None:
    """Nothing if the file is the one that the provenance beside it records, or if there is none beside it.

    path : a table.csv, which it records as table_sha256, or a points.npz, as points_sha256.

    Raises
    ------
    ValueError : another file, or a provenance that cannot be read; the message says what to run.
    """
    import hashlib
    import json

    file = Path(path)
    kind, provenance = file.stem, file.with_name("provenance.json")
    if not provenance.is_file():
        return
    mend = f"delete {file} and run again, it is made anew"
    try:
        recorded = json.loads(provenance.read_bytes())[f"{kind}_sha256"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{provenance}: {kind}_sha256 cannot be read; {mend}") from None
    if hashlib.sha256(file.read_bytes()).hexdigest() != recorded:
        raise ValueError(f"{file} is not the {kind} that {provenance} records (changed by hand?); {mend}")


def read_table(path: str | Path) -> "pd.DataFrame":
    """Read a result table with text columns as text and empty labels as "".

    Raises
    ------
    ValueError : columns other than `COLUMNS`.
    """
    import pandas as pd

    types = dict.fromkeys(_TEXT, "object") | {"repetition": "int64", "x": "float64", "value": "float64"}
    frame = pd.read_csv(path, keep_default_na=False, na_values={"x": [""]}, dtype=types)
    if list(frame.columns) != COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, a result table has {COLUMNS}")
    return frame
