"""The figure and the tables of the paper, apart from the code, which drawing does not run."""

import pandas as pd

from crowdlab.code import OWN, VOTE
from reproduction.show import panels, tables

NAMES = {
    "accuracy": "right labels",
    "auroc": "AUROC of the vote's quality",
    "spearman": "rank correlation of ratings",
}
Y_LABELS = ("share", "AUROC", "correlation")
SHOWN = ("accuracy", "auroc", "auprc", "lift 100", "spearman")


@panels.figure
def curves(results):
    """Draw right labels, how well quality finds wrong votes, and ratings, by labels per item."""
    kinds = list(results.table["noise"].unique())
    lines = list(NAMES.values())
    figure, axes = panels.grid_of_panels(lines, kinds, x_label="labels per item, x")
    for line, y_label in zip(axes, Y_LABELS, strict=True):
        line[0].set_ylabel(y_label)
    for line, metric in zip(axes, NAMES, strict=True):
        for ax, noise in zip(line, kinds, strict=True):
            selected = {"metric": metric, "noise": noise, "setting": VOTE if metric == "auroc" else OWN}
            panels.learning_curves(ax, results.select(**selected))
            ax.set_xticks(results.settings.labels)
    panels.shared_legend(figure, panels.handles(results.settings.methods))
    return figure


@panels.table
def means(results):
    """List mean ± standard error of every metric by method, with published values in brackets."""
    lines = []
    for (_, _), rows in results.table.groupby(["noise", "setting"], sort=False):
        for method, part in rows.groupby("method", sort=False):
            selected = {"noise": part["noise"].iloc[0], "setting": part["setting"].iloc[0], "method": method}
            cells = {metric: cell(part[part["metric"] == metric]["value"]) for metric in SHOWN}
            for metric in SHOWN:
                cells[metric] += printed(results.published, selected | {"metric": metric})
            lines.append(
                {"labels": selected["noise"], "scored": selected["setting"], "method": method} | cells
            )
    frame = pd.DataFrame(lines)
    if not len(results.published):
        frame = frame.drop(columns="lift 100").rename(columns={"labels": "data set", "scored": "network"})
        return tables.noted(frame.set_index(["data set", "network"]), "Published once each.")
    note = (
        "Mean ± standard error over the repetitions, without it where they are equal to the last digit shown."
    )
    return tables.noted(frame.set_index(["labels", "scored"]), note)


def cell(values):
    """Write mean ± standard error, shares with four decimals and lifts with one."""
    if not len(values):
        return ""
    places = 1 if values.mean() > 1 else 4
    error = f" ± {values.sem():.{places}f}" if len(values) > 1 and values.sem() >= 0.5 * 10**-places else ""
    return f"{values.mean():.{places}f}{error}"


def printed(published, cell):
    """Write the range of the networks' published values in brackets."""
    values = [v["value"] for v in published if all(v["where"].get(key) == w for key, w in cell.items())]
    if not values:
        return ""
    places = 1 if values[0] > 1 else 4
    low, high = (f"{value:.{places}f}" for value in (min(values), max(values)))
    return f" ({low})" if low == high else f" ({low} to {high})"
