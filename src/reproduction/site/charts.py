"""Charts of a page: published values beside ours, their agreement as a whole, and curves to read off."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil, floor, isnan, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from reproduction.figures import names
from reproduction.figures.names import Methods, label
from reproduction.figures.panels import FEW
from reproduction.figures.style import svg_line
from reproduction.reference import runs
from reproduction.reference.runs import Run
from reproduction.site.pages import NAMES, look
from reproduction.verdicts.agreement import LIMITS
from reproduction.verdicts.names import CELL, NOT_COMPARABLE
from reproduction.verdicts.sentences import Sentences, number, of_agreement, value

if TYPE_CHECKING:
    import pandas as pd


def figure(value: float, digits: int = 4) -> str:
    """``12.39``, ``0.0031``; a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")


# Published values beside ours: (ours − published) / margin with its interval, a line for each

REACH = 3.0
"""Margins to either side that a line shows; what lies further out is drawn at the end, as an arrow."""
COLUMNS = ("dataset", "method", "noise", "setting", "metric", "x", "source")
"""Columns of the selectors in the order in which a line is named after them."""
NAMED = NAMES | {"method": names.method}


class Line(NamedTuple):
    """One published value; positions are per cent of the width, ``low`` and ``high`` the interval's ends."""

    id: str
    label: str
    verdict: str
    tone: str
    at: float
    low: float
    high: float
    beyond: str
    ours: str
    published: str
    distance: str


class Block(NamedTuple):
    """The lines of one data set (or whatever comes first in the selectors)."""

    title: str
    lines: list[Line]


def blocks(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The lines of the values that were measured, grouped by the first column of the selectors that varies.

    rows : verdict rows of published values.
    """
    selectors = [value(row["where"]) for row in rows]
    varying = [c for c in COLUMNS if len({str(where.get(c, "")) for where in selectors}) > 1]
    found: dict[str, list[Line]] = {}
    for row, where in zip(rows, selectors, strict=True):
        if row["estimate"]:
            words = [_word(where.get(column, ""), column) for column in varying]
            head, rest = (words[0], words[1:]) if len(varying) > 1 else ("", words)
            found.setdefault(head, []).append(_line(row, " · ".join(filter(None, rest)) or row["id"]))
    return [Block(title, lines) for title, lines in found.items()]


def _word(label: Any, column: str) -> str:
    """A label of a selector as a reader knows it."""
    if isinstance(label, list):
        return " or ".join(_word(each, column) for each in label)
    return NAMED.get(column, str)(str(label))


def _line(row: Mapping[str, Any], label: str) -> Line:
    published, margin, ours = (number(row[key]) for key in ("published", "margin", "estimate"))
    distance = (ours - published) / margin
    interval = (number(row[f"difference_{end}"]) for end in ("low", "high"))
    low, high = (_place(distance if isnan(end) else end / margin) for end in interval)
    beyond = "" if abs(distance) <= REACH else "left" if distance < 0 else "right"
    told = figure(ours), figure(published), f"{distance:+.2f}".replace("-", "−")
    tone = look(row["verdict"]).tone
    return Line(row["id"], label, row["verdict"], tone, _place(distance), low, high, beyond, *told)


def _place(margins: float) -> float:
    """Per cent of the width."""
    return round(50 + 50 * max(-1.0, min(1.0, margins / REACH)), 2)


# Agreement of a whole table, with the picture of Bland and Altman: ours − published, against published

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 280, 56, 150, 16, 40
COLOURS = dict(zip(CELL, ("#0b6aa8", "#b78300", "#c5451b"), strict=True))
GREY = "#5b6875"


class Agreement(NamedTuple):
    """Of one metric: (quantity, figures) over all values, the picture, the mean difference of each part."""

    metric: str
    whole: list[tuple[str, str]]
    picture: Markup
    parts: list[tuple[str, str, str]]


def agreements(run: Run) -> list[Agreement]:
    """For each metric of the published values; empty where there are none, or too few to say anything."""
    found = []
    for metric in dict.fromkeys(row["metric"] for row in run.agreement):
        rows = [row for row in run.agreement if row["metric"] == metric]
        whole = [row for row in rows if not row["noise"] and not row["method"]]
        parts = [row for row in rows if row["quantity"] == "mean difference" and row not in whole]
        picture = Markup(bland_altman(run.verdicts, whole))
        found.append(Agreement(metric, of_agreement(whole), picture, list(map(_part, parts))))
    return found


def _part(row: Mapping[str, str]) -> tuple[str, str, str]:
    """(method, noise, mean difference with its interval)."""
    mean, low, high = (number(row[key]) for key in ("estimate", "low", "high"))
    noise = " or ".join(map(names.noise, row["noise"].split("|"))) if row["noise"] else "all"
    interval = "" if isnan(low) else f" [{figure(low, 3)}, {figure(high, 3)}]"
    return names.method(row["method"]) if row["method"] else "all", noise, f"{figure(mean, 3)}{interval}"


class Scale:
    """Numbers along pixels from ``start`` to ``stop``, with room at both ends."""

    def __init__(self, numbers: Sequence[float], start: float, stop: float) -> None:
        pad = 0.06 * (max(numbers) - min(numbers)) or 1.0
        self.low, self.high = min(numbers) - pad, max(numbers) + pad
        self.start, self.stop = start, stop

    def at(self, number: float) -> float:
        """Pixel of a number."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """Three to seven round numbers."""
        raw = (self.high - self.low) / 5
        power = 10.0 ** floor(log10(raw))
        step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - raw))
        return [step * k for k in range(ceil(self.low / step), floor(self.high / step) + 1)]


def bland_altman(verdicts: Sequence[Mapping[str, str]], agreement: Sequence[Mapping[str, str]]) -> str:
    """SVG of the comparable values, with their mean difference and its limits as lines; "" without any."""
    rows = [row for row in verdicts if row["kind"] == "published" and row["verdict"] != NOT_COMPARABLE]
    rows = [row for row in rows if row["estimate"]]
    drawn = next((row for row in agreement if row["quantity"] == LIMITS), None)
    if not rows or drawn is None:
        return ""
    mean, *limits = (number(drawn[key]) for key in ("estimate", "low", "high"))
    published = [number(row["published"]) for row in rows]
    gaps = [number(row["estimate"]) - known for row, known in zip(rows, published, strict=True)]
    x, y = Scale(published, LEFT, WIDTH - RIGHT), Scale([*gaps, *limits, 0.0], HEIGHT - BOTTOM, TOP)
    parts = [f'<path d="M{x.start} {y.stop}V{y.start}H{x.stop}" fill="none" stroke="{GREY}"/>']
    parts += [_text(x.at(tick), y.start + 15, f"{tick:.4g}") for tick in x.ticks()]
    parts += [_text(x.start - 6, y.at(tick) + 4, f"{tick:.4g}", "end") for tick in y.ticks()]
    turned = f'transform="rotate(-90 12 {(y.start + y.stop) / 2:.1f})"'
    parts.append(_text((x.start + x.stop) / 2, HEIGHT - 6, "published"))
    parts.append(_text(12, (y.start + y.stop) / 2, "ours − published", more=turned))
    lines = [
        (0.0, "", "1"),
        (mean, f"mean {mean:.3g}", "none"),
        *((end, f"{end:.3g}", "5 4") for end in limits),
    ]
    for height, name, dashes in lines:
        path = f"M{x.start} {y.at(height):.1f}H{x.stop}"
        parts.append(f'<path d="{path}" stroke="{GREY}" stroke-dasharray="{dashes}" fill="none"/>')
        parts.append(_text(x.stop + 6, y.at(height) + 4, name, "start"))
    for row, known, gap in zip(rows, published, gaps, strict=True):
        about = f"{Sentences().words(value(row['where']))}: {row['verdict']}"
        parts.append(_mark(row["verdict"], x.at(known), y.at(gap), about))
    for i, verdict in enumerate(dict.fromkeys(row["verdict"] for row in rows)):
        parts.append(_mark(verdict, WIDTH - 92, TOP + 14 + 16 * i, verdict))
        count = sum(row["verdict"] == verdict for row in rows)
        parts.append(_text(WIDTH - 82, TOP + 18 + 16 * i, f"{count} {verdict}", "start"))
    about = "Ours minus the published value, against the published value"
    return (
        f'<svg class="agreement" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{about}" '
        f'font-family="system-ui, sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


def _mark(verdict: str, x: float, y: float, about: str) -> str:
    """A circle inside, a square undecided, a triangle outside: different without colours too."""
    shape = {
        CELL[1]: f"M{x - 3.5:.1f} {y - 3.5:.1f}h7v7h-7z",
        CELL[2]: f"M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z",
    }.get(verdict, f"M{x - 3.5:.1f} {y:.1f}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z")
    colour, title = COLOURS.get(verdict, GREY), f"<title>{escape(about)}</title>"
    return f'<path d="{shape}" fill="{colour}" fill-opacity="0.75">{title}</path>'


def _text(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#414c57" {more}>{escape(text)}</text>'


# Curves for a reader's hands: means against x of every method, thinned until they fit into a page

LARGEST = 100_000
"""Bytes of the curves of a page."""
FEWEST, MOST = 4, 120
"""Points of a curve."""
POINT = 26
"""Bytes of a point with its interval, about."""
PLACE = ["dataset", "noise", "setting"]


def curves(path: Path, methods: Methods, protocol: str = "", opens: str = "", caption: str = "") -> str:
    """The curves of a result table or its summary as JSON; "" if it has none, or more than a page can hold.

    A list of panels ``{metric, title, x, where, curves: [{method, x, y, half, colour, dash}]}``:
    title and x are what the axes say, ``half`` is half the 95 % interval,
    colour and dash are those of the figure.
    methods : what the artifact says of them, such as their labels.   protocol : whose names the axes have.
    opens : the metric to be shown first.   caption : then come those that it names.
    """
    table = runs.read_summary(path) if path.name == "summary.csv" else _means(path)
    shown = {str(key): names.method(str(key)) for key in table["method"].unique()}
    shown |= {key: label(methods, key) for key in methods}
    looks = {name: svg_line(key) for key, name in shown.items()}
    table["method"] = table["method"].map(shown)
    for column, name in (("dataset", names.data_set), ("noise", names.noise), ("setting", names.setting)):
        table[column] = table[column].map(name)
    panels = [panel | _axes(panel["metric"], protocol) for panel in _panels(table)]
    panels.sort(key=lambda panel: (panel["metric"] != opens, *_rank(panel, caption.lower())))
    points = min(MOST, LARGEST // (POINT * max(1, sum(len(panel["curves"]) for panel in panels))))
    while panels and points >= FEWEST:
        packed = json.dumps([_thinned(panel, points, looks) for panel in panels], separators=(",", ":"))
        if len(packed) <= LARGEST:
            return packed
        points = points * 2 // 3
    return ""


def _means(path: Path) -> "pd.DataFrame":
    """Means of a result table. Raises ValueError: a table that is not the one its provenance records."""
    from reproduction.results import read_table, verify

    verify(path)
    return runs.summarised(read_table(path), quantiles=False)


def _panels(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """A panel for each metric, data set, noise and setting in which some method has a curve."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for (*names_of, method), curve in _curves(table[table["x"].notna()]):
        found.setdefault(tuple(names_of), []).append({"method": method, **curve})
    drawn = {place: of for place, of in found.items() if max(map(_points, of)) >= FEWEST}
    panels = []
    for place, of in drawn.items():
        others = [other for other in drawn if other[0] == place[0]]
        varying = [word for i, word in enumerate(place) if i and len({other[i] for other in others}) > 1]
        panels.append({"metric": place[0], "where": " · ".join(filter(None, varying)), "curves": of})
    return panels


def _axes(metric: str, protocol: str) -> dict[str, str]:
    return {"title": names.metric(metric, protocol), "x": names.x_axis(metric, protocol)}


def _points(curve: dict[str, Any]) -> int:
    return len(curve["x"])


def _rank(panel: dict[str, Any], caption: str) -> tuple[bool, int]:
    """The first panels are of metrics that the caption names, and have the most curves."""
    words = panel["metric"].lower().split("_")
    return not all(word in caption for word in words), -len(panel["curves"])


def _curves(table: "pd.DataFrame") -> Iterator[tuple[list[str], dict[str, Any]]]:
    """((metric, data set, noise, setting, method), arrays of the curve), in the order of the table."""
    from scipy.special import stdtrit

    if table.empty:
        return
    columns = ["metric", *PLACE, "method"]
    code = table.groupby(columns, sort=False).ngroup().to_numpy()
    order = np.lexsort((table["x"].to_numpy(), code))
    table, starts = table.iloc[order], np.flatnonzero(np.diff(code[order], prepend=-1))
    n = table["n"].to_numpy(float)
    half = stdtrit(np.maximum(n - 1, 1), 0.975) * table["se"].to_numpy(float)
    half[n < FEW] = np.nan
    arrays = {"x": table["x"].to_numpy(), "y": table["mean"].to_numpy(), "half": half}
    parts = [np.split(values, starts[1:]) for values in arrays.values()]
    for labels, *curve in zip(table[columns].iloc[starts].to_numpy(str).tolist(), *parts, strict=True):
        yield labels, dict(zip(arrays, curve, strict=True))


def _thinned(panel: dict[str, Any], points: int, looks: Mapping[str, dict[str, str]]) -> dict[str, Any]:
    return panel | {"curves": [_sparse(curve, points) | looks[curve["method"]] for curve in panel["curves"]]}


def _sparse(curve: dict[str, Any], points: int) -> dict[str, Any]:
    """At most so many points: the ends, and between them evenly over x and over its logarithm."""
    size = len(curve["x"])
    chosen = np.arange(size)
    if size > points:
        even = np.linspace(0, size - 1, points - points // 3)
        early = np.geomspace(1, size, points // 3) - 1
        chosen = np.unique(np.concatenate([even, early]).round().astype(int))
    thin = {"method": curve["method"]}
    for key, digits in (("x", 5), ("y", 5), ("half", 2)):
        values = curve[key][chosen]
        if not np.isnan(values).all():
            thin[key] = [None if np.isnan(value) else _short(value, digits) for value in values]
    return thin


def _short(value: float, digits: int) -> float | int:
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded
