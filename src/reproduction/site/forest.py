"""Printed numbers beside ours: (ours − printed) / margin with its interval, a line for each value."""

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any, NamedTuple

from reproduction.figures import names
from reproduction.site.states import state
from reproduction.site.text import number

REACH = 3.0
"""Margins to either side that a line shows; what lies further out is drawn at the end, as an arrow."""


COLUMNS = ("dataset", "method", "noise", "setting", "metric", "x", "source")
"""Columns of the selectors in the order in which a line is named after them."""


NAMED = {"dataset": names.data_set, "method": names.method, "noise": names.noise, "setting": names.setting}
"""Columns whose labels have names for readers."""


class Line(NamedTuple):
    """One printed value; positions are per cent of the width, ``low`` and ``high`` the interval's ends."""

    id: str
    label: str
    verdict: str
    tone: str
    at: float
    low: float
    high: float
    beyond: str
    ours: str
    printed: str
    distance: str


class Block(NamedTuple):
    """The lines of one data set (or whatever comes first in the selectors)."""

    title: str
    lines: list[Line]


def blocks(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The lines of the values that were measured, grouped by the first column of the selectors that varies.

    rows : verdict rows of printed values, with their ``selector``.
    """
    varying = _varying(rows)
    found: dict[str, list[Line]] = {}
    for row in rows:
        if not row["estimate"]:
            continue
        words = [_word(row["selector"].get(column, ""), column) for column in varying]
        head, rest = (words[0], words[1:]) if len(varying) > 1 else ("", words)
        found.setdefault(head, []).append(_line(row, " · ".join(filter(None, rest)) or row["id"]))
    return [Block(title, lines) for title, lines in found.items()]


def _varying(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    named = dict.fromkeys(column for row in rows for column in row["selector"])
    columns = [column for column in COLUMNS if column in named]
    return [c for c in columns if len({_word(row["selector"].get(c, "")) for row in rows}) > 1]


def _word(value: Any, column: str = "") -> str:
    """A label of a selector as a reader knows it."""
    if isinstance(value, list):
        return " or ".join(_word(each, column) for each in value)
    return NAMED.get(column, str)(str(value))


def _line(row: Mapping[str, Any], label: str) -> Line:
    printed, margin, ours = (_float(row[key]) for key in ("published", "margin", "estimate"))
    distance = (ours - printed) / margin
    interval = (_float(row[f"difference_{end}"]) for end in ("low", "high"))
    ends = [_place(end / margin if not isnan(end) else distance) for end in interval]
    beyond = "" if abs(distance) <= REACH else "left" if distance < 0 else "right"
    return Line(
        id=row["id"],
        label=label,
        verdict=row["verdict"],
        tone=state(row["verdict"]).tone,
        at=_place(distance),
        low=ends[0],
        high=ends[1],
        beyond=beyond,
        ours=number(ours),
        printed=number(printed),
        distance=f"{distance:+.2f}".replace("-", "−"),
    )


def _place(margins: float) -> float:
    """Per cent of the width."""
    return round(50 + 50 * max(-1.0, min(1.0, margins / REACH)), 2)


def _float(cell: str) -> float:
    return float(cell) if cell else nan
