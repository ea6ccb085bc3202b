"""Wilcoxon's two tests by ranks, as SciPy has them; to import SciPy's takes longer than to draw a table."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
