"""Labels of K >= 2 classes that were flipped at random by Omega (K, K), omega_jk = P(observed k | true j).

P~_n^k = sum_j omega_jk s_j(f_n),  s = softmax of the K decision values f_n.
Rows of Omega are true classes and sum to one.
Class names are taken to be right where each omega_jj is the largest entry of its row and of its column;
for K = 2 the column alone decides, which is omega_01 + omega_10 < 1 of `noisylabels.noise.flip_matrix`.

Source: Bootkrajang and Kaban, ECML PKDD 2012, Section 3 (the robust multinomial logistic regression).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, logsumexp

from noisylabels.arrays import finite
from noisylabels.noise import flip_matrix

Array = NDArray[np.float64]

FLIPPED = 0.2  # 1 - omega_jj where fits begin


def start(K: int) -> Array:
    """omega_jj = 0.8, the rest of each row in equal parts; for K = 2 it is `flip_matrix.START`."""
    return np.where(np.eye(K, dtype=bool), 1.0 - FLIPPED, FLIPPED / (K - 1))


def checked(omega: ArrayLike, K: int) -> Array:
    """Omega as (K, K) floats; the two-class start stands for `start` (K).

    Raises ValueError : not (K, K), entries outside [0, 1], rows that do not sum to 1, permuted class names.
    """
    matrix = finite("omega", omega, (None, None)).copy()
    if matrix.shape == (2, 2) and K > 2 and np.array_equal(matrix, flip_matrix.START):
        return start(K)
    if matrix.shape != (K, K):
        raise ValueError(
            f"omega: the flip matrix of {K} classes must have shape ({K}, {K}), got {matrix.shape}"
        )
    flip_matrix.check_rows(matrix)
    if permuted(matrix):
        raise ValueError(
            "omega: the diagonal of the flip matrix must hold the largest entry of each row and column, "
            f"else the classes change names; got {matrix.tolist()}"
        )
    return matrix


def joint(F: Array, labels: NDArray[np.intp], omega: Array) -> Array:
    """log P(y = j, y~ = labels | x) = log s_j + log omega_j,y~ (n, K); -inf where Omega has a zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(log_softmax(F, axis=1) + np.log(omega).T[labels])


def log_likelihood(F: Array, labels: NDArray[np.intp], omega: Array) -> Array:
    """log P~_n of the observed labels (n,) at decision values F (n, K): (n,)."""
    return np.asarray(logsumexp(joint(F, labels, omega), axis=1))


def posterior(F: Array, labels: NDArray[np.intp], omega: Array) -> Array:
    """q_nj = P(y_n = j | x_n, y~_n) = omega_j,y~ s_j / P~ (n, K), computed in logs."""
    log_q = joint(F, labels, omega)
    return np.asarray(np.exp(log_q - logsumexp(log_q, axis=1, keepdims=True)))


def updated(q: Array, labels: NDArray[np.intp], omega: Array, weights: Array | None = None) -> Array:
    """omega_jk = sum_n a_n q_nj 1(y~_n = k) / sum_n a_n q_nj.

    One such update never decreases the likelihood. weights a (n,): of the examples. A row without mass is
    left as it is.
    """
    share = q if weights is None else q * weights[:, np.newaxis]
    counts = share.T @ np.eye(q.shape[1])[labels]
    mass = counts.sum(axis=1, keepdims=True)
    enough = mass > flip_matrix.SMALLEST_MASS
    return np.where(enough, counts / np.where(enough, mass, 1.0), omega)


def permuted(omega: Array) -> bool:
    """Whether class names have changed places: the diagonal is not the largest of its row and column."""
    if len(omega) == 2:
        return flip_matrix.swapped(omega)
    diagonal = np.diag(omega)
    return bool((diagonal < omega.max(axis=1)).any() or (diagonal < omega.max(axis=0)).any())


def projected(K: int) -> Array:
    """Omega after a permutation of the names: 0.98 / K off the diagonal, almost no information."""
    off = 2.0 * flip_matrix.PROJECTED / K
    return np.where(np.eye(K, dtype=bool), 1.0 - (K - 1) * off, off)
