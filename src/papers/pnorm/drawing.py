"""Figures of the p-norm LMS slides (Kivinen, Warmuth, Hassibi): losses, bounds and comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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


def _entry_of_bounds() -> Any:
    return panels.plain_handle("bound", linewidth=THIN["linewidth"])


def _by_method(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Split rows by their methods, in the order of the table."""
    for method in panels.methods_in(rows):
        is_of_method = rows["method"] == method
        yield method, rows[is_of_method]


def _mean_curves(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the mean over x of every method in its band, without single runs."""
    for method, of_method in _by_method(rows):
        panels.mean_curve(ax, of_method, method)


def _powers_of_two(ax: Axes, numbers: Sequence[float]) -> None:
    """Make the x axis logarithmic with base 2, with these numbers and no others."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(numbers, [f"{number:g}" for number in numbers])
    ax.minorticks_off()


def _with_bound(ax: Axes, rows: pd.DataFrame, loss: str, bound: str) -> None:
    """Draw a metric with intervals, and its bound as a thin line."""
    bounds_of_rows = rows[rows["metric"] == bound]
    panels.learning_curves(ax, bounds_of_rows, **THIN)
    losses = rows[rows["metric"] == loss]
    panels.learning_curves(ax, losses)


def _against_n(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the loss against n with its bound, on log scales."""
    _with_bound(ax, rows, "filtering_loss", "filtering_bound")
    sizes = sorted(rows["x"].unique())
    _powers_of_two(ax, sizes)
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
    sparsities = _settings_of_sparsity(interpolation.ones)
    losses = results.select(metric="filtering_loss", setting=sparsities)
    _heat_map(axes[-1], losses, interpolation.n, interpolation.ones)
    compared = results.select(metric="filtering_loss", setting=tasks)
    handles = entries(panels.methods_in(compared))
    handles.append(_entry_of_bounds())
    return panels.shared_legend(figure, handles)


def _settings_of_sparsity(counts: Sequence[int]) -> list[str]:
    """List the settings of the result table for targets with so many weights that are not zero."""
    return [f"k={k}" for k in counts]


FRAME = {"boxstyle": "square,pad=0.2", "fill": False, "linewidth": 1.2}
"""Look of the frame around the smallest loss of a column."""
DOUBLINGS = {0: "best", 1: "2×", 2: "4×", 3: "8×", 4: "16×"}
"""log2 of a loss relative to the smallest -> its name on the colour bar."""


def _heat_map(ax: Axes, losses: pd.DataFrame, n: int, counts: list[int]) -> None:
    """Draw the mean filtering loss over p and sparsity, relative to the smallest of each column."""
    by_power = losses.pivot_table(index="x", columns="setting", values="value", aggfunc="mean")
    by_power = by_power.sort_index()
    means = by_power[_settings_of_sparsity(counts)].to_numpy()
    smallest = means.min(axis=0)
    doublings = np.log2(means / smallest)
    ax.grid(False)
    look: style.Looks = {"cmap": "cividis_r", "vmin": min(DOUBLINGS), "vmax": max(DOUBLINGS)}
    image = ax.imshow(doublings, aspect="auto", origin="lower", **look)
    for (row, column), mean in np.ndenumerate(means):
        _write_loss(ax, (column, row), mean, doublings[row, column])
    powers = [_label_power(p, n) for p in by_power.index]
    ax.set_yticks(range(len(powers)), powers)
    ax.set_xticks(range(len(counts)), [str(k) for k in counts])
    ax.set_ylabel("p", labelpad=-8)
    ax.spines[["left", "bottom"]].set_visible(False)
    _add_colour_bar(ax, image)


def _label_power(p: float, n: int) -> str:
    """Write a power p, that of the slides as a formula."""
    is_of_slides = abs(p - 2 * math.log(n)) < 1e-6
    return "2 ln n" if is_of_slides else f"{p:g}"


def _write_loss(ax: Axes, xy: tuple[int, int], loss: float, doublings: float) -> None:
    """Write a loss into its cell of the map, the smallest of a column in a frame."""
    x, y = xy
    digits = 0 if loss >= 100 else 1
    is_dark = doublings > 2
    is_smallest = doublings == 0
    look: style.Looks = {
        "ha": "center",
        "va": "center",
        "fontsize": 7.5,
        "color": "white" if is_dark else "black",
        "bbox": FRAME if is_smallest else None,
    }
    ax.text(x, y, f"{loss:.{digits}f}", **look)


MAP_WIDTH = 0.84
BAR_LEFT = 0.87
BAR_WIDTH = 0.035
"""Place of the map and of its colour bar, as shares of the width of the panel."""


def _add_colour_bar(ax: Axes, image: Any) -> None:
    """Make the panel of the map narrower, and add its colour bar on the right."""
    bar_axes = panels.add_beside(ax, MAP_WIDTH, BAR_LEFT, BAR_WIDTH)
    bar = ax.figure.colorbar(image, cax=bar_axes)
    bar.set_ticks(list(DOUBLINGS), labels=list(DOUBLINGS.values()))
    bar.ax.tick_params(length=2, pad=2)
    bar.outline.set_visible(False)


def _hadamard_panel(ax: Axes, rows: pd.DataFrame, n: int) -> None:
    """Draw the error after k rows, with the exact line of LMS and ln n / k."""
    k = np.arange(1, n + 1)
    approximate = np.minimum(math.log(n) / k, 2)
    ax.plot(k, approximate, **LN_N)
    has_seen_rows = rows["x"] >= 1
    _mean_curves(ax, rows[has_seen_rows])
    exact = 1 - k / n
    ax.plot(k, exact, **EXACT)
    ax.set_ylim(-0.03, 1.1)
    largest_power = int(math.log2(n))
    step = 2 if n > 64 else 1
    powers = range(0, largest_power + 1, step)
    _powers_of_two(ax, [2**power for power in powers])


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
    """Make legend entries of the two lines by theory."""
    return [
        panels.plain_handle("ln n / k", **LN_N),
        panels.plain_handle("1 − k/n", **EXACT),
    ]


@panels.figure
def room(results: panels.Results[code.RoomSettings]) -> Figure:
    """Draw misalignment over time, a column for each room; below, the responses."""
    rooms = list(results.settings.rooms)
    named = results.settings.methods
    labels: style.Looks = {"x_label": "speech heard / s", "y_label": "misalignment / dB"}
    figure, axes = panels.side_by_side(rooms, share_y="row", height=2.6, bottom=1.55, **labels)
    for ax, name in zip(axes, rooms, strict=True):
        levels = results.select(noise=name, metric="misalignment")
        _mean_curves(ax, levels)
        response = results.select(noise=name, metric="tap").sort_values("x")
        _draw_response(ax, response, is_first=ax is axes[0])
    return panels.shared_legend(figure, entries(list(named), named))


RESPONSE_BOTTOM = 0.42
RESPONSE_HEIGHT = 0.62
"""Place of the responses of the rooms below their panels, inches."""


def _draw_response(ax: Axes, response: pd.DataFrame, *, is_first: bool) -> None:
    """Draw the response of a room in a separate panel below."""
    figure: Any = ax.figure
    _, height_of_figure = figure.get_size_inches()
    bottom = RESPONSE_BOTTOM / height_of_figure
    height = RESPONSE_HEIGHT / height_of_figure
    box = ax.get_position()
    lower = figure.add_axes((box.x0, bottom, box.width, height))
    lower.vlines(response["x"], 0, response["value"], color="black", linewidth=0.8)
    lower.set(xlabel="tap of the response", ylim=(-1, 1))
    if is_first:
        lower.set_ylabel("response")
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
    losses = panels.select(sparse, "sparsity", metric="filtering_loss")
    methods: dict[str, None] = {}
    for drawn in (errors, losses, levels):
        methods |= dict.fromkeys(panels.methods_in(drawn))
    handles = entries(list(methods), room_settings.methods)
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
    handles.append(_entry_of_bounds())
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
        box = (left, bottom, width, STRIP_HEIGHT)
        strip.append(figure.add_axes(box))
    return strip


def _look(colour: str, dash: str) -> style.Looks:
    """Look up a colour and a dash by their names."""
    return {"color": style.COLOURS[colour], "linestyle": style.DASHES[dash]}


LOOKS_OF_KINDS = (("indigo", "solid"), ("teal", "short"), ("orange", "dashdot"), ("grey", "dot"))


def _shades(kinds: Sequence[str]) -> dict[str, style.Looks]:
    """Choose colour and dash of the histogram of each kind of rows."""
    shades = {}
    for kind, (colour, dash) in zip(kinds, LOOKS_OF_KINDS, strict=False):
        shades[kind] = _look(colour, dash)
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
    _mark_bound_and_largest(left, float(ratios["value"].max()))
    left.set(title="filtering loss / bound", xlabel="ratio of a run", ylabel="configurations")
    slack = results.select(metric="smallest_step_slack")
    positive = np.maximum(slack["value"], 1e-16)
    logs = slack.assign(value=np.log10(positive))
    _draw_histogram(right, logs, np.linspace(-16, 0, 17), kinds)
    right.set(title="smallest slack of a step", xlabel="log10 (slack / initial divergence)")


def _draw_histogram(ax: Axes, rows: pd.DataFrame, edges: Any, kinds: Sequence[str]) -> None:
    """Draw the histogram of the values of each kind of rows."""
    for kind, look in _shades(kinds).items():
        values = rows.loc[rows["setting"] == kind, "value"]
        ax.hist(values, bins=list(edges), histtype="step", linewidth=1.4, **look)


def _mark_bound_and_largest(ax: Axes, largest: float) -> None:
    """Mark the ratio 1 by a line and the largest ratio by an arrow, with their names."""
    ax.axvline(1, color="black", linewidth=1.1)
    _, top = ax.get_ylim()
    ax.text(0.985, top * 0.93, "bound", ha="right", fontsize=8)
    tip = (largest, top * 0.03)
    text_place = (largest, top * 0.45)
    arrow: style.Looks = {"arrowstyle": "->", "linewidth": 0.7}
    look: style.Looks = {"arrowprops": arrow, "ha": "right", "fontsize": 8}
    ax.annotate(f"largest {largest:.2f}", tip, text_place, **look)


def _prediction(ax: Axes, rows: pd.DataFrame, rounds: int) -> None:
    """Draw the prediction loss per round and its bound over alpha."""
    grid = rows[rows["setting"] == "grid"]
    per_round = grid.assign(value=grid["value"] / rounds)
    _with_bound(ax, per_round, "prediction_loss", "prediction_bound")
    alphas = rows[rows["metric"] == "alpha"]
    for method, of_method in _by_method(alphas):
        best = of_method["value"].mean()
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
    looks_of_steps = _step_looks(settings.steps)
    _draw_worst_ratios(left, exact, looks_of_steps, "lower left")
    silent = results.select(setting="silent adversary")
    looks_of_powers = _power_looks(panels.methods_in(silent))
    _draw_worst_ratios(middle, silent, looks_of_powers, "lower right")
    ascent = results.select(setting="ascent")
    _draw_ascent(right, ascent)
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
        intervals = panels.mean_interval(of_method, ["x"]).sort_index()
        rounds = intervals.index
        mean = intervals["mean"]
        half_width = intervals["half_width"]
        band: style.Looks = {"color": line["color"], "alpha": 0.18, "linewidth": 0}
        ax.plot(rounds, mean, **line)
        ax.fill_between(rounds, mean - half_width, mean + half_width, **band)
    ax.set_ylim(0, None)
    ax.set_xscale("log")
    look: style.Looks = {"loc": legend_place, "fontsize": 7.5, "handlelength": 2.6}
    ax.legend(**look)


def _draw_ascent(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the ratios that gradient ascent reaches as dots, a column for each filter."""
    filters = panels.methods_in(rows)
    for column, (method, line) in enumerate(_power_looks(filters).items()):
        ratios = rows.loc[rows["method"] == method, "value"].to_numpy()
        shifts = np.linspace(-0.18, 0.18, len(ratios))
        dots = {"marker": line["marker"], "color": line["color"], "markersize": 4.2}
        ax.plot(column + shifts, ratios, linestyle="none", **dots)
    ax.set_xticks(range(len(filters)), [style.label(method) for method in filters])
    ax.set(xlim=(-0.5, len(filters) - 0.5), ylim=(0, 1.08))


def _step_looks(steps: list[float]) -> dict[str, style.Looks]:
    """Choose the looks of LMS with multiples of its step, and of RLS."""
    looks: dict[str, style.Looks] = {}
    markers = iter("^vD")
    for step in steps:
        look = style.line("lms") | {"label": f"LMS, η = {step:g}/X²"}
        if step == 1:
            looks["lms"] = look
            continue
        shade = _look("violet", "dash") if step > 1 else _look("sky", "short")
        looks[f"lms x {step:g}"] = look | shade | {"marker": next(markers)}
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
        label = f.replace("=", " = ")
        look = style.line("pnorm_lms") | {"marker": marker, "label": label}
        looks[f] = look | _look(colour, dash)
    return looks


@panels.figure
def moving_targets(results: panels.Results[code.MovingSettings]) -> Figure:
    """Draw the tracking error for jump and drift, and the loss against the price of the path."""
    titles = ["jump", "drift", "1 to 16 jumps"]
    x_labels = ["round t", "round t", "the bound's term for the path / 1000"]
    error = "squared tracking error"
    y_labels = [error, error, "(loss − noise) / 1000"]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label=y_labels, height=2.5)
    of_jump, of_drift, of_prices = axes
    _draw_tracking(of_jump, results, "jumps 1")
    _draw_tracking(of_drift, results, "drift")
    prices = results.select(setting=STEP_OF_THEOREM, metric=["path_price", "excess_loss"])
    has_jumps = prices["noise"].str.startswith("jumps")
    _draw_prices(of_prices, prices[has_jumps])
    tracking = results.select(metric="tracking_error")
    handles = entries(panels.methods_in(tracking))
    thin_line = "thin: a fifth of the theorem's step"
    handles.append(panels.plain_handle(thin_line, linewidth=0.8))
    return panels.shared_legend(figure, handles)


STEP_OF_THEOREM = "U=1 eta=1"
FIFTH_OF_STEP = "U=1 eta=0.2"
"""Settings of the result table."""


def _draw_tracking(ax: Axes, results: panels.Results[Any], scenario: str) -> None:
    """Draw the tracking error against the round, thin with a fifth of the theorem's step."""
    selected = {"metric": "tracking_error", "noise": scenario}
    slow = results.select(**selected, setting=FIFTH_OF_STEP)
    panels.learning_curves(ax, slow, **THIN)
    of_theorem = results.select(**selected, setting=STEP_OF_THEOREM)
    panels.learning_curves(ax, of_theorem)
    panels.log_axis(ax.yaxis)
    ax.ticklabel_format(axis="x", useOffset=False)
    ax.tick_params(axis="x", labelrotation=0)
    ax.locator_params(axis="x", nbins=4)


def _draw_prices(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the loss above the noise against the price of the path, with the slope of the bound."""
    for method, of_method in _by_method(rows):
        intervals = panels.mean_interval(of_method, ["metric", "noise"]) / 1000
        prices = intervals.loc["path_price"]["mean"].sort_values()
        excess = intervals.loc["excess_loss"].loc[prices.index]
        panels.curve(ax, prices, excess["mean"], excess["half_width"], method)
    _, limit = ax.get_xlim()
    ax.plot([0, limit], [0, limit], **DASHED)
    ax.text(limit * 0.52, limit * 0.56, "slope of the bound", ha="right", fontsize=8)
