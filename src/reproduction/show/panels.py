"""Parts of figures: rows of results, means with intervals, grids of panels, curves, dots, legends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reproduction.show import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

S = TypeVar("S")
Cell = tuple["Axes", "pd.DataFrame"]
"""A panel and its rows of the table."""

# Inches around and between panels.
_EDGE, _TITLE, _GAP, _TICK_LABELS, _LABEL, _LEGEND_LINE = 0.12, 0.20, 0.16, 0.34, 0.24, 0.20

FEW = 5
"""Repetitions below which the runs are drawn and no interval."""


class RenderError(ValueError):
    """A figure or table that cannot be drawn: which one, what is missing, what there is instead."""


@dataclass(frozen=True)
class Shown:
    """What is shown of an artifact besides its table.

    settings : at the scale of the table, as the model of its protocol.   protocol : "" if it has none.
    published : its published values, which tables get and figures do not.
    """

    settings: Any
    protocol: str = ""
    published: Sequence[Any] = ()


@dataclass(frozen=True)
class Results(Generic[S]):
    """What a figure or table is drawn from: result tables and settings of its artifact and of those it uses.

    tables : artifact -> its result table; the one to draw comes first.   protocol : of the first; names axes.
    settings_of : artifact -> its settings at the scale of the tables; the artifact that is drawn comes
    first, also without a table.   published_of : the same for published values, which tables get and
    figures do not.
    """

    tables: Mapping[str, pd.DataFrame]
    settings_of: Mapping[str, Any]
    published_of: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    protocol: str = ""

    @property
    def artifact(self) -> str:
        """The name of the first table."""
        return next(iter(self.tables))

    @property
    def table(self) -> pd.DataFrame:
        """The first table."""
        return self.tables[self.artifact]

    @property
    def settings(self) -> S:
        """The settings of the first table."""
        return self.settings_of[self.artifact]

    @property
    def published(self) -> Sequence[Any]:
        """The published values of the artifact of the first table."""
        return self.published_of.get(self.artifact, [])

    @property
    def drawn(self) -> Mapping[str, list[str]]:
        """What the artifact chooses to draw of the tables that it uses: its setting ``drawn``."""
        drawn = next(iter(self.settings_of.values())).drawn
        return drawn if isinstance(drawn, Mapping) else drawn.model_dump()

    def each(self) -> Iterator[Results[S]]:
        """The results of one table after the other."""
        for artifact, table in self.tables.items():
            yield Results({artifact: table}, self.settings_of, self.published_of)

    def select(self, **values: object) -> pd.DataFrame:
        """`select` from the first table."""
        return select(self.table, self.artifact, **values)


F = TypeVar("F", bound=Callable[[Results[Any]], Any])


def figure(function: F) -> F:
    """Offer a function, `Results` -> matplotlib Figure, to artifacts: ``render: module:function``."""
    function.draws = "figure"  # type: ignore[attr-defined]
    return function


def picture(function: F) -> F:
    """Offer a function as `figure` does whose drawing has no curves: its page has none to read off."""
    function.curves = False  # type: ignore[attr-defined]
    return figure(function)


def table(function: F) -> F:
    """Offer a function, `Results` -> data frame of text (see `figures.tables`), to artifacts."""
    function.draws = "table"  # type: ignore[attr-defined]
    return function


def select(table: pd.DataFrame, artifact: str, **values: object) -> pd.DataFrame:
    """Rows of a result table whose columns have the given values (a list: any of them).

    Raises RenderError : no rows for a value; the message lists what the table has instead.
    """
    rows = table
    for column, wanted in values.items():
        several = list(wanted) if isinstance(wanted, list | tuple | set) else [wanted]
        found = rows[rows[column].isin(several)]
        missing = [value for value in several if value not in set(found[column])]
        if missing:
            there = ", ".join(map(str, rows[column].unique())) or "nothing (the table is empty)"
            absent = ", ".join(map(str, missing))
            raise RenderError(f"{artifact}: the results hold no rows with {column} {absent}; found: {there}")
        rows = found
    return rows


def methods_in(rows: pd.DataFrame) -> list[str]:
    """The methods of result rows, in the order of the table."""
    return list(rows["method"].unique())


def mean_interval(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """m = mean over repetitions, h = t_{(1+level)/2, n-1} s / sqrt(n), for each group, level 95 %.

    Below `FEW` repetitions t and s say little: there is no interval, and figures draw the runs themselves.
    rows : result rows of one metric.   by : columns that tell the groups apart, such as ["method", "x"].
    Returns a frame indexed by the groups: mean, half_width (0 below `FEW` repetitions) and n.
    """
    from scipy.special import stdtrit

    groups = rows.groupby(by, sort=False)["value"].agg(["mean", "sem", "count"])
    n = groups["count"]
    half_width = (groups["sem"] * stdtrit((n - 1).clip(1), 0.975)).where(n >= FEW).fillna(0.0)
    return groups.assign(half_width=half_width, n=n)[["mean", "half_width", "n"]]


def grid_of_panels(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    x_label: str | Sequence[str] = "",
    y_label: str | Sequence[str] = "",
    height: float = 2.1,
    width: float | None = None,
    left: float = 0.66,
    bottom: float = 0.46,
    between: float = _GAP,
    share_y: str = "row",
    share_x: bool = True,
) -> tuple[Figure, NDArray[Any]]:
    """A figure with a panel for each pair of a row and a column, and the array (rows, columns) of axes.

    rows, columns : their titles; "" for none.   x_label, y_label : below the last row and next to the first
    column, or one for each column.   height, left, bottom, between : of a panel, of the room for labels of
    axes, of that between rows, inches.   width : of the figure (default: `style.WIDTH` of the columns).
    share_y : which panels share the y axis, "row", "all" or "none".   share_x : do those of a column?
    """
    from matplotlib.figure import Figure

    m, n = len(rows), len(columns)
    width = width or style.WIDTH[min(n, 3)]
    x_labels = [x_label] * n if isinstance(x_label, str) else x_label
    y_labels = [y_label] + [""] * (n - 1) if isinstance(y_label, str) else list(y_label)
    gap = _GAP + _TICK_LABELS * (share_y == "none") + _LABEL * any(y_labels[1:])
    right, top = _EDGE + _TITLE * any(rows), _EDGE + _TITLE * any(columns)
    panel = (width - left - right - gap * (n - 1)) / n
    total = bottom + m * height + (m - 1) * between + top
    figure = Figure(figsize=(width, total))
    axes: NDArray[Any] = np.empty((m, n), dtype=object)
    for i, j in np.ndindex(m, n):
        box = (left + j * (panel + gap), bottom + (m - 1 - i) * (height + between), panel, height)
        partners = (
            {"row": axes[i, 0], "all": axes[0, 0], "none": None}[share_y],
            axes[0, j] if share_x else None,
        )
        place = tuple(np.array(box) / (width, total, width, total))
        axes[i, j] = ax = figure.add_axes(place, sharey=partners[0], sharex=partners[1])
        ax.tick_params(labelbottom=i == m - 1 or not share_x, labelleft=j == 0 or share_y == "none")
        ax.set_ylabel(y_labels[j])
    for j, title in enumerate(columns):
        axes[0, j].set_title(title)
        axes[-1, j].set_xlabel(x_labels[j])
    for ax, title in zip(axes[:, -1], rows, strict=True):
        looks = {"rotation": 270, "va": "center", "fontsize": 9.5}
        ax.annotate(title, (1, 0.5), (6, 0), "axes fraction", "offset points", **looks)
    return figure, axes


def side_by_side(titles: Sequence[str], *, share_y: str = "none", **options: Any) -> tuple[Figure, Any]:
    """`grid_of_panels` with one row, and its axes in a list."""
    figure, axes = grid_of_panels([""], titles, share_y=share_y, **options)
    return figure, list(axes[0])


def wrapped(
    count: int, most: int, *, x_label: str, between: float, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` panels in lines of at most ``most``, with room for titles, and their axes.

    The lowest panel of each column has the label of the x axis.
    """
    columns = min(most, count)
    titles, lines = [" "] * columns, [""] * -(-count // columns)
    figure, axes = grid_of_panels(lines, titles, x_label=x_label, between=between, **options)
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax in axes.flat[max(0, count - columns) : count]:
        ax.set_xlabel(x_label)
        ax.tick_params(labelbottom=True)
    return figure, list(axes.flat[:count])


def facets(
    results: Results[Any],
    rows: Sequence[tuple[str, Mapping[str, Any]]],
    columns: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    table: pd.DataFrame | None = None,
    legend: Sequence[Artist] = (),
    x_unit: float = 1.0,
    **options: Any,
) -> tuple[Figure, list[Cell]]:
    """`grid_of_panels` of (title, values of columns of the table), each panel with its rows of the table.

    table : the first of the results by default.   legend : its entries, with which the `learning_curves` of
    all rows are drawn, against x / x_unit.   options : those of `grid_of_panels`.
    """
    figure, axes = grid_of_panels([title for title, _ in rows], [title for title, _ in columns], **options)
    shown = results.table if table is None else table
    wheres = [{**down, **across} for _, down in rows for _, across in columns]
    cells = [
        (ax, select(shown, results.artifact, **where)) for ax, where in zip(axes.flat, wheres, strict=True)
    ]
    if legend:
        for ax, own in cells:
            learning_curves(ax, own, x_unit=x_unit)
        shared_legend(figure, legend)
    return figure, cells


def curve(
    ax: Axes, x: ArrayLike, mean: ArrayLike, half_width: ArrayLike, method: str, **changes: Any
) -> None:
    """The curve of a method, mean over x, in a band mean -/+ half_width; ``changes`` go over `style.line`."""
    x, mean, half_width = (np.asarray(a, dtype=float) for a in (x, mean, half_width))
    looks = style.line(method) | changes
    edge, inside = (looks["color"], 0.35), (looks["color"], style.band(method))  # edges tell bands apart
    shade: style.Looks = {"facecolor": inside, "edgecolor": edge, "linewidth": 0.5, "zorder": 1.5}
    if len(x) > 20:  # few markers, at different places for each method
        step = max(1, len(x) // 7)
        looks["markevery"] = (sum(method.encode()) % step, step)
    ax.plot(x, mean, **looks)
    if (half_width > 0).any():
        ax.fill_between(x, mean - half_width, mean + half_width, **shade)


def mean_curve(ax: Axes, rows: pd.DataFrame, method: str, **changes: Any) -> None:
    """`curve` of the rows of a method and metric: mean over the repetitions against x."""
    means = mean_interval(rows, ["x"]).sort_index()
    curve(ax, means.index, means["mean"], means["half_width"], method, **changes)


def learning_curves(
    ax: Axes, rows: pd.DataFrame, *, x_unit: float = 1.0, hollow: bool = False, **changes: Any
) -> None:
    """`curve` of every method in the rows of one metric: mean over the repetitions against x / x_unit."""
    means = mean_interval(rows, ["method", "x"])
    for method in rows["method"].unique():
        values = means.loc[method].sort_index()
        looks = changes | (style.hollow(method) if hollow else {})
        if 1 < values["n"].max() < FEW:
            for _, run in rows[rows["method"] == method].groupby("repetition"):
                mean = run.groupby("x")["value"].mean()
                ax.plot(mean.index / x_unit, mean, color=style.colour(method), **_RUN)
        curve(ax, values.index / x_unit, values["mean"], values["half_width"], method, **looks)


_RUN: style.Looks = {"linewidth": 0.6, "alpha": 0.45, "zorder": 1.5, "linestyle": "-", "marker": ""}
"""One run of few, below the mean of them."""


def final_dots(
    ax: Axes, rows: pd.DataFrame, places: Mapping[str, float], *, along: str = "y", hollow: bool = False
) -> None:
    """Values of one metric at the last x as dots with bars mean -/+ half_width.

    places : method -> where it is on the axis of the methods.   along : that of the values, "x" or "y".
    """
    last = rows[rows["x"] == rows["x"].max()]
    values = mean_interval(last, ["method"])
    for method, place in places.items():
        mean, half_width, n = map(float, values.loc[method])
        if 1 < n < FEW:
            runs = last.loc[last["method"] == method, "value"]
            here = [place] * len(runs)
            where = (here, runs) if along == "y" else (runs, here)
            ax.plot(*where, color=style.colour(method), marker=".", markersize=3, linestyle="none", alpha=0.6)
        looks = style.dot(method) | (style.hollow(method) if hollow else {}) | {f"{along}err": half_width}
        at = (place, mean) if along == "y" else (mean, place)
        ax.errorbar(*at, **looks)


def log_axis(*axes: Any, low: float | None = None) -> None:
    """Make x or y axes (``ax.xaxis``) logarithmic, with at least three numbers on each where they fit.

    Call it after drawing: the ticks depend on the range.

    Parameters
    ----------
    *axes : matplotlib Axis
        Axes of one figure.
    low : float, optional
        What lies below is cut off.
    """
    from matplotlib import ticker

    for axis in axes:
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log", nonpositive="clip")
        lowest, highest = axis.get_view_interval()
        if low is not None:
            lowest = low
            getattr(axis.axes, f"set_{axis.axis_name}lim")(low, highest)
        labelled = _labelled_digits(lowest, highest)
        more = range(2, 10) if highest < 100 * lowest else (2, 5)
        axis.set_major_locator(ticker.LogLocator(subs=labelled, numticks=12))
        axis.set_minor_locator(ticker.LogLocator(subs=tuple(more), numticks=12))
        axis.set_minor_formatter(ticker.NullFormatter())
    _write_numbers_alike(axes[0].figure)


def _labelled_digits(lowest: float, highest: float) -> tuple[int, ...]:
    """The first digits of the numbers on a logarithmic axis: the fewest that give three of them."""
    decades = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    choices = ((1,), (1, 2, 5), (1, 2, 3, 4, 6, 8), tuple(range(1, 10)))
    for digits in choices:
        numbers = [digit * 10.0**decade for decade in decades for digit in digits]
        inside = [number for number in numbers if lowest <= number <= highest]
        if len(inside) >= 3:
            return digits
    return choices[-1]


def _write_numbers_alike(figure: Figure) -> None:
    """Write the numbers of all logarithmic axes of a figure in one way, as powers of ten if one is long."""
    from matplotlib import ticker

    every_axis = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    # An axis with ticks at chosen places keeps them.
    logarithmic = [axis for axis in every_axis if isinstance(axis.get_major_locator(), ticker.LogLocator)]
    intervals = [axis.get_view_interval() for axis in logarithmic]
    is_short = all(lowest > 1e-4 and highest < 1e5 for lowest, highest in intervals)
    for axis in logarithmic:
        axis.set_major_formatter("{x:g}" if is_short else ticker.LogFormatterMathtext())


def handles(methods: Iterable[str], **changes: Any) -> list[Line2D]:
    """Legend entries of methods, as `curve` draws them."""
    return [plain_handle(**(style.line(method) | changes)) for method in methods]


def dot_handles(methods: Iterable[str]) -> list[Line2D]:
    """Legend entries of methods, as `final_dots` draws them."""
    bars = ("elinewidth", "capsize")
    return [plain_handle(**{k: v for k, v in style.dot(m).items() if k not in bars}) for m in methods]


def plain_handle(label: str, **looks: Any) -> Line2D:
    """A legend entry of a label, grey unless the looks say another colour."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **({"color": style.COLOURS["grey"], "label": label} | looks))


def full_and_hollow(full: str, hollow: str, linestyles: Sequence[Any] = ("none", "none")) -> list[Line2D]:
    """Two legend entries: what full and what hollow markers mean."""
    looks: tuple[style.Looks, ...] = ({"label": full}, {"label": hollow, "markerfacecolor": "white"})
    return [
        plain_handle(marker="o", linestyle=line, **look) for line, look in zip(linestyles, looks, strict=True)
    ]


def shared_legend(figure: Figure, entries: Sequence[Artist], *, handle: float = 3.0) -> Figure:
    """One legend for all panels, in a strip added below them; the panels keep their size in inches.

    It has the most columns that fit, where a letter is 0.072 inches, a handle and its gaps come on top.
    ``handle``: length of the handles in letters. Returns the figure.
    """
    letters, lines = [len(str(entry.get_label())) for entry in entries], len(entries)
    for columns in range(len(entries), 0, -1):
        lines = math.ceil(len(entries) / columns)
        longest = [max(letters[i : i + lines]) for i in range(0, len(entries), lines)]
        if sum(0.072 * most + 0.118 * (handle + 2.4) for most in longest) < figure.get_size_inches()[0]:
            break
    add_room(figure, below=lines * _LEGEND_LINE + 0.08)
    looks: style.Looks = {"borderaxespad": 0.3, "handlelength": handle}
    figure.legend(handles=list(entries), loc="lower center", ncols=math.ceil(len(entries) / lines), **looks)
    return figure


def add_room(figure: Figure, *, below: float = 0.0, above: float = 0.0) -> None:
    """Make the figure taller by two strips, inches; the panels keep their size."""
    width, height = figure.get_size_inches()
    taller = height + below + above
    for ax in figure.axes:
        box = ax.get_position()
        y0 = (box.y0 * height + below) / taller
        ax.set_position((box.x0, y0, box.width, box.height * height / taller))
    figure.set_size_inches(width, taller)
