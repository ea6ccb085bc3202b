r"""Gaussian kernels, and the orthonormal basis in which one kernel matrix serves many fits.

The kernel matrix is
:math:`K_{ij} = \exp(-\gamma \lVert x_i - x_j \rVert^2) = (Q\, \mathrm{diag}(\lambda) Q^\top)_{ij}`.
With weights :math:`w = Q v`, :math:`K w = Q (\lambda v)` and
:math:`\lVert w \rVert = \lVert v \rVert`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.compilation import compile_kernel
from noisylabels.validation import Floats, choice, number

WIDTHS: Floats = np.exp2(np.arange(-10.0, 11.0))
"""Widths that Kabán and Bootkrajang (LABELNOISE 2017) use."""

Parametrisation = Literal["sigma2", "sigma1", "gamma"]

SMALLEST_EIGENVALUE = 1e-10
"""Share of the largest eigenvalue below which eigenvalues are dropped."""

NEGLIGIBLE = 1e-17
"""Size below which kernel entries count as 0, because rounding errors are larger."""

LARGEST_WIDTH = 1e150

LARGEST_BLOCK = 0.8
"""Share of the points above which a block of linked points is not treated by itself."""

LOW_RANK = 0.5
"""Share of the points below which a rank is low, so that the Cholesky factor is faster."""

FIRST_LOOK = 0.15
"""Share of the rows of the Cholesky factor after which the decay of the trace is judged."""

ROWS_BETWEEN_LOOKS = 16

MOST_ROWS = 256
"""Largest number of rows in a block of a kernel matrix."""

CACHED_ENTRIES = 65536
"""Number of entries of a block, half a megabyte."""

SAME = 1e-6
"""Distance below which a kernel counts as the identity, or as the constant 1."""


def squared_distances(A: Any, B: Any = None) -> Floats:
    """Compute the squared Euclidean distances between the rows of two matrices.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, d)
        Samples of the rows.
    B : array or sparse matrix of shape (m, d), optional
        Samples of the columns; ``A`` if not given.

    Returns
    -------
    ndarray of shape (n, m)
        The squared distances, at least 0. With a sparse matrix they are off by some 1e-15 of the
        largest squared norm of a row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import squared_distances
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [[0.0, 25.0], [25.0, 0.0]]
    """
    if issparse(A) or issparse(B):
        return _distances_of_sparse(A, B)
    distances = np.empty((len(A), len(A if B is None else B)))
    _fill_in_blocks(distances, A, B, gamma=None)
    return distances


def kernel_matrix(
    A: Any,
    B: Any = None,
    *,
    width: float,
    parametrisation: str = "sigma2",
    multiple: int = 1,
) -> Floats:
    """Compute a Gaussian kernel matrix without a second matrix of its size.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, d)
        Samples of the rows.
    B : array or sparse matrix of shape (m, d), optional
        Samples of the columns; ``A`` if not given.
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
    >>> kernel_matrix([[0.0], [2.0]], width=0.25, parametrisation="gamma").round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """
    gamma = rate(width, parametrisation)
    if issparse(A) or issparse(B):
        K = _distances_of_sparse(A, B)
        K *= -gamma
        np.exp(K, out=K)
        n_zeros = -K.shape[1] % multiple
        if n_zeros:
            return np.pad(K, ((0, 0), (0, n_zeros)))
        return K
    rows = np.asarray(A, dtype=float)
    if B is None:
        columns = None
    else:
        columns = np.asarray(B, dtype=float)
    m = len(rows if columns is None else columns)
    K = np.zeros((len(rows), m + -m % multiple))
    _fill_in_blocks(K[:, :m], rows, columns, gamma)
    return K


def _distances_of_sparse(A: Any, B: Any) -> Floats:
    from sklearn.metrics.pairwise import euclidean_distances

    return np.asarray(euclidean_distances(A, B, squared=True))


def _fill_in_blocks(out: Floats, A: Floats, B: Floats | None, gamma: float | None) -> None:
    """Fill ``out`` with squared distances, or with the kernel, in blocks that stay in the cache.

    Without B the part above the diagonal is computed, and the other part is copied from it.
    """
    n, m = out.shape
    rows_in_cache = CACHED_ENTRIES // max(m, 1) + 1
    step = max(1, min(MOST_ROWS, rows_in_cache))
    for start in range(0, n, step):
        stop = min(start + step, n)
        first_column = start if B is None else 0
        columns = (A if B is None else B)[first_column:]
        block = cdist(A[start:stop], columns, "sqeuclidean")
        if gamma is not None:
            block *= -gamma
            np.exp(block, out=block)
        out[start:stop, first_column:] = block
        if B is None:
            out[stop:, start:stop] = block[:, stop - start :].T


def rate(width: float, parametrisation: str = "sigma2") -> float:
    r"""Compute the factor of the squared distance in the exponent of a Gaussian kernel.

    Parameters
    ----------
    width : float
        The width, above 0.
    parametrisation : {"sigma2", "sigma1", "gamma"}, default "sigma2"
        What the width means, see Notes.

    Returns
    -------
    float
        The rate.

    Raises
    ------
    ValueError
        If the width is not positive and finite, or the parametrisation is unknown.

    Examples
    --------
    >>> from noisylabels.kernels.gaussian import rate
    >>> rate(2.0), rate(2.0, "sigma1"), rate(2.0, "gamma")
    (0.125, 0.25, 2.0)

    Notes
    -----
    The kernel is :math:`e^{-\gamma D}`, with :math:`\gamma = 1 / (2\, width^2)` for "sigma2",
    :math:`1 / width^2` for "sigma1" and the width itself for "gamma".
    """
    number("width", width, above=0)
    width = number("width", width, least=1.0 / LARGEST_WIDTH, most=LARGEST_WIDTH)
    choice("parametrisation", parametrisation, get_args(Parametrisation))
    if parametrisation == "gamma":
        return width
    if parametrisation == "sigma2":
        return 1.0 / (2.0 * width**2)
    return 1.0 / width**2


def rbf(D: Floats, width: float, parametrisation: str = "sigma2") -> Floats:
    """Compute a Gaussian kernel from squared distances.

    Parameters
    ----------
    D : ndarray
        Squared distances, of any shape.
    width : float
        The width, above 0.
    parametrisation : {"sigma2", "sigma1", "gamma"}, default "sigma2"
        What the width means, see `rate`.

    Returns
    -------
    ndarray
        The kernel, of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import rbf
    >>> rbf(np.array([0.0, 2.0]), width=1.0).round(3).tolist()
    [1.0, 0.368]
    """
    K = np.multiply(-rate(width, parametrisation), D)
    return np.exp(K, out=K) if isinstance(K, np.ndarray) else np.exp(K)


def width_of(
    width: float | str,
    X: Any,
    parametrisation: str = "sigma2",
    weights: Floats | None = None,
) -> float:
    r"""Find the width that a setting means.

    Parameters
    ----------
    width : float or "scale"
        A width, which is returned, or the word for a width that fits the spread of the features.
    X : array or sparse matrix of shape (n, d)
        Samples.
    parametrisation : {"sigma2", "sigma1", "gamma"}, default "sigma2"
        What the width means, see `rate`.
    weights : ndarray of shape (n,), optional
        Weights of the samples.

    Returns
    -------
    float
        The width.

    Raises
    ------
    ValueError
        If ``width`` is another word, or out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import width_of
    >>> width_of("scale", np.array([[-1.0, 1.0], [1.0, -1.0]]))
    1.0

    Notes
    -----
    "scale" means the kernel :math:`\exp(-\lVert x - x' \rVert^2 / (d\, \mathrm{Var}(X)))` with the
    variance of all entries of X, or 1 if they are all the same. It is scikit-learn's
    ``gamma="scale"``.
    """
    if not isinstance(width, str):
        rate(width, parametrisation)  # the call raises the errors of a width
        return float(width)
    if width != "scale":
        raise ValueError(f"width: must be a number or 'scale', got {width!r}")
    choice("parametrisation", parametrisation, get_args(Parametrisation))
    spread = X.shape[1] * (_variance(X, weights) or 1.0)
    if parametrisation == "gamma":
        return 1.0 / spread
    if parametrisation == "sigma2":
        return math.sqrt(spread / 2.0)
    return math.sqrt(spread)


def _variance(X: Any, weights: Floats | None) -> float:
    if not isinstance(X, np.ndarray):
        if weights is None:
            row_weights = np.ones(X.shape[0])
        else:
            row_weights = weights
        size = row_weights.sum() * X.shape[1]
        sums = np.ravel(X.sum(axis=1))
        mean = float(row_weights @ sums) / size
        squares_of_rows = np.ravel(X.multiply(X).sum(axis=1))
        mean_square = float(row_weights @ squares_of_rows) / size
        return max(mean_square - mean**2, 0.0)
    entry_weights = None
    if weights is not None:
        entry_weights = np.broadcast_to(weights[:, np.newaxis], X.shape)
    mean_of_entries = np.average(X, weights=entry_weights)
    squares = (X - mean_of_entries) ** 2
    return float(np.average(squares, weights=entry_weights))


def useful_widths(D: Floats, widths: ArrayLike, parametrisation: str = "sigma2") -> Floats:
    """Leave out the widths whose kernels say nothing or are the same as another one.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Squared distances between the training points.
    widths : array_like of shape (n_widths,)
        Widths to choose from.
    parametrisation : {"sigma2", "sigma1", "gamma"}, default "sigma2"
        What a width means, see `rate`.

    Returns
    -------
    ndarray
        The useful widths, in the order given. If there is none, the widest.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import squared_distances, useful_widths
    >>> D = squared_distances(np.arange(5.0)[:, None])
    >>> useful_widths(D, [0.01, 1.0, 1e6, 1e7]).tolist()
    [1.0, 1000000.0]

    Notes
    -----
    Kernels whose entries off the diagonal are all below 1e-6 are left out, because they say nothing
    about new points. Of those with all entries above 1 - 1e-6 the narrowest stays. Of others that
    agree within 1e-6 (repeated points have many) the widest stays.
    """
    widths = np.asarray(widths, dtype=float)
    rates = np.array([rate(width, parametrisation) for width in widths])
    if len(D) > 1:
        is_diagonal = np.eye(len(D), dtype=bool)
        distances = D[~is_diagonal]
    else:
        distances = np.zeros(1)
    narrowest = -rates * distances.min()
    is_identity = np.exp(narrowest) < SAME
    widest = -rates * distances.max()
    is_constant = np.exp(widest) > 1.0 - SAME
    chosen: list[int] = []
    wider_rate = np.inf  # the rate of the last kernel that was chosen
    for i in np.argsort(rates):
        is_wider_constant = is_constant[i] and rates[i] < rates[is_constant].max()
        if is_identity[i] or is_wider_constant:
            continue
        # The two kernels can differ by more than 1e-6 only between these two distances.
        nearest = np.inf
        if rates[i] > wider_rate:
            nearest = SAME / (rates[i] - wider_rate)
        far = -np.log(SAME) / wider_rate
        if not chosen or ((distances > nearest) & (distances < far)).any():
            chosen.append(int(i))
            wider_rate = rates[i]
    if not chosen:
        return widths[[int(rates.argmin())]]
    return widths[sorted(chosen)]


@dataclass(frozen=True)
class Basis:
    """Eigenvectors and eigenvalues of a kernel matrix.

    Parameters
    ----------
    Q : ndarray of shape (n, r)
        Orthonormal columns.
    lam : ndarray of shape (r,)
        Eigenvalues, positive and descending.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import basis
    >>> found = basis(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> found.lam.round(6).tolist()
    [1.5, 0.5]
    """

    Q: Floats
    lam: Floats


@single_threaded_if_small
def basis(K: Floats) -> Basis:
    r"""Compute the eigenvectors of a kernel matrix, without those of negligible eigenvalues.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A positive semi-definite matrix.

    Returns
    -------
    Basis
        The eigenvectors with eigenvalues above 1e-10 of the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import basis
    >>> basis(np.ones((3, 3))).Q.shape
    (3, 1)

    Notes
    -----
    Where the rank is low, they are those of the pivoted Cholesky factor:
    :math:`K = L L^\top = P (R R^\top) P^\top` with :math:`L = P R`. Entries below 1e-17 count as 0,
    which is less than the rounding errors and spares denormal numbers.
    """
    n = len(K)
    K = np.where(K < NEGLIGIBLE, 0.0, K)
    rounding = n * np.finfo(float).eps
    total = float(K.sum())
    tolerance = max(SMALLEST_EIGENVALUE * total / n**2, rounding)
    most_rows = int(LOW_RANK * n)
    rows, is_low_rank = pivoted_cholesky(K, tolerance, most_rows)
    P = None
    small = K
    if is_low_rank:  # repeated points make the rank low, too
        P, R = qr(rows.T, mode="economic", check_finite=False)
        small = R @ R.T
    lam, Q = _eigh(small)
    smallest = SMALLEST_EIGENVALUE * lam[-1]
    increasing = np.flatnonzero(lam > smallest)
    largest_first = increasing[::-1]
    Q = Q[:, largest_first]
    if P is not None:
        Q = P @ Q
    return Basis(np.ascontiguousarray(Q), lam[largest_first])


def _eigh(K: Floats) -> tuple[Floats, Floats]:
    """Compute ascending eigenvalues and eigenvectors of K, one block of linked points at a time."""
    n = len(K)
    is_sparse = 2 * np.count_nonzero(K) < n * n
    if is_sparse:
        graph = csr_array(K)
        _, block_of_point = connected_components(graph, directed=False)
        order = np.argsort(block_of_point, kind="stable")
        sizes = np.bincount(block_of_point)
        blocks = np.split(order, np.cumsum(sizes)[:-1])
        largest = max(len(points) for points in blocks)
        if largest < LARGEST_BLOCK * n:
            return _eigh_of_blocks(K, blocks)
    return eigh(K, driver="evd", check_finite=False)


def _eigh_of_blocks(K: Floats, blocks: list[Any]) -> tuple[Floats, Floats]:
    n = len(K)
    lam = np.empty(n)
    Q = np.zeros((n, n))
    start = 0
    for points in blocks:
        columns = slice(start, start + len(points))
        if len(points) == 1:
            lam[columns] = K[points, points]
            Q[points, columns] = 1.0
        else:
            block = K[np.ix_(points, points)]
            lam[columns], Q[points, columns] = eigh(block, driver="evd", check_finite=False)
        start += len(points)
    ascending = np.argsort(lam, kind="stable")
    return lam[ascending], Q[:, ascending]


@compile_kernel(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def pivoted_cholesky(K: Floats, tolerance: float, most_rows: int) -> tuple[Floats, bool]:
    r"""Compute the Cholesky factor of a matrix of low rank, or find out that its rank is not low.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A positive semi-definite matrix, of which only as many rows are read as the factor has.
    tolerance : float
        Largest difference between a diagonal entry of the matrix and that of the product.
    most_rows : int
        Rows that the factor may have.

    Returns
    -------
    rows : ndarray of shape (r, n)
        The transposed factor; no rows if it would take more than are allowed.
    is_low_rank : bool
        Whether the rows suffice.

    Notes
    -----
    The largest remaining diagonal entry comes first. Every 16 rows the remaining trace is
    extrapolated as a geometric series, which is optimistic for smooth kernels. If even so the rows
    would not suffice, the search ends.

    References
    ----------
    Harbrecht, Peters and Schneider, Applied Numerical Mathematics 62, 2012.
    """
    n = len(K)
    rows = np.empty((most_rows, n))
    remaining = np.empty(n)
    for i in range(n):
        remaining[i] = K[i, i]
    first_look = int(FIRST_LOOK * n)
    next_look = max(2 * ROWS_BETWEEN_LOOKS, first_look)
    last_look = 0
    last_trace = 0.0
    for i in range(n):
        last_trace += remaining[i]
    for k in range(most_rows + 1):
        pivot = 0
        trace = 0.0
        for i in range(n):
            trace += max(remaining[i], 0.0)
            if remaining[i] > remaining[pivot]:
                pivot = i
        if remaining[pivot] <= tolerance:
            return rows[:k], True
        if k == most_rows:
            break
        if k >= next_look:
            rounds = k - last_look
            decay = math.log(last_trace / trace) / rounds
            needed = math.log(remaining[pivot] / tolerance)
            if decay * (most_rows - k) < needed:
                break
            next_look = k + ROWS_BETWEEN_LOOKS
            last_look = k
            last_trace = trace
        row = rows[k]
        for i in range(n):
            row[i] = K[pivot, i]
        # Four rows at a time, so that each entry is read and written once for four products.
        j = 0
        while j + 4 <= k:
            a = rows[j, pivot]
            b = rows[j + 1, pivot]
            c = rows[j + 2, pivot]
            d = rows[j + 3, pivot]
            w = rows[j]
            x = rows[j + 1]
            y = rows[j + 2]
            z = rows[j + 3]
            for i in range(n):
                row[i] -= a * w[i] + b * x[i] + c * y[i] + d * z[i]
            j += 4
        while j < k:
            a = rows[j, pivot]
            w = rows[j]
            for i in range(n):
                row[i] -= a * w[i]
            j += 1
        scale = 1.0 / math.sqrt(remaining[pivot])
        for i in range(n):
            row[i] *= scale
            remaining[i] -= row[i] * row[i]
        remaining[pivot] = 0.0
    return rows[:0], False


@dataclass(frozen=True)
class Gram:
    """One kernel on training and held-out points, shared by all methods and grid values.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel between the training points.
    K_out : ndarray of shape (m, n)
        Kernel between held-out and training points.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import Gram
    >>> Gram(np.eye(2), np.ones((1, 2))).Z_out.shape
    (1, 2)
    """

    K: Floats
    K_out: Floats

    @cached_property
    def basis(self) -> Basis:
        """Eigenvectors of the kernel matrix, computed once."""
        return basis(self.K)

    @cached_property
    def Z_out(self) -> Floats:
        """Features of the held-out points in the basis, of shape (m, r)."""
        return self.K_out @ self.basis.Q
