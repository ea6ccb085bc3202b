"""Runs that lie far from the others: how to find them, and a test that allows for them.

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
"""Distance from the median, relative to that of the median run, above which a run is outlying."""
SEEN = 29
"""Number of runs of which 95 % of the samples hold an outlying one, if one in ten is."""
FEWEST = 3
"""Number of ordinary runs below which nothing is tested."""


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
    curve_columns = [column for column in INDEX if column != "repetition"]
    curve = rows.groupby(curve_columns, dropna=False, observed=True).ngroup()
    values = rows["value"]
    medians = values.groupby(curve).transform("median")
    gaps = values - medians
    distances = gaps.abs()
    typical_distances = distances.groupby(curve).transform("median")
    vary = distances > ROUNDING * values.abs()
    is_far = vary & (distances > FAR * typical_distances)
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
    """Test a published value separately on ordinary and on outlying runs.

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
        low_here, high_here = share_interval(int(is_far.sum()), is_far.size)
        low = min(low, low_here)
        high = max(high, high_here)
    ours = mean_se(ordinary)
    if ours.se == 0:
        ours = ours._replace(df=np.inf)
    gap = welch(ours, theirs)
    if gap.se == 0:
        return _compare_exactly(gap, margin, low, high, outlying)
    lowest_gap, highest_gap = _ends(gap.mean, low, high, outlying)
    ends = [gap._replace(mean=lowest_gap), gap._replace(mean=highest_gap)]
    p_within = max(tost(end, -margin, margin) for end in ends)
    p_outside = max(outside(end, -margin, margin) for end in ends)
    if lowest_gap * highest_gap <= 0:
        p_outside = 1.0
    return min(1.0, 2 * p_within), min(1.0, 2 * p_outside)


def _ends(mean: float, low: float, high: float, outlying: Outlying) -> tuple[float, float]:
    """Compute the smallest and the largest difference that the share of outlying runs allows."""
    highest = outlying.highest
    lowest = outlying.lowest
    lowest_gap = mean + high * lowest
    highest_gap = mean + high * highest
    if lowest == 0:
        lowest_gap += low * highest
    if highest == 0:
        highest_gap += low * lowest
    return lowest_gap, highest_gap


def _compare_exactly(
    gap: Estimate, margin: float, low: float, high: float, outlying: Outlying
) -> tuple[float, float]:
    """Compare without a test, where the ordinary runs and the published value are exact."""
    lowest_gap, highest_gap = _ends(gap.mean, low, high, outlying)
    sizes = [abs(lowest_gap), abs(highest_gap)]
    have_same_sign = lowest_gap * highest_gap > 0
    agrees = max(sizes) <= margin
    contradicts = min(sizes) > margin and have_same_sign
    return float(not agrees), float(not contradicts)
