"""Numbers of the charts of a page: published values, their agreement as a whole, and curves."""

import json
import re
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from reproduction.judge import archived_run as runs
from reproduction.judge.agreement import LIMITS
from reproduction.judge.claims import listed
from reproduction.judge.estimates import value
from reproduction.judge.sentences import Sentences, number, of_agreement
from reproduction.judge.verdict_files import Row
from reproduction.run.records import verify
from reproduction.run.results import read_table
from reproduction.show import names
from reproduction.show.panels import FEW
from reproduction.show.site.pages import NAMES, Page
from reproduction.show.style import svg_line
from reproduction.spec.verdict_words import NOT_COMPARABLE, PUBLISHED, describe, look_up

if TYPE_CHECKING:
    import pandas as pd


def figure(value: float, digits: int = 4) -> str:
    """``12.39``, ``0.0031``; a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")


# Published values next to ours: (ours − published) / margin with its interval, a line for each

REACH = 3.0
"""Tolerances to either side that a chart shows; what lies further out is drawn at its end."""
COLUMNS = ("dataset", "method", "noise", "setting", "metric", "x", "source")
"""Columns of the selectors in the order in which a line is named after them."""
NAMED = NAMES | {"method": names.method, "metric": names.metric}


class Line(NamedTuple):
    """One published value: its verdict row, and (our value − published value) / tolerance.

    Attributes
    ----------
    row : dict
        The row of verdicts.
    label : str
        What the value is of.
    at, low, high : float
        The difference in tolerances, and the ends of its interval.
    """

    row: Row
    label: str
    at: float
    low: float
    high: float


def blocks(rows: Sequence[Row]) -> dict[str, list[Line]]:
    """The measured ones of some published values, by the first column of the selectors that varies."""
    selectors = [value(row["where"]) for row in rows]
    varying = [c for c in COLUMNS if len({str(where.get(c, "")) for where in selectors}) > 1]
    found: dict[str, list[Line]] = {}
    for row, where in zip(rows, selectors, strict=True):
        if row["estimate"]:
            names_of = [(NAMED.get(column, str), listed(where.get(column, ""))) for column in varying]
            words = [" or ".join(name(str(label)) for label in labels) for name, labels in names_of]
            head = words.pop(0) if len(varying) > 1 else ""
            found.setdefault(head, []).append(_line(row, " · ".join(filter(None, words)) or row["id"]))
    return found


def marks(table: Markup, judges: Sequence[Page]) -> Markup:
    """A table in which each published value has the mark of its verdict; "" if it has none.

    Values are found by what is printed, ``m ± sd`` or ``m``; a text that has several verdicts has no mark.
    """
    entries = {entry["id"]: entry for page in judges for entry in page.content.get("published", [])}
    found: dict[str, set[str]] = {}
    for row in (row for page in judges for row in page.published_values):
        entry = entries.get(row["id"], {})
        if entry and "se" not in entry:
            sd = f" ± {entry['sd']:.2f}" if "sd" in entry else ""
            found.setdefault(f"{entry['value']:.2f}{sd}", set()).add(row["verdict"])

    def marked(cell: re.Match[str]) -> str:
        verdicts = found.get(cell[1], set())
        if len(verdicts) != 1:
            return cell[0]
        shown = look_up(next(iter(verdicts)))
        title = f'class="cell {shown.colour}" title="{shown.label}"'
        return f"<td {title}>{cell[1]} <i>{shown.symbol}</i></td>"

    text = re.sub(r"<td>([^<\n]*)</td>", marked, table)
    return Markup(text if text != table else "")


def _line(row: Row, label: str) -> Line:
    published, margin, ours, *ends = (
        number(row[key]) for key in ("published", "margin", "estimate", "difference_low", "difference_high")
    )
    at = (ours - published) / margin
    low, high = (at if isnan(end) else end / margin for end in ends)
    return Line(row, label, at, low, high)


# Agreement of a whole table, with the picture of Bland and Altman: ours − published, against published


class Plot(NamedTuple):
    """Differences against published values.

    Attributes
    ----------
    points : list of tuple
        Verdict, published value, difference, and what it is of.
    lines : list of tuple
        Height and name.
    """

    points: list[tuple[str, float, float, str]]
    lines: list[tuple[float, str]]


class Agreement(NamedTuple):
    """Of one metric: (quantity, figures) over all values, the plot, the mean difference of each part."""

    metric: str
    whole: list[tuple[str, str]]
    plot: Plot | None
    parts: list[tuple[str, str, str]]


def agreements(page: Page) -> list[Agreement]:
    """For each metric of the published values; empty where there are none, or too few to say anything."""
    found, run = [], page.first
    for metric in dict.fromkeys(row["metric"] for row in run.agreement):
        rows = [row for row in run.agreement if row["metric"] == metric]
        whole = [row for row in rows if not row["noise"] and not row["method"]]
        parts = [_part(row) for row in rows if row["quantity"] == "mean difference" and row not in whole]
        name = names.metric(metric, page.protocol)
        found.append(Agreement(name, of_agreement(whole), bland_altman(run.verdicts, whole), parts))
    return found


def _part(row: Row) -> tuple[str, str, str]:
    """(method, noise, mean difference with its interval)."""
    mean, low, high = (number(row[key]) for key in ("estimate", "low", "high"))
    noise = " or ".join(map(names.noise, row["noise"].split("|"))) if row["noise"] else "all"
    interval = "" if isnan(low) else f" [{figure(low, 3)}, {figure(high, 3)}]"
    return names.method(row["method"]) if row["method"] else "all", noise, f"{figure(mean, 3)}{interval}"


def bland_altman(verdicts: Sequence[Row], agreement: Sequence[Row]) -> Plot | None:
    """The comparable values, with their mean difference and its limits as lines; None without any."""
    limits = next((row for row in agreement if row["quantity"] == LIMITS), None)
    sentences = Sentences(lambda column, key: NAMED.get(column, str)(key))
    points = []
    for row in verdicts:
        if row["kind"] == PUBLISHED and row["verdict"] != NOT_COMPARABLE and row["estimate"]:
            about = f"{sentences.words(value(row['where']))}: {describe(row)}"
            ours = number(row["estimate"])
            printed = number(row["published"])
            points.append((row["verdict"], printed, ours - printed, about))
    if not points or limits is None:
        return None
    mean, low, high = (number(limits[key]) for key in ("estimate", "low", "high"))
    lines = [(0.0, "no difference"), (mean, "mean difference")]
    lines += [(low, "lower limit of agreement"), (high, "upper limit of agreement")]
    return Plot(points, lines)


# Curves for a reader's hands: means against x of every method, thinned until they fit into a page

LARGEST = 100_000
"""Bytes of the curves of a page."""
FEWEST, MOST = 4, 120
"""Points of a curve."""
POINT = 26
"""Bytes of a point with its interval, about."""
PLACE = ["metric", "dataset", "noise", "setting"]
DIGITS = {"x": 5, "y": 5, "half": 2}
Curve = np.ndarray[Any, Any]
"""A row for each point, with these columns."""


def curves(
    path: Path, methods: names.Methods, protocol: str = "", opens: str = "", caption: str = ""
) -> list[dict[str, Any]]:
    """The curves of a result table or its summary; empty if it has none, or more than a page can hold.

    A list of panels ``{metric, where, curves: [{method, x, y, half, colour, dash}], title, x}``: title and x
    are what the axes say, ``half`` is half the 95 % interval, colour and dash are those of the figure.
    methods : what the artifact says of them, such as their labels.   protocol : whose names the axes have.
    opens : the metric to be shown first.   caption : then come those that it names.
    Raises ValueError : a table that is not the one of its record.
    """
    if path.name == "summary.csv":
        table = runs.read_summary(path)
    else:
        verify(path)
        table = runs.summarised(read_table(path), quantiles=False)
    drawn = _drawn(table)

    def order(place: tuple[str, ...]) -> tuple[bool, bool, int]:
        named = all(word in caption.lower() for word in place[0].lower().split("_"))
        return place[0] != opens, not named, -len(drawn[place])

    def panel(place: tuple[str, ...], points: int) -> dict[str, Any]:
        others = [other for other in drawn if other[0] == place[0]]
        varying = [word for i, word in enumerate(place) if i and len({other[i] for other in others}) > 1]
        shown: list[dict[str, object]] = []
        for key, curve in drawn[place].items():
            name = names.label(methods, key) if key in methods else names.method(key)
            shown.append({"method": name, **_thinned(curve, points), **svg_line(key)})
        said = {"title": names.metric(place[0], protocol), "x": names.x_axis(place[0], protocol)}
        where = " · ".join(filter(None, varying))
        return {"metric": place[0], "where": where, "curves": shown, **said}

    points = min(MOST, LARGEST // (POINT * max(1, sum(map(len, drawn.values())))))
    while drawn and points >= FEWEST:
        shown = [panel(place, points) for place in sorted(drawn, key=order)]
        packed = json.dumps(shown, separators=(",", ":"))
        if len(packed) <= LARGEST:
            return shown
        points = points * 2 // 3
    return []


def _drawn(table: "pd.DataFrame") -> dict[tuple[str, ...], dict[str, Curve]]:
    """`PLACE`, by its names -> method -> x, y and half; without places in which no method has a curve."""
    from scipy.special import stdtrit

    n = table["n"].to_numpy(float)
    half = stdtrit(np.maximum(n - 1, 1), 0.975) * table["se"].to_numpy(float)
    table = table.rename(columns={"mean": "y"}).assign(
        half=np.where(n < FEW, np.nan, half), **{key: table[key].map(name) for key, name in NAMES.items()}
    )
    table = table[table["x"].notna()]
    number = table.groupby([*PLACE, "method"], sort=False).ngroup().to_numpy()
    order = np.lexsort((table["x"], number))  # stable
    keys, numbers = (table[names].to_numpy()[order] for names in ([*PLACE, "method"], list(DIGITS)))
    found: dict[tuple[str, ...], dict[str, Curve]] = {}
    start = 0
    for end in np.cumsum(np.bincount(number)):
        *place, method = map(str, keys[start])
        found.setdefault(tuple(place), {})[method] = numbers[start:end]
        start = end
    return {place: of for place, of in found.items() if max(map(len, of.values())) >= FEWEST}


def _thinned(curve: Curve, points: int) -> dict[str, list[float | None]]:
    """At most so many points: the ends, and between them evenly over x and over its logarithm."""
    size = len(curve)
    if size > points:
        even = np.linspace(0, size - 1, points - points // 3)
        early = np.geomspace(1, size, points // 3) - 1
        curve = curve[np.unique(np.concatenate([even, early]).round().astype(int))]
    columns = zip(DIGITS.items(), curve.T.tolist(), strict=True)
    return {
        key: [_short(n, digits) for n in column]
        for (key, digits), column in columns
        if not all(map(isnan, column))
    }


def _short(number: float, digits: int) -> float | None:
    """With so many digits, and without ``.0``; None, which JSON has in place of NaN."""
    rounded = float(f"{number:.{digits}g}")
    if isnan(rounded):
        return None
    return int(rounded) if rounded.is_integer() else rounded
