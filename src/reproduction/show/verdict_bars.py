"""Bars of verdicts: how many sentences of each paper have which verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from reproduction.judge.verdict_files import read_verdicts
from reproduction.show import style
from reproduction.spec.verdict_words import (
    GROUPS,
    SENTENCE,
    VERDICTS,
    count_verdicts,
    group_verdicts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILL = {
    "reproduced": "#1b7f4d",
    "partially_reproduced": "#8cc9a4",
    "inconclusive": "#d3d3d3",
    "not_reproduced": "#c0392b",
}
"""Verdict -> colour of its part of a bar; other verdicts are white."""


EDGE: style.Looks = {"edgecolor": "#777777", "linewidth": 0.4}


def draw_archived_verdicts(root: Path) -> Figure:
    """Draw `draw_verdict_bars` for the papers of the archived run that have such claims."""
    rows_of = {}
    config = yaml.safe_load((root / "config/config.yaml").read_text(encoding="utf-8"))
    for paper in config["papers"]:
        title = (root / "src/papers" / paper / "TITLE").read_text(encoding="utf-8")
        rows = []
        for file in sorted((root / "results/reference" / paper).glob("*/verdicts.csv")):
            rows += read_verdicts(file)
        if _count_claims(rows):
            rows_of[_shorten_title(title)] = rows
    return draw_verdict_bars(rows_of)


def _shorten_title(title: str) -> str:
    """Authors and year of a title such as ``Kabán and Bootkrajang (2017), Non-linear ...``."""
    authors, _, year_and_rest = title.partition(" (")
    first, comma, _ = authors.partition(",")
    year = year_and_rest.partition(")")[0]
    return f"{first} et al. ({year})" if comma else f"{authors} ({year})"


def draw_verdict_bars(rows_of: Mapping[str, Iterable[Mapping[str, Any]]]) -> Figure:
    """Draw the verdicts on the sentences of each paper as one bar.

    Parameters
    ----------
    rows_of : mapping of str to iterable of mappings
        Title of a paper -> the rows of its ``verdicts.csv`` files. The first paper is on top.

    Returns
    -------
    matplotlib Figure
        A bar for each paper, with the number of sentences in each part.
    """
    from matplotlib.figure import Figure

    counts = {title: _count_claims(rows) for title, rows in rows_of.items()}
    with style.context():
        figure = Figure(figsize=(7.2, 0.3 * len(counts) + 0.45))
        axes = figure.add_axes((0.3, 0.2, 0.69, 0.79))
        for row, of_paper in enumerate(counts.values()):
            _draw_bar(axes, row, of_paper)
        axes.set_yticks(range(len(counts)), list(counts))
        axes.invert_yaxis()
        longest = max(sum(of_paper.values()) for of_paper in counts.values())
        axes.set_xlim(-0.1, longest + 0.1)  # so that no edge is cut
        axes.xaxis.set_visible(False)
        axes.grid(visible=False)
        axes.tick_params(left=False)
        axes.spines[:].set_visible(False)
        _add_legend(figure, counts)
    return figure


def _count_claims(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return count_verdicts(group_verdicts(rows).get(GROUPS[SENTENCE], []))


def _draw_bar(axes: Axes, row: int, counts: Mapping[str, int]) -> None:
    start = 0
    for verdict, number in counts.items():
        colour = FILL.get(verdict, "white")
        axes.barh(row, number, left=start, height=0.7, color=colour, **EDGE)
        text_colour = "white" if verdict in ("reproduced", "not_reproduced") else "black"
        centre = start + number / 2
        axes.text(centre, row, str(number), color=text_colour, ha="center", va="center", fontsize=8)
        start += number


def _add_legend(figure: Figure, counts: Mapping[str, Mapping[str, int]]) -> None:
    from matplotlib.patches import Patch

    drawn = set()
    for of_paper in counts.values():
        drawn |= set(of_paper)
    entries = []
    for verdict, shown in VERDICTS.items():
        if verdict in drawn:
            entries.append(Patch(facecolor=FILL.get(verdict, "white"), label=shown.label, **EDGE))
    looks: style.Looks = {"loc": "lower center", "handlelength": 1.2, "fontsize": 9}
    figure.legend(handles=entries, ncols=len(entries), **looks)
