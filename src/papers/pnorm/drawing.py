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
    labelled = named or {}
    handles = []
    for f in filters:
        if f in labelled:
            label = names.label(labelled, f)
        else:
            label = AUTO_P.get(f, style.label(f))
        handles += panels.handles([f], label=label)
    return handles


def _with_bound(ax: Axes, rows: pd.DataFrame, loss: str, bound: str) -> None:
    """Draw a metric with intervals, and its bound as a thin line."""
    bounds_of_rows = rows[rows["metric"] == bound]
    panels.learning_curves(ax, bounds_of_rows, **THIN)
    losses = rows[rows["metric"] == loss]
    panels.learning_curves(ax, losses)


def _against_n(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the loss against n with its bound, on log scales."""
    _with_bound(ax, rows, "filtering_loss", "filtering_bound")
    ax.set_xscale("log", base=2)
    sizes = sorted(rows["x"].unique())
    ax.set_xticks(sizes, [f"{n:g}" for n in sizes])
    ax.minorticks_off()
    panels.log_axis(ax.yaxis)


TITLES_OF_TASKS = {
    "sparse target": "one weight, ±1 instances",
    "dense target": "n weights, unit vectors",
}


@panels.figure
def sparsity(results: panels.Results[code.SparsitySettings]) -> Figure:
    """Draw the filtering loss against n for two tasks, and over p and the target's sparsity."""
    interpolation = results.settings.interpolation
    tasks = list(results.settings.comparison.tasks)
    titles = [TITLES_OF_TASKS.get(task, task) for task in tasks]
    x_labels = ["inputs n"] * len(tasks)
    titles.append(f"k equal weights, n = {interpolation.n}")
    x_labels.append("non-zero weights k")
    width = style.WIDTH[3] + 1.0
    look: style.Looks = {"y_label": "filtering loss", "height": 2.9, "left": 0.8}
    figure, axes = panels.side_by_side(titles, x_label=x_labels, width=width, **look)
    for ax, task in zip(axes, tasks, strict=False):
        rows = results.select(setting=task)
        _against_n(ax, rows)
    sparsities = [f"k={k}" for k in interpolation.ones]
    losses = results.select(metric="filtering_loss", setting=sparsities)
    _heat_map(axes[-1], losses, interpolation.n, interpolation.ones)
    compared = results.select(metric="filtering_loss", setting=tasks)
    handles = entries(panels.methods_in(compared))
    handles.append(panels.plain_handle("bound", linewidth=0.8))
    return panels.shared_legend(figure, handles)


FRAME = {"boxstyle": "square,pad=0.2", "fill": False, "linewidth": 1.2}
"""Look of the frame around the smallest loss of a column."""


def _heat_map(ax: Axes, losses: pd.DataFrame, n: int, counts: list[int]) -> None:
    """Draw the mean filtering loss over p and sparsity, relative to the smallest of each column."""
    means = losses.pivot_table(index="x", columns="setting", values="value", aggfunc="mean")
    means = means.sort_index()
    values = means[[f"k={k}" for k in counts]].to_numpy()
    smallest = values.min(axis=0)
    relative = np.log2(values / smallest)
    ax.grid(False)
    look: style.Looks = {"cmap": "cividis_r", "vmin": 0, "vmax": 4}
    image = ax.imshow(relative, aspect="auto", origin="lower", **look)
    for (i, j), value in np.ndenumerate(values):
        _write_loss(ax, (j, i), value, relative[i, j])
    auto = 2 * math.log(n)
    power_labels = ["2 ln n" if abs(p - auto) < 1e-6 else f"{p:g}" for p in means.index]
    ax.set_yticks(range(len(values)), power_labels)
    ax.set_xticks(range(len(counts)), [str(k) for k in counts])
    ax.set_ylabel("p", labelpad=-8)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    _add_colour_bar(ax, image)


def _write_loss(ax: Axes, xy: tuple[int, int], loss: float, relative: float) -> None:
    """Write a loss into its cell of the map, the smallest of a column in a frame."""
    text = f"{loss:.0f}" if loss >= 100 else f"{loss:.1f}"
    look: style.Looks = {
        "color": "white" if relative > 2 else "black",
        "bbox": FRAME if relative == 0 else None,
    }
    x, y = xy
    ax.text(x, y, text, ha="center", va="center", fontsize=7.5, **look)


def _add_colour_bar(ax: Axes, image: Any) -> None:
    """Make the panel of the map narrower, and add its colour bar on the right."""
    box = ax.get_position()
    ax.set_position((box.x0, box.y0, box.width * 0.84, box.height))
    left = box.x0 + box.width * 0.87
    width = box.width * 0.035
    bar_axes = ax.figure.add_axes((left, box.y0, width, box.height))
    bar = ax.figure.colorbar(image, cax=bar_axes)
    bar.set_ticks(range(5), labels=["best", "2×", "4×", "8×", "16×"])
    bar.ax.tick_params(length=2, pad=2)
    bar.outline.set_visible(False)


def _hadamard_panel(ax: Axes, rows: pd.DataFrame, n: int) -> None:
    """Draw the error after k rows, with the exact line of LMS and ln n / k."""
    k = np.arange(1, n + 1)
    approximate = np.minimum(math.log(n) / k, 2)
    ax.plot(k, approximate, **LN_N)
    _mean_curves(ax, rows[rows["x"] >= 1])
    exact = 1 - k / n
    ax.plot(k, exact, **EXACT)
    ax.set_xscale("log", base=2)
    ax.set_ylim(-0.03, 1.1)
    largest_power = int(math.log2(n))
    step = 2 if n > 64 else 1
    ticks = [2**i for i in range(0, largest_power + 1, step)]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()


@panels.figure
def hadamard(results: panels.Results[code.HadamardSettings]) -> Figure:
    """Draw the error over all rows after k of them, a panel for each n."""
    sizes = results.settings.sizes
    titles = [f"n = {n}" for n in sizes]
    labels: style.Looks = {"x_label": "rows seen k", "y_label": "error on all rows"}
    size: style.Looks = {"height": 2.5, "width": style.WIDTH[3]}
    figure, axes = panels.side_by_side(titles, share_y="row", **labels, **size)
    for ax, n in zip(axes, sizes, strict=True):
        rows = results.select(metric="error", setting=f"n={n}")
        _hadamard_panel(ax, rows, n)
    errors = results.select(metric="error")
    handles = entries(panels.methods_in(errors))
    handles += _hadamard_lines()
    return panels.shared_legend(figure, handles)


def _hadamard_lines() -> list[Any]:
    return [panels.plain_handle("ln n / k", **LN_N), panels.plain_handle("1 − k/n", **EXACT)]


def _mean_curves(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the mean over x of every method in its band, without single runs."""
    for method in panels.methods_in(rows):
        of_method = rows[rows["method"] == method]
        panels.mean_curve(ax, of_method, method)


@panels.figure
def room(results: panels.Results[code.RoomSettings]) -> Figure:
    """Draw misalignment over time, a column for each room; below, the responses."""
    rooms = list(results.settings.rooms)
    named = results.settings.methods
    labels: style.Looks = {"x_label": "speech heard / s", "y_label": "misalignment / dB"}
    figure, axes = panels.side_by_side(rooms, share_y="row", height=2.6, bottom=1.55, **labels)
    for ax, name in zip(axes, rooms, strict=True):
        rows = results.select(noise=name)
        levels = rows[rows["metric"] == "misalignment"]
        _mean_curves(ax, levels)
        response = rows[rows["metric"] == "tap"].sort_values("x")
        _draw_response(ax, response, is_first=ax is axes[0])
    return panels.shared_legend(figure, entries(list(named), named))


RESPONSE_BOTTOM = 0.42
RESPONSE_HEIGHT = 0.62
"""Place of the responses of the rooms below their panels, inches."""


def _draw_response(ax: Axes, response: pd.DataFrame, *, is_first: bool) -> None:
    """Draw the response of a room in a panel of its own below."""
    figure: Any = ax.figure
    height = figure.get_size_inches()[1]
    box = ax.get_position()
    bottom = RESPONSE_BOTTOM / height
    lower = figure.add_axes((box.x0, bottom, box.width, RESPONSE_HEIGHT / height))
    lower.vlines(response["x"], 0, response["value"], color="black", linewidth=0.8)
    y_label = "response" if is_first else ""
    lower.set(xlabel="tap of the response", ylim=(-1, 1), ylabel=y_label)
    lower.tick_params(labelleft=is_first)


@panels.figure
def overview(results: panels.Results[Any]) -> Figure:
    """Draw the picture to share: Hadamard rows, a sparse target, and a room response."""
    n = max(results.settings_of["hadamard"].sizes)
    room_settings = results.settings_of["room"]
    name = next(iter(room_settings.rooms))
    x_labels_of_titles = {
        f"all {n} Hadamard rows": "rows seen k",
        "sparse target": "inputs n; thin: bounds",
        f"room response, {name}": "speech heard / s",
    }
    titles = list(x_labels_of_titles)
    x_labels = list(x_labels_of_titles.values())
    y_labels = ["squared error", "filtering loss", "misalignment / dB"]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label=y_labels, height=2.7)
    left, middle, right = axes
    tables = results.tables
    errors = panels.select(tables["hadamard"], "hadamard", metric="error", setting=f"n={n}")
    _hadamard_panel(left, errors, n)
    sparse = panels.select(tables["sparsity"], "sparsity", setting="sparse target")
    _against_n(middle, sparse)
    levels = panels.select(tables["room"], "room", metric="misalignment", noise=name)
    _mean_curves(right, levels)
    losses = sparse[sparse["metric"] == "filtering_loss"]
    methods = panels.methods_in(errors)
    methods += panels.methods_in(losses)
    methods += room_settings.methods
    without_repeats = list(dict.fromkeys(methods))
    handles = entries(without_repeats, room_settings.methods)
    handles += _hadamard_lines()
    return panels.shared_legend(figure, handles)


KINDS = {
    "gaussian": "Gaussian rows",
    "signs": "±1 rows",
    "heavy": "heavy-tailed rows",
    "unit": "unit rows",
}


@panels.figure
def bounds(results: panels.Results[code.BoundsSettings]) -> Figure:
    """Draw histograms of ratio and slack, the expected bound, and the loss over alpha."""
    from matplotlib.figure import Figure

    settings = results.settings
    expected = results.select(setting="expected")
    figure = Figure(figsize=(style.WIDTH[3], 5.2))
    noises = [f"sd {sd:g}" for sd in settings.prediction.noises]
    kinds = settings.filtering.instances
    upper = _strip(figure, 3, 0.60)
    lower = _strip(figure, len(noises), 0.09)
    _histograms(upper[0], upper[1], results, kinds)
    _draw_expected(upper[2], expected, settings.expected.noise)
    for ax, noise in zip(lower, noises, strict=True):
        rows = results.select(noise=noise, setting=["grid", "tuned"])
        _prediction(ax, rows, settings.prediction.rounds)
        ax.set(title=f"prediction, noise {noise}", xlabel="α")
    handles = entries(panels.methods_in(expected))
    handles.append(panels.plain_handle("bound", linewidth=0.8))
    handles.append(panels.plain_handle("α*", **DOTTED))
    for kind, look in _shades(kinds).items():
        handles.append(panels.plain_handle(KINDS[kind], **look))
    return panels.shared_legend(figure, handles)


def _draw_expected(ax: Axes, rows: pd.DataFrame, noise: float) -> None:
    """Draw the mean filtering loss against the rounds, with its bound and the noise variance."""
    _with_bound(ax, rows, "mean_loss", "expected_bound")
    ax.set_xscale("log")
    panels.log_axis(ax.yaxis)
    variance = noise**2
    ax.axhline(variance, **DASHED)
    ax.text(2.2, variance * 0.45, "noise variance", fontsize=8)
    ax.set(title="mean filtering loss, white noise", xlabel="rounds T")


STRIP_LEFT = 0.06
STRIP_RIGHT = 0.99
STRIP_GAP = 0.055
STRIP_HEIGHT = 0.345
"""Place of the panels of a strip, as shares of the figure."""


def _strip(figure: Figure, count: int, bottom: float) -> list[Axes]:
    """Make a row of `count` panels at a height, each with room for its labels."""
    gaps = STRIP_GAP * (count - 1)
    width = (STRIP_RIGHT - STRIP_LEFT - gaps) / count
    strip = []
    for i in range(count):
        left = STRIP_LEFT + i * (width + STRIP_GAP)
        strip.append(figure.add_axes((left, bottom, width, STRIP_HEIGHT)))
    return strip


LOOKS_OF_KINDS = (("indigo", "solid"), ("teal", "short"), ("orange", "dashdot"), ("grey", "dot"))


def _shades(kinds: Sequence[str]) -> dict[str, style.Looks]:
    """Choose colour and dash of the histogram of each kind of rows."""
    shades = {}
    for kind, (colour, dash) in zip(kinds, LOOKS_OF_KINDS, strict=False):
        shades[kind] = {"color": style.COLOURS[colour], "linestyle": style.DASHES[dash]}
    return shades


def _histograms(
    left: Axes,
    right: Axes,
    results: panels.Results[Any],
    kinds: Sequence[str],
) -> None:
    """Draw how many configurations have each ratio, and each smallest slack of a step."""
    ratios = results.select(metric="filtering_ratio", setting=kinds)
    _draw_histogram(left, ratios, np.linspace(0, 1.05, 22), kinds)
    slack = results.select(metric="smallest_step_slack")
    positive = np.maximum(slack["value"], 1e-16)
    logs = slack.assign(value=np.log10(positive))
    _draw_histogram(right, logs, np.linspace(-16, 0, 17), kinds)
    left.axvline(1, color="black", linewidth=1.1)
    top = left.get_ylim()[1]
    left.text(0.985, top * 0.93, "bound", ha="right", fontsize=8)
    largest = float(ratios["value"].max())
    tip = (largest, top * 0.03)
    text_place = (largest, top * 0.45)
    arrow: style.Looks = {"arrowstyle": "->", "linewidth": 0.7}
    look: style.Looks = {"arrowprops": arrow, "ha": "right", "fontsize": 8}
    left.annotate(f"largest {largest:.2f}", tip, text_place, **look)
    left.set(title="filtering loss / bound", xlabel="ratio of a run", ylabel="configurations")
    right.set(title="smallest slack of a step", xlabel="log10 (slack / initial divergence)")


def _draw_histogram(ax: Axes, rows: pd.DataFrame, edges: Any, kinds: Sequence[str]) -> None:
    """Draw the histogram of the values of each kind of rows."""
    for kind, look in _shades(kinds).items():
        values = rows.loc[rows["setting"] == kind, "value"]
        ax.hist(values, bins=list(edges), histtype="step", linewidth=1.4, **look)


def _prediction(ax: Axes, rows: pd.DataFrame, rounds: int) -> None:
    """Draw the prediction loss per round and its bound over alpha."""
    is_alpha = rows["metric"] == "alpha"
    per_round = rows["value"] / rounds
    rows = rows.assign(value=rows["value"].where(is_alpha, per_round))
    grid = rows[rows["setting"] == "grid"]
    _with_bound(ax, grid, "prediction_loss", "prediction_bound")
    for method in panels.methods_in(rows):
        is_of_method = rows["method"] == method
        best = rows.loc[is_alpha & is_of_method, "value"].mean()
        ax.axvline(best, color=style.colour(method), **DOTTED)
    ax.set_xscale("log")
    panels.log_axis(ax.yaxis)
    ax.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])


@panels.figure
def hinfinity(results: panels.Results[code.HInfinitySettings]) -> Figure:
    """Draw the exact worst ratio over T, the adversaries, and the best of gradient ascent."""
    settings = results.settings
    titles = ["all targets and noise (exact)", "silent adversary", "gradient ascent, p > 2"]
    best_of = f"best of {settings.starts} starts, T = {settings.ascent_rounds}"
    x_labels = ["rows T", "rows T", best_of]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label="ratio", height=2.5)
    left, middle, right = axes
    exact = results.select(setting="worst u and noise")
    silent = results.select(setting="silent adversary")
    _draw_worst_ratios(left, exact, _step_looks(settings.steps), "lower left")
    looks_of_powers = _power_looks(panels.methods_in(silent))
    _draw_worst_ratios(middle, silent, looks_of_powers, "lower right")
    _draw_ascent(right, results.select(setting="ascent"))
    for ax in axes:
        ax.axhline(1, zorder=1.2, **DASHED)
    middle.set_ylim(0, 1.08)
    left.set_xticks(settings.rounds, [str(t) for t in settings.rounds])
    left.minorticks_off()
    return figure


def _draw_worst_ratios(
    ax: Axes,
    rows: pd.DataFrame,
    looks: dict[str, style.Looks],
    legend_place: str,
) -> None:
    """Draw the mean ratio of each method over T in its band.

    The looks of these means over x have no label in other legends.
    """
    for method, line in looks.items():
        of_method = rows[rows["method"] == method]
        means = panels.mean_interval(of_method, ["x"]).sort_index()
        low = means["mean"] - means["half_width"]
        high = means["mean"] + means["half_width"]
        ax.plot(means.index, means["mean"], **line)
        ax.fill_between(means.index, low, high, color=line["color"], alpha=0.18, linewidth=0)
    ax.set_ylim(0, None)
    ax.set_xscale("log")
    look: style.Looks = {"loc": legend_place, "fontsize": 7.5, "handlelength": 2.6}
    ax.legend(**look)


def _draw_ascent(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the ratios that gradient ascent reaches as dots, a column for each filter."""
    filters = panels.methods_in(rows)
    for i, (method, line) in enumerate(_power_looks(filters).items()):
        values = rows.loc[rows["method"] == method, "value"].to_numpy()
        x = i + np.linspace(-0.18, 0.18, len(values))
        dots: style.Looks = {"marker": line["marker"], "color": line["color"]}
        ax.plot(x, values, linestyle="none", markersize=4.2, **dots)
    ax.set_xticks(range(len(filters)), [style.label(method) for method in filters])
    ax.set(xlim=(-0.5, len(filters) - 0.5), ylim=(0, 1.08))


def _step_looks(steps: list[float]) -> dict[str, style.Looks]:
    """Choose the looks of LMS with multiples of its step, and of RLS."""
    base = style.line("lms")
    markers = iter("^vD")
    looks: dict[str, style.Looks] = {}
    for step in steps:
        if step == 1:
            looks["lms"] = base | {"label": "LMS, η = 1/X²"}
            continue
        colour, dash = ("violet", "dash") if step > 1 else ("sky", "short")
        looks[f"lms x {step:g}"] = base | {
            "color": style.COLOURS[colour],
            "linestyle": style.DASHES[dash],
            "marker": next(markers),
            "label": f"LMS, η = {step:g}/X²",
        }
    looks["rls"] = style.line("rls") | {"label": "RLS"}
    return looks


LOOKS_OF_POWERS = (
    ("orange", "dash", "^"),
    ("vermillion", "solid", "o"),
    ("wine", "short", "D"),
    ("indigo", "dot", "v"),
)


def _power_looks(filters: Sequence[str]) -> dict[str, style.Looks]:
    """Choose the looks of LMS and of p-norm LMS for the powers p."""
    looks: dict[str, style.Looks] = {}
    if "lms" in filters:
        looks["lms"] = style.line("lms") | {"label": "LMS (p = 2)"}
    pnorm_filters = [f for f in filters if f != "lms"]
    for f, (colour, dash, marker) in zip(pnorm_filters, LOOKS_OF_POWERS, strict=False):
        looks[f] = style.line("pnorm_lms") | {
            "color": style.COLOURS[colour],
            "linestyle": style.DASHES[dash],
            "marker": marker,
            "label": f.replace("=", " = "),
        }
    return looks


@panels.figure
def moving_targets(results: panels.Results[code.MovingSettings]) -> Figure:
    """Draw the tracking error for jump and drift, and the loss against the price of the path."""
    titles = ["jump", "drift", "1 to 16 jumps"]
    x_labels = ["round t", "round t", "the bound's term for the path / 1000"]
    error = "squared tracking error"
    y_labels = [error, error, "(loss − noise) / 1000"]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label=y_labels, height=2.5)
    tracking = results.select(metric="tracking_error")
    for ax, scenario in zip(axes, ("jumps 1", "drift"), strict=False):
        rows = panels.select(tracking, results.artifact, noise=scenario)
        _draw_tracking(ax, rows, results.artifact)
    prices = results.select(setting="U=1 eta=1", metric=["path_price", "excess_loss"])
    has_jumps = prices["noise"].str.startswith("jumps")
    _draw_prices(axes[2], prices[has_jumps])
    handles = entries(panels.methods_in(tracking))
    thin_line = "thin: a fifth of the theorem's step"
    handles.append(panels.plain_handle(thin_line, linewidth=0.8))
    return panels.shared_legend(figure, handles)


def _draw_tracking(ax: Axes, rows: pd.DataFrame, artifact: str) -> None:
    """Draw the tracking error against the round, thin with a fifth of the theorem's step."""
    slow = panels.select(rows, artifact, setting="U=1 eta=0.2")
    panels.learning_curves(ax, slow, **THIN)
    of_theorem = panels.select(rows, artifact, setting="U=1 eta=1")
    panels.learning_curves(ax, of_theorem)
    panels.log_axis(ax.yaxis)
    ax.ticklabel_format(axis="x", useOffset=False)
    ax.tick_params(axis="x", labelrotation=0)
    ax.locator_params(axis="x", nbins=4)


def _draw_prices(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the loss above the noise against the price of the path, with the slope of the bound."""
    for method in panels.methods_in(rows):
        of_method = rows[rows["method"] == method]
        means = panels.mean_interval(of_method, ["metric", "noise"]) / 1000
        x = means.loc["path_price"]["mean"].sort_values()
        excess = means.loc["excess_loss"].loc[x.index]
        panels.curve(ax, x, excess["mean"], excess["half_width"], method)
    limit = ax.get_xlim()[1]
    ax.plot([0, limit], [0, limit], **DASHED)
    ax.text(limit * 0.52, limit * 0.56, "slope of the bound", ha="right", fontsize=8)
