"""Figures of Algorithm 3: synthetic data, diabetes, a radial kernel, and the lemma of the angle."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import noisy_online as shared
from reproduction.figures import panels, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STEPS = {1.0: "the theorem's step"}


def _step_title(factor: float) -> str:
    return STEPS.get(factor, f"{factor:g} × the theorem's step")


@panels.figure
def surrogate_kernel(results: panels.Results[Any]) -> "Figure":
    """Regret for two steps and against the noise; below, what was learnt."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    titles = [*map(_step_title, own["factors"]), f"T = {own['variances']['horizon']}, growing noise"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="rounds T", y_label="", height=2.7, width=10.0, share_y="none", bottom=3.35,
    )  # fmt: skip
    methods = [*own["learners"], "naive_kernel_tuned"]
    for ax, factor in zip(axes[0], own["factors"], strict=False):
        shared.regret_panel(ax, table[table["setting"].isin([f"m = {factor:g}", "tuned"])], methods)
    axes[0, 0].set_ylabel("regret on the clean data")
    sweep = panels.select(table, name, setting="sweep")
    last = axes[0, -1]
    shared.curves(last, sweep, "sweep_bound", ["surrogate"], **shared.THIN)
    shared.curves(last, sweep, "sweep_regret", methods)
    shared.decades(last.yaxis)
    last.set(xlabel="variance of the noise, σ² = 1")
    _constants_on_top(last, panels.select(sweep, name, metric="sweep_constant"))
    _surfaces(figure, panels.select(table, name, metric="surface"), own["surface"])
    panels.shared_legend(figure, shared.entries(methods))
    return figure


def _constants_on_top(ax: "Axes", rows: "pd.DataFrame") -> None:
    """The constant C of the surrogate kernel at every variance, as labels on the upper axis."""
    constants = rows.groupby("x")["value"].first()
    for x, value in constants.items():
        ax.annotate(f"C = {value:.3g}", (float(str(x)), 1), (0, -3), xycoords=("data", "axes fraction"),
                    textcoords="offset points", fontsize=7, ha="center", va="top")  # fmt: skip
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * 2)
    ax.margins(x=0.12)


def _surfaces(figure: "Figure", rows: "pd.DataFrame", spec: dict[str, Any]) -> None:
    """Three maps of functions on [-1, 1]^2 with one colour scale, below the panels."""
    width, height = figure.get_size_inches()
    side, largest = spec["side"], float(rows["value"].abs().max())
    names = {"truth": "target f*", "surrogate": "Algorithm 3", "naive_kernel": "naive learner"}
    for place, (method, title) in enumerate(names.items()):
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
def diabetes_kernel(results: panels.Results[Any]) -> "Figure":
    """A column for each ball, a row for each step; right, the ball by the angle and the comparator's own."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    balls = [f"B = {b:g}" for b in own["task"]["balls"]]
    figure, axes = panels.grid_of_panels(
        [""] * len(own["factors"]), [*([" "] * len(balls)), "squared radius B̃"], x_label="rounds T",
        y_label="regret on the clean data", height=2.2, width=9.6, share_y="none", between=0.5,
    )  # fmt: skip
    for i, factor in enumerate(own["factors"]):
        for ax, ball in zip(axes[i], balls, strict=False):
            rows = panels.select(table, name, setting=f"{ball} m = {factor:g}")
            shared.regret_panel(ax, rows, own["learners"])
            ax.set_title(f"{ball}, {_step_title(factor)}")
            ax.tick_params(labelbottom=True)
    for ax in axes[1:, -1]:
        ax.set_visible(False)
    _radii(axes[0, -1], table, balls)
    panels.shared_legend(figure, shared.entries(own["learners"]))
    return figure


def _radii(ax: "Axes", table: "pd.DataFrame", balls: list[str]) -> None:
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
def radial_kernel(results: panels.Results[Any]) -> "Figure":
    """Regret for two steps; approximation error and constant of the bound against the truncation."""
    name, table, settings = results.artifact, results.table, results.settings_of
    own = settings[name]
    titles = [*map(_step_title, own["factors"]), "price of the truncation c"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="rounds T", y_label="", height=2.7, width=10.0, share_y="none"
    )
    for ax, factor in zip(axes[0], own["factors"], strict=False):
        shared.regret_panel(ax, panels.select(table, name, setting=f"m = {factor:g}"), own["learners"])
    axes[0, 0].set_ylabel("regret on the clean data")
    last = axes[0, -1]
    for metric, colour, marker, label in (
        ("bound_over_root_T", "wine", "^", "bound / √T"),
        ("truncation_error", "blue", "o", "largest error of the kernel"),
    ):
        rows = table[table["metric"] == metric].groupby("x")["value"].first()
        last.plot(rows.index, rows, color=style.COLOURS[colour], marker=marker, label=label)
    shared.decades(last.yaxis)
    last.set(xlabel="truncation c")
    last.legend(fontsize=7.5, loc="center left")
    panels.shared_legend(figure, shared.entries(own["learners"]))
    return figure


@panels.figure
def angle_lemma(results: panels.Results[Any]) -> "Figure":
    """Squared surrogate norm of random expansions against the bound by their angle."""
    name, table = results.artifact, results.table
    figure, axes = panels.grid_of_panels(
        [""], ["Gaussian kernel", "truncated radial kernel"], x_label="bound by the angle, 2CB / (1 − cos α)",
        y_label="squared surrogate norm", height=2.9,
    )  # fmt: skip
    for ax, kernel in zip(axes[0], ("gaussian", "radial"), strict=True):
        rows = panels.select(table, name, method=kernel)
        index = ["setting", "repetition", "x"]
        bound, norm = (
            rows[rows["metric"] == metric].set_index(index)["value"]
            for metric in ("angle_bound", "surrogate_norm")
        )
        ax.plot(bound, norm[bound.index], linestyle="none", marker=".", markersize=2.5, alpha=0.5,
                color=style.COLOURS["blue"], rasterized=True)  # fmt: skip
        ends = np.array([bound.min(), bound.max()])
        ax.plot(ends, ends, color="black", linewidth=1.0)
        shared.decades(ax.yaxis)
        shared.decades(ax.xaxis)
    panels.shared_legend(figure, [panels.plain_handle("bound", color="black")])
    return figure
