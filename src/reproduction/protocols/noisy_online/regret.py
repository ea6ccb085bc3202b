"""Rows of regret: beside its bound, per round, and its growth exponent over the last horizons.

Every horizon T is a run of its own, because the step depends on T.
The exponent of a repetition is the slope of log Reg_T on log T;
where a regret is not positive it does not exist and no row is made of it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Row = dict[str, Any]


def rows_of(
    columns: Row,
    regrets: Mapping[int, float],
    bounds: Mapping[int, float] | None = None,
    *,
    lasts: Iterable[int] = (3,),
) -> list[Row]:
    """regret and regret_per_round at x = T; bound and bound_ratio where there are bounds; exponent.

    Parameters
    ----------
    columns : what tells the curve apart, repetition included.
    regrets, bounds : horizon T -> Reg_T and its bound.
    lasts : numbers of last horizons over which exponents are fitted, x of their rows; those with too few
        horizons are left out.

    The theorems bound the expectation: single runs may exceed the bound, the mean of bound_ratio may not be
    above 1.
    """
    rows = []
    for T, regret in regrets.items():
        values = {"regret": regret, "regret_per_round": regret / T}
        if bounds is not None:
            values |= {"bound": bounds[T], "bound_ratio": regret / bounds[T]}
        rows += [columns | {"metric": metric, "x": T, "value": value} for metric, value in values.items()]
    return rows + exponents(columns, "exponent", regrets, lasts)


def exponents(columns: Row, metric: str, values: Mapping[int, float], lasts: Iterable[int]) -> list[Row]:
    """Rows of the slopes over the last horizons, x = their number; none where a value is not positive."""
    rows = []
    for last in lasts:
        horizons = sorted(values)[-last:]
        tail = [values[T] for T in horizons]
        if len(horizons) == last and min(tail) > 0:
            rows.append(columns | {"metric": metric, "x": last, "value": slope(horizons, tail)})
    return rows


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Least-squares slope of log y on log x.

    Raises ValueError : a value that is not positive.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if not ((a > 0).all() and (b > 0).all()):
        raise ValueError(f"slope: logarithms need positive values, got {min(a.min(), b.min()):g}")
    a, b = np.log(a), np.log(b)
    return float(((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum())
