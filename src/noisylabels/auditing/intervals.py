"""Intervals for the share of wrong labels in a table of N rows of which n were reviewed.

w_i = 1 where the label of row i is wrong, known on the reviewed rows; s_i a score that predicts it,
known on all rows and made without the review. The score has to predict w_i, not to be right about
it.

Sources: Angelopoulos et al., Science 382, 2023 (prediction-powered inference); Angelopoulos, Duchi
and Zrnic, arXiv 2311.01453 (the factor lambda); Zou and Donner, Statistics in Medicine 27, 2008
(limits of a sum from those of its parts); Berry and Armitage, The Statistician 44, 1995 (mid-P);
Angelopoulos et al., arXiv 2110.01052 (testing in a fixed sequence).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.95
FEW = 5
"""Number of wrong or right labels below which the normal interval is not trusted alone."""
UNSEEN = 1.0
"""Added to the squares for rows that were not drawn; without it a good score would seem perfect."""
STARTS = 2
"""Number of lists from which chains of longer lists are tested; the chains share the level."""


class Rate(NamedTuple):
    """A share and its interval."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Compute the width of the interval."""
        return self.high - self.low


class Powered(NamedTuple):
    """Combine the mean of a score and the mean of the residuals.

    theta = lambda mean(s) + mean(residuals), residuals w_i - lambda s_i of the n draws.
    """

    value: float
    residuals: Array
    power: float

    def error(self, unseen: float = 0.0) -> float:
        """Compute the standard error of draws with replacement."""
        n = len(self.residuals)
        deviations = self.residuals - self.residuals.mean()
        squares = float((deviations**2).sum())
        variance = (squares + unseen) / (n - 1)
        return float((variance / n) ** 0.5)


def powered(w: Array, s: Array, everywhere: float) -> Powered:
    """Correct the mean of a score by the residuals of the draws.

    w, s (n,) of the draws; everywhere: mean of s over all N rows.
    lambda = cov(w, s) / var(s) >= 0 makes the residuals vary least; 0 for a score that is constant.
    """
    covariances = np.cov(w, s)
    covariance = covariances[0, 1]
    variance = covariances[1, 1]
    power = 0.0
    if variance > 1e-18:
        power = max(0.0, float(covariance / variance))
    residuals = w - power * s
    return Powered(power * everywhere + float(residuals.mean()), residuals, power)


def finite(n: int, N: int) -> float:
    """Compute the factor sqrt(1 - n/N) on errors if n of N rows are drawn without replacement."""
    return float(max(0.0, 1.0 - n / N) ** 0.5)


def rate(
    w: Array,
    s: Array,
    everywhere: float,
    N: int,
    limits: Callable[[Array, int], Rate] | None = None,
) -> Rate:
    """Estimate the share of wrong labels among N rows, with its interval.

    The limits are theta -+ t_{n-2} error. With fewer than 5 w_i of either kind they are those of
    ``limits``, by default `counted`, if these are wider.
    """
    from scipy.special import stdtrit

    n = len(w)
    hits = int(np.count_nonzero(w))
    without_score = (limits or counted)(w, N)
    if n < 3:
        return without_score
    estimate = powered(w, s, everywhere)
    quantile = float(stdtrit(n - 2, (1 + LEVEL) / 2))
    half = quantile * estimate.error(UNSEEN) * finite(n, N)
    interval = [estimate.value - half, estimate.value, estimate.value + half]
    low, value, high = np.clip(interval, 0.0, 1.0).tolist()
    if min(hits, n - hits) < FEW and without_score.width > high - low:
        value = min(max(value, without_score.low), without_score.high)
        return without_score._replace(value=value)
    return Rate(value, low, high)


def counted(w: Array, N: int, tail: float = (1 - LEVEL) / 2) -> Rate:
    """Compute the exact interval of the share of wrong labels among N rows, without a score.

    n of the rows were drawn without replacement.
    """
    if not len(w):
        return Rate(0.5, 0.0, 1.0)
    hits = int(np.count_nonzero(w))
    low, high = exact(hits, len(w), N, tail)
    return Rate(hits / len(w), low, high)


def mid(w: Array, N: int) -> Rate:
    """Compute the interval of `counted` with half of the weight of P(X = hits) (mid-P).

    It covers 95 % on average, not always at least. With no w_i = 1, or nothing else, one limit has
    nothing to miss and the other the whole 5 %.
    """
    hits = int(np.count_nonzero(w))
    if not 0 < hits < len(w):
        return counted(w, N, 1 - LEVEL)
    tail = (1 - LEVEL) / 2
    low, high = exact(hits, len(w), N, tail, 0.5)
    return Rate(hits / len(w), low, high)


def stratified(sampled: Sequence[tuple[Array, int]], shares: Sequence[float]) -> Rate:
    """Combine the mid-p intervals of groups: `combined` of `mid`.

    `sampled` has w (n,) and N of each group, `shares` the part of all rows that is in the group.
    Where no row of some group was wrong, the distance to the upper limit is mostly that group's,
    and errors on this side are rare: the lower limits take the whole 5 %. Where all were wrong, the
    upper limits do.
    """
    some_group_is_right = not all(w.any() for w, _ in sampled)
    some_group_is_wrong = any(w.all() for w, _ in sampled)
    parts = []
    for w, N in sampled:
        part = mid(w, N)
        one_sided = (0.0, 1.0)
        if len(w):
            hits = int(w.sum())
            one_sided = exact(hits, len(w), N, 1 - LEVEL, 0.5)
        if some_group_is_right:
            low = max(part.low, one_sided[0])
            part = part._replace(low=low)
        if some_group_is_wrong:
            high = min(part.high, one_sided[1])
            part = part._replace(high=high)
        parts.append(part)
    return combined(parts, shares)


def combined(parts: Sequence[Rate], shares: Sequence[float]) -> Rate:
    """Add up the weighted shares of all groups, with limits.

    The distances of theta_h to its limits add up as errors do.
    """
    values, lows, highs = np.array(parts).T
    value = float(np.dot(shares, values))
    error_below = _add_errors(values - lows, shares)
    low = value - error_below
    error_above = _add_errors(highs - values, shares)
    high = value + error_above
    return Rate(value, max(0.0, low), min(1.0, high))


def _add_errors(errors: Array, shares: Sequence[float]) -> float:
    squares = (np.array(shares) * errors) ** 2
    return float(squares.sum() ** 0.5)


def exact(hits: int, n: int, N: int, tail: float, less: float = 0.0) -> tuple[float, float]:
    """Find the shares W/N at which both hypergeometric tails exceed ``tail``.

    Clopper and Pearson's interval if N is large; of width 0 if all rows were reviewed.
    less : the part of P(X = hits) that is taken off both.
    """
    from scipy.stats import hypergeom

    largest = N - n + hits
    numbers_of_wrong = range(hits, largest + 1)

    def largest_tail(W: int) -> float:
        if not less:
            return tail
        probability = float(hypergeom.pmf(hits, N, W, n))
        return tail + less * probability

    def is_large_enough(W: int) -> bool:
        probability = hypergeom.sf(hits - 1, N, W, n)
        return bool(probability > largest_tail(W))

    def is_too_large(W: int) -> bool:
        probability = hypergeom.cdf(hits, N, W, n)
        return bool(probability <= largest_tail(W))

    low = bisect_left(numbers_of_wrong, True, key=is_large_enough)
    high = bisect_left(numbers_of_wrong, True, key=is_too_large) - 1
    return numbers_of_wrong[low] / N, numbers_of_wrong[high] / N


def longest(
    w: Array,
    places: NDArray[np.intp],
    share: float,
    tail: float,
    longest_list: int,
) -> int:
    """Find the longest list of which more than ``share`` of the labels are wrong.

    Its confidence is 1 - tail; 0 if there is none.
    places (n,) : of the draws in the list, from 0, any place up to ``longest_list`` as likely as
    any other. Candidates are the lists that end at a draw. Chains start where the i-th part of the
    draws ends, i = 1, 2, and go to longer lists until one fails; a chain has tail / 2, its order
    costs nothing.
    """
    from scipy.stats import hypergeom

    order = np.argsort(places)
    ends = places[order] + 1
    hits = np.cumsum(w[order])
    is_candidate = ends <= longest_list
    ends = ends[is_candidate]
    hits = hits[is_candidate]
    draws = np.arange(1, len(ends) + 1)
    # the most wrong labels in a list that is not precise enough
    most_wrong = np.floor(share * ends).astype(int)
    p_values = np.asarray(hypergeom.sf(hits - 1, ends, most_wrong, draws))
    length = 0
    for i in range(1, STARTS + 1):
        start = len(ends) * i // STARTS - 1
        for candidate in range(start, len(ends)):
            if candidate < 0 or p_values[candidate] > tail / STARTS:
                break
            length = max(length, int(ends[candidate]))
    return length
