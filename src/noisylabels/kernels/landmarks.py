"""Which points represent the others: uniform draws, centres of clusters, or draws by leverage.

uniform : m rows without replacement.
kmeans : centres of clusters (mini-batches, k-means++), which are no rows of X.
leverage : m rows without replacement, row i with probability in proportion to its ridge leverage score
    tau_i = (K (K + ridge I)^-1)_ii. One pass estimates it from m uniform rows S, each standing for n/m:
    tau_i = min(1, (1 - k_i^T (K_SS + (m/n) ridge I)^-1 k_i) / ridge), k_i = k(S, x_i).

Source: Musco and Musco, Recursive sampling for the Nystrom method, NeurIPS 2017, eq. (3); centres: Zhang,
Tsang, Kwok, Improved Nystrom low-rank approximation and error analysis, ICML 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from noisylabels.kernels.gaussian import squared_distances
from noisylabels.validation import choice, whole

Array = NDArray[np.float64]

CHOICES = ("uniform", "kmeans", "leverage")
BLOCK = 1024  # rows at a time
LEAST_RIDGE = 1e-6  # below it 1 - k^T K^-1 k has no correct digits


def choose(X: Array, m: int, how: str, gamma: float, ridge: float, rng: np.random.Generator) -> Array:
    """m landmarks (m, d) for the kernel exp(-gamma D) on X (n, d); all rows, in their order, if m >= n.

    Raises ValueError : m < 1, an unknown choice.
    """
    check(m, how)
    if m >= len(X):
        return X.copy()
    if how == "kmeans":
        return _centres(X, m, rng)
    chosen = rng.choice(len(X), m, replace=False)
    if how == "leverage":
        p = leverage_scores(X, X[chosen], gamma, ridge)
        enough = np.count_nonzero(p) >= m
        chosen = rng.choice(len(X), m, replace=False, p=p / p.sum()) if enough else chosen
    return X[np.sort(chosen)]


def check(m: int, how: str) -> None:
    """ValueError: m is no number of landmarks, or the choice is unknown."""
    whole("landmarks", m, 1)
    choice("choice", how, CHOICES)


def leverage_scores(X: Array, S: Array, gamma: float, ridge: float) -> Array:
    """tau (n,) of the rows of X (n, d), estimated from uniform rows S (m, d) of it; exact for S = X."""
    ridge = max(ridge, LEAST_RIDGE)
    K = np.exp(-gamma * squared_distances(S))
    K[np.diag_indices_from(K)] += len(S) / len(X) * ridge
    L = cholesky(K, lower=True, check_finite=False)
    tau = np.empty(len(X))
    for at in range(0, len(X), BLOCK):
        k = np.exp(-gamma * squared_distances(S, X[at : at + BLOCK]))
        reached = solve_triangular(L, k, lower=True, check_finite=False, overwrite_b=True)
        tau[at : at + BLOCK] = 1.0 - (reached**2).sum(axis=0)
    return np.clip(tau / ridge, 0.0, 1.0)


def _centres(X: Array, m: int, rng: np.random.Generator) -> Array:
    from sklearn.cluster import MiniBatchKMeans

    seed = int(rng.integers(2**31 - 1))
    means = MiniBatchKMeans(m, random_state=seed, batch_size=max(1024, 3 * m), n_init=1, max_iter=10)
    return np.asarray(means.fit(X).cluster_centers_, dtype=float)
