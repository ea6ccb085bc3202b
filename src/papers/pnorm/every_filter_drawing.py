"""The figure of `every_filter`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pnorm.every_filter import RANDOM, SILENT
from reproduction.show import panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pnorm.every_filter import EveryFilterSettings

LIMIT: style.Looks = {"color": style.COLOURS["silver"], "linestyle": style.DASHES["dash"]}


@panels.figure
def every_filter(results: panels.Results[EveryFilterSettings]) -> Figure:
    """Draw the largest ratio of every filter against the rows, for labels 0 and random labels."""
    figure, axes = panels.side_by_side(
        [SILENT, RANDOM], x_label="rows T", y_label="ratio", height=2.6, share_y="none"
    )
    for ax, setting in zip(axes, (SILENT, RANDOM), strict=True):
        rows = results.select(setting=setting, metric="ratio")
        largest = rows.groupby(["method", "x"], sort=False)["value"].max().unstack("x")
        for method, values in largest.iterrows():
            panels.curve(ax, values.index, values, 0 * values, str(method))
        ax.axhline(1.0, zorder=1, **LIMIT)
        panels.log_axis(ax.xaxis, ax.yaxis)
    handles = [*panels.handles(results.settings.methods), panels.plain_handle("1", **LIMIT)]
    return panels.shared_legend(figure, handles)
