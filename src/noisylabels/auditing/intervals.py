"""Intervals for the share of wrong labels in a table of N rows of which n were reviewed.

w_i = 1 where the label of row i is wrong, known on the reviewed rows; s_i a score that predicts it, known on
all rows and made without the review. The score has to predict w_i, not to be right about it.

Sources: Angelopoulos et al., Science 382, 2023 (prediction-powered inference); Angelopoulos, Duchi and
Zrnic, arXiv 2311.01453 (the factor lambda); Zou and Donner, Statistics in Medicine 27, 2008 (limits of a
sum from those of its parts);
Berry and Armitage, The Statistician 44, 1995 (mid-P); Angelopoulos et al., arXiv 2110.01052 (testing in a
fixed sequence).
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
"""With fewer wrong or fewer right labels among the reviewed, the normal interval is not trusted alone."""
UNSEEN = 1.0
"""Added to the squares for rows not drawn that contradict the score, or a good one would seem perfect."""
STARTS = 2
"""Lists from which longer ones are tested, each with its part of the level."""


class Rate(NamedTuple):
    """A share and its interval."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """high - low."""
        return self.high - self.low


class Powered(NamedTuple):
    """theta = lambda mean(s) + mean(residuals), residuals w_i - lambda s_i of the n draws."""

    value: float
    residuals: Array
    power: float

    def error(self, unseen: float = 0.0) -> float:
        """Standard error of draws with replacement, from sum of squares + ``unseen``."""
        n, squares = len(self.residuals), float(((self.residuals - self.residuals.mean()) ** 2).sum())
        return float(((squares + unseen) / (n - 1) / n) ** 0.5)


def powered(w: Array, s: Array, everywhere: float) -> Powered:
    """w, s (n,) of the draws; everywhere: mean of s over all N rows.

    lambda = cov(w, s) / var(s) >= 0 makes the residuals vary least; 0 for a score that is constant.
    """
    (_, both), (_, spread) = np.cov(w, s)
    power = max(0.0, float(both / spread)) if spread > 1e-18 else 0.0
    residuals = w - power * s
    return Powered(power * everywhere + float(residuals.mean()), residuals, power)


def finite(n: int, N: int) -> float:
    """sqrt(1 - n/N): how much smaller errors are if n of N rows are drawn without replacement."""
    return float(max(0.0, 1.0 - n / N) ** 0.5)


def rate(
    w: Array, s: Array, everywhere: float, N: int, limits: Callable[[Array, int], Rate] | None = None
) -> Rate:
    """The share of w_i = 1 among N rows: theta -+ t_{n-2} error, or ``limits``, `counted`, if wider.

    The second only with fewer than 5 w_i of either kind.
    """
    from scipy.special import stdtrit

    n, hits = len(w), int(np.count_nonzero(w))
    sure = (limits or counted)(w, N)
    if n < 3:
        return sure
    found = powered(w, s, everywhere)
    half = float(stdtrit(n - 2, (1 + LEVEL) / 2)) * found.error(UNSEEN) * finite(n, N)
    low, value, high = np.clip([found.value - half, found.value, found.value + half], 0.0, 1.0).tolist()
    if min(hits, n - hits) < FEW and sure.width > high - low:
        return Rate(min(max(value, sure.low), sure.high), sure.low, sure.high)
    return Rate(value, low, high)


def counted(w: Array, N: int, tail: float = (1 - LEVEL) / 2) -> Rate:
    """The share of w_i = 1 among N rows of which n were drawn without replacement, without a score: exact."""
    if not len(w):
        return Rate(0.5, 0.0, 1.0)
    hits = int(np.count_nonzero(w))
    return Rate(hits / len(w), *exact(hits, len(w), N, tail))


def mid(w: Array, N: int) -> Rate:
    """As `counted`, but half of P(X = hits) counts (mid-P): it covers 95 % on average, not always at least.

    With no w_i = 1, or nothing else, one limit has nothing to miss and the other the whole 5 %.
    """
    hits = int(np.count_nonzero(w))
    if not 0 < hits < len(w):
        return counted(w, N, 1 - LEVEL)
    return Rate(hits / len(w), *exact(hits, len(w), N, (1 - LEVEL) / 2, 0.5))


def stratified(sampled: Sequence[tuple[Array, int]], shares: Sequence[float]) -> Rate:
    """`combined` of `mid` for groups with shares c_h of the rows: of each its w (n,) and its N.

    Where no row of some group was wrong, the distance to the upper limit is mostly that group's, and errors
    on this side are rare: the lower limits take the whole 5 %. Where all were wrong, the upper ones.
    """
    parts = [mid(*each) for each in sampled]
    five = [exact(int(w.sum()), len(w), N, 1 - LEVEL, 0.5) if len(w) else (0.0, 1.0) for w, N in sampled]
    if not all(w.any() for w, _ in sampled):
        parts = [part._replace(low=max(part.low, low)) for part, (low, _) in zip(parts, five, strict=True)]
    if any(w.all() for w, _ in sampled):
        parts = [part._replace(high=min(part.high, top)) for part, (_, top) in zip(parts, five, strict=True)]
    return combined(parts, shares)


def combined(parts: Sequence[Rate], shares: Sequence[float]) -> Rate:
    """sum_h c_h theta_h and its limits: the distances of theta_h to its limits add up as errors do."""
    value, low, high = np.array(parts).T
    c, at = np.array(shares), float(np.dot(shares, value))
    below, above = (float(((c * gap) ** 2).sum() ** 0.5) for gap in (value - low, high - value))
    return Rate(at, max(0.0, at - below), min(1.0, at + above))


def exact(hits: int, n: int, N: int, tail: float, less: float = 0.0) -> tuple[float, float]:
    """The shares W/N at which P(X >= hits) and P(X <= hits) exceed ``tail``, X hypergeometric.

    Clopper and Pearson's interval if N is large; of width 0 if all rows were reviewed.   less : the part of
    P(X = hits) that is taken off both.
    """
    from scipy.stats import hypergeom

    among = range(hits, N - n + hits + 1)

    def off(W: int) -> float:
        return tail + (less * float(hypergeom.pmf(hits, N, W, n)) if less else 0.0)

    low = bisect_left(among, True, key=lambda W: bool(hypergeom.sf(hits - 1, N, W, n) > off(W)))
    high = bisect_left(among, True, key=lambda W: bool(hypergeom.cdf(hits, N, W, n) <= off(W))) - 1
    return among[low] / N, among[high] / N


def longest(w: Array, places: NDArray[np.intp], share: float, tail: float, most: int) -> int:
    """The largest L <= most such that more than ``share`` of the first L places are wrong, with 1 - tail.

    places (n,) : of the draws in the list, from 0, any place up to ``most`` as likely as any other. 0 if
    there is none. Candidates are the lists that end at a draw. Chains start where the i-th part of the draws
    ends, i = 1, 2, and go to longer lists until one fails; a chain has tail / 2, its order costs nothing.
    """
    from scipy.stats import hypergeom

    order = np.argsort(places)
    ends, hits = places[order] + 1, np.cumsum(w[order])
    ends, hits = ends[ends <= most], hits[ends <= most]
    drawn = np.arange(1, len(ends) + 1)
    p = np.asarray(hypergeom.sf(hits - 1, ends, np.floor(share * ends).astype(int), drawn))
    length = 0
    for i in range(1, STARTS + 1):
        for at in range(len(ends) * i // STARTS - 1, len(ends)):
            if at < 0 or p[at] > tail / STARTS:
                break
            length = max(length, int(ends[at]))
    return length
