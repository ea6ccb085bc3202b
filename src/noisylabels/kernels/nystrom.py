r"""Nystrom's features: a kernel machine on many points as a linear one in few dimensions.

With the kernel matrix :math:`K_{ZZ} = U S U^\top` of the landmarks :math:`Z`, the features are
:math:`\phi(x) = S^{-1/2} U^\top k(Z, x)`. Their scalar product
:math:`k(x, Z) K_{ZZ}^{-1} k(Z, x')` is :math:`k(x, x')` where one of the two is a landmark.

Source: Williams and Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from noisylabels.kernels.gaussian import squared_distances
from noisylabels.seeding import LARGEST_SEED
from noisylabels.validation import Floats, choice, whole

Landmarks = Literal["uniform", "kmeans", "leverage"]

SMALLEST_DIRECTION = 1e-12
"""Directions whose eigenvalue is below this share of the largest are dropped."""

BLOCK = 1024
"""Rows at a time, so that the memory for distances does not grow with their number."""

LEAST_RIDGE = 1e-6
"""Below this ridge leverage scores have no correct digits."""


def nystrom_features(Z: Any, gamma: float) -> Floats:
    """Compute the matrix that turns kernel values of the landmarks into features.

    Parameters
    ----------
    Z : array or sparse matrix of shape (m, d)
        Landmarks.
    gamma : float
        Rate of the Gaussian kernel.

    Returns
    -------
    ndarray of shape (m, r)
        The matrix. Repeated landmarks add no features.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.nystrom import nystrom_features
    >>> nystrom_features(np.array([[0.0], [0.0], [9.0]]), gamma=1.0).shape
    (3, 2)
    """
    s, U = eigh(np.exp(-gamma * squared_distances(Z)), driver="evd", check_finite=False)
    is_kept = s > SMALLEST_DIRECTION * s[-1]
    features = U[:, is_kept] / np.sqrt(s[is_kept])
    return np.ascontiguousarray(features[:, ::-1])


def nystrom_times(X: Any, Z: Any, gamma: float, w: Floats, bias: bool = False) -> Floats:
    """Multiply the kernel between samples and landmarks by weights.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples.
    Z : array or sparse matrix of shape (m, d)
        Landmarks.
    gamma : float
        Rate of the Gaussian kernel.
    w : ndarray of shape (m, K)
        Weights.
    bias : bool, default False
        Add a last column of ones.

    Returns
    -------
    ndarray of shape (n, K) or (n, K + 1)
        The products.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.nystrom import nystrom_times
    >>> Z = np.zeros((1, 2))
    >>> nystrom_times(Z, Z, 1.0, np.array([[5.0]]), bias=True).tolist()
    [[5.0, 1.0]]
    """
    n_columns = w.shape[1]
    out = np.ones((X.shape[0], n_columns + bias))
    for start in range(0, X.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        D = squared_distances(X[rows], Z)
        D *= -gamma
        np.matmul(np.exp(D, out=D), w, out=out[rows, :n_columns])
    return out


def landmarks(
    X: Any,
    m: int,
    how: str,
    gamma: float,
    ridge: float,
    rng: np.random.Generator,
) -> Any:
    """Choose landmarks.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples.
    m : int
        Number of landmarks, at least 1. With n or more, all samples are landmarks, in their order.
    how : {"uniform", "kmeans", "leverage"}
        Samples without replacement with equal probabilities; centres of clusters, which need not be
        samples; or samples without replacement in proportion to their `leverage_scores`.
    gamma : float
        Rate of the Gaussian kernel.
    ridge : float
        Ridge of the leverage scores.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    array or sparse matrix of shape (m, d)
        The landmarks.

    Raises
    ------
    ValueError
        If m is below 1, or the choice is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.nystrom import landmarks
    >>> X = np.arange(6.0)[:, None]
    >>> landmarks(X, 3, "uniform", 1.0, 1.0, np.random.default_rng(0)).shape
    (3, 1)

    References
    ----------
    Zhang, Tsang and Kwok, Improved Nystrom low-rank approximation and error analysis, ICML 2008
    (clusters).
    """
    whole("landmarks", m, 1)
    choice("choice", how, get_args(Landmarks))
    n = X.shape[0]
    if m >= n:
        return X.copy()
    if how == "kmeans":
        return _cluster_centres(X, m, int(rng.integers(LARGEST_SEED)))
    chosen = rng.choice(n, m, replace=False)
    if how == "leverage":
        scores = leverage_scores(X, X[chosen], gamma, ridge)
        if np.count_nonzero(scores) >= m:
            chosen = rng.choice(n, m, replace=False, p=scores / scores.sum())
    return X[np.sort(chosen)]


def _cluster_centres(X: Any, m: int, seed: int) -> Floats:
    from sklearn.cluster import MiniBatchKMeans

    clusters = MiniBatchKMeans(
        m,
        random_state=seed,
        batch_size=max(1024, 3 * m),
        n_init=1,
        max_iter=10,
    )
    return np.asarray(clusters.fit(X).cluster_centers_, dtype=float)


def leverage_scores(X: Any, S: Any, gamma: float, ridge: float) -> Floats:
    r"""Estimate how much each sample contributes to a regularised kernel matrix.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples.
    S : array or sparse matrix of shape (m, d)
        Samples drawn uniformly from ``X``. With all of them the scores are exact.
    gamma : float
        Rate of the Gaussian kernel.
    ridge : float
        Ridge, at least 1e-6.

    Returns
    -------
    ndarray of shape (n,)
        Leverage scores, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.nystrom import leverage_scores
    >>> X = np.array([[0.0], [9.0]])
    >>> leverage_scores(X, X, gamma=1.0, ridge=1.0).round(3).tolist()
    [0.5, 0.5]

    Notes
    -----
    The score :math:`\tau_i = (K (K + ridge\, I)^{-1})_{ii}` is estimated by
    :math:`\min(1, (1 - k_i^\top (K_{SS} + (m/n)\, ridge\, I)^{-1} k_i) / ridge)` with
    :math:`k_i = k(S, x_i)`.

    References
    ----------
    Musco and Musco, Recursive sampling for the Nystrom method, NeurIPS 2017, equation (3).
    """
    ridge = max(ridge, LEAST_RIDGE)
    n = X.shape[0]
    K = np.exp(-gamma * squared_distances(S))
    K[np.diag_indices_from(K)] += S.shape[0] / n * ridge
    L = cholesky(K, lower=True, check_finite=False)
    unexplained = np.empty(n)
    for start in range(0, n, BLOCK):
        rows = slice(start, start + BLOCK)
        k = np.exp(-gamma * squared_distances(S, X[rows]))
        explained = solve_triangular(L, k, lower=True, check_finite=False, overwrite_b=True)
        unexplained[rows] = 1.0 - (explained**2).sum(axis=0)
    return np.clip(unexplained / ridge, 0.0, 1.0)
