"""Figures and tables of the ORS paper, and our own."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reproduction.show import names, panels, style, tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ors import code


MODES = {"shared_r": "one r for all rules", "per_variant": "each rule tuned separately"}
PAPER = {"fig2": "Fig. 2, regression", "fig4": "Fig. 4, equaliser", "fig5": "Fig. 5, speech"}
COMPARED = {"fig2": "M=5", "fig4": "M=5", "fig5": "simulated room"}
"""Figure -> the task of it that the comparison of the tuning modes shows."""
ROUNDS: style.Looks = {"x_label": "round t / 1000", "y_label": "cumulative MSE", "x_unit": 1e3}
SECONDS: style.Looks = {
    "x_label": "time / s",
    "y_label": "cumulative MSE / speech power",
    "x_unit": 16e3,
}
"""Seconds of one sample of speech; other rates are refused when speech is read."""


@panels.figure
def regression_curves(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw Fig. 2: cumulative error, by way of tuning r and by knowledge of the variance."""
    settings = results.settings
    rows = {MODES.get(mode, mode): {"setting": mode} for mode in settings.modes}
    columns = _sides(settings.methods)
    return _curves(results, rows, columns, **ROUNDS)


@panels.figure
def equalizer_curves(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw Fig. 4: cumulative error, by knowledge of the variance and by the largest variance M."""
    settings = results.settings
    rows = {}
    for title, selected in _sides(settings.methods).items():
        rows[title] = selected | {"setting": "shared_r"}
    columns = {task: {"noise": task} for task in settings.tasks}
    return _curves(results, rows, columns, share_y="none", **ROUNDS)


@panels.figure
def speech_curves(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw Fig. 5: error over the power of the speech, by room and by knowledge of the variance."""
    settings = results.settings
    rows = {}
    for task in settings.tasks:
        if ";" not in task:
            rows[task] = {"noise": task, "setting": "shared_r"}
    columns = _sides(settings.methods)
    return _curves(results, rows, columns, **SECONDS)


def _sides(rules: names.Methods) -> dict[str, style.Looks]:
    """Split the rules into those that know the variance and those that do not; some are in both."""
    sides = {}
    for side in ("known", "unknown"):
        sides[f"variance {side}"] = {"method": names.shown_in(rules, side)}
    return sides


def _curves(
    results: panels.Results[code.CurvesSettings],
    rows: Mapping[str, style.Looks],
    columns: Mapping[str, style.Looks],
    share_y: str = "row",
    **options: Any,
) -> Figure:
    """Draw learning curves in a grid; a panel shows the results that fit its row and column."""
    methods: dict[str, None] = {}
    for selected in (*rows.values(), *columns.values()):
        methods |= dict.fromkeys(selected.get("method", []))
    figure, cells = panels.facets(
        results,
        list(rows.items()),
        list(columns.items()),
        table=results.select(metric="mse"),
        legend=panels.handles(methods),
        share_y=share_y,
        **options,
    )
    lowest_errors = []
    for _, rows_of_cell in cells:
        is_last = rows_of_cell["x"] == rows_of_cell["x"].max()
        lowest_errors.append(rows_of_cell.loc[is_last, "value"].min())
    # Below these values there is only the silence before the first word.
    low = 0.6 * min(lowest_errors)
    has_own_axes = share_y == "none"
    cells_with_axes = cells if has_own_axes else cells[:: len(columns)]
    for ax, _ in cells_with_axes:
        panels.log_axis(ax.yaxis, low=low)
    return figure


@panels.figure
def label_budgets(results: panels.Results[code.BudgetSettings]) -> Figure:
    """Draw Fig. 6: error over the budget B, a panel per noise model, solid with scaling."""
    settings = results.settings
    titles = [f"{noise} variance" for noise in settings.noise]
    labels = {"x_label": "budget B / labels per round", "y_label": "MSE, all rounds"}
    figure, axes = panels.side_by_side(titles, height=2.9, share_y="all", **labels)
    short = style.DASHES["short"]
    ticks = np.arange(1, max(settings.budgets) + 1)
    for ax, noise in zip(axes, settings.noise, strict=True):
        rows = results.select(noise=noise, metric="mse", method=settings.strategies)
        scaled = panels.select(rows, results.artifact, setting="scaling")
        panels.learning_curves(ax, scaled, linestyle="-")
        unscaled = panels.select(rows, results.artifact, setting="no scaling")
        panels.learning_curves(ax, unscaled, hollow=True, linestyle=short)
        ax.set_xticks(ticks)
    panels.log_axis(axes[0].yaxis)
    handles = panels.handles(settings.strategies)
    handles += panels.full_and_hollow("scaling", "no scaling", linestyles=["-", short])
    return panels.shared_legend(figure, handles)


@panels.figure
def budget_trace(results: panels.Results[code.TraceSettings]) -> Figure:
    """Draw Fig. 7: labels per round so far with the budget, and the threshold a."""
    settings = results.settings
    budget = settings.budgets[0]
    rows = results.select(noise=settings.noise[0], setting=f"B={budget:g}")
    y_labels = ["labels per round up to now, b", "threshold a (squared error)"]
    figure, axes = panels.side_by_side(["", ""], x_label="round t / 1000", y_label=y_labels)
    spent, threshold = axes
    colour = style.colour("self_tuned")
    first: style.Looks = {"color": colour, "linewidth": 1.6}
    other_runs: style.Looks = {"color": colour, "linewidth": 0.5, "alpha": 0.4}
    labels_per_round = panels.select(rows, results.artifact, metric="labels_per_round")
    _draw_runs(spent, labels_per_round, "default", first, other_runs)
    thresholds = panels.select(rows, results.artifact, metric="a")
    _draw_runs(threshold, thresholds, "steps-pre", first, other_runs)
    threshold.set_yscale("log", base=2)
    handles = [
        panels.plain_handle("first run", **first),
        panels.plain_handle("other runs", **other_runs),
    ]
    for level, name, dash in ((budget, "budget B", "dash"), (0.95 * budget, "0.95 B", "dot")):
        line: style.Looks = {"color": "black", "linewidth": 1.0, "linestyle": style.DASHES[dash]}
        spent.axhline(level, **line)
        handles.append(panels.plain_handle(f"{name} = {level:g}", **line))
    return panels.shared_legend(figure, handles)


def _draw_runs(
    ax: Axes,
    rows: pd.DataFrame,
    drawstyle: Any,
    first: style.Looks,
    other_runs: style.Looks,
) -> None:
    """Draw every run, the first one on top with its look."""
    for repetition, run in sorted(rows.groupby("repetition"), reverse=True):
        look = first if repetition == 0 else other_runs
        ax.plot(run["x"] / 1e3, run["value"], drawstyle=drawstyle, **look)


@panels.figure
def tuning_modes(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw the final error of every rule with a shared r (full) and tuned by itself (hollow)."""
    methods: dict[str, Any] = {}
    for of_artifact in results.each():
        methods |= of_artifact.settings.methods
    rules = [rule for rule, spec in methods.items() if spec.shown != "tables"]
    titles = [f"{PAPER[name]},\n{COMPARED[name]}" for name in results.tables]
    size: style.Looks = {"height": 3.0, "left": 2.6, "share_y": "row"}
    figure, axes = panels.side_by_side(titles, x_label="MSE, all rounds", **size)
    for ax, of_artifact in zip(axes, results.each(), strict=True):
        _draw_modes(ax, of_artifact, rules)
    axes[0].set_yticks(range(len(rules)), [style.label(rule) for rule in rules])
    axes[0].invert_yaxis()
    handles = panels.full_and_hollow(*MODES.values())
    return panels.shared_legend(figure, handles, handle=1)


def _draw_modes(
    ax: Axes,
    results: panels.Results[code.CurvesSettings],
    rules: Sequence[str],
) -> None:
    """Draw the final errors of one figure's rules, full and hollow."""
    methods = results.settings.methods
    places = {rule: float(i) for i, rule in enumerate(rules) if rule in methods}
    task = COMPARED[results.artifact]
    errors = results.select(noise=task, metric="mse", method=list(places))
    for mode in MODES:
        rows = panels.select(errors, results.artifact, setting=mode)
        panels.final_dots(ax, rows, places, along="x", hollow=mode != "shared_r")
    panels.log_axis(ax.xaxis)


PLAIN: style.Looks = {"marker": "", "linewidth": 1.8}
"""Look of the controls of `conditions`."""


@panels.figure
def conditions(results: panels.Results[code.ConditionsSettings]) -> Figure:
    """Draw the final error of every rule under every condition; lines are the controls."""
    settings = results.settings
    has_wrong_labels = any(condition.labels for condition in settings.conditions.values())
    x_label = "corruption of the labels" if has_wrong_labels else "variance told to the rules"
    size: style.Looks = {"height": 3.0, "width": style.WIDTH[2], "bottom": 0.6}
    figure, axes = panels.side_by_side([""], x_label=x_label, y_label="MSE, all rounds", **size)
    (ax,) = axes
    methods = list(settings.methods)
    lines = _list_controls(settings.methods)
    dotted = [method for method in methods if method not in lines]
    offsets = np.linspace(-0.3, 0.3, len(dotted))
    for number, condition in enumerate(settings.conditions):
        rows = results.select(setting=condition, metric="mse", method=methods)
        places = dict(zip(dotted, number + offsets, strict=True))
        panels.final_dots(ax, rows, places)
        _draw_levels(ax, rows, lines, number)
    wrapped = [textwrap.fill(name, 10, break_long_words=False) for name in settings.conditions]
    ax.set_xticks(range(len(wrapped)), wrapped)
    ax.grid(visible=False, axis="x")
    panels.log_axis(ax.yaxis)
    handles = panels.handles(lines, **PLAIN)
    handles += panels.dot_handles(dotted)
    return panels.shared_legend(figure, handles, handle=2)


def _list_controls(methods: names.Methods) -> list[str]:
    """List the methods that are drawn as lines: the reference and the controls."""
    reference = names.reference(methods)
    controls = []
    for method in methods:
        if method == reference or style.label(method).endswith("(control)"):
            controls.append(method)
    return controls


def _draw_levels(ax: Axes, rows: pd.DataFrame, methods: Sequence[str], x: float) -> None:
    """Draw the mean of each control as a level line around a condition."""
    means = panels.mean_interval(rows, ["method"])
    ends = [x - 0.42, x + 0.42]
    for method in methods:
        level = means.loc[[method, method]]
        panels.curve(ax, ends, level["mean"], level["half_width"], method, **PLAIN)


@panels.figure
def vss(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw final errors of ORS, variable-step filters and RLS, and their learning curves."""
    settings = results.settings
    rules = list(settings.methods)
    tasks = list(settings.tasks)
    row_titles = tasks if len(tasks) > 1 else [""]
    column_titles = ["errors at the end", "learning curves (same markers)"]
    labels: style.Looks = {"x_label": ["MSE", "round t / 1000"], "y_label": ["", "MSE"]}
    size: style.Looks = {"height": 3.0, "width": style.WIDTH[3], "left": 2.6, "share_y": "none"}
    figure, axes = panels.grid_of_panels(row_titles, column_titles, **labels, **size)
    places = {rule: float(i) for i, rule in enumerate(rules)}
    for (left, right), task in zip(axes, tasks, strict=True):
        rows = results.select(noise=task, setting=settings.modes[0], method=rules)
        errors = panels.select(rows, results.artifact, metric="mse")
        panels.learning_curves(right, errors, x_unit=1e3)
        panels.final_dots(left, errors, places, along="x")
        tails = panels.select(rows, results.artifact, metric="mse_tail")
        panels.final_dots(left, tails, places, along="x", hollow=True)
        left.set_yticks(range(len(rules)), [style.label(rule) for rule in rules])
        left.invert_yaxis()
        panels.log_axis(left.xaxis, right.yaxis)
    handles = panels.full_and_hollow("all rounds", "last fifth")
    return panels.shared_legend(figure, handles, handle=1)


Point = tuple[float, float]
_LINE: style.Looks = {"color": "black", "linewidth": 1.1}
_HEAD: style.Looks = {
    "arrowstyle": "-|>,head_width=0.28,head_length=0.6",
    "linewidth": 0,
    "color": _LINE["color"],
    "shrinkA": 0,
    "shrinkB": 0,
}
"""Head of an arrow."""


def _box(ax: Axes, centre: Point, text: str, width: float, colour: str) -> None:
    """Draw a block with round corners around its text."""
    from matplotlib.patches import FancyBboxPatch

    x, y = centre
    corner = (x - width / 2, y - 0.3)
    shape = "round,pad=0,rounding_size=0.07"
    looks: style.Looks = {"facecolor": colour, "edgecolor": "black", "zorder": 3}
    box = FancyBboxPatch(corner, width, 0.6, shape, **looks)
    ax.add_patch(box)
    ax.text(x, y, text, fontsize=10, zorder=4, ha="center", va="center")


def _sum(ax: Axes, x: float, y: float) -> None:
    """Draw a circle with a cross, where signals are added."""
    from matplotlib.patches import Circle

    arm = 0.078
    circle = Circle((x, y), RADIUS, facecolor="white", edgecolor="black", zorder=3)
    ax.add_patch(circle)
    ax.plot([x - arm, x + arm], [y, y], zorder=4, **_LINE)
    ax.plot([x, x], [y - arm, y + arm], zorder=4, **_LINE)


def _arrow(ax: Axes, *points: Point, **looks: Any) -> None:
    """Draw a polyline with a head at its last point."""
    xs, ys = zip(*points, strict=True)
    line = _LINE | looks
    ax.plot(xs, ys, solid_joinstyle="miter", zorder=2, **line)
    ax.annotate("", points[-1], points[-2], arrowprops=_HEAD, zorder=2)


# Coordinates of the scheme are inches from the lower left corner. Columns, from left to right:
FORK = 0.75
CHANNEL = 1.7
NOISE = 2.85
EQUALISER = 4.6
ERROR = 6.2
END = 6.85
# Rows, from the top:
SIGNAL = 2.1
STEP = 1.2
LABEL = 0.42
RADIUS = 0.13
"""Radius of the circles where signals are added."""
BLOCK = 0.75
"""Half the width of a block of the equaliser."""
ARROWS: tuple[tuple[Point, ...], ...] = (
    ((0.35, SIGNAL), (CHANNEL - 0.55, SIGNAL)),
    ((CHANNEL + 0.55, SIGNAL), (NOISE - RADIUS, SIGNAL)),
    ((NOISE, SIGNAL + 0.42), (NOISE, SIGNAL + RADIUS)),
    ((NOISE + RADIUS, SIGNAL), (EQUALISER - BLOCK, SIGNAL)),
    ((EQUALISER + BLOCK, SIGNAL), (END, SIGNAL)),
    ((FORK, SIGNAL), (FORK, LABEL), (NOISE - RADIUS, LABEL)),
    ((NOISE, LABEL + 0.42), (NOISE, LABEL + RADIUS)),
    ((NOISE + RADIUS, LABEL), (ERROR, LABEL), (ERROR, STEP - RADIUS)),
    ((ERROR, SIGNAL), (ERROR, STEP + RADIUS)),
    ((ERROR - RADIUS, STEP), (EQUALISER + BLOCK, STEP)),
    ((EQUALISER, STEP + 0.3), (EQUALISER, SIGNAL - 0.3)),
)
TEXTS: dict[Point, str] = {
    (0.4, SIGNAL + 0.1): "$s(t)$",
    (NOISE + 0.08, SIGNAL + 0.36): "noise $n(t)$",
    (NOISE + 0.35, SIGNAL + 0.1): "$x(t)$",
    (ERROR + 0.1, SIGNAL + 0.1): "$\\hat s(t)$",
    (NOISE + 0.08, LABEL + 0.32): "label noise $\\epsilon_t$",
    (NOISE + 0.35, LABEL + 0.1): "$\\tilde s_t=s(t)+\\epsilon_t$",
    (NOISE - 1.12, STEP - 0.05): "variance $v_t$, if known",
    (ERROR + 0.1, STEP + 0.17): "$-$",
    (ERROR - 0.42, STEP + 0.1): "$e_t$",
    (EQUALISER + 0.08, (SIGNAL + STEP) / 2 - 0.05): "$w_t$",
}


@panels.figure
def scheme(results: panels.Results[Any]) -> Figure:
    """Draw Fig. 3: the signal path from s(t) through channel and equaliser, and its labels."""
    from matplotlib.figure import Figure

    width = style.WIDTH[2]
    height = 2.75
    figure = Figure(figsize=(width, height))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    ax.set_axis_off()
    _box(ax, (CHANNEL, SIGNAL), "channel $h$", 1.1, "#E3ECF5")
    _box(ax, (EQUALISER, SIGNAL), "equaliser $w_{t-1}$", 2 * BLOCK, "#FBE6D8")
    _box(ax, (EQUALISER, STEP), "ORS step $r_t$", 2 * BLOCK, "#FBE6D8")
    for points in ARROWS:
        _arrow(ax, *points)
    start = (NOISE + 0.5, STEP)
    end = (EQUALISER - BLOCK, STEP)
    _arrow(ax, start, end, linestyle=style.DASHES["dash"])
    for x in (FORK, ERROR):  # the signal splits here
        ax.plot(x, SIGNAL, marker="o", markersize=4, color="black", zorder=3)
    _sum(ax, NOISE, SIGNAL)
    _sum(ax, NOISE, LABEL)
    _sum(ax, ERROR, STEP)
    for (x, y), text in TEXTS.items():
        ax.text(x, y, text, fontsize=10, zorder=4)
    return figure


@panels.table
def final_errors(results: panels.Results[code.CurvesSettings]) -> pd.DataFrame:
    """List error over all rounds and over the last 80 %; the best realisable rule is bold."""
    rows: list[dict[str, str]] = []
    for of_artifact in results.each():
        settings = of_artifact.settings
        for task, mode in itertools.product(settings.tasks, settings.modes):
            rows += _list_final_errors(of_artifact, task, mode)
    frame = pd.DataFrame(rows).set_index(["figure", "task", "tuning"])
    return tables.noted(
        frame,
        "Mean squared error against the clean label, mean ± standard error over the repetitions;",
        "the lowest mean of the rules that see no clean label is bold.",
    )


def _list_final_errors(
    results: panels.Results[code.CurvesSettings],
    task: str,
    mode: str,
) -> list[dict[str, str]]:
    """Write the errors of every rule of a task that is tuned in one mode."""
    methods = results.settings.methods
    controls = names.with_role(methods, "control")
    errors = results.select(metric="mse", noise=task, setting=mode, method=list(methods))
    cells = {}
    for title, by_method in _errors(errors).items():
        cells[title] = tables.mean_se_cells(by_method, controls)
    section = {"figure": PAPER[results.artifact], "task": task, "tuning": MODES[mode]}
    rows = []
    for rule in methods:
        row = section | {"rule": rule}
        for title, texts in cells.items():
            row[title] = texts[rule]
        rows.append(row)
    return rows


def _errors(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Map the title of each column to errors by method and repetition."""
    wide = rows.pivot(index=["method", "repetition"], columns="x", values="value")
    x = wide.columns.to_numpy(dtype=float)
    first = int(np.searchsorted(x, 0.2 * x[-1]))
    last = len(x) - 1
    mean_of_all = wide.iloc[:, last]
    mean_of_first = wide.iloc[:, first]
    sum_of_tail = x[last] * mean_of_all - x[first] * mean_of_first
    tail = sum_of_tail / (x[last] - x[first])
    return {"MSE, all rounds": mean_of_all.unstack(), "MSE, last 80 %": tail.unstack()}
