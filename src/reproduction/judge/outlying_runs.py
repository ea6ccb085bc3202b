"""Runs that lie far from the others: how they are found, and the test that allows for them.

If one run in ten gets stuck, ten runs have none in 35 % of the cases, and their mean looks exact.
With few repetitions the mean is therefore taken apart into ordinary runs and outlying ones.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisylabels.statistics import Estimate, mean_se, outside, share_interval, tost, welch
from reproduction.judge.check_statistics import ROUNDING
from reproduction.judge.claims import INDEX

FAR = 12
"""A run is outlying if it is more than so many times as far from the median as the median run."""
SEEN = 29
"""Of so many runs, if one in ten is outlying, 95 % of the samples have one."""
FEWEST = 3
"""Ordinary runs below which nothing is tested."""


class Outlying(NamedTuple):
    """The outlying runs of a method, over all its curves.

    Attributes
    ----------
    is_far : Series of bool
        For each row of the method: is it outlying?
    highest, lowest : float
        The largest distance above and below the median of a curve; 0 if there is none.
    vary : bool
        Whether the runs of any curve differ.
    """

    is_far: pd.Series
    highest: float
    lowest: float
    vary: bool


def find_outlying_runs(rows: pd.DataFrame) -> Outlying:
    """Find the outlying runs among all rows of a method.

    Parameters
    ----------
    rows : DataFrame
        Rows of a prepared result table, whatever the data set and noise.

    Returns
    -------
    Outlying
        The outlying runs.
    """
    of_curve = [column for column in INDEX if column != "repetition"]
    curve = rows.groupby(of_curve, dropna=False, observed=True).ngroup()
    gaps = rows["value"] - rows["value"].groupby(curve).transform("median")
    typical = gaps.abs().groupby(curve).transform("median")
    vary = gaps.abs() > ROUNDING * rows["value"].abs()
    is_far = vary & (gaps.abs() > FAR * typical)
    far_gaps = gaps[is_far].to_numpy()
    highest = float(far_gaps.max(initial=0.0))
    lowest = float(far_gaps.min(initial=0.0))
    return Outlying(is_far, highest, lowest, bool(vary.any()))


def compare_in_two_parts(
    values: NDArray[np.float64],
    is_far: NDArray[np.bool_],
    theirs: Estimate,
    margin: float,
    outlying: Outlying,
) -> tuple[float, float]:
    """Test a published value with ordinary and outlying runs apart.

    Parameters
    ----------
    values : array of shape (n,)
        Our values by repetition.
    is_far : array of shape (n,)
        Whether a repetition has an outlying run.
    theirs : Estimate
        The published value.
    margin : float
        The tolerance.
    outlying : Outlying
        The outlying runs of the method.

    Returns
    -------
    tuple of float
        The p-values of "within the tolerance" and "outside".

    Notes
    -----
    Our mean is that of the ordinary runs plus the share of outlying runs times their distance. The
    share has its exact 95 % interval, of all runs of the method, widened to that of the runs of
    this value if one of them is outlying. The distance is the largest that was seen. Both tests are
    made at both ends of the share, each with half of the level.
    """
    ordinary = values[~is_far]
    if ordinary.size < FEWEST:
        return 1.0, 1.0
    low, high = share_interval(int(outlying.is_far.sum()), len(outlying.is_far))
    if is_far.any():
        own_low, own_high = share_interval(int(is_far.sum()), is_far.size)
        low = min(low, own_low)
        high = max(high, own_high)
    ours = mean_se(ordinary)
    if ours.se == 0:
        ours = ours._replace(df=np.inf)
    gap = welch(ours, theirs)
    if gap.se == 0:
        return _compare_exactly(gap, margin, low, high, outlying)
    least, most = _ends(gap.mean, low, high, outlying)
    ends = [gap._replace(mean=least), gap._replace(mean=most)]
    agree = max(tost(end, -margin, margin) for end in ends)
    contra = max(outside(end, -margin, margin) for end in ends)
    if least * most <= 0:
        contra = 1.0
    return min(1.0, 2 * agree), min(1.0, 2 * contra)


def _ends(mean: float, low: float, high: float, outlying: Outlying) -> tuple[float, float]:
    """The smallest and the largest difference that the share of outlying runs allows."""
    above, below = outlying.highest, outlying.lowest
    least = mean + high * below
    most = mean + high * above
    if below == 0:
        least += low * above
    if above == 0:
        most += low * below
    return least, most


def _compare_exactly(
    gap: Estimate, margin: float, low: float, high: float, outlying: Outlying
) -> tuple[float, float]:
    """The same without a test, where the ordinary runs and the published value are exact."""
    least, most = _ends(gap.mean, low, high, outlying)
    agrees = max(abs(least), abs(most)) <= margin
    contradicts = min(abs(least), abs(most)) > margin and least * most > 0
    return float(not agrees), float(not contradicts)
