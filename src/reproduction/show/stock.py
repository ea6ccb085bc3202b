"""A figure and a table of any result table, for an artifact that needs no drawing of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from reproduction.show import names, panels, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SECTIONS = ["dataset", "noise", "setting"]
"""Columns of a result table that name what a method was tried on."""


@panels.figure
def curves(results: panels.Results[Any]) -> Figure:
    """Mean value against x with a 95 % band, a curve for each method; a row for each metric, a column for
    each data set, noise and setting.
    """
    table = results.table
    columns = {_name(table, part): part for _, part in table.groupby(SECTIONS, sort=False)}
    metrics = list(table["metric"].unique())
    called = [names.metric(metric, results.protocol) for metric in metrics]
    rows, y_label = (called, "") if len(metrics) > 1 else ([""], called[0])
    x_label = names.x_axis(metrics[0], results.protocol)
    figure, axes = panels.grid_of_panels(rows, list(columns), x_label=x_label, y_label=y_label)
    for j, part in enumerate(columns.values()):
        for i, metric in enumerate(metrics):
            panels.learning_curves(axes[i, j], part[part["metric"] == metric])
    return panels.shared_legend(figure, panels.handles(table["method"].unique()))


@panels.table
def last_values(results: panels.Results[Any]) -> pd.DataFrame:
    """Mean ± standard error at the last x of every method; a section for each data set, noise and setting."""
    lines = []
    for table in results.tables.values():
        for keys, part in table.groupby([*SECTIONS, "metric"], sort=False):
            last = part[part["x"].fillna(0) == part["x"].fillna(0).max()]
            order = list(last["method"].unique())
            values = last.pivot(index="method", columns="repetition", values="value").loc[order]
            names = dict(zip([*SECTIONS, "metric"], keys, strict=True))
            lines.append(names | tables.mean_se_cells(values))
    frame = pd.DataFrame(lines).fillna("").set_index([*SECTIONS, "metric"])
    return tables.noted(frame, "Mean ± standard error over the repetitions; the lowest mean is bold.")


def _name(table: pd.DataFrame, part: pd.DataFrame) -> str:
    """What tells a part apart from the rest of the table, as readers know it."""
    named = zip(SECTIONS, (names.data_set, names.noise, names.setting), strict=True)
    return ", ".join(name(part[column].iloc[0]) for column, name in named if table[column].nunique() > 1)
