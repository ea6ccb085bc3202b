"""The statistics that a check can ask for: one entry each.

Claims, estimates and pages derive from the entries.
To add a statistic, add an entry to `STATISTICS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
"""Relative difference that counts as none: tables keep ten digits."""

Texts = list[str]
"""Parts of a text, which pages join."""


@dataclass(frozen=True)
class Effect:
    """How the estimate of a statistic reads in a sentence.

    Attributes
    ----------
    name : str
        What the estimate is called next to its interval.
    scale : callable
        Puts the estimate on the scale on which it is written.
    words : callable
        The estimate on that scale, such as "41 % lower than".
    """

    name: str
    scale: Callable[[float], float]
    words: Callable[[float], str]


@dataclass(frozen=True)
class Statistic:
    """One statistic of a check.

    Attributes
    ----------
    meaning : str
        What it is, for the documentation.
    formula : callable
        Its parts from the texts of a, b and base.
    compare : callable or None
        The values of pairs (a, b); None if the statistic has no side b.
    effect : Effect or None
        How the estimate reads; None if it has no sentence.
    """

    meaning: str
    formula: Callable[[str, str, str], Texts]
    compare: Callable[["pd.Series", "pd.Series"], Any] | None = None
    effect: Effect | None = None

    @property
    def is_paired(self) -> bool:
        """Whether it compares rows of a with rows of b."""
        return self.compare is not None


def _differences(a: "pd.Series", b: "pd.Series") -> Any:
    return np.where(_are_equal(a, b), 0.0, a - b)


def _ratios(a: "pd.Series", b: "pd.Series") -> Any:
    if (b == 0).any():
        raise ValueError("needs a divisor that is not 0")
    return np.where(_are_equal(a, b), 1.0, a / b)


def _log_ratios(a: "pd.Series", b: "pd.Series") -> Any:
    if not ((a > 0) & (b > 0)).all():
        raise ValueError("needs positive values")
    return np.log(_ratios(a, b))


def _are_equal(a: "pd.Series", b: "pd.Series") -> Any:
    return np.isclose(a, b, rtol=ROUNDING, atol=0)


def _describe_value(estimate: float) -> str:
    return f"{estimate:.3g}"


def _describe_difference(estimate: float) -> str:
    if estimate == 0:
        return "equal to"
    side = "below" if estimate < 0 else "above"
    return f"{abs(estimate):.3g} {side}"


def _describe_ratio(ratio: float) -> str:
    """Say a ratio as ``51 % lower than``, or as ``3.2 times`` where it is far from 1."""
    if not 0.5 <= ratio <= 2:
        return f"{ratio:.3g} times"
    if abs(ratio - 1) < 5e-4:
        return "as large as"
    side = "lower" if ratio < 1 else "higher"
    return f"{100 * abs(ratio - 1):.2g} % {side} than"


RATIO_OF_DIFFERENCES = "ratio_of_differences"
"""The one statistic with a third selector, ``base``: it takes both sides' differences from it."""

STATISTICS: dict[str, Statistic] = {
    "value": Statistic(
        meaning="`value` of `a`",
        formula=lambda a, b, base: [a],
        effect=Effect("", float, _describe_value),
    ),
    "difference": Statistic(
        meaning="`difference` a − b",
        formula=lambda a, b, base: [a, " − ", b],
        compare=_differences,
        effect=Effect("difference", float, _describe_difference),
    ),
    "ratio": Statistic(
        meaning="`ratio` a / b",
        formula=lambda a, b, base: [a, " / ", b],
        compare=_ratios,
        effect=Effect("ratio", float, _describe_ratio),
    ),
    RATIO_OF_DIFFERENCES: Statistic(
        meaning=f"`{RATIO_OF_DIFFERENCES}` (a − base) / (b − base), a ratio of two means",
        formula=lambda a, b, base: ["(", a, " − ", base, ") / (", b, " − ", base, ")"],
        compare=_differences,
    ),
    "log_ratio": Statistic(
        meaning="`log_ratio` log(a / b)",
        formula=lambda a, b, base: ["log(", a, " / ", b, ")"],
        compare=_log_ratios,
        effect=Effect("ratio", exp, _describe_ratio),
    ),
    "relative_se": Statistic(
        meaning="`relative_se`, the standard error over the mean",
        formula=lambda a, b, base: ["standard error / mean of ", a],
    ),
}
"""Name of a statistic -> what it is."""

if TYPE_CHECKING:
    StatisticName = str
else:
    StatisticName = Literal[tuple(STATISTICS)]

PAIRED = tuple(name for name, statistic in STATISTICS.items() if statistic.is_paired)
"""Statistics that compare rows of a with rows of b."""
