"""What a check asks of one group of rows, and what they say: a bound, an estimate, two p-values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.statistics import Estimate, outside, ratio_above, ratio_below, t_above, t_below, tost
from reproduction.verdicts.vocabulary import Check


@dataclass(frozen=True)
class Bound:
    """``below``: v < high; ``above``: v > low; ``within``: low <= v <= high."""

    kind: str
    low: float
    high: float

    @classmethod
    def of(cls, check: Check) -> "Bound":
        """The bound of a check; the steps of a trend must be above 0."""
        if "within" in check:
            return cls("within", *map(float, check["within"]))
        if "below" in check:
            return cls("below", -np.inf, float(check["below"]))
        return cls("above", float(check.get("above", 0.0)), np.inf)

    def hold(self, estimate: Estimate) -> float:
        """p-value of H0 "the bound is not met"."""
        if self.kind == "within":
            return tost(estimate, self.low, self.high)
        return t_below(estimate, self.high) if self.kind == "below" else t_above(estimate, self.low)

    def contra(self, estimate: Estimate) -> float:
        """p-value of H0 "the bound is not violated"."""
        if self.kind == "within":
            return outside(estimate, self.low, self.high)
        return t_above(estimate, self.high) if self.kind == "below" else t_below(estimate, self.low)

    def hold_ratio(self, a: Any, b: Any) -> float:
        """p-value of H0 "mean(a)/mean(b) does not meet the bound"."""
        low = ratio_above(a, b, self.low) if self.low > -np.inf else 0.0
        return max(low, ratio_below(a, b, self.high) if self.high < np.inf else 0.0)

    def contra_ratio(self, a: Any, b: Any) -> float:
        """p-value of H0 "mean(a)/mean(b) does not violate the bound"; Bonferroni over two ends."""
        ends = [ratio_below(a, b, self.low)] if self.low > -np.inf else []
        ends += [ratio_above(a, b, self.high)] if self.high < np.inf else []
        return min(1.0, len(ends) * min(ends))

    def excess(self, values: Any) -> Any:
        """How far values lie beyond the bound (negative: inside)."""
        return np.maximum(self.low - values, values - self.high)

    def met(self, values: Any) -> Any:
        """Does each value meet the bound?"""
        return self.excess(values) <= 0 if self.kind == "within" else self.excess(values) < 0


@dataclass(frozen=True)
class Cell:
    """What one group of rows says: an estimate with its interval, two p-values and a remark."""

    label: str
    estimate: float
    interval: tuple[float, float]
    n: int
    hold: float
    contra: float
    excess: float
    tested: bool = False
    remark: str = ""


@dataclass(frozen=True)
class Result:
    """A check: its p-values and the cells that decide them."""

    hold: float
    contra: float
    weakest: Cell
    accused: Cell
    group_holds: tuple[float, ...]
    asked: int
    tested: bool
    stand_in: tuple[str, ...]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.group_holds)

    def passing(self, level: float) -> int:
        """Groups whose p-value, multiplied as the one that decides, is below a level.

        As many as ``asked`` exactly if the p-value of the check is.
        """
        factor = self.groups - self.asked + 1
        return sum(factor * p < level for p in self.group_holds)
