"""Intervals for the share of wrong labels in a table of N rows of which n were reviewed.

w_i = 1 where the label of row i is wrong, known on the reviewed rows; s_i a score that predicts it, known on
all rows and made without the review. The score has to predict w_i, not to be right about it.

Sources: Angelopoulos et al., Science 382, 2023 (prediction-powered inference); Angelopoulos, Duchi and
Zrnic, arXiv 2311.01453 (the factor lambda); Zrnic and Candes, ICML 2024 (rows chosen by their score);
Waudby-Smith and Ramdas, JRSS B 2024 (betting); Angelopoulos et al., arXiv 2110.01052 (testing in a fixed
sequence).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.95
FEW = 5
"""With fewer wrong or fewer right labels among the reviewed, the normal interval is not trusted alone."""
UNSEEN = 1.0
"""Rows that contradict the score and were not drawn: one is added to the squares, or a good score would seem
perfect because none of its few mistakes is among the reviewed rows."""
STAKES = np.geomspace(0.01, 0.99, 20)
"""Shares of the largest possible bet; the capital is the mean over all."""


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
    """theta = lambda mean(s) + mean(residuals), residuals v_i (w_i - lambda s_i) of the n draws."""

    value: float
    residuals: Array
    power: float

    def error(self, unseen: float = 0.0) -> float:
        """Standard error of draws with replacement, from sum of squares + ``unseen``."""
        n, squares = len(self.residuals), float(((self.residuals - self.residuals.mean()) ** 2).sum())
        return float(((squares + unseen) / (n - 1) / n) ** 0.5)


def powered(w: Array, s: Array, everywhere: float, weights: Array) -> Powered:
    """w, s (n,) of the draws; everywhere: mean of s over all N rows; weights v_i = 1 / (N P(draw i)).

    lambda = cov(v w, v s) / var(v s) >= 0 makes the residuals vary least; 0 for a score that is constant.
    """
    (_, both), (_, spread) = np.cov(weights * w, weights * s)
    power = max(0.0, float(both / spread)) if spread > 1e-18 else 0.0
    residuals = weights * (w - power * s)
    return Powered(power * everywhere + float(residuals.mean()), residuals, power)


def finite(n: int, N: int) -> float:
    """sqrt(1 - n/N): how much smaller errors are if n of N rows are drawn without replacement."""
    return float(max(0.0, 1.0 - n / N) ** 0.5)


def rate(w: Array, s: Array, everywhere: float, weights: Array, N: int, top: float = 1.0) -> Rate:
    """The share of w_i = 1 among N rows: theta -+ t_{n-2} error, or `counted` if that is wider.

    The second only with fewer than 5 w_i of either kind. top : the largest weight of any row; 1 for draws
    without replacement, all rows alike.
    """
    from scipy.special import stdtrit

    n, hits = len(w), int(np.count_nonzero(w))
    sure = counted(w, weights, N, top)
    if n < 3:
        return sure
    found = powered(w, s, everywhere, weights)
    error = found.error(UNSEEN * float(np.mean(weights**2))) * (finite(n, N) if top == 1.0 else 1.0)
    half = float(stdtrit(n - 2, (1 + LEVEL) / 2)) * error
    low, value, high = np.clip([found.value - half, found.value, found.value + half], 0.0, 1.0).tolist()
    if min(hits, n - hits) < FEW and sure.width > high - low:
        return Rate(min(max(value, sure.low), sure.high), sure.low, sure.high)
    return Rate(value, low, high)


def counted(w: Array, weights: Array, N: int, top: float = 1.0, tail: float = (1 - LEVEL) / 2) -> Rate:
    """The share of w_i = 1 without a score: exact for rows drawn without replacement, else by betting."""
    if not len(w):
        return Rate(float("nan"), 0.0, 1.0)
    value = float(np.mean(weights * w))
    if top == 1.0:
        return Rate(value, *exact(int(np.count_nonzero(w)), len(w), N, tail))
    high, low = (largest_share(x, np.ones(len(w)), top, tail) for x in (weights * w, top - weights * w))
    return Rate(min(value, 1.0), max(top - low, 0.0), min(high, 1.0))


def exact(hits: int, n: int, N: int, tail: float) -> tuple[float, float]:
    """The shares W/N at which P(X >= hits) and P(X <= hits) exceed ``tail``, X hypergeometric.

    Clopper and Pearson's interval if N is large; of width 0 if all rows were reviewed.
    """
    from scipy.stats import hypergeom

    among = range(hits, N - n + hits + 1)
    low = bisect_left(among, True, key=lambda W: bool(hypergeom.sf(hits - 1, N, W, n) > tail))
    high = bisect_left(among, True, key=lambda W: bool(hypergeom.cdf(hits, N, W, n) <= tail)) - 1
    return among[low] / N, among[high] / N


def capital(z: Array, worst: float) -> float:
    """Mean over stakes g of prod_i (1 + (g / worst) z_i), z_i >= -worst: at most 1 in expectation if E z <=
    0.

    So P(capital >= 1 / tail) <= tail, also without replacement (Hoeffding 1963, Theorem 4: the product is
    convex in the sum of the logarithms).
    """
    return float(np.mean(np.exp(np.log1p(np.outer(STAKES / worst, z)).sum(axis=1))))


def largest_share(x: Array, base: Array, top: float, tail: float) -> float:
    """The largest m = E x / E base that betting against it leaves open, 0 <= x <= top."""
    below, above = float(x.sum() / base.sum()), top
    for _ in range(40):
        middle = (below + above) / 2
        rejected = capital(middle * base - x, max(top - middle, 1e-12)) >= 1.0 / tail
        below, above = (below, middle) if rejected else (middle, above)
    return above


def longest(w: Array, places: NDArray[np.intp], weights: Array, top: float, share: float, tail: float) -> int:
    """The largest L such that more than ``share`` of the first L places are wrong, with confidence 1 - tail.

    places (n,) : of the draws in the list, from 0.   top : the largest weight.   0 if there is none.
    Candidates are the lists that end at a draw, from the first on that all draws being wrong could show;
    they are tested from the shortest on, until one fails: no level is spent on the order.
    """
    from scipy.special import bdtrc

    def shown(hits: Array, inside: Array) -> bool:
        if top == 1.0:  # exact: at least so many hits in as many draws
            return bool(bdtrc(hits.sum() - 1, len(hits), share) <= tail) if hits.any() else False
        return capital(inside * (hits - share), share * top) >= 1.0 / tail

    length = 0
    for place in np.unique(places):
        hits, inside = w[places <= place], weights[places <= place]
        if not shown(np.ones(len(hits)), inside):
            continue  # known before the review: even without a right label it would say nothing
        if not shown(hits, inside):
            break
        length = int(place) + 1
    return length
