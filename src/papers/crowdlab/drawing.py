"""The figure and the tables of the paper, which are drawn without the code of its methods."""

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
        setting = VOTE if metric == "auroc" else OWN
        for ax, noise in zip(line, kinds, strict=True):
            rows = results.select(metric=metric, noise=noise, setting=setting)
            panels.learning_curves(ax, rows)
            ax.set_xticks(results.settings.labels)
    panels.shared_legend(figure, panels.handles(results.settings.methods))
    return figure


@panels.table
def means(results):
    """List mean ± standard error of every metric by method, with published values in brackets."""
    lines = []
    groups = results.table.groupby(["noise", "setting"], sort=False)
    for (noise, setting), rows in groups:
        for method, part in rows.groupby("method", sort=False):
            line = {"labels": noise, "scored": setting, "method": method}
            selected = {"noise": noise, "setting": setting, "method": method}
            for metric in SHOWN:
                text = cell(part[part["metric"] == metric]["value"])
                line[metric] = text + printed(results.published, selected | {"metric": metric})
            lines.append(line)
    frame = pd.DataFrame(lines)
    if not len(results.published):
        frame = frame.drop(columns="lift 100")
        frame = frame.rename(columns={"labels": "data set", "scored": "network"})
        return tables.noted(frame.set_index(["data set", "network"]), "Published once each.")
    return tables.noted(
        frame.set_index(["labels", "scored"]),
        "Mean ± standard error over the repetitions,",
        "without it where they are equal to the last digit shown.",
    )


def cell(values):
    """Write mean ± standard error, shares with four decimals and lifts with one."""
    if not len(values):
        return ""
    decimals = 1 if values.mean() > 1 else 4
    text = f"{values.mean():.{decimals}f}"
    smallest_shown = 0.5 * 10**-decimals
    if len(values) > 1 and values.sem() >= smallest_shown:
        text += f" ± {values.sem():.{decimals}f}"
    return text


def printed(published, selected):
    """Write the range of the networks' published values in brackets."""
    values = []
    for entry in published:
        if selected.items() <= entry["where"].items():
            values.append(entry["value"])
    if not values:
        return ""
    decimals = 1 if values[0] > 1 else 4
    low = f"{min(values):.{decimals}f}"
    high = f"{max(values):.{decimals}f}"
    return f" ({low})" if low == high else f" ({low} to {high})"
