"""Tables as CSV, Markdown, LaTeX and HTML from one data frame.

Cells are text. ``**text**`` is printed bold where the format can. The index, where it is named, holds the
sections: its levels become the first columns, and only the CSV repeats them in every row. `attrs["note"]`
of the frame stands below the table (not in the CSV).
"""

import html
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from noisylabels import statistics

if TYPE_CHECKING:
    import pandas as pd

Rows = list[list[str]]


def mean_se(mean: float, se: float) -> str:
    """``m ± s``, s with two significant digits and m to the same place; m alone where s is 0 or unknown."""
    if not np.isfinite(se) or se <= 0:
        return f"{mean:.3g}"
    places = max(0, 1 - int(np.floor(np.log10(float(f"{se:.1e}")))))
    return f"{mean:.{places}f} ± {se:.{places}f}"


def mean_se_cells(values: "pd.DataFrame", controls: Iterable[str] = ()) -> dict[str, str]:
    """``m ± s`` per method (rows: methods, columns: repetitions); the smallest that is no control is bold."""
    best = values.mean(axis=1).drop(index=list(controls), errors="ignore").idxmin()
    cells = {}
    for method, row in values.iterrows():
        estimate = statistics.mean_se(row)
        text = mean_se(estimate.mean, estimate.se)
        cells[str(method)] = f"**{text}**" if method == best else text
    return cells


def save(frame: "pd.DataFrame", paths: Iterable[str | Path]) -> None:
    """Write the table once per path, in the format of the suffix; files appear when complete.

    Raises
    ------
    ValueError : a suffix other than .csv, .md, .tex or .html; nothing is written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _WRITERS:
            raise ValueError(f"{path}: tables are written as {', '.join(_WRITERS)}")
    header, rows = _cells(frame)
    for path in targets:
        text = _WRITERS[path.suffix](header, rows, str(frame.attrs.get("note", "")))
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)


def _cells(frame: "pd.DataFrame") -> tuple[list[str], Rows]:
    plain = frame.index.nlevels == 1 and frame.index.name is None
    full = frame if plain else frame.reset_index()
    return list(map(str, full.columns)), [list(map(str, row)) for row in full.itertuples(index=False)]


def _unrepeated(rows: Rows) -> Rows:
    """Blank the leading cells that equal those of the row above."""
    shown = []
    for above, row in zip([[], *rows], rows, strict=False):
        same = 0
        while same < len(row) - 1 and row[: same + 1] == above[: same + 1]:
            same += 1
        shown.append([""] * same + row[same:])
    return shown


def _styled(cell: str, escape: Callable[[str], str], bold: str) -> str:
    if len(cell) > 4 and cell.startswith("**") and cell.endswith("**"):
        return bold.format(escape(cell[2:-2]))
    return escape(cell)


def _csv(header: list[str], rows: Rows, note: str) -> str:
    def quoted(cell: str) -> str:
        text = _styled(cell, str, "{}")
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(c in text for c in ',"\n') else text

    return "".join(",".join(map(quoted, row)) + "\n" for row in [header, *rows])


def _markdown(header: list[str], rows: Rows, note: str) -> str:
    lines = [header, ["---"] * len(header), *_unrepeated(rows)]
    table = "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in lines)
    return table + (f"\n{note}\n" if note else "")


def _latex(header: list[str], rows: Rows, note: str) -> str:
    special = {c: f"\\{c}" for c in "&%$#_{}"}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}", "±": r"$\pm$"}
    translation = str.maketrans(special)

    def row(cells: list[str]) -> str:
        styled = [_styled(cell, lambda text: text.translate(translation), r"\textbf{{{}}}") for cell in cells]
        return " & ".join(styled) + r" \\"

    body = []
    for number, cells in enumerate(_unrepeated(rows)):
        body += [r"\midrule"] if number and cells[0] else []
        body.append(row(cells))
    head = [rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\toprule", row(header), r"\midrule"]
    foot = [rf"\multicolumn{{{len(header)}}}{{l}}{{{note.translate(translation)}}} \\"] if note else []
    return "\n".join([*head, *body, r"\bottomrule", *foot, r"\end{tabular}"]) + "\n"


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><style>
body {{ font: 14px/1.35 sans-serif; margin: 1em; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: 0.2em 0.9em; text-align: left; white-space: nowrap; font-variant-numeric: tabular-nums; }}
th {{ border-bottom: 2px solid #444; position: sticky; top: 0; background: white; }}
tr.section td {{ border-top: 1px solid #999; }}
</style></head><body>
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
{note}</body></html>
"""


def _html(header: list[str], rows: Rows, note: str) -> str:
    def row(cells: list[str], number: int) -> str:
        start = '<tr class="section">' if number and cells[0] else "<tr>"
        styled = [_styled(cell, html.escape, "<strong>{}</strong>") for cell in cells]
        return start + "".join(f"<td>{cell}</td>" for cell in styled) + "</tr>"

    body = "\n".join(row(cells, number) for number, cells in enumerate(_unrepeated(rows)))
    head = "".join(f"<th>{html.escape(c)}</th>" for c in header)
    return _PAGE.format(head=head, body=body, note=f"<p>{html.escape(note)}</p>\n" if note else "")


_WRITERS = {".csv": _csv, ".md": _markdown, ".tex": _latex, ".html": _html}
