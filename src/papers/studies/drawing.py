"""The figures of the three studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from reproduction.show import names, panels, style
from studies.choosing import ANY, RULES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from studies import choosing as choosing_study
    from studies import instance_noise
    from studies import rates_against_rows as rates_study

REACH = 0.22
"""Distance between neighbouring methods of one rule, relative to that between rules."""
OF_AUDIT = {
    "average_precision": "average precision",
    "joint_bias": "bias, confident joint",
    "anchor_bias": "bias, anchors",
    "covers": "intervals that cover",
}
"""Metric of the audit -> title of its panel."""
ESTIMATES = ("own", "cross-fitted", "confident joint", "anchor", "surest rows")
"""Estimates of the flip rates, in the order of the panels."""


def average_data_sets(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Average over the data sets, for each repetition and entry of other columns."""
    groups = rows.groupby([*by, "repetition"], sort=False)
    return groups["value"].mean().reset_index()


@panels.picture
def choosing(results: panels.Results[choosing_study.ChoosingSettings]) -> Figure:
    """Draw the error of every method by rule, a panel for each kind of flips."""
    labels = [noise.label for noise in results.settings.noise]
    methods = [*results.settings.methods, ANY]
    rows = average_data_sets(results.select(metric="error"), ["noise", "setting", "method"])
    figure, axes = panels.side_by_side(
        [names.noise(label) for label in labels],
        x_label="wrong test labels / %",
        left=1.45,
        height=2.4,
        share_y="row",
    )
    for ax, label in zip(axes, labels, strict=True):
        means = panels.mean_interval(rows[rows["noise"] == label], ["setting", "method"])
        by_rule = means.to_dict("index")
        for number, method in enumerate(methods):
            shift = (number - (len(methods) - 1) / 2) * REACH
            for y, rule in enumerate(RULES):
                values = by_rule[rule, method]
                looks = style.dot(method) | {"xerr": float(values["half_width"])}
                ax.errorbar(float(values["mean"]), y + shift, **looks)
        ax.set_yticks(range(len(RULES)), RULES)
        ax.set_ylim(len(RULES) - 0.5, -0.5)
    return panels.shared_legend(figure, panels.dot_handles(methods))


def _by_shape(rows: pd.DataFrame) -> pd.DataFrame:
    """Turn the method of every row into its column, and the shape of its noise into the curve."""
    words = rows["noise"].str.split(" ")
    return rows.assign(panel=rows["method"], method=words.str[0], x=words.str[1].astype(float))


@panels.figure
def where_flips_fall(results: panels.Results[instance_noise.ShapeSettings]) -> Figure:
    """Draw the error against the share of flips, a panel for each classifier."""
    rows = _by_shape(results.select(metric="error"))
    means = average_data_sets(rows, ["metric", "panel", "method", "x"])
    return _against_share(results, means, [("", {"metric": "error"})], "wrong test labels / %")


@panels.figure
def auditing_where_flips_fall(results: panels.Results[instance_noise.AuditSettings]) -> Figure:
    """Draw measures of the audit against the share of flips, a column for each classifier."""
    rows = _by_shape(results.select(metric=list(OF_AUDIT)))
    means = average_data_sets(rows, ["metric", "panel", "method", "x"])
    of_metrics = [(title, {"metric": metric}) for metric, title in OF_AUDIT.items()]
    return _against_share(results, means, of_metrics, "")


def _against_share(
    results: panels.Results[Any],
    means: pd.DataFrame,
    rows: list[tuple[str, dict[str, Any]]],
    y_label: str,
) -> Figure:
    """Draw curves of the shapes against the share of flips."""
    columns = [(names.method(key), {"panel": key}) for key in results.settings.methods]
    figure, cells = panels.facets(
        results,
        rows,
        columns,
        table=means,
        legend=panels.handles(results.settings.shapes),
        height=1.7,
        width=style.WIDTH[3],
        x_label="flip rate",
        y_label=y_label,
    )
    for ax, part in cells:
        ax.set_xticks(sorted(part["x"].unique()))
    return figure


@panels.figure
def rates_against_rows(results: panels.Results[rates_study.RowsSettings]) -> Figure:
    """Draw the error of each estimate against the rows; each distribution is a row of panels."""
    rows = results.select(metric="absolute_error")
    groups = ["dataset", "setting", "method", "x", "repetition"]
    means = rows.groupby(groups, sort=False)["value"].mean().reset_index()
    figure, cells = panels.facets(
        results,
        [(law, {"dataset": law}) for law in results.settings.laws],
        [(names.setting(estimate), {"setting": estimate}) for estimate in ESTIMATES],
        table=means,
        legend=panels.handles(results.settings.methods),
        height=1.5,
        width=style.WIDTH[3],
        x_label="rows",
        y_label="error of the rates",
    )
    for ax, _ in cells:
        panels.log_axis(ax.xaxis)
    return figure
