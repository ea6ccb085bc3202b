"""The figure of `separable` and `banana`."""

from typing import Any

from matplotlib.figure import Figure

from reproduction.show import names, panels, style


@panels.figure
def curves(results: panels.Results[Any]) -> Figure:
    """Draw the mean test error against the training rows, a panel for each pair of flip rates."""
    rates = [str(noise) for noise in results.settings.noise]
    titles = [names.noise(rate) for rate in rates]
    labels: style.Looks = {"x_label": "training rows", "y_label": "test error / %"}
    figure, axes = panels.grid_of_panels([""], titles, **labels)
    for ax, noise in zip(axes.flat, rates, strict=True):
        panels.learning_curves(ax, results.select(noise=noise, metric="error"))
    panels.shared_legend(figure, panels.handles(panels.methods_in(results.table)))
    return figure
