"""The page of an audit: one folder that needs no server and nothing outside itself."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisylabels.auditing import report
from noisylabels.auditing.audit import Audit
from noisylabels.auditing.tables import visible
from reproduction.site.build import templates

SHOWN = 50
"""Suspicious labels on the page; the file has all of them."""
TABLES = ("suspicious", "flip_rates", "accuracies")
REPORT, FIRST = "audit.txt", "noisylabels audit"
"""The findings as text. Its first line says that the folder is an audit's, which another may overwrite."""


def claim(out: Path, source: Path) -> None:
    """Make the folder ``out``, or take one that is empty or an audit's; write its first file.

    Raises ValueError : a folder with other files, or with the table ``source``; one that cannot be written.
    """
    try:
        if out.exists() and not out.is_dir():
            raise ValueError(f"--out: {out} is a file; name a folder")
        ours = (out / REPORT).is_file() and (out / REPORT).read_bytes().startswith(FIRST.encode())
        if out.is_dir() and not ours and (there := sorted(each.name for each in out.iterdir())):
            some = ", ".join(map(visible, there[:3]))
            raise ValueError(f"--out: {out} holds files that no audit made ({some}); name a new folder")
        if source.resolve().parent == out.resolve():
            raise ValueError(f"--out: {out} holds the table itself; name another folder")
        out.mkdir(parents=True, exist_ok=True)
        (out / REPORT).write_text(f"{FIRST}, not finished\n", encoding="utf-8")
    except OSError as error:
        raise ValueError(f"--out: {out} cannot be written ({error.strerror}); name another folder") from None


def write(found: Audit, out: Path, title: str, command: str) -> None:
    """``index.html`` in the folder ``out``, with its style, and the tables of the audit as CSV beside it.

    title : what was audited.   command : what makes it again.
    """
    (out / "assets").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).parent / "templates/style.css", out / "assets/style.css")
    for name in TABLES:
        table = getattr(found, name).map(harmless)
        table.to_csv(out / f"{name}.csv", index=False, lineterminator="\n", float_format="%.6g")
    what = {"found": found, "title": title, "command": command, "percent": report.percent, "report": report}
    what |= {"rates": _rates(found), "methods": _methods(found.accuracies), "suspicious": _top(found)}
    page = templates().get_template("audit.html").render(what)
    (out / "index.html").write_text(page, encoding="utf-8", newline="\n")
    (out / REPORT).write_text(f"{FIRST} of {title}\n\n{found.text}\n", encoding="utf-8", newline="\n")


RUN = ("=", "+", "-", "@", "\t", "\r", "'")


def harmless(cell: Any) -> Any:
    """An apostrophe before a text that a spreadsheet would run as a formula, or that begins with one."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(RUN) else cell


def _line(
    name: str, value: float, low: float, high: float, scale: tuple[float, float], **more: Any
) -> dict[str, Any]:
    """A line of a picture of intervals: everything as places in % of the track from scale[0] to scale[1]."""
    start, end = scale
    at, left, right = (100.0 * (x - start) / (end - start) for x in (value, low, high))
    return {"name": name, "at": at, "low": left, "high": right, "value": value} | more


def _rates(found: Audit) -> dict[str, Any]:
    """Lines of the flip rates, without the diagonal, and where the axis ends."""
    off = found.flip_rates[found.flip_rates["true"] != found.flip_rates["observed"]]
    end = max(0.1, float(np.nanmax(off[["high", "where_surest", "anchor", "own"]].to_numpy())) * 1.05)
    lines = [
        _line(
            f"{row['true']} labelled {row['observed']}", row["estimate"], row["low"], row["high"], (0.0, end),
            most=100.0 * row["where_surest"] / end, anchor=100.0 * row["anchor"] / end,
            trusted=row.get("trusted"),
            own=None if pd.isna(row["own"]) else 100.0 * row["own"] / end,
        )
        for row in off.to_dict("records")
    ]  # fmt: skip
    return {"lines": lines, "end": end}


def _methods(table: pd.DataFrame) -> dict[str, Any]:
    start = max(0.0, float(table["low"].min()) - 0.02)
    lines = [
        _line(str(row["method"]), row["accuracy"], row["low"], row["high"], (start, 1.0), row=row)
        for row in table.to_dict("records")
    ]
    return {"lines": lines, "start": start}


def _top(found: Audit) -> list[dict[str, Any]]:
    return [
        {str(key): value for key, value in row.items()}
        for row in found.suspicious.head(SHOWN).to_dict("records")
    ]
