"""The page of an audit: a folder that needs no server and no other file."""

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
"""Suspicious labels on the page; the file has all of them."""
MOST_COLUMNS = 12
"""Columns of the table beside them."""
AUDIT_TABLES = ("suspicious", "conflicts", "flip_rates", "accuracies")
REPORT = "audit.txt"
"""The findings as text."""
OF_REVIEWS = ("repaired.csv", "listed.csv", "review.html")
"""Files that only a review makes; review.csv is the user's."""
STYLE = Path(__file__).with_name("templates") / "style.css"


@cache
def _load_templates() -> Environment:
    """The templates of the pages; compiling one takes longer than a page."""
    loader = PackageLoader("noisylabels.auditing")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["plain"] = _mark_code
    environment.globals["percent"] = audit.percent
    return environment


def _mark_code(text: str) -> Markup:
    """Write a sentence as HTML: words between backticks are code, nothing else is."""
    return Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(str(text))))


def write_audit(
    found: Audit | NumericAudit,
    out: Path,
    title: str,
    command: str,
    reviewed: Review | None = None,
    remark: str = "",
) -> list[str]:
    """Write the page of an audit with its style, the report as text, and the tables as CSV.

    Parameters
    ----------
    found : Audit or NumericAudit
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
    """
    (out / "assets").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(STYLE, out / "assets/style.css")
    numeric_ = isinstance(found, NumericAudit)
    written = ["index.html", REPORT]
    for name in AUDIT_TABLES[: 1 if numeric_ else None]:
        written.append(f"{name}.csv")
        table = make_harmless_table(getattr(found, name))
        table.to_csv(out / f"{name}.csv", index=False, lineterminator="\n", float_format="%.6g")
    off = [] if isinstance(found, NumericAudit) else audit.off_diagonal(found)
    rates = [row[key] for row in off for key in ("estimate", "limit", "anchor", "own")] or [0.0]
    what: dict[str, object] = {"found": found, "title": title, "command": command, "most": MOST_SHOWN}
    what |= {"report": audit}
    what |= {"off": off, "end": max(0.1, 1.05 * max(rate for rate in rates if rate == rate))}
    said = reviewed.text if reviewed else remark
    share = said.split("\n")[0] if reviewed and reviewed.reviewed else ""
    what |= {"reviewed": reviewed, "said": said.split("\n"), "shown": _suspicious(found), "share": share}
    page = _load_templates().get_template("audit.html").render(what)
    (out / "index.html").write_text(page, encoding="utf-8", newline="\n")
    paragraphs = [f"noisylabels audit of {title}", "\n".join(audit.describe(found, share))]
    if said:
        paragraphs.append(said)
    text = "\n\n".join(paragraphs) + "\n"
    (out / REPORT).write_text(text, encoding="utf-8", newline="\n")
    for name in OF_REVIEWS:  # of an earlier call
        (out / name).unlink(missing_ok=True)
    if reviewed is None:
        return written
    sheet = make_harmless_table(reviewed.sheet.astype(str))
    cells = sheet.to_numpy().tolist()
    classes = [] if isinstance(found, NumericAudit) else [str(value) for value in found.classes]
    rows = {"header": list(sheet.columns), "classes": classes, "rows": cells}
    rows["says"] = [make_visible(str(value)) for value in reviewed.model_says["model_says"]]
    rows["why"] = list(reviewed.model_says["why"])
    page = _load_templates().get_template("review.html").render(title=title, data=rows)
    (out / "review.html").write_text(page, encoding="utf-8", newline="\n")
    for name, rows_of in (("repaired", reviewed.repaired), ("listed", reviewed.listed)):
        if reviewed.reviewed + reviewed.picked and rows_of is not None:
            make_harmless_table(rows_of).to_csv(out / f"{name}.csv", index=False, lineterminator="\n")
            written.insert(0, f"{name}.csv")
    return ["review.html", reviewed.path.name, *written]


def _suspicious(found: Audit | NumericAudit) -> list[list[str]]:
    """What the rows of the suspicious labels on the page say."""
    names = [name for name in found.table.contents if name != found.table.label][:MOST_COLUMNS]
    rows = found.suspicious["row"].head(MOST_SHOWN).to_list()
    return [[make_visible(found.table.contents[name][row]) for name in names] for row in rows]
