"""Numbers of the charts on a page: published values, their agreement, and curves."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
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
from reproduction.show.left_out_cases import NAMES
from reproduction.show.panels import FEW
from reproduction.show.site.pages import Page
from reproduction.show.style import svg_line
from reproduction.spec.verdict_words import NOT_COMPARABLE, PUBLISHED, describe, look_up

if TYPE_CHECKING:
    import pandas as pd


def figure(value: float, digits: int = 4) -> str:
    """Write a number with a true minus sign: ``12.39``, ``−0.0031``."""
    return f"{value:.{digits}g}".replace("-", "−")


# Published values next to ours: (ours − published) / margin with its interval, a line for each

REACH = 3.0
"""Tolerances to either side that a chart shows; a value beyond is drawn at the edge."""
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
    difference, low, high : float
        The difference in tolerances, and the ends of its interval.
    """

    row: Row
    label: str
    difference: float
    low: float
    high: float


def blocks(rows: Sequence[Row]) -> dict[str, list[Line]]:
    """Group the measured published values by the first column of their selectors that varies."""
    selectors = [value(row["where"]) for row in rows]
    varying = [column for column in COLUMNS if _varies(selectors, column)]
    lines: dict[str, list[Line]] = {}
    for row, selector in zip(rows, selectors, strict=True):
        if not row["estimate"]:
            continue
        words = [_name_entry(column, selector.get(column, "")) for column in varying]
        title = words.pop(0) if len(varying) > 1 else ""
        label = " · ".join(filter(None, words)) or row["id"]
        lines.setdefault(title, []).append(_line(row, label))
    return lines


def _varies(selectors: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Decide whether the selectors have different entries in a column."""
    entries = set()
    for selector in selectors:
        entry = selector.get(column, "")
        entries.add(str(entry))
    return len(entries) > 1


def _name_entry(column: str, entry: Any) -> str:
    """Name the entry of a selector in the words of readers; several are joined by "or"."""
    name = NAMED.get(column, str)
    return " or ".join(name(str(label)) for label in listed(entry))


def marks(table: Markup, judges: Sequence[Page]) -> Markup:
    """Mark each published value of a table with the sign of its verdict; "" if it has none.

    Values are found by their text, ``m ± sd`` or ``m``; a text with several verdicts has no sign.
    """
    verdicts_of = _verdicts_by_text(judges)

    def mark(cell: re.Match[str]) -> str:
        verdicts = verdicts_of.get(cell[1], set())
        if len(verdicts) != 1:
            return cell[0]
        (verdict,) = verdicts
        shown = look_up(verdict)
        title = f'class="cell {shown.colour}" title="{shown.label}"'
        return f"<td {title}>{cell[1]} <i>{shown.symbol}</i></td>"

    text = re.sub(r"<td>([^<\n]*)</td>", mark, table)
    return Markup(text if text != table else "")


def _verdicts_by_text(judges: Sequence[Page]) -> dict[str, set[str]]:
    """Collect the verdicts of published values by the text that a table has for the value."""
    entries = {}
    for page in judges:
        for entry in page.content.get("published", []):
            entries[entry["id"]] = entry
    verdicts: dict[str, set[str]] = {}
    for page in judges:
        for row in page.published_values:
            entry = entries.get(row["id"])
            if entry is None or "se" in entry:
                continue
            sd = f" ± {entry['sd']:.2f}" if "sd" in entry else ""
            verdicts.setdefault(f"{entry['value']:.2f}{sd}", set()).add(row["verdict"])
    return verdicts


def _line(row: Row, label: str) -> Line:
    published = number(row["published"])
    margin = number(row["margin"])
    difference = (number(row["estimate"]) - published) / margin
    low = number(row["difference_low"]) / margin
    high = number(row["difference_high"]) / margin
    if isnan(low):
        low = difference
    if isnan(high):
        high = difference
    return Line(row, label, difference, low, high)


# Agreement of a whole table, in the plot of Bland and Altman: ours − published, against published


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
    """Agreement in one metric: over all values, as a plot, and the difference of each part."""

    metric: str
    whole: list[tuple[str, str]]
    plot: Plot | None
    parts: list[tuple[str, str, str]]


def agreements(page: Page) -> list[Agreement]:
    """Describe the agreement of each metric of the published values; empty if nothing is known."""
    run = page.first
    described = []
    for metric in dict.fromkeys(row["metric"] for row in run.agreement):
        whole: list[Row] = []
        parts = []
        for row in run.agreement:
            if row["metric"] != metric:
                continue
            if not row["noise"] and not row["method"]:
                whole.append(row)
            elif row["quantity"] == "mean difference":
                parts.append(_part(row))
        name = names.metric(metric, page.protocol)
        plot = bland_altman(run.verdicts, whole)
        described.append(Agreement(name, of_agreement(whole), plot, parts))
    return described


def _part(row: Row) -> tuple[str, str, str]:
    """Return method, noise, and mean difference with its interval, as text."""
    method = names.method(row["method"]) if row["method"] else "all"
    noise = "all"
    if row["noise"]:
        noise = " or ".join(map(names.noise, row["noise"].split("|")))
    mean, low, high = _with_limits(row)
    difference = figure(mean, 3)
    if not isnan(low):
        difference += f" [{figure(low, 3)}, {figure(high, 3)}]"
    return method, noise, difference


def _with_limits(row: Row) -> tuple[float, float, float]:
    """Read the estimate of a row of agreement and its limits."""
    return number(row["estimate"]), number(row["low"]), number(row["high"])


def bland_altman(verdicts: Sequence[Row], agreement: Sequence[Row]) -> Plot | None:
    """Plot the comparable values, with their mean difference and its limits as lines.

    None without comparable values.
    """
    limits = next((row for row in agreement if row["quantity"] == LIMITS), None)
    sentences = Sentences(lambda column, key: NAMED.get(column, str)(key))
    points = []
    for row in verdicts:
        if row["kind"] == PUBLISHED and row["verdict"] != NOT_COMPARABLE and row["estimate"]:
            cell = sentences.words(value(row["where"]))
            description = f"{cell}: {describe(row)}"
            ours = number(row["estimate"])
            published = number(row["published"])
            points.append((row["verdict"], published, ours - published, description))
    if not points or limits is None:
        return None
    mean, low, high = _with_limits(limits)
    lines = [(0.0, "no difference"), (mean, "mean difference")]
    lines += [(low, "lower limit of agreement"), (high, "upper limit of agreement")]
    return Plot(points, lines)


# Curves for a reader's hands: means against x of every method, thinned until they fit into a page

LARGEST = 100_000
"""Largest size in bytes of the curves of a page."""
FEWEST, MOST = 4, 120
"""Smallest and largest number of points of a curve."""
POINT = 26
"""Approximate size in bytes of a point with its interval."""
PLACE = ["metric", "dataset", "noise", "setting"]
"""Columns that name a panel."""
DIGITS = {"x": 5, "y": 5, "half": 2}
Curve = np.ndarray[Any, Any]
"""A row for each point, with the columns `DIGITS`."""
Place = tuple[str, ...]
"""The entries of a panel in the columns `PLACE`, in the names of readers."""


def curves(
    path: Path, methods: names.Methods, protocol: str = "", opens: str = "", caption: str = ""
) -> list[dict[str, Any]]:
    """List the curves of a result table or its summary, panel by panel.

    Parameters
    ----------
    path : Path
        The table, or its summary.
    methods : mapping
        What the artifact says of its methods, such as their labels.
    protocol : str
        Its names are those of the axes.
    opens : str
        The metric to show first.
    caption : str
        Metrics that it names come next.

    Returns
    -------
    list of dict
        Panels ``{metric, where, curves: [{method, x, y, half, colour, dash}], title, x}``: title
        and x are the words of the axes, ``half`` is half the 95 % interval, colour and dash are
        those of the figure. Empty if there is no curve, or more than a page can hold.

    Raises
    ------
    ValueError
        If the table is not the one of its record.
    """
    if path.name == "summary.csv":
        table = runs.read_summary(path)
    else:
        verify(path)
        table = runs.summarise(read_table(path), quantiles=False)
    curves_of = _curves_by_place(table)

    def order(panel: Place) -> tuple[bool, bool, int]:
        metric = panel[0]
        words = metric.lower().split("_")
        is_named = all(word in caption.lower() for word in words)
        return metric != opens, not is_named, -len(curves_of[panel])

    places = sorted(curves_of, key=order)
    n_curves = sum(map(len, curves_of.values()))
    points = min(MOST, LARGEST // (POINT * max(1, n_curves)))
    while places and points >= FEWEST:
        panels = []
        for panel in places:
            curves_here = _list_curves(curves_of[panel], methods, points)
            panels.append(
                {
                    "metric": panel[0],
                    "where": _name_place(panel, curves_of),
                    "curves": curves_here,
                    "title": names.metric(panel[0], protocol),
                    "x": names.x_axis(panel[0], protocol),
                }
            )
        packed = json.dumps(panels, separators=(",", ":"))
        if len(packed) <= LARGEST:
            return panels
        points = points * 2 // 3
    return []


def _name_place(chosen: Place, places: Iterable[Place]) -> str:
    """Name a panel by the entries in which panels of its metric differ."""
    panels_of_metric = [panel for panel in places if panel[0] == chosen[0]]
    words = []
    for column in range(1, len(chosen)):
        entries = {panel[column] for panel in panels_of_metric}
        if len(entries) > 1 and chosen[column]:
            words.append(chosen[column])
    return " · ".join(words)


def _list_curves(
    curves_here: Mapping[str, Curve], methods: names.Methods, points: int
) -> list[dict[str, object]]:
    """List the curves of a panel with the names and looks of their methods."""
    described: list[dict[str, object]] = []
    for method, curve in curves_here.items():
        name = names.label(methods, method) if method in methods else names.method(method)
        described.append({"method": name, **_thinned(curve, points), **svg_line(method)})
    return described


def _curves_by_place(table: "pd.DataFrame") -> dict[Place, dict[str, Curve]]:
    """Map each place, in the names of readers, to the curve of each method.

    Places in which no method has a curve are left out.
    """
    from scipy.special import stdtrit

    n = table["n"].to_numpy(float)
    half = stdtrit(np.maximum(n - 1, 1), 0.975) * table["se"].to_numpy(float)
    table = table.rename(columns={"mean": "y"})
    table["half"] = np.where(n < FEW, np.nan, half)
    for column, name in NAMES.items():
        table[column] = table[column].map(name)
    table = table[table["x"].notna()]
    columns = [*PLACE, "method"]
    curve_of_row = table.groupby(columns, sort=False).ngroup().to_numpy()
    # Stable: rows with the same x keep their order.
    table = table.iloc[np.lexsort((table["x"], curve_of_row))]
    labels = table[columns].to_numpy()
    numbers = table[list(DIGITS)].to_numpy()
    curves_of: dict[Place, dict[str, Curve]] = {}
    start = 0
    for end in np.cumsum(np.bincount(curve_of_row)):
        *keys, method = map(str, labels[start])
        curves_of.setdefault(tuple(keys), {})[method] = numbers[start:end]
        start = end
    with_curves = {}
    for names_of_place, curves_here in curves_of.items():
        if max(map(len, curves_here.values())) >= FEWEST:
            with_curves[names_of_place] = curves_here
    return with_curves


def _thinned(curve: Curve, points: int) -> dict[str, list[float | None]]:
    """Thin out points: keep the ends, and points between them, evenly in x and in log x."""
    size = len(curve)
    if size > points:
        even = np.linspace(0, size - 1, points - points // 3)
        early = np.geomspace(1, size, points // 3) - 1
        chosen = np.concatenate([even, early]).round().astype(int)
        curve = curve[np.unique(chosen)]
    columns = {}
    for (name, digits), numbers in zip(DIGITS.items(), curve.T.tolist(), strict=True):
        if not all(map(isnan, numbers)):
            columns[name] = [_short(number, digits) for number in numbers]
    return columns


def _short(number: float, digits: int) -> float | None:
    """Round for JSON: whole numbers have no ``.0``, and NaN is None."""
    rounded = float(f"{number:.{digits}g}")
    if isnan(rounded):
        return None
    return int(rounded) if rounded.is_integer() else rounded
