"""Figures and tables of the robust-SGD paper (Han, Tsang, Chen 2016), and of ours beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reproduction.figures import names, panels, style, tables
from reproduction.protocols.settings import Noise, labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reproduction.protocols.robust_sgd import ErrorsSettings

Errors: TypeAlias = "panels.Results[ErrorsSettings]"
FloatArray = NDArray[np.float64]

ROUNDING = 1e-9
"""Errors in % this close together are equal."""
FAR_POINT = -2.2
"""Margin z_A of the mislabelled far point A in Figure 1."""


@panels.figure
def sketch_and_losses(results: panels.Results[Any]) -> Figure:
    """Fig. 1: a mislabelled point A far on the wrong side, and what each loss charges for it."""
    from noisylabels.losses.margin import resolve  # compiled: slow to load

    figure, axes = panels.grid_of_panels(
        [""], ["", ""], x_label="", y_label=["feature 2", "loss r(z)"], share_y="none", height=2.6
    )
    sketch, curves = axes.flat
    _sketch(sketch)
    z = np.linspace(-3, 3, 601)
    shown = {name: resolve(name) for name in ("log", "hinge", "ramp", "smooth_ramp", "rgomp")}
    for method, loss in shown.items():
        curves.plot(z, loss.value(z), **(style.line(method) | {"marker": ""}))
    curves.axvline(FAR_POINT, color="black", linewidth=0.8, linestyle=style.DASHES["dot"])
    curves.annotate("$z_A$", (FAR_POINT, 3.7), (3, 0), textcoords="offset points")
    curves.set_xlabel("margin z = y f(x)")
    panels.shared_legend(figure, panels.handles(shown, marker=""))
    return figure


def _sketch(ax: Axes) -> None:
    """Two classes, a line between them, and A: a negative point, labelled +1."""
    rng = np.random.default_rng(3)
    for sign, marker, colour in ((1, "o", "blue"), (-1, "s", "vermillion")):
        x, y = rng.normal(0, 0.5, (2, 25))
        ax.scatter(
            x + sign, y + sign, s=12, marker=marker, facecolors="none", edgecolors=style.COLOURS[colour]
        )
    ax.plot([-2.6, 2.6], [2.6, -2.6], color="black", linewidth=1)
    ax.scatter([-1.9], [-2.0], s=26, marker="o", color=style.COLOURS["blue"])
    ax.annotate("A, wrong label", (-1.9, -2.0), (-10, -13), textcoords="offset points", fontsize=8)
    ax.set(xlabel="feature 1", xlim=(-2.8, 2.8), ylim=(-2.8, 2.8))


@panels.figure
def error_curves(results: Errors) -> Figure:
    """Fig. 2: test error after each epoch; a row per data set, a column per noise level."""
    settings, sets = results.settings, results.settings.datasets
    shown = [label for label, method in settings.methods.items() if method.losses]
    noisy = [noise for noise in settings.noise if noise.parameters.get("rate")]
    levels = labels(noisy or settings.noise)
    figure, axes = panels.grid_of_panels(
        [_title(results.table, name) for name in sets],
        [names.noise(level) for level in levels],
        x_label="epoch",
        y_label="test error / %",
        share_y="none",
    )
    for row, name in zip(axes, sets, strict=True):
        for ax, level in zip(row, levels, strict=True):
            where = {"dataset": name, "noise": level, "metric": "error", "method": shown}
            panels.learning_curves(ax, results.select(**where))
            _epochs(ax, settings)
            means = [line.get_ydata() for line in ax.get_lines()]  # bands of few trials may leave the panel
            ax.set_ylim(0.9 * np.min(means), 1.05 * np.max(means))
    panels.shared_legend(figure, panels.handles(shown))
    return figure


def _epochs(ax: Axes, settings: ErrorsSettings) -> None:
    ax.set_xticks(range(0, settings.epochs + 1, max(1, settings.epochs // 5)))


@panels.figure
def errors_by_noise(results: Errors) -> Figure:
    """Fig. 3: test error after the last epoch against the share of flipped labels, a panel per data set."""
    return _by_noise(results, "test error / %", spread=False)


@panels.figure
def variances(results: Errors) -> Figure:
    """Fig. 4: variance of the test error over the trials, which differ in shuffling only."""
    return _by_noise(results, "variance of the error / %²", spread=True)


def _by_noise(results: Errors, y_label: str, *, spread: bool) -> Figure:
    """Log-scale panels against the noise level; the last x of each curve."""
    sets = {name: each.artifact for each in results.each() for name in each.settings.datasets}
    titles = [_title(results.tables[artifact], name) for name, artifact in sets.items()]
    columns = min(3, len(sets))
    figure, axes = panels.grid_of_panels(
        [""] * -(-len(sets) // columns),
        titles[:columns],
        x_label="flipped training labels / %",
        y_label=y_label,
        left=0.74,
        between=0.28,
        share_y="none",
    )
    drawn: dict[str, None] = {}
    for ax, title, (name, artifact) in zip(axes.flat, titles, sets.items(), strict=False):
        table = panels.select(results.tables[artifact], artifact, dataset=name, metric="error")
        settings: ErrorsSettings = results.settings_of[artifact]
        shown = names.shown_in(settings.methods, "variances" if spread else "errors")
        _noise_curves(ax, table, settings.noise, shown, spread)
        ax.set_title(title, pad=3)
        if spread:
            panels.log_axis(ax.yaxis)
        else:
            _log_with_inset(ax, table, settings.noise, shown)
        drawn |= dict.fromkeys(shown)
    for ax in axes.flat[len(sets) :]:
        ax.set_visible(False)
    panels.shared_legend(figure, panels.handles(drawn))
    return figure


def _log_with_inset(ax: Axes, table: pd.DataFrame, noises: list[Noise], shown: list[str]) -> None:
    """Log scale; where there is room above them, the rates below one half again on a scale of their own."""
    values = np.array([line.get_ydata() for line in ax.get_lines()])
    low = 0.7 * np.min(values[values > 0], initial=100.0)
    panels.log_axis(ax.yaxis, low=low)
    rates = np.array([noise.parameters["rate"] for noise in noises])
    lower = [noise for noise, rate in zip(noises, rates, strict=True) if rate < 0.5]
    if 1 < len(lower) < len(noises):
        highest = np.max(values[:, rates < 0.5])
        if np.log(highest / low) < 0.45 * np.log(ax.get_ylim()[1] / low):
            inset = ax.inset_axes((0.13, 0.54, 0.47, 0.42))
            _noise_curves(inset, table, lower, shown, spread=False)
            inset.tick_params(labelsize=6)


def _noise_curves(
    ax: Axes, table: pd.DataFrame, noises: list[Noise], shown: Iterable[str], spread: bool
) -> None:
    x, levels = [100 * noise.parameters["rate"] for noise in noises], labels(noises)
    for method in shown:
        own = table[table["method"] == method]
        last = own[own["x"] == own["x"].max()]
        groups = [last.loc[last["noise"] == level, "value"] for level in levels]
        if spread:
            spreads = [group.var() if np.ptp(group) > ROUNDING else 0.0 for group in groups]
            _spread_curve(ax, np.array(x), np.array(spreads), method)
        else:
            interval = panels.mean_interval(last, ["noise"]).loc[levels]
            panels.curve(ax, x, interval["mean"], interval["half_width"], method)
    if not spread and ax.get_ylim()[1] > 100:
        ax.set_ylim(top=100)


def _spread_curve(ax: Axes, x: FloatArray, variances: FloatArray, method: str) -> None:
    """Variances on a log scale; where there is none, an open triangle at the lower edge."""
    ax.plot(x, np.where(variances > 0, variances, np.nan), **style.line(method))
    none: style.Looks = {
        "marker": "v",
        "linestyle": "none",
        "markerfacecolor": "white",
        "color": style.colour(method),
    }
    ax.plot(
        x[variances == 0], np.full((variances == 0).sum(), 0.02), transform=ax.get_xaxis_transform(), **none
    )


@panels.figure
def objectives(results: Errors) -> Figure:
    """Fig. 5: objective G(w) of SGD(SRamp) on the noisy training data, after each epoch, per noise level."""
    settings, levels = results.settings, labels(results.settings.noise)
    titles = [_title(results.table, name) for name in settings.datasets]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="epoch", y_label="objective G(w)", share_y="none"
    )
    greys = np.linspace(0.75, 0.0, len(levels))
    for ax, name in zip(axes.flat, settings.datasets, strict=True):
        for grey, level in zip(greys, levels, strict=True):
            where = {"noise": level, "metric": "objective", "method": settings.objectives[0]}
            rows = results.select(dataset=name, **where)
            mean = rows.groupby("x")["value"].mean()
            ax.plot(mean.index, mean, color=str(grey), linewidth=1.3)
        _epochs(ax, settings)
    entries = [
        panels.plain_handle(names.noise(level), color=str(grey), linewidth=1.3)
        for grey, level in zip(greys, levels, strict=True)
    ]
    panels.shared_legend(figure, entries)
    return figure


WAYS = {
    "last slow": "last,\nslow step",
    "last": "last",
    "mean slow": "mean,\nslow step",
    "mean": "mean",
    "solved": "solved",
}
"""Second part of a method's label -> tick, from the noisiest way of training to the minimum."""


@panels.figure
def loss_and_optimiser(results: Errors) -> Figure:
    """Test error of each loss against the way it was trained; a row per data set, a column per noise level.

    Methods are labelled ``loss way``, such as "log mean slow"; the ways are those of `WAYS`.
    """
    from matplotlib.ticker import LogLocator

    settings, noises = results.settings, labels(results.settings.noise)
    losses = list(dict.fromkeys(method.partition(" ")[0] for method in settings.methods))
    levels = [names.noise(level) for level in noises]
    figure, axes = panels.grid_of_panels(
        settings.datasets, levels, x_label="", y_label="test error / %", bottom=0.5, share_y="none"
    )
    for row, name in zip(axes, settings.datasets, strict=True):
        for ax, noise in zip(row, noises, strict=True):
            rows = results.select(dataset=name, noise=noise, metric="error")
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


@panels.table
def errors(results: Errors) -> pd.DataFrame:
    """Test error in % after the last epoch, mean ± standard deviation; sections: data set, noise."""
    import pandas as pd

    rows = []
    for each in results.each():
        methods = list(each.settings.methods)
        for name in each.settings.datasets:
            for level in labels(each.settings.noise):
                cells = _cells(each.select(dataset=name, noise=level, metric="error", method=methods))
                section = {"data set": _title(each.table, name), "training labels": level}
                rows.append(section | {method: cells[method] for method in methods})
    frame = pd.DataFrame(rows).set_index(["data set", "training labels"])
    frame.attrs["note"] = (
        "Test error in %, mean ± standard deviation over the trials; the lowest mean is bold."
    )
    return frame


@panels.table
def clean_errors(results: Errors) -> pd.DataFrame:
    """Table 1: test error in % after training on clean labels, ours and as printed; methods by data sets."""
    import pandas as pd

    frame = errors(results)
    clean = frame[frame.index.get_level_values("training labels") == "symmetric 0"].droplevel(1).T
    columns = {"method": [style.label(method) for method in clean.index]}
    sets = [(each.artifact, name) for each in results.each() for name in each.settings.datasets]
    for title, (artifact, name) in zip(clean.columns, sets, strict=True):
        published = results.published_of.get(artifact, [])
        columns[title] = list(clean[title])
        printed = [tables.printed(published, dataset=name, method=method) for method in clean.index]
        if any(printed):
            columns[f"{names.data_set(name)}, printed"] = printed
    table = pd.DataFrame(columns)
    table.attrs["note"] = frame.attrs["note"]
    return table


@panels.table
def redrawn_errors(results: Errors) -> pd.DataFrame:
    """`errors` over the paper's trials, and over trials with flips and splits of their own."""
    import pandas as pd

    parts = {}
    for trials, metric in (("orders", "error"), ("redrawn", "redrawn_error")):
        chosen = {name: _as_error(table, metric) for name, table in results.tables.items()}
        parts[trials] = errors(replace(results, tables=chosen))
    frame = (
        pd.concat(parts, names=["trials differ in"])
        .reorder_levels([1, 2, 0])
        .sort_index(sort_remaining=False)
    )
    frame.attrs["note"] = next(iter(parts.values())).attrs["note"]
    return frame


def _as_error(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    return table[table["metric"] == metric].assign(metric="error")


@panels.table
def theorem_bounds(results: panels.Results[Any]) -> pd.DataFrame:
    """Mean gap of constant-step SGD against the published and the corrected bound of Theorem 1."""
    import pandas as pd

    table = results.table
    titles = {"gap": "mean gap", "published": "published bound", "corrected": "corrected bound"}
    rows = []
    for keys, group in table.groupby(["noise", "method", "setting"], sort=False):
        section = dict(zip(["labels", "start", "eta x 6 beta"], keys, strict=True))
        means = group.groupby("metric")["value"].mean()
        rows.append(section | {title: f"{means[metric]:.3g}" for metric, title in titles.items()})
    frame = pd.DataFrame(rows).set_index(["labels", "start"])
    frame.attrs["note"] = (
        "Gap: excess of the objective over its minimum, mean over steps and runs; eta: the constant step, "
        "beta: the smoothness. A published bound below the gap does not hold."
    )
    return frame


def _cells(rows: pd.DataFrame) -> dict[str, str]:
    """``mean ± standard deviation`` of the last x, per method; the lowest mean in bold."""
    last = rows[rows["x"] == rows.groupby("method")["x"].transform("max")]
    return tables.mean_sd_cells({str(m): each for m, each in last.groupby("method")["value"]})


def _title(table: pd.DataFrame, name: str) -> str:
    """The data set's name, marked where a stand-in took its place."""
    sources = table.loc[table["dataset"] == name, "source"]
    shown = names.data_set(name)
    return f"{shown} (stand-in)" if sources.str.contains("stand-in").any() else shown
