"""How well flips are found, and how far estimated flip rates are off (a study of this project's own)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reproduction.figures import names, panels, style, tables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reproduction.protocols.audit import AuditSettings, FlipsSettings


FOUND = {"average_precision": "average precision", "precision": "precision", "recall": "recall"}
ESTIMATES = {
    "own": "fitted to all rows",
    "cross-fitted": "cross-fitted",
    "confident joint": "confident joint",
    "anchor": "anchor",
    "surest rows": "surest rows",
}
KINDS = {"independent": "both classes", "negative_only": "one class"}
"""Model of the flips -> which labels are flipped."""


@panels.figure
def finding_flips(results: panels.Results[FlipsSettings]) -> Figure:
    """Average precision, precision and recall against the flip rate, means over the data sets."""
    rows = _by_rate(results.select(metric=list(FOUND)))
    by = ["kind", "method", "repetition", "metric", "x"]
    means = rows.groupby(by, sort=False)["value"].mean().reset_index()
    kinds = _kinds(means)
    figure, axes = panels.grid_of_panels(
        [KINDS[kind] for kind in kinds], list(FOUND.values()), x_label="flip rate", y_label="", height=1.9
    )
    for i, kind in enumerate(kinds):
        for j, metric in enumerate(FOUND):
            there = (means["kind"] == kind) & (means["metric"] == metric)
            panels.learning_curves(axes[i, j], means[there])
    panels.shared_legend(figure, panels.handles(results.settings.methods))
    return figure


@panels.table
def by_data_set(results: panels.Results[AuditSettings]) -> pd.DataFrame:
    """Average precision of every method on every data set at every noise; the largest mean is bold."""
    import pandas as pd

    from noisylabels.statistics import mean_se

    rows = results.select(metric="average_precision")
    lines = []
    for (dataset, noise), part in rows.groupby(["dataset", "noise"], sort=False):
        found = {m: mean_se(part.loc[part["method"] == m, "value"]) for m in part["method"].unique()}
        best = max(found, key=lambda method: found[method].mean)
        cells = {names.method(m): tables.mean_se(each.mean, each.se) for m, each in found.items()}
        cells[names.method(best)] = f"**{cells[names.method(best)]}**"
        lines.append({"data set": names.data_set(str(dataset)), "flips": names.noise(str(noise))} | cells)
    frame = pd.DataFrame(lines).fillna("").set_index(["data set", "flips"])
    frame.attrs["note"] = (
        "Average precision of the ranking of suspicious labels, mean ± standard error over the splits; the "
        "largest mean is bold. By chance it is the share of flipped labels."
    )
    return frame


@panels.figure
def flip_rates(results: panels.Results[FlipsSettings]) -> Figure:
    """Estimated against true flip rate, means over the data sets; the diagonal is right."""
    rows = _by_rate(results.select(metric=["omega01", "omega10"]))
    rows = rows[(rows["kind"] != "negative_only") | (rows["metric"] == "omega01")]
    by = ["kind", "setting", "method", "repetition", "x"]
    means = rows.groupby(by, sort=False)["value"].mean().reset_index()
    kinds, shown = _kinds(means), [each for each in ESTIMATES if each in set(means["setting"])]
    figure, axes = panels.grid_of_panels(
        [KINDS[kind] for kind in kinds],
        [ESTIMATES[each] for each in shown],
        x_label="flip rate",
        y_label="estimate",
        height=1.9,
    )
    for i, kind in enumerate(kinds):
        for j, setting in enumerate(shown):
            there = (means["kind"] == kind) & (means["setting"] == setting)
            panels.learning_curves(axes[i, j], means[there])
            _diagonal(axes[i, j], means["x"])
    truth = panels.plain_handle("truth", **TRUTH)
    panels.shared_legend(figure, [*panels.handles(results.settings.methods), truth])
    return figure


TRUTH: style.Looks = {
    "color": style.COLOURS["silver"],
    "linestyle": style.DASHES["dash"],
    "linewidth": 1.0,
}


def _diagonal(ax: Axes, rates: Iterable[float]) -> None:
    ends = [0.0, max(rates)]
    ax.plot(ends, ends, zorder=1, **TRUTH)


def _by_rate(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with columns kind, the model of the flips, and x, its rate."""
    words = rows["noise"].str.split(" ")
    return rows.assign(kind=words.str[0], x=words.str[1].astype(float))


def _kinds(rows: pd.DataFrame) -> list[str]:
    return [kind for kind in KINDS if kind in set(rows["kind"])]
