"""Figures and tables of the robust-SGD paper, and our own."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from reproduction.show import names, panels, style, tables
from reproduction.spec.settings import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robust_sgd.code import ErrorsSettings

Errors: TypeAlias = "panels.Results[ErrorsSettings]"
ROUNDING = 1e-9
"""Difference of errors in % below which they count as equal."""
FAR_POINT = -2.2
"""Margin z_A of the mislabelled far point A in Figure 1."""


@panels.figure
def sketch_and_losses(results: panels.Results[Any]) -> Figure:
    """Draw Fig. 1: a mislabelled point A far on the wrong side, and its loss by each formula."""
    from noisylabels.losses.margin import resolve  # imported here, as compiled code is slow to load

    look: style.Looks = {"x_label": ["feature 1", "margin z = y f(x)"], "y_label": ["feature 2", "loss r(z)"]}
    figure, (sketch, curves) = panels.side_by_side(["", ""], height=2.6, **look)
    rng = np.random.default_rng(3)  # two classes, a line between them, and A: negative, labelled +1
    for sign, marker, colour in ((1, "o", "blue"), (-1, "s", "vermillion")):
        x, y = rng.normal(0, 0.5, (2, 25)) + sign
        sketch.scatter(x, y, s=12, marker=marker, facecolors="none", edgecolors=style.COLOURS[colour])
    sketch.plot([-2.6, 2.6], [2.6, -2.6], color="black", linewidth=1)
    sketch.scatter([-1.9], [-2.0], s=26, marker="o", color=style.COLOURS["blue"])
    sketch.annotate("A, wrong label", (-1.9, -2.0), (-10, -13), textcoords="offset points", fontsize=8)
    sketch.set(xlim=(-2.8, 2.8), ylim=(-2.8, 2.8))
    z = np.linspace(-3, 3, 601)
    shown = ("log", "hinge", "ramp", "smooth_ramp", "rgomp")
    for name in shown:
        curves.plot(z, resolve(name).value(z), **(style.line(name) | {"marker": ""}))
    curves.axvline(FAR_POINT, color="black", linewidth=0.8, linestyle=style.DASHES["dot"])
    curves.annotate("$z_A$", (FAR_POINT, 3.7), (3, 0), textcoords="offset points")
    entries = panels.handles(shown, marker="")
    for loss, entry in zip(shown, entries, strict=True):
        entry.set_label(LOSSES[loss])
    return panels.shared_legend(figure, entries)


@panels.figure
def error_curves(results: Errors) -> Figure:
    """Draw Fig. 2: test error after each epoch, a row per data set, a column per noise level."""
    settings = results.settings
    shown = [label for label, method in settings.methods.items() if method.losses]
    noisy = [noise for noise in settings.noise if noise.parameters.get("rate")] or settings.noise
    where = {"metric": "error", "method": shown}
    levels = [(names.noise(level), where | {"noise": level}) for level in labels(noisy)]
    legend = panels.handles(shown)
    figure, cells = _facets(results, _sets(results), levels, "epoch", "test error / %", legend=legend)
    for ax, _ in cells:
        _epochs(ax, settings.epochs)
        # wide bands of few trials may leave the panel
        means: Any = [line.get_ydata() for line in ax.get_lines()]
        ax.set_ylim(0.9 * np.min(means), 1.05 * np.max(means))
    return figure


def _epochs(ax: Axes, last: int) -> None:
    ax.set_xticks(range(0, last + 1, max(1, last // 5)))


_LEVELS = (("sky", "blue", "wine", "black"), "osD^")
"""Colours and markers of the noise levels."""


@panels.figure
def objectives(results: Errors) -> Figure:
    """Draw Fig. 5: the objective of SGD(SRamp) after each epoch, by noise level."""
    settings = results.settings
    looks = dict[str, style.Looks]()
    for level, colour, marker in zip(labels(settings.noise), *map(itertools.cycle, _LEVELS), strict=False):
        looks[level] = {"color": style.COLOURS[colour], "marker": marker, "label": names.noise(level)}
        looks[level] |= {"markersize": 5}
    where = {"metric": "objective", "method": settings.objectives[0]}
    figure, cells = _facets(results, [("", where)], _sets(results), "epoch", "objective G(w)")
    for ax, rows in cells:
        for place, (level, look) in enumerate(looks.items()):
            mean = panels.select(rows, results.artifact, noise=level).groupby("x")["value"].mean()
            ax.plot(mean.index, mean, markevery=(place, len(looks)), **look)
        _epochs(ax, settings.epochs)
    return panels.shared_legend(figure, [panels.plain_handle(**look) for look in looks.values()])


WAYS = {"last slow": "last,\nslow step", "last": "last", "mean slow": "mean,\nslow step"}
WAYS |= {"mean": "mean", "solved": "solved"}
"""Second part of a method's label -> tick, from the noisiest way of training to the minimum."""


@panels.figure
def loss_and_optimiser(results: Errors) -> Figure:
    """Draw the test error of each loss by way of training, a row per data set.

    Methods are labelled ``loss way``, such as "log mean slow"; the ways are those of `WAYS`.
    """
    losses = list(dict.fromkeys(method.partition(" ")[0] for method in results.settings.methods))
    sets = [(name, {"dataset": name, "metric": "error"}) for name in results.settings.datasets]
    levels = [(names.noise(level), {"noise": level}) for level in labels(results.settings.noise)]
    figure, cells = _facets(results, sets, levels, "", "test error / %", bottom=0.5)
    for ax, rows in cells:
        means = panels.mean_interval(rows[rows["x"] == rows["x"].max()], ["method"])
        for k, loss in enumerate(losses):
            values = means.loc[[f"{loss} {way}" for way in WAYS]]
            x = np.arange(len(WAYS)) + 0.13 * (k - (len(losses) - 1) / 2)
            ax.errorbar(x, values["mean"], yerr=values["half_width"], **style.dot(loss))
        ax.set_xticks(range(len(WAYS)), list(WAYS.values()))
        ax.grid(visible=False, axis="x")
    entries = panels.dot_handles(losses)
    for loss, entry in zip(losses, entries, strict=True):
        entry.set_label(LOSSES[loss])
    return panels.shared_legend(figure, entries, handle=1)


LOSSES = {
    "log": "log loss",
    "hinge": "hinge loss",
    "squared_hinge": "squared hinge loss",
    "ramp": "ramp loss",
    "smooth_ramp": "smooth ramp loss",
    "rgomp": "reversed Gompertz loss",
}
"""Key of a loss -> its name, in figures that vary the training or train nothing."""


def _sets(results: Errors) -> list[tuple[str, dict[str, str]]]:
    return [(_title(results.table, name), {"dataset": name}) for name in results.settings.datasets]


def _facets(
    results: Errors, rows: Any, columns: Any, x_label: str, y_label: str, **options: Any
) -> tuple[Figure, list[panels.Cell]]:
    look: style.Looks = {"x_label": x_label, "y_label": y_label, "share_y": "none"} | options
    return panels.facets(results, rows, columns, **look)


@panels.picture
def errors_by_noise(results: Errors) -> Figure:
    """Draw Fig. 3: test error after the last epoch against the share of flipped labels.

    Rates above one half have a narrow panel on the right, with another scale.
    """
    figure, cells = _by_noise(results, "test error / %", "errors")
    for ax, each, table, shown in cells:
        above = [noise for noise in each.settings.noise if noise.parameters["rate"] > 0.5]
        below = [noise for noise in each.settings.noise if noise not in above]
        x = [100 * noise.parameters["rate"] for noise in below]
        for method in shown:
            own = _last(table[table["method"] == method])
            means = panels.mean_interval(own, ["noise"]).loc[labels(below)]
            panels.curve(ax, x, means["mean"], means["half_width"], method)
        ax.set_xticks(x)
        if above:
            box = ax.get_position()
            ax.set_position((box.x0, box.y0, 0.66 * box.width, box.height))
            side = figure.add_axes((box.x0 + 0.7 * box.width, box.y0, 0.2 * box.width, box.height))
            for place, noise in enumerate(above):
                places = {method: place + 0.8 * k / len(shown) - 0.4 for k, method in enumerate(shown)}
                panels.final_dots(side, _last(table[table["noise"] == noise.label]), places)
            side.set_xticks(range(len(above)), [f"{100 * noise.parameters['rate']:g}" for noise in above])
            side.margins(x=0.15)
            side.yaxis.tick_right()
            side.spines.left.set_visible(False)
            side.spines.right.set_visible(True)
            side.set_title("own axis", fontsize=8, pad=3)
            _mark_gap(ax, side)
    return figure


def _mark_gap(left: Axes, right: Axes) -> None:
    """Mark the gap between two x axes with a slanted stroke at both ends."""
    stroke: style.Looks = {"marker": [(-1, -2), (1, 2)], "markersize": 6, "linestyle": "none"}
    for ax, end in ((left, 1), (right, 0)):
        ax.plot([end], [0], transform=ax.transAxes, color="black", clip_on=False, **stroke)


@panels.picture
def variances(results: Errors) -> Figure:
    """Draw Fig. 4: variance of the test error over trials that differ in shuffling only.

    Where there is none, the line is broken, with an open triangle below all values.
    """
    figure, cells = _by_noise(results, "variance / (% of rows)²", "variances", NONE)
    for ax, each, table, shown in cells:
        x = np.array([100 * noise.parameters["rate"] for noise in each.settings.noise])
        last = [_last(table[table["method"] == method]) for method in shown]
        groups = [[own.loc[own["noise"] == n, "value"] for n in labels(each.settings.noise)] for own in last]
        found = np.array([[v.var() if np.ptp(v) > ROUNDING else 0.0 for v in values] for values in groups])
        least = np.min(found[found > 0], initial=1.0) / 4
        for k, (method, values) in enumerate(zip(shown, found, strict=True)):
            apart = x + 0.8 * (k - (len(shown) - 1) / 2)
            ax.plot(apart, np.where(values > 0, values, np.nan), **style.line(method))
            ax.plot(apart[values == 0], least + values[values == 0], **NONE | {"color": style.colour(method)})
        ax.set_xticks(x)
        panels.log_axis(ax.yaxis)
    return figure


NONE: style.Looks = {"marker": "v", "linestyle": "none", "markerfacecolor": "white", "label": "no variance"}


def _by_noise(
    results: Errors, y_label: str, place: str, *more: style.Looks
) -> tuple[Figure, list[tuple[Axes, Errors, pd.DataFrame, list[str]]]]:
    """Make a panel per data set with its results, their rows and the methods to show."""
    sets = _each_set(results)
    look: style.Looks = {"left": 0.74, "between": 0.5, "share_y": "none", "share_x": False}
    x_label = "flipped training labels / %"
    figure, axes = panels.wrapped(len(sets), 3, x_label=x_label, y_label=y_label, **look)
    cells = []
    for ax, (each, name) in zip(axes, sets, strict=True):
        ax.set_title(_title(each.table, name), pad=3)
        shown = names.shown_in(each.settings.methods, place)
        cells.append((ax, each, each.select(dataset=name, metric="error"), shown))
    drawn = dict.fromkeys(method for *_, shown in cells for method in shown)
    panels.shared_legend(figure, [*panels.handles(drawn), *(panels.plain_handle(**each) for each in more)])
    return figure, cells


@panels.table
def errors(results: Errors) -> pd.DataFrame:
    """List the test error in % after the last epoch, mean ± standard deviation."""
    rows = []
    for each, name in _each_set(results):
        methods = list(each.settings.methods)
        for level in labels(each.settings.noise):
            last = _last(each.select(dataset=name, noise=level, metric="error", method=methods))
            cells = tables.mean_sd_cells(last, methods)
            rows.append({"data set": _title(each.table, name), "training labels": level} | cells)
    frame = pd.DataFrame(rows).set_index(["data set", "training labels"])
    said = "Test error in %, mean ± standard deviation over the trials; the lowest mean is bold."
    return tables.noted(frame, said)


def _each_set(results: Errors) -> list[tuple[Errors, str]]:
    """List every data set with the results in which it occurs."""
    return [(each, name) for each in results.each() for name in each.settings.datasets]


@panels.table
def clean_errors(results: Errors) -> pd.DataFrame:
    """List Table 1: test error in % after training on clean labels, in the paper's order.

    A method has a row of our errors and one of the published errors, with the dash of the paper.
    """
    frame = errors(results)
    clean = frame.xs("symmetric 0", level="training labels").T
    titles = {name: title for title, (_, name) in zip(clean.columns, _each_set(results), strict=True)}
    ordered_sets = _in_order(titles, PUBLISHED_SETS)
    published = {name: each.published for each, name in _each_set(results)}
    rows = []
    for method in _in_order(clean.index, PUBLISHED_METHODS):
        ours = {titles[name]: clean.loc[method, titles[name]] for name in ordered_sets}
        theirs = {
            titles[name]: tables.printed(published[name], dataset=name, method=method) or DASH
            for name in ordered_sets
        }
        start = {"method": style.label(method)}
        rows += [start | {"error": "ours"} | ours, start | {"error": "published"} | theirs]
    said = f"{frame.attrs['note']} {DASH}: no published value, because the program ran out of memory."
    return tables.noted(pd.DataFrame(rows).set_index(["method", "error"]), said)


DASH = "-"
"""Text of the paper where a program ran out of memory."""
PUBLISHED_SETS = ("a7a", "ijcnn1", "real_sim", "covtype", "mnist38", "susy")
PUBLISHED_METHODS = (
    "liblinear_primal",
    "liblinear_dual",
    "pegasos",
    "log",
    "asgd",
    "hinge",
    "ramp",
    "smooth_ramp",
    "rgomp",
)
"""Columns and rows of Table 1, in the order of the paper."""


def _in_order(found: Iterable[str], order: Sequence[str]) -> list[str]:
    """Sort names as a published table has them; others follow in their own order."""
    listed = list(found)
    return [name for name in order if name in listed] + [name for name in listed if name not in order]


@panels.table
def redrawn_errors(results: Errors) -> pd.DataFrame:
    """Draw `errors` over the paper's trials, and over trials with new flips and splits."""
    parts = {}
    for trials, metric in (("orders", "error"), ("redrawn", "redrawn_error")):
        rows = {name: table[table["metric"] == metric] for name, table in results.tables.items()}
        chosen = {name: table.assign(metric="error") for name, table in rows.items()}
        parts[trials] = errors(replace(results, tables=chosen))
    frame = pd.concat(parts, names=["trials differ in"]).reorder_levels([1, 2, 0])
    return tables.noted(frame.sort_index(sort_remaining=False), parts["orders"].attrs["note"])


@panels.table
def theorem_bounds(results: panels.Results[Any]) -> pd.DataFrame:
    """Draw the mean gap of constant-step SGD, and both bounds of Theorem 1."""
    titles = {"gap": "mean gap", "published": "published bound", "corrected": "corrected bound"}
    rows = []
    for keys, group in results.table.groupby(["noise", "method", "setting"], sort=False):
        means = group.groupby("metric")["value"].mean()
        section = dict(zip(["labels", "start", "eta x 6 beta"], keys, strict=True))
        rows.append(section | {title: f"{means[metric]:.3g}" for metric, title in titles.items()})
    return tables.noted(
        pd.DataFrame(rows).set_index(["labels", "start"]),
        "Gap: excess of the objective over its minimum, mean over steps and runs; eta: the constant step,",
        "beta: the smoothness. A published bound below the gap does not hold.",
    )


def _last(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the rows at the last x of their method."""
    return rows[rows["x"] == rows.groupby("method")["x"].transform("max")]


def _title(table: pd.DataFrame, name: str) -> str:
    """Name a data set, marked if a stand-in took its place."""
    sources = table.loc[table["dataset"] == name, "source"]
    shown = names.data_set(name)
    return f"{shown} (stand-in)" if sources.str.contains("stand-in").any() else shown
