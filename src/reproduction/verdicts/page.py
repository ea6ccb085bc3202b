"""All verdicts on one page: self-contained HTML with counts per paper, or Markdown."""

from html import escape
from typing import Any

import pandas as pd

from reproduction.verdicts.findings import with_interval
from reproduction.verdicts.names import VERDICTS
from reproduction.verdicts.picture import of_table

_STYLE = """
:root { color-scheme: light; --ink: #1d2733; --soft: #5b6875; --line: #dde3e8; }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: #fff; margin: 0 auto;
       padding: 1.2rem; max-width: 76rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
p { margin: .2rem 0 1rem; color: var(--soft); max-width: 60rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .4rem .6rem; vertical-align: top; }
th { text-align: left; font-size: .8rem; color: var(--soft); border-bottom: 2px solid var(--line); }
td { border-bottom: 1px solid var(--line); }
.summary { width: auto; }
.verdicts { table-layout: fixed; }
.verdicts th:nth-child(1) { width: 9rem; }
.verdicts th:nth-child(2) { width: 9.5rem; }
.verdicts th:nth-child(3) { width: 36%; }
.what { display: block; }
.expected, .evidence { display: block; color: var(--soft); font-size: .87rem; overflow-wrap: anywhere; }
.id { font-weight: 600; overflow-wrap: break-word; }
.verdict { display: inline-block; padding: .1rem .55rem; border-radius: 1rem; font-size: .85rem;
           font-weight: 600; white-space: nowrap; }
.agreed { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; margin-bottom: .8rem; }
.agreed svg { flex: 1 1 22rem; max-width: 38rem; min-width: 0; }
.agreed table { flex: 1 1 20rem; width: auto; }
.agreed th, .agreed td { font-size: .84rem; padding: .2rem .5rem; font-weight: 400;
                                  border-bottom: 1px solid var(--line); }
.good { background: #d5f0e3; color: #0b5137; }
.open { background: #fdf0cc; color: #6a4b00; }
.bad  { background: #fbdcd7; color: #8a1f10; }
.none { background: #e8ecef; color: #414c57; }
@media (max-width: 44rem) {
  body { padding: .8rem; }
  .verdicts thead { display: none; }
  .verdicts tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .verdicts td { display: block; border: 0; padding: .12rem 0; }
  .summary td { padding: .3rem .35rem; }
}
"""
_INTRO = (
    "A published value is inside when its own interval shows the difference to lie within the declared "
    "margin, outside when a test shows it to lie beyond, and undecided when neither is shown. A claim holds, "
    "or it is contradicted, or it is not shown; a theorem or an identity is verified. Stand-in data and "
    "whatever cannot be compared get no verdict; a reduced run says that it ran."
)


def page(verdicts: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """HTML of a frame of text columns: paper, artifact and those of `findings.VERDICT_COLUMNS`.

    agreement : frame of `agreement.COLUMNS`, shown with a picture above the verdicts of its artifact.
    """
    parts = [_summary(verdicts)]
    for paper, of_paper in verdicts.groupby("paper", sort=False):
        for artifact, rows in of_paper.groupby("artifact", sort=False):
            parts.append(f"<h2>{escape(str(paper))} · {escape(str(artifact))}</h2>")
            parts += [_agreement(rows, part) for part in agreed(agreement, paper, artifact)]
            parts.append(_rows(rows))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Verdicts</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>Verdicts</h1><p>{_INTRO}</p>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def markdown(verdicts: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """The same as a Markdown page with one table per artifact: id, verdict, statement and evidence."""
    parts = ["# Verdicts", _INTRO]
    for (paper, artifact), rows in verdicts.groupby(["paper", "artifact"], sort=False):
        parts.append(f"## {paper}, {artifact}")
        for part in agreed(agreement, paper, artifact):
            said = [f"| {quantity} | {figures} |" for quantity, figures in sentences(part)]
            parts.append("\n".join(["| agreement with print | |", "|---|---|", *said]))
        lines = ["| id | verdict | what | evidence |", "|---|---|---|---|"]
        for row in rows.itertuples():
            cells = (row.id, f"**{row.verdict}**", row.statement, row.evidence)
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def agreed(agreement: pd.DataFrame, paper: Any, artifact: Any) -> list[pd.DataFrame]:
    """What is said of a whole table: the rows over all methods and noises, one frame per metric."""
    mine = agreement[(agreement["paper"] == paper) & (agreement["artifact"] == artifact)]
    whole = mine[(mine["noise"] == "") & (mine["method"] == "")]
    return [part for _, part in whole.groupby("metric", sort=False)]


def sentences(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """(quantity, figures) of the rows of a table's agreement; the three states of a control in one."""
    found: dict[str, list[str]] = {}
    for row in rows.to_dict("records"):
        quantity, _, state = str(row["quantity"]).partition(": ")
        if state:
            place = "our values" if quantity == "ours" else f"{quantity} in our place"
            found.setdefault(place, []).append(f"{row['estimate']:.0f} {state}")
            continue
        scale, unit = (100, " %") if quantity.startswith("same") else (1, "")
        figure = with_interval(scale * row["estimate"], (scale * row["low"], scale * row["high"]))
        over = f"{row['cells']} {_CELLS.get(quantity, 'values')}, {row['sets']} data sets"
        found[quantity] = [f"{figure}{unit} ({over})"]
    return [(quantity, ", ".join(figures)) for quantity, figures in found.items()]


_CELLS = {"same winner": "rows", "same order": "pairs of methods"}


def _agreement(verdicts: pd.DataFrame, rows: pd.DataFrame) -> str:
    """The figures of a table's agreement beside Bland and Altman's picture."""
    lines = "".join(f"<tr><th>{escape(q)}</th><td>{escape(f)}</td></tr>" for q, f in sentences(rows))
    drawn = of_table(verdicts.to_dict("records"), rows.to_dict("records"))
    return f'<div class="agreed">{drawn}<table>{lines}</table></div>'


def _badge(verdict: str, count: str = "") -> str:
    return f'<span class="verdict {VERDICTS.get(verdict, "none")}">{count}{escape(verdict)}</span>'


def _summary(verdicts: pd.DataFrame) -> str:
    body = ""
    for paper, rows in verdicts.groupby("paper", sort=False):
        counts = {verdict: int((rows["verdict"] == verdict).sum()) for verdict in VERDICTS}
        badges = " ".join(_badge(verdict, f"{count} ") for verdict, count in counts.items() if count)
        body += f'<tr><td class="id">{escape(str(paper))}</td><td>{badges}</td></tr>\n'
    return f'<table class="summary"><tbody>\n{body}</tbody></table>'


def _rows(rows: pd.DataFrame) -> str:
    head = "<tr><th>id</th><th>verdict</th><th>statement and expectation</th><th>evidence</th></tr>"
    body = "\n".join(
        _row({str(key): str(value) for key, value in row.items()}) for row in rows.to_dict("records")
    )
    return f'<table class="verdicts"><thead>{head}</thead><tbody>\n{body}\n</tbody></table>'


def _row(row: dict[str, str]) -> str:
    text = {key: escape(value) for key, value in row.items()}
    what = f'<span class="what">{text["statement"]}</span><span class="expected">{text["expected"]}</span>'
    return (
        f'<tr><td class="id">{text["id"]}</td><td>{_badge(row["verdict"])}</td>'
        f'<td>{what}</td><td><span class="evidence">{text["evidence"]}</span></td></tr>'
    )
