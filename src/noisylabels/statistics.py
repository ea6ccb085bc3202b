"""Estimates with their uncertainty, and the few tests that the verdicts and the tables use.

Everything works on an `Estimate` (mean, standard error, degrees of freedom): `mean_se` makes one from
repetitions, `welch` makes one from two independent estimates. An estimate with ``df = 0`` (one repetition)
can prove nothing: every p-value is 1. An estimate with ``se = 0`` is exact: every p-value is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # loads its parts when they are used, which takes longer than to draw a figure
from numpy.typing import ArrayLike, NDArray

FLAT = 1e-12
"""Relative spread below which repetitions count as equal."""


class Estimate(NamedTuple):
    """Mean, its standard error, and the degrees of freedom of the error (0: unknown, inf: known exactly).

    skew : of the mean's distribution, for tests that must allow for it; 0 leaves the plain t-test.
    """

    mean: float
    se: float
    df: float
    skew: float = 0.0


def mean_se(values: ArrayLike, skewed: bool = False) -> Estimate:
    """m = sum(x)/n, se = s/sqrt(n) with s^2 = sum((x-m)^2)/(n-1), n-1 degrees of freedom.

    skewed : give the tests the skewness of the mean, m_3 / (m_2^(3/2) sqrt(n)), m_k the central moments.
    values : (n,), n >= 1, one value per repetition. For a paired comparison: the differences a - b.
    Raises ValueError : no values, or one that is not finite.
    """
    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"values: expected a non-empty vector, got shape {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError(f"values: entry {int(np.argmin(np.isfinite(x)))} is not finite")
    mean = float(x.mean())
    if x.size == 1:
        return Estimate(mean, float("nan"), 0)
    spread = float(x.std(ddof=1))
    if spread <= FLAT * float(np.abs(x).max()):
        spread = 0.0
    third = float(np.mean((x - mean) ** 3) / x.std() ** 3) if skewed and spread else 0.0
    return Estimate(mean, spread / np.sqrt(x.size), x.size - 1, third / np.sqrt(x.size))


def welch(a: Estimate, b: Estimate) -> Estimate:
    """D = a - b, se^2 = se_a^2 + se_b^2, df = se^4 / (se_a^4/df_a + se_b^4/df_b) (Welch, Satterthwaite).

    The two estimates are independent; a constant is ``Estimate(value, 0, inf)``.
    """
    variances = np.array([a.se, b.se]) ** 2
    total = float(variances.sum())
    if not total > 0:  # both exact, or one unknown (nan)
        return Estimate(a.mean - b.mean, total, min(a.df, b.df))
    parts = sum(v**2 / df for v, df in zip(variances, (a.df, b.df), strict=True) if v > 0)
    df = float(total**2 / parts) if parts > 0 else float("inf")
    thirds = [each.skew * each.se**3 if each.skew else 0.0 for each in (a, b)]
    return Estimate(a.mean - b.mean, float(np.sqrt(total)), df, (thirds[0] - thirds[1]) / total**1.5)


def t_interval(estimate: Estimate, level: float = 0.95) -> tuple[float, float]:
    """m -/+ t_{(1+level)/2, df} se; (nan, nan) where the error is unknown."""
    if estimate.df <= 0:
        return float("nan"), float("nan")
    half = (
        float(scipy.special.stdtrit(estimate.df, (1 + level) / 2)) * estimate.se if estimate.se > 0 else 0.0
    )
    return estimate.mean - half, estimate.mean + half


def t_below(estimate: Estimate, bound: float = 0.0) -> float:
    """P(T_df <= t), t = (m - bound)/se: one-sided p-value of H0 mu >= bound against mu < bound.

    On ``mean_se(a - b)`` this is the paired t-test. If the mean has a skewness k, t becomes Hall's (1992)
    t + k (1 + 2 t^2)/6 + k^2 t^3/27.
    """
    if estimate.df <= 0:
        return 1.0
    if estimate.se == 0:
        return 0.0 if estimate.mean < bound else 1.0
    t, skew = (estimate.mean - bound) / estimate.se, estimate.skew
    return float(scipy.special.stdtr(estimate.df, t + skew * (1 + 2 * t**2) / 6 + skew**2 * t**3 / 27))


def t_above(estimate: Estimate, bound: float = 0.0) -> float:
    """P(T_df >= (m - bound)/se): one-sided p-value of H0 mu <= bound against mu > bound."""
    return t_below(Estimate(-estimate.mean, estimate.se, estimate.df, -estimate.skew), -bound)


def tost(estimate: Estimate, low: float, high: float) -> float:
    """max(p(mu > low), p(mu < high)): H0 "outside [low, high]" against "inside" (Schuirmann 1987).

    An exact estimate (``se = 0``) on the border counts as inside.
    """
    if estimate.se == 0:
        return 0.0 if low <= estimate.mean <= high else 1.0
    return max(t_above(estimate, low), t_below(estimate, high))


def outside(estimate: Estimate, low: float, high: float) -> float:
    """P(T >= (|m-c|-h)/se) + P(T >= (|m-c|+h)/se), c and h centre and half width: H0 "inside [low, high]".

    The minimum-effect test. With ``low = high`` it is the two-sided t-test; for a wide interval it tends to
    the one-sided test at the nearer border.
    """
    centre, half = (low + high) / 2, (high - low) / 2
    if estimate.se == 0:
        return 0.0 if not low <= estimate.mean <= high else 1.0
    skew = float(np.sign(estimate.mean - centre)) * estimate.skew
    distance = Estimate(abs(estimate.mean - centre), estimate.se, estimate.df, skew)
    return min(1.0, t_above(distance, half) + t_above(distance, -half))


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """p_(i) adjusted = max_{j<=i} min(1, (m-j+1) p_(j)) (Holm 1979), in the order given."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (p.size - np.arange(p.size)) * p[order]))
    return adjusted


def at_least(p_values: Sequence[float], k: int) -> float:
    """min(1, (m-k+1) p_(k)): H0 "fewer than k of the m alternatives are true" (Benjamini and Heller 2008).

    Valid under any dependence. ``k = m`` is the intersection-union test max(p), ``k = 1`` is Bonferroni.
    """
    m = len(p_values)
    return min(1.0, (m - k + 1) * float(np.sort(p_values)[k - 1]))


def benjamini_hochberg(p_values: Sequence[float]) -> NDArray[np.float64]:
    """p_(i) adjusted = min_{j>=i} min(1, m p_(j) / j) (Benjamini and Hochberg 1995), in the order given."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, p.size * p[order] / np.arange(p.size, 0, -1)))
    return adjusted


def holm_factor(p_values: Sequence[float], i: int, alpha: float) -> int:
    """m - r, where Holm's procedure rejects r of the other m - 1 p-values.

    It rejects p_i exactly if (m - r) p_i < alpha; the factor does not depend on p_i.
    """
    m = len(p_values)
    others = np.sort(np.delete(np.asarray(p_values, dtype=float), i))
    kept = others * (m - np.arange(m - 1)) >= alpha
    return m - (int(kept.argmax()) if kept.any() else m - 1)


def ratio_below(a: ArrayLike, b: ArrayLike, bound: float) -> float:
    """max(p(mean(a - bound b) < 0), p(mean(b) > 0)): H0 "mean(a)/mean(b) >= bound, or no divisor above 0".

    Pairs (a_r, b_r) of the same repetition; no repetition is divided by its own b_r (Fieller 1954).
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return max(t_below(mean_se(x - bound * y)), t_above(mean_se(y)))


def ratio_above(a: ArrayLike, b: ArrayLike, bound: float) -> float:
    """max(p(mean(a - bound b) > 0), p(mean(b) > 0)): H0 "mean(a)/mean(b) <= bound, or no divisor above 0"."""
    return ratio_below(-np.asarray(a, dtype=float), b, -bound)


def ratio_interval(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """{r : |mean(a - r b)| <= t_{(1+level)/2, n-1} se(a - r b)} (Fieller 1954); (nan, nan) unless bounded.

    The ends solve (m_b^2 - g s_bb) r^2 - 2 (m_a m_b - g s_ab) r + m_a^2 - g s_aa = 0, g = t^2/n.
    """
    pairs = np.stack([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    n = pairs.shape[1]
    if n < 2:
        return float("nan"), float("nan")
    g = float(scipy.special.stdtrit(n - 1, (1 + level) / 2)) ** 2 / n
    (aa, ab), (_, bb) = np.outer(pairs.mean(axis=1), pairs.mean(axis=1)) - g * np.cov(pairs)
    root = ab**2 - aa * bb
    if bb <= 0 or root < 0:  # the divisor is not shown to differ from 0
        return float("nan"), float("nan")
    return float((ab - np.sqrt(root)) / bb), float((ab + np.sqrt(root)) / bb)


def share_interval(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """[B_{a/2}(k, n-k+1), B_{1-a/2}(k+1, n-k)], a = 1 - level (Clopper and Pearson 1934)."""
    tail = (1 - level) / 2
    low = float(scipy.special.betaincinv(successes, n - successes + 1, tail)) if successes > 0 else 0.0
    high = float(scipy.special.betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return low, high


def pool_error(differences: ArrayLike, tests: ArrayLike, pool: int) -> Estimate:
    """se^2 = sum_i m_i (d_i - d)^2 / ((N-1) sum_i m_i), d = sum_i m_i d_i / sum_i m_i, about a mean of 0.

    What a mean over splits of one pool owes to the choice of the pool: `welch` adds it to the error over the
    splits (Bayle, Bayle, Janson and Mackey 2020 for folds). The kurtosis k of the d_i gives the degrees of
    freedom, 2N / (k - (N-3)/(N-1)): N-1 for normal d_i, twice the number of differing points if they are few.

    differences : (n,), d_i, the mean over the splits in which point i was tested.
    tests : (n,), m_i >= 1, how often it was tested.
    pool : N, rows of the pool; more than n where equal rows share a number.
    Returns ``Estimate(0, se, df)``; if all d_i are equal, ``Estimate(0, nan, 0)``.
    """
    d, m = np.asarray(differences, dtype=float), np.asarray(tests, dtype=float)
    weights = m / m.sum()
    squares = (d - weights @ d) ** 2
    variance = float(weights @ squares)
    if pool < 3 or np.ptp(d) <= FLAT * np.abs(d).max(initial=0.0):
        return Estimate(0.0, float("nan"), 0)
    kurtosis = float(weights @ squares**2) / variance**2
    df = 2 * pool / (kurtosis - (pool - 3) / (pool - 1))
    return Estimate(0.0, float(np.sqrt(variance / (pool - 1))), df)


def for_new_points(splits: Estimate, pool: Estimate) -> Estimate:
    """The mean over J splits of one pool as an estimate for other points: se^2 = s^2/J + `pool_error`^2.

    Degrees of freedom: Welch's, but at most the J-1 of the splits, if they vary: else few splits would seem
    to say more about new points than about these. The noise of the splits is also in the d_i: counting it
    twice pays for what another pool would change in the training, which no split of this one shows.
    """
    both = welch(splits, pool)
    return both._replace(df=min(both.df, splits.df)) if splits.se > 0 else both


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Two-sided Wilcoxon signed-rank p-value of the pairs that differ, 1 without any; exact up to 50.

    Raises ValueError : samples of different lengths.
    """
    x, y = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    if x.size != y.size:
        raise ValueError(f"a and b are paired: expected as many values in both, got {x.size} and {y.size}")
    difference = (x - y)[x != y]
    return float(scipy.stats.wilcoxon(difference).pvalue) if difference.size else 1.0
