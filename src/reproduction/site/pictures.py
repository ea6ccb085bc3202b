"""Figures and tables in the site: copied once, with a thumbnail for the front page."""

import re
import shutil
from pathlib import Path

from markupsafe import Markup

from reproduction.reference.keeping import thumbnail
from reproduction.reference.runs import Run


def copied(run: Run, out: Path) -> str:
    """Copy the figure of a run to ``out`` with its own ending; its file name, "" of a table or of nothing."""
    if run.drawn is None or run.drawn.suffix == ".html":
        return ""
    target = out.with_name(out.name + run.drawn.suffix)
    shutil.copyfile(run.drawn, target)
    return target.name


def small(run: Run, out: Path) -> str:
    """The thumbnail of a run's figure as ``out``.webp; its file name, "" of a table or of nothing."""
    picture = run.drawn.with_suffix(".png") if run.drawn else Path()
    target = out.with_name(f"{out.name}.webp")
    if run.thumbnail:
        shutil.copyfile(run.thumbnail, target)
    elif picture.is_file():
        thumbnail(picture, target)
    else:
        return ""
    return target.name


def table(run: Run) -> Markup:
    """The table that was written for browsers, without its page; "" of a figure or of nothing."""
    if run.drawn is None or run.drawn.suffix != ".html":
        return Markup("")
    body = re.search(r"<body>(.*)</body>", run.drawn.read_text(encoding="utf-8"), re.DOTALL)
    return Markup(body[1].strip() if body else "")


def preview(run: Run, rows: int = 6, columns: int = 5) -> list[list[str]]:
    """The corner of a table, header first; empty of a figure or of nothing."""
    body = str(table(run))
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)[: rows + 1]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)[:columns] for row in found]
    return [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells]
