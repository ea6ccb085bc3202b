"""Labels that were flipped at random: the matrix Omega = (omega_jk), omega_jk = P(observed k | true j).

P~_n^k = omega_0k (1 - sigma(f_n)) + omega_1k sigma(f_n) is the probability of the observed label k.
Rows of Omega are true classes and sum to one;
omega_01 + omega_10 < 1, otherwise the two classes have changed names.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit
from noisylabels.arrays import finite
from scipy.special import log_softmax, logsumexp
from noisylabels.noise import flip_matrix


Array = NDArray[np.float64]

START: Array = np.array([[0.8, 0.2], [0.2, 0.8]])
"""Where fits begin."""

SMALLEST_MASS = 1e-12  # a class with fewer examples than this keeps its row
PROJECTED = 0.49  # both flip rates after a swap of the classes


def checked(omega: ArrayLike) -> Array:
    """Omega as (2, 2) floats.

    Raises ValueError : not (2, 2), entries outside [0, 1], rows that do not sum to 1,
    omega_01 + omega_10 >= 1.
    """
    matrix = finite("omega", omega, (2, 2)).copy()
    check_rows(matrix)
    if swapped(matrix):
        raise ValueError(
            "omega: the flip rates omega_01 + omega_10 must be less than 1, else the classes change names; "
            f"got {matrix[0, 1]:g} + {matrix[1, 0]:g}"
        )
    return matrix


def check_rows(matrix: Array) -> None:
    """ValueError: entries below 0, rows that do not sum to 1."""
    if not (np.all(matrix >= 0) and np.allclose(matrix.sum(axis=1), 1.0)):
        raise ValueError(
            f"omega: the flip matrix must have entries >= 0 and rows that sum to 1, got {matrix.tolist()}"
        )


def from_rates(omega01: float, omega10: float) -> Array:
    """[[1 - omega01, omega01], [omega10, 1 - omega10]]."""
    return np.array([[1.0 - omega01, omega01], [omega10, 1.0 - omega10]])


def _joint(f: Array, labels: Array, omega: Array) -> tuple[Array, Array]:
    """log P(y = 0, y~ | x) and log P(y = 1, y~ | x), each (n,); -inf where Omega has a zero."""
    with np.errstate(divide="ignore"):
        log_omega = np.log(omega)
    observed = np.asarray(labels).astype(np.intp)
    return log_omega[0, observed] + log_expit(-f), log_omega[1, observed] + log_expit(f)


def log_likelihood(f: Array, labels: Array, omega: Array) -> Array:
    """log P~_n of the observed labels (n,), 0 or 1, at decision values f (n,): (n,)."""
    zero, one = _joint(f, labels, omega)
    return np.logaddexp(zero, one)


def posterior(f: Array, labels: Array, omega: Array) -> Array:
    """q_n = P(y_n = 1 | x_n, y~_n) = omega_{1 y~} sigma(f) / P~ (n,), computed in logs."""
    zero, one = _joint(f, labels, omega)
    return expit(one - zero)


def updated(q: Array, labels: Array, omega: Array, weights: Array | None = None) -> Array:
    """omega_11 = sum q 1(y~ = 1) / sum q, omega_00 = sum (1 - q) 1(y~ = 0) / sum (1 - q).

    One such update never decreases the likelihood. weights (n,): of the examples in all sums. A row without
    mass is left as it is.
    """
    a = np.ones_like(q) if weights is None else weights
    one = np.asarray(labels) == 1
    result = omega.copy()
    for true, share in ((0, a * (1.0 - q)), (1, a * q)):
        mass = share.sum()
        if mass > SMALLEST_MASS:
            flipped = min(share[one != bool(true)].sum() / mass, 1.0)
            result[true] = (1.0 - flipped, flipped) if true == 0 else (flipped, 1.0 - flipped)
    return result


def swapped(omega: Array) -> bool:
    """Whether omega_01 + omega_10 >= 1: class names have changed places."""
    return bool(omega[0, 1] + omega[1, 0] >= 1.0)


def projected(omega: Array) -> Array:
    """Omega after a swap: omega_01 = omega_10 = 0.49."""
    return from_rates(PROJECTED, PROJECTED)


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
