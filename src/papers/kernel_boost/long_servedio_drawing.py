"""The figures of `long_servedio` and `linear_against_rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.show import names, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernel_boost.linear_against_rows import RowsSettings
    from kernel_boost.long_servedio import PointsSettings


@panels.figure
def long_servedio(results: panels.Results[PointsSettings]) -> Figure:
    """Draw the true error of every booster against the flip rate."""
    figure, axes = panels.side_by_side(
        [""], x_label="flip rate", y_label="wrong test labels / %", height=2.6, width=5.6
    )
    rows = results.select(metric="error")
    rates = {noise.label: noise.parameters["rate"] for noise in results.settings.noise}
    rows = rows.assign(x=rows["noise"].map(rates))
    panels.learning_curves(axes[0], rows)
    axes[0].set_xticks(sorted(rows["x"].unique()))
    return panels.shared_legend(figure, panels.handles(results.settings.methods))


@panels.figure
def linear_against_rows(results: panels.Results[RowsSettings]) -> Figure:
    """Draw the excess error of every classifier against the rows, a panel for each noise."""
    labels = [noise.label for noise in results.settings.noise]
    columns = [(names.noise(label), {"noise": label}) for label in labels]
    figure, cells = panels.facets(
        results,
        [("", {"metric": "excess"})],
        columns,
        legend=panels.handles(results.settings.methods),
        x_label="training rows",
        y_label="error above the Bayes error / %",
    )
    for ax, _ in cells:
        panels.log_axis(ax.xaxis, ax.yaxis)
    return figure
