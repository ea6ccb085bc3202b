"""Figures of our study of the audit: how well it finds flips and estimates flip rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from noisylabels import statistics
from reproduction.show import names, panels, style, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from audit import code

RANKING_METRICS = {
    "average_precision": "average precision",
    "precision": "precision",
    "recall": "recall",
}
ESTIMATES = {
    "own": "fitted to all rows",
    "cross-fitted": "cross-fitted",
    "confident joint": "confident joint",
    "anchor": "anchor",
    "surest rows": "most confident rows",
}
KINDS = {"independent": "both classes", "negative_only": "one class"}
"""Model of the flips -> the labels that it flips."""


@panels.figure
def finding_flips(results: panels.Results[code.FlipsSettings]) -> Figure:
    """Draw average precision, precision and recall against the flip rate, means over data sets."""
    rows = results.select(metric=list(RANKING_METRICS))
    figure, _ = _against_rate(results, rows, "metric", RANKING_METRICS, y_label="share")
    return figure


@panels.figure
def flip_rates(results: panels.Results[code.FlipsSettings]) -> Figure:
    """Draw the estimated against the true flip rate; the diagonal is a perfect estimate."""
    rows = results.select(metric=["omega01", "omega10"])
    one_class = rows["noise"].str.startswith("negative_only ")
    rows = rows[~one_class | (rows["metric"] == "omega01")]
    look = {
        "color": style.COLOURS["silver"],
        "linestyle": style.DASHES["dash"],
        "linewidth": 1.0,
    }
    legend = [panels.plain_handle("truth", **look)]
    figure, cells = _against_rate(results, rows, "setting", ESTIMATES, *legend, y_label="estimate")
    highest = max(part["x"].max() for _, part in cells)
    for ax, _ in cells:
        ax.plot([0.0, highest], [0.0, highest], zorder=1, **look)
    return figure


def _against_rate(
    results: panels.Results[code.FlipsSettings],
    rows: pd.DataFrame,
    column: str,
    titles: dict[str, str],
    *handles: Line2D,
    **options: Any,
) -> tuple[Figure, list[panels.Cell]]:
    """Draw means over the data sets against the flip rate, a row of panels per kind of flips."""
    words = rows["noise"].str.split(" ")
    rows = rows.assign(kind=words.str[0], x=words.str[1].astype(float))
    groups = rows.groupby(["kind", column, "method", "repetition", "x"], sort=False)
    means = groups["value"].mean().reset_index()
    kinds = []
    for kind, title in KINDS.items():
        if kind in set(means["kind"]):
            kinds.append((title, {"kind": kind}))
    columns = []
    for key, title in titles.items():
        if key in set(means[column]):
            columns.append((title, {column: key}))
    return panels.facets(
        results,
        kinds,
        columns,
        table=means,
        legend=[*panels.handles(results.settings.methods), *handles],
        height=1.9,
        x_label="flip rate",
        **options,
    )


@panels.table
def by_data_set(results: panels.Results[code.AuditSettings]) -> pd.DataFrame:
    """List the average precision of every method on every data set at every noise.

    The largest mean is bold.
    """
    rows = results.select(metric="average_precision")
    lines = []
    for (dataset, noise), part in rows.groupby(["dataset", "noise"], sort=False):
        estimates = {}
        for method, values in part.groupby("method", sort=False)["value"]:
            label = names.label(results.settings.methods, str(method))
            estimates[label] = statistics.mean_se(values)
        best = max(estimates, key=lambda label: estimates[label].mean)
        line = {"data set": names.data_set(str(dataset)), "flips": names.noise(str(noise))}
        for label, estimate in estimates.items():
            cell = tables.mean_se(estimate.mean, estimate.se)
            line[label] = f"**{cell}**" if label == best else cell
        lines.append(line)
    frame = pd.DataFrame(lines).fillna("").set_index(["data set", "flips"])
    return tables.noted(
        frame,
        "Average precision of the ranking of suspicious labels, mean ± standard error over the",
        "splits; the largest mean is bold. A random order has the share of wrong labels.",
    )


WAYS = {"prune": "pruned, as by CleanLearning", "importance": "importance weights"}
"""Names of ways of correcting that readers know by another name than the key."""


@panels.table
def correcting(results: panels.Results[code.CorrectingSettings]) -> pd.DataFrame:
    """List errors of each classifier on each data set, plain, and the change by each correction.

    The largest loss comes first.
    """
    rows = results.select(metric="error")
    keys = ["method", "dataset", "noise", "repetition"]
    wide = rows.pivot(index=keys, columns="setting", values="value")
    ways = [way for way in results.settings.ways if way != "plain"]
    added = wide[ways].sub(wide["plain"], axis=0)
    losses = added.groupby(["method", "dataset"])[ways].mean().max(axis=1)
    lines = []
    for method, dataset in losses.sort_values()[::-1].index:
        plain = wide.loc[(method, dataset), "plain"].mean()
        line = {"classifier": names.method(method), "data set": names.data_set(dataset)}
        line["plain"] = f"{plain:.1f}"
        for way in ways:
            estimate = statistics.mean_se(added.loc[(method, dataset), way])
            line[WAYS.get(way, way)] = f"{estimate.mean:+.1f} ± {estimate.se:.1f}"
        lines.append(line)
    return tables.noted(
        pd.DataFrame(lines).set_index(["classifier", "data set"]),
        "Wrong true labels of the test rows in %, means over flips and splits, and what each way",
        "adds to them (± standard error): below 0 it gains.",
        "The largest loss of any way comes first.",
    )
