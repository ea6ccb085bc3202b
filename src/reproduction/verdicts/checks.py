"""One check of a claim: what a bound makes of the cells that were measured, and which cell decides.

Every cell has two p-values: ``hold`` (small: the bound is met) and ``contra`` (small: it is violated). A
group holds when all its cells hold, a check when all its groups hold, or ``at_least`` so many.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from noisylabels.statistics import (
    Estimate,
    at_least,
    for_new_points,
    mean_se,
    outside,
    ratio_above,
    ratio_below,
    ratio_interval,
    t_above,
    t_below,
    t_interval,
    tost,
)
from reproduction.verdicts.estimates import Bound, Cell, bound_of
from reproduction.verdicts.names import Check

Row = dict[str, Any]
ALPHA = 0.05


def as_json(value: Any) -> str:
    """A mapping or list as a cell of a table, "" if it is empty."""
    return json.dumps(value, ensure_ascii=False) if value else ""


class Weighed(NamedTuple):
    """A cell under a bound: two p-values, small if it is met (``hold``) or violated (``contra``)."""

    cell: Cell
    estimate: float
    interval: tuple[float, float]
    n: int
    hold: float
    contra: float
    excess: float
    tested: bool = False
    more: Mapping[str, Any] = MappingProxyType({})

    def columns(self, bound: Bound) -> Row:
        """Its columns in a row of verdicts."""
        low, high = self.interval
        found: Row = {"estimate": self.estimate, "ci_low": low, "ci_high": high, "n": self.n}
        side = side_of(bound, self.estimate)
        return found | {"at": as_json(self.cell.at), "side": side} | counts_of(self.cell) | dict(self.more)


def weighed(cell: Cell, bound: Bound, check: Check) -> Weighed:
    """A cell under the bound of its check."""
    if cell.kind == "ratio":
        return _ratio(cell, bound)
    if cell.kind == "every":
        return _every(cell, bound, check)
    return _relative_se(cell, bound) if cell.kind == "relative_se" else _mean(cell, cell.estimate, bound)


def for_new(cell: Cell, bound: Bound) -> Weighed:
    """The same for new points of the same law."""
    assert cell.pool is not None
    return _mean(cell, for_new_points(cell.estimate, cell.pool), bound)


def _mean(cell: Cell, estimate: Estimate, bound: Bound) -> Weighed:
    """Paired t-test over the repetitions."""
    low, high = bound.low, bound.high
    if bound.kind == "within":
        hold, contra = tost(estimate, low, high), outside(estimate, low, high)
    elif bound.kind == "below":
        hold, contra = t_below(estimate, high), t_above(estimate, high)
    else:
        hold, contra = t_above(estimate, low), t_below(estimate, low)
    n = 1 if estimate.se == 0 else cell.repetitions
    excess = float(bound.excess(estimate.mean))
    tested = estimate.df > 0 and estimate.se > 0
    return Weighed(cell, estimate.mean, t_interval(estimate), n, hold, contra, excess, tested)


def _ratio(cell: Cell, bound: Bound) -> Weighed:
    """Ratio of two mean differences, tested as Fieller does; Bonferroni over the two ends of an interval."""
    a, b = np.array(cell.more["a"]), np.array(cell.more["b"])
    ratio = float(a.mean() / b.mean()) if b.mean() != 0 else nan
    hold, ends = 0.0, []
    if bound.low > -inf:
        hold, ends = ratio_above(a, b, bound.low), [ratio_below(a, b, bound.low)]
    if bound.high < inf:
        hold, ends = max(hold, ratio_below(a, b, bound.high)), [*ends, ratio_above(a, b, bound.high)]
    contra = min(1.0, len(ends) * min(ends))
    excess = float(bound.excess(ratio)) if ratio == ratio else inf
    more = {"remark": "divisor" if t_above(mean_se(b)) >= ALPHA else ""}
    return Weighed(cell, ratio, ratio_interval(a, b), a.size, hold, contra, excess, a.size > 1, more)


def _every(cell: Cell, bound: Bound, check: Check) -> Weighed:
    """Every single row must meet the bound; the worst one is named."""
    worst = max(("low", "high"), key=lambda end: float(bound.excess(cell.more[end])))
    value = cell.more[worst]
    met = bool(bound.met(value))
    known = cell.more["bound"] == bound_of(check)
    count = 0 if met else cell.more["violating"] if known else nan
    more = {"rows": cell.more["rows"], "violating": count, "worst": as_json(cell.more[f"{worst}_at"])}
    excess = float(bound.excess(value))
    return Weighed(cell, value, (nan, nan), cell.repetitions, float(not met), float(met), excess, False, more)


def _relative_se(cell: Cell, bound: Bound) -> Weighed:
    """se/|m| over the repetitions, compared without a test."""
    mean, se, df = cell.estimate
    if df == 0 or mean == 0:
        more = {"remark": "" if df == 0 else "mean is 0"}
        return Weighed(cell, nan, (nan, nan), cell.repetitions, 1.0, 1.0, inf, False, more)
    ratio = se / abs(mean)
    met = bool(bound.met(ratio))
    excess = float(bound.excess(ratio))
    return Weighed(cell, ratio, (nan, nan), cell.repetitions, float(not met), float(met), excess)


def side_of(bound: Bound, value: float) -> str:
    """``inside`` the bound, or ``below`` or ``above`` it."""
    if value != value:
        return ""
    return "inside" if bound.met(value) else "below" if value <= bound.low else "above"


def counts_of(cell: Cell) -> Row:
    """Columns that say how many repetitions there are."""
    return {"repetitions": cell.repetitions, "left_out": cell.left_out or nan}


@dataclass(frozen=True)
class Result:
    """A check, or checks together: p-values and the cells that decide them."""

    hold: float
    contra: float
    weakest: Weighed
    accused: Weighed
    group_holds: tuple[float, ...] = ()
    needed: int = 0
    tested: bool = False

    def passing(self, level: float) -> int:
        """Groups whose p-value, multiplied as the one that decides, is below a level.

        As many as are ``needed`` exactly if the p-value of the check is.
        """
        factor = len(self.group_holds) - self.needed + 1
        return sum(factor * p < level for p in self.group_holds)


def combine(groups: list[list[Weighed]], k: int) -> Result:
    """Intersection-union within a group, "at least k" across groups; mirrored for the contradiction."""
    m = len(groups)
    weakest = [max(cells, key=lambda c: (c.hold, c.excess)) for cells in groups]
    accused = [min(cells, key=lambda c: (c.contra, -c.excess)) for cells in groups]
    blame = [min(1.0, len(cells) * cell.contra) for cells, cell in zip(groups, accused, strict=True)]
    ranked = sorted(range(m), key=lambda i: (weakest[i].hold, weakest[i].excess))
    charged = sorted(range(m), key=lambda i: (blame[i], -accused[i].excess))
    return Result(
        hold=at_least([cell.hold for cell in weakest], k),
        contra=at_least(blame, m - k + 1),
        weakest=weakest[ranked[k - 1]],
        accused=accused[charged[m - k]],
        group_holds=tuple(cell.hold for cell in weakest),
        needed=k,
        tested=any(cell.tested for cells in groups for cell in cells),
    )


def together(results: Sequence[Result]) -> Result:
    """Intersection-union over the checks; Bonferroni for the contradiction."""
    weak, blamed = max(results, key=lambda r: r.hold), min(results, key=lambda r: r.contra)
    return Result(weak.hold, min(1.0, len(results) * blamed.contra), weak.weakest, blamed.accused)
