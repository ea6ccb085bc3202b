"""Wilcoxon's two tests by ranks, as the tables of p-values quote them."""

import numpy as np
from numpy.typing import ArrayLike


def mann_whitney(a: ArrayLike, b: ArrayLike) -> float:
    """Two-sided Wilcoxon rank-sum p-value of unpaired samples, normal approximation with tie correction."""
    from scipy.stats import mannwhitneyu

    x, y = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    return float(mannwhitneyu(x, y, alternative="two-sided", method="asymptotic").pvalue)


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Two-sided Wilcoxon signed-rank p-value of paired samples; 1 where no pair differs.

    Pairs without difference are left out; the distribution is exact for up to 50 pairs without ties.

    Raises
    ------
    ValueError : samples of different lengths.
    """
    from scipy.stats import wilcoxon

    x, y = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    if x.size != y.size:
        raise ValueError(f"a and b are paired: expected as many values in both, got {x.size} and {y.size}")
    difference = (x - y)[x != y]
    return float(wilcoxon(difference).pvalue) if difference.size else 1.0
