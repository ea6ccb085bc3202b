"""Figures of boosting (Kaban and Bootkrajang, LABELNOISE 2017), and of ours beside them.

The figure's own settings, the first ones, name in ``drawn`` the noise and the methods that it shows.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reproduction.figures import panels, style
from reproduction.figures.names import data_set, flips
from reproduction.protocols.boosting.members import flip_rates

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_NOISES = ("-", ":", (0, (5, 1.6)))
"""Dashes of the first, second and third noise in a panel."""


@panels.figure
def error_curves(results: panels.Results[Any]) -> "Figure":
    """Training and test error against the rounds, a column per data set, a dash per noise."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    drawn = results.drawn
    metrics = {"train_error": "training", "test_error": "test"}
    figure, axes = _rounds(settings[artifact]["datasets"], list(metrics.values()), "error / %")
    for (i, j), rows in _cells(table, artifact, settings, list(metrics)):
        for noise, dash in zip(drawn["noise"], _NOISES, strict=False):
            own = panels.select(rows, artifact, noise=noise, method=drawn["methods"])
            panels.learning_curves(axes[i, j], own, linestyle=dash)
    for ax in axes[:, 0]:
        ax.set_ylim(bottom=0)
    noises = [
        panels.plain_handle(flips(noise), linestyle=dash)
        for noise, dash in zip(drawn["noise"], _NOISES, strict=False)
    ]
    panels.shared_legend(figure, panels.handles(drawn["methods"], linestyle="-") + noises)
    return figure


@panels.figure
def learned_rates(results: panels.Results[Any]) -> "Figure":
    """Both learned flip rates against the rounds, a column per data set; grey: the truth."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    drawn = results.drawn
    (noise,) = drawn["noise"]
    names = {"gamma01": "0 observed as 1", "gamma10": "1 observed as 0"}
    figure, axes = _rounds(settings[artifact]["datasets"], list(names.values()), "learned flip rate")
    for (i, j), rows in _cells(table, artifact, settings, list(names)):
        own = panels.select(rows, artifact, noise=noise, method=drawn["methods"])
        axes[i, j].axhline(flip_rates(noise)[i], color=style.COLOURS["grey"], linewidth=1.2)
        panels.learning_curves(axes[i, j], own)
        axes[i, j].set_ylim(-0.02, 0.37)
    truth = panels.plain_handle("truth", linewidth=1.2)
    panels.shared_legend(figure, [*panels.handles(drawn["methods"]), truth])
    return figure


@panels.figure
def test_curves(results: panels.Results[Any]) -> "Figure":
    """Test error against the rounds, a row per noise, a column per data set."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    drawn, sets = results.drawn, settings[artifact]["datasets"]
    figure, axes = _rounds(sets, [flips(noise) for noise in drawn["noise"]], "test error / %", height=1.6)
    for i, noise in enumerate(drawn["noise"]):
        for j, name in enumerate(sets):
            where = {"dataset": name, "noise": noise, "metric": "test_error", "method": drawn["methods"]}
            panels.learning_curves(axes[i, j], panels.select(table, artifact, **where))
    panels.shared_legend(figure, panels.handles(drawn["methods"]))
    return figure


@panels.figure
def trusted(results: panels.Results[Any]) -> "Figure":
    """Test error, and distance of the flip rates to the truth, against the number of trusted labels."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    names = {"error": "test error / %", "gamma_error": "distance of flip rates"}
    columns = [data_set(name) for name in own["datasets"]]
    label = "trusted labels for the calibration"
    figure, axes = panels.grid_of_panels([""] * 2, columns, x_label=label, y_label="", height=1.9)
    for (i, j), rows in _cells(table, artifact, settings, list(names)):
        shown = panels.select(rows, artifact, noise=own["noise"])
        panels.learning_curves(axes[i, j], shown)
        axes[i, j].set_xticks(own["trusted"])
        axes[i, 0].set_ylabel(list(names.values())[i])
    axes[1, 0].set_ylim(bottom=0)
    panels.shared_legend(figure, panels.handles(own["methods"]))
    return figure


@panels.figure
def loss(results: panels.Results[Any]) -> "Figure":
    """Loss against the score for both observed labels."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    methods, labels = list(settings[artifact]["gammas"]), ["label +1", "label -1"]
    titles = [f"observed {label}".replace("-", "\N{MINUS SIGN}") for label in labels]
    figure, axes = panels.grid_of_panels([""], titles, x_label="score H", y_label="loss", height=2.2)
    for ax, label in zip(axes[0], labels, strict=True):
        for method in methods:
            rows = panels.select(table, artifact, setting=label, method=method).sort_values("x")
            panels.curve(ax, rows["x"], rows["value"], 0 * rows["value"], method)
        ax.set_ylim(0, 6)
    panels.shared_legend(figure, panels.handles(methods))
    return figure


def _rounds(sets: list[str], rows: list[str], y_label: str, height: float = 1.9) -> Any:
    """Panels over the rounds, a column per data set."""
    from matplotlib.ticker import MaxNLocator

    columns = [data_set(name) for name in sets]
    figure, axes = panels.grid_of_panels(rows, columns, x_label="round", y_label=y_label, height=height)
    for ax in axes.flat:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    return figure, axes


def _cells(
    table: "pd.DataFrame", artifact: str, settings: Mapping[str, Any], metrics: list[str]
) -> list[tuple[tuple[int, int], "pd.DataFrame"]]:
    """((row, column), rows of the table) of every metric and data set."""
    sets = settings[artifact]["datasets"]
    return [
        ((i, j), panels.select(table, artifact, dataset=name, metric=metric))
        for i, metric in enumerate(metrics)
        for j, name in enumerate(sets)
    ]
