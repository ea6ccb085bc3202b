"""Tables as CSV, Markdown, LaTeX and HTML from one data frame.

Cells are text. ``**text**`` is printed bold where the format can. The index, where it is named, holds the
sections: its levels become the first columns, and only the CSV repeats them in every row. `attrs["note"]`
of the frame stands below the table (not in the CSV).
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


def mean_se(mean: float, se: float) -> str:
    """``m ± s``, s with two significant digits and m to the same place; m alone where s is 0 or unknown.

    Beyond six places both have two digits and a power of ten.
    """
    if not np.isfinite(se) or se <= 0:
        return f"{mean:.3g}"
    places = max(0, 1 - int(np.floor(np.log10(float(f"{se:.1e}")))))
    if places > 6:
        return f"{mean:.1e} ± {se:.1e}"
    return f"{mean:.{places}f} ± {se:.{places}f}"


def mean_se_cells(
    values: pd.DataFrame, controls: Iterable[str] = (), better: str | None = "lower"
) -> dict[str, str]:
    """``m ± s`` per method (rows: methods, columns: repetitions); the best of no control is bold.

    better : which mean is, "lower" or "higher"; None: none is bold.
    """
    means = values.mean(axis=1).drop(index=list(controls), errors="ignore")
    best = set()
    if better is not None:
        best = lowest(means if better == "lower" else -means)
    found = {str(method): statistics.mean_se(row) for method, row in values.iterrows()}
    texts = {method: mean_se(each.mean, each.se) for method, each in found.items()}
    return {method: f"**{text}**" if method in best else text for method, text in texts.items()}


def mean_sd(mean: float, sd: float, places: int = 2, mark: str = "", bold: bool = False) -> str:
    """``m ± sd``; m alone where sd is NaN, that of one value. ``mark`` : appended, before it is made bold."""
    text = f"{mean:.{places}f}" + (f" ± {sd:.{places}f}" if sd == sd else "") + mark
    return f"**{text}**" if bold else text


def mean_sd_cells(rows: pd.DataFrame, methods: Iterable[str]) -> dict[str, str]:
    """``m ± sd`` of the rows of each method, the smallest mean in bold."""
    found = rows.groupby("method")["value"].agg(["mean", "std"]).loc[list(methods)]
    best = lowest(found["mean"])
    return {str(m): mean_sd(mean, sd, bold=m in best) for m, mean, sd in found.itertuples()}


def noted(frame: pd.DataFrame, *sentences: str) -> pd.DataFrame:
    """The table with the sentences, those that are not empty, below it."""
    frame.attrs["note"] = " ".join(filter(None, sentences))
    return frame


def lowest(means: pd.Series) -> set[str]:
    """Labels of the smallest mean: several where they tie, none of nothing."""
    return set(means.index[means <= means.min() + 1e-9 * abs(means.min())])


def printed(published: Iterable[Mapping[str, Any]], places: int = 2, **where: Any) -> str:
    """``m`` or ``m ± sd`` of the published value whose selector has these entries; "" without one."""
    for entry in published:
        if all(entry["where"].get(column) == value for column, value in where.items()):
            sd = f" ± {entry['sd']:.{places}f}" if "sd" in entry else ""
            return f"{entry['value']:.{places}f}{sd}"
    return ""


def save(frame: pd.DataFrame, paths: Iterable[str | Path]) -> None:
    """Write the table once per path, in the format of the suffix; files appear when complete.

    Raises ValueError : a suffix other than .csv, .md, .tex or .html; nothing is written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _WRITERS:
            raise ValueError(f"{path}: tables are written as {', '.join(_WRITERS)}")
    sections = 0 if frame.index.names == [None] else frame.index.nlevels
    full = (frame.reset_index() if sections else frame).astype(str)
    note = str(frame.attrs.get("note", ""))
    content = _Content(list(map(str, full.columns)), full.to_numpy().tolist(), sections, note)
    with ExitStack() as files:
        for path in targets:
            part = files.enter_context(replacing(path))
            part.write_text(_WRITERS[path.suffix](content), encoding="utf-8", newline="\n")


class _Content(NamedTuple):
    """What every format shows; the first ``sections`` columns are those of the index."""

    header: list[str]
    rows: list[list[str]]
    sections: int
    note: str

    def shown(self) -> Iterator[tuple[list[str], int | None]]:
        """Rows with repeated sections blanked, and the outermost section that starts there, if any."""
        above: list[str] = []
        for row in self.rows:
            same = 0
            while same < self.sections and row[: same + 1] == above[: same + 1]:
                same += 1
            yield [""] * same + row[same:], (same if above and same < self.sections else None)
            above = row


def _styled(cell: str, escape: Callable[[str], str], bold: str) -> str:
    if len(cell) > 4 and cell.startswith("**") and cell.endswith("**"):
        return bold.format(escape(cell[2:-2]))
    return escape(cell)


def _csv(content: _Content) -> str:
    def quoted(cell: str) -> str:
        text = _styled(cell, str, "{}")
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(c in text for c in ',"\n') else text

    return "".join(",".join(map(quoted, row)) + "\n" for row in [content.header, *content.rows])


def _markdown(content: _Content) -> str:
    lines = [content.header, ["---"] * len(content.header), *(row for row, _ in content.shown())]
    table = "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in lines)
    return table + (f"\n{content.note}\n" if content.note else "")


def _latex(content: _Content) -> str:
    special = {c: f"\\{c}" for c in "&%$#_{}"}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}", "±": r"$\pm$"}
    translation = str.maketrans(special)

    def row(cells: list[str]) -> str:
        styled = [_styled(cell, lambda text: text.translate(translation), r"\textbf{{{}}}") for cell in cells]
        return " & ".join(styled) + r" \\"

    rules = {None: [], 0: [r"\midrule"]}
    body = list[str]()
    for cells, start in content.shown():
        body += [*rules.get(start, [r"\addlinespace"]), row(cells)]
    columns = len(content.header)
    note = []
    if content.note:
        note = [rf"\multicolumn{{{columns}}}{{l}}{{{content.note.translate(translation)}}} \\"]
    head = [rf"\begin{{tabular}}{{{'l' * columns}}}", r"\toprule", row(content.header), r"\midrule"]
    return "\n".join([*head, *body, r"\bottomrule", *note, r"\end{tabular}", ""])


def _html(content: _Content) -> str:
    def row(cells: list[str], start: int | None) -> str:
        opening = {None: "<tr>", 0: '<tr class="section">'}.get(start, '<tr class="part">')
        styled = [_styled(cell, html.escape, "<strong>{}</strong>") for cell in cells]
        return opening + "".join(f"<td>{cell}</td>" for cell in styled) + "</tr>"

    head = "".join(f"<th>{html.escape(c)}</th>" for c in content.header)
    note = f"<p>{html.escape(content.note)}</p>\n" if content.note else ""
    page = Path(__file__).with_name("table.html").read_text(encoding="utf-8")
    return page.format(head=head, body="\n".join(row(*shown) for shown in content.shown()), note=note)


_WRITERS = {".csv": _csv, ".md": _markdown, ".tex": _latex, ".html": _html}
SUFFIXES = tuple(_WRITERS)
