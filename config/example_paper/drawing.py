"""The figure of the paper, apart from the experiment: a change of it computes nothing again."""

import numpy as np

from reproduction.figures import names, panels


@panels.figure
def bars(results):
    """Mean error of every method with its 95 % interval; a panel for each data set."""
    table = results.select(metric="error")
    methods, sets = table["method"].unique(), list(table["dataset"].unique())
    figure, axes = panels.grid_of_panels([""], sets, x_label="", y_label="test error, %")
    legend = panels.handles(methods, linestyle="none")
    for ax, name in zip(axes.flat, sets, strict=True):
        part = table[table["dataset"] == name]
        for number, (method, handle) in enumerate(zip(methods, legend, strict=True)):
            values = part[part["method"] == method].groupby("noise", sort=False)["value"]
            at = np.arange(len(values)) + 0.15 * (number - (len(methods) - 1) / 2)
            look = {"color": handle.get_color(), "marker": handle.get_marker(), "linestyle": "none"}
            ax.errorbar(at, values.mean(), 1.96 * values.sem(), **look)
        ax.set_xticks(
            np.arange(len(values)), [names.noise(noise).replace(", ", ",\n") for noise in values.groups]
        )
        ax.set_xlim(-0.5, len(values) - 0.5)
    panels.shared_legend(figure, legend)
    return figure
