"""The page of an audit: one folder that needs no server and nothing outside itself."""

import shutil
from pathlib import Path

from noisylabels.auditing import report
from noisylabels.auditing.audit import Audit
from noisylabels.auditing.tables import visible
from reproduction.site.build import TEMPLATES, templates

MOST_SHOWN = 50
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
    shutil.copyfile(TEMPLATES / "style.css", out / "assets/style.css")
    for name in TABLES:
        table = getattr(found, name).map(harmless)
        table.to_csv(out / f"{name}.csv", index=False, lineterminator="\n", float_format="%.6g")
    off = report.off_diagonal(found)
    rates = [row[key] for row in off for key in ("high", "where_surest", "anchor", "own")]
    what = {"found": found, "title": title, "command": command, "report": report, "most": MOST_SHOWN}
    what |= {"off": off, "end": max(0.1, 1.05 * max(rate for rate in rates if rate == rate))}
    page = templates().get_template("audit.html").render(what)
    (out / "index.html").write_text(page, encoding="utf-8", newline="\n")
    (out / REPORT).write_text(f"{FIRST} of {title}\n\n{found.text}\n", encoding="utf-8", newline="\n")


RUN = ("=", "+", "-", "@", "\t", "\r", "'")


def harmless(cell: object) -> object:
    """An apostrophe before a text that a spreadsheet would run as a formula, or that begins with one."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(RUN) else cell
