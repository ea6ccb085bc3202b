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
    """A share and its interval.

    Attributes
    ----------
    value : float
        The estimate, from 0 to 1.
    low : float
        Lower limit.
    high : float
        Upper limit.

    Examples
    --------
    >>> from noisylabels.auditing.intervals import Rate
    >>> Rate(0.25, 0.125, 0.5).width
    0.375
    """

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Compute the width of the interval."""
        return self.high - self.low


class Powered(NamedTuple):
    r"""The mean of a score corrected by the mean of the residuals.

    Attributes
    ----------
    value : float
        The estimate.
    residuals : ndarray of shape (n,)
        Residuals of the n draws.
    power : float
        The factor of the score, at least 0.

    Notes
    -----
    The estimate is :math:`\theta = \lambda\,\mathrm{mean}(s) + \mathrm{mean}(w_i - \lambda s_i)`,
    the first mean over all rows and the second over the draws.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, arXiv 2311.01453.
    """

    value: float
    residuals: Array
    power: float

    def error(self, unseen: float = 0.0) -> float:
        """Compute the standard error of draws with replacement.

        Parameters
        ----------
        unseen : float, default 0
            Added to the sum of the squared deviations of the residuals, for rows that were not
            drawn.

        Returns
        -------
        float
            The standard error.
        """
        n = len(self.residuals)
        deviations = self.residuals - self.residuals.mean()
        squares = float((deviations**2).sum())
        variance = (squares + unseen) / (n - 1)
        return float((variance / n) ** 0.5)


def powered(w: Array, s: Array, everywhere: float) -> Powered:
    r"""Correct the mean of a score by the residuals of the draws.

    Parameters
    ----------
    w : ndarray of shape (n,)
        1 for each draw with a wrong label, otherwise 0; at least two draws.
    s : ndarray of shape (n,)
        The scores of the draws.
    everywhere : float
        Mean of the score over all rows.

    Returns
    -------
    Powered
        The estimate with its residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.intervals import powered
    >>> w = np.array([1.0, 0.0, 1.0, 0.0])
    >>> estimate = powered(w, np.array([0.75, 0.25, 0.75, 0.25]), 0.375)
    >>> estimate.power, estimate.value
    (2.0, 0.25)

    Notes
    -----
    The factor :math:`\lambda = \max(0, \mathrm{cov}(w, s) / \mathrm{var}(s))` makes the residuals
    vary least. It is 0 for a score that is constant.

    References
    ----------
    Angelopoulos et al., Science 382, 2023. Angelopoulos, Duchi and Zrnic, arXiv 2311.01453.
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
    r"""Compute the finite-population correction of a standard error.

    Parameters
    ----------
    n : int
        Number of draws.
    N : int
        Number of rows.

    Returns
    -------
    float
        The factor, near 1 for few draws and 0 if all rows were drawn.

    Examples
    --------
    >>> from noisylabels.auditing.intervals import finite
    >>> finite(75, 100)
    0.5

    Notes
    -----
    The factor is :math:`\sqrt{1 - n / N}`.
    """
    return float(max(0.0, 1.0 - n / N) ** 0.5)


def rate(
    w: Array,
    s: Array,
    everywhere: float,
    N: int,
    limits: Callable[[Array, int], Rate] | None = None,
) -> Rate:
    r"""Estimate the share of wrong labels among all rows, with its interval.

    Parameters
    ----------
    w : ndarray of shape (n,)
        1 for each draw with a wrong label, otherwise 0.
    s : ndarray of shape (n,)
        The scores of the draws.
    everywhere : float
        Mean of the score over all rows.
    N : int
        Number of rows.
    limits : callable, optional
        Computes a `Rate` from w and N without the score, by default `counted`.

    Returns
    -------
    Rate
        The share with its 95 % interval.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.intervals import rate
    >>> w = np.repeat([1.0, 0.0], [20, 80])
    >>> round(rate(w, 0.1 + 0.5 * w, 0.25, 10_000).value, 3)  # 0.2 of the draws are wrong
    0.3

    Notes
    -----
    The limits are :math:`\theta \mp t_{n-2}\,\mathrm{error}`, with :math:`\theta` of `Powered` and
    the factor of `finite`. With fewer than five wrong or five right labels among the draws, the
    limits are those of ``limits`` if these are wider. With fewer than three draws, ``limits``
    decides alone.

    References
    ----------
    Angelopoulos et al., Science 382, 2023. Angelopoulos, Duchi and Zrnic, arXiv 2311.01453.
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
    """Compute the exact interval of the share of wrong labels, without a score.

    Parameters
    ----------
    w : ndarray of shape (n,)
        1 for each draw with a wrong label, otherwise 0; drawn without replacement.
    N : int
        Number of rows.
    tail : float, default 0.025
        Probability of each tail that the interval leaves out.

    Returns
    -------
    Rate
        The share with its interval; 0.5, from 0 to 1, without draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.intervals import counted
    >>> counted(np.array([1.0, 0.0, 0.0, 0.0]), 4)  # all rows were reviewed
    Rate(value=0.25, low=0.25, high=0.25)
    """
    if not len(w):
        return Rate(0.5, 0.0, 1.0)
    hits = int(np.count_nonzero(w))
    low, high = exact(hits, len(w), N, tail)
    return Rate(hits / len(w), low, high)


def mid(w: Array, N: int) -> Rate:
    """Compute the mid-P interval of the share of wrong labels, without a score.

    The interval covers 95 % on average, not always at least.

    Parameters
    ----------
    w : ndarray of shape (n,)
        1 for each draw with a wrong label, otherwise 0; drawn without replacement.
    N : int
        Number of rows.

    Returns
    -------
    Rate
        The share with its interval.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.intervals import counted, mid
    >>> w = np.repeat([1.0, 0.0], [5, 45])
    >>> bool(mid(w, 1000).width < counted(w, 1000).width)
    True

    Notes
    -----
    The observed number counts half in both tails. If none or all of the drawn labels are wrong, the
    limits are those of `counted`: one is 0 or 1, and the other is one-sided at 95 %.

    References
    ----------
    Berry and Armitage, The Statistician 44, 1995.
    """
    hits = int(np.count_nonzero(w))
    if not 0 < hits < len(w):
        return counted(w, N, 1 - LEVEL)
    tail = (1 - LEVEL) / 2
    low, high = exact(hits, len(w), N, tail, 0.5)
    return Rate(hits / len(w), low, high)


def stratified(sampled: Sequence[tuple[Array, int]], shares: Sequence[float]) -> Rate:
    """Combine the mid-P intervals of groups.

    Parameters
    ----------
    sampled : sequence of tuple
        For each group w (n,), 1 for each draw with a wrong label and otherwise 0, and its number of
        rows.
    shares : sequence of float
        The part of all rows that is in each group.

    Returns
    -------
    Rate
        The share of wrong labels among all rows, with its interval.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.intervals import stratified
    >>> w = np.repeat([1.0, 0.0], [10, 40])
    >>> stratified([(w, 100), (1 - w, 300)], [0.25, 0.75]).value
    0.65

    Notes
    -----
    Where no draw of some group is wrong, the distance to the upper limit is mostly that group's,
    and errors on this side are rare. The lower limits then have the whole 5 %. Where all draws of
    some group are wrong, the upper limits have it.

    References
    ----------
    Berry and Armitage, The Statistician 44, 1995. Zou and Donner, Statistics in Medicine 27, 2008.
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

    Parameters
    ----------
    parts : sequence of Rate
        The share and its interval in each group.
    shares : sequence of float
        The part of all rows that is in each group.

    Returns
    -------
    Rate
        The share among all rows, with its interval.

    Examples
    --------
    >>> from noisylabels.auditing.intervals import Rate, combined
    >>> combined([Rate(0.5, 0.25, 0.75), Rate(0.0, 0.0, 0.0)], [0.5, 0.5])
    Rate(value=0.25, low=0.125, high=0.375)

    Notes
    -----
    The distances of the estimates to their limits add up as errors do: the squared distance is the
    sum of the squares of the weighted distances.

    References
    ----------
    Zou and Donner, Statistics in Medicine 27, 2008.
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
    """Find the shares of wrong labels at which both hypergeometric tails exceed a probability.

    Parameters
    ----------
    hits : int
        Number of draws with a wrong label.
    n : int
        Number of draws.
    N : int
        Number of rows.
    tail : float
        The probability that both tails have to exceed.
    less : float, default 0
        The part of the probability of the observed number that is taken off both tails.

    Returns
    -------
    tuple of float
        Lower and upper limit.

    Examples
    --------
    >>> from noisylabels.auditing.intervals import exact
    >>> exact(0, 10, 20, 0.025)
    (0.0, 0.2)

    Notes
    -----
    This is Clopper and Pearson's interval if N is large, and has width 0 if all rows were reviewed.
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
    """Find the longest list of which more than a given share of the labels are wrong.

    Parameters
    ----------
    w : ndarray of shape (n,)
        1 for each draw with a wrong label, otherwise 0.
    places : ndarray of int, shape (n,)
        Places of the draws in the list, from 0. Any place up to ``longest_list`` is as likely as
        any other.
    share : float
        The share, from 0 to 1.
    tail : float
        One minus the confidence.
    longest_list : int
        Number of rows of the longest list that counts.

    Returns
    -------
    int
        The number of rows of the list; 0 if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.intervals import longest
    >>> w = np.repeat([1.0, 0.0], [20, 20])
    >>> longest(w, np.arange(40), 0.5, 0.05, 40)
    39

    Notes
    -----
    Candidates are the lists that end at a draw. Two chains start where the first half of the draws
    ends, and where all end. A chain goes to longer lists until one fails. Each has half of
    ``tail``, and a fixed order, so no further correction is needed.

    References
    ----------
    Angelopoulos et al., arXiv 2110.01052.
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
