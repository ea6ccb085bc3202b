"""Figures and tables on learning from noisy instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.show import names, panels, style, tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from noisy_online import checks, code

THIN: style.Looks = {"linewidth": 0.9, "marker": "", "linestyle": style.DASHES["dot"]}
"""Look of bounds: the colour of the method, thin and dotted."""
LIMIT: style.Looks = {"linewidth": 0.8, "linestyle": style.DASHES["dash"]}
"""Look of limits by theory."""
GREY = style.COLOURS["grey"]
REGRET = "regret on the clean data"


def looks(method: str) -> style.Looks:
    """Choose the look of a learner; a control is a wide pale line below the others."""
    control = {"linewidth": 4.5, "marker": "", "alpha": 0.55, "zorder": 1.4} if method == "noise_free" else {}
    return style.line(method) | {"markersize": 5} | control


def entries(methods: Iterable[str], *, bound: bool = True, **limit: Any) -> list[Any]:
    """Make legend entries of the learners, of bounds and, with a ``label``, of limits."""
    found = [panels.plain_handle(**looks(method)) for method in methods]
    found += [panels.plain_handle("bound", **THIN)] * bound
    return [*found, panels.plain_handle(**(LIMIT | limit))] if limit else found


def curves(ax: Axes, rows: pd.DataFrame, metric: str, methods: Iterable[str], **changes: Any) -> None:
    """Draw mean and 95 % interval of a metric against x, for every method that has it."""
    for method in methods:
        own = rows[(rows["metric"] == metric) & (rows["method"] == method)]
        if not own.empty:
            panels.mean_curve(ax, own, method, **(looks(method) | changes))


def regret_panel(ax: Axes, rows: pd.DataFrame, methods: Sequence[str], slopes: bool = True) -> None:
    """Draw regret against T on log axes, with dotted bounds and the slopes of √T and T."""
    from matplotlib.lines import Line2D

    curves(ax, rows, "bound", methods, **THIN)
    curves(ax, rows, "regret", methods)
    panels.log_axis(ax.xaxis, ax.yaxis)
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    start, end = x0 * (x1 / x0) ** 0.70, x0 * (x1 / x0) ** 0.92
    at = y0 * (y1 / y0) ** 0.05
    look = style.Looks(fontsize=7.5, va="center", color=GREY)
    for power, text in ((0.5, "√T"), (1.0, "T")) if slopes else ():
        top = at * (end / start) ** power
        # autoscaling ignores an artist, and a panel that shares the axis may have more rounds
        ax.add_artist(Line2D([start, end], [at, top], color=GREY, linewidth=1.0, zorder=1.2))
        ax.annotate(text, (end, top), (2, 0), textcoords="offset points", **look)


@panels.figure
def linear(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw regret and regret per round of linear learners against T, a row for each data set."""
    table = results.table
    methods = [method for method in results.settings.learners if method in set(table["method"])]
    sets = list(table["dataset"].unique())
    titles = [REGRET, "regret per round"]
    look: style.Looks = {"x_label": "rounds T", "height": 2.9, "width": 8.6, "between": 0.45}
    figure, axes = panels.grid_of_panels(sets if len(sets) > 1 else [""], titles, share_y="none", **look)
    for (left, right), each in zip(axes, sets, strict=True):
        rows = table[table["dataset"] == each]
        regret_panel(left, rows, methods)
        curves(right, rows, "regret_per_round", methods)
        panels.log_axis(right.xaxis)
        limits = rows[rows["metric"] == "regret_per_round_predicted"].groupby("method")["value"].first()
        for method, value in limits.round(5).drop_duplicates().items():
            right.axhline(value, color=style.colour(str(method)), zorder=1.1, **LIMIT)
        right.set_ylim(bottom=min(0, right.get_ylim()[0]))
    for ax in axes[:-1].flat:
        ax.tick_params(labelbottom=True)
    return panels.shared_legend(figure, entries(methods, label="predicted limit"))


MEASURED: style.Looks = {"color": style.COLOURS["blue"], "linestyle": "none", "marker": "D", "markersize": 6}
MEASURED |= {"markerfacecolor": "white", "capsize": 2}
PREDICTED: style.Looks = {"color": style.COLOURS["black"], "marker": "_", "markersize": 13, "zorder": 3}


@panels.figure
def misreported(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw the regret of Algorithm 2 against T, and the harm of a wrong covariance."""
    table, own = results.table, results.settings
    methods = [m for m in own.learners if m in set(table["method"]) and not m.startswith("told ")]
    titles, share = (
        [REGRET, "weights at the end / w*", "regret per round"],
        "told covariance / true covariance c",
    )
    look: style.Looks = {"x_label": ["rounds T", share, share], "height": 2.9, "width": 10.2}
    figure, (left, middle, right) = panels.side_by_side(titles, **look)
    regret_panel(left, table, methods)
    told = table[table["method"].str.startswith("told ")]
    last = told[told["x"] == told["x"].max()]
    for ax, metric in ((middle, "weight_ratio"), (right, "regret_per_round")):
        for measured, look in ((metric, {}), (f"{metric}_predicted", PREDICTED)):
            means = panels.mean_interval(last[last["metric"] == measured], ["method"])
            if not means.empty:
                c = np.array([float(method.split()[1]) for method in means.index])
                ax.errorbar(c, means["mean"], means["half_width"], **(MEASURED | look))
        ax.set_xticks(c)
    right.set_ylim(bottom=0)
    predicted = panels.plain_handle("predicted limit", marker="_", color=PREDICTED["color"])
    return panels.shared_legend(figure, [*entries(methods), predicted])


@panels.figure
def online_to_batch(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw the excess risk of mean weights against T, with bound and limit of the naive learner."""
    table, methods = results.table, results.settings.learners
    look: style.Looks = {"y_label": "excess risk of the mean weights", "height": 3.0, "width": 4.8}
    figure, (ax,) = panels.side_by_side([""], x_label="rounds T", **look)
    curves(ax, table.assign(value=table["value"] / table["x"]), "bound", methods, **THIN)
    curves(ax, table, "excess_risk", methods)
    limit = table.loc[table["metric"] == "regret_per_round_predicted", "value"].mean()
    ax.axhline(limit, color=style.colour("naive"), zorder=1.1, **LIMIT)
    panels.log_axis(ax.xaxis, ax.yaxis)
    return panels.shared_legend(figure, entries(methods, label="predicted limit"))


HORIZONS = (("pink", "^"), ("wine", "D"), ("black", "o"))


@panels.figure
def averaging(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw regret per round against the number of averaged copies, and against T."""
    horizons, titles = results.settings.horizons, ["against the copies averaged", "against the rounds"]
    look: style.Looks = {"y_label": "regret per round", "height": 3.0, "width": 8.8, "share_y": "row"}
    figure, (left, right) = panels.side_by_side(titles, x_label=["copies averaged m", "rounds T"], **look)
    rows = results.table[results.table["metric"] == "regret_per_round"]
    shown = sorted({horizons[0], horizons[len(horizons) // 2], horizons[-1]})
    lines, counts = [], []
    for T, (colour, marker) in zip(shown, HORIZONS, strict=False):
        look = {"color": style.COLOURS[colour], "marker": marker, "markersize": 5}
        means = panels.mean_interval(rows[rows["x"] == T], ["method"])
        naive = means[means.index.str.startswith("mean of")]
        m = [int(method.split()[-1]) for method in naive.index]
        left.errorbar(m, naive["mean"], naive["half_width"], capsize=2, linewidth=1.0, **look)
        left.axhline(means["mean"]["two_copy"], color=look["color"], zorder=1.3, **LIMIT)
        lines.append(panels.plain_handle(f"T = {T}", **look))
    left.set_xscale("log", base=2)
    left.set_xticks(m, [str(each) for each in m])
    left.minorticks_off()
    panels.log_axis(left.yaxis)
    lines.append(panels.plain_handle("Algorithm 1 at the same T", **LIMIT))
    averaged = [method for method in rows["method"].unique() if method.startswith("mean of")]
    for method, marker in zip(averaged, "sPXD^v", strict=False):
        look = {"color": style.colour(method), "marker": marker, "markersize": 5}
        curves(right, rows, "regret_per_round", [method], linestyle="-", **look)
        counts.append(panels.plain_handle(names.method(method), **look))
    curves(right, rows, "regret_per_round", ["two_copy"])
    panels.log_axis(right.xaxis)
    panels.add_room(figure, below=0.9)
    for ax, legend in ((left, lines), (right, [*counts, *entries(["two_copy"], bound=False)])):
        ax.legend(handles=legend, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, handlelength=3)
    return figure


def _step_title(factor: float) -> str:
    return "the theorem's step" if factor == 1 else f"{factor:g} × the theorem's step"


@panels.figure
def surrogate_kernel(results: panels.Results[code.TunedKernelSettings]) -> Figure:
    """Draw regret for two steps and against the noise; below, the learned functions."""
    own = results.settings
    if own.variances is None or own.surface is None:
        raise panels.RenderError(f"{results.artifact}: the settings need variances and surface")
    title, x_label = f"T = {own.variances.horizon}, growing noise", "noise variance (kernel width σ² = 1)"
    figure, last = _steps(results, title, x_label, 3.35)
    methods = [*own.learners, "naive_kernel_tuned"]
    sweep = results.select(setting="sweep")
    curves(last, sweep, "sweep_bound", ["surrogate"], **THIN)
    curves(last, sweep, "sweep_regret", methods)
    panels.log_axis(last.yaxis)
    look: style.Looks = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 7}
    look["rotation"] = 90
    constants = panels.select(sweep, results.artifact, metric="sweep_constant").groupby("x")["value"].first()
    for x, value in constants.items():
        last.annotate(f"C = {value:.3g}", (float(str(x)), 1), (0, -3), ha="center", va="top", **look)
    low, high = last.get_ylim()
    last.set_ylim(low, high * 8)
    last.margins(x=0.12)
    _surfaces(figure, results.select(metric="surface"), own.surface.side)
    return panels.shared_legend(figure, entries(methods))


def _steps(
    results: panels.Results[Any], title: str, x_label: str, bottom: float = 0.46
) -> tuple[Figure, Axes]:
    """Draw a panel of regret for each step, and return one more panel with this title."""
    own, table = results.settings, results.table
    titles = [*map(_step_title, own.factors), title]
    x_labels = ["rounds T"] * len(own.factors) + [x_label]
    look: style.Looks = {"x_label": x_labels, "y_label": REGRET, "height": 2.7, "width": 10.0}
    figure, axes = panels.side_by_side(titles, bottom=bottom, **look)
    for ax, factor in zip(axes, own.factors, strict=False):
        rows = table[table["setting"].isin([f"m = {factor:g}", "tuned"])]
        regret_panel(ax, rows, [*own.learners, "naive_kernel_tuned"])
    return figure, axes[-1]


def _surfaces(figure: Figure, rows: pd.DataFrame, side: int) -> None:
    """Draw three maps of functions on [-1, 1]^2 with one colour scale, below the panels."""
    width, height = figure.get_size_inches()
    largest = float(rows["value"].abs().max())
    lines = np.linspace(-1, 1, side)
    looks: style.Looks = {"extent": (-1, 1, -1, 1), "cmap": "RdBu_r", "vmin": -largest, "vmax": largest}
    maps = {"truth": "target f*", "surrogate": "Algorithm 3", "naive_kernel": "naive learner"}
    for place, (method, title) in enumerate(maps.items()):
        values = rows[rows["method"] == method].sort_values("x")["value"].to_numpy().reshape(side, side)
        ax = figure.add_axes(((0.66 + place * 3.0) / width, 0.5 / height, 2.2 / width, 2.2 / height))
        image = ax.imshow(values, origin="lower", **looks)
        ax.contour(lines, lines, values, levels=np.arange(-1, 1.01, 0.2), colors="black", linewidths=0.4)
        ax.grid(False)
        ax.set(title=title, xlabel="x₁", ylabel="x₂" if place == 0 else "")
    place_of_bar = ((0.66 + 8.35) / width, 0.5 / height, 0.14 / width, 2.2 / height)
    bar = figure.colorbar(image, cax=figure.add_axes(place_of_bar))
    bar.outline.set_visible(False)


@panels.figure
def diabetes_kernel(results: panels.Results[code.KernelSettings]) -> Figure:
    """Draw regret by ball and step; right, the ball by the angle."""
    table, own = results.table, results.settings
    balls = list(dict.fromkeys(table.loc[table["metric"] == "cos_alpha", "setting"]))
    titles = [*([" "] * len(balls)), "squared radius B̃"]
    steps = [""] * len(own.factors)
    look: style.Looks = {"x_label": "rounds T", "y_label": REGRET, "share_y": "none", "between": 0.5}
    figure, axes = panels.grid_of_panels(steps, titles, height=2.2, width=9.6, **look)
    for row, factor in zip(axes, own.factors, strict=True):
        for ax, ball in zip(row, balls, strict=False):
            regret_panel(ax, results.select(setting=f"{ball} m = {factor:g}"), own.learners)
            ax.set_title(f"{ball}, {_step_title(factor)}")
            ax.tick_params(labelbottom=True)
    for ax in axes[1:, -1]:
        ax.set_visible(False)
    ax = axes[0, -1]
    values = table.drop_duplicates(["metric", "setting"]).set_index(["metric", "setting"])["value"]
    for metric, colour, marker, label in (
        ("surrogate_norm", "blue", "o", "its own γᵀK̃γ"),
        ("angle_ball", "wine", "^", "by the angle"),
    ):
        look = {"color": style.COLOURS[colour], "marker": marker, "label": label, "markersize": 7}
        ax.plot(range(len(balls)), values[metric][balls], linestyle="none", **look)
    panels.log_axis(ax.yaxis, low=0.1)
    ax.set_xticks(range(len(balls)), [f"{ball}\ncos α = {values['cos_alpha', ball]:.3f}" for ball in balls])
    ax.set_xlim(-0.5, len(balls) - 0.5)
    ax.tick_params(labelbottom=True)
    ax.legend(fontsize=7.5, loc="center left")
    return panels.shared_legend(figure, entries(own.learners))


@panels.figure
def radial_kernel(results: panels.Results[code.KernelSettings]) -> Figure:
    """Draw regret for two steps; approximation error and bound's constant by truncation."""
    figure, last = _steps(results, "price of the truncation c", "truncation c")
    for metric, colour, marker, label in (
        ("bound_over_root_T", "wine", "^", "bound / √T"),
        ("truncation_error", "blue", "o", "largest error of the kernel"),
    ):
        rows = results.select(metric=metric).groupby("x")["value"].first()
        last.plot(rows.index, rows, color=style.COLOURS[colour], marker=marker, label=label)
    panels.log_axis(last.yaxis)
    last.legend(fontsize=7.5, loc="center left")
    return panels.shared_legend(figure, entries(results.settings.learners))


METHODS = ["analytic", "plug_in"]


def title(name: str, task: code.AnalyticProblem) -> str:
    """Name the row, kernel and loss of a task."""
    kernel = str(task.kernel)
    if not isinstance(task.kernel, str):
        kernel = "(1 + a)²/4" if hasattr(task.kernel, "polynomial") else "Gaussian"
    loss = task.loss.replace("smoothed_absolute", "smooth abs.").replace("smoothed_h", "smooth h")
    return f"{name}: {kernel}, {loss}" + (f" s = {task.s:g}" if task.s is not None else "")


@panels.figure
def losses_and_kernels(results: panels.Results[code.AnalyticSettings]) -> Figure:
    """Draw regret of each task for two steps (thick: the larger), with dotted bounds."""
    own = results.settings
    tasks = list(own.tasks)
    small = min(own.factors)
    large = max(own.factors)
    look: style.Looks = {"height": 1.75, "share_y": "none", "between": 0.6, "left": 0.74, "y_label": "regret"}
    figure, axes = panels.wrapped(len(tasks), 3, x_label="rounds T", **look)
    for ax, task in zip(axes, tasks, strict=True):
        rows = results.select(noise=task)
        thin, thick = (rows[rows["setting"] == f"m = {factor:g}"] for factor in (small, large))
        curves(ax, thin, "regret", METHODS, linewidth=0.8, marker="", alpha=0.8)
        regret_panel(ax, thick, METHODS, slopes=ax is axes[0])
        ax.set_title(title(task, own.tasks[task]))
        ax.tick_params(labelbottom=True)
    steps = [panels.plain_handle(_step_title(m), linewidth=w) for m, w in ((large, 1.5), (small, 0.8))]
    return panels.shared_legend(figure, [*entries(METHODS), *steps])


@panels.table
def losses_summary(results: panels.Results[code.AnalyticSettings]) -> pd.DataFrame:
    """List moments, regret, bound and exponents of Algorithm 4, by kernel and loss."""
    own, rows = results.settings_of["losses_and_kernels"], []
    for task, spec in own.tasks.items():
        at = panels.select(results.tables["losses_and_kernels"], "losses_and_kernels", noise=task)
        facts = at[at["repetition"] == 0].groupby("metric")["value"].first()
        step = panels.select(at, "losses_and_kernels", setting=f"m = {max(own.factors):g}")
        last = step[step["x"] == step["x"].max()].set_index(["metric", "method"])["value"].sort_index()
        exponents = step[step["metric"] == "exponent"].groupby("method")["value"].mean()
        row = {"row": title(task, spec), "log10 ν, theorem": f"{facts['log10_nu_loose']:.2f}"}
        row |= {"log10 ν, exact": f"{facts['log10_nu']:.2f}", "T": f"{step['x'].max():.3g}"}
        row |= {
            "regret": _mean_se(last.loc[[("regret", "analytic")]]),
            "bound": f"{last['bound'].iloc[0]:.3g}",
        }
        row["naive regret"] = _mean_se(last.loc[[("regret", "plug_in")]])
        for name, method in (("exponent", "analytic"), ("naive exponent", "plug_in")):
            row[name] = f"{exponents[method]:.2f}" if method in exponents else ""
        rows.append(row)
    note = f"Step: {max(own.factors):g} times the theorem's. Mean and standard error."
    return tables.noted(pd.DataFrame(rows), note)


def _mean_se(values: pd.Series) -> str:
    """Write mean and standard error, large numbers as whole ones."""
    mean, se, *_ = statistics.mean_se(values)
    return f"{mean:.0f} ± {se:.0f}" if se > 2 else tables.mean_se(mean, se)


@panels.figure
def kernels(results: panels.Results[checks.CurvesSettings]) -> Figure:
    """Draw Figure 1: the kernel (solid) and its truncation (dashed), a panel for each c."""
    cuts = [f"c = {c:g}" for c in results.settings.truncations or []]
    look: style.Looks = {"x_label": "distance ||x − x′||", "y_label": "kernel", "height": 2.5}
    figure, axes = panels.side_by_side(cuts, share_y="row", **look)
    looks: dict[str, style.Looks] = {
        "k": {"color": style.COLOURS["black"], "label": "k = 1 / (1 + ||x − x′||²)"},
        "k_c": {
            "color": style.COLOURS["vermillion"],
            "linestyle": style.DASHES["dash"],
            "label": "k cut at c",
        },
    }
    for ax, cut in zip(axes, cuts, strict=True):
        _exact_curves(ax, results.select(setting=cut, metric="kernel"), looks, linewidth=1.6)
    return panels.shared_legend(figure, [panels.plain_handle(**look) for look in looks.values()])


def _exact_curves(ax: Axes, rows: pd.DataFrame, looks: dict[str, style.Looks], **changes: Any) -> None:
    """Draw values against x of every method that has a look."""
    for method, look in looks.items():
        own = rows[rows["method"] == method].sort_values("x")
        ax.plot(own["x"], own["value"], **(look | changes))


SMOOTHED = {
    "exact": ("black", 1.2),
    "s = 1": ("vermillion", 1.8),
    "s = 2": ("orange", 0.9),
    "s = 4": ("olive", 0.9),
}


@panels.figure
def losses(results: panels.Results[Any]) -> Figure:
    """Draw Figure 2: absolute loss (left) and hinge loss (right) with their smoothings."""
    titles, x_label = ["absolute loss", "hinge loss"], ["a − y", "y a"]
    figure, axes = panels.side_by_side(titles, x_label=x_label, y_label="loss", height=2.6)
    drawn: dict[str, style.Looks] = {}
    for method in results.select(metric="loss")["method"].unique():
        colour, width = SMOOTHED.get(method, ("grey", 0.9))
        drawn[method] = {"color": style.COLOURS[colour], "linewidth": width, "label": f"smoothed, {method}"}
    drawn["exact"] |= {"linestyle": style.DASHES["dash"], "label": "not smoothed"}
    for ax, setting in zip(axes, ("absolute", "hinge"), strict=True):
        _exact_curves(ax, results.select(setting=setting, metric="loss", method=list(drawn)), drawn)
        ax.set_ylim(0, None)
    return panels.shared_legend(figure, [panels.plain_handle(**look) for look in drawn.values()])


@panels.figure
def parameter_p(results: panels.Results[code.ParameterSettings]) -> Figure:
    """Draw regret against p at equal rounds with its moment, and per round at equal copies."""
    own = results.settings
    titles = [f"T = {own.rounds} rounds", f"regret per round, {own.queries} copies in total"]
    figure, (left, right) = panels.side_by_side(titles, x_label="p", y_label=REGRET, height=2.6, width=7.6)
    rounds = results.select(setting="equal rounds")
    curves(left, rounds, "regret", ["analytic"], label="regret")
    moment = rounds[rounds["metric"] == "log10_nu"].groupby("x")["value"].first()
    regret = rounds[rounds["metric"] == "regret"].groupby("x")["value"].mean()
    middle = 2.0 if 2.0 in regret.index else regret.index[0]
    scaled = regret[middle] * 10 ** ((moment - moment[middle]) / 2)
    look: style.Looks = {"color": GREY, "linestyle": style.DASHES["dash"]}
    left.plot(scaled.index, scaled, label="root of the moment, to scale", **look)
    left.legend(fontsize=7.5, loc="upper center")
    curves(right, results.select(setting="equal queries"), "regret_per_round", ["analytic"])
    for ax in (left, right):
        ax.set_ylim(0, None)
    return figure


WORLDS = ["naive", "told_4", "constant", "running_mean", "two_copy", "told_truth"]


@panels.figure
def impossibility(results: panels.Results[Any]) -> Figure:
    """Draw the regret of the worse world, both worlds at the end, and other losses."""
    table = results.table
    titles = ["worse world, against T", "both worlds, longest run", "price of one copy, other losses"]
    x_label = ["rounds T", "regret per round in world A", "unavoidable regret per round"]
    y_label = ["expected regret per round", "regret per round in world B", ""]
    look: style.Looks = {"y_label": y_label, "height": 2.9, "width": 10.5}
    figure, (left, middle, right) = panels.side_by_side(titles, x_label=x_label, **look)
    curves(left, table[table["noise"] == "worse"], "regret_per_round", WORLDS)
    panels.log_axis(left.xaxis, left.yaxis)
    floor = (1 - 1 / np.sqrt(5)) ** 2
    left.axhline(floor, color=GREY, linewidth=0.9, linestyle=style.DASHES["dash"], zorder=3)
    last = table[(table["metric"] == "regret_per_round") & (table["x"] == table["x"].max())]
    means = panels.mean_interval(last, ["method", "noise"])["mean"].clip(lower=1e-4)
    for method in WORLDS:
        look = {"marker": looks(method)["marker"], "color": style.colour(method), "markersize": 7}
        look |= style.hollow(method) | {"markerfacecolor": "none", "linestyle": "none"}
        middle.plot(*(means[method, world] for world in "AB"), **look)
    w = np.linspace(0.2, 1, 400)
    middle.plot(5 * (w - 0.2) ** 2, (w - 1) ** 2, color=GREY, linewidth=0.9, zorder=1.1)
    panels.log_axis(middle.xaxis, middle.yaxis, low=5e-5)
    prices = table[table["metric"] == "unavoidable"].sort_values("value")
    right.barh(range(len(prices)), prices["value"], color=style.COLOURS["sky"], height=0.6)
    for i, (label, value) in enumerate(zip(prices["setting"], prices["value"], strict=True)):
        right.text(value + 0.005, i, f"{label}, {value:.3f}", va="center", fontsize=7.5)
    right.set_yticks([])
    right.set_xlim(0, 0.75)
    right.grid(axis="y", visible=False)
    fixed: Any = panels.plain_handle("the best of one copy", linewidth=0.9)
    dash: style.Looks = {"linewidth": 0.9, "linestyle": style.DASHES["dash"]}
    bound: Any = panels.plain_handle("lower bound for one copy", **dash)
    return panels.shared_legend(figure, [*entries(WORLDS, bound=False), fixed, bound])


@panels.table
def identities(results: panels.Results[Any]) -> pd.DataFrame:
    """List quantity, predicted and measured value, z, and the share of the bound."""
    formats = dict.fromkeys(["predicted", "measured", "z", "bound", "bound_ratio"], "{:.5g}")
    formats |= {"z": "{:.2f}", "bound_ratio": "{:.3f}"}
    wide = results.table.pivot_table("value", ["setting", "method"], "metric", sort=False)
    wide = wide.reindex(columns=list(formats))
    cells = {
        name: wide[name].map(form.format).where(wide[name].notna(), "") for name, form in formats.items()
    }
    frame = pd.DataFrame(cells).rename(columns={"bound_ratio": "predicted / bound"})
    frame = frame.rename_axis(["group", "quantity"]).reset_index("quantity")
    largest = results.table.loc[results.table["metric"] == "z", "value"].abs().max()
    return tables.noted(frame, f"Largest |z| of {wide['z'].count()}: {largest:.2f}.")
