"""Figures and tables of learning from noisy instances (Cesa-Bianchi, Shalev-Shwartz and Shamir 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.figures import names, panels, style, tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reproduction.protocols import noisy_online, noisy_online_checks

THIN: style.Looks = {"linewidth": 0.9, "marker": "", "linestyle": style.DASHES["dot"]}
"""Bounds: the colour of the method, thin and dotted."""
GREY = style.COLOURS["grey"]


def looks(method: str) -> style.Looks:
    """`style.line` of a learner; the control is a wide pale line, below the one that may equal it."""
    control = {"linewidth": 4.5, "marker": "", "alpha": 0.55, "zorder": 1.4} if method == "noise_free" else {}
    return style.line(method) | {"markersize": 5} | control


def entries(methods: Sequence[str], *, bound: bool = True) -> list[Any]:
    """Legend entries of the learners, and of what bounds look like."""
    found = [panels.handles([method], **looks(method))[0] for method in methods]
    return found + [panels.plain_handle("bound", **THIN)] * bound


def curves(ax: Axes, rows: pd.DataFrame, metric: str, methods: Sequence[str], **changes: Any) -> None:
    """Mean and 95 % interval of a metric against x, for every method that has it."""
    chosen = rows[rows["metric"] == metric]
    for method in methods:
        own = chosen[chosen["method"] == method]
        if own.empty:
            continue
        means = panels.mean_interval(own, ["x"]).sort_index()
        panels.curve(ax, means.index, means["mean"], means["half_width"], method, **(looks(method) | changes))


LIMIT: style.Looks = {"linewidth": 0.8, "linestyle": style.DASHES["dash"]}
"""Limits that theory gives."""


def regret_panel(ax: Axes, rows: pd.DataFrame, methods: Sequence[str], slopes: bool = True) -> None:
    """Regret against T on log axes, bounds dotted, and the slopes 1/2 and 1 for reference."""
    curves(ax, rows, "bound", methods, **THIN)
    curves(ax, rows, "regret", methods)
    for axis in (ax.xaxis, ax.yaxis):
        panels.log_axis(axis)
    if slopes:
        _reference_slopes(ax)


def _reference_slopes(ax: Axes) -> None:
    """Two short grey lines in the lower right corner: growth like T^(1/2) and like T."""
    from matplotlib.lines import Line2D

    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    start, end = x0 * (x1 / x0) ** 0.70, x0 * (x1 / x0) ** 0.92
    at = y0 * (y1 / y0) ** 0.05
    for power, text in ((0.5, "√T"), (1.0, "T")):
        top = at * (end / start) ** power
        # an artist is not autoscaled to: a panel below that shares the axis may have more rounds
        ax.add_artist(Line2D([start, end], [at, top], color=GREY, linewidth=1.0, zorder=1.2))
        ax.annotate(text, (end, top), (2, 0), textcoords="offset points", fontsize=7.5, va="center",
                    color=GREY)  # fmt: skip


def average_panel(ax: Axes, rows: pd.DataFrame, methods: Sequence[str]) -> None:
    """Regret per round against T, linear, with the limits that theory gives, in the learners' colours."""
    curves(ax, rows, "regret_per_round", methods)
    panels.log_axis(ax.xaxis)
    limits = rows[rows["metric"] == "regret_per_round_predicted"].groupby("method")["value"].first()
    for method, value in limits.round(5).drop_duplicates().items():
        ax.axhline(value, color=style.colour(str(method)), zorder=1.1, **LIMIT)
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))


@panels.figure
def linear(results: panels.Results[noisy_online.LinearSettings]) -> Figure:
    """Regret of the linear learners against T, and regret per round; a row for each data set."""
    table, own = results.table, results.settings
    methods = [method for method in own.learners if method in set(table["method"])]
    sets, titles = list(table["dataset"].unique()), ["regret on the clean data", "regret per round"]
    look: style.Looks = {"x_label": "rounds T", "height": 2.9, "width": 8.6, "between": 0.45}
    figure, axes = panels.grid_of_panels(sets if len(sets) > 1 else [""], titles, share_y="none", **look)
    for (left, right), each in zip(axes, sets, strict=True):
        rows = table[table["dataset"] == each]
        regret_panel(left, rows, methods)
        average_panel(right, rows, methods)
    for ax in axes[:-1].flat:
        ax.tick_params(labelbottom=True)
    panels.shared_legend(figure, [*entries(methods), panels.plain_handle("predicted limit", **LIMIT)])
    return figure


@panels.figure
def misreported(results: panels.Results[noisy_online.LinearSettings]) -> Figure:
    """Algorithm 2: regret against T; what a wrong covariance does to weights and regret."""
    table, own = results.table, results.settings
    methods = [m for m in own.learners if m in set(table["method"]) and not m.startswith("told ")]
    titles = ["regret on the clean data", "weights at the end / w*", "regret per round"]
    share = "told covariance / true covariance c"
    figure, (left, middle, right) = panels.side_by_side(
        titles, x_label=["rounds T", share, share], height=2.9, width=10.2
    )
    regret_panel(left, table, methods)
    told = table[table["method"].str.startswith("told ")]
    last = told[told["x"] == told["x"].max()]
    for ax, metric in ((middle, "weight_ratio"), (right, "regret_per_round")):
        for measured, look in ((metric, {}), (f"{metric}_predicted", PREDICTED)):
            means = panels.mean_interval(last[last["metric"] == measured], ["method"])
            if means.empty:
                continue
            c = np.array([float(method.split()[1]) for method in means.index])
            ax.errorbar(c, means["mean"], means["half_width"], **(MEASURED | look))
        ax.set_xticks(c)
    right.set_ylim(bottom=0)
    predicted = panels.plain_handle("predicted limit", **{key: PREDICTED[key] for key in ("marker", "color")})
    panels.shared_legend(figure, [*entries(methods), predicted])
    return figure


MEASURED: style.Looks = {"color": style.COLOURS["blue"], "linestyle": "none", "marker": "D", "markersize": 6}
MEASURED |= {"markerfacecolor": "white", "capsize": 2}
PREDICTED: style.Looks = {"color": style.COLOURS["black"], "marker": "_", "markersize": 13, "zorder": 3}

# Linear learners


HORIZONS = (("pink", "^"), ("wine", "D"), ("black", "o"))


@panels.figure
def online_to_batch(results: panels.Results[noisy_online.LinearSettings]) -> Figure:
    """Excess risk of the mean weights against T, with bound / T and the limit of the naive learner."""
    table, own = results.table, results.settings
    methods = list(own.learners)
    y_label = "excess risk of the mean weights"
    figure, (ax,) = panels.side_by_side([""], x_label="rounds T", y_label=y_label, height=3.0, width=4.8)
    bounds = table[table["metric"] == "bound"]
    scaled = bounds.assign(value=bounds["value"] / bounds["x"])
    curves(ax, scaled, "bound", methods, **THIN)
    curves(ax, table, "excess_risk", methods)
    limit = table.loc[table["metric"] == "regret_per_round_predicted", "value"].mean()
    ax.axhline(limit, color=style.colour("naive"), zorder=1.1, **LIMIT)
    panels.log_axis(ax.yaxis)
    panels.log_axis(ax.xaxis)
    panels.shared_legend(figure, [*entries(methods), panels.plain_handle("predicted limit", **LIMIT)])
    return figure


@panels.figure
def averaging(results: panels.Results[noisy_online.LinearSettings]) -> Figure:
    """Regret per round against the number of averaged copies, and against T."""
    table, own = results.table, results.settings
    horizons = own.horizons
    titles = ["against the copies averaged", "against the rounds"]
    look: style.Looks = {"y_label": "regret per round", "height": 3.0, "width": 8.8, "share_y": "row"}
    x_label = ["copies averaged m", "rounds T"]
    figure, (left, right) = panels.side_by_side(titles, x_label=x_label, **look)
    rows = table[table["metric"] == "regret_per_round"]
    shown = sorted({horizons[0], horizons[len(horizons) // 2], horizons[-1]})
    lines, counts = [], []
    for T, (colour, marker) in zip(shown, HORIZONS, strict=False):
        looks: style.Looks = {"color": style.COLOURS[colour], "marker": marker, "markersize": 5}
        _against_copies(left, rows[rows["x"] == T], looks)
        lines.append(panels.plain_handle(f"T = {T}", **looks))
    panels.log_axis(left.yaxis)
    lines.append(panels.plain_handle("Algorithm 1 at the same T", **LIMIT))
    means = [method for method in rows["method"].unique() if method.startswith("mean of")]
    for method, marker in zip(means, "sPXD^v", strict=False):
        looks = {"color": style.colour(method), "marker": marker, "markersize": 5}
        curves(right, rows[rows["method"] == method], "regret_per_round", [method], linestyle="-", **looks)
        counts.append(panels.plain_handle(names.method(method), **looks))
    curves(right, rows, "regret_per_round", ["two_copy"])
    panels.log_axis(right.xaxis)
    panels.add_room(figure, below=0.9)
    for ax, legend in ((left, lines), (right, [*counts, *entries(["two_copy"], bound=False)])):
        ax.legend(handles=legend, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, handlelength=3)
    return figure


def _against_copies(ax: Axes, rows: pd.DataFrame, looks: style.Looks) -> None:
    """One horizon: dots of the means of m copies, a dashed line for Algorithm 1."""
    means = panels.mean_interval(rows, ["method"])
    naive = means[means.index.str.startswith("mean of")]
    m = [int(method.split()[-1]) for method in naive.index]
    ax.errorbar(m, naive["mean"], naive["half_width"], capsize=2, linewidth=1.0, **looks)
    ax.axhline(means["mean"]["two_copy"], color=looks["color"], zorder=1.3, **LIMIT)
    ax.set_xscale("log", base=2)
    ax.set_xticks(m, [str(each) for each in m])
    ax.minorticks_off()


# Kernels: Algorithm 3


def _step_title(factor: float) -> str:
    return "the theorem's step" if factor == 1 else f"{factor:g} × the theorem's step"


@panels.figure
def surrogate_kernel(results: panels.Results[noisy_online.TunedKernelSettings]) -> Figure:
    """Regret for two steps and against the noise; below, what was learnt."""
    own = results.settings
    if own.variances is None or own.surface is None:
        raise panels.RenderError(f"{results.artifact}: the settings need variances and surface")
    figure, last = _steps(
        results, f"T = {own.variances.horizon}, growing noise", "variance of the noise, σ² = 1", 3.35
    )
    methods, sweep = [*own.learners, "naive_kernel_tuned"], results.select(setting="sweep")
    curves(last, sweep, "sweep_bound", ["surrogate"], **THIN)
    curves(last, sweep, "sweep_regret", methods)
    panels.log_axis(last.yaxis)
    _constants_on_top(last, panels.select(sweep, results.artifact, metric="sweep_constant"))
    _surfaces(figure, results.select(metric="surface"), own.surface.side)
    panels.shared_legend(figure, entries(methods))
    return figure


def _steps(
    results: panels.Results[Any], title: str, x_label: str, bottom: float = 0.46
) -> tuple[Figure, Axes]:
    """A panel of regret for each step, and one more with this title, which is returned."""
    own, table = results.settings, results.table
    titles, x_labels = [*map(_step_title, own.factors), title], ["rounds T"] * len(own.factors) + [x_label]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, height=2.7, width=10.0, bottom=bottom)
    for ax, factor in zip(axes, own.factors, strict=False):
        rows = table[table["setting"].isin([f"m = {factor:g}", "tuned"])]
        regret_panel(ax, rows, [*own.learners, "naive_kernel_tuned"])
    axes[0].set_ylabel("regret on the clean data")
    return figure, axes[-1]


def _constants_on_top(ax: Axes, rows: pd.DataFrame) -> None:
    """The constant C of the surrogate kernel at every variance, as labels on the upper axis."""
    constants = rows.groupby("x")["value"].first()
    for x, value in constants.items():
        ax.annotate(f"C = {value:.3g}", (float(str(x)), 1), (0, -3), xycoords=("data", "axes fraction"),
                    textcoords="offset points", fontsize=7, ha="center", va="top")  # fmt: skip
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * 2)
    ax.margins(x=0.12)


def _surfaces(figure: Figure, rows: pd.DataFrame, side: int) -> None:
    """Three maps of functions on [-1, 1]^2 with one colour scale, below the panels."""
    width, height = figure.get_size_inches()
    largest = float(rows["value"].abs().max())
    maps = {"truth": "target f*", "surrogate": "Algorithm 3", "naive_kernel": "naive learner"}
    for place, (method, title) in enumerate(maps.items()):
        values = rows[rows["method"] == method].sort_values("x")["value"].to_numpy().reshape(side, side)
        box = ((0.66 + place * 3.0) / width, 0.5 / height, 2.2 / width, 2.2 / height)
        ax = figure.add_axes(box)
        image = ax.imshow(
            values, origin="lower", extent=(-1, 1, -1, 1), cmap="RdBu_r", vmin=-largest, vmax=largest
        )
        lines = np.linspace(-1, 1, side)
        ax.contour(lines, lines, values, levels=np.arange(-1, 1.01, 0.2), colors="black", linewidths=0.4)
        ax.grid(False)
        ax.set_title(f"{title}")
        ax.set(xlabel="x₁", ylabel="x₂" if place == 0 else "")
    bar = figure.colorbar(
        image, cax=figure.add_axes(((0.66 + 8.35) / width, 0.5 / height, 0.14 / width, 2.2 / height))
    )
    bar.outline.set_visible(False)


@panels.figure
def diabetes_kernel(results: panels.Results[noisy_online.KernelSettings]) -> Figure:
    """A column for each ball, a row for each step; right, the ball by the angle and the comparator's own."""
    table, own = results.table, results.settings
    balls = list(dict.fromkeys(table.loc[table["metric"] == "cos_alpha", "setting"]))
    figure, axes = panels.grid_of_panels(
        [""] * len(own.factors), [*([" "] * len(balls)), "squared radius B̃"], x_label="rounds T",
        y_label="regret on the clean data", height=2.2, width=9.6, share_y="none", between=0.5,
    )  # fmt: skip
    for i, factor in enumerate(own.factors):
        for ax, ball in zip(axes[i], balls, strict=False):
            rows = results.select(setting=f"{ball} m = {factor:g}")
            regret_panel(ax, rows, own.learners)
            ax.set_title(f"{ball}, {_step_title(factor)}")
            ax.tick_params(labelbottom=True)
    for ax in axes[1:, -1]:
        ax.set_visible(False)
    _radii(axes[0, -1], table, balls)
    panels.shared_legend(figure, entries(own.learners))
    return figure


def _radii(ax: Axes, table: pd.DataFrame, balls: list[str]) -> None:
    """Dots: gamma' K~ gamma and the ball of Theorem 3, for every comparator."""
    for metric, marker, label in (
        ("surrogate_norm", "o", "its own γᵀK̃γ"),
        ("angle_ball", "^", "by the angle"),
    ):
        rows = table[table["metric"] == metric].set_index("setting")["value"]
        ax.plot(range(len(balls)), [rows[b] for b in balls], linestyle="none", marker=marker, markersize=7,
                color=style.COLOURS["blue" if marker == "o" else "wine"], label=label)  # fmt: skip
    cosines = table[table["metric"] == "cos_alpha"].set_index("setting")["value"]
    panels.log_axis(ax.yaxis, low=0.1)
    ax.set_xticks(range(len(balls)), [f"{b}\ncos α = {cosines[b]:.3f}" for b in balls])
    ax.set_xlim(-0.5, len(balls) - 0.5)
    ax.tick_params(labelbottom=True)
    ax.legend(fontsize=7.5, loc="center left")


@panels.figure
def radial_kernel(results: panels.Results[noisy_online.KernelSettings]) -> Figure:
    """Regret for two steps; approximation error and constant of the bound against the truncation."""
    figure, last = _steps(results, "price of the truncation c", "truncation c")
    for metric, colour, marker, label in (
        ("bound_over_root_T", "wine", "^", "bound / √T"),
        ("truncation_error", "blue", "o", "largest error of the kernel"),
    ):
        rows = results.select(metric=metric).groupby("x")["value"].first()
        last.plot(rows.index, rows, color=style.COLOURS[colour], marker=marker, label=label)
    panels.log_axis(last.yaxis)
    last.legend(fontsize=7.5, loc="center left")
    panels.shared_legend(figure, entries(results.settings.learners))
    return figure


# Algorithm 4


METHODS = ["analytic", "plug_in"]
COLUMNS = 3


def title(name: str, task: noisy_online.AnalyticProblem) -> str:
    """Row, kernel and loss of a task."""
    kernel = str(task.kernel)
    if not isinstance(task.kernel, str):
        kernel = "(1 + a)²/4" if hasattr(task.kernel, "polynomial") else "Gaussian"
    loss = task.loss.replace("smoothed_absolute", "smooth abs.").replace("smoothed_h", "smooth h")
    return f"{name}: {kernel}, {loss}" + (f" s = {task.s:g}" if task.s is not None else "")


@panels.figure
def losses_and_kernels(results: panels.Results[noisy_online.AnalyticSettings]) -> Figure:
    """A panel for each task: regret with the larger step (thick) and the theorem's (thin), bound dotted."""
    own = results.settings
    tasks = list(own.tasks)
    look: style.Looks = {"height": 1.75, "share_y": "none", "between": 0.6, "left": 0.74, "y_label": "regret"}
    figure, axes = panels.wrapped(len(tasks), COLUMNS, x_label="rounds T", **look)
    small, large = (f"m = {factor:g}" for factor in (min(own.factors), max(own.factors)))
    for ax, task in zip(axes, tasks, strict=True):
        rows = results.select(noise=task)
        thin = {"linewidth": 0.8, "marker": "", "alpha": 0.8}
        curves(ax, rows[rows["setting"] == small], "regret", METHODS, **thin)
        regret_panel(ax, rows[rows["setting"] == large], METHODS, slopes=ax is axes[0])
        ax.set_title(title(task, own.tasks[task]))
        ax.tick_params(labelbottom=True)
    kinds = ((large, 1.5), (small, 0.8))
    thin_entries = [panels.plain_handle(f"{_step_title(float(m[4:]))}", linewidth=w) for m, w in kinds]
    panels.shared_legend(figure, [*entries(METHODS), *thin_entries])
    return figure


# Figures 1 and 2 of the paper


SMOOTHED = {
    "exact": ("black", 1.2), "s = 1": ("vermillion", 1.8), "s = 2": ("orange", 0.9), "s = 4": ("olive", 0.9),
}  # fmt: skip


@panels.figure
def kernels(results: panels.Results[noisy_online_checks.CurvesSettings]) -> Figure:
    """Figure 1: the kernel (solid) and its truncation (dashed) against the distance, a panel for each c."""
    own = results.settings
    cuts = [f"c = {c:g}" for c in own.truncations or []]
    x_label = "distance ||x − x′||"
    figure, axes = panels.side_by_side(cuts, x_label=x_label, y_label="kernel", height=2.5, share_y="row")
    looks: dict[str, style.Looks] = {}
    for method, colour, dash, label in (
        ("k", "black", "solid", "k = 1 / (1 + ||x − x′||²)"),
        ("k_c", "vermillion", "dash", "k cut at c"),
    ):
        looks[method] = {"color": style.COLOURS[colour], "linestyle": style.DASHES[dash], "label": label}
    _plain_curves(axes, results, [{"setting": cut, "metric": "kernel"} for cut in cuts], looks, linewidth=1.6)
    panels.shared_legend(figure, [panels.plain_handle(**look) for look in looks.values()])
    return figure


def _plain_curves(
    axes: list[Axes], results: panels.Results[Any], wheres: list[style.Looks],
    looks: dict[str, style.Looks], **changes: Any,
) -> None:  # fmt: skip
    """Values against x, a panel for each place in the table."""
    for (ax, where), (method, look) in product(zip(axes, wheres, strict=True), looks.items()):
        rows = results.select(**where, method=method).sort_values("x")
        ax.plot(rows["x"], rows["value"], **(look | changes))


@panels.figure
def losses(results: panels.Results[Any]) -> Figure:
    """Figure 2: absolute loss (left) and hinge loss (right) with their smoothings."""
    titles = {"absolute": "absolute loss", "hinge": "hinge loss"}
    figure, axes = panels.side_by_side(
        list(titles.values()), x_label=["a − y", "y a"], y_label="loss", height=2.6
    )
    drawn: dict[str, style.Looks] = {}
    for method in results.select(metric="loss")["method"].unique():
        colour, width = SMOOTHED.get(method, ("grey", 0.9))
        drawn[method] = {"color": style.COLOURS[colour], "linewidth": width, "label": f"smoothed, {method}"}
    drawn["exact"] |= {"linestyle": style.DASHES["dash"], "label": "not smoothed"}
    _plain_curves(axes, results, [{"setting": each, "metric": "loss"} for each in titles], drawn)
    for ax in axes:
        ax.set_ylim(0, None)
    panels.shared_legend(figure, [panels.plain_handle(**look) for look in drawn.values()])
    return figure


# Randomised estimates, their parameter p, and what one copy cannot do


WORLDS = ["naive", "told_4", "constant", "running_mean", "two_copy", "told_truth"]


@panels.figure
def parameter_p(results: panels.Results[noisy_online.ParameterSettings]) -> Figure:
    """Regret against p at equal rounds with its moment, and per round at equal copies."""
    own = results.settings
    titles = [f"T = {own.rounds} rounds", f"{own.queries} copies in total"]
    figure, (left, right) = panels.side_by_side(titles, x_label="p", height=2.6, width=7.6)
    rounds = results.select(setting="equal rounds")
    curves(left, rounds, "regret", ["analytic"], label="regret")
    moment = rounds[rounds["metric"] == "log10_nu"].groupby("x")["value"].first()
    regret = rounds[rounds["metric"] == "regret"].groupby("x")["value"].mean()
    middle = 2.0 if 2.0 in regret.index else regret.index[0]
    scaled = regret[middle] * 10 ** ((moment - moment[middle]) / 2)
    left.plot(scaled.index, scaled, color=GREY, linestyle=style.DASHES["dash"],
              label="root of the moment, to scale")  # fmt: skip
    left.set(ylabel="regret on the clean data", ylim=(0, None))
    left.legend(fontsize=7.5, loc="upper center")
    queries = results.select(setting="equal queries")
    curves(right, queries, "regret_per_round", ["analytic"])
    right.set(ylim=(0, None))
    right.set_title(f"regret per round, {titles[1]}")
    return figure


@panels.figure
def impossibility(results: panels.Results[Any]) -> Figure:
    """Regret per round of the worse world; both worlds at the end; constants of other losses."""
    table = results.table
    titles = ["worse world, against T", "both worlds, longest run", "price of one copy, other losses"]
    x_label = ["rounds T", "regret per round in world A", "unavoidable regret per round"]
    y_label = ["expected regret per round", "regret per round in world B", ""]
    look: style.Looks = {"y_label": y_label, "height": 2.9}
    figure, (left, middle, right) = panels.side_by_side(titles, x_label=x_label, width=10.5, **look)
    floor = (1 - 1 / np.sqrt(5)) ** 2
    curves(left, table[table["noise"] == "worse"], "regret_per_round", WORLDS)
    panels.log_axis(left.yaxis)
    panels.log_axis(left.xaxis)
    left.axhline(floor, color=GREY, linewidth=0.9, linestyle=style.DASHES["dash"])
    last = table[(table["metric"] == "regret_per_round") & (table["x"] == table["x"].max())]
    means = panels.mean_interval(last, ["method", "noise"])["mean"]
    for method in WORLDS:
        shown = {key: looks(method)[key] for key in ("marker", "color")}
        place = (max(means[method, world], 1e-4) for world in "AB")
        middle.plot(
            *place,
            linestyle="none",
            markersize=7,
            **(shown | style.hollow(method) | {"markerfacecolor": "none"}),
        )
    w = np.linspace(0.2, 1, 400)
    middle.plot(5 * (w - 0.2) ** 2, (w - 1) ** 2, color=GREY, linewidth=0.9, zorder=1.1)
    panels.log_axis(middle.yaxis, low=5e-5)
    panels.log_axis(middle.xaxis, low=5e-5)
    prices = table[table["metric"] == "unavoidable"].sort_values("value")
    right.barh(range(len(prices)), prices["value"], color=style.COLOURS["sky"], height=0.6)
    for i, (label, value) in enumerate(zip(prices["setting"], prices["value"], strict=True)):
        right.text(value + 0.005, i, f"{label}, {value:.3f}", va="center", fontsize=7.5)
    right.set_yticks([])
    right.set_xlim(0, 0.75)
    right.grid(axis="y", visible=False)
    fixed: Any = panels.plain_handle("the best of one copy", linewidth=0.9)
    panels.shared_legend(figure, [*entries(WORLDS, bound=False), fixed])
    return figure


# Tables


@panels.table
def identities(results: panels.Results[Any]) -> pd.DataFrame:
    """Quantity, predicted, measured, z, and its bound with the share of it where there is one."""
    table = results.table
    wide = table.pivot_table("value", ["setting", "method"], "metric", sort=False)
    columns = {
        "predicted": "{:.5g}", "measured": "{:.5g}", "z": "{:.2f}",
        "bound": "{:.5g}", "bound_ratio": "{:.3f}",
    }  # fmt: skip
    wide = wide.reindex(columns=list(columns))
    cells = {
        name: wide[name].map(form.format).where(wide[name].notna(), "") for name, form in columns.items()
    }
    cells["predicted / bound"] = cells.pop("bound_ratio")
    frame = pd.DataFrame(cells).rename_axis(["group", "quantity"]).reset_index("quantity")
    largest = table.loc[table["metric"] == "z", "value"].abs().max()
    return tables.noted(frame, f"Largest |z| of {wide['z'].count()}: {largest:.2f}.")


@panels.table
def losses_summary(results: panels.Results[noisy_online.AnalyticSettings]) -> pd.DataFrame:
    """Algorithm 4, a row for each kernel and loss: moments, regret, bound, exponents of the longest run."""
    table = results.tables["losses_and_kernels"]
    own = results.settings_of["losses_and_kernels"]
    largest = f"m = {max(own.factors):g}"
    rows = []
    for task, spec in own.tasks.items():
        at = panels.select(table, "losses_and_kernels", noise=task)
        facts = at[at["repetition"] == 0].groupby("metric")["value"].first()
        step = panels.select(at, "losses_and_kernels", setting=largest)
        T = step["x"].max()
        last = step[(step["x"] == T) & (step["metric"] == "regret")]
        regret = {method: last.loc[last["method"] == method, "value"] for method in ("analytic", "plug_in")}
        bound = step.loc[(step["x"] == T) & (step["metric"] == "bound"), "value"].iloc[0]
        exponents = step[step["metric"] == "exponent"].groupby("method")["value"].mean()
        rows.append(
            {
                "row": title(task, spec),
                "log10 ν, theorem": f"{facts['log10_nu_loose']:.2f}",
                "log10 ν, exact": f"{facts['log10_nu']:.2f}",
                "T": f"{T:.3g}",
                "regret": _mean_se(regret["analytic"]),
                "bound": f"{bound:.3g}",
                "naive regret": _mean_se(regret["plug_in"]),
                "exponent": f"{exponents['analytic']:.2f}" if "analytic" in exponents else "",
                "naive exponent": f"{exponents['plug_in']:.2f}" if "plug_in" in exponents else "",
            }
        )
    frame = pd.DataFrame(rows)
    return tables.noted(frame, f"Step: {max(own.factors):g} times the theorem's. Mean and standard error.")


def _mean_se(values: pd.Series) -> str:
    """Mean and standard error, large numbers as whole ones."""
    mean, se, *_ = statistics.mean_se(values)
    return f"{mean:.0f} ± {se:.0f}" if se > 2 else tables.mean_se(mean, se)
