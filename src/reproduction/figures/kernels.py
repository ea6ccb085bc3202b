"""Figures of the kernel classifiers (Kaban and Bootkrajang, LABELNOISE 2017), and of ours beside them."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import names, panels, style
from reproduction.figures.names import KINDS, data_set, flips

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


HARM = ("independent 0", "independent 0.3", "negative_only 0.3")
"""Noise that the bar chart shows."""
_COLOURS = {"clean": "grey", "symmetric": "blue", "asymmetric": "vermillion"}
_MARKERS = {"clean": "o", "symmetric": "s", "asymmetric": "^"}
_HATCHES = {"clean": "", "symmetric": "", "asymmetric": "////"}


def _kind(noise: str) -> str:
    law, rate = noise.split()
    return KINDS[law] if float(rate) else "clean"


@panels.figure
def noise_harm(results: panels.Results[Any]) -> "Figure":
    """Bars: error of the reference with clean labels, 30 % symmetric and asymmetric flips, per data set."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    sets, named = settings[artifact]["datasets"], settings[artifact]["methods"]
    method = names.reference(named)
    where = {"dataset": sets, "noise": list(HARM), "method": method, "metric": "error"}
    means = panels.mean_interval(panels.select(table, artifact, **where), ["dataset", "noise"])
    width = style.WIDTH[3] if len(sets) > 5 else style.WIDTH[1]
    figure, axes = panels.grid_of_panels(
        [""],
        [""],
        x_label="",
        y_label=f"test error of {names.label(named, method)} / %",
        height=2.6,
        width=width,
        bottom=0.72,
    )
    ax = axes[0, 0]
    places = np.arange(len(sets))
    bars = {"ecolor": "black", "elinewidth": 0.9, "capsize": 1.8}
    for i, noise in enumerate(HARM):
        rows = means.loc[[(name, noise) for name in sets]]
        x = places + 0.27 * (i - 1)
        ax.bar(x, rows["mean"], 0.27, yerr=rows["half_width"], error_kw=bars, **_fill(noise))
    ax.set_xticks(places, list(map(data_set, sets)), rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.6, len(sets) - 0.4)
    ax.set_ylim(0, _framed(means)[1])
    ax.grid(visible=False, axis="x")
    panels.shared_legend(figure, [_patch(noise) for noise in HARM], handle=1.8)
    return figure


def _fill(noise: str) -> dict[str, Any]:
    kind = _kind(noise)
    colour = style.COLOURS[_COLOURS[kind]]
    return {"facecolor": colour, "hatch": _HATCHES[kind], "edgecolor": "white", "linewidth": 0}


def _patch(noise: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(label=flips(noise), **_fill(noise))


@panels.figure
def kernel_count(results: panels.Results[Any]) -> "Figure":
    """Test error against the number S of kernels, a panel per data set, in the look of the reference."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    sizes = {method: len(spec["parameters"]["widths"]) for method, spec in own["methods"].items()}
    figure, axes = _small_multiples(own["datasets"], 5, "number of kernels S", "test error / %")
    places = np.arange(len(sizes))
    for ax, name in zip(axes, own["datasets"], strict=True):
        rows = panels.select(table, artifact, dataset=name, metric="error", method=list(sizes))
        means = panels.mean_interval(rows, ["method"]).loc[list(sizes)]
        panels.curve(ax, places, means["mean"], means["half_width"], names.reference(own["methods"]))
        ax.set_xticks(places, [str(size) for size in sizes.values()])
        ax.set_ylim(_framed(means))
    return figure


@panels.figure
def stpmkl(results: panels.Results[Any]) -> "Figure":
    """Test accuracy against the share of flipped labels, a panel per data set, a curve per method."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    rates = [100 * float(noise.split()[1]) for noise in own["noise"]]
    figure, axes = _small_multiples(own["datasets"], 3, "flipped training labels / %", "test accuracy")
    for ax, name in zip(axes, own["datasets"], strict=True):
        where = {"dataset": name, "metric": "accuracy", "method": list(own["methods"]), "noise": own["noise"]}
        means = panels.mean_interval(panels.select(table, artifact, **where), ["method", "noise"])
        for method in own["methods"]:
            values = means.loc[method].loc[own["noise"]]
            panels.curve(ax, rates, values["mean"], values["half_width"], method)
        ax.set_xticks(rates)
        ax.set_ylim(_framed(means, widest=0.05, least=0.04))
    panels.shared_legend(figure, panels.handles(own["methods"]))
    return figure


@panels.figure
def mkl_path(results: panels.Results[Any]) -> "Figure":
    """Test error of variants of rMKLR, clean and with flips, a panel per data set."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    variants, laws = list(own["methods"]), own["noise"]
    figure, axes = _small_multiples(own["datasets"], 3, "test error / %", "", left=1.35, gap=0.22)
    for ax, name in zip(axes, own["datasets"], strict=True):
        rows = panels.select(table, artifact, dataset=name, noise=laws, metric="error", method=variants)
        means = panels.mean_interval(rows, ["noise", "method"])
        for i, noise in enumerate(laws):
            own_means = means.loc[noise].loc[variants]
            y = np.arange(len(variants)) + 0.22 * (i - (len(laws) - 1) / 2)
            bars = {"xerr": own_means["half_width"], "elinewidth": 1, "capsize": 2}
            ax.errorbar(own_means["mean"], y, **bars, **_mark(noise))
        ax.set_yticks(range(len(variants)), [style.label(variant) for variant in variants])
        ax.tick_params(labelleft=ax.get_position().x0 == axes[0].get_position().x0)
        ax.set_ylim(len(variants) - 0.45, -0.55)
        ax.set_xlim(0, _framed(means)[1])
    panels.shared_legend(figure, [panels.plain_handle(**_mark(noise)) for noise in laws], handle=1.5)
    return figure


def _mark(noise: str) -> dict[str, Any]:
    """Look of one value at a noise level."""
    kind = _kind(noise)
    looks = {"color": style.COLOURS[_COLOURS[kind]], "marker": _MARKERS[kind], "label": flips(noise)}
    return looks | {"markersize": 4.5, "linestyle": "none"}


def _small_multiples(
    datasets: list[str], columns: int, x_label: str, y_label: str, *, left: float = 0.66, gap: float = 0.5
) -> tuple["Figure", list["Axes"]]:
    """One panel per data set, its name above it; the lowest panel of each column labels the x axis.

    ``left``, ``gap``: room for the labels of the y axis beside the first and between the others, inches.
    """
    from matplotlib.figure import Figure

    columns = min(columns, len(datasets))
    rows = math.ceil(len(datasets) / columns)
    width = style.WIDTH[min(columns, 3)]
    panel = (width - left - 0.12 - gap * (columns - 1)) / columns
    height, below, above = (2.1 if rows == 1 else 1.3), 0.46, 0.22
    step = height + 0.22 + above
    total = below + height + above + step * (rows - 1)
    figure = Figure(figsize=(width, total))
    shown: list[Axes] = []
    for k, name in enumerate(datasets):
        row, column = divmod(k, columns)
        box = (left + column * (panel + gap), below + (rows - 1 - row) * step, panel, height)
        ax = figure.add_axes(tuple(np.array(box) / (width, total, width, total)))
        ax.set_title(data_set(name))
        ax.set_xlabel(x_label if k + columns >= len(datasets) else "")
        ax.set_ylabel(y_label if column == 0 else "")
        shown.append(ax)
    return figure, shown


def _framed(means: "pd.DataFrame", widest: float = 3.0, least: float = 2.0) -> tuple[float, float]:
    """Limits of an axis, ``least`` apart or more, with room for intervals up to ``widest``."""
    shown = means["half_width"].clip(upper=widest)
    low, high = float((means["mean"] - shown).min()), float((means["mean"] + shown).max())
    centre, half = (low + high) / 2, max(least / 2, 0.55 * (high - low))
    return centre - half, centre + half
