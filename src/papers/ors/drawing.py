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
    # Below the errors at the end there is only the silence before the first word.
    lowest_at_end = [panels.at_last_x(errors)["value"].min() for _, errors in cells]
    low = 0.6 * min(lowest_at_end)
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
        selected = {"noise": noise, "metric": "mse", "method": settings.strategies}
        scaled = results.select(**selected, setting="scaling")
        panels.learning_curves(ax, scaled, linestyle="-")
        unscaled = results.select(**selected, setting="no scaling")
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
    selected = {"noise": settings.noise[0], "setting": f"B={budget:g}"}
    labels_per_round = results.select(**selected, metric="labels_per_round")
    thresholds = results.select(**selected, metric="a")
    y_labels = ["labels per round up to now, b", "threshold a (squared error)"]
    figure, axes = panels.side_by_side(["", ""], x_label="round t / 1000", y_label=y_labels)
    left, right = axes
    looks = _looks_of_runs()
    _draw_runs(left, labels_per_round, looks, "default")
    _draw_runs(right, thresholds, looks, "steps-pre")
    right.set_yscale("log", base=2)
    handles = [panels.plain_handle(name, **look) for name, look in looks.items()]
    handles += [
        _draw_level(left, budget, "budget B", "dash"),
        _draw_level(left, 0.95 * budget, "0.95 B", "dot"),
    ]
    return panels.shared_legend(figure, handles)


def _looks_of_runs() -> dict[str, style.Looks]:
    """Choose the looks of the first run and of the others, by their names in the legend."""
    colour = style.colour("self_tuned")
    return {
        "first run": {"color": colour, "linewidth": 1.6},
        "other runs": {"color": colour, "linewidth": 0.5, "alpha": 0.4},
    }


def _draw_runs(
    ax: Axes,
    rows: pd.DataFrame,
    looks: Mapping[str, style.Looks],
    drawstyle: Any,
) -> None:
    """Draw every run, the first one on top."""
    for repetition, run in sorted(rows.groupby("repetition"), reverse=True):
        look = looks["first run"] if repetition == 0 else looks["other runs"]
        ax.plot(run["x"] / 1e3, run["value"], drawstyle=drawstyle, **look)


def _draw_level(ax: Axes, level: float, name: str, dash: str) -> Any:
    """Draw a black line at a level, and return its legend entry."""
    line: style.Looks = {"color": "black", "linewidth": 1.0, "linestyle": style.DASHES[dash]}
    ax.axhline(level, **line)
    return panels.plain_handle(f"{name} = {level:g}", **line)


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
    _name_rules(axes[0], rules)
    handles = panels.full_and_hollow(*MODES.values())
    return panels.shared_legend(figure, handles, handle=1)


def _draw_modes(
    ax: Axes,
    results: panels.Results[code.CurvesSettings],
    rules: Sequence[str],
) -> None:
    """Draw the final errors of one figure's rules, full and hollow."""
    places = {}
    for place, rule in enumerate(rules):
        if rule in results.settings.methods:
            places[rule] = float(place)
    selected = {"noise": COMPARED[results.artifact], "metric": "mse", "method": list(places)}
    for mode in MODES:
        errors = results.select(**selected, setting=mode)
        panels.final_dots(ax, errors, places, along="x", hollow=mode != "shared_r")
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
    controls = _list_controls(settings.methods)
    rules = [method for method in methods if method not in controls]
    offsets = np.linspace(-0.3, 0.3, len(rules))
    for number, condition in enumerate(settings.conditions):
        errors = results.select(setting=condition, metric="mse", method=methods)
        places = dict(zip(rules, number + offsets, strict=True))
        panels.final_dots(ax, errors, places)
        _draw_levels(ax, errors, controls, number)
    ticks = [textwrap.fill(name, 10, break_long_words=False) for name in settings.conditions]
    ax.set_xticks(range(len(ticks)), ticks)
    ax.grid(visible=False, axis="x")
    panels.log_axis(ax.yaxis)
    handles = panels.handles(controls, **PLAIN)
    handles += panels.dot_handles(rules)
    return panels.shared_legend(figure, handles, handle=2)


def _list_controls(methods: names.Methods) -> list[str]:
    """List the methods that are drawn as lines: the reference and the controls."""
    reference = names.reference(methods)
    controls = []
    for method in methods:
        is_control = style.label(method).endswith("(control)")
        if is_control or method == reference:
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
    places = {rule: float(place) for place, rule in enumerate(rules)}
    for (left, right), task in zip(axes, tasks, strict=True):
        selected = {"noise": task, "setting": settings.modes[0], "method": rules}
        errors = results.select(**selected, metric="mse")
        tails = results.select(**selected, metric="mse_tail")
        panels.learning_curves(right, errors, x_unit=1e3)
        panels.final_dots(left, errors, places, along="x")
        panels.final_dots(left, tails, places, along="x", hollow=True)
        _name_rules(left, rules)
        panels.log_axis(left.xaxis, right.yaxis)
    handles = panels.full_and_hollow("all rounds", "last fifth")
    return panels.shared_legend(figure, handles, handle=1)


def _name_rules(ax: Axes, rules: Sequence[str]) -> None:
    """Name the rules on the y axis, from the top."""
    ax.set_yticks(range(len(rules)), [style.label(rule) for rule in rules])
    ax.invert_yaxis()


Point = tuple[float, float]
"""Place in the scheme, inches from its lower left corner."""
_LINE: style.Looks = {"color": "black", "linewidth": 1.1}
_HEAD: style.Looks = {
    "arrowstyle": "-|>,head_width=0.28,head_length=0.6",
    "linewidth": 0,
    "color": _LINE["color"],
    "shrinkA": 0,
    "shrinkB": 0,
}
"""Head of an arrow."""


def _block(ax: Axes, centre: Point, text: str, half_width: float, colour: str) -> None:
    """Draw a block with round corners around its text."""
    from matplotlib.patches import FancyBboxPatch

    x, y = centre
    corner = (x - half_width, y - BLOCK_HALF_HEIGHT)
    shape = "round,pad=0,rounding_size=0.07"
    looks: style.Looks = {"facecolor": colour, "edgecolor": "black", "zorder": 3}
    block = FancyBboxPatch(corner, 2 * half_width, 2 * BLOCK_HALF_HEIGHT, shape, **looks)
    ax.add_patch(block)
    ax.text(x, y, text, fontsize=10, zorder=4, ha="center", va="center")


def _sum(ax: Axes, centre: Point) -> None:
    """Draw a circle with a cross, where signals are added."""
    from matplotlib.patches import Circle

    x, y = centre
    arm = 0.6 * RADIUS
    circle = Circle(centre, RADIUS, facecolor="white", edgecolor="black", zorder=3)
    ax.add_patch(circle)
    ax.plot([x - arm, x + arm], [y, y], zorder=4, **_LINE)
    ax.plot([x, x], [y - arm, y + arm], zorder=4, **_LINE)


def _arrow(ax: Axes, *points: Point, **looks: Any) -> None:
    """Draw a polyline with a head at its last point."""
    xs, ys = zip(*points, strict=True)
    line = _LINE | looks
    *_, before_last, last = points
    ax.plot(xs, ys, solid_joinstyle="miter", zorder=2, **line)
    ax.annotate("", last, before_last, arrowprops=_HEAD, zorder=2)


# Columns, from left to right:
START = 0.35
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
BLOCK_HALF_HEIGHT = 0.3
"""Of every block."""
CHANNEL_HALF_WIDTH = 0.55
BLOCK_HALF_WIDTH = 0.75
"""Of the channel, and of a block of the equaliser."""
NOISE_LENGTH = 0.42
"""Distance from the start of an arrow of noise to the centre of its circle."""
ARROWS: tuple[tuple[Point, ...], ...] = (
    ((START, SIGNAL), (CHANNEL - CHANNEL_HALF_WIDTH, SIGNAL)),
    ((CHANNEL + CHANNEL_HALF_WIDTH, SIGNAL), (NOISE - RADIUS, SIGNAL)),
    ((NOISE, SIGNAL + NOISE_LENGTH), (NOISE, SIGNAL + RADIUS)),
    ((NOISE + RADIUS, SIGNAL), (EQUALISER - BLOCK_HALF_WIDTH, SIGNAL)),
    ((EQUALISER + BLOCK_HALF_WIDTH, SIGNAL), (END, SIGNAL)),
    ((FORK, SIGNAL), (FORK, LABEL), (NOISE - RADIUS, LABEL)),
    ((NOISE, LABEL + NOISE_LENGTH), (NOISE, LABEL + RADIUS)),
    ((NOISE + RADIUS, LABEL), (ERROR, LABEL), (ERROR, STEP - RADIUS)),
    ((ERROR, SIGNAL), (ERROR, STEP + RADIUS)),
    ((ERROR - RADIUS, STEP), (EQUALISER + BLOCK_HALF_WIDTH, STEP)),
    ((EQUALISER, STEP + BLOCK_HALF_HEIGHT), (EQUALISER, SIGNAL - BLOCK_HALF_HEIGHT)),
)
GIVEN_VARIANCE: tuple[Point, Point] = ((NOISE + 0.5, STEP), (EQUALISER - BLOCK_HALF_WIDTH, STEP))
"""The dashed arrow."""
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
    _block(ax, (CHANNEL, SIGNAL), "channel $h$", CHANNEL_HALF_WIDTH, "#E3ECF5")
    _block(ax, (EQUALISER, SIGNAL), "equaliser $w_{t-1}$", BLOCK_HALF_WIDTH, "#FBE6D8")
    _block(ax, (EQUALISER, STEP), "ORS step $r_t$", BLOCK_HALF_WIDTH, "#FBE6D8")
    for points in ARROWS:
        _arrow(ax, *points)
    _arrow(ax, *GIVEN_VARIANCE, linestyle=style.DASHES["dash"])
    for x in (FORK, ERROR):  # the signal splits here
        ax.plot(x, SIGNAL, marker="o", markersize=4, color="black", zorder=3)
    for centre in ((NOISE, SIGNAL), (NOISE, LABEL), (ERROR, STEP)):
        _sum(ax, centre)
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
