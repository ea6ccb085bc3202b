"""Figures and tables on learning from noisy instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.show import names, panels, style, tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from noisy_online import checks, code

THIN: style.Looks = {"linewidth": 0.9, "marker": "", "linestyle": style.DASHES["dot"]}
"""Look of bounds: the colour of the method, thin and dotted."""
LIMIT: style.Looks = {"linewidth": 0.8, "linestyle": style.DASHES["dash"]}
"""Look of limits by theory."""
CONTROL: style.Looks = {"linewidth": 4.5, "marker": "", "alpha": 0.55, "zorder": 1.4}
"""Look of a control: a wide pale line below the others."""
GREY = style.COLOURS["grey"]
REGRET = "regret on the clean data"


def looks(method: str) -> style.Looks:
    """Choose the look of a learner; a control is a wide pale line below the others."""
    look = style.line(method)
    look["markersize"] = 5
    if method == "noise_free":
        look |= CONTROL
    return look


def entries(methods: Iterable[str], *, bound: bool = True, **limit: Any) -> list[Any]:
    """Make legend entries of the learners, of bounds and, with a ``label``, of limits."""
    handles = [panels.plain_handle(**looks(method)) for method in methods]
    if bound:
        handles.append(panels.plain_handle("bound", **THIN))
    if limit:
        look = LIMIT | limit
        handles.append(panels.plain_handle(**look))
    return handles


def curves(
    ax: Axes,
    rows: pd.DataFrame,
    metric: str,
    methods: Iterable[str],
    **changes: Any,
) -> None:
    """Draw mean and 95 % interval of a metric against x, for every method that has it."""
    has_metric = rows["metric"] == metric
    for method in methods:
        is_of_method = rows["method"] == method
        values = rows[has_metric & is_of_method]
        if not values.empty:
            look = looks(method) | changes
            panels.mean_curve(ax, values, method, **look)


def regret_panel(
    ax: Axes,
    rows: pd.DataFrame,
    methods: Sequence[str],
    slopes: bool = True,
) -> None:
    """Draw regret against T on log axes, with dotted bounds and the slopes of √T and T."""
    curves(ax, rows, "bound", methods, **THIN)
    curves(ax, rows, "regret", methods)
    panels.log_axis(ax.xaxis, ax.yaxis)
    if slopes:
        _draw_slope(ax, 0.5, "√T")
        _draw_slope(ax, 1.0, "T")


def _draw_slope(ax: Axes, power: float, text: str) -> None:
    """Draw the slope of a power of T in the lower right corner of log axes."""
    from matplotlib.lines import Line2D

    start = _place_on_log_axis(ax.get_xlim(), 0.70)
    end = _place_on_log_axis(ax.get_xlim(), 0.92)
    bottom = _place_on_log_axis(ax.get_ylim(), 0.05)
    top = bottom * (end / start) ** power
    # Autoscaling ignores an artist, and a panel that shares the axis may have more rounds.
    segment = Line2D([start, end], [bottom, top], color=GREY, linewidth=1.0, zorder=1.2)
    ax.add_artist(segment)
    look = style.Looks(fontsize=7.5, va="center", color=GREY)
    ax.annotate(text, (end, top), (2, 0), textcoords="offset points", **look)


def _place_on_log_axis(limits: tuple[float, float], share: float) -> float:
    """Return the number at a share of the length of a logarithmic axis."""
    low, high = limits
    return low * (high / low) ** share


def _list_learners(results: panels.Results[code.LinearSettings]) -> list[str]:
    """List the learners of the settings that the table has."""
    in_table = set(results.table["method"])
    return [method for method in results.settings.learners if method in in_table]


def _first_by(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return the first value of each group of rows."""
    return rows.groupby(column)["value"].first()


def _marked(colour: str, marker: str, size: float = 5) -> style.Looks:
    """Make the look of points with a marker in a colour of the project."""
    return {"color": style.COLOURS[colour], "marker": marker, "markersize": size}


@panels.figure
def linear(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw regret and regret per round of linear learners against T, a row for each data set."""
    table = results.table
    methods = _list_learners(results)
    sets = list(table["dataset"].unique())
    row_titles = sets if len(sets) > 1 else [""]
    column_titles = [REGRET, "regret per round"]
    size: style.Looks = {"height": 2.9, "width": 8.6, "between": 0.45}
    figure, axes = panels.grid_of_panels(
        row_titles, column_titles, share_y="none", x_label="rounds T", **size
    )
    for (left, right), dataset in zip(axes, sets, strict=True):
        rows = table[table["dataset"] == dataset]
        regret_panel(left, rows, methods)
        _draw_regret_per_round(right, rows, methods)
    for ax in axes[:-1].flat:
        ax.tick_params(labelbottom=True)
    handles = entries(methods, label="predicted limit")
    return panels.shared_legend(figure, handles)


def _draw_regret_per_round(ax: Axes, rows: pd.DataFrame, methods: Sequence[str]) -> None:
    """Draw regret per round, with the predicted limits that differ."""
    curves(ax, rows, "regret_per_round", methods)
    panels.log_axis(ax.xaxis)
    predicted = rows[rows["metric"] == "regret_per_round_predicted"]
    limits = _first_by(predicted, "method").round(5)
    for method, value in limits.drop_duplicates().items():
        colour = style.colour(str(method))
        ax.axhline(value, color=colour, zorder=1.1, **LIMIT)
    lowest, _ = ax.get_ylim()
    ax.set_ylim(bottom=min(0, lowest))


MEASURED: style.Looks = {
    "color": style.COLOURS["blue"],
    "linestyle": "none",
    "marker": "D",
    "markersize": 6,
    "markerfacecolor": "white",
    "capsize": 2,
}
PREDICTED: style.Looks = {
    "color": style.COLOURS["black"],
    "marker": "_",
    "markersize": 13,
    "zorder": 3,
}


@panels.figure
def misreported(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw the regret of Algorithm 2 against T, and the harm of a wrong covariance."""
    table = results.table
    methods = [method for method in _list_learners(results) if not method.startswith("told ")]
    titles = [REGRET, "weights at the end / w*", "regret per round"]
    share = "told covariance / true covariance c"
    x_labels = ["rounds T", share, share]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, height=2.9, width=10.2)
    left, middle, right = axes
    regret_panel(left, table, methods)
    is_misreported = table["method"].str.startswith("told ")
    last = panels.at_last_x(table[is_misreported])
    _draw_against_share(middle, last, "weight_ratio")
    _draw_against_share(right, last, "regret_per_round")
    right.set_ylim(bottom=0)
    predicted = panels.plain_handle("predicted limit", marker="_", color=PREDICTED["color"])
    handles = [*entries(methods), predicted]
    return panels.shared_legend(figure, handles)


def _draw_against_share(ax: Axes, rows: pd.DataFrame, metric: str) -> None:
    """Draw a metric and its prediction against the given share of the covariance."""
    looks_of_metrics = {metric: MEASURED, f"{metric}_predicted": MEASURED | PREDICTED}
    shares = np.array([])
    for name, look in looks_of_metrics.items():
        values = rows[rows["metric"] == name]
        means = panels.mean_interval(values, ["method"])
        if not means.empty:
            shares = np.array([float(method.split()[1]) for method in means.index])
            ax.errorbar(shares, means["mean"], means["half_width"], **look)
    ax.set_xticks(shares)


@panels.figure
def online_to_batch(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw the excess risk of mean weights against T, with bound and limit of the naive learner."""
    table = results.table
    methods = results.settings.learners
    look: style.Looks = {"y_label": "excess risk of the mean weights", "height": 3.0, "width": 4.8}
    figure, axes = panels.side_by_side([""], x_label="rounds T", **look)
    (ax,) = axes
    per_round = table.assign(value=table["value"] / table["x"])
    curves(ax, per_round, "bound", methods, **THIN)
    curves(ax, table, "excess_risk", methods)
    is_limit = table["metric"] == "regret_per_round_predicted"
    limit = table.loc[is_limit, "value"].mean()
    ax.axhline(limit, color=style.colour("naive"), zorder=1.1, **LIMIT)
    panels.log_axis(ax.xaxis, ax.yaxis)
    handles = entries(methods, label="predicted limit")
    return panels.shared_legend(figure, handles)


HORIZONS = (_marked("pink", "^"), _marked("wine", "D"), _marked("black", "o"))
"""Looks of the horizons of `averaging`."""
MARKERS_OF_COUNTS = "sPXD^v"
"""Markers of the numbers of averaged copies of `averaging`."""


@panels.figure
def averaging(results: panels.Results[code.LinearSettings]) -> Figure:
    """Draw regret per round against the number of averaged copies, and against T."""
    titles = ["against the copies averaged", "against the rounds"]
    x_labels = ["copies averaged m", "rounds T"]
    size: style.Looks = {"height": 3.0, "width": 8.8, "share_y": "row"}
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label="regret per round", **size)
    left, right = axes
    table = results.table
    rows = table[table["metric"] == "regret_per_round"]
    lines = _draw_against_copies(left, rows, results.settings.horizons)
    counts = _draw_means_of_copies(right, rows)
    counts += entries(["two_copy"], bound=False)
    panels.add_room(figure, below=0.9)
    legend_place: style.Looks = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14)}
    for ax, handles in ((left, lines), (right, counts)):
        ax.legend(handles=handles, ncols=2, handlelength=3, **legend_place)
    return figure


def _list_averaged(rows: pd.DataFrame) -> list[str]:
    """List the methods that average copies, such as "mean of 4"."""
    return [method for method in panels.methods_in(rows) if method.startswith("mean of")]


def _draw_against_copies(ax: Axes, rows: pd.DataFrame, horizons: Sequence[int]) -> list[Any]:
    """Draw regret per round against the averaged copies at three horizons; list its entries."""
    middle = horizons[len(horizons) // 2]
    shown = sorted({horizons[0], middle, horizons[-1]})
    averaged = _list_averaged(rows)
    counts = [int(method.split()[-1]) for method in averaged]
    handles = []
    for T, look in zip(shown, HORIZONS, strict=False):
        intervals = panels.mean_interval(rows[rows["x"] == T], ["method"])
        naive = intervals.loc[averaged]
        ax.errorbar(counts, naive["mean"], naive["half_width"], capsize=2, linewidth=1.0, **look)
        of_two_copies = intervals["mean"]["two_copy"]
        ax.axhline(of_two_copies, color=look["color"], zorder=1.3, **LIMIT)
        handles.append(panels.plain_handle(f"T = {T}", **look))
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.minorticks_off()
    panels.log_axis(ax.yaxis)
    handles.append(panels.plain_handle("Algorithm 1 at the same T", **LIMIT))
    return handles


def _draw_means_of_copies(ax: Axes, rows: pd.DataFrame) -> list[Any]:
    """Draw regret per round against T for each number of copies; list the entries."""
    handles = []
    for method, marker in zip(_list_averaged(rows), MARKERS_OF_COUNTS, strict=False):
        look = {"color": style.colour(method), "marker": marker, "markersize": 5}
        curves(ax, rows, "regret_per_round", [method], linestyle="-", **look)
        name = names.method(method)
        handles.append(panels.plain_handle(name, **look))
    curves(ax, rows, "regret_per_round", ["two_copy"])
    panels.log_axis(ax.xaxis)
    return handles


def _step_title(factor: float) -> str:
    """Write a multiple of the theorem's step in words."""
    if factor == 1:
        return "the theorem's step"
    return f"{factor:g} × the theorem's step"


@panels.figure
def surrogate_kernel(results: panels.Results[code.TunedKernelSettings]) -> Figure:
    """Draw regret for two steps and against the noise; below, the learned functions."""
    settings = results.settings
    if settings.variances is None or settings.surface is None:
        problem = "the settings need variances and surface"
        raise panels.RenderError(f"{results.artifact}: {problem}")
    title = f"T = {settings.variances.horizon}, growing noise"
    x_label = "noise variance (kernel width σ² = 1)"
    figure, last = _steps(results, title, x_label, 3.35)
    methods = [*settings.learners, "naive_kernel_tuned"]
    sweep = results.select(setting="sweep")
    curves(last, sweep, "sweep_bound", ["surrogate"], **THIN)
    curves(last, sweep, "sweep_regret", methods)
    panels.log_axis(last.yaxis)
    rows = panels.select(sweep, results.artifact, metric="sweep_constant")
    _write_constants(last, _first_by(rows, "x"))
    low, high = last.get_ylim()
    last.set_ylim(low, high * 8)
    last.margins(x=0.12)
    surface = results.select(metric="surface")
    _surfaces(figure, surface, settings.surface.side)
    return panels.shared_legend(figure, entries(methods))


def _write_constants(ax: Axes, constants: pd.Series) -> None:
    """Write the constant of the surrogate below the upper edge of the panel, at each x."""
    look: style.Looks = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "fontsize": 7,
        "rotation": 90,
        "ha": "center",
        "va": "top",
    }
    for x, value in constants.items():
        top = (float(str(x)), 1)
        ax.annotate(f"C = {value:.3g}", top, (0, -3), **look)


def _steps(
    results: panels.Results[Any],
    title: str,
    x_label: str,
    bottom: float = 0.46,
) -> tuple[Figure, Axes]:
    """Draw the regret at each step size in a panel, and return the last panel empty."""
    settings = results.settings
    table = results.table
    titles = [_step_title(factor) for factor in settings.factors]
    x_labels = ["rounds T"] * len(titles)
    titles.append(title)
    x_labels.append(x_label)
    look: style.Looks = {"y_label": REGRET, "height": 2.7, "width": 10.0, "bottom": bottom}
    figure, axes = panels.side_by_side(titles, x_label=x_labels, **look)
    methods = [*settings.learners, "naive_kernel_tuned"]
    for ax, factor in zip(axes, settings.factors, strict=False):
        shown = [f"m = {factor:g}", "tuned"]
        rows = table[table["setting"].isin(shown)]
        regret_panel(ax, rows, methods)
    return figure, axes[-1]


MAPS = {"truth": "target f*", "surrogate": "Algorithm 3", "naive_kernel": "naive learner"}
"""Method of a surface -> the title of its map."""
MAP_SIDE = 2.2
MAP_LEFT = 0.66
MAP_BOTTOM = 0.5
MAP_STEP = 3.0
"""Side, place and distance of the maps, inches."""
BAR_LEFT = 9.01
BAR_WIDTH = 0.14
"""Place of their colour bar, inches."""


def _surfaces(figure: Figure, rows: pd.DataFrame, side: int) -> None:
    """Draw three maps of functions on [-1, 1]^2 with one colour scale, below the panels."""
    largest = float(rows["value"].abs().max())
    lines = np.linspace(-1, 1, side)
    levels = np.arange(-1, 1.01, 0.2)
    image_looks: style.Looks = {
        "origin": "lower",
        "extent": (-1, 1, -1, 1),
        "cmap": "RdBu_r",
        "vmin": -largest,
        "vmax": largest,
    }
    for number, (method, title) in enumerate(MAPS.items()):
        points = rows[rows["method"] == method].sort_values("x")
        values = points["value"].to_numpy().reshape(side, side)
        left = MAP_LEFT + number * MAP_STEP
        ax = _add_axes(figure, left, MAP_SIDE)
        image = ax.imshow(values, **image_looks)
        ax.contour(lines, lines, values, levels=levels, colors="black", linewidths=0.4)
        ax.grid(False)
        y_label = "x₂" if number == 0 else ""
        ax.set(title=title, xlabel="x₁", ylabel=y_label)
    bar_axes = _add_axes(figure, BAR_LEFT, BAR_WIDTH)
    bar = figure.colorbar(image, cax=bar_axes)
    bar.outline.set_visible(False)


def _add_axes(figure: Figure, left: float, width: float) -> Axes:
    """Add axes in the row of the maps; left edge and width in inches."""
    figure_width, figure_height = figure.get_size_inches()
    bottom = MAP_BOTTOM / figure_height
    height = MAP_SIDE / figure_height
    box = (left / figure_width, bottom, width / figure_width, height)
    return figure.add_axes(box)


@panels.figure
def diabetes_kernel(results: panels.Results[code.KernelSettings]) -> Figure:
    """Draw regret by ball and step; right, the ball by the angle."""
    table = results.table
    settings = results.settings
    of_balls = table.loc[table["metric"] == "cos_alpha", "setting"]
    balls = list(dict.fromkeys(of_balls))
    column_titles = [" "] * len(balls)
    column_titles.append("squared radius B̃")
    row_titles = [""] * len(settings.factors)
    labels: style.Looks = {"x_label": "rounds T", "y_label": REGRET}
    size: style.Looks = {"share_y": "none", "between": 0.5, "height": 2.2, "width": 9.6}
    figure, axes = panels.grid_of_panels(row_titles, column_titles, **labels, **size)
    for row, factor in zip(axes, settings.factors, strict=True):
        step_title = _step_title(factor)
        for ax, ball in zip(row, balls, strict=False):
            rows = results.select(setting=f"{ball} m = {factor:g}")
            regret_panel(ax, rows, settings.learners)
            ax.set_title(f"{ball}, {step_title}")
            ax.tick_params(labelbottom=True)
    for ax in axes[1:, -1]:
        ax.set_visible(False)
    _draw_radii(axes[0, -1], table, balls)
    return panels.shared_legend(figure, entries(settings.learners))


RADII = {
    "surrogate_norm": _marked("blue", "o", size=7) | {"label": "its own γᵀK̃γ"},
    "angle_ball": _marked("wine", "^", size=7) | {"label": "by the angle"},
}
"""Metric of a squared radius -> its look."""


def _draw_radii(ax: Axes, table: pd.DataFrame, balls: list[str]) -> None:
    """Draw the squared radius of each ball in the space of the surrogate, by norm and by angle."""
    columns = ["metric", "setting"]
    values = table.drop_duplicates(columns).set_index(columns)["value"]
    places = range(len(balls))
    for metric, look in RADII.items():
        radii = values[metric][balls]
        ax.plot(places, radii, linestyle="none", **look)
    panels.log_axis(ax.yaxis, low=0.1)
    cosines = values["cos_alpha"]
    ax.set_xticks(places, [f"{ball}\ncos α = {cosines[ball]:.3f}" for ball in balls])
    ax.set_xlim(-0.5, len(balls) - 0.5)
    ax.tick_params(labelbottom=True)
    ax.legend(fontsize=7.5, loc="center left")


PRICES_OF_TRUNCATION: dict[str, style.Looks] = {
    "bound_over_root_T": {
        "color": style.COLOURS["wine"],
        "marker": "^",
        "label": "bound / √T",
    },
    "truncation_error": {
        "color": style.COLOURS["blue"],
        "marker": "o",
        "label": "largest error of the kernel",
    },
}
"""Metric -> its look."""


@panels.figure
def radial_kernel(results: panels.Results[code.KernelSettings]) -> Figure:
    """Draw regret for two steps; approximation error and bound's constant by truncation."""
    figure, last = _steps(results, "price of the truncation c", "truncation c")
    for metric, look in PRICES_OF_TRUNCATION.items():
        rows = results.select(metric=metric)
        values = _first_by(rows, "x")
        last.plot(values.index, values, **look)
    panels.log_axis(last.yaxis)
    last.legend(fontsize=7.5, loc="center left")
    return panels.shared_legend(figure, entries(results.settings.learners))


ANALYTIC_LEARNERS = ["analytic", "plug_in"]


def title(name: str, task: code.AnalyticProblem) -> str:
    """Name the row, kernel and loss of a task."""
    kernel: str
    if isinstance(task.kernel, str):
        kernel = task.kernel
    elif hasattr(task.kernel, "polynomial"):
        kernel = "(1 + a)²/4"
    else:
        kernel = "Gaussian"
    loss = task.loss.replace("smoothed_absolute", "smooth abs.")
    loss = loss.replace("smoothed_h", "smooth h")
    if task.s is not None:
        loss += f" s = {task.s:g}"
    return f"{name}: {kernel}, {loss}"


@panels.figure
def losses_and_kernels(results: panels.Results[code.AnalyticSettings]) -> Figure:
    """Draw regret of each task for two steps (thick: the larger), with dotted bounds."""
    settings = results.settings
    small = min(settings.factors)
    large = max(settings.factors)
    labels: style.Looks = {"x_label": "rounds T", "y_label": "regret"}
    size: style.Looks = {"height": 1.75, "share_y": "none", "between": 0.6, "left": 0.74}
    figure, axes = panels.wrapped(len(settings.tasks), 3, **labels, **size)
    for ax, (name, task) in zip(axes, settings.tasks.items(), strict=True):
        rows = results.select(noise=name)
        thin = rows[rows["setting"] == f"m = {small:g}"]
        thick = rows[rows["setting"] == f"m = {large:g}"]
        curves(ax, thin, "regret", ANALYTIC_LEARNERS, linewidth=0.8, marker="", alpha=0.8)
        regret_panel(ax, thick, ANALYTIC_LEARNERS, slopes=ax is axes[0])
        ax.set_title(title(name, task))
        ax.tick_params(labelbottom=True)
    handles = entries(ANALYTIC_LEARNERS)
    handles.append(panels.plain_handle(_step_title(large), linewidth=1.5))
    handles.append(panels.plain_handle(_step_title(small), linewidth=0.8))
    return panels.shared_legend(figure, handles)


@panels.table
def losses_summary(results: panels.Results[code.AnalyticSettings]) -> pd.DataFrame:
    """List moments, regret, bound and exponents of Algorithm 4, by kernel and loss."""
    artifact = "losses_and_kernels"
    settings = results.settings_of[artifact]
    table = results.tables[artifact]
    factor = max(settings.factors)
    rows = []
    for name, task in settings.tasks.items():
        of_task = panels.select(table, artifact, noise=name)
        row = {"row": title(name, task)}
        row |= _summarise_task(of_task, factor)
        rows.append(row)
    note = f"Step: {factor:g} times the theorem's. Mean and standard error."
    return tables.noted(pd.DataFrame(rows), note)


def _summarise_task(rows: pd.DataFrame, factor: float) -> dict[str, str]:
    """Write moments, regret, bound and exponents of a task at this multiple of the step."""
    of_first_repetition = rows[rows["repetition"] == 0]
    moments = _first_by(of_first_repetition, "metric")
    of_step = panels.select(rows, "losses_and_kernels", setting=f"m = {factor:g}")
    is_exponent = of_step["metric"] == "exponent"
    exponents = of_step[is_exponent].groupby("method")["value"].mean()
    T = of_step["x"].max()
    at_end = panels.at_last_x(of_step).set_index(["metric", "method"])["value"].sort_index()
    bound = at_end["bound"].iloc[0]
    return {
        "log10 ν, theorem": f"{moments['log10_nu_loose']:.2f}",
        "log10 ν, exact": f"{moments['log10_nu']:.2f}",
        "T": f"{T:.3g}",
        "regret": _mean_se(at_end.loc[[("regret", "analytic")]]),
        "bound": f"{bound:.3g}",
        "naive regret": _mean_se(at_end.loc[[("regret", "plug_in")]]),
        "exponent": _write_exponent(exponents, "analytic"),
        "naive exponent": _write_exponent(exponents, "plug_in"),
    }


def _write_exponent(exponents: pd.Series, method: str) -> str:
    """Write the exponent of a method, or nothing if it has none."""
    return f"{exponents[method]:.2f}" if method in exponents else ""


def _mean_se(values: pd.Series) -> str:
    """Write mean and standard error, large numbers as whole ones."""
    mean, se, *_ = statistics.mean_se(values)
    if se > 2:
        return f"{mean:.0f} ± {se:.0f}"
    return tables.mean_se(mean, se)


KERNEL_LOOKS: dict[str, style.Looks] = {
    "k": {"color": style.COLOURS["black"], "label": "k = 1 / (1 + ||x − x′||²)"},
    "k_c": {
        "color": style.COLOURS["vermillion"],
        "linestyle": style.DASHES["dash"],
        "label": "k cut at c",
    },
}


@panels.figure
def kernels(results: panels.Results[checks.CurvesSettings]) -> Figure:
    """Draw Figure 1: the kernel (solid) and its truncation (dashed), a panel for each c."""
    truncations = results.settings.truncations or []
    cuts = [f"c = {c:g}" for c in truncations]
    look: style.Looks = {"y_label": "kernel", "height": 2.5, "share_y": "row"}
    figure, axes = panels.side_by_side(cuts, x_label="distance ||x − x′||", **look)
    for ax, cut in zip(axes, cuts, strict=True):
        rows = results.select(setting=cut, metric="kernel")
        _exact_curves(ax, rows, KERNEL_LOOKS, linewidth=1.6)
    handles = [panels.plain_handle(**look) for look in KERNEL_LOOKS.values()]
    return panels.shared_legend(figure, handles)


def _exact_curves(
    ax: Axes,
    rows: pd.DataFrame,
    looks: dict[str, style.Looks],
    **changes: Any,
) -> None:
    """Draw values against x of every method that has a look."""
    for method, look in looks.items():
        is_of_method = rows["method"] == method
        points = rows[is_of_method].sort_values("x")
        changed = look | changes
        ax.plot(points["x"], points["value"], **changed)


SMOOTHED = {
    "exact": ("black", 1.2),
    "s = 1": ("vermillion", 1.8),
    "s = 2": ("orange", 0.9),
    "s = 4": ("olive", 0.9),
}
"""Smoothing -> its colour and the width of its line."""


@panels.figure
def losses(results: panels.Results[Any]) -> Figure:
    """Draw Figure 2: absolute loss (left) and hinge loss (right) with their smoothings."""
    titles = ["absolute loss", "hinge loss"]
    x_labels = ["a − y", "y a"]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label="loss", height=2.6)
    drawn = _look_up_smoothings(results.select(metric="loss"))
    for ax, setting in zip(axes, ("absolute", "hinge"), strict=True):
        rows = results.select(setting=setting, metric="loss", method=list(drawn))
        _exact_curves(ax, rows, drawn)
        ax.set_ylim(0, None)
    handles = [panels.plain_handle(**look) for look in drawn.values()]
    return panels.shared_legend(figure, handles)


def _look_up_smoothings(rows: pd.DataFrame) -> dict[str, style.Looks]:
    """Choose the look of the exact losses and of each smoothing."""
    drawn: dict[str, style.Looks] = {}
    for method in panels.methods_in(rows):
        colour, width = SMOOTHED.get(method, ("grey", 0.9))
        drawn[method] = {
            "color": style.COLOURS[colour],
            "linewidth": width,
            "label": f"smoothed, {method}",
        }
    drawn["exact"] |= {"linestyle": style.DASHES["dash"], "label": "not smoothed"}
    return drawn


@panels.figure
def parameter_p(results: panels.Results[code.ParameterSettings]) -> Figure:
    """Draw regret against p at equal rounds with its moment, and per round at equal copies."""
    settings = results.settings
    equal_rounds = f"T = {settings.rounds} rounds"
    equal_copies = f"regret per round, {settings.queries} copies in total"
    labels: style.Looks = {"x_label": "p", "y_label": REGRET}
    titles = [equal_rounds, equal_copies]
    figure, axes = panels.side_by_side(titles, height=2.6, width=7.6, **labels)
    left, right = axes
    rounds = results.select(setting="equal rounds")
    curves(left, rounds, "regret", ["analytic"], label="regret")
    scaled = _scale_moment(rounds)
    look: style.Looks = {"color": GREY, "linestyle": style.DASHES["dash"]}
    left.plot(scaled.index, scaled, label="root of the moment, to scale", **look)
    left.legend(fontsize=7.5, loc="upper center")
    queries = results.select(setting="equal queries")
    curves(right, queries, "regret_per_round", ["analytic"])
    for ax in (left, right):
        ax.set_ylim(0, None)
    return figure


def _scale_moment(rows: pd.DataFrame) -> pd.Series:
    """Scale the root of the moment so that it meets the mean regret at p = 2."""
    moments = rows[rows["metric"] == "log10_nu"]
    log_moment = _first_by(moments, "x")
    regrets = rows[rows["metric"] == "regret"]
    regret = regrets.groupby("x")["value"].mean()
    middle = 2.0 if 2.0 in regret.index else regret.index[0]
    log_root = (log_moment - log_moment[middle]) / 2
    return regret[middle] * 10**log_root


WORLDS = ["naive", "told_4", "constant", "running_mean", "two_copy", "told_truth"]
"""Learners that `impossibility` draws in both worlds."""


@panels.figure
def impossibility(results: panels.Results[Any]) -> Figure:
    """Draw the regret of the worse world, both worlds at the end, and other losses."""
    table = results.table
    titles = [
        "worse world, against T",
        "both worlds, longest run",
        "price of one copy, other losses",
    ]
    x_labels = ["rounds T", "regret per round in world A", "unavoidable regret per round"]
    y_labels = ["expected regret per round", "regret per round in world B", ""]
    labels: style.Looks = {"x_label": x_labels, "y_label": y_labels}
    figure, axes = panels.side_by_side(titles, height=2.9, width=10.5, **labels)
    left, middle, right = axes
    worse = table[table["noise"] == "worse"]
    curves(left, worse, "regret_per_round", WORLDS)
    panels.log_axis(left.xaxis, left.yaxis)
    left.axhline(LOWER_BOUND, color=GREY, zorder=3, **LINE_OF_BOUND)
    _draw_both_worlds(middle, table[table["metric"] == "regret_per_round"])
    _draw_prices(right, table[table["metric"] == "unavoidable"])
    handles = entries(WORLDS, bound=False)
    handles.append(panels.plain_handle("the best of one copy", linewidth=0.9))
    handles.append(panels.plain_handle("lower bound for one copy", **LINE_OF_BOUND))
    return panels.shared_legend(figure, handles)


LOWER_BOUND = (1 - 1 / np.sqrt(5)) ** 2
"""Of the regret per round with one copy, in the worse of the two worlds."""
LINE_OF_BOUND: style.Looks = {"linewidth": 0.9, "linestyle": style.DASHES["dash"]}


def _draw_both_worlds(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the regret per round in world B against that in world A, at the longest run."""
    last = panels.at_last_x(rows)
    means = panels.mean_interval(last, ["method", "noise"])["mean"]
    shown = means.clip(lower=1e-4)
    for method in WORLDS:
        look = {
            "marker": looks(method)["marker"],
            "color": style.colour(method),
            "markersize": 7,
            **style.hollow(method),
            "markerfacecolor": "none",
            "linestyle": "none",
        }
        ax.plot(shown[method, "A"], shown[method, "B"], **look)
    weight = np.linspace(0.2, 1, 400)
    regret_in_A = 5 * (weight - 0.2) ** 2
    regret_in_B = (weight - 1) ** 2
    ax.plot(regret_in_A, regret_in_B, color=GREY, linewidth=0.9, zorder=1.1)
    panels.log_axis(ax.xaxis, ax.yaxis, low=5e-5)


def _draw_prices(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the unavoidable regret of each loss as a bar with its name and value."""
    prices = rows.sort_values("value")
    values = prices["value"]
    ax.barh(range(len(prices)), values, color=style.COLOURS["sky"], height=0.6)
    for number, (loss, value) in enumerate(zip(prices["setting"], values, strict=True)):
        text = f"{loss}, {value:.3f}"
        ax.text(value + 0.005, number, text, va="center", fontsize=7.5)
    ax.set_yticks([])
    ax.set_xlim(0, 0.75)
    ax.grid(axis="y", visible=False)


FORMATS = {
    "predicted": "{:.5g}",
    "measured": "{:.5g}",
    "z": "{:.2f}",
    "bound": "{:.5g}",
    "bound_ratio": "{:.3f}",
}
"""Columns of `identities` and how their numbers are written."""


@panels.table
def identities(results: panels.Results[Any]) -> pd.DataFrame:
    """List quantity, predicted and measured value, z, and the share of the bound."""
    table = results.table
    wide = table.pivot_table("value", ["setting", "method"], "metric", sort=False)
    wide = wide.reindex(columns=list(FORMATS))
    cells = {}
    for name, number_format in FORMATS.items():
        texts = wide[name].map(number_format.format)
        cells[name] = texts.where(wide[name].notna(), "")
    frame = pd.DataFrame(cells)
    frame = frame.rename(columns={"bound_ratio": "predicted / bound"})
    frame = frame.rename_axis(["group", "quantity"])
    frame = frame.reset_index("quantity")
    sizes = table.loc[table["metric"] == "z", "value"].abs()
    largest = sizes.max()
    count = wide["z"].count()
    return tables.noted(frame, f"Largest |z| of {count}: {largest:.2f}.")
