"""Estimates with their uncertainty, and the few tests that the verdicts and the tables use.

Everything works on an `Estimate` (mean, standard error, degrees of freedom): `mean_se` makes one from
repetitions, `welch` makes one from two independent estimates. An estimate with ``df = 0`` (one repetition)
can prove nothing: every p-value is 1. An estimate with ``se = 0`` is exact: every p-value is 0 or 1.

What figures and tables need is written out here: to import SciPy's would take longer than to draw them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

FLAT = 1e-12
"""Relative spread below which repetitions count as equal."""


class Estimate(NamedTuple):
    """Mean, its standard error, and the degrees of freedom of the error (0: unknown, inf: known exactly)."""

    mean: float
    se: float
    df: float


def mean_se(values: ArrayLike) -> Estimate:
    """m = sum(x)/n, se = s/sqrt(n) with s^2 = sum((x-m)^2)/(n-1), n-1 degrees of freedom.

    Parameters
    ----------
    values : (n,), n >= 1, one value per repetition. For a paired comparison: the differences a - b.

    Raises
    ------
    ValueError : no values, or one that is not finite.
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
    return Estimate(mean, spread / np.sqrt(x.size), x.size - 1)


def welch(a: Estimate, b: Estimate) -> Estimate:
    """D = a - b, se^2 = se_a^2 + se_b^2, df = se^4 / (se_a^4/df_a + se_b^4/df_b) (Welch, Satterthwaite).

    The two estimates are independent; a constant is ``Estimate(value, 0, inf)``.
    """
    variances = np.array([a.se, b.se]) ** 2
    total = float(variances.sum())
    if not total > 0:  # both exact, or one unknown (nan)
        return Estimate(a.mean - b.mean, total, min(a.df, b.df))
    parts = sum(v**2 / df for v, df in zip(variances, (a.df, b.df), strict=True) if v > 0)
    return Estimate(
        a.mean - b.mean, float(np.sqrt(total)), float(total**2 / parts) if parts > 0 else float("inf")
    )


def t_interval(estimate: Estimate, level: float = 0.95) -> tuple[float, float]:
    """m -/+ t_{(1+level)/2, df} se; (nan, nan) where the error is unknown."""
    from scipy.special import stdtrit

    if estimate.df <= 0:
        return float("nan"), float("nan")
    half = float(stdtrit(estimate.df, (1 + level) / 2)) * estimate.se if estimate.se > 0 else 0.0
    return estimate.mean - half, estimate.mean + half


def t_quantile(df: int, p: float) -> float:
    """t with P(T_df <= t) = p, for whole degrees of freedom and 1/2 <= p < 1; `t_interval` takes any.

    With t = sqrt(df) tan(u), 2p - 1 is a finite sum of powers of cos(u); solved for u by halving.
    Source: Abramowitz and Stegun (1964), equations 26.7.3 and 26.7.4.
    """
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _inside(df, middle) < 2 * p - 1 else (low, middle)
    return math.sqrt(df) * math.tan(low)


def _inside(df: int, u: float) -> float:
    """P(|T_df| <= sqrt(df) tan(u))."""
    odd = df % 2
    term = math.sin(u) * (math.cos(u) if odd else 1.0)
    total = 0.0
    for k in range(2 + odd, df + 1, 2):
        total += term
        term *= math.cos(u) ** 2 * (k - 1) / k
    return 2 / math.pi * (u + total) if odd else total


def t_below(estimate: Estimate, bound: float = 0.0) -> float:
    """P(T_df <= (m - bound)/se): one-sided p-value of H0 mu >= bound against mu < bound.

    On ``mean_se(a - b)`` this is the paired t-test.
    """
    from scipy.special import stdtr

    if estimate.df <= 0:
        return 1.0
    if estimate.se == 0:
        return 0.0 if estimate.mean < bound else 1.0
    return float(stdtr(estimate.df, (estimate.mean - bound) / estimate.se))


def t_above(estimate: Estimate, bound: float = 0.0) -> float:
    """P(T_df >= (m - bound)/se): one-sided p-value of H0 mu <= bound against mu > bound."""
    return t_below(Estimate(-estimate.mean, estimate.se, estimate.df), -bound)


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
    distance = Estimate(abs(estimate.mean - centre), estimate.se, estimate.df)
    return min(1.0, t_above(distance, half) + t_above(distance, -half))


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """p_(i) adjusted = max_{j<=i} min(1, (m-j+1) p_(j)) (Holm 1979), in the order given."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(np.minimum(1.0, (p.size - np.arange(p.size)) * p[order]))
    adjusted = np.empty_like(p)
    adjusted[order] = stepped
    return adjusted


def at_least(p_values: Sequence[float], k: int) -> float:
    """min(1, (m-k+1) p_(k)): H0 "fewer than k of the m alternatives are true" (Benjamini and Heller 2008).

    Valid under any dependence. ``k = m`` is the intersection-union test max(p), ``k = 1`` is Bonferroni.
    """
    m = len(p_values)
    return min(1.0, (m - k + 1) * float(np.sort(p_values)[k - 1]))


def mann_whitney(a: ArrayLike, b: ArrayLike) -> float:
    """z = (|R_a - n_a (n+1)/2| - 1/2) / sd, two-sided: Wilcoxon's rank-sum test of unpaired samples.

    R_a is the sum of the ranks of a, and sd that of the ranks that there are, so ties are accounted for.
    """
    x, y = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    n = x.size + y.size
    ranks, tied = _ranks(np.concatenate([x, y]))
    gap = abs(float(ranks[: x.size].sum()) - x.size * (n + 1) / 2)
    spread = np.sqrt(x.size * y.size / 12 * (n + 1 - (tied**3 - tied).sum() / (n * (n - 1))))
    return _two_sided((gap - 0.5) / spread) if spread > 0 else 1.0


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Two-sided Wilcoxon signed-rank p-value of paired samples; 1 where no pair differs.

    Pairs without difference are left out.
    The distribution of R, the sum of the ranks of the positive differences, is exact for up to 50 pairs
    without ties and up to 13 with ties, else normal, as in SciPy.

    Raises
    ------
    ValueError : samples of different lengths.
    """
    x, y = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    if x.size != y.size:
        raise ValueError(f"a and b are paired: expected as many values in both, got {x.size} and {y.size}")
    difference = (x - y)[x != y]
    n = difference.size
    if n == 0:
        return 1.0
    ranks, tied = _ranks(np.abs(difference))
    positive = float(ranks[difference > 0].sum())
    if n <= (50 if (tied == 1).all() else 13):
        return _exact_signed_rank(ranks, positive)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (tied**3 - tied).sum() / 48
    return _two_sided(abs(positive - n * (n + 1) / 4) / np.sqrt(variance))


def _ranks(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rank of each value, the mean rank where some are equal, and how often each different value is there."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which], counts


def _exact_signed_rank(ranks: NDArray[np.float64], positive: float) -> float:
    """2 min(P(R <= r), P(R >= r)) where every rank counts with probability 1/2."""
    doubled = np.round(2 * ranks).astype(int)  # whole numbers, also for mean ranks
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    observed = round(2 * positive)
    tails = min(ways[: observed + 1].sum(), ways[observed:].sum())
    return min(1.0, 2 * float(tails) / 2.0**doubled.size)


def _two_sided(z: float) -> float:
    """2 P(Z >= z) of a standard normal Z, at most 1."""
    return min(1.0, math.erfc(z / math.sqrt(2)))
