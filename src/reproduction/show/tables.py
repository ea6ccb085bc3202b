"""Tables as CSV, Markdown, LaTeX and HTML from one data frame.

Cells are text. ``**text**`` is bold where the format can print it so. The index, where it is named,
holds the sections: its levels become the first columns, and only the CSV repeats them in every row.
The text ``attrs["note"]`` of the frame follows below the table, but not in the CSV.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noisylabels import statistics
from reproduction.run.atomic_files import replacing

if TYPE_CHECKING:
    import pandas as pd

MOST_PLACES = 6
"""Decimal places of a number; a number that needs more is written with a power of ten."""
TIE = 1e-9
"""Means that differ by at most this share are equal."""


def mean_se(mean: float, se: float) -> str:
    """Write ``m ± s``, s with two significant digits and m to the same place.

    The mean is alone where s is 0 or unknown. Beyond six places both have two digits and a power of
    ten.
    """
    if not np.isfinite(se) or se <= 0:
        return f"{mean:.3g}"
    exponent = int(np.floor(np.log10(float(f"{se:.1e}"))))
    places = max(0, 1 - exponent)
    if places > MOST_PLACES:
        return f"{mean:.1e} ± {se:.1e}"
    return f"{mean:.{places}f} ± {se:.{places}f}"


def mean_se_cells(
    values: pd.DataFrame, controls: Iterable[str] = (), better: str | None = "lower"
) -> dict[str, str]:
    """Write ``m ± s`` of each method; the best one that is not a control is bold.

    Parameters
    ----------
    values : DataFrame
        A row for each method, a column for each repetition.
    controls : iterable of str
        Methods that are never bold.
    better : {"lower", "higher"} or None
        Which mean is best; None if no cell is bold.
    """
    means = values.mean(axis=1).drop(index=list(controls), errors="ignore")
    best: set[str] = set()
    if better is not None:
        best = lowest(means if better == "lower" else -means)
    cells = {}
    for method, row in values.iterrows():
        estimate = statistics.mean_se(row)
        text = mean_se(estimate.mean, estimate.se)
        cells[str(method)] = f"**{text}**" if str(method) in best else text
    return cells


def mean_sd(mean: float, sd: float, places: int = 2, mark: str = "", bold: bool = False) -> str:
    """Write ``m ± sd``, or m alone where sd is NaN, as it is of one value.

    The mark is appended; it is bold with the rest.
    """
    text = f"{mean:.{places}f}"
    if not np.isnan(sd):
        text += f" ± {sd:.{places}f}"
    text += mark
    return f"**{text}**" if bold else text


def mean_sd_cells(rows: pd.DataFrame, methods: Iterable[str]) -> dict[str, str]:
    """Write ``m ± sd`` of the rows of each method, the smallest mean in bold."""
    summaries = rows.groupby("method")["value"].agg(["mean", "std"]).loc[list(methods)]
    best = lowest(summaries["mean"])
    cells = {}
    for method, mean, sd in summaries.itertuples():
        cells[str(method)] = mean_sd(mean, sd, bold=method in best)
    return cells


def noted(frame: pd.DataFrame, *sentences: str) -> pd.DataFrame:
    """Put the sentences that are not empty below the table."""
    frame.attrs["note"] = " ".join(filter(None, sentences))
    return frame


def lowest(means: pd.Series) -> set[str]:
    """Find the labels of the smallest mean: several if they tie, none of an empty series."""
    smallest = means.min()
    return set(means.index[means <= smallest + TIE * abs(smallest)])


def printed(published: Iterable[Mapping[str, Any]], places: int = 2, **labels: Any) -> str:
    """Write ``m`` or ``m ± sd`` of the published value with these entries; "" without one."""
    for entry in published:
        if all(entry["where"].get(column) == value for column, value in labels.items()):
            sd = f" ± {entry['sd']:.{places}f}" if "sd" in entry else ""
            return f"{entry['value']:.{places}f}{sd}"
    return ""


def save(frame: pd.DataFrame, paths: Iterable[str | Path]) -> None:
    """Write the table once per path, in the format of the suffix; files appear when complete.

    Raises
    ------
    ValueError
        If a suffix is not .csv, .md, .tex or .html; nothing is written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _WRITERS:
            raise ValueError(f"{path}: tables are written as {', '.join(_WRITERS)}")
    has_sections = frame.index.names != [None]
    sections = frame.index.nlevels if has_sections else 0
    full = frame.reset_index() if has_sections else frame
    header = [str(column) for column in full.columns]
    rows = full.astype(str).to_numpy().tolist()
    content = _Content(header, rows, sections, str(frame.attrs.get("note", "")))
    with ExitStack() as files:
        for path in targets:
            part = files.enter_context(replacing(path))
            part.write_text(_WRITERS[path.suffix](content), encoding="utf-8", newline="\n")


class _Row(NamedTuple):
    """A row as readers see it, in which repeated sections are blank."""

    cells: list[str]
    section: int | None
    """Level of the outermost section that starts here; None if none does."""


class _Content(NamedTuple):
    """The content of a table in every format; the first columns are those of the index."""

    header: list[str]
    rows: list[list[str]]
    sections: int
    note: str

    def shown(self) -> Iterator[_Row]:
        """Yield the rows as readers see them. No section starts in the first one."""
        previous: list[str] = []
        for row in self.rows:
            repeated = 0
            while repeated < self.sections and row[: repeated + 1] == previous[: repeated + 1]:
                repeated += 1
            starts_section = previous != [] and repeated < self.sections
            cells = [""] * repeated + row[repeated:]
            yield _Row(cells, repeated if starts_section else None)
            previous = row


def _styled(cell: str, escape: Callable[[str], str], bold: str) -> str:
    if len(cell) > len("****") and cell.startswith("**") and cell.endswith("**"):
        return bold.format(escape(cell[2:-2]))
    return escape(cell)


def _csv(content: _Content) -> str:
    lines = []
    for row in [content.header, *content.rows]:
        lines.append(",".join(map(_csv_cell, row)) + "\n")
    return "".join(lines)


def _csv_cell(cell: str) -> str:
    text = _styled(cell, str, "{}")
    if any(character in text for character in ',"\n'):
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text


def _markdown(content: _Content) -> str:
    rows = [content.header, ["---"] * len(content.header)]
    rows += [row.cells for row in content.shown()]
    lines = []
    for cells in rows:
        escaped = [cell.replace("|", "\\|") for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |\n")
    if content.note:
        lines.append(f"\n{content.note}\n")
    return "".join(lines)


_IN_LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
_IN_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}", "±": r"$\pm$"}


def _latex(content: _Content) -> str:
    columns = len(content.header)
    lines = [rf"\begin{{tabular}}{{{'l' * columns}}}", r"\toprule", _latex_row(content.header)]
    lines.append(r"\midrule")
    for row in content.shown():
        if row.section == 0:
            lines.append(r"\midrule")
        elif row.section is not None:
            lines.append(r"\addlinespace")
        lines.append(_latex_row(row.cells))
    lines.append(r"\bottomrule")
    if content.note:
        lines.append(rf"\multicolumn{{{columns}}}{{l}}{{{_escape_latex(content.note)}}} \\")
    lines.append(r"\end{tabular}")
    return "\n".join(lines) + "\n"


def _latex_row(cells: list[str]) -> str:
    styled = [_styled(cell, _escape_latex, r"\textbf{{{}}}") for cell in cells]
    return " & ".join(styled) + r" \\"


def _escape_latex(text: str) -> str:
    return "".join(_IN_LATEX.get(character, character) for character in text)


def _html(content: _Content) -> str:
    header = [f"<th>{html.escape(column)}</th>" for column in content.header]
    note = f"<p>{html.escape(content.note)}</p>\n" if content.note else ""
    page = Path(__file__).with_name("table.html").read_text(encoding="utf-8")
    body = "\n".join(map(_html_row, content.shown()))
    return page.format(head="".join(header), body=body, note=note)


def _html_row(row: _Row) -> str:
    opening = '<tr class="part">'
    if row.section is None:
        opening = "<tr>"
    elif row.section == 0:
        opening = '<tr class="section">'
    cells = []
    for cell in row.cells:
        cells.append(f"<td>{_styled(cell, html.escape, '<strong>{}</strong>')}</td>")
    return opening + "".join(cells) + "</tr>"


_WRITERS = {".csv": _csv, ".md": _markdown, ".tex": _latex, ".html": _html}
SUFFIXES = tuple(_WRITERS)
