"""The page of an audit: one folder that needs no server and nothing outside itself."""

import shutil
from pathlib import Path

from noisylabels.auditing import audit
from noisylabels.auditing.audit import Audit, NumericAudit
from noisylabels.auditing.review import Review, harmless
from noisylabels.auditing.tables import visible
from reproduction.site.build import TEMPLATES, templates

MOST_SHOWN = 50
"""Suspicious labels on the page; the file has all of them."""
MOST_COLUMNS = 12
"""Columns of the table beside them."""
TABLES = ("suspicious", "conflicts", "flip_rates", "accuracies")
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
        if not ours:  # the findings of an earlier audit stay until there are others
            (out / REPORT).write_text(f"{FIRST}, not finished\n", encoding="utf-8")
        (out / REPORT).open("a").close()
    except OSError as error:
        raise ValueError(f"--out: {out} cannot be written ({error.strerror}); name another folder") from None


def write(
    found: Audit | NumericAudit,
    out: Path,
    title: str,
    command: str,
    reviewed: Review | None = None,
    remark: str = "",
) -> None:
    """``index.html`` in the folder ``out``, with its style, and the tables of the audit as CSV beside it.

    title : what was audited.   command : what makes it again.   reviewed : adds its findings, the repaired
    table, and a page to go through the rows.   remark : a sentence more.
    """
    (out / "assets").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(TEMPLATES / "style.css", out / "assets/style.css")
    numeric_ = isinstance(found, NumericAudit)
    for name in TABLES[: 1 if numeric_ else None]:
        table = getattr(found, name).map(harmless)
        table.to_csv(out / f"{name}.csv", index=False, lineterminator="\n", float_format="%.6g")
    off = [] if isinstance(found, NumericAudit) else audit.off_diagonal(found)
    rates = [row[key] for row in off for key in ("estimate", "limit", "anchor", "own")] or [0.0]
    what: dict[str, object] = {"found": found, "title": title, "command": command, "most": MOST_SHOWN}
    what |= {"report": audit}
    what |= {"off": off, "end": max(0.1, 1.05 * max(rate for rate in rates if rate == rate))}
    said = reviewed.text if reviewed else remark
    what |= {"reviewed": reviewed, "said": said.split("\n"), "shown": _shown(found)}
    page = templates().get_template("audit.html").render(what)
    (out / "index.html").write_text(page, encoding="utf-8", newline="\n")
    text = f"{FIRST} of {title}\n\n{found.text}\n" + f"\n{said}\n" * bool(said)
    (out / REPORT).write_text(text, encoding="utf-8", newline="\n")
    for name in ("repaired.csv", "listed.csv", "review.html"):  # of an earlier call
        (out / name).unlink(missing_ok=True)
    if reviewed is None:
        return
    cells = reviewed.sheet.map(lambda cell: str(harmless(str(cell)))).to_numpy().tolist()
    classes = [] if isinstance(found, NumericAudit) else [str(value) for value in found.classes]
    rows = {"header": list(reviewed.sheet.columns), "classes": classes, "rows": cells}
    page = templates().get_template("review.html").render(title=title, data=rows)
    (out / "review.html").write_text(page, encoding="utf-8", newline="\n")
    for name, table in (("repaired", reviewed.repaired), ("listed", reviewed.listed)):
        if reviewed.reviewed + reviewed.picked and table is not None:
            table.map(harmless).to_csv(out / f"{name}.csv", index=False, lineterminator="\n")


def _shown(found: Audit | NumericAudit) -> list[list[str]]:
    """What the rows of the suspicious labels on the page say."""
    names = [name for name in found.table.contents if name != found.table.label][:MOST_COLUMNS]
    rows = found.suspicious["row"].head(MOST_SHOWN).to_list()
    return [[visible(found.table.contents[name][row]) for name in names] for row in rows]
