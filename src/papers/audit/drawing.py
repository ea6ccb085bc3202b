"""How well flips are found, and how far estimated flip rates are off (a study of this project's own)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from noisylabels import statistics
from reproduction.show import names, panels, style, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from audit import code

FOUND = {"average_precision": "average precision", "precision": "precision", "recall": "recall"}
ESTIMATES = {name: name for name in ("own", "cross-fitted", "confident joint", "anchor", "surest rows")}
ESTIMATES |= {"own": "fitted to all rows"}
KINDS = {"independent": "both classes", "negative_only": "one class"}
"""Model of the flips -> which labels are flipped."""


@panels.figure
def finding_flips(results: panels.Results[code.FlipsSettings]) -> Figure:
    """Average precision, precision and recall against the flip rate, means over the data sets."""
    return _by_rate(results, results.select(metric=list(FOUND)), "metric", FOUND)[0]


@panels.figure
def flip_rates(results: panels.Results[code.FlipsSettings]) -> Figure:
    """Estimated against true flip rate, means over the data sets; the diagonal is right."""
    rows = results.select(metric=["omega01", "omega10"])
    rows = rows[~rows["noise"].str.startswith("negative_only ") | (rows["metric"] == "omega01")]
    truth = {"color": style.COLOURS["silver"], "linestyle": style.DASHES["dash"], "linewidth": 1.0}
    legend = [panels.plain_handle("truth", **truth)]
    figure, cells = _by_rate(results, rows, "setting", ESTIMATES, *legend, y_label="estimate")
    highest = max(part["x"].max() for _, part in cells)
    for ax, _ in cells:
        ax.plot([0.0, highest], [0.0, highest], zorder=1, **truth)
    return figure


def _by_rate(
    results: panels.Results[code.FlipsSettings],
    rows: pd.DataFrame,
    column: str,
    titles: dict[str, str],
    *more: Line2D,
    **options: Any,
) -> tuple[Figure, list[panels.Cell]]:
    """Means over the data sets against the flip rate, a row per kind of flips; ``more`` in the legend."""
    words = rows["noise"].str.split(" ")
    rows = rows.assign(kind=words.str[0], x=words.str[1].astype(float))
    by = ["kind", column, "method", "repetition", "x"]
    means = rows.groupby(by, sort=False)["value"].mean().reset_index()
    kinds = [(title, {"kind": kind}) for kind, title in KINDS.items() if kind in set(means["kind"])]
    columns = [(title, {column: key}) for key, title in titles.items() if key in set(means[column])]
    options |= {"x_label": "flip rate"}
    legend = [*panels.handles(results.settings.methods), *more]
    return panels.facets(results, kinds, columns, table=means, legend=legend, height=1.9, **options)


@panels.table
def by_data_set(results: panels.Results[code.AuditSettings]) -> pd.DataFrame:
    """Average precision of every method on every data set at every noise; the largest mean is bold."""
    lines, label = [], partial(names.label, results.settings.methods)
    rows = results.select(metric="average_precision")
    for (dataset, noise), part in rows.groupby(["dataset", "noise"], sort=False):
        groups = part.groupby("method", sort=False)["value"]
        found = {str(method): statistics.mean_se(values) for method, values in groups}
        best = max(found, key=lambda method: found[method].mean)
        cells = {label(m): tables.mean_se(each.mean, each.se) for m, each in found.items()}
        cells[label(best)] = f"**{cells[label(best)]}**"
        lines.append({"data set": names.data_set(str(dataset)), "flips": names.noise(str(noise))} | cells)
    frame = pd.DataFrame(lines).fillna("").set_index(["data set", "flips"])
    return tables.noted(
        frame,
        "Average precision of the ranking of suspicious labels, mean ± standard error over the splits; the",
        "largest mean is bold. A random order has the share of wrong labels.",
    )


WAYS = {"prune": "pruned, as by CleanLearning", "importance": "importance weights"}
"""Ways of correcting that have another name than their key."""


@panels.table
def correcting(results: panels.Results[code.CorrectingSettings]) -> pd.DataFrame:
    """Errors of each classifier on each data set, plain, and what each way adds; the largest loss first."""
    rows = results.select(metric="error")
    keys = ["method", "dataset", "noise", "repetition"]
    wide = rows.pivot(index=keys, columns="setting", values="value")
    ways = [way for way in results.settings.ways if way != "plain"]
    added = wide[ways].sub(wide["plain"], axis=0)
    lines, losses = [], added.groupby(["method", "dataset"])[ways].mean().max(axis=1)
    for method, dataset in losses.sort_values()[::-1].index:
        line = {"classifier": names.method(method), "data set": names.data_set(dataset)}
        line["plain"] = f"{wide.loc[(method, dataset), 'plain'].mean():.1f}"
        for way in ways:
            found = statistics.mean_se(added.loc[(method, dataset), way])
            line[WAYS.get(way, way)] = f"{found.mean:+.1f} ± {found.se:.1f}"
        lines.append(line)
    return tables.noted(
        pd.DataFrame(lines).set_index(["classifier", "data set"]),
        "Wrong true labels of the test rows in %, means over flips and splits, and what each way adds to",
        "them (± standard error): below 0 it gains. The largest loss of any way comes first.",
    )
