"""Curves for a reader's hands: means against x of every method, thinned until they fit into a page."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import names
from reproduction.figures.names import Methods, label
from reproduction.figures.panels import FEW
from reproduction.figures.style import svg_line
from reproduction.reference import runs

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 100_000
"""Bytes of the curves of a page."""

FEWEST = 4
"""Points that make a curve."""

MOST = 120
"""Points of a curve."""

POINT = 26
"""Bytes of a point with its interval, about."""

PLACE = ["dataset", "noise", "setting"]


def of_table(path: Path, methods: Methods, protocol: str = "", opens: str = "", caption: str = "") -> str:
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
    drawn = {place: curves for place, curves in found.items() if max(map(_points, curves)) >= FEWEST}
    panels = []
    for place, curves in drawn.items():
        others = [other for other in drawn if other[0] == place[0]]
        varying = [word for i, word in enumerate(place) if i and len({other[i] for other in others}) > 1]
        panels.append({"metric": place[0], "where": " · ".join(filter(None, varying)), "curves": curves})
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
