"""Statistics that a check can name.

Claims, estimates, verdicts and pages derive from the entries.
To add a statistic, add an entry to `STATISTICS` and its meaning to the row of `statistic` in
``docs/verdicts.md``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisylabels.statistics import mean_se

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
"""Relative difference that counts as none: tables keep ten digits."""

Texts = list[str]
"""Parts of a text, which pages join."""


@dataclass(frozen=True)
class Effect:
    """Words for the estimate of a statistic in a sentence.

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
class Reduction:
    """A number from the repetitions that is not their mean, and how to compute it.

    A check compares the number with its bound without a test.

    Attributes
    ----------
    compute : callable
        The number from the values (n,), one for each repetition; NaN where it is not defined.
    of_one : str
        What pages say if it is not defined because there is one repetition.
    undefined : str
        What pages say if it is not defined although there are several repetitions.
    """

    compute: Callable[[NDArray[np.float64]], float]
    of_one: str
    undefined: str


@dataclass(frozen=True)
class Statistic:
    """One statistic of a check.

    Attributes
    ----------
    meaning : str
        What it is, for the documentation.
    formula : callable
        Its parts from the texts of a, b and base.
    reduction : Reduction or None
        What is compared with the bound; None is the mean over the repetitions, which is tested.
        Every entry says which.
    compare : callable or None
        The values of pairs (a, b); None if the statistic has no side b.
    effect : Effect or None
        How the estimate reads; None if it has no sentence.
    counts_losses : bool
        Whether a check counts the groups in which the mean is significantly above 0. The groups are
        tested one by one, at the level of the check, without a correction.
    """

    meaning: str
    formula: Callable[[str, str, str], Texts]
    reduction: Reduction | None
    compare: Callable[["pd.Series", "pd.Series"], Any] | None = None
    effect: Effect | None = None
    counts_losses: bool = False

    @property
    def is_paired(self) -> bool:
        """Whether it compares rows of a with rows of b."""
        return self.compare is not None

    @property
    def is_mean(self) -> bool:
        """Whether the bound is on a mean over the repetitions, which is tested."""
        return self.reduction is None


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


def _relative_se(values: NDArray[np.float64]) -> float:
    estimate = mean_se(values)
    if estimate.df == 0 or estimate.mean == 0:
        return nan
    return float(estimate.se / abs(estimate.mean))


def _describe_value(estimate: float) -> str:
    return f"{estimate:.3g}"


def _describe_difference(estimate: float) -> str:
    if estimate == 0:
        return "equal to"
    side = "below" if estimate < 0 else "above"
    return f"{abs(estimate):.3g} {side}"


def _describe_ratio(ratio: float) -> str:
    """Write a ratio as ``51 % lower than``, or as ``3.2 times`` if it is far from 1."""
    if not 0.5 <= ratio <= 2:
        return f"{ratio:.3g} times"
    if abs(ratio - 1) < 5e-4:
        return "as large as"
    side = "lower" if ratio < 1 else "higher"
    return f"{100 * abs(ratio - 1):.2g} % {side} than"


RATIO_OF_DIFFERENCES = "ratio_of_differences"
"""The one statistic with a third selector, ``base``, from which both sides are measured."""

SIGNIFICANT_LOSSES = "significant_losses"
"""The one statistic that counts, so that a check can ask for no significant loss."""

STATISTICS: dict[str, Statistic] = {
    "value": Statistic(
        meaning="`value` of `a`",
        formula=lambda a, b, base: [a],
        reduction=None,
        effect=Effect("", float, _describe_value),
    ),
    "difference": Statistic(
        meaning="`difference` a − b",
        formula=lambda a, b, base: [a, " − ", b],
        reduction=None,
        compare=_differences,
        effect=Effect("difference", float, _describe_difference),
    ),
    "ratio": Statistic(
        meaning="`ratio` a / b",
        formula=lambda a, b, base: [a, " / ", b],
        reduction=None,
        compare=_ratios,
        effect=Effect("ratio", float, _describe_ratio),
    ),
    RATIO_OF_DIFFERENCES: Statistic(
        meaning=f"`{RATIO_OF_DIFFERENCES}` (a − base) / (b − base), a ratio of two means",
        formula=lambda a, b, base: ["(", a, " − ", base, ") / (", b, " − ", base, ")"],
        reduction=None,
        compare=_differences,
    ),
    "log_ratio": Statistic(
        meaning="`log_ratio` log(a / b)",
        formula=lambda a, b, base: ["log(", a, " / ", b, ")"],
        reduction=None,
        compare=_log_ratios,
        effect=Effect("ratio", exp, _describe_ratio),
    ),
    SIGNIFICANT_LOSSES: Statistic(
        meaning=f"`{SIGNIFICANT_LOSSES}`, in how many groups a − b is significantly above 0",
        formula=lambda a, b, base: [a, " − ", b],
        reduction=None,
        compare=_differences,
        effect=Effect("difference", float, _describe_difference),
        counts_losses=True,
    ),
    "relative_se": Statistic(
        meaning="`relative_se`, the standard error over the mean",
        formula=lambda a, b, base: ["standard error / mean of ", a],
        reduction=Reduction(
            _relative_se,
            of_one="one realisation has no standard error",
            undefined="the mean is 0",
        ),
    ),
}
"""Name of a statistic -> the statistic."""

if TYPE_CHECKING:
    StatisticName = str
else:
    StatisticName = Literal[tuple(STATISTICS)]

PAIRED = tuple(name for name, statistic in STATISTICS.items() if statistic.is_paired)
"""Statistics that compare rows of a with rows of b."""
