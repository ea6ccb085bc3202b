"""Figures of the p-norm LMS slides (Kivinen, Warmuth, Hassibi): who wins where, and by how much."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.figures import names, panels, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


AUTO_P = {"pnorm_lms": "p-norm LMS, p = 2 ln n"}
"""The algorithm of the theorems, with the p of the slides."""
EXACT: dict[str, Any] = {"color": style.COLOURS["silver"], "linewidth": 5, "alpha": 0.6, "zorder": 1.2}
THIN: dict[str, Any] = {"linewidth": 0.8, "marker": "", "alpha": 0.9}


def entries(filters: list[str], named: names.Methods | None = None) -> list[Any]:
    """Legend entries with the artifact's labels, else those of the algorithms of the theorems."""
    own = named or {}
    labels = {f: names.label(own, f) if f in own else AUTO_P.get(f, style.label(f)) for f in filters}
    return [panels.handles([f], label=label)[0] for f, label in labels.items()]


def _against_n(ax: "Axes", rows: "pd.DataFrame") -> None:
    """Loss against n with intervals, its bound as a thin line."""
    for metric, looks in (("filtering_bound", THIN), ("filtering_loss", {})):
        panels.learning_curves(ax, rows[rows["metric"] == metric], **looks)
    ax.set_xscale("log", base=2)
    sizes = sorted(rows["x"].unique())
    ax.set_xticks(sizes, [f"{n:g}" for n in sizes])
    ax.minorticks_off()


@panels.figure
def sparsity(results: panels.Results[Any]) -> "Figure":
    """Filtering loss against n for two tasks, and over p and the sparsity of the target."""
    name, table, settings = results.artifact, results.table, results.settings_of
    comparison, between = settings[name]["comparison"], settings[name]["interpolation"]
    tasks = list(comparison["tasks"])
    known = {"sparse target": "one weight, ±1 instances", "dense target": "n weights, unit instances"}
    titles = [*(known.get(t, t) for t in tasks), f"k equal weights, n = {between['n']}"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="inputs n", y_label="filtering loss", height=2.9, left=0.8, share_y="none",
        width=style.WIDTH[3] + 1.0,
    )  # fmt: skip
    for ax, task in zip(axes[0], tasks, strict=False):
        _against_n(ax, panels.select(table, name, setting=task))
        panels.log_axis(ax.yaxis)
    losses = panels.select(table, name, metric="filtering_loss", setting=[f"k={k}" for k in between["ones"]])
    _heat_map(axes[0, -1], losses, between["n"], between["ones"])
    compared = panels.methods_in(panels.select(table, name, metric="filtering_loss", setting=tasks))
    bound = panels.plain_handle("bound", linewidth=0.8)
    panels.shared_legend(figure, [*entries(compared), bound])
    return figure


def _heat_map(ax: "Axes", losses: "pd.DataFrame", n: int, ones: list[int]) -> None:
    """Mean filtering loss over p and sparsity; colours relative to the smallest of the column."""
    means = losses.pivot_table(index="x", columns="setting", values="value", aggfunc="mean").sort_index()
    values = means[[f"k={k}" for k in ones]].to_numpy()
    relative = np.log2(values / values.min(axis=0))
    ax.grid(False)
    image = ax.imshow(relative, cmap="cividis_r", aspect="auto", origin="lower", vmin=0, vmax=4)
    for (i, j), value in np.ndenumerate(values):
        best = relative[i, j] == 0
        frame = {"boxstyle": "square,pad=0.2", "fill": False, "linewidth": 1.2} if best else None
        looks: dict[str, Any] = {"color": "white" if relative[i, j] > 2 else "black", "bbox": frame}
        text = f"{value:.0f}" if value >= 100 else f"{value:.1f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=7.5, **looks)
    auto = 2 * math.log(n)
    ax.set_yticks(range(len(values)), ["2 ln n" if abs(p - auto) < 1e-6 else f"{p:g}" for p in means.index])
    ax.set_xticks(range(len(ones)), [str(k) for k in ones])
    ax.set(xlabel="non-zero weights k")
    ax.set_ylabel("p", labelpad=-8)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    box = ax.get_position()
    ax.set_position((box.x0, box.y0, box.width * 0.84, box.height))
    figure = ax.figure
    place = (box.x0 + box.width * 0.87, box.y0, box.width * 0.035, box.height)
    bar = figure.colorbar(image, cax=figure.add_axes(place))
    bar.set_ticks(range(5), labels=["best", "2×", "4×", "8×", "16×"])
    bar.ax.tick_params(length=2, pad=2)
    bar.outline.set_visible(False)


def _hadamard_panel(ax: "Axes", rows: "pd.DataFrame", n: int) -> None:
    """Error after k rows with the exact line of LMS and ln n / k."""
    k = np.arange(1, n + 1)
    ax.plot(k, np.minimum(math.log(n) / k, 2), color="black", linewidth=0.9, linestyle=style.DASHES["dot"])
    for method in panels.methods_in(rows):
        chosen = rows[rows["method"] == method]
        means = panels.mean_interval(chosen[chosen["x"] >= 1], ["x"]).sort_index()
        panels.curve(ax, means.index, means["mean"], means["half_width"], method)
    ax.plot(k, 1 - k / n, **EXACT)
    ax.set_xscale("log", base=2)
    ax.set_ylim(-0.03, 1.1)
    ticks = [2**i for i in range(0, int(math.log2(n)) + 1, 2 if n > 64 else 1)]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.minorticks_off()


@panels.figure
def hadamard(results: panels.Results[Any]) -> "Figure":
    """Error over all rows after k of them; a panel for each n."""
    name, table, settings = results.artifact, results.table, results.settings_of
    sizes = settings[name]["sizes"]
    figure, axes = panels.grid_of_panels(
        [""], [f"n = {n}" for n in sizes], x_label="rows seen k", y_label="error on all rows", height=2.5,
        width=style.WIDTH[3], share_y="row",
    )  # fmt: skip
    for ax, n in zip(axes[0], sizes, strict=True):
        _hadamard_panel(ax, panels.select(table, name, metric="error", setting=f"n={n}"), n)
    lines = [panels.plain_handle("ln n / k", color="black", linewidth=0.9, linestyle=style.DASHES["dot"])]
    exact = panels.plain_handle("1 − k/n", **EXACT)
    compared = panels.methods_in(panels.select(table, name, metric="error"))
    panels.shared_legend(figure, [*entries(compared), *lines, exact])
    return figure


def _room_panel(ax: "Axes", rows: "pd.DataFrame") -> None:
    """Misalignment in dB against the seconds of speech heard."""
    for method in panels.methods_in(rows):
        means = panels.mean_interval(rows[rows["method"] == method], ["x"]).sort_index()
        panels.curve(ax, means.index, means["mean"], means["half_width"], method)


@panels.figure
def room(results: panels.Results[Any]) -> "Figure":
    """Misalignment over time, a column for each room; below, the responses looked for."""
    name, table, settings = results.artifact, results.table, results.settings_of
    rooms = list(settings[name]["rooms"])
    figure, axes = panels.grid_of_panels(
        [""], rooms, x_label="speech heard / s", y_label="misalignment / dB", height=2.6, bottom=1.55
    )
    height = figure.get_size_inches()[1]
    for ax, place in zip(axes[0], rooms, strict=True):
        rows = panels.select(table, name, noise=place)
        _room_panel(ax, rows[rows["metric"] == "misalignment"])
        response = rows[rows["metric"] == "tap"].sort_values("x")
        box = ax.get_position()
        below = figure.add_axes((box.x0, 0.42 / height, box.width, 0.62 / height))
        below.vlines(response["x"], 0, response["value"], color="black", linewidth=0.8)
        below.set_xlabel("tap of the response")
        below.set_ylim(-1, 1)
        below.tick_params(labelleft=ax is axes[0, 0])
        below.set_ylabel("response" if ax is axes[0, 0] else "")
    named = settings[name]["methods"]
    panels.shared_legend(figure, entries(list(named), named))
    return figure


@panels.figure
def overview(results: panels.Results[Any]) -> "Figure":
    """The picture to share: Hadamard rows, a sparse target against n, and a room response from speech."""
    n = max(results.settings_of["hadamard"]["sizes"])
    place = next(iter(results.settings_of["room"]["rooms"]))
    titles = [
        f"error on all {n} Hadamard rows",
        "filtering loss, sparse target",
        f"misalignment / dB, {place}",
    ]
    figure, axes = panels.grid_of_panels([""], titles, x_label="", y_label="", height=2.7, share_y="none")
    left, middle, right = axes[0]
    errors = panels.select(results.tables["hadamard"], "hadamard", metric="error", setting=f"n={n}")
    _hadamard_panel(left, errors, n)
    left.set(xlabel="rows seen k")
    sparse = panels.select(results.tables["sparsity"], "sparsity", setting="sparse target")
    _against_n(middle, sparse)
    panels.log_axis(middle.yaxis)
    middle.set(xlabel="inputs n; thin: bounds")
    _room_panel(right, panels.select(results.tables["room"], "room", metric="misalignment", noise=place))
    right.set(xlabel="speech heard / s")
    lines = [
        panels.plain_handle("ln n / k", color="black", linewidth=0.9, linestyle=style.DASHES["dot"]),
        panels.plain_handle("1 − k/n", **EXACT),
    ]
    losses, named = sparse[sparse["metric"] == "filtering_loss"], results.settings_of["room"]["methods"]
    drawn = dict.fromkeys([*panels.methods_in(errors), *panels.methods_in(losses), *named])
    panels.shared_legend(figure, [*entries(list(drawn), named), *lines])
    return figure
