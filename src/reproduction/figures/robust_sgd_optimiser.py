"""The figure that takes loss, step and averaging apart: is the gain the loss's or the optimiser's?"""

from typing import TYPE_CHECKING, Any

from reproduction.figures import names, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS = {
    "last slow": "last,\nslow step",
    "last": "last",
    "mean slow": "mean,\nslow step",
    "mean": "mean",
    "solved": "solved",
}
"""Second part of a method's label -> tick, from the noisiest way of training to the minimum."""


@panels.figure
def loss_and_optimiser(results: panels.Results[Any]) -> "Figure":
    """Test error of each loss against the way it was trained; a row per data set, a column per noise level.

    Methods are labelled ``loss way``, such as "log mean slow"; the ways are those of `WAYS`.
    """
    from matplotlib.ticker import LogLocator

    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    losses = list(dict.fromkeys(method.partition(" ")[0] for method in own["methods"]))
    levels = [names.noise(label) for label in own["noise"]]
    figure, axes = panels.grid_of_panels(
        own["datasets"], levels, x_label="", y_label="test error / %", bottom=0.5, share_y="none"
    )
    for row, name in zip(axes, own["datasets"], strict=True):
        for ax, noise in zip(row, own["noise"], strict=True):
            rows = panels.select(table, artifact, dataset=name, noise=noise, metric="error")
            means = panels.mean_interval(rows[rows["x"] == rows["x"].max()], ["method"])
            for k, loss in enumerate(losses):
                values = means.loc[[f"{loss} {way}" for way in WAYS]]
                x = [i + 0.06 * (k - len(losses) / 2) for i in range(len(WAYS))]
                looks = style.line(loss) | {"capsize": 2, "elinewidth": 0.8}
                ax.errorbar(x, values["mean"], yerr=values["half_width"], **looks)
            ax.set_xticks(range(len(WAYS)), list(WAYS.values()))
            ax.grid(visible=False, axis="x")
            panels.log_axis(ax.yaxis)
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7), numticks=12))
    panels.shared_legend(figure, panels.handles(losses))
    return figure
