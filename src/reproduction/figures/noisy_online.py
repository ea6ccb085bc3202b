"""Figures of learning from noisy instances: names, looks and shared panels, and the linear learners."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import names, panels, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LOOKS = {
    "two_copy": ("vermillion", "solid", "o"),
    "known_covariance": ("blue", "solid", "D"),
    "agnostic_step": ("sky", "dash", "^"),
    "changing_covariance": ("indigo", "dashdot", "v"),
    "naive": ("black", "dash", "s"),
    "naive_tuned": ("olive", "short", "X"),
    "average_of_2": ("green", "dashdot", "P"),
    "noise_free": ("silver", "solid", ""),
    "surrogate": ("vermillion", "solid", "o"),
    "same_copy": ("violet", "dashdot", "^"),
    "naive_kernel": ("black", "dash", "s"),
    "naive_kernel_tuned": ("olive", "short", "X"),
    "analytic": ("vermillion", "solid", "o"),
    "plug_in": ("black", "dash", "s"),
    "told_0": ("black", "dash", "s"),
    "told_4": ("violet", "dashdot", "^"),
    "constant": ("green", "dot", "P"),
    "running_mean": ("olive", "short", "X"),
    "told_truth": ("blue", "solid", "D"),
}
THIN: dict[str, Any] = {"linewidth": 0.9, "marker": "", "linestyle": style.DASHES["dot"]}
"""Bounds: the colour of the method, thin and dotted."""


def looks(method: str) -> dict[str, Any]:
    """Colour, dash, marker and readable name of a learner."""
    if method not in _LOOKS:
        return {"label": names.method(method)}
    colour, dash, marker = _LOOKS[method]
    thin = {"linewidth": 1.0} if method == "noise_free" else {}
    return {
        "color": style.COLOURS[colour], "linestyle": style.DASHES[dash], "marker": marker, "markersize": 5,
        "label": names.method(method),
    } | thin  # fmt: skip


def entries(methods: list[str], *, bound: bool = True) -> list[Any]:
    """Legend entries of the learners, and of what bounds look like."""
    found = [panels.handles([method], **looks(method))[0] for method in methods]
    return found + [panels.plain_handle("bound", **THIN)] * bound


def curves(ax: "Axes", rows: "pd.DataFrame", metric: str, methods: list[str], **changes: Any) -> None:
    """Mean and 95 % interval of a metric against x, for every method that has it."""
    chosen = rows[rows["metric"] == metric]
    for method in methods:
        own = chosen[chosen["method"] == method]
        if own.empty:
            continue
        means = panels.mean_interval(own, ["x"]).sort_index()
        panels.curve(ax, means.index, means["mean"], means["half_width"], method, **(looks(method) | changes))


def decades(axis: Any) -> None:
    """A logarithmic axis with ticks at a few powers of ten; plain numbers where the range is short."""
    from matplotlib.ticker import LogFormatterMathtext, LogLocator, NullFormatter

    panels.log_axis(axis)
    low, high = axis.get_view_interval()
    if high > 300 * low:
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_major_formatter(LogFormatterMathtext())
        axis.set_minor_locator(LogLocator(subs=(1,), numticks=20))
        axis.set_minor_formatter(NullFormatter())


def regret_panel(ax: "Axes", rows: "pd.DataFrame", methods: list[str]) -> None:
    """Regret against T on log axes, bounds dotted, and the slopes 1/2 and 1 for reference."""
    curves(ax, rows, "bound", methods, **THIN)
    curves(ax, rows, "regret", methods)
    ax.set_xscale("log")
    decades(ax.yaxis)
    decades(ax.xaxis)
    _reference_slopes(ax)


def _reference_slopes(ax: "Axes") -> None:
    """Two short grey lines in the lower right corner: growth like T^(1/2) and like T."""
    from matplotlib.lines import Line2D

    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    start, end = x0 * (x1 / x0) ** 0.70, x0 * (x1 / x0) ** 0.92
    at = y0 * (y1 / y0) ** 0.05
    for power, text in ((0.5, "√T"), (1.0, "T")):
        top = at * (end / start) ** power
        # an artist is not autoscaled to: a panel below that shares the axis may have more rounds
        ax.add_artist(Line2D([start, end], [at, top], color=style.COLOURS["grey"], linewidth=1.0, zorder=1.2))
        ax.annotate(text, (end, top), (2, 0), textcoords="offset points", fontsize=7.5, va="center",
                    color=style.COLOURS["grey"])  # fmt: skip


def average_panel(ax: "Axes", rows: "pd.DataFrame", methods: list[str], limits: dict[str, float]) -> None:
    """Regret per round against T, linear, with the limits that the theory of the naive learner gives."""
    curves(ax, rows, "regret_per_round", methods)
    decades(ax.xaxis)
    for text, value in limits.items():
        ax.axhline(
            value, color=style.COLOURS["grey"], linewidth=0.8, linestyle=style.DASHES["dash"], zorder=1.1
        )
        ax.annotate(text, (0, value), (3, -2), xycoords=("axes fraction", "data"), textcoords="offset points",
                    va="top", fontsize=7.5, color=style.COLOURS["grey"])  # fmt: skip
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))


def _of_table(rows: "pd.DataFrame", known: Any) -> list[str]:
    """Methods in the order of the settings, as far as the table has them."""
    there = set(rows["method"])
    return [method for method in known if method in there]


@panels.figure
def linear(results: panels.Results[Any]) -> "Figure":
    """Regret of the linear learners against T, and regret per round; a row for each data set."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    methods = _of_table(table, own["learners"])
    sets = list(table["dataset"].unique())
    figure, axes = panels.grid_of_panels(
        ["" if len(sets) == 1 else each for each in sets], ["regret on the clean data", "regret per round"],
        x_label="rounds T", y_label="", height=2.9, width=8.6, share_y="none", between=0.45,
    )  # fmt: skip
    for (left, right), each in zip(axes, sets, strict=True):
        rows = table[table["dataset"] == each]
        regret_panel(left, rows, methods)
        limits = rows.loc[rows["metric"] == "regret_per_round_predicted", "value"].round(5).unique()
        average_panel(right, rows, methods, {f"limit {value:.3g}": value for value in limits})
    for ax in axes[:-1].flat:
        ax.tick_params(labelbottom=True)
    panels.shared_legend(figure, entries(methods))
    return figure


@panels.figure
def misreported(results: panels.Results[Any]) -> "Figure":
    """Algorithm 2: regret against T; what a wrong covariance does to weights and regret."""
    name, table, settings = results.artifact, results.table, results.settings_of
    methods = _of_table(table, [m for m in settings[name]["learners"] if not m.startswith("told ")])
    titles = ["regret on the clean data", "weights at the end / w*", "regret per round"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="", y_label="", height=2.9, width=10.2, share_y="none"
    )
    left, middle, right = axes[0]
    regret_panel(left, table, methods)
    told = table[table["method"].str.startswith("told ")]
    last = told[told["x"] == told["x"].max()]
    for ax, metric in ((middle, "weight_ratio"), (right, "regret_per_round")):
        for measured, look in ((metric, {}), (f"{metric}_predicted", {"marker": "_", "markersize": 12})):
            means = panels.mean_interval(last[last["metric"] == measured], ["method"])
            if means.empty:
                continue
            c = np.array([float(method.split()[1]) for method in means.index])
            shade = style.COLOURS["grey" if look else "blue"]
            ax.errorbar(c, means["mean"], means["half_width"], linestyle="none", color=shade, capsize=2,
                        **({"marker": "D", "markersize": 5} | look))  # fmt: skip
        ax.set(xlabel="told covariance / true covariance c")
    left.set(xlabel="rounds T")
    right.set_ylim(bottom=0)
    predicted = panels.plain_handle("predicted", marker="_", markersize=10, linestyle="none")
    panels.shared_legend(figure, [*entries(methods), predicted])
    return figure
