"""Figures and tables of the robust-SGD paper, and our own."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from reproduction.show import names, panels, style, tables
from reproduction.spec.settings import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reproduction.spec.settings import Noise
    from robust_sgd.code import ErrorsSettings

Errors: TypeAlias = "panels.Results[ErrorsSettings]"
ROUNDING = 1e-9
"""Difference of errors in % below which they count as equal."""
FAR_POINT = -2.2
"""Margin z_A of the mislabelled far point A in Figure 1."""
SKETCHED = ("log", "hinge", "ramp", "smooth_ramp", "rgomp")
"""Losses of Figure 1."""


@panels.figure
def sketch_and_losses(results: panels.Results[Any]) -> Figure:
    """Draw Fig. 1: a mislabelled point A far on the wrong side, and its loss by each formula."""
    x_labels = ["feature 1", "margin z = y f(x)"]
    y_labels = ["feature 2", "loss r(z)"]
    figure, axes = panels.side_by_side(["", ""], x_label=x_labels, y_label=y_labels, height=2.6)
    sketch, curves = axes
    _draw_sketch(sketch)
    _draw_losses(curves)
    handles = panels.handles(SKETCHED, marker="")
    _name_losses(handles, SKETCHED)
    return panels.shared_legend(figure, handles)


def _draw_sketch(ax: Axes) -> None:
    """Draw two classes, a line between them, and A: negative, labelled +1."""
    rng = np.random.default_rng(3)
    for sign, marker, colour in ((1, "o", "blue"), (-1, "s", "vermillion")):
        x, y = rng.normal(0, 0.5, (2, 25)) + sign
        edges = style.COLOURS[colour]
        ax.scatter(x, y, s=12, marker=marker, facecolors="none", edgecolors=edges)
    ax.plot([-2.6, 2.6], [2.6, -2.6], color="black", linewidth=1)
    A = (-1.9, -2.0)
    ax.scatter(*A, s=26, marker="o", color=style.COLOURS["blue"])
    ax.annotate("A, wrong label", A, (-10, -13), textcoords="offset points", fontsize=8)
    ax.set(xlim=(-2.8, 2.8), ylim=(-2.8, 2.8))


def _draw_losses(ax: Axes) -> None:
    """Draw the losses against the margin, and the margin of A."""
    from noisylabels.losses.margin import resolve  # imported here, as compiled code is slow to load

    z = np.linspace(-3, 3, 601)
    for name in SKETCHED:
        look = style.line(name) | {"marker": ""}
        ax.plot(z, resolve(name).value(z), **look)
    ax.axvline(FAR_POINT, color="black", linewidth=0.8, linestyle=style.DASHES["dot"])
    ax.annotate("$z_A$", (FAR_POINT, 3.7), (3, 0), textcoords="offset points")


def _name_losses(handles: Sequence[Any], losses: Sequence[str]) -> None:
    """Label legend entries with the names of the losses."""
    for loss, handle in zip(losses, handles, strict=True):
        handle.set_label(LOSSES[loss])


@panels.figure
def error_curves(results: Errors) -> Figure:
    """Draw Fig. 2: test error after each epoch, a row per data set, a column per noise level."""
    settings = results.settings
    shown = [label for label, method in settings.methods.items() if method.losses]
    noisy = [noise for noise in settings.noise if noise.parameters.get("rate")]
    columns = []
    for level in labels(noisy or settings.noise):
        selected = {"metric": "error", "method": shown, "noise": level}
        columns.append((names.noise(level), selected))
    legend = panels.handles(shown)
    axis_labels = ("epoch", "test error / %")
    figure, cells = _facets(results, _sets(results), columns, axis_labels, legend=legend)
    for ax, _ in cells:
        _epochs(ax, settings.epochs)
        # Wide bands of few trials may leave the panel.
        means: Any = [line.get_ydata() for line in ax.get_lines()]
        ax.set_ylim(0.9 * np.min(means), 1.05 * np.max(means))
    return figure


def _epochs(ax: Axes, last: int) -> None:
    step = max(1, last // 5)
    ax.set_xticks(range(0, last + 1, step))


_LEVELS = (("sky", "o"), ("blue", "s"), ("wine", "D"), ("black", "^"))
"""Colours and markers of the noise levels."""


@panels.figure
def objectives(results: Errors) -> Figure:
    """Draw Fig. 5: the objective of SGD(SRamp) after each epoch, by noise level."""
    settings = results.settings
    looks: dict[str, style.Looks] = {}
    levels = labels(settings.noise)
    for level, (colour, marker) in zip(levels, itertools.cycle(_LEVELS), strict=False):
        looks[level] = {
            "color": style.COLOURS[colour],
            "marker": marker,
            "label": names.noise(level),
            "markersize": 5,
        }
    rows = [("", {"metric": "objective", "method": settings.objectives[0]})]
    figure, cells = _facets(results, rows, _sets(results), ("epoch", "objective G(w)"))
    for ax, values in cells:
        for number, (level, look) in enumerate(looks.items()):
            of_level = panels.select(values, results.artifact, noise=level)
            mean = of_level.groupby("x")["value"].mean()
            ax.plot(mean.index, mean, markevery=(number, len(looks)), **look)
        _epochs(ax, settings.epochs)
    handles = [panels.plain_handle(**look) for look in looks.values()]
    return panels.shared_legend(figure, handles)


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
    """Draw the test error of each loss by way of training, a row per data set.

    Methods are labelled ``loss way``, such as "log mean slow"; the ways are those of `WAYS`.
    """
    settings = results.settings
    losses_of_methods = [method.partition(" ")[0] for method in settings.methods]
    losses = list(dict.fromkeys(losses_of_methods))
    sets = [(name, {"dataset": name, "metric": "error"}) for name in settings.datasets]
    levels = [(names.noise(level), {"noise": level}) for level in labels(settings.noise)]
    figure, cells = _facets(results, sets, levels, ("", "test error / %"), bottom=0.5)
    for ax, rows in cells:
        _draw_ways_of_training(ax, panels.at_last_x(rows), losses)
    handles = panels.dot_handles(losses)
    _name_losses(handles, losses)
    return panels.shared_legend(figure, handles, handle=1)


def _draw_ways_of_training(ax: Axes, rows: pd.DataFrame, losses: Sequence[str]) -> None:
    """Draw the mean error of each loss as a dot, a group of dots for each way of training."""
    places = np.arange(len(WAYS))
    offsets = _offsets(len(losses), 0.13)
    intervals = panels.mean_interval(rows, ["method"])
    for loss, offset in zip(losses, offsets, strict=True):
        of_loss = intervals.loc[[f"{loss} {way}" for way in WAYS]]
        mean = of_loss["mean"]
        ax.errorbar(places + offset, mean, yerr=of_loss["half_width"], **style.dot(loss))
    ax.set_xticks(places, list(WAYS.values()))
    ax.grid(visible=False, axis="x")


def _offsets(count: int, step: float) -> Any:
    """Place so many things around 0, a step apart."""
    middle = (count - 1) / 2
    return step * (np.arange(count) - middle)


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
    """List title and data set of each column of panels."""
    table = results.table
    return [(_title(table, name), {"dataset": name}) for name in results.settings.datasets]


def _facets(
    results: Errors,
    rows: Any,
    columns: Any,
    axis_labels: tuple[str, str],
    **options: Any,
) -> tuple[Figure, list[panels.Cell]]:
    """Make panels with separate y axes, with labels of the x and the y axis."""
    x_label, y_label = axis_labels
    look: style.Looks = {"x_label": x_label, "y_label": y_label, "share_y": "none"}
    look |= options
    return panels.facets(results, rows, columns, **look)


class NoisePanel(NamedTuple):
    """The panel of a data set, its results, their rows, and the methods to show."""

    ax: Axes
    results: Errors
    rows: pd.DataFrame
    methods: list[str]

    def rows_of(self, method: str) -> pd.DataFrame:
        """Select the last errors of a method."""
        return _last(self.rows[self.rows["method"] == method])


def _percent(noise: Noise) -> float:
    """Return the flip rate of a noise in %."""
    return 100 * noise.parameters["rate"]


@panels.picture
def errors_by_noise(results: Errors) -> Figure:
    """Draw Fig. 3: test error after the last epoch against the share of flipped labels.

    Rates above one half have a narrow panel on the right, with another scale.
    """
    figure, noise_panels = _by_noise(results, "test error / %", "errors")
    for panel in noise_panels:
        low: list[Noise] = []
        high: list[Noise] = []
        for noise in panel.results.settings.noise:
            side = high if noise.parameters["rate"] > 0.5 else low
            side.append(noise)
        rates = [_percent(noise) for noise in low]
        for method in panel.methods:
            intervals = panels.mean_interval(panel.rows_of(method), ["noise"])
            of_low = intervals.loc[labels(low)]
            panels.curve(panel.ax, rates, of_low["mean"], of_low["half_width"], method)
        panel.ax.set_xticks(rates)
        if high:
            _add_high_rates(figure, panel, high)
    return figure


LOW_RATES_WIDTH = 0.66
HIGH_RATES_LEFT = 0.7
HIGH_RATES_WIDTH = 0.2
"""Place of the two parts of a panel, as shares of its width."""


def _add_high_rates(figure: Figure, panel: NoisePanel, noises: Sequence[Noise]) -> None:
    """Make the panel narrower, and add one for the high rates on the right."""
    side = panels.add_beside(panel.ax, LOW_RATES_WIDTH, HIGH_RATES_LEFT, HIGH_RATES_WIDTH)
    count = len(panel.methods)
    for number, noise in enumerate(noises):
        places = {}
        for k, method in enumerate(panel.methods):
            places[method] = number + 0.8 * k / count - 0.4
        rows = panel.rows[panel.rows["noise"] == noise.label]
        panels.final_dots(side, _last(rows), places)
    side.set_xticks(range(len(noises)), [f"{_percent(noise):g}" for noise in noises])
    side.margins(x=0.15)
    side.yaxis.tick_right()
    side.spines.left.set_visible(False)
    side.spines.right.set_visible(True)
    side.set_title("own axis", fontsize=8, pad=3)
    _mark_gap(panel.ax, side)


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
    figure, noise_panels = _by_noise(results, "variance / (% of rows)²", "variances", NONE)
    for panel in noise_panels:
        rates = np.array([_percent(noise) for noise in panel.results.settings.noise])
        variances_of_methods = _compute_variances(panel)
        is_positive = variances_of_methods > 0
        height = np.min(variances_of_methods[is_positive], initial=1.0) / 4
        offsets = _offsets(len(panel.methods), 0.8)
        drawn = zip(panel.methods, variances_of_methods, offsets, strict=True)
        for method, variances_of_method, offset in drawn:
            _draw_variances(panel.ax, rates + offset, variances_of_method, method, height)
        panel.ax.set_xticks(rates)
        panels.log_axis(panel.ax.yaxis)
    return figure


def _draw_variances(ax: Axes, x: Any, values: Any, method: str, height: float) -> None:
    """Draw the variances of a method; where there is none, a triangle at a height."""
    positive = np.where(values > 0, values, np.nan)
    ax.plot(x, positive, **style.line(method))
    without_variance = x[values == 0]
    heights = np.full(len(without_variance), height)
    look = NONE | {"color": style.colour(method)}
    ax.plot(without_variance, heights, **look)


def _compute_variances(panel: NoisePanel) -> Any:
    """Compute the variance of the error of each method (rows) by noise (columns)."""
    noises = labels(panel.results.settings.noise)
    by_method = []
    for method in panel.methods:
        last = panel.rows_of(method)
        by_noise = []
        for noise in noises:
            errors_of_noise = last.loc[last["noise"] == noise, "value"]
            varies = np.ptp(errors_of_noise) > ROUNDING
            by_noise.append(errors_of_noise.var() if varies else 0.0)
        by_method.append(by_noise)
    return np.array(by_method)


NONE: style.Looks = {
    "marker": "v",
    "linestyle": "none",
    "markerfacecolor": "white",
    "label": "no variance",
}
"""Look of an error without variance."""


def _by_noise(
    results: Errors,
    y_label: str,
    drawing: str,
    *added: style.Looks,
) -> tuple[Figure, list[NoisePanel]]:
    """Make a panel per data set; the legend has the methods of a drawing and the added looks."""
    sets = _each_set(results)
    axis_labels = {"x_label": "flipped training labels / %", "y_label": y_label}
    look: style.Looks = {"left": 0.74, "between": 0.5, "share_y": "none", "share_x": False}
    look |= axis_labels
    figure, axes = panels.wrapped(len(sets), 3, **look)
    noise_panels = []
    drawn: dict[str, None] = {}
    for ax, (of_set, name) in zip(axes, sets, strict=True):
        ax.set_title(_title(of_set.table, name), pad=3)
        shown = names.shown_in(of_set.settings.methods, drawing)
        drawn |= dict.fromkeys(shown)
        rows = of_set.select(dataset=name, metric="error")
        noise_panels.append(NoisePanel(ax, of_set, rows, shown))
    handles = panels.handles(drawn)
    handles += [panels.plain_handle(**look) for look in added]
    panels.shared_legend(figure, handles)
    return figure, noise_panels


@panels.table
def errors(results: Errors) -> pd.DataFrame:
    """List the test error in % after the last epoch, mean ± standard deviation."""
    rows = []
    for of_set, name in _each_set(results):
        methods = list(of_set.settings.methods)
        title = _title(of_set.table, name)
        for level in labels(of_set.settings.noise):
            values = of_set.select(dataset=name, noise=level, metric="error", method=methods)
            cells = tables.mean_sd_cells(_last(values), methods)
            rows.append({"data set": title, "training labels": level} | cells)
    frame = pd.DataFrame(rows).set_index(["data set", "training labels"])
    average = "mean ± standard deviation over the trials"
    return tables.noted(frame, f"Test error in %, {average}; the lowest mean is bold.")


def _each_set(results: Errors) -> list[tuple[Errors, str]]:
    """List every data set with the results in which it occurs."""
    sets = []
    for of_artifact in results.each():
        for name in of_artifact.settings.datasets:
            sets.append((of_artifact, name))
    return sets


@panels.table
def clean_errors(results: Errors) -> pd.DataFrame:
    """List Table 1: test error in % after training on clean labels, in the paper's order.

    A method has a row of our errors and one of the published errors, with the dash of the paper.
    """
    frame = errors(results)
    clean = frame.xs("symmetric 0", level="training labels").T
    sets = _each_set(results)
    titles = {name: title for title, (_, name) in zip(clean.columns, sets, strict=True)}
    published = {name: of_set.published for of_set, name in sets}
    ordered_sets = _in_order(titles, PUBLISHED_SETS)
    rows = []
    for method in _in_order(clean.index, PUBLISHED_METHODS):
        label = style.label(method)
        ours = {"method": label, "error": "ours"}
        theirs = {"method": label, "error": "published"}
        for name in ordered_sets:
            title = titles[name]
            ours[title] = clean.loc[method, title]
            text = tables.printed(published[name], dataset=name, method=method)
            theirs[title] = text or DASH
        rows.append(ours)
        rows.append(theirs)
    note = frame.attrs["note"]
    meaning = f"{DASH}: no published value, because the program ran out of memory."
    return tables.noted(pd.DataFrame(rows).set_index(["method", "error"]), f"{note} {meaning}")


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


def _in_order(unordered: Iterable[str], order: Sequence[str]) -> list[str]:
    """Sort names as a published table has them; others follow in their own order."""
    listed = list(unordered)
    published = [name for name in order if name in listed]
    unpublished = [name for name in listed if name not in order]
    return published + unpublished


@panels.table
def redrawn_errors(results: Errors) -> pd.DataFrame:
    """Draw `errors` over the paper's trials, and over trials with new flips and splits."""
    of_orders = _list_errors_of(results, "error")
    of_redrawn = _list_errors_of(results, "redrawn_error")
    parts = {"orders": of_orders, "redrawn": of_redrawn}
    frame = pd.concat(parts, names=["trials differ in"])
    frame = frame.reorder_levels([1, 2, 0])
    return tables.noted(frame.sort_index(sort_remaining=False), of_orders.attrs["note"])


def _list_errors_of(results: Errors, metric: str) -> pd.DataFrame:
    """List `errors` of another metric."""
    chosen = {}
    for name, table in results.tables.items():
        rows = table[table["metric"] == metric]
        chosen[name] = rows.assign(metric="error")
    return errors(replace(results, tables=chosen))


@panels.table
def theorem_bounds(results: panels.Results[Any]) -> pd.DataFrame:
    """Draw the mean gap of constant-step SGD, and both bounds of Theorem 1."""
    titles = {"gap": "mean gap", "published": "published bound", "corrected": "corrected bound"}
    groups = results.table.groupby(["noise", "method", "setting"], sort=False)
    rows = []
    for (noise, start, step), group in groups:
        means = group.groupby("metric")["value"].mean()
        row = {"labels": noise, "start": start, "eta x 6 beta": step}
        for metric, title in titles.items():
            row[title] = f"{means[metric]:.3g}"
        rows.append(row)
    frame = pd.DataFrame(rows).set_index(["labels", "start"])
    return tables.noted(
        frame,
        "Gap: excess of the objective over its minimum, mean over steps and runs;",
        "eta: the constant step, beta: the smoothness.",
        "A published bound below the gap does not hold.",
    )


def _last(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the rows at the last x of their method."""
    last = rows.groupby("method")["x"].transform("max")
    return rows[rows["x"] == last]


def _title(table: pd.DataFrame, name: str) -> str:
    """Name a data set, marked if a stand-in took its place."""
    sources = table.loc[table["dataset"] == name, "source"]
    title = names.data_set(name)
    if sources.str.contains("stand-in").any():
        return f"{title} (stand-in)"
    return title
