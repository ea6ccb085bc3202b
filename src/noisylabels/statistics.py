"""Estimates with their uncertainty, and the tests that verdicts and tables use.

Everything works on an `Estimate` (mean, standard error, degrees of freedom). `mean_se` makes one
from repetitions, `welch` makes one from two independent estimates. An estimate with ``df = 0`` (one
repetition) can prove nothing: every p-value is 1. An estimate with ``se = 0`` is exact: every
p-value is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # SciPy loads its parts when first used, because all of them take longer than a figure
from numpy.typing import ArrayLike, NDArray

FLAT = 1e-12
"""Relative spread below which repetitions count as equal."""

UNKNOWN = float("nan")


class Estimate(NamedTuple):
    """A mean with its standard error.

    Attributes
    ----------
    mean : float
        The mean.
    se : float
        Its standard error: nan if unknown, 0 if the mean is known exactly.
    df : float
        Degrees of freedom of the standard error: 0 if unknown, inf if known exactly.
    skew : float
        Skewness of the mean's distribution, for tests that must allow for it. 0 leaves the plain
        t-test.
    """

    mean: float
    se: float
    df: float
    skew: float = 0.0


def mean_se(values: ArrayLike, skewed: bool = False) -> Estimate:
    r"""Estimate a mean and its standard error from repetitions.

    Parameters
    ----------
    values : array_like of shape (n,)
        One value per repetition. For a paired comparison: the differences of the pairs.
    skewed : bool, default False
        Estimate the skewness of the mean as well, for the tests to allow for.

    Returns
    -------
    Estimate
        The mean, with n - 1 degrees of freedom.

    Raises
    ------
    ValueError
        If there are no values, or one that is not finite.

    Examples
    --------
    >>> from noisylabels.statistics import mean_se
    >>> estimate = mean_se([1.0, 2.0, 3.0])
    >>> estimate.mean, round(float(estimate.se), 3), estimate.df
    (2.0, 0.577, 2)

    Notes
    -----
    The standard error is :math:`s / \sqrt{n}` with :math:`s^2 = \sum_i (x_i - m)^2 / (n - 1)`, the
    skewness of the mean :math:`m_3 / (m_2^{3/2} \sqrt{n})` with the central moments :math:`m_k`.
    """
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or sample.size == 0:
        raise ValueError(f"values: expected a non-empty vector, got shape {sample.shape}")
    is_finite = np.isfinite(sample)
    if not is_finite.all():
        first = int(np.argmin(is_finite))
        raise ValueError(f"values: entry {first} is not finite")
    mean = float(sample.mean())
    if sample.size == 1:
        return Estimate(mean, UNKNOWN, 0)
    spread = float(sample.std(ddof=1))
    largest = float(np.abs(sample).max())
    if spread <= FLAT * largest:
        spread = 0.0
    skewness = 0.0
    if skewed and spread:
        third_moment = np.mean((sample - mean) ** 3)
        skewness = float(third_moment / sample.std() ** 3)
    root = np.sqrt(sample.size)
    skewness_of_mean = skewness / root
    return Estimate(mean, spread / root, sample.size - 1, skewness_of_mean)


def welch(a: Estimate, b: Estimate) -> Estimate:
    r"""Estimate the difference of two independent means.

    Parameters
    ----------
    a : Estimate
        The first mean.
    b : Estimate
        The mean that is subtracted. A constant is ``Estimate(value, 0, inf)``.

    Returns
    -------
    Estimate
        The difference.

    Examples
    --------
    >>> from noisylabels.statistics import Estimate, welch
    >>> gap = welch(Estimate(2.0, 3.0, 10), Estimate(1.0, 4.0, 10))
    >>> gap.mean, gap.se, round(gap.df, 1)
    (1.0, 5.0, 18.5)

    Notes
    -----
    The squared standard error is :math:`se_a^2 + se_b^2`, the degrees of freedom are
    :math:`(se_a^2 + se_b^2)^2 / (se_a^4 / df_a + se_b^4 / df_b)`.

    References
    ----------
    Welch (1947), The generalization of Student's problem; Satterthwaite (1946).
    """
    variances = np.array([a.se, b.se]) ** 2
    variance = float(variances.sum())
    difference = a.mean - b.mean
    if not variance > 0:  # both are exact, or one is unknown (nan)
        return Estimate(difference, variance, min(a.df, b.df))
    parts = zip(variances, (a.df, b.df), strict=True)
    shares = sum(part**2 / df for part, df in parts if part > 0)
    if shares > 0:
        df = float(variance**2 / shares)
    else:
        df = float("inf")
    third_moment = _third_moment(a) - _third_moment(b)
    skew = third_moment / variance**1.5
    se = float(np.sqrt(variance))
    return Estimate(difference, se, df, skew)


def _third_moment(estimate: Estimate) -> float:
    # An estimate with an unknown error has no skewness: 0, not nan.
    if estimate.skew:
        return estimate.skew * estimate.se**3
    return 0.0


def t_interval(estimate: Estimate, level: float = 0.95) -> tuple[float, float]:
    r"""Compute the confidence interval of a mean by Student's t distribution.

    Parameters
    ----------
    estimate : Estimate
        The mean.
    level : float, default 0.95
        Probability with which the interval covers the true mean.

    Returns
    -------
    tuple of float
        Lower and upper end; nan where the error is unknown.

    Examples
    --------
    >>> from noisylabels.statistics import mean_se, t_interval
    >>> low, high = t_interval(mean_se([1.0, 2.0, 3.0]))
    >>> round(float(low), 2), round(float(high), 2)
    (-0.48, 4.48)

    Notes
    -----
    The ends are :math:`m \mp t_{(1 + level) / 2, df}\, se`.
    """
    if estimate.df <= 0:
        return UNKNOWN, UNKNOWN
    half_width = 0.0
    if estimate.se > 0:
        quantile = float(scipy.special.stdtrit(estimate.df, (1 + level) / 2))
        half_width = quantile * estimate.se
    return estimate.mean - half_width, estimate.mean + half_width


def t_below(estimate: Estimate, bound: float = 0.0) -> float:
    r"""Test whether a mean is below a bound, one-sided.

    Parameters
    ----------
    estimate : Estimate
        The mean. With ``mean_se(a - b)`` this is the paired t-test.
    bound : float, default 0.0
        The bound.

    Returns
    -------
    float
        P-value of the hypothesis that the true mean is at least ``bound``.

    Examples
    --------
    >>> from noisylabels.statistics import mean_se, t_below
    >>> round(t_below(mean_se([-1.0, -2.0, -3.0])), 3)
    0.037

    Notes
    -----
    The p-value is :math:`P(T_{df} \le t)` with :math:`t = (m - bound) / se`. If the mean has a
    skewness :math:`k`, Hall's :math:`t + k (1 + 2 t^2) / 6 + k^2 t^3 / 27` replaces :math:`t`.

    References
    ----------
    Hall (1992), On the removal of skewness by transformation.
    """
    if estimate.df <= 0:
        return 1.0
    if estimate.se == 0:
        return 0.0 if estimate.mean < bound else 1.0
    distance = estimate.mean - bound
    t = distance / estimate.se
    k = estimate.skew
    curvature = 1 + 2 * t**2
    first_order = k * curvature / 6
    second_order = k**2 * t**3 / 27
    adjusted = t + first_order + second_order
    return float(scipy.special.stdtr(estimate.df, adjusted))


def t_above(estimate: Estimate, bound: float = 0.0) -> float:
    """Test whether a mean is above a bound, one-sided.

    Parameters
    ----------
    estimate : Estimate
        The mean.
    bound : float, default 0.0
        The bound.

    Returns
    -------
    float
        P-value of the hypothesis that the true mean is at most ``bound``. See `t_below`.

    Examples
    --------
    >>> from noisylabels.statistics import mean_se, t_above
    >>> round(t_above(mean_se([1.0, 2.0, 3.0])), 3)
    0.037
    """
    mirrored = Estimate(-estimate.mean, estimate.se, estimate.df, -estimate.skew)
    return t_below(mirrored, -bound)


def tost(estimate: Estimate, low: float, high: float) -> float:
    """Test whether a mean is inside an interval, by two one-sided tests.

    Parameters
    ----------
    estimate : Estimate
        The mean. An exact mean at an end of the interval counts as inside.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.

    Returns
    -------
    float
        P-value of the hypothesis that the true mean is outside: the larger of the two one-sided
        p-values.

    Examples
    --------
    >>> from noisylabels.statistics import Estimate, tost
    >>> round(tost(Estimate(0.1, 0.2, 20), -1, 1), 5)
    0.00011

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach.
    """
    if estimate.se == 0:
        return 0.0 if low <= estimate.mean <= high else 1.0
    return max(t_above(estimate, low), t_below(estimate, high))


def outside(estimate: Estimate, low: float, high: float) -> float:
    r"""Test whether a mean is outside an interval (minimum-effect test).

    Parameters
    ----------
    estimate : Estimate
        The mean.
    low : float
        Lower end of the interval. With ``low`` equal to ``high`` this is the two-sided t-test.
    high : float
        Upper end of the interval. For a wide one the test tends to the one-sided test at the nearer
        end.

    Returns
    -------
    float
        P-value of the hypothesis that the true mean is inside.

    Examples
    --------
    >>> from noisylabels.statistics import Estimate, outside
    >>> round(outside(Estimate(2.0, 0.4, 20), -1, 1), 3)
    0.011

    Notes
    -----
    With :math:`c` and :math:`h` the centre and half width of the interval, the p-value is
    :math:`P(T \ge (|m - c| - h) / se) + P(T \ge (|m - c| + h) / se)`.
    """
    centre = (low + high) / 2
    half_width = (high - low) / 2
    if estimate.se == 0:
        return 0.0 if not low <= estimate.mean <= high else 1.0
    side = float(np.sign(estimate.mean - centre))
    skew = side * estimate.skew
    size = abs(estimate.mean - centre)
    distance = Estimate(size, estimate.se, estimate.df, skew)
    p_of_far_end = t_above(distance, half_width)
    p_of_near_end = t_above(distance, -half_width)
    return min(1.0, p_of_far_end + p_of_near_end)


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    r"""Adjust p-values for multiplicity by Holm's procedure.

    Parameters
    ----------
    p_values : sequence of float
        P-values of all tests of the family.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values, in the order given.

    Examples
    --------
    >>> from noisylabels.statistics import holm
    >>> holm([0.25, 0.0625, 0.125]).tolist()
    [0.25, 0.1875, 0.25]

    Notes
    -----
    The i-th smallest p-value becomes :math:`\max_{j \le i} \min(1, (m - j + 1) p_{(j)})`.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    factors = p.size - np.arange(p.size)
    scaled = np.minimum(1.0, factors * p[order])
    adjusted[order] = np.maximum.accumulate(scaled)
    return adjusted


def at_least(p_values: Sequence[float], k: int) -> float:
    r"""Test whether at least k of the alternatives are true, under any dependence.

    Parameters
    ----------
    p_values : sequence of float
        One-sided p-values of the single tests.
    k : int
        How many alternatives are claimed. All of them is the intersection-union test, 1 is
        Bonferroni's.

    Returns
    -------
    float
        P-value of the hypothesis that fewer than ``k`` alternatives are true.

    Examples
    --------
    >>> from noisylabels.statistics import at_least
    >>> at_least([0.25, 0.0625, 0.125], 2)
    0.25

    Notes
    -----
    The p-value is :math:`\min(1, (m - k + 1) p_{(k)})`.

    References
    ----------
    Benjamini and Heller (2008), Screening for partial conjunction hypotheses.
    """
    m = len(p_values)
    ordered = np.sort(p_values)
    p = float(ordered[k - 1])
    return min(1.0, (m - k + 1) * p)


def benjamini_hochberg(p_values: Sequence[float]) -> NDArray[np.float64]:
    r"""Adjust p-values to control the false discovery rate.

    Parameters
    ----------
    p_values : sequence of float
        P-values of all tests of the family.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values, in the order given.

    Examples
    --------
    >>> from noisylabels.statistics import benjamini_hochberg
    >>> benjamini_hochberg([0.5, 0.0625]).tolist()
    [0.5, 0.125]

    Notes
    -----
    The i-th smallest p-value becomes :math:`\min_{j \ge i} \min(1, m\, p_{(j)} / j)`.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    descending = order[::-1]
    ranks = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    scaled_p = p.size * p[descending] / ranks
    scaled = np.minimum(1.0, scaled_p)
    adjusted[descending] = np.minimum.accumulate(scaled)
    return adjusted


def holm_factor(p_values: Sequence[float], i: int, alpha: float) -> int:
    r"""Compute the factor by which Holm's procedure multiplies one of the p-values.

    Parameters
    ----------
    p_values : sequence of float
        P-values of all tests of the family.
    i : int
        Index of the test in question.
    alpha : float
        Level of the procedure.

    Returns
    -------
    int
        The factor. Test ``i`` is rejected exactly if its p-value times the factor is below
        ``alpha``.

    Examples
    --------
    >>> from noisylabels.statistics import holm_factor
    >>> holm_factor([0.001, 0.5, 0.9], 1, alpha=0.05)
    2

    Notes
    -----
    The factor is :math:`m - r`, where Holm's procedure rejects :math:`r` of the other :math:`m - 1`
    tests.
    """
    m = len(p_values)
    p = np.asarray(p_values, dtype=float)
    thinned = np.delete(p, i)
    remaining = np.sort(thinned)
    factors = m - np.arange(m - 1)
    is_accepted = remaining * factors >= alpha
    if not is_accepted.any():
        return 1
    return m - int(is_accepted.argmax())


def ratio_below(a: ArrayLike, b: ArrayLike, bound: float) -> float:
    r"""Test whether the ratio of two paired means is below a bound.

    Parameters
    ----------
    a : array_like of shape (n,)
        Numerator of each repetition.
    b : array_like of shape (n,)
        Divisor of each repetition. Only its mean must differ from 0.
    bound : float
        The bound.

    Returns
    -------
    float
        P-value of the hypothesis that the ratio is at least ``bound``, or that the divisor is not
        positive.

    Examples
    --------
    >>> from noisylabels.statistics import ratio_below
    >>> ratio_below([1.0, 1.2, 0.9], [2.1, 1.9, 2.0], bound=1.0) < 0.05
    True

    Notes
    -----
    The larger of the p-values of :math:`E(a - bound \cdot b) < 0` and :math:`E\, b > 0`. No
    repetition is divided by its own divisor.

    References
    ----------
    Fieller (1954), Some problems in interval estimation.
    """
    numerator = np.asarray(a, dtype=float)
    divisor = np.asarray(b, dtype=float)
    p_below = t_below(mean_se(numerator - bound * divisor))
    p_positive = t_above(mean_se(divisor))
    return max(p_below, p_positive)


def ratio_above(a: ArrayLike, b: ArrayLike, bound: float) -> float:
    """Test whether the ratio of two paired means is above a bound.

    Parameters
    ----------
    a : array_like of shape (n,)
        Numerator of each repetition.
    b : array_like of shape (n,)
        Divisor of each repetition.
    bound : float
        The bound.

    Returns
    -------
    float
        P-value of the hypothesis that the ratio is at most ``bound``, or that the divisor is not
        positive. See `ratio_below`.

    Examples
    --------
    >>> from noisylabels.statistics import ratio_above
    >>> ratio_above([2.1, 1.9, 2.0], [1.0, 1.2, 0.9], bound=1.0) < 0.05
    True
    """
    return ratio_below(-np.asarray(a, dtype=float), b, -bound)


def ratio_interval(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    r"""Compute the confidence interval of the ratio of two paired means.

    Parameters
    ----------
    a : array_like of shape (n,)
        Numerator of each repetition.
    b : array_like of shape (n,)
        Divisor of each repetition.
    level : float, default 0.95
        Probability with which the interval covers the true ratio.

    Returns
    -------
    tuple of float
        Lower and upper end; nan if the divisor may be 0, because then no bounded interval exists.

    Examples
    --------
    >>> from noisylabels.statistics import ratio_interval
    >>> low, high = ratio_interval([1.0, 1.2, 0.9, 1.1], [2.1, 1.9, 2.0, 2.0])
    >>> low < 0.525 < high
    True

    Notes
    -----
    The interval holds every :math:`r` with :math:`|\bar{a} - r \bar{b}| \le t\, se(a - r b)`. Its
    ends solve :math:`(m_b^2 - g s_{bb}) r^2 - 2 (m_a m_b - g s_{ab}) r + m_a^2 - g s_{aa} = 0` with
    :math:`g = t^2 / n` and :math:`t = t_{(1 + level) / 2, n - 1}`.

    References
    ----------
    Fieller (1954), Some problems in interval estimation.
    """
    dividends = np.asarray(a, dtype=float)
    divisors = np.asarray(b, dtype=float)
    pairs = np.stack([dividends, divisors])
    n = pairs.shape[1]
    if n < 2:
        return UNKNOWN, UNKNOWN
    probability = (1 + level) / 2
    quantile = float(scipy.special.stdtrit(n - 1, probability))
    g = quantile**2 / n
    means = pairs.mean(axis=1)
    products = np.outer(means, means)
    covariances = g * np.cov(pairs)
    (aa, ab), (_, bb) = products - covariances
    product = aa * bb
    discriminant = ab**2 - product
    if bb <= 0 or discriminant < 0:  # the divisor may be 0
        return UNKNOWN, UNKNOWN
    root = np.sqrt(discriminant)
    low = float((ab - root) / bb)
    high = float((ab + root) / bb)
    return low, high


def share_interval(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    r"""Compute the exact confidence interval of a share.

    Parameters
    ----------
    successes : int
        How many of the draws are successes.
    n : int
        How many draws there are.
    level : float, default 0.95
        Probability, at least, with which the interval covers the true share.

    Returns
    -------
    tuple of float
        Lower and upper end.

    Examples
    --------
    >>> from noisylabels.statistics import share_interval
    >>> low, high = share_interval(3, 10)
    >>> round(low, 3), round(high, 3)
    (0.067, 0.652)

    Notes
    -----
    With the quantiles :math:`B` of the beta distribution and :math:`a = 1 - level`, the interval is
    :math:`[B_{a/2}(k, n - k + 1),\ B_{1 - a/2}(k + 1, n - k)]`.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits.
    """
    tail = (1 - level) / 2
    low = 0.0
    if successes > 0:
        complement = n - successes + 1
        low = float(scipy.special.betaincinv(successes, complement, tail))
    high = 1.0
    if successes < n:
        high = float(scipy.special.betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def pool_error(differences: ArrayLike, tests: ArrayLike, pool: int) -> Estimate:
    r"""Estimate how much a mean over splits of one pool depends on the choice of the pool.

    `welch` adds this error to the error over the splits.

    Parameters
    ----------
    differences : array_like of shape (n,)
        For each point, the mean over the splits in which it was tested.
    tests : array_like of shape (n,)
        How often each point was tested, at least once.
    pool : int
        Number of rows of the pool. It exceeds n where equal rows share a number.

    Returns
    -------
    Estimate
        An estimate of mean 0. Its error is unknown if all differences are equal.

    Examples
    --------
    >>> from noisylabels.statistics import pool_error
    >>> error = pool_error([0.0, 0.2, 0.1, 0.1], [1, 1, 1, 1], pool=4)
    >>> round(error.se, 3)
    0.041

    Notes
    -----
    With :math:`m_i` tests of point :math:`i`, difference :math:`d_i` and weighted mean :math:`d`,
    :math:`se^2 = \sum_i m_i (d_i - d)^2 / ((N - 1) \sum_i m_i)`. The kurtosis :math:`k` of the
    differences gives the degrees of freedom, :math:`2 N / (k - (N - 3) / (N - 1))`: this is
    :math:`N - 1` for normal differences, and twice the number of differing points if they are few.

    References
    ----------
    Bayle, Bayle, Janson and Mackey (2020), Cross-validation confidence intervals for test error
    (for folds).
    """
    means = np.asarray(differences, dtype=float)
    counts = np.asarray(tests, dtype=float)
    weights = counts / counts.sum()
    mean = weights @ means
    squares = (means - mean) ** 2
    variance = float(weights @ squares)
    if pool < 3 or np.ptp(means) <= FLAT * np.abs(means).max(initial=0.0):
        return Estimate(0.0, UNKNOWN, 0)
    fourth_moment = float(weights @ squares**2)
    kurtosis = fourth_moment / variance**2
    expected = (pool - 3) / (pool - 1)
    df = 2 * pool / (kurtosis - expected)
    variance_of_mean = variance / (pool - 1)
    se = float(np.sqrt(variance_of_mean))
    return Estimate(0.0, se, df)


def for_new_points(splits: Estimate, pool: Estimate) -> Estimate:
    """Turn a mean over splits of one pool into an estimate for new points.

    Parameters
    ----------
    splits : Estimate
        The mean over the splits.
    pool : Estimate
        What the choice of the pool adds, from `pool_error`.

    Returns
    -------
    Estimate
        The same mean with both errors.

    Examples
    --------
    >>> from noisylabels.statistics import Estimate, for_new_points
    >>> estimate = for_new_points(Estimate(0.1, 0.03, 9), Estimate(0.0, 0.04, 200))
    >>> estimate.mean, round(estimate.se, 3), estimate.df
    (0.1, 0.05, 9)

    Notes
    -----
    The degrees of freedom are Welch's, but at most those of the splits if the splits vary.
    Otherwise few splits would seem to say more about new points than about these. The noise of the
    splits is also in the differences of the points. Counting it twice pays for what another pool
    would change in the training, which no split of this pool shows.
    """
    both = welch(splits, pool)
    if splits.se > 0:
        return both._replace(df=min(both.df, splits.df))
    return both


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Compare paired samples by Wilcoxon's signed-rank test, two-sided.

    Parameters
    ----------
    a : array_like of shape (n,)
        The first value of each pair.
    b : array_like of shape (n,)
        The second value of each pair.

    Returns
    -------
    float
        P-value, exact up to 50 pairs. Equal pairs are left out; it is 1 if no others remain.

    Raises
    ------
    ValueError
        If the samples have different lengths.

    Examples
    --------
    >>> from noisylabels.statistics import signed_rank
    >>> signed_rank([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 1.0, 1.5])
    0.125
    """
    first = np.asarray(a, dtype=float).ravel()
    second = np.asarray(b, dtype=float).ravel()
    if first.size != second.size:
        sizes = f"{first.size} and {second.size}"
        raise ValueError(f"a and b are paired: expected as many values in both, got {sizes}")
    difference = (first - second)[first != second]
    if not difference.size:
        return 1.0
    return float(scipy.stats.wilcoxon(difference).pvalue)
