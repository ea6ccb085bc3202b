"""Parts of figures: rows of a table, means with intervals, grids of panels, curves, dots, legends."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.figures import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Inches around and between panels.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.66, 0.12, 0.30, 0.46
_GAP, _GAP_OWN_AXIS, _ROW_TITLE, _LEGEND_LINE = 0.16, 0.50, 0.20, 0.20


class RenderError(ValueError):
    """A figure or table that cannot be drawn: which one, what is missing, what there is instead."""


def select(table: "pd.DataFrame", artifact: str, **values: object) -> "pd.DataFrame":
    """Rows of a result table whose columns have the given values (a list: any of them).

    Raises
    ------
    RenderError : no such rows, or none for one entry of a list; says what the table has instead.
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


def mean_interval(rows: "pd.DataFrame", by: list[str]) -> "pd.DataFrame":
    """m = mean over repetitions, h = t_{(1+level)/2, n-1} s / sqrt(n), for each group, level 95 %.

    Parameters
    ----------
    rows : result rows of one metric.
    by : columns that tell the groups apart, such as ["method", "x"].

    Returns
    -------
    frame indexed by the groups with columns mean, half_width (0 where there is one repetition only) and n.
    """
    from scipy.special import stdtrit

    groups = rows.groupby(by, sort=False)["value"].agg(["mean", "sem", "count"])
    quantile = {n: stdtrit(n - 1, 0.975) for n in groups["count"].unique() if n > 1}
    groups["half_width"] = (groups["sem"] * groups["count"].map(quantile)).fillna(0.0)
    return groups.rename(columns={"count": "n"})[["mean", "half_width", "n"]]


def grid_of_panels(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    x_label: str,
    y_label: str,
    height: float = 2.1,
    width: float | None = None,
    share_y: str = "row",
) -> tuple["Figure", NDArray[Any]]:
    """A figure with a panel for each pair of a row and a column.

    Parameters
    ----------
    rows, columns : their titles; "" for none.
    x_label, y_label : axis labels, below the last row and beside the first column.
    height : of one panel, inches. ``width``: of the figure, inches (default: `style.WIDTH` of the columns).
    share_y : which panels share the y axis, "row", "all" or "none"; the x axis is shared within a column.

    Returns
    -------
    figure, array (rows, columns) of axes.
    """
    from matplotlib.figure import Figure

    m, n = len(rows), len(columns)
    width = width or style.WIDTH[min(n, 3)]
    gap = _GAP_OWN_AXIS if share_y == "none" else _GAP
    right = _RIGHT + (_ROW_TITLE if any(rows) else 0)
    panel = (width - _LEFT - right - gap * (n - 1)) / n
    total = _BOTTOM + m * height + (m - 1) * _GAP + _TOP
    figure = Figure(figsize=(width, total))
    axes: NDArray[Any] = np.empty((m, n), dtype=object)
    for i, j in np.ndindex(m, n):
        partner: Axes | None = {"row": axes[i, 0], "all": axes[0, 0], "none": None}[share_y]
        box = (_LEFT + j * (panel + gap), _BOTTOM + (m - 1 - i) * (height + _GAP), panel, height)
        ax = figure.add_axes(
            tuple(np.array(box) / (width, total, width, total)), sharex=axes[0, j], sharey=partner
        )
        ax.tick_params(labelbottom=i == m - 1, labelleft=j == 0 or share_y == "none")
        axes[i, j] = ax
    for j, title in enumerate(columns):
        axes[0, j].set_title(title)
        axes[-1, j].set_xlabel(x_label)
    for i, title in enumerate(rows):
        axes[i, 0].set_ylabel(y_label)
        axes[i, -1].annotate(
            title, (1, 0.5), (6, 0), "axes fraction", "offset points", rotation=270, va="center", fontsize=9.5
        )
    return figure, axes


def curve(
    ax: "Axes", x: ArrayLike, mean: ArrayLike, half_width: ArrayLike, method: str, **changes: Any
) -> None:
    """The curve of a method, mean over x, in a band mean -/+ half_width; ``changes`` go over `style.line`."""
    x, mean, half_width = (np.asarray(a, dtype=float) for a in (x, mean, half_width))
    looks = style.line(method) | changes
    if len(x) > 20:  # few markers, at places of its own for each method
        step = max(1, len(x) // 7)
        looks["markevery"] = (sum(method.encode()) % step, step)
    ax.plot(x, mean, **looks)
    if (half_width > 0).any():
        ax.fill_between(
            x, mean - half_width, mean + half_width, color=looks["color"], alpha=0.18, linewidth=0, zorder=1.5
        )


def dots(
    ax: "Axes",
    x: ArrayLike,
    mean: ArrayLike,
    half_width: ArrayLike,
    method: str,
    *,
    along: str = "y",
    **changes: Any,
) -> None:
    """Values of a method as dots with bars mean -/+ half_width; ``along`` is the axis of the values."""
    looks = style.dot(method) | changes
    if along == "y":
        ax.errorbar(x, mean, yerr=half_width, **looks)
    else:
        ax.errorbar(mean, x, xerr=half_width, **looks)


def log_axis(axis: Any) -> None:
    """Make the x or y axis (``ax.xaxis``) logarithmic, with plain numbers at 1, 2, 5 or at powers of ten.

    Call it after drawing: the ticks depend on the range.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    getattr(axis.axes, f"set_{axis.axis_name}scale")("log", nonpositive="clip")
    low, high = axis.get_view_interval()
    narrow = high < 30 * low
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator() if narrow else LogLocator(subs=range(2, 10), numticks=12))
    axis.set_minor_formatter(NullFormatter())


def handles(methods: Iterable[str]) -> list["Line2D"]:
    """Legend entries of methods, as `curve` draws them."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], **style.line(method)) for method in methods]


def shared_legend(figure: "Figure", entries: Sequence["Line2D"], *, columns: int = 5) -> None:
    """One legend for all panels, in a strip added below them; the panels keep their size in inches."""
    width, height = figure.get_size_inches()
    lines = -(-len(entries) // columns)
    strip = lines * _LEGEND_LINE + 0.08
    for ax in figure.axes:
        box, taller = ax.get_position(), height + strip
        ax.set_position((box.x0, (box.y0 * height + strip) / taller, box.width, box.height * height / taller))
    figure.set_size_inches(width, height + strip)
    figure.legend(
        handles=list(entries), loc="lower center", ncols=min(columns, len(entries)), borderaxespad=0.3
    )
