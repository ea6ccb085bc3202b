"""The figure of `batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noisy_online.batch import LEARNERS
from reproduction.show import panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisy_online.code import LinearSettings


@panels.figure
def batch(results: panels.Results[LinearSettings]) -> Figure:
    """Draw the excess risk of online and batch learners against the rounds."""
    methods = [*results.settings.learners, *LEARNERS]
    look: style.Looks = {"y_label": "excess risk", "height": 3.0, "width": 7.2}
    figure, axes = panels.side_by_side([""], x_label="rounds T", **look)
    rows = results.select(metric="excess_risk", method=methods)
    panels.learning_curves(axes[0], rows)
    panels.log_axis(axes[0].xaxis, axes[0].yaxis)
    return panels.shared_legend(figure, panels.handles(methods))
