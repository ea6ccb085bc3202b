"""Bland and Altman's picture of a table as SVG: ours minus printed, against the printed value."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, isnan, log10
from typing import Any, NamedTuple

from reproduction.verdicts.agreement import LIMITS
from reproduction.verdicts.names import CELL, NOT_COMPARABLE
from reproduction.verdicts.sentences import Sentences, value

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 280, 56, 150, 16, 40
MARKS = {"inside": "#1b7f5a", "undecided": "#b78300", "outside": "#b5341f"}
OTHER = "#5b6875"


class Point(NamedTuple):
    """A printed value, ours beside it, and the state of the cell."""

    printed: float
    ours: float
    state: str
    label: str


class Scale(NamedTuple):
    """Numbers from ``low`` to ``high`` along pixels from ``start`` to ``stop``."""

    low: float
    high: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """Pixel of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """Three to seven round numbers."""
        raw = (self.high - self.low) / 5
        power = 10.0 ** floor(log10(raw))
        step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - raw))
        return [step * k for k in range(ceil(self.low / step), floor(self.high / step) + 1)]


def of_table(verdicts: Iterable[Mapping[Any, Any]], limits: Iterable[Mapping[Any, Any]]) -> str:
    """The picture of an artifact's verdicts; "" where nothing can be compared.

    verdicts : numbers may be text, as they come from a file; a missing one is "" or NaN.
    limits : rows of the artifact's agreement, of which that of the `LIMITS` is drawn.
    """
    points = [
        _point(row) for row in verdicts if row["kind"] == "published" and row["verdict"] != NOT_COMPARABLE
    ]
    points = [point for point in points if not isnan(point.ours)]
    drawn = next((row for row in limits if row["quantity"] == LIMITS), None)
    if not points or drawn is None:
        return ""
    return bland_altman(points, drawn["estimate"], (drawn["low"], drawn["high"]))


def _point(row: Mapping[Any, Any]) -> Point:
    label = f"{Sentences().words(value(row['where']))}: {row['verdict']}"
    return Point(float(row["published"]), float(row["estimate"] or "nan"), row["verdict"], label)


def bland_altman(points: Sequence[Point], mean: float, limits: tuple[float, float]) -> str:
    """SVG of the points with the mean difference and the limits of agreement as lines."""
    gaps = [point.ours - point.printed for point in points]
    x = _scale([point.printed for point in points], LEFT, WIDTH - RIGHT)
    y = _scale([*gaps, *limits, 0.0], HEIGHT - BOTTOM, TOP)
    parts = [_axes(x, y), _line(x, y, 0.0, "", "1"), _line(x, y, mean, f"mean {mean:.3g}", "none")]
    parts += [_line(x, y, limit, f"{limit:.3g}", "5 4") for limit in limits]
    for point, gap in zip(points, gaps, strict=True):
        parts.append(_mark(point, x.at(point.printed), y.at(gap)))
    about = "Ours minus the published value, against the published value"
    return (
        f'<svg class="agreement" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{about}" '
        f'font-family="system-ui, sans-serif" font-size="11">{"".join(parts)}{_legend(points)}</svg>'
    )


def _scale(values: Sequence[float], start: float, stop: float) -> Scale:
    low, high = min(values), max(values)
    pad = 0.06 * (high - low) or 1.0
    return Scale(low - pad, high + pad, start, stop)


def _axes(x: Scale, y: Scale) -> str:
    parts = [f'<path d="M{x.start} {y.stop}V{y.start}H{x.stop}" fill="none" stroke="{OTHER}"/>']
    for tick in x.ticks():
        parts.append(_text(x.at(tick), y.start + 15, f"{tick:.4g}", "middle"))
    for tick in y.ticks():
        parts.append(_text(x.start - 6, y.at(tick) + 4, f"{tick:.4g}", "end"))
    parts.append(_text((x.start + x.stop) / 2, HEIGHT - 6, "published", "middle"))
    middle = (y.start + y.stop) / 2
    turned = f'transform="rotate(-90 12 {middle:.1f})"'
    return "".join(parts) + _text(12, middle, "ours − published", "middle", turned)


def _line(x: Scale, y: Scale, value: float, label: str, dashes: str) -> str:
    at = f"{y.at(value):.1f}"
    line = f'<path d="M{x.start} {at}H{x.stop}" stroke="{OTHER}" stroke-dasharray="{dashes}" fill="none"/>'
    return line + (_text(x.stop + 6, y.at(value) + 4, label, "start") if label else "")


def _mark(point: Point, x: float, y: float) -> str:
    """A circle inside, a square undecided, a triangle outside: told apart without colours too."""
    colour = MARKS.get(point.state, OTHER)
    shape = {
        CELL[1]: f"M{x - 3.5:.1f} {y - 3.5:.1f}h7v7h-7z",
        CELL[2]: f"M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z",
    }.get(point.state, f"M{x - 3.5:.1f} {y:.1f}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z")
    title = f"<title>{escape(point.label)}</title>"
    return f'<path d="{shape}" fill="{colour}" fill-opacity="0.75">{title}</path>'


def _legend(points: Sequence[Point]) -> str:
    parts = []
    for i, state in enumerate(dict.fromkeys(point.state for point in points)):
        count = sum(point.state == state for point in points)
        y = TOP + 14 + 16 * i
        parts.append(_mark(Point(0, 0, state, state), WIDTH - 92, y))
        parts.append(_text(WIDTH - 82, y + 4, f"{count} {state}", "start"))
    return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#414c57" {more}>{escape(text)}</text>'
