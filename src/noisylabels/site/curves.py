"""Curves for a reader's hands: means against x of every method, thinned until they fit into a page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noisylabels.figures import names
from noisylabels.figures.methods import Methods, label
from noisylabels.reference import summary
from noisylabels.site.text import data_set

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 100_000
"""Bytes of the curves of a page."""

FEWEST = 4
"""Points that make a curve, and repetitions that make an interval."""

SPARSER = (120, 80, 50, 30, 20, 12)
"""Points of a curve, tried in turn until all curves fit."""


def of_table(path: Path, methods: Methods, caption: str = "") -> str:
    """The curves of a result table or its summary as JSON; "" if it has none, or more than a page can hold.

    A list of panels ``{metric, where, curves: [{method, x, y, half}]}``; ``half`` is half the 95 % interval.
    methods : what the artifact says of them, such as their labels.   caption : what it names comes first.
    """
    table = summary.read(path) if path.name == "summary.csv" else _means(path)
    shown = {
        key: label(methods, key) if key in methods else names.method(key) for key in set(table["method"])
    }
    table["method"] = table["method"].map(shown)
    for column, name in (("dataset", data_set), ("noise", names.noise), ("setting", names.setting)):
        table[column] = table[column].map(name)
    panels = sorted(_panels(table), key=lambda panel: _rank(panel, caption.lower()))
    for points in SPARSER:
        packed = json.dumps([_thinned(panel, points) for panel in panels], separators=(",", ":"))
        if len(packed) <= LARGEST:
            return packed if panels else ""
    return ""


def _means(path: Path) -> "pd.DataFrame":
    from noisylabels.results import read_table

    return summary.summarised(read_table(path), quantiles=False)


def _panels(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """A panel for each metric, data set, noise and setting in which some method has a curve."""
    table = table[table["x"].notna()].sort_values("x", kind="stable")
    panels = []
    for metric, of_metric in table.groupby("metric", sort=False):
        shown = [column for column in ("dataset", "noise", "setting") if of_metric[column].nunique() > 1]
        groups = of_metric.groupby(shown, sort=False) if shown else [((), of_metric)]
        for place, part in groups:
            curves = [_curve(str(method), rows) for method, rows in part.groupby("method", sort=False)]
            if max(len(curve["x"]) for curve in curves) >= FEWEST:
                where = " · ".join(str(word) for word in place if word != "")
                panels.append({"metric": str(metric), "where": where, "curves": curves})
    return panels


def _rank(panel: dict[str, Any], caption: str) -> tuple[bool, int]:
    """The first panels are of metrics that the caption names, and have the most curves."""
    words = panel["metric"].lower().split("_")
    return not all(word in caption for word in words), -len(panel["curves"])


def _curve(method: str, rows: "pd.DataFrame") -> dict[str, Any]:
    from scipy.special import stdtrit

    n = rows["n"].to_numpy(float)
    half = stdtrit(np.maximum(n - 1, 1), 0.975) * rows["se"].to_numpy(float)
    half[n <= FEWEST] = np.nan
    return {"method": method, "x": rows["x"].to_numpy(), "y": rows["mean"].to_numpy(), "half": half}


def _thinned(panel: dict[str, Any], points: int) -> dict[str, Any]:
    return panel | {"curves": [_sparse(curve, points) for curve in panel["curves"]]}


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
