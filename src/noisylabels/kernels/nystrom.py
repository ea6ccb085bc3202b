"""Nystrom's features: a kernel machine on n points as a linear one in at most m dimensions.

phi(x) = S^-1/2 U^T k(Z, x) with K_ZZ = U S U^T of the landmarks Z (m, d): K_ZZ^-1/2 k(Z, x), rotated.
<phi(x), phi(x')> = k(x, Z) K_ZZ^-1 k(Z, x') is k(x, x') where x or x' is a landmark,
so that nothing is lost where all points are landmarks.

Source: Williams and Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from noisylabels.kernels.gaussian import squared_distances
from noisylabels.validation import Floats, choice, whole

SMALLEST_EIGENVALUE = 1e-12  # relative to the largest; directions below it are dropped
BLOCK = 1024  # rows at a time, so that memory beside the result does not grow with them
Landmarks = Literal["uniform", "kmeans", "leverage"]
LEAST_RIDGE = 1e-6  # below it 1 - k^T K^-1 k has no correct digits


def features(Z: Any, gamma: float) -> Floats:
    """U S^-1/2 (m, r) of the kernel exp(-gamma D) with landmarks Z (m, d): phi(x) = (U S^-1/2)^T k(Z, x).

    Repeated landmarks add no features.
    """
    s, U = eigh(np.exp(-gamma * squared_distances(Z)), driver="evd", check_finite=False)
    keep = s > SMALLEST_EIGENVALUE * s[-1]
    return np.ascontiguousarray((U[:, keep] / np.sqrt(s[keep]))[:, ::-1])


def times(X: Any, Z: Any, gamma: float, w: Floats, bias: bool = False) -> Floats:
    """k(X, Z) w for X (n, d), Z (m, d) and w (m, K), with a last column of ones for a bias: (n, K + bias)."""
    out = np.ones((X.shape[0], w.shape[1] + bias))
    for at in range(0, X.shape[0], BLOCK):
        D = squared_distances(X[at : at + BLOCK], Z)
        D *= -gamma
        np.matmul(np.exp(D, out=D), w, out=out[at : at + BLOCK, : w.shape[1]])
    return out


def choose(X: Any, m: int, how: str, gamma: float, ridge: float, rng: np.random.Generator) -> Any:
    """m landmarks (m, d) for the kernel exp(-gamma D) on X (n, d); all rows, in their order, if m >= n.

    uniform : m rows without replacement.
    kmeans : centres of clusters (mini-batches, k-means++), which need not be rows of X (Zhang, Tsang, Kwok,
        Improved Nystrom low-rank approximation and error analysis, ICML 2008).
    leverage : m rows without replacement, with probabilities in proportion to their `leverage_scores`.
    Raises ValueError: m < 1, an unknown choice.
    """
    whole("landmarks", m, 1)
    choice("choice", how, get_args(Landmarks))
    if m >= X.shape[0]:
        return X.copy()
    if how == "kmeans":
        from sklearn.cluster import MiniBatchKMeans

        seed = int(rng.integers(2**31 - 1))
        means = MiniBatchKMeans(m, random_state=seed, batch_size=max(1024, 3 * m), n_init=1, max_iter=10)
        return np.asarray(means.fit(X).cluster_centers_, dtype=float)
    chosen = rng.choice(X.shape[0], m, replace=False)
    if how == "leverage":
        p = leverage_scores(X, X[chosen], gamma, ridge)
        enough = np.count_nonzero(p) >= m
        chosen = rng.choice(X.shape[0], m, replace=False, p=p / p.sum()) if enough else chosen
    return X[np.sort(chosen)]


def leverage_scores(X: Any, S: Any, gamma: float, ridge: float) -> Floats:
    """Leverage scores tau_i = (K (K + ridge I)^-1)_ii (n,) of X (n, d), from uniform rows S (m, d) of it.

    tau_i = min(1, (1 - k_i^T (K_SS + (m/n) ridge I)^-1 k_i) / ridge), k_i = k(S, x_i); exact for S = X.
    Source: Musco and Musco, Recursive sampling for the Nystrom method, NeurIPS 2017, eq. (3).
    """
    ridge = max(ridge, LEAST_RIDGE)
    K = np.exp(-gamma * squared_distances(S))
    K[np.diag_indices_from(K)] += S.shape[0] / X.shape[0] * ridge
    L = cholesky(K, lower=True, check_finite=False)
    tau = np.empty(X.shape[0])
    for at in range(0, X.shape[0], BLOCK):
        k = np.exp(-gamma * squared_distances(S, X[at : at + BLOCK]))
        reached = solve_triangular(L, k, lower=True, check_finite=False, overwrite_b=True)
        tau[at : at + BLOCK] = 1.0 - (reached**2).sum(axis=0)
    return np.clip(tau / ridge, 0.0, 1.0)
