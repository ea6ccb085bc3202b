"""Many Gaussian kernels at once: a stack of kernel matrices, and decision values.

Kernel number i is computed from a matrix of squared distances, over all features or over one of
them. The stack keeps one of the kernels that are numerically the identity on the training points,
with multiplicity, and one of the constant ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative
from noisylabels.fixed_order.lanes import dot_lanes, fma
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.kernels.gaussian import rate
from noisylabels.validation import Floats, numbers

SAME = 1e-12
"""Distance of entries from 0 or 1 below which a kernel counts as the identity or as constant."""

# written as a number, because NumPy's logarithm depends on the processor
MINUS_LOG_SAME = 27.631021115928547
LARGEST_STACK = 2**30
"""Largest stack in double precision, in bytes."""

BLOCK = 32
"""Number of held-out points whose distances stay in the cache while all kernels use them."""


@compile_kernel(error_model="numpy")
def _gaussian(d: Floats, gamma: float, out: Floats) -> None:
    """Compute exp(-gamma d) for a row of distances, at least exp(-700)."""
    for j in range(len(d)):
        exponent = min(gamma * d[j], LARGEST)
        out[j] = exp_of_negative(-exponent)


@compile_kernel(error_model="numpy")
def _fill(D: Floats, gamma: float, out: NDArray[np.floating]) -> float:
    """Fill a kernel matrix in the precision of out, and return its mean off-diagonal entry."""
    n = len(D)
    row = np.empty(n)
    total = 0.0
    for i in range(n):
        _gaussian(D[i], gamma, row)
        put(out[i], row)
        total += row.sum() - row[i]
    return total / max(n * (n - 1), 1)


@compile_kernel(error_model="numpy")
def mixed(K: NDArray[np.floating], weights: Floats) -> Floats:
    r"""Add up kernel matrices with several sets of weights.

    Parameters
    ----------
    K : ndarray of shape (n_kernels, n, n)
        The kernel matrices.
    weights : ndarray of shape (n_sums, n_kernels)
        The weights of each sum.

    Returns
    -------
    ndarray of shape (n_sums, n, n)
        The sums, in double precision. Each is the same as if it were computed alone.

    Notes
    -----
    The sums are :math:`\sum_i w_{li} K_i`. The stack is read once for all of them.
    """
    n_kernels, n, _ = K.shape
    out = np.zeros((len(weights), n, n))
    for row in range(n):
        for i in range(n_kernels):
            for column in range(len(weights)):
                weight = weights[column, i]
                target = out[column, row]
                for j in range(n):
                    target[j] = fma(weight, K[i, row, j], target[j])
    return out


@compile_kernel(error_model="numpy")
def responses(K: NDArray[np.floating], w: Floats) -> Floats:
    r"""Multiply every kernel matrix by several vectors.

    Parameters
    ----------
    K : ndarray of shape (n_kernels, n, n)
        The kernel matrices.
    w : ndarray of shape (n_vectors, n)
        The vectors.

    Returns
    -------
    ndarray of shape (n_vectors, n_kernels, n)
        The products :math:`K_i w_l`, each the same as if it were computed alone.
    """
    n_kernels, n, _ = K.shape
    out = np.empty((len(w), n_kernels, n))
    for i in range(n_kernels):
        for row in range(n):
            for column in range(len(w)):
                out[column, i, row] = dot_lanes(K[i, row], 0, w[column], 0, n)
    return out


@compile_kernel(error_model="numpy")
def _scores(D: Floats, group: NDArray[np.intp], gamma: Floats, right: Floats) -> Floats:
    """Multiply the kernel matrices of held-out points by weights, and add them up.

    sum_i exp(-gamma_i D_g(i)) right_il for D (G, m, n) and right (S, L, n): (L, m).
    """
    m = D.shape[1]
    n = D.shape[2]
    columns = right.shape[1]
    out = np.zeros((columns, m))
    kernel = np.empty(n)
    for start in range(0, m, BLOCK):
        for i in range(len(gamma)):
            stop = min(start + BLOCK, m)
            for row in range(start, stop):
                _gaussian(D[group[i], row], gamma[i], kernel)
                for column in range(columns):
                    out[column, row] += dot_lanes(kernel, 0, right[i, column], 0, n)
    return out


@dataclass(frozen=True)
class Stack:
    """The different kernel matrices of a bank on its training points.

    Parameters
    ----------
    K : ndarray of shape (n_different, n, n)
        The matrices, in single precision beyond 1 GiB.
    copies : ndarray of shape (n_different,)
        How many kernels of the bank each matrix stands for.
    member : ndarray of shape (n_kernels,)
        Where the matrix of each kernel is in ``K``.
    spread : ndarray of shape (n_different,)
        Mean of the entries off the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.bank import KernelBank
    >>> distances = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> stack = KernelBank.of_widths([1e-3, 2e-3, 1.0]).stack(distances)
    >>> stack.member.tolist(), stack.copies.tolist()
    ([0, 0, 1], [2.0, 1.0])
    """

    K: NDArray[np.floating]
    copies: Floats
    member: NDArray[np.intp]
    spread: Floats


@dataclass(frozen=True)
class KernelBank:
    """A set of Gaussian kernels on one or several matrices of squared distances.

    Parameters
    ----------
    gamma : ndarray of shape (n_kernels,)
        Rate of each kernel, above 0, see `noisylabels.kernels.gaussian.rate`.
    group : ndarray of shape (n_kernels,)
        Number of the distance matrix of each kernel.

    Examples
    --------
    >>> from noisylabels.kernels.bank import KernelBank
    >>> bank = KernelBank.of_widths([0.5, 2.0], groups=2, parametrisation="gamma")
    >>> bank.gamma.tolist(), bank.group.tolist()
    ([0.5, 2.0, 0.5, 2.0], [0, 0, 1, 1])
    """

    gamma: Floats
    group: NDArray[np.intp]

    @classmethod
    def of_widths(
        cls,
        widths: ArrayLike,
        groups: int = 1,
        parametrisation: str = "sigma2",
    ) -> KernelBank:
        """Make a bank of every width on each distance matrix.

        Parameters
        ----------
        widths : array_like of shape (n_widths,)
            The widths, above 0.
        groups : int, default 1
            Number of distance matrices.
        parametrisation : {"sigma2", "sigma1", "gamma"}, default "sigma2"
            What a width means, see `noisylabels.kernels.gaussian.rate`.

        Returns
        -------
        KernelBank
            The kernels, one distance matrix after the other.

        Raises
        ------
        ValueError
            If there is no width, one is not positive, or the parametrisation is unknown.
        """
        checked = numbers("widths", widths, above=0)
        gamma = [rate(float(width), parametrisation) for width in checked]
        return cls(np.tile(gamma, groups), np.repeat(np.arange(groups), len(gamma)))

    def stack(self, D: Floats) -> Stack:
        """Compute the kernel matrices of the training points.

        Parameters
        ----------
        D : ndarray of shape (n_groups, n, n)
            Squared distances between the training points.

        Returns
        -------
        Stack
            The matrices.
        """
        n = D.shape[1]
        off_diagonal = ~np.eye(n, dtype=bool)
        nearest_of_D = np.array([d[off_diagonal].min(initial=np.inf) for d in D])
        nearest = nearest_of_D[self.group]
        farthest_of_D = np.array([d[off_diagonal].max(initial=0.0) for d in D])
        farthest = farthest_of_D[self.group]
        is_identity = self.gamma * nearest > MINUS_LOG_SAME
        is_constant = self.gamma * farthest < SAME
        representative = np.arange(len(self.gamma))
        for is_alike in (is_identity, is_constant & ~is_identity):
            first = np.flatnonzero(is_alike)[:1]
            representative[is_alike] = first
        different, member, copies = np.unique(
            representative,
            return_inverse=True,
            return_counts=True,
        )
        bytes_of_stack = 8 * len(different) * n * n
        is_single = bytes_of_stack > LARGEST_STACK
        kind = np.float32 if is_single else np.float64
        shape = (len(different), n, n)
        K = np.empty(shape, kind)
        spread = np.empty(len(different))
        for row, kernel in enumerate(different):
            spread[row] = _fill(D[self.group[kernel]], self.gamma[kernel], K[row])
        return Stack(K, copies.astype(float), member, spread)

    def scores(self, D_out: Floats, weights: Floats, eta: Floats) -> Floats:
        r"""Compute decision values of held-out points, for several models at once.

        Parameters
        ----------
        D_out : ndarray of shape (n_groups, m, n)
            Squared distances from the held-out points to the training points.
        weights : ndarray of shape (n, n_models)
            Weights of the training points.
        eta : ndarray of shape (n_kernels, n_models)
            Weights of the kernels.

        Returns
        -------
        ndarray of shape (n_models, m)
            The decision values :math:`f_l = \sum_i \eta_{il} K_i w_l`. Kernels without weight are
            not computed, and none is ever held as a whole.
        """
        chosen = np.flatnonzero(eta.any(axis=1))
        scaled = eta[chosen][:, :, np.newaxis] * weights.T
        right = np.ascontiguousarray(scaled)
        D = np.ascontiguousarray(D_out)
        return np.asarray(_scores(D, self.group[chosen], self.gamma[chosen], right))


def mixtures(
    D: Floats,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    share: Floats,
) -> Floats:
    r"""Compute squared distances to points between two points, from distances alone.

    Parameters
    ----------
    D : ndarray of shape (n_groups, n, n)
        Squared distances between n points.
    first : ndarray of shape (n_pairs,)
        Number of the first point of each pair.
    second : ndarray of shape (n_pairs,)
        Number of the second point of each pair.
    share : ndarray of shape (n_pairs,)
        Share of the first point in the mixture, from 0 to 1.

    Returns
    -------
    ndarray of shape (n_groups, n_pairs, n)
        Squared distances from the mixtures to all points.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.bank import mixtures
    >>> D = np.array([[[0.0, 4.0], [4.0, 0.0]]])
    >>> mixtures(D, np.array([0]), np.array([1]), np.array([0.5])).tolist()
    [[[1.0, 1.0]]]

    Notes
    -----
    The squared distance of :math:`a x_i + (1 - a) x_j` from :math:`x_k` is
    :math:`a D_{ik} + (1 - a) D_{jk} - a (1 - a) D_{ij}`.
    """
    a = share[:, np.newaxis]
    D_pair = D[:, first, second][:, :, np.newaxis]
    mean = a * D[:, first] + (1.0 - a) * D[:, second]
    between = a * (1.0 - a) * D_pair
    return np.maximum(mean - between, 0.0)
