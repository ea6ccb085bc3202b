"""Many Gaussian kernels at once: a stack of kernel matrices, and f(x) without any stored held-out kernel.

K_i = exp(-gamma_i D_g(i)), where D_g holds squared distances, over all features or over one of them. Of the
kernels that are numerically the identity on the training points the stack keeps one, with multiplicity, and
so of the constant ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order import LARGEST, dot_lanes, exp_of_negative, fma, put
from noisylabels.kernels.gaussian import rate
from noisylabels.validation import Floats, numbers

SAME = 1e-12  # entries this near to 0 and 1 make a kernel the identity or the constant 1
MINUS_LOG_SAME = 27.631021115928547  # written out: exp and log of NumPy depend on the processor
LARGEST_STACK = 2**30  # bytes; beyond that the stack is in single precision
BLOCK = 32  # held-out points whose distances stay in the cache while all kernels pass


@compile_kernel(error_model="numpy")
def _gaussian(d: Floats, gamma: float, out: Floats) -> None:
    """out = exp(-gamma d) for rows d (n,), exp(-700) at the smallest."""
    for j in range(len(d)):
        out[j] = exp_of_negative(-min(gamma * d[j], LARGEST))


@compile_kernel(error_model="numpy")
def _fill(D: Floats, gamma: float, out: NDArray[np.floating]) -> float:
    """out = exp(-gamma D) (n, n) in the precision of out; returns the mean off-diagonal entry."""
    n = len(D)
    row, total = np.empty(n), 0.0
    for i in range(n):
        _gaussian(D[i], gamma, row)
        put(out[i], row)
        total += row.sum() - row[i]
    return total / max(n * (n - 1), 1)


@compile_kernel(error_model="numpy")
def mixed(K: NDArray[np.floating], weights: Floats) -> Floats:
    """sum_i weights_li K_i for K (S, n, n) and weights (L, S): (L, n, n) in double precision.

    The stack is read once, and each of the L sums is the same as if it were alone.
    """
    S, n, _ = K.shape
    out = np.zeros((len(weights), n, n))
    for row in range(n):
        for i in range(S):
            for column in range(len(weights)):
                weight, target = weights[column, i], out[column, row]
                for j in range(n):
                    target[j] = fma(weight, K[i, row, j], target[j])
    return out


@compile_kernel(error_model="numpy")
def responses(K: NDArray[np.floating], w: Floats) -> Floats:
    """F_li = K_i w_l for K (S, n, n) and w (L, n): (L, S, n), read and summed like `mixed`."""
    S, n, _ = K.shape
    out = np.empty((len(w), S, n))
    for i in range(S):
        for row in range(n):
            for column in range(len(w)):
                out[column, i, row] = dot_lanes(K[i, row], 0, w[column], 0, n)
    return out


@compile_kernel(error_model="numpy")
def _scores(D: Floats, group: NDArray[np.intp], gamma: Floats, right: Floats) -> Floats:
    """sum_i exp(-gamma_i D_g(i)) right_il for D (G, m, n) and right (S, L, n): (L, m)."""
    m, n, columns = D.shape[1], D.shape[2], right.shape[1]
    out = np.zeros((columns, m))
    kernel = np.empty(n)
    for start in range(0, m, BLOCK):
        for i in range(len(gamma)):
            for row in range(start, min(start + BLOCK, m)):
                _gaussian(D[group[i], row], gamma[i], kernel)
                for column in range(columns):
                    out[column, row] += dot_lanes(kernel, 0, right[i, column], 0, n)
    return out


@dataclass(frozen=True)
class Stack:
    """S' different kernel matrices on n training points, and where each of the S kernels is.

    K : (S', n, n), float64, or float32 beyond 1 GiB.   copies : (S',), how many kernels each one stands for.
    member : (S,), the row of K of every kernel.   spread : (S',), mean off-diagonal entries.
    """

    K: NDArray[np.floating]
    copies: Floats
    member: NDArray[np.intp]
    spread: Floats


@dataclass(frozen=True)
class KernelBank:
    """S Gaussian kernels: gamma (S,) > 0 and group (S,), the number of the distance matrix of each."""

    gamma: Floats
    group: NDArray[np.intp]

    @classmethod
    def of_widths(cls, widths: ArrayLike, groups: int = 1, parametrisation: str = "sigma2") -> KernelBank:
        """Every width on each of ``groups`` distance matrices, group by group.

        Raises ValueError: no width, a width <= 0, an unknown parametrisation.
        """
        gamma = [rate(float(width), parametrisation) for width in numbers("widths", widths, above=0)]
        return cls(np.tile(gamma, groups), np.repeat(np.arange(groups), len(gamma)))

    def stack(self, D: Floats) -> Stack:
        """The kernel matrices of squared distances D (G, n, n) between the training points."""
        n = D.shape[1]
        apart = ~np.eye(n, dtype=bool)
        low = np.array([d[apart].min(initial=np.inf) for d in D])[self.group]
        high = np.array([d[apart].max(initial=0.0) for d in D])[self.group]
        identity, constant = self.gamma * low > MINUS_LOG_SAME, self.gamma * high < SAME
        member = np.arange(len(self.gamma))
        for alike in (identity, constant & ~identity):
            member[alike] = np.flatnonzero(alike)[:1]
        kept, member, copies = np.unique(member, return_inverse=True, return_counts=True)
        single = 8 * len(kept) * n * n > LARGEST_STACK
        K = np.empty((len(kept), n, n), np.float32 if single else np.float64)
        spread = [_fill(D[self.group[i]], self.gamma[i], K[row]) for row, i in enumerate(kept)]
        return Stack(K, copies.astype(float), member, np.array(spread))

    def scores(self, D_out: Floats, weights: Floats, eta: Floats) -> Floats:
        """f_l = sum_i eta_il K_i^out w_l for squared distances D_out (G, m, n): (L, m).

        weights (n, L), eta (S, L). Kernels without weight are not computed, and none is ever held as a whole.
        """
        used = np.flatnonzero(eta.any(axis=1))
        right = np.ascontiguousarray(eta[used][:, :, np.newaxis] * weights.T)
        return np.asarray(_scores(D_out, self.group[used], self.gamma[used], right))


def mixtures(D: Floats, first: NDArray[np.intp], second: NDArray[np.intp], share: Floats) -> Floats:
    """Squared distances (G, P, n) from the points a x_i + (1 - a) x_j to all x_k, from D (G, n, n) alone.

    ||a x_i + (1 - a) x_j - x_k||^2 = a D_ik + (1 - a) D_jk - a (1 - a) D_ij;
    i, j, a: first, second, share (P,).
    """
    a = share[:, np.newaxis]
    between = D[:, first, second][:, :, np.newaxis]
    return np.maximum(a * D[:, first] + (1.0 - a) * D[:, second] - a * (1.0 - a) * between, 0.0)
