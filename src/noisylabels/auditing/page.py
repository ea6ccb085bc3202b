"""The page of an audit: a folder that needs no server and no other file."""

import math
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from noisylabels.auditing import audit
from noisylabels.auditing.audit import Audit, NumericAudit
from noisylabels.auditing.review import Review
from noisylabels.safe_text import make_harmless_table, make_visible

MOST_SHOWN = 50
"""Number of suspicious labels on the page; the file has all of them."""
MOST_COLUMNS = 12
"""Largest number of columns in the table of suspicious labels."""
AUDIT_TABLES = ("suspicious", "conflicts", "flip_rates", "accuracies")
REPORT = "audit.txt"
"""File with the findings as text."""
OF_REVIEWS = ("repaired.csv", "listed.csv", "review.html")
"""Files that only a review makes; review.csv is not among them, because it belongs to the user."""
STYLE = Path(__file__).with_name("templates") / "style.css"


@cache
def _load_templates() -> Environment:
    """Load the templates of the pages, once, as compiling one takes longer than making a page."""
    loader = PackageLoader("noisylabels.auditing")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = True
    environment.lstrip_blocks = True
    environment.filters["plain"] = _mark_code
    environment.globals["percent"] = audit.percent
    return environment


def _mark_code(text: str) -> Markup:
    """Write a sentence as HTML: words between backticks become code, and markup becomes text."""
    return Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(str(text))))


def write_audit(
    result: Audit | NumericAudit,
    out: Path,
    title: str,
    command: str,
    reviewed: Review | None = None,
    remark: str = "",
) -> list[str]:
    """Write the page of an audit with its style, the report as text, and the tables as CSV.

    Parameters
    ----------
    result : Audit or NumericAudit
        What the audit found.
    out : Path
        The folder for the files.
    title : str
        What was audited.
    command : str
        The command that makes it again.
    reviewed : Review, optional
        Adds its findings, the repaired table, and a page to go through the rows.
    remark : str, default ""
        One more sentence for the report.

    Returns
    -------
    list of str
        Names of the files that a person reads, the most useful first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import noisylabels
    >>> from noisylabels.auditing.page import write_audit
    >>> y = np.arange(60) % 2
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 4 * y[:, None]
    >>> result = noisylabels.audit(X, y, model="logistic", compare=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_audit(result, Path(folder), "two classes", "my_script.py")[:3]
    ['index.html', 'audit.txt', 'suspicious.csv']
    """
    (out / "assets").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STYLE, out / "assets/style.css")
    files = ["index.html", REPORT, *_write_tables(result, out)]
    remark = reviewed.text if reviewed else remark
    share = ""
    if reviewed and reviewed.reviewed:
        share = remark.split("\n")[0]
    contents: dict[str, object] = {
        "found": result,
        "title": title,
        "command": command,
        "most": MOST_SHOWN,
        "report": audit,
        "reviewed": reviewed,
        "said": remark.split("\n"),
        "shown": _suspicious_rows(result),
        "share": share,
        **_flip_rates_to_draw(result),
    }
    _write_page(out / "index.html", "audit.html", contents)
    paragraphs = [f"noisylabels audit of {title}", "\n".join(audit.describe(result, share))]
    if remark:
        paragraphs.append(remark)
    text = "\n\n".join(paragraphs) + "\n"
    (out / REPORT).write_text(text, encoding="utf-8", newline="\n")
    for name in OF_REVIEWS:  # these files are from an earlier review
        (out / name).unlink(missing_ok=True)
    if reviewed is None:
        return files
    _write_review_page(result, reviewed, out, title)
    lists = _write_lists(reviewed, out)
    return ["review.html", reviewed.path.name, *lists, *files]


def _write_page(path: Path, template: str, contents: dict[str, object]) -> None:
    page = _load_templates().get_template(template).render(contents)
    path.write_text(page, encoding="utf-8", newline="\n")


def _write_tables(result: Audit | NumericAudit, out: Path) -> list[str]:
    """Write the tables of an audit as CSV, and list the files."""
    names: tuple[str, ...] = AUDIT_TABLES
    if isinstance(result, NumericAudit):
        names = AUDIT_TABLES[:1]
    files = []
    for name in names:
        table = make_harmless_table(getattr(result, name))
        file = f"{name}.csv"
        table.to_csv(out / file, index=False, lineterminator="\n", float_format="%.6g")
        files.append(file)
    return files


def _flip_rates_to_draw(result: Audit | NumericAudit) -> dict[str, object]:
    """Collect the flip rates of the page's figure, and choose the end of its axis."""
    flips = []
    if isinstance(result, Audit):
        flips = audit.off_diagonal(result)
    largest = 0.0
    for row in flips:
        for key in ("estimate", "limit", "anchor", "own"):
            if not math.isnan(row[key]):
                largest = max(largest, row[key])
    return {"off": flips, "end": max(0.1, 1.05 * largest)}


def _write_review_page(
    result: Audit | NumericAudit,
    reviewed: Review,
    out: Path,
    title: str,
) -> None:
    """Write the page on which a person goes through the rows that were drawn."""
    sheet = make_harmless_table(reviewed.sheet.astype(str))
    classes = []
    if isinstance(result, Audit):
        classes = [str(value) for value in result.classes]
    data = {
        "header": list(sheet.columns),
        "classes": classes,
        "rows": sheet.to_numpy().tolist(),
        "says": [make_visible(str(value)) for value in reviewed.model_says["model_says"]],
        "why": list(reviewed.model_says["why"]),
    }
    _write_page(out / "review.html", "review.html", {"title": title, "data": data})


def _write_lists(reviewed: Review, out: Path) -> list[str]:
    """Write the list of wrong labels and the repaired table, once rows were reviewed."""
    if not reviewed.reviewed + reviewed.picked:
        return []
    files = []
    for file, rows in (("listed.csv", reviewed.listed), ("repaired.csv", reviewed.repaired)):
        if rows is not None:
            table = make_harmless_table(rows)
            table.to_csv(out / file, index=False, lineterminator="\n")
            files.append(file)
    return files


def _suspicious_rows(result: Audit | NumericAudit) -> list[list[str]]:
    """Write the rows of the suspicious labels on the page."""
    table = result.table
    names = [name for name in table.contents if name != table.label][:MOST_COLUMNS]
    contents = []
    for row in result.suspicious["row"].head(MOST_SHOWN).to_list():
        contents.append([make_visible(table.contents[name][row]) for name in names])
    return contents
