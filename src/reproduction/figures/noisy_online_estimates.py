"""Figures of the randomised estimates, of their parameter p, and of what one copy cannot do."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import noisy_online as shared
from reproduction.figures import panels, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FUNCTIONS = {"exp": "f = exp(a)", "erf 0.5": "f = erf(a/2)", "erf 1": "f = erf(a)", "bell": "f = exp(−a²)"}
SHADES = ("sky", "blue", "indigo", "wine")
LAWS = {"normal": "o", "bernoulli": "^", "student": "s"}
WORLDS = ["naive", "told_4", "constant", "running_mean", "two_copy", "told_truth"]


@panels.figure
def lemma1(results: panels.Results[Any]) -> "Figure":
    """Second moment of the estimate against p (top), and times the expected number of copies (bottom)."""
    name, table, settings = results.artifact, results.table, results.settings_of
    functions, sizes = settings[name]["functions"], settings[name]["second_moments"]
    figure, axes = panels.grid_of_panels(
        ["", ""], [FUNCTIONS.get(f, f) for f in functions], x_label="p", y_label="", height=2.3,
        width=10.5, share_y="none",
    )  # fmt: skip
    for column, function in zip(axes.T, functions, strict=True):
        for EX2, colour in zip(sizes, SHADES, strict=False):
            rows = panels.select(table, name, setting=function, noise=f"E X^2 = {EX2:g}")
            _second_moments(column[0], rows, style.COLOURS[colour])
            cost = rows[rows["metric"] == "cost"].sort_values("x")
            column[1].plot(cost["x"], cost["value"], color=style.COLOURS[colour])
        for ax in column:
            shared.decades(ax.yaxis)
            panels.log_axis(ax.xaxis)
    axes[0, 0].set_ylabel("second moment")
    axes[1, 0].set_ylabel("second moment × copies")
    entries = [
        panels.plain_handle(f"E X² = {EX2:g}", color=style.COLOURS[colour])
        for EX2, colour in zip(sizes, SHADES, strict=False)
    ]
    entries.append(panels.plain_handle("bound of Lemma 1", **shared.THIN))
    entries += [
        panels.plain_handle(f"measured, {law}", marker=marker, linestyle="none", markersize=4)
        for law, marker in LAWS.items()
    ]
    panels.shared_legend(figure, entries)
    return figure


def _second_moments(ax: "Axes", rows: "pd.DataFrame", colour: str) -> None:
    """Exact series, bound and measured second moments of one function and size."""
    series = rows[rows["method"] == "series"]
    for metric, looks in (("second_moment", {}), ("bound", shared.THIN)):
        line = series[series["metric"] == metric].sort_values("x")
        ax.plot(line["x"], line["value"], color=colour, **looks)
    for law, marker in LAWS.items():
        dots = rows[(rows["method"] == law) & (rows["metric"] == "second_moment")]
        ax.plot(dots["x"], dots["value"], linestyle="none", marker=marker, markersize=3.5, color=colour,
                markeredgecolor="white", markeredgewidth=0.4)  # fmt: skip


@panels.figure
def query_counts(results: panels.Results[Any]) -> "Figure":
    """Counted and exact probabilities of the numbers of copies, a panel for each kind of kernel."""
    name, table, settings = results.artifact, results.table, results.settings_of
    powers = settings[name]["powers"]
    titles = {"dot product": "dot-product kernel", "gaussian": "Gaussian kernel"}
    figure, axes = panels.grid_of_panels(
        [""], list(titles.values()), x_label="copies k of a round", y_label="share of rounds", height=2.8
    )
    for ax, kernel in zip(axes[0], titles, strict=True):
        for p, colour, marker in zip(powers, SHADES, "os^D", strict=False):
            rows = panels.select(table, name, setting=kernel, method=f"p = {p:g}")
            law = rows[rows["metric"] == "pmf"].groupby("x")["value"].first()
            counted = rows[rows["metric"] == "frequency"].groupby("x")["value"].mean()
            ax.plot(law.index, law, color=style.COLOURS[colour], linewidth=1.0)
            ax.plot(counted.index, counted.where(counted > 0), linestyle="none", marker=marker, markersize=3,
                    color=style.COLOURS[colour])  # fmt: skip
        ax.set_ylim(1e-6, 2)
        shared.decades(ax.yaxis)
    entries = [
        panels.plain_handle(f"p = {p:g}", color=style.COLOURS[colour], marker=marker, markersize=4)
        for p, colour, marker in zip(powers, SHADES, "os^D", strict=False)
    ]
    panels.shared_legend(figure, entries)
    return figure


@panels.figure
def parameter_p(results: panels.Results[Any]) -> "Figure":
    """Regret against p at equal rounds with its moment, and per round at equal copies."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    titles = [f"T = {own['rounds']} rounds", f"{own['queries']} copies in total"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="p", y_label="", height=2.6, width=7.6, share_y="none"
    )
    left, right = axes[0]
    rounds = panels.select(table, name, setting="equal rounds")
    shared.curves(left, rounds, "regret", ["analytic"], label="regret")
    moment = rounds[rounds["metric"] == "log10_nu"].groupby("x")["value"].first()
    regret = rounds[rounds["metric"] == "regret"].groupby("x")["value"].mean()
    middle = 2.0 if 2.0 in regret.index else regret.index[0]
    scaled = regret[middle] * 10 ** ((moment - moment[middle]) / 2)
    left.plot(scaled.index, scaled, color=style.COLOURS["grey"], linestyle=style.DASHES["dash"],
              label="root of the moment, to scale")  # fmt: skip
    left.set(ylabel="regret on the clean data", ylim=(0, None))
    left.legend(fontsize=7.5, loc="upper center")
    queries = panels.select(table, name, setting="equal queries")
    shared.curves(right, queries, "regret_per_round", ["analytic"])
    right.set(ylim=(0, None))
    right.set_title(f"regret per round, {titles[1]}")
    return figure


@panels.figure
def impossibility(results: panels.Results[Any]) -> "Figure":
    """Regret per round of the worse world; both worlds at the end; constants of other losses."""
    table = results.table
    titles = ["worse world, against T", "both worlds, longest run", "price of one copy, other losses"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="", y_label=["expected regret per round", "in world B", ""],
        height=2.9, width=10.5, share_y="none",
    )  # fmt: skip
    left, middle, right = axes[0]
    floor = (1 - 1 / np.sqrt(5)) ** 2
    shared.curves(left, table[table["noise"] == "worse"], "regret_per_round", WORLDS)
    shared.decades(left.yaxis)
    shared.decades(left.xaxis)
    left.axhline(floor, color=style.COLOURS["grey"], linewidth=0.9, linestyle=style.DASHES["dash"])
    left.set(xlabel="rounds T")
    last = table[(table["metric"] == "regret_per_round") & (table["x"] == table["x"].max())]
    means = panels.mean_interval(last, ["method", "noise"])["mean"]
    for method in WORLDS:
        look = shared.looks(method)
        middle.plot(max(means[method, "A"], 1e-4), max(means[method, "B"], 1e-4), linestyle="none",
                    marker=look["marker"], color=look["color"], markersize=7)  # fmt: skip
    w = np.linspace(0.2, 1, 400)
    middle.plot(5 * (w - 0.2) ** 2, (w - 1) ** 2, color=style.COLOURS["grey"], linewidth=0.9, zorder=1.1)
    panels.log_axis(middle.yaxis, low=5e-5)
    panels.log_axis(middle.xaxis, low=5e-5)
    middle.set(xlabel="in world A")
    prices = table[table["metric"] == "unavoidable"].sort_values("value")
    right.barh(range(len(prices)), prices["value"], color=style.COLOURS["sky"], height=0.6)
    for i, (label, value) in enumerate(zip(prices["setting"], prices["value"], strict=True)):
        right.text(value + 0.005, i, f"{label}, {value:.3f}", va="center", fontsize=7.5)
    right.set_yticks([])
    right.set(xlabel="unavoidable regret per round", xlim=(0, 0.75))
    right.grid(axis="y", visible=False)
    fixed: Any = panels.plain_handle("the best of one copy", linewidth=0.9)
    panels.shared_legend(figure, [*shared.entries(WORLDS, bound=False), fixed])
    return figure
