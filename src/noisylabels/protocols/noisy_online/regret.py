"""Rows of regret: beside its bound, per round, and its growth exponent over the last horizons.

Every horizon T is a run of its own, because the step depends on T. The exponent of a repetition is the slope of
log Reg_T on log T; where a regret is not positive it does not exist and no row is made of it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Row = dict[str, Any]


def rows_of(
    columns: Row, regrets: Mapping[int, float], bounds: Mapping[int, float] | None = None, last: int = 3
) -> list[Row]:
    """regret and regret_per_round at every T; bound and bound_ratio where there are bounds; exponent.

    Parameters
    ----------
    columns : what tells the curve apart, repetition included.
    regrets, bounds : horizon T -> Reg_T and its bound.
    last : horizons over which the exponent is fitted; no exponent where there are fewer, or below two.

    The bound is checked as Reg_T / bound <= 1 in the mean over the repetitions: the theorems bound the
    expectation, single runs may exceed it.
    """
    rows = []
    for T, regret in regrets.items():
        values = {"regret": regret, "regret_per_round": regret / T}
        if bounds is not None:
            values |= {"bound": bounds[T], "bound_ratio": regret / bounds[T]}
        rows += [columns | {"metric": metric, "x": T, "value": value} for metric, value in values.items()]
    horizons = sorted(regrets)[-last:]
    tail = [regrets[T] for T in horizons]
    if last >= 2 and len(horizons) == last and min(tail) > 0:
        rows.append(columns | {"metric": "exponent", "value": slope(horizons, tail)})
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
