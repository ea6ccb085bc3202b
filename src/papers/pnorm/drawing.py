"""Figures of the p-norm LMS slides (Kivinen, Warmuth, Hassibi): losses, bounds and comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.show import names, panels, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pnorm import code

AUTO_P = {"pnorm_lms": "p-norm LMS, p = 2 ln n"}
"""The algorithm of the theorems, with the p of the slides."""
EXACT: style.Looks = {"color": style.COLOURS["silver"], "linewidth": 5, "alpha": 0.6, "zorder": 1.2}
THIN: style.Looks = {"linewidth": 0.8, "marker": "", "alpha": 0.9}
DOTTED: style.Looks = {"linewidth": 0.9, "linestyle": style.DASHES["dot"]}
DASHED: style.Looks = {"color": "black", "linewidth": 0.9, "linestyle": style.DASHES["dash"]}
LN_N: style.Looks = DOTTED | {"color": "black"}


def entries(filters: list[str], named: names.Methods | None = None) -> list[Any]:
    """Make legend entries with the artifact's labels, else with the names of the algorithms."""
    own = named or {}
    labels = {f: names.label(own, f) if f in own else AUTO_P.get(f, style.label(f)) for f in filters}
    return [panels.handles([f], label=label)[0] for f, label in labels.items()]


def _with_bound(ax: Axes, rows: pd.DataFrame, loss: str, bound: str) -> None:
    """Draw a metric with intervals, and its bound as a thin line."""
    for metric, looks in ((bound, THIN), (loss, {})):
        panels.learning_curves(ax, rows[rows["metric"] == metric], **looks)


def _against_n(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the loss against n with its bound, on log scales."""
    _with_bound(ax, rows, "filtering_loss", "filtering_bound")
    ax.set_xscale("log", base=2)
    sizes = sorted(rows["x"].unique())
    ax.set_xticks(sizes, [f"{n:g}" for n in sizes])
    ax.minorticks_off()
    panels.log_axis(ax.yaxis)


@panels.figure
def sparsity(results: panels.Results[code.SparsitySettings]) -> Figure:
    """Draw the filtering loss against n for two tasks, and over p and the target's sparsity."""
    between = results.settings.interpolation
    tasks = list(results.settings.comparison.tasks)
    known = {"sparse target": "one weight, ±1 instances", "dense target": "n weights, unit vectors"}
    titles = [*(known.get(t, t) for t in tasks), f"k equal weights, n = {between.n}"]
    x_label = ["inputs n"] * len(tasks) + ["non-zero weights k"]
    width = style.WIDTH[3] + 1.0
    look: style.Looks = {"y_label": "filtering loss", "height": 2.9, "left": 0.8}
    figure, axes = panels.side_by_side(titles, x_label=x_label, width=width, **look)
    for ax, task in zip(axes, tasks, strict=False):
        _against_n(ax, results.select(setting=task))
    losses = results.select(metric="filtering_loss", setting=[f"k={k}" for k in between.ones])
    _heat_map(axes[-1], losses, between.n, between.ones)
    compared = panels.methods_in(results.select(metric="filtering_loss", setting=tasks))
    return panels.shared_legend(figure, [*entries(compared), panels.plain_handle("bound", linewidth=0.8)])


def _heat_map(ax: Axes, losses: pd.DataFrame, n: int, ones: list[int]) -> None:
    """Draw the mean filtering loss over p and sparsity, relative to the smallest of each column."""
    means = losses.pivot_table(index="x", columns="setting", values="value", aggfunc="mean").sort_index()
    values = means[[f"k={k}" for k in ones]].to_numpy()
    relative = np.log2(values / values.min(axis=0))
    ax.grid(False)
    image = ax.imshow(relative, cmap="cividis_r", aspect="auto", origin="lower", vmin=0, vmax=4)
    for (i, j), value in np.ndenumerate(values):
        best = relative[i, j] == 0
        frame = {"boxstyle": "square,pad=0.2", "fill": False, "linewidth": 1.2} if best else None
        looks: style.Looks = {"color": "white" if relative[i, j] > 2 else "black", "bbox": frame}
        text = f"{value:.0f}" if value >= 100 else f"{value:.1f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=7.5, **looks)
    auto = 2 * math.log(n)
    ax.set_yticks(range(len(values)), ["2 ln n" if abs(p - auto) < 1e-6 else f"{p:g}" for p in means.index])
    ax.set_xticks(range(len(ones)), [str(k) for k in ones])
    ax.set_ylabel("p", labelpad=-8)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    box = ax.get_position()
    ax.set_position((box.x0, box.y0, box.width * 0.84, box.height))
    place = (box.x0 + box.width * 0.87, box.y0, box.width * 0.035, box.height)
    bar = ax.figure.colorbar(image, cax=ax.figure.add_axes(place))
    bar.set_ticks(range(5), labels=["best", "2×", "4×", "8×", "16×"])
    bar.ax.tick_params(length=2, pad=2)
    bar.outline.set_visible(False)


def _hadamard_panel(ax: Axes, rows: pd.DataFrame, n: int) -> None:
    """Draw the error after k rows, with the exact line of LMS and ln n / k."""
    k = np.arange(1, n + 1)
    ax.plot(k, np.minimum(math.log(n) / k, 2), **LN_N)
    _mean_curves(ax, rows[rows["x"] >= 1])
    ax.plot(k, 1 - k / n, **EXACT)
    ax.set_xscale("log", base=2)
    ax.set_ylim(-0.03, 1.1)
    ticks = [2**i for i in range(0, int(math.log2(n)) + 1, 2 if n > 64 else 1)]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.minorticks_off()


@panels.figure
def hadamard(results: panels.Results[code.HadamardSettings]) -> Figure:
    """Draw the error over all rows after k of them, a panel for each n."""
    sizes = results.settings.sizes
    look: style.Looks = {"y_label": "error on all rows", "height": 2.5, "width": style.WIDTH[3]}
    titles = [f"n = {n}" for n in sizes]
    figure, axes = panels.side_by_side(titles, x_label="rows seen k", share_y="row", **look)
    for ax, n in zip(axes, sizes, strict=True):
        _hadamard_panel(ax, results.select(metric="error", setting=f"n={n}"), n)
    compared = panels.methods_in(results.select(metric="error"))
    return panels.shared_legend(figure, [*entries(compared), *_hadamard_lines()])


def _hadamard_lines() -> list[Any]:
    return [panels.plain_handle("ln n / k", **LN_N), panels.plain_handle("1 − k/n", **EXACT)]


def _mean_curves(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the mean over x of every method in its band, without single runs."""
    for method in panels.methods_in(rows):
        panels.mean_curve(ax, rows[rows["method"] == method], method)


@panels.figure
def room(results: panels.Results[code.RoomSettings]) -> Figure:
    """Draw misalignment over time, a column for each room; below, the responses."""
    rooms = list(results.settings.rooms)
    named = results.settings.methods
    look: style.Looks = {"y_label": "misalignment / dB", "height": 2.6, "bottom": 1.55, "share_y": "row"}
    figure, axes = panels.side_by_side(rooms, x_label="speech heard / s", **look)
    height = figure.get_size_inches()[1]
    for ax, place in zip(axes, rooms, strict=True):
        rows = results.select(noise=place)
        _mean_curves(ax, rows[rows["metric"] == "misalignment"])
        response = rows[rows["metric"] == "tap"].sort_values("x")
        box = ax.get_position()
        below = figure.add_axes((box.x0, 0.42 / height, box.width, 0.62 / height))
        below.vlines(response["x"], 0, response["value"], color="black", linewidth=0.8)
        below.set(xlabel="tap of the response", ylim=(-1, 1), ylabel="response" if ax is axes[0] else "")
        below.tick_params(labelleft=ax is axes[0])
    return panels.shared_legend(figure, entries(list(named), named))


@panels.figure
def overview(results: panels.Results[Any]) -> Figure:
    """Draw the picture to share: Hadamard rows, a sparse target, and a room response."""
    n = max(results.settings_of["hadamard"].sizes)
    room = results.settings_of["room"]
    place = next(iter(room.rooms))
    titles = {
        f"all {n} Hadamard rows": "rows seen k",
        "sparse target": "inputs n; thin: bounds",
        f"room response, {place}": "speech heard / s",
    }
    x_label = list(titles.values())
    y_label = ["squared error", "filtering loss", "misalignment / dB"]
    figure, (left, middle, right) = panels.side_by_side(
        list(titles), x_label=x_label, y_label=y_label, height=2.7
    )
    errors = panels.select(results.tables["hadamard"], "hadamard", metric="error", setting=f"n={n}")
    _hadamard_panel(left, errors, n)
    sparse = panels.select(results.tables["sparsity"], "sparsity", setting="sparse target")
    _against_n(middle, sparse)
    _mean_curves(right, panels.select(results.tables["room"], "room", metric="misalignment", noise=place))
    losses = sparse[sparse["metric"] == "filtering_loss"]
    drawn = dict.fromkeys([*panels.methods_in(errors), *panels.methods_in(losses), *room.methods])
    return panels.shared_legend(figure, [*entries(list(drawn), room.methods), *_hadamard_lines()])


KINDS = {"gaussian": "Gaussian rows", "signs": "±1 rows", "heavy": "heavy-tailed rows", "unit": "unit rows"}


@panels.figure
def bounds(results: panels.Results[code.BoundsSettings]) -> Figure:
    """Draw histograms of ratio and slack, the expected bound, and the loss over alpha."""
    from matplotlib.figure import Figure

    own = results.settings
    expected = results.select(setting="expected")
    figure = Figure(figsize=(style.WIDTH[3], 5.2))
    noises = [f"sd {sd:g}" for sd in own.prediction.noises]
    kinds = own.filtering.instances
    top = _strip(figure, 3, 0.60)
    below = _strip(figure, len(noises), 0.09)
    _histograms(top[0], top[1], results, kinds)
    ax, eps = top[2], own.expected.noise**2
    _with_bound(ax, expected, "mean_loss", "expected_bound")
    ax.set_xscale("log")
    panels.log_axis(ax.yaxis)
    ax.axhline(eps, **DASHED)
    ax.text(2.2, eps * 0.45, "noise variance", fontsize=8)
    ax.set(title="mean filtering loss, white noise", xlabel="rounds T")
    for ax, noise in zip(below, noises, strict=True):
        _prediction(ax, results.select(noise=noise, setting=["grid", "tuned"]), own.prediction.rounds)
        ax.set(title=f"prediction, noise {noise}", xlabel="α")
    steps = [panels.plain_handle(KINDS[kind], **look) for kind, look in _shades(kinds).items()]
    more = [panels.plain_handle("bound", linewidth=0.8), panels.plain_handle("α*", **DOTTED), *steps]
    return panels.shared_legend(figure, [*entries(panels.methods_in(expected)), *more])


def _strip(figure: Figure, count: int, bottom: float) -> list[Axes]:
    """Make a row of `count` panels at a height, each with room for its labels."""
    width = (0.99 - 0.06 - 0.055 * (count - 1)) / count
    return [figure.add_axes((0.06 + i * (width + 0.055), bottom, width, 0.345)) for i in range(count)]


def _shades(kinds: Sequence[str]) -> dict[str, style.Looks]:
    looks = (("indigo", "solid"), ("teal", "short"), ("orange", "dashdot"), ("grey", "dot"))
    lines = [{"color": style.COLOURS[colour], "linestyle": style.DASHES[dash]} for colour, dash in looks]
    return dict(zip(kinds, lines, strict=False))


def _histograms(left: Axes, right: Axes, results: panels.Results[Any], kinds: Sequence[str]) -> None:
    """Draw how many configurations have each ratio, and each smallest slack of a step."""
    ratios = results.select(metric="filtering_ratio", setting=kinds)
    slack = results.select(metric="smallest_step_slack")
    logs = slack.assign(value=np.log10(np.maximum(slack["value"], 1e-16)))
    for ax, rows, bins in ((left, ratios, np.linspace(0, 1.05, 22)), (right, logs, np.linspace(-16, 0, 17))):
        for kind, look in _shades(kinds).items():
            values = rows.loc[rows["setting"] == kind, "value"]
            ax.hist(values, bins=list(bins), histtype="step", linewidth=1.4, **look)
    left.axvline(1, color="black", linewidth=1.1)
    most = left.get_ylim()[1]
    largest = float(ratios["value"].max())
    left.text(0.985, most * 0.93, "bound", ha="right", fontsize=8)
    arrow: style.Looks = {"arrowprops": {"arrowstyle": "->", "linewidth": 0.7}, "ha": "right", "fontsize": 8}
    left.annotate(f"largest {largest:.2f}", (largest, most * 0.03), (largest, most * 0.45), **arrow)
    left.set(title="filtering loss / bound", xlabel="ratio of a run", ylabel="configurations")
    right.set(title="smallest slack of a step", xlabel="log10 (slack / initial divergence)")


def _prediction(ax: Axes, rows: pd.DataFrame, rounds: int) -> None:
    """Draw the prediction loss per round and its bound over alpha."""
    rows = rows.assign(value=rows["value"].where(rows["metric"] == "alpha", rows["value"] / rounds))
    _with_bound(ax, rows[rows["setting"] == "grid"], "prediction_loss", "prediction_bound")
    for method in rows["method"].unique():
        best = rows.loc[(rows["metric"] == "alpha") & (rows["method"] == method), "value"].mean()
        ax.axvline(best, color=style.colour(method), **DOTTED)
    ax.set_xscale("log")
    panels.log_axis(ax.yaxis)
    ax.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])


@panels.figure
def hinfinity(results: panels.Results[code.HInfinitySettings]) -> Figure:
    """Draw the exact worst ratio over T, the adversaries, and the best of gradient ascent."""
    own = results.settings
    titles = ["all targets and noise (exact)", "silent adversary", "gradient ascent, p > 2"]
    x_label = ["rows T", "rows T", f"best of {own.starts} starts, T = {own.ascent_rounds}"]
    figure, axes = panels.side_by_side(titles, x_label=x_label, y_label="ratio", height=2.5)
    left, middle, right = axes
    exact, silent = (results.select(setting=each) for each in ("worst u and noise", "silent adversary"))
    for ax, rows, looks, place in (
        (left, exact, _step_looks(own.steps), "lower left"),
        (middle, silent, _power_looks(silent["method"].unique()), "lower right"),
    ):
        for method, line in looks.items():  # this look of a mean over x has no label in the legend
            means = panels.mean_interval(rows[rows["method"] == method], ["x"]).sort_index()
            low, high = means["mean"] - means["half_width"], means["mean"] + means["half_width"]
            ax.plot(means.index, means["mean"], **line)
            ax.fill_between(means.index, low, high, color=line["color"], alpha=0.18, linewidth=0)
        ax.set_ylim(0, None)
        ax.set_xscale("log")
        ax.legend(loc=place, fontsize=7.5, handlelength=2.6)
    ascent = results.select(setting="ascent")
    filters = panels.methods_in(ascent)
    for i, (method, line) in enumerate(_power_looks(filters).items()):
        values = ascent.loc[ascent["method"] == method, "value"].to_numpy()
        x = i + np.linspace(-0.18, 0.18, len(values))
        dots: style.Looks = {"linestyle": "none", "marker": line["marker"], "color": line["color"]}
        right.plot(x, values, markersize=4.2, **dots)
    right.set_xticks(range(len(filters)), [style.label(each) for each in filters])
    right.set(xlim=(-0.5, len(filters) - 0.5), ylim=(0, 1.08))
    for ax in axes:
        ax.axhline(1, zorder=1.2, **DASHED)
    middle.set_ylim(0, 1.08)
    left.set_xticks(own.rounds, [str(t) for t in own.rounds])
    left.minorticks_off()
    return figure


def _step_looks(steps: list[float]) -> dict[str, style.Looks]:
    base = style.line("lms")
    marks = iter("^vD")
    looks = dict[str, style.Looks]()
    for s in steps:
        if s == 1:
            looks["lms"] = base | {"label": "LMS, η = 1/X²"}
        else:
            colour, dash = ("violet", "dash") if s > 1 else ("sky", "short")
            line = {"color": style.COLOURS[colour], "linestyle": style.DASHES[dash], "marker": next(marks)}
            looks[f"lms x {s:g}"] = base | line | {"label": f"LMS, η = {s:g}/X²"}
    return looks | {"rls": style.line("rls") | {"label": "RLS"}}


def _power_looks(filters: Any) -> dict[str, style.Looks]:
    looks = {"lms": style.line("lms") | {"label": "LMS (p = 2)"}} if "lms" in filters else {}
    colours, dashes = ("orange", "vermillion", "wine", "indigo"), ("dash", "solid", "short", "dot")
    others = (f for f in filters if f != "lms")
    for f, colour, dash, marker in zip(others, colours, dashes, "^oDv", strict=False):
        line = {"color": style.COLOURS[colour], "linestyle": style.DASHES[dash], "marker": marker}
        looks[f] = style.line("pnorm_lms") | line | {"label": f.replace("=", " = ")}
    return looks


@panels.figure
def moving_targets(results: panels.Results[code.MovingSettings]) -> Figure:
    """Draw the tracking error for jump and drift, and the loss against the price of the path."""
    titles = ["jump", "drift", "1 to 16 jumps"]
    x_label = ["round t", "round t", "the bound's term for the path / 1000"]
    y_label = ["squared tracking error", "squared tracking error", "(loss − noise) / 1000"]
    figure, axes = panels.side_by_side(titles, x_label=x_label, y_label=y_label, height=2.5)
    tracking = results.select(metric="tracking_error")
    for ax, scenario in zip(axes, ("jumps 1", "drift"), strict=False):
        for setting, looks in (("U=1 eta=0.2", THIN), ("U=1 eta=1", {})):
            rows = panels.select(tracking, results.artifact, noise=scenario, setting=setting)
            panels.learning_curves(ax, rows, **looks)
        panels.log_axis(ax.yaxis)
        ax.ticklabel_format(axis="x", useOffset=False)
        ax.tick_params(axis="x", labelrotation=0)
        ax.locator_params(axis="x", nbins=4)
    own = results.select(setting="U=1 eta=1", metric=["path_price", "excess_loss"])
    own = own[own["noise"].str.startswith("jumps")]
    for method in panels.methods_in(own):
        means = panels.mean_interval(own[own["method"] == method], ["metric", "noise"]) / 1000
        x = means.loc["path_price"]["mean"].sort_values()
        excess = means.loc["excess_loss"]
        panels.curve(axes[2], x, excess["mean"][x.index], excess["half_width"][x.index], method)
    limit = axes[2].get_xlim()[1]
    axes[2].plot([0, limit], [0, limit], **DASHED)
    axes[2].text(limit * 0.52, limit * 0.56, "slope of the bound", ha="right", fontsize=8)
    fifth = panels.plain_handle("thin: a fifth of the theorem's step", linewidth=0.8)
    return panels.shared_legend(figure, [*entries(panels.methods_in(tracking)), fifth])
