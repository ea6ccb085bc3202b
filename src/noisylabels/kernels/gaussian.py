"""Gaussian kernels, and the orthonormal basis in which one kernel matrix serves many fits.

K_ij = exp(-||x_i - x_j||^2 / (2 width^2)) = (Q diag(lam) Q^T)_ij,  w = Q v,  K w = Q (lam v),  ||w|| = ||v||.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, eigh, qr, solve_triangular
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order import single_threaded_if_small
from noisylabels.validation import Floats, choice, number, whole

WIDTHS: Floats = np.exp2(np.arange(-10.0, 11.0))
"""The widths of Kabán and Bootkrajang, LABELNOISE 2017."""

Parametrisation = Literal["sigma2", "sigma1", "gamma"]
SMALLEST_EIGENVALUE = 1e-10  # relative to the largest
NEGLIGIBLE = 1e-17
LARGEST_WIDTH = 1e150
LARGEST_BLOCK = 0.8  # of n
LOW_RANK = 0.5  # of n: below it the Cholesky factor pays
FIRST_LOOK = 0.15  # of n rows of the Cholesky factor, before the decay of the remaining trace is judged
EVERY = 16
MOST_ROWS = 256  # of a block of a kernel matrix
CACHED_ENTRIES = 65536  # of a block: half a megabyte
SAME = 1e-6  # kernels this near to the identity, or to the constant 1, are taken for it


def squared_distances(A: Any, B: Any = None) -> Floats:
    """Compute the squared distances between rows.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n, d)
    B : array-like or sparse matrix of shape (m, d), optional
        A, if it is left out.

    Returns
    -------
    ndarray of shape (n, m)
        The distances, at least 0.

    Notes
    -----
    With a sparse matrix they are :math:`\\lVert a_i \\rVert^2 - 2 a_i \\cdot b_j + \\lVert b_j \\rVert^2`,
    off by some 1e-15 of the largest squared norm.
    """
    if issparse(A) or issparse(B):
        return _distances_of_sparse(A, B)
    distances = np.empty((len(A), len(A if B is None else B)))
    _fill_in_blocks(distances, A, B, gamma=None)
    return distances


def kernel_matrix(
    A: Any, B: Any = None, *, width: float, parametrisation: str = "sigma2", multiple: int = 1
) -> Floats:
    """Compute a Gaussian kernel matrix without a second matrix of its size.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n, d)
    B : array-like or sparse matrix of shape (m, d), optional
        A, if it is left out.
    width : float
        Width of the kernel, see `rate`.
    parametrisation : {"sigma2", "sigma1", "gamma"}, default "sigma2"
        What ``width`` stands for, see `rate`.
    multiple : int, default 1
        Columns of zeros follow, up to a multiple of it.

    Returns
    -------
    ndarray of shape (n, m), or with more columns
        ``rbf(squared_distances(A, B), width, parametrisation)``, to the last bit.

    Examples
    --------
    >>> from noisylabels.kernels.gaussian import kernel_matrix
    >>> kernel_matrix([[0.0], [2.0]], width=0.25, parametrisation="gamma").round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    gamma = rate(width, parametrisation)
    if issparse(A) or issparse(B):
        K = _distances_of_sparse(A, B)
        K *= -gamma
        np.exp(K, out=K)
        further = -K.shape[1] % multiple
        return np.pad(K, ((0, 0), (0, further))) if further else K
    rows = np.asarray(A, dtype=float)
    columns = None if B is None else np.asarray(B, dtype=float)
    m = len(rows if columns is None else columns)
    K = np.zeros((len(rows), m + -m % multiple))
    _fill_in_blocks(K[:, :m], rows, columns, gamma)
    return K


def _distances_of_sparse(A: Any, B: Any) -> Floats:
    from sklearn.metrics.pairwise import euclidean_distances

    return np.asarray(euclidean_distances(A, B, squared=True))


def _fill_in_blocks(out: Floats, A: Floats, B: Floats | None, gamma: float | None) -> None:
    """Fill ``out`` with squared distances, or with exp(-gamma D), a block that stays in the cache at a time.

    Without B the part above the diagonal is computed, and the other part is copied from it.
    """
    n, m = out.shape
    step = max(1, min(MOST_ROWS, CACHED_ENTRIES // max(m, 1) + 1))
    for start in range(0, n, step):
        stop = min(start + step, n)
        first = start if B is None else 0  # column
        block = cdist(A[start:stop], (A if B is None else B)[first:], "sqeuclidean")
        if gamma is not None:
            block *= -gamma
            np.exp(block, out=block)
        out[start:stop, first:] = block
        if B is None:
            out[stop:, start:stop] = block[:, stop - start :].T


def rate(width: float, parametrisation: str = "sigma2") -> float:
    """gamma of exp(-gamma D): 1/(2 width^2) for "sigma2", 1/width^2 for "sigma1", width for "gamma".

    Raises ValueError: width <= 0 or not finite, unknown parametrisation.
    """
    number("width", width, above=0)
    width = number("width", width, least=1.0 / LARGEST_WIDTH, most=LARGEST_WIDTH)
    choice("parametrisation", parametrisation, get_args(Parametrisation))
    if parametrisation == "gamma":
        return width
    return 1.0 / (2.0 * width**2) if parametrisation == "sigma2" else 1.0 / width**2


def rbf(D: Floats, width: float, parametrisation: str = "sigma2") -> Floats:
    """exp(-gamma D) for squared distances D of any shape, gamma = `rate` (width, parametrisation)."""
    K = np.multiply(-rate(width, parametrisation), D)
    return np.exp(K, out=K) if isinstance(K, np.ndarray) else np.exp(K)


def width_of(
    width: float | str, X: Any, parametrisation: str = "sigma2", weights: Floats | None = None
) -> float:
    """``width``, or for "scale" the width whose kernel is exp(-||x - x'||^2 / (d Var(X))).

    It is scikit-learn's gamma="scale", and sqrt(d / 2) of "sigma2" for standardised features. Var(X) is the
    variance of all entries of X (n, d), 1 where they are all the same; weights (n,): of the rows.
    Raises ValueError: another word; see `rate`.
    """
    if not isinstance(width, str):
        rate(width, parametrisation)  # its errors
        return float(width)
    if width != "scale":
        raise ValueError(f"width: must be a number or 'scale', got {width!r}")
    choice("parametrisation", parametrisation, get_args(Parametrisation))
    spread = X.shape[1] * (_variance(X, weights) or 1.0)
    widths = {"sigma2": math.sqrt(spread / 2.0), "sigma1": math.sqrt(spread), "gamma": 1.0 / spread}
    return widths[parametrisation]


def _variance(X: Any, weights: Floats | None) -> float:
    if not isinstance(X, np.ndarray):
        a = np.ones(X.shape[0]) if weights is None else weights
        sums = (float(a @ np.ravel(Z.sum(axis=1))) for Z in (X, X.multiply(X)))
        mean, square = (total / (a.sum() * X.shape[1]) for total in sums)
        return max(square - mean**2, 0.0)
    each = None if weights is None else np.broadcast_to(weights[:, np.newaxis], X.shape)
    return float(np.average((X - np.average(X, weights=each)) ** 2, weights=each))


def useful_widths(D: Floats, widths: ArrayLike, parametrisation: str = "sigma2") -> Floats:
    """The widths whose kernel matrices on D (n, n) differ from the identity and from each other.

    Left out: entries off the diagonal all below 1e-6 (nothing is said about new points); of those with all
    above 1 - 1e-6, all but the narrowest; of others that agree within 1e-6 (repeated points have
    many), all but the widest. If none is left, the widest stays.
    """
    widths = np.asarray(widths, dtype=float)
    rates = np.array([rate(width, parametrisation) for width in widths])
    apart = D[~np.eye(len(D), dtype=bool)] if len(D) > 1 else np.zeros(1)
    identity = np.exp(-rates * apart.min()) < SAME
    constant = np.exp(-rates * apart.max()) > 1.0 - SAME
    keep: list[int] = []
    wide = np.inf  # rate of the last kernel that was kept
    for i in np.argsort(rates):
        if identity[i] or (constant[i] and rates[i] < rates[constant].max()):
            continue
        # exp(-wide D) - exp(-narrow D) can exceed 1e-6 only between these two distances
        near, far = SAME / (rates[i] - wide) if rates[i] > wide else np.inf, -np.log(SAME) / wide
        if not keep or ((apart > near) & (apart < far)).any():
            keep.append(int(i))
            wide = rates[i]
    return widths[sorted(keep)] if keep else widths[[int(rates.argmin())]]


@dataclass(frozen=True)
class Basis:
    """K = Q diag(lam) Q^T: Q (n, r) with orthonormal columns, lam (r,) > 0 descending."""

    Q: Floats
    lam: Floats


@single_threaded_if_small
def basis(K: Floats) -> Basis:
    """The eigenvectors of a positive semi-definite K (n, n) with eigenvalues above 1e-10 of the largest.

    Where the rank is low, those of the pivoted Cholesky factor: K = L L^T = P (R R^T) P^T with L = P R.
    Entries of K below 1e-17 count as 0, which is less than the rounding errors and spares denormal numbers.
    """
    n = len(K)
    K = np.where(K < NEGLIGIBLE, 0.0, K)
    tolerance = max(SMALLEST_EIGENVALUE * float(K.sum()) / n**2, n * np.finfo(float).eps)
    rows, low = pivoted_cholesky(K, tolerance, int(LOW_RANK * n))
    P, small = None, K
    if low:  # also for repeated points
        P, R = qr(rows.T, mode="economic", check_finite=False)
        small = R @ R.T
    lam, Q = _eigh(small)
    keep = np.flatnonzero(lam > SMALLEST_EIGENVALUE * lam[-1])[::-1]
    Q = Q[:, keep] if P is None else P @ Q[:, keep]
    return Basis(np.ascontiguousarray(Q), lam[keep])


def _eigh(K: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and eigenvectors of K, one block of linked points at a time."""
    n = len(K)
    if 2 * np.count_nonzero(K) < n * n:
        _, block = connected_components(csr_array(K), directed=False)
        members = np.split(np.argsort(block, kind="stable"), np.cumsum(np.bincount(block))[:-1])
        if max(len(rows) for rows in members) < LARGEST_BLOCK * n:
            lam, Q, at = np.empty(n), np.zeros((n, n)), 0
            for rows in members:
                to = slice(at, at := at + len(rows))
                if len(rows) == 1:
                    lam[to], Q[rows, to] = K[rows, rows], 1.0
                else:
                    lam[to], Q[rows, to] = eigh(K[np.ix_(rows, rows)], driver="evd", check_finite=False)
            order = np.argsort(lam, kind="stable")
            return lam[order], Q[:, order]
    return eigh(K, driver="evd", check_finite=False)


@compile_kernel(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def pivoted_cholesky(K: Floats, tolerance: float, most: int) -> tuple[Floats, bool]:
    """Cholesky factor L^T (r, n) with max_i (K - L L^T)_ii <= tolerance, and whether r <= most sufficed.

    K (n, n) is positive semi-definite; the largest remaining diagonal entry comes first, and only r rows of K
    are read. Every 16 rows the remaining trace is extrapolated as a geometric series, which is
    optimistic for smooth kernels; if even so ``most`` rows will not do, the result is (no rows, False).
    Source: Harbrecht, Peters and Schneider, Applied Numerical Mathematics 62, 2012.
    """
    n = len(K)
    rows = np.empty((most, n))
    left = np.empty(n)
    for i in range(n):
        left[i] = K[i, i]
    look, before, trace_before = max(2 * EVERY, int(FIRST_LOOK * n)), 0, 0.0
    for i in range(n):
        trace_before += left[i]
    for k in range(most + 1):
        p, trace = 0, 0.0
        for i in range(n):
            trace += max(left[i], 0.0)
            if left[i] > left[p]:
                p = i
        if left[p] <= tolerance:
            return rows[:k], True
        if k == most:
            break
        if k >= look:
            decay = math.log(trace_before / trace) / (k - before)
            if decay * (most - k) < math.log(left[p] / tolerance):
                break
            look, before, trace_before = k + EVERY, k, trace
        row = rows[k]
        for i in range(n):
            row[i] = K[p, i]
        j = 0
        while j + 4 <= k:
            a, b, c, d = rows[j, p], rows[j + 1, p], rows[j + 2, p], rows[j + 3, p]
            w, x, y, z = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
            for i in range(n):
                row[i] -= a * w[i] + b * x[i] + c * y[i] + d * z[i]
            j += 4
        while j < k:
            a, w = rows[j, p], rows[j]
            for i in range(n):
                row[i] -= a * w[i]
            j += 1
        scale = 1.0 / math.sqrt(left[p])
        for i in range(n):
            row[i] *= scale
            left[i] -= row[i] * row[i]
        left[p] = 0.0
    return rows[:0], False


@dataclass(frozen=True)
class Gram:
    """One kernel on n training and m held-out points, shared by all methods, label columns and grid values.

    K : (n, n) between training points.   K_out : (m, n) between held-out and training points.
    """

    K: Floats
    K_out: Floats

    @cached_property
    def basis(self) -> Basis:
        """`basis` of K, computed once."""
        return basis(self.K)

    @cached_property
    def Z_out(self) -> Floats:
        """K_out Q (m, r): f on the held-out points is Z_out v for w = Q v."""
        return self.K_out @ self.basis.Q


# Nystrom's features: a kernel machine on n points as a linear one in at most m dimensions.
# phi(x) = S^-1/2 U^T k(Z, x) with K_ZZ = U S U^T of the landmarks Z (m, d);
# <phi(x), phi(x')> = k(x, Z) K_ZZ^-1 k(Z, x') is k(x, x') where x or x' is a landmark.
# Source: Williams and Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000.

SMALLEST_DIRECTION = 1e-12  # relative to the largest; directions below it are dropped
BLOCK = 1024  # rows at a time, so that memory beside the result does not grow with them
Landmarks = Literal["uniform", "kmeans", "leverage"]
LEAST_RIDGE = 1e-6  # below it 1 - k^T K^-1 k has no correct digits


def nystrom_features(Z: Any, gamma: float) -> Floats:
    """U S^-1/2 (m, r) of the kernel exp(-gamma D) with landmarks Z (m, d): phi(x) = (U S^-1/2)^T k(Z, x).

    Repeated landmarks add no features.
    """
    s, U = eigh(np.exp(-gamma * squared_distances(Z)), driver="evd", check_finite=False)
    keep = s > SMALLEST_DIRECTION * s[-1]
    return np.ascontiguousarray((U[:, keep] / np.sqrt(s[keep]))[:, ::-1])


def nystrom_times(X: Any, Z: Any, gamma: float, w: Floats, bias: bool = False) -> Floats:
    """k(X, Z) w for X (n, d), Z (m, d) and w (m, K), with a last column of ones for a bias: (n, K + bias)."""
    out = np.ones((X.shape[0], w.shape[1] + bias))
    for at in range(0, X.shape[0], BLOCK):
        D = squared_distances(X[at : at + BLOCK], Z)
        D *= -gamma
        np.matmul(np.exp(D, out=D), w, out=out[at : at + BLOCK, : w.shape[1]])
    return out


def landmarks(X: Any, m: int, how: str, gamma: float, ridge: float, rng: np.random.Generator) -> Any:
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
