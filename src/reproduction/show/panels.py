"""Parts of figures: rows of results, means with intervals, panels, curves, dots, legends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
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
_EDGE = 0.12
_TITLE = 0.20
_GAP = 0.16
_TICK_LABELS = 0.34
_LABEL = 0.24
_LEGEND_LINE = 0.20

_LETTER = 0.072
"""Width of a letter in a legend, in inches."""
_GAPS_OF_ENTRY = 2.4
"""Gaps around the handle of a legend entry, in letters."""
_HANDLE_LETTER = 0.118
"""Width of a letter of a handle, in inches."""
MANY_POINTS = 20
"""Number of points of a curve above which only some have a marker."""

FEW = 5
"""Number of repetitions below which single runs are drawn instead of an interval."""


class RenderError(ValueError):
    """Error of a figure or table that cannot be drawn: what is missing, and what there is."""


@dataclass(frozen=True)
class Shown:
    """Information about an artifact that is shown next to its table.

    Attributes
    ----------
    settings : object
        At the scale of the table, as the model of its protocol.
    protocol : str
        "" if it has none.
    published : sequence
        Its published values, which tables get and figures do not.
    """

    settings: Any
    protocol: str = ""
    published: Sequence[Any] = ()


@dataclass(frozen=True)
class Results(Generic[S]):
    """The input of a figure or table: results of its artifact and of those that it uses.

    Attributes
    ----------
    tables : mapping
        Artifact -> its result table; the one to draw comes first.
    settings_of : mapping
        Artifact -> its settings at the scale of the tables; the artifact that is drawn comes first,
        also without a table.
    published_of : mapping
        The same for published values, which tables get and figures do not.
    protocol : str
        Of the first; it names axes.
    """

    tables: Mapping[str, pd.DataFrame]
    settings_of: Mapping[str, Any]
    published_of: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    protocol: str = ""

    @property
    def artifact(self) -> str:
        """Return the name of the first table."""
        return next(iter(self.tables))

    @property
    def table(self) -> pd.DataFrame:
        """Return the first table."""
        return self.tables[self.artifact]

    @property
    def settings(self) -> S:
        """Return the settings of the first table."""
        return self.settings_of[self.artifact]

    @property
    def published(self) -> Sequence[Any]:
        """Return the published values of the artifact of the first table."""
        return self.published_of.get(self.artifact, [])

    @property
    def drawn(self) -> Mapping[str, list[str]]:
        """Return the setting ``drawn``: what the artifact draws of the tables that it uses."""
        drawn = next(iter(self.settings_of.values())).drawn
        return drawn if isinstance(drawn, Mapping) else drawn.model_dump()

    def each(self) -> Iterator[Results[S]]:
        """Return the results of each table."""
        for artifact, table in self.tables.items():
            yield Results({artifact: table}, self.settings_of, self.published_of)

    def select(self, **values: object) -> pd.DataFrame:
        """`select` from the first table."""
        return select(self.table, self.artifact, **values)


F = TypeVar("F", bound=Callable[[Results[Any]], Any])


def figure(function: F) -> F:
    """Offer a function, `Results` -> Figure, to artifacts: ``render: module:function``."""
    function.draws = "figure"  # type: ignore[attr-defined]
    return function


def picture(function: F) -> F:
    """Offer a function as `figure` does whose drawing has no curves to read off on its page."""
    function.curves = False  # type: ignore[attr-defined]
    return figure(function)


def table(function: F) -> F:
    """Offer a function, `Results` -> data frame of text (see `figures.tables`), to artifacts."""
    function.draws = "table"  # type: ignore[attr-defined]
    return function


def select(table: pd.DataFrame, artifact: str, **values: object) -> pd.DataFrame:
    """Choose the rows of a result table whose columns have these values (a list: any of them).

    Raises
    ------
    RenderError
        No rows for a value; the message lists what the table has instead.
    """
    rows = table
    for column, wanted in values.items():
        labels = list(wanted) if isinstance(wanted, list | tuple | set) else [wanted]
        matching = rows[rows[column].isin(labels)]
        matching_labels = set(matching[column])
        missing = ", ".join(str(label) for label in labels if label not in matching_labels)
        if missing:
            available = ", ".join(map(str, rows[column].unique()))
            problem = f"the results hold no rows with {column} {missing}"
            raise RenderError(
                f"{artifact}: {problem}; found: {available or 'nothing (the table is empty)'}",
            )
        rows = matching
    return rows


def methods_in(rows: pd.DataFrame) -> list[str]:
    """List the methods of result rows, in the order of the table."""
    return list(rows["method"].unique())


def at_last_x(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the rows at the largest x."""
    return rows[rows["x"] == rows["x"].max()]


def mean_interval(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Average over the repetitions of each group, with a 95 % interval.

    Parameters
    ----------
    rows : DataFrame
        Result rows of one metric.
    by : list of str
        Columns that tell the groups apart, such as ["method", "x"].

    Returns
    -------
    DataFrame
        Indexed by the groups: mean, half_width (0 below `FEW` repetitions) and n.

    Notes
    -----
    The half width is t_{0.975, n-1} s / sqrt(n). Below `FEW` repetitions t and s say little: there
    is no interval, and figures draw the runs themselves.
    """
    from scipy.special import stdtrit

    groups = rows.groupby(by, sort=False)["value"].agg(["mean", "sem", "count"])
    n = groups["count"]
    quantile = stdtrit((n - 1).clip(1), 0.975)
    half_width = (groups["sem"] * quantile).where(n >= FEW).fillna(0.0)
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
    """Make a figure with a panel for each pair of a row and a column.

    Parameters
    ----------
    rows, columns : sequence of str
        Their titles; "" for none.
    x_label, y_label : str or sequence of str
        Below the last row and next to the first column, or one for each column.
    height, left, bottom, between : float
        Of a panel, of the room for labels of axes, of that between rows, inches.
    width : float, optional
        Of the figure (default: `style.WIDTH` of the columns).
    share_y : {"row", "all", "none"}
        Which panels share the y axis.
    share_x : bool
        Whether the panels of a column share the x axis.

    Returns
    -------
    tuple
        The figure, and the array (rows, columns) of axes.
    """
    from matplotlib.figure import Figure

    n_rows = len(rows)
    n_columns = len(columns)
    width = width or style.WIDTH[min(n_columns, 3)]
    x_labels = [x_label] * n_columns if isinstance(x_label, str) else x_label
    if isinstance(y_label, str):
        y_labels = [y_label] + [""] * (n_columns - 1)
    else:
        y_labels = list(y_label)
    has_own_ticks = share_y == "none"
    gap = _GAP
    if has_own_ticks:
        gap += _TICK_LABELS
    if any(y_labels[1:]):
        gap += _LABEL
    right = _EDGE + _TITLE if any(rows) else _EDGE
    top = _EDGE + _TITLE if any(columns) else _EDGE
    gaps = gap * (n_columns - 1)
    panel = (width - left - right - gaps) / n_columns
    gaps_of_rows = (n_rows - 1) * between
    total = bottom + n_rows * height + gaps_of_rows + top
    figure = Figure(figsize=(width, total))
    axes: NDArray[Any] = np.empty((n_rows, n_columns), dtype=object)
    for i, j in np.ndindex(n_rows, n_columns):
        x0 = left + j * (panel + gap)
        y0 = bottom + (n_rows - 1 - i) * (height + between)
        box = np.array((x0, y0, panel, height)) / (width, total, width, total)
        ax = figure.add_axes(
            tuple(box),
            sharey={"row": axes[i, 0], "all": axes[0, 0], "none": None}[share_y],
            sharex=axes[0, j] if share_x else None,
        )
        is_lowest = i == n_rows - 1
        ax.tick_params(
            labelbottom=is_lowest or not share_x,
            labelleft=j == 0 or has_own_ticks,
        )
        ax.set_ylabel(y_labels[j])
        axes[i, j] = ax
    for j, title in enumerate(columns):
        axes[0, j].set_title(title)
        axes[-1, j].set_xlabel(x_labels[j])
    looks = {"rotation": 270, "va": "center", "fontsize": 9.5}
    for ax, title in zip(axes[:, -1], rows, strict=True):
        ax.annotate(title, (1, 0.5), (6, 0), "axes fraction", "offset points", **looks)
    return figure, axes


def side_by_side(
    titles: Sequence[str],
    *,
    share_y: str = "none",
    **options: Any,
) -> tuple[Figure, Any]:
    """Make a `grid_of_panels` with one row, and its axes in a list."""
    figure, axes = grid_of_panels([""], titles, share_y=share_y, **options)
    return figure, list(axes[0])


def wrapped(
    count: int, most: int, *, x_label: str, between: float, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Make ``count`` panels in lines of at most ``most``, with room for titles.

    The lowest panel of each column has the label of the x axis.
    """
    n_columns = min(most, count)
    n_lines = math.ceil(count / n_columns)
    figure, axes = grid_of_panels(
        [""] * n_lines, [" "] * n_columns, x_label=x_label, between=between, **options
    )
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax in axes.flat[max(0, count - n_columns) : count]:
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
    """Make a `grid_of_panels`, each panel with its rows of the table.

    Parameters
    ----------
    results : Results
        Its first table is the default of ``table``.
    rows, columns : sequence of tuples
        (title, values of columns of the table).
    table : DataFrame, optional
        The table to draw.
    legend : sequence of artists
        Entries, with which the `learning_curves` of all rows are drawn, against x / x_unit.
    x_unit : float
        See ``legend``.
    **options
        Those of `grid_of_panels`.
    """
    row_titles = [title for title, _ in rows]
    column_titles = [title for title, _ in columns]
    figure, axes = grid_of_panels(row_titles, column_titles, **options)
    whole = results.table if table is None else table
    cells = []
    for ax, ((_, of_row), (_, of_column)) in zip(axes.flat, product(rows, columns), strict=True):
        cells.append((ax, select(whole, results.artifact, **{**of_row, **of_column})))
    if legend:
        for ax, part in cells:
            learning_curves(ax, part, x_unit=x_unit)
        shared_legend(figure, legend)
    return figure, cells


def curve(
    ax: Axes, x: ArrayLike, mean: ArrayLike, half_width: ArrayLike, method: str, **changes: Any
) -> None:
    """Draw the curve of a method, mean over x, in a band mean -/+ half_width.

    ``changes`` go over `style.line`.
    """
    x, mean, half_width = (np.asarray(a, dtype=float) for a in (x, mean, half_width))
    looks = style.line(method) | changes
    if len(x) > MANY_POINTS:  # few markers, at different places for each method
        step = max(1, len(x) // 7)
        looks["markevery"] = (sum(method.encode()) % step, step)
    ax.plot(x, mean, **looks)
    if (half_width > 0).any():
        colour = looks["color"]
        shade: style.Looks = {
            "facecolor": (colour, style.band(method)),
            "edgecolor": (colour, 0.35),  # edges separate bands that overlap
            "linewidth": 0.5,
            "zorder": 1.5,
        }
        ax.fill_between(x, mean - half_width, mean + half_width, **shade)


def mean_curve(ax: Axes, rows: pd.DataFrame, method: str, **changes: Any) -> None:
    """`curve` of the rows of a method and metric: mean over the repetitions against x."""
    means = mean_interval(rows, ["x"]).sort_index()
    curve(ax, means.index, means["mean"], means["half_width"], method, **changes)


def learning_curves(
    ax: Axes, rows: pd.DataFrame, *, x_unit: float = 1.0, hollow: bool = False, **changes: Any
) -> None:
    """Draw the `curve` of every method in the rows of one metric, against x / x_unit."""
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
"""Look of one of few runs, below their mean."""


def final_dots(
    ax: Axes,
    rows: pd.DataFrame,
    places: Mapping[str, float],
    *,
    along: str = "y",
    hollow: bool = False,
) -> None:
    """Draw values of one metric at the last x as dots with bars mean -/+ half_width.

    Parameters
    ----------
    ax : Axes
        The panel.
    rows : DataFrame
        Result rows of one metric.
    places : mapping
        Method -> its position on the axis of the methods.
    along : {"y", "x"}
        The axis of the values.
    hollow : bool
        Whether the markers are hollow.
    """
    last = at_last_x(rows)
    values = mean_interval(last, ["method"])
    for method, coordinate in places.items():
        mean, half_width, n = map(float, values.loc[method])
        if 1 < n < FEW:
            runs = last.loc[last["method"] == method, "value"]
            xy = ([coordinate] * len(runs), runs)
            looks = _RUN_DOT | {"color": style.colour(method)}
            ax.plot(*(xy if along == "y" else xy[::-1]), **looks)
        looks = style.dot(method)
        if hollow:
            looks |= style.hollow(method)
        looks[f"{along}err"] = half_width
        position = (coordinate, mean) if along == "y" else (mean, coordinate)
        ax.errorbar(*position, **looks)


_RUN_DOT: style.Looks = {"marker": ".", "markersize": 3, "linestyle": "none", "alpha": 0.6}
"""Look of one of few runs, next to their mean."""


def add_beside(ax: Axes, width: float, left: float, width_of_new: float) -> Axes:
    """Make a panel narrower, and add another on its right; all in shares of its width."""
    box = ax.get_position()
    start = box.x0 + left * box.width
    new = ax.figure.add_axes((start, box.y0, width_of_new * box.width, box.height))
    ax.set_position((box.x0, box.y0, width * box.width, box.height))
    return new


def log_axis(*axes: Any, low: float | None = None) -> None:
    """Make x or y axes (``ax.xaxis``) logarithmic, with three numbers on each where they fit.

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
        unlabelled = tuple(range(2, 10)) if highest < 100 * lowest else (2, 5)
        axis.set_major_locator(ticker.LogLocator(subs=labelled, numticks=12))
        axis.set_minor_locator(ticker.LogLocator(subs=unlabelled, numticks=12))
        axis.set_minor_formatter(ticker.NullFormatter())
    _write_numbers_alike(axes[0].figure)


def _labelled_digits(lowest: float, highest: float) -> tuple[int, ...]:
    """The first digits of the numbers on a logarithmic axis: the fewest that give three of them."""
    first_decade = math.floor(math.log10(lowest))
    last_decade = math.ceil(math.log10(highest))
    decades = range(first_decade, last_decade + 1)
    choices = ((1,), (1, 2, 5), (1, 2, 3, 4, 6, 8), tuple(range(1, 10)))
    for digits in choices:
        numbers = [digit * 10.0**decade for decade, digit in product(decades, digits)]
        inside = [number for number in numbers if lowest <= number <= highest]
        if len(inside) >= 3:
            return digits
    return choices[-1]


def _write_numbers_alike(figure: Figure) -> None:
    """Write the numbers of all logarithmic axes of a figure in one way.

    They are powers of ten if one of them is long.
    """
    from matplotlib import ticker

    # An axis with ticks at chosen places keeps them.
    logarithmic = []
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if isinstance(axis.get_major_locator(), ticker.LogLocator):
                logarithmic.append(axis)
    intervals = [axis.get_view_interval() for axis in logarithmic]
    is_short = all(lowest > 1e-4 and highest < 1e5 for lowest, highest in intervals)
    for axis in logarithmic:
        axis.set_major_formatter("{x:g}" if is_short else ticker.LogFormatterMathtext())


def handles(methods: Iterable[str], **changes: Any) -> list[Line2D]:
    """Legend entries of methods, as `curve` draws them."""
    return [plain_handle(**(style.line(method) | changes)) for method in methods]


def dot_handles(methods: Iterable[str]) -> list[Line2D]:
    """Make legend entries of methods, as `final_dots` draws them."""
    entries = []
    for method in methods:
        looks = dict(style.dot(method))
        for look_of_bar in ("elinewidth", "capsize"):
            looks.pop(look_of_bar, None)
        entries.append(plain_handle(**looks))
    return entries


def plain_handle(label: str, **looks: Any) -> Line2D:
    """Make a legend entry of a label, grey unless the looks name another colour."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **({"color": style.COLOURS["grey"], "label": label} | looks))


def full_and_hollow(
    full: str,
    hollow: str,
    linestyles: Sequence[Any] = ("none", "none"),
) -> list[Line2D]:
    """Make two legend entries: what full and what hollow markers mean."""
    line_of_full, line_of_hollow = linestyles
    return [
        plain_handle(full, marker="o", linestyle=line_of_full),
        plain_handle(hollow, marker="o", linestyle=line_of_hollow, markerfacecolor="white"),
    ]


def shared_legend(figure: Figure, entries: Sequence[Artist], *, handle: float = 3.0) -> Figure:
    """Draw one legend for all panels, in a strip added below them; the panels keep their size.

    It has the most columns that fit.

    Parameters
    ----------
    figure : Figure
        The figure, which is also returned.
    entries : sequence of artists
        Entries of the legend.
    handle : float
        Length of the handles in letters.
    """
    lengths = [len(str(entry.get_label())) for entry in entries]
    width = figure.get_size_inches()[0]
    lines = len(entries)
    for columns in range(len(entries), 0, -1):
        lines = math.ceil(len(entries) / columns)
        if _width_of_legend(lengths, lines, handle) < width:
            break
    add_room(figure, below=lines * _LEGEND_LINE + 0.08)
    figure.legend(
        handles=list(entries),
        loc="lower center",
        ncols=math.ceil(len(entries) / lines),
        borderaxespad=0.3,
        handlelength=handle,
    )
    return figure


def _width_of_legend(lengths: Sequence[int], lines: int, handle: float) -> float:
    """Estimate the inches of a legend from the letters of its entries, column by column."""
    width = 0.0
    for start in range(0, len(lengths), lines):
        longest = max(lengths[start : start + lines])
        width += _LETTER * longest + _HANDLE_LETTER * (handle + _GAPS_OF_ENTRY)
    return width


def add_room(figure: Figure, *, below: float = 0.0, above: float = 0.0) -> None:
    """Make the figure taller by two strips, inches; the panels keep their size."""
    width, height = figure.get_size_inches()
    taller = height + below + above
    for ax in figure.axes:
        box = ax.get_position()
        y0 = (box.y0 * height + below) / taller
        ax.set_position((box.x0, y0, box.width, box.height * height / taller))
    figure.set_size_inches(width, taller)
