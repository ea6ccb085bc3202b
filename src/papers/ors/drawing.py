"""Figures and tables of the ORS paper, and our own."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping
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
SECONDS: style.Looks = {"x_label": "time / s", "y_label": "cumulative MSE / speech power", "x_unit": 16e3}
"""Seconds of one sample of speech; other rates are refused when speech is read."""


@panels.figure
def regression_curves(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw Fig. 2: cumulative error, by way of tuning r and by knowledge of the variance."""
    rows = {MODES.get(mode, mode): {"setting": mode} for mode in results.settings.modes}
    return _curves(results, rows, _sides(results.settings.methods), **ROUNDS)


@panels.figure
def equalizer_curves(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw Fig. 4: cumulative error, by knowledge of the variance and by the largest variance M."""
    own = results.settings
    rows = {title: where | {"setting": "shared_r"} for title, where in _sides(own.methods).items()}
    columns = {task: {"noise": task} for task in own.tasks}
    return _curves(results, rows, columns, **ROUNDS, share_y="none")


@panels.figure
def speech_curves(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw Fig. 5: error over the power of the speech, by room and by knowledge of the variance."""
    own = results.settings
    rows = {task: {"noise": task, "setting": "shared_r"} for task in own.tasks if ";" not in task}
    return _curves(results, rows, _sides(own.methods), **SECONDS)


def _sides(rules: names.Methods) -> dict[str, style.Looks]:
    """Split the rules into those that know the variance and those that do not; some are in both."""
    return {f"variance {side}": {"method": names.shown_in(rules, side)} for side in ("known", "unknown")}


def _curves(
    results: panels.Results[code.CurvesSettings],
    rows: Mapping[str, style.Looks],
    columns: Mapping[str, style.Looks],
    share_y: str = "row",
    **options: Any,
) -> Figure:
    """Draw learning curves in a grid; a panel shows the results that fit its row and column."""
    lists = [where.get("method", []) for where in (*rows.values(), *columns.values())]
    legend = panels.handles(dict.fromkeys(itertools.chain.from_iterable(lists)))
    options |= {"table": results.select(metric="mse"), "share_y": share_y, "legend": legend}
    figure, cells = panels.facets(results, list(rows.items()), list(columns.items()), **options)
    final = min(rows.loc[rows["x"] == rows["x"].max(), "value"].min() for _, rows in cells)
    for ax, _ in cells if share_y == "none" else cells[:: len(columns)]:
        # below these values there is only the silence before the first word
        panels.log_axis(ax.yaxis, low=0.6 * final)
    return figure


@panels.figure
def label_budgets(results: panels.Results[code.BudgetSettings]) -> Figure:
    """Draw Fig. 6: error over the budget B, a panel per noise model, solid with scaling."""
    own = results.settings
    look: style.Looks = {
        "x_label": "budget B / labels per round",
        "y_label": "MSE, all rounds",
        "height": 2.9,
    }
    figure, axes = panels.side_by_side([f"{noise} variance" for noise in own.noise], share_y="all", **look)
    dashes = {"scaling": "-", "no scaling": style.DASHES["short"]}
    for ax, noise in zip(axes, own.noise, strict=True):
        for setting, dash in dashes.items():
            rows = results.select(noise=noise, setting=setting, metric="mse", method=own.strategies)
            panels.learning_curves(ax, rows, hollow=setting == "no scaling", linestyle=dash)
        ax.set_xticks(np.arange(1, max(own.budgets) + 1))
    panels.log_axis(axes[0].yaxis)
    kinds = panels.full_and_hollow("scaling", "no scaling", linestyles=list(dashes.values()))
    return panels.shared_legend(figure, panels.handles(own.strategies) + kinds)


@panels.figure
def budget_trace(results: panels.Results[code.TraceSettings]) -> Figure:
    """Draw Fig. 7: labels per round so far with the budget, and the threshold a."""
    budget = results.settings.budgets[0]
    where = {"noise": results.settings.noise[0], "setting": f"B={budget:g}"}
    y_label = ["labels per round up to now, b", "threshold a (squared error)"]
    figure, (spent, threshold) = panels.side_by_side(["", ""], x_label="round t / 1000", y_label=y_label)
    looks: style.Looks = {"color": style.colour("self_tuned")}
    first, others = looks | {"linewidth": 1.6}, looks | {"linewidth": 0.5, "alpha": 0.4}
    for ax, metric, drawstyle in ((spent, "labels_per_round", "default"), (threshold, "a", "steps-pre")):
        runs = results.select(metric=metric, **where)
        for repetition, run in sorted(runs.groupby("repetition"), reverse=True):
            ax.plot(run["x"] / 1e3, run["value"], drawstyle=drawstyle, **(others if repetition else first))
    threshold.set_yscale("log", base=2)
    entries = [panels.plain_handle("first run", **first), panels.plain_handle("other runs", **others)]
    for level, name, dash in ((budget, "budget B", "dash"), (0.95 * budget, "0.95 B", "dot")):
        line: style.Looks = {"color": "black", "linewidth": 1.0, "linestyle": style.DASHES[dash]}
        spent.axhline(level, **line)
        entries.append(panels.plain_handle(f"{name} = {level:g}", **line))
    return panels.shared_legend(figure, entries)


@panels.figure
def tuning_modes(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw the final error of every rule with a shared r (full) and tuned by itself (hollow)."""
    methods = {rule: spec for each in results.each() for rule, spec in each.settings.methods.items()}
    rules = [rule for rule, spec in methods.items() if spec.shown != "tables"]
    places = {rule: float(place) for place, rule in enumerate(rules)}
    titles = [f"{PAPER[name]},\n{COMPARED[name]}" for name in results.tables]
    look: style.Looks = {"x_label": "MSE, all rounds", "height": 3.0, "left": 2.6, "share_y": "row"}
    figure, axes = panels.side_by_side(titles, **look)
    for ax, each in zip(axes, results.each(), strict=True):
        shown = {rule: place for rule, place in places.items() if rule in each.settings.methods}
        where = {"noise": COMPARED[each.artifact], "metric": "mse", "method": list(shown)}
        for mode in MODES:
            rows = each.select(setting=mode, **where)
            panels.final_dots(ax, rows, shown, along="x", hollow=mode != "shared_r")
        panels.log_axis(ax.xaxis)
    axes[0].set_yticks(range(len(rules)), [style.label(rule) for rule in rules])
    axes[0].invert_yaxis()
    return panels.shared_legend(figure, panels.full_and_hollow(*MODES.values()), handle=1)


@panels.figure
def conditions(results: panels.Results[code.ConditionsSettings]) -> Figure:
    """Draw the final error of every rule under every condition; lines are the controls."""
    own = results.settings
    wrong_labels = any(condition.labels for condition in own.conditions.values())
    x_label = "corruption of the labels" if wrong_labels else "variance told to the rules"
    look: style.Looks = {"y_label": "MSE, all rounds", "height": 3.0, "width": style.WIDTH[2], "bottom": 0.6}
    figure, (ax,) = panels.side_by_side([""], x_label=x_label, **look)
    middle = names.reference(own.methods)
    lines = [m for m in own.methods if m == middle or style.label(m).endswith("(control)")]
    dotted = [method for method in own.methods if method not in lines]
    offsets = np.linspace(-0.3, 0.3, len(dotted))
    plain: style.Looks = {"marker": "", "linewidth": 1.8}
    for place, condition in enumerate(own.conditions):
        rows = results.select(setting=condition, metric="mse", method=list(own.methods))
        panels.final_dots(ax, rows, dict(zip(dotted, place + offsets, strict=True)))
        for method in lines:
            level = panels.mean_interval(rows, ["method"]).loc[[method, method]]
            ends = [place - 0.42, place + 0.42]
            panels.curve(ax, ends, level["mean"], level["half_width"], method, **plain)
    wrapped = [textwrap.fill(name, 10, break_long_words=False) for name in own.conditions]
    ax.set_xticks(range(len(wrapped)), wrapped)
    ax.grid(visible=False, axis="x")
    panels.log_axis(ax.yaxis)
    return panels.shared_legend(figure, panels.handles(lines, **plain) + panels.dot_handles(dotted), handle=2)


@panels.figure
def vss(results: panels.Results[code.CurvesSettings]) -> Figure:
    """Draw final errors of ORS, variable-step filters and RLS, and their learning curves."""
    own = results.settings
    rules = list(own.methods)
    tasks = list(own.tasks) if len(own.tasks) > 1 else [""]
    titles = ["errors at the end", "learning curves (same markers)"]
    look: style.Looks = {"x_label": ["MSE", "round t / 1000"], "y_label": ["", "MSE"], "share_y": "none"}
    figure, axes = panels.grid_of_panels(tasks, titles, height=3.0, width=style.WIDTH[3], left=2.6, **look)
    places = {rule: float(place) for place, rule in enumerate(rules)}
    for (errors, curves), task in zip(axes, own.tasks, strict=True):
        where = {"noise": task, "setting": own.modes[0], "method": rules}
        rows = results.select(metric="mse", **where)
        panels.learning_curves(curves, rows, x_unit=1e3)
        panels.final_dots(errors, rows, places, along="x")
        panels.final_dots(errors, results.select(metric="mse_tail", **where), places, along="x", hollow=True)
        errors.set_yticks(range(len(rules)), [style.label(rule) for rule in rules])
        errors.invert_yaxis()
        panels.log_axis(errors.xaxis, curves.yaxis)
    return panels.shared_legend(figure, panels.full_and_hollow("all rounds", "last fifth"), handle=1)


Point = tuple[float, float]
_LINE: style.Looks = {"color": "black", "linewidth": 1.1}


def _box(ax: Axes, centre: Point, text: str, width: float, colour: str) -> None:
    """Draw a block with round corners around its text."""
    from matplotlib.patches import FancyBboxPatch

    corner, shape = (centre[0] - width / 2, centre[1] - 0.3), "round,pad=0,rounding_size=0.07"
    looks: style.Looks = {"facecolor": colour, "edgecolor": "black", "zorder": 3}
    ax.add_patch(FancyBboxPatch(corner, width, 0.6, shape, **looks))
    ax.text(*centre, text, fontsize=10, zorder=4, ha="center", va="center")


def _sum(ax: Axes, x: float, y: float) -> None:
    """Draw a circle with a cross, where signals are added."""
    from matplotlib.patches import Circle

    radius, arm = 0.13, 0.078
    ax.add_patch(Circle((x, y), radius, facecolor="white", edgecolor="black", zorder=3))
    ax.plot([x - arm, x + arm], [y, y], zorder=4, **_LINE)
    ax.plot([x, x], [y - arm, y + arm], zorder=4, **_LINE)


def _arrow(ax: Axes, *points: Point, **looks: Any) -> None:
    """Draw a polyline with a head at its last point."""
    ax.plot(*zip(*points, strict=True), solid_joinstyle="miter", zorder=2, **(_LINE | looks))
    head: style.Looks = {"arrowstyle": "-|>,head_width=0.28,head_length=0.6", "linewidth": 0}
    head |= {"color": _LINE["color"], "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", points[-1], points[-2], arrowprops=head, zorder=2)


@panels.figure
def scheme(results: panels.Results[Any]) -> Figure:
    """Draw Fig. 3: the signal path from s(t) through channel and equaliser, and its labels."""
    from matplotlib.figure import Figure

    # coordinates are inches from the lower left corner
    figure = Figure(figsize=(style.WIDTH[2], 2.75))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, style.WIDTH[2]), ylim=(0, 2.75))
    ax.set_axis_off()
    fork, channel, noise, equaliser, error, end = 0.75, 1.7, 2.85, 4.6, 6.2, 6.85
    signal, step, label = 2.1, 1.2, 0.42
    _box(ax, (channel, signal), "channel $h$", 1.1, "#E3ECF5")
    _box(ax, (equaliser, signal), "equaliser $w_{t-1}$", 1.5, "#FBE6D8")
    _box(ax, (equaliser, step), "ORS step $r_t$", 1.5, "#FBE6D8")
    for line in [
        [(0.35, signal), (channel - 0.55, signal)],
        [(channel + 0.55, signal), (noise - 0.13, signal)],
        [(noise, signal + 0.42), (noise, signal + 0.13)],
        [(noise + 0.13, signal), (equaliser - 0.75, signal)],
        [(equaliser + 0.75, signal), (end, signal)],
        [(fork, signal), (fork, label), (noise - 0.13, label)],
        [(noise, label + 0.42), (noise, label + 0.13)],
        [(noise + 0.13, label), (error, label), (error, step - 0.13)],
        [(error, signal), (error, step + 0.13)],
        [(error - 0.13, step), (equaliser + 0.75, step)],
        [(equaliser, step + 0.3), (equaliser, signal - 0.3)],
    ]:
        _arrow(ax, *line)
    _arrow(ax, (noise + 0.5, step), (equaliser - 0.75, step), linestyle=style.DASHES["dash"])
    for x in (fork, error):  # the signal splits here
        ax.plot(x, signal, marker="o", markersize=4, color="black", zorder=3)
    for x, y in [(noise, signal), (noise, label), (error, step)]:
        _sum(ax, x, y)
    for point, text in {
        (0.4, signal + 0.1): "$s(t)$",
        (noise + 0.08, signal + 0.36): "noise $n(t)$",
        (noise + 0.35, signal + 0.1): "$x(t)$",
        (error + 0.1, signal + 0.1): "$\\hat s(t)$",
        (noise + 0.08, label + 0.32): "label noise $\\epsilon_t$",
        (noise + 0.35, label + 0.1): "$\\tilde s_t=s(t)+\\epsilon_t$",
        (noise - 1.12, step - 0.05): "variance $v_t$, if known",
        (error + 0.1, step + 0.17): "$-$",
        (error - 0.42, step + 0.1): "$e_t$",
        (equaliser + 0.08, (signal + step) / 2 - 0.05): "$w_t$",
    }.items():
        ax.text(*point, text, fontsize=10, zorder=4)
    return figure


@panels.table
def final_errors(results: panels.Results[code.CurvesSettings]) -> pd.DataFrame:
    """List error over all rounds and over the last 80 %; the best realisable rule is bold."""
    rows: list[dict[str, str]] = []
    for each in results.each():
        own = each.settings
        controls = names.with_role(each.settings.methods, "control")
        for task, mode in itertools.product(own.tasks, own.modes):
            errors = _errors(each.select(metric="mse", noise=task, setting=mode, method=list(own.methods)))
            cells = {title: tables.mean_se_cells(of, controls) for title, of in errors.items()}
            section = {"figure": PAPER[each.artifact], "task": task, "tuning": MODES[mode]}
            for rule in own.methods:
                rows.append(section | {"rule": rule} | {title: text[rule] for title, text in cells.items()})
    return tables.noted(
        pd.DataFrame(rows).set_index(["figure", "task", "tuning"]),
        "Mean squared error against the clean label, mean ± standard error over the repetitions;",
        "the lowest mean of the rules that see no clean label is bold.",
    )


def _errors(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Title of a column -> errors by method and repetition."""
    wide = rows.pivot(index=["method", "repetition"], columns="x", values="value")
    x = wide.columns.to_numpy(dtype=float)
    start = int(np.searchsorted(x, 0.2 * x[-1]))
    last = len(x) - 1
    end = wide.iloc[:, last]
    tail = (x[last] * end - x[start] * wide.iloc[:, start]) / (x[last] - x[start])
    return {"MSE, all rounds": end.unstack(), "MSE, last 80 %": tail.unstack()}
