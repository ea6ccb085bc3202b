"""Labels that were flipped at random: the matrix Omega = (omega_jk), omega_jk = P(observed k | true j).

P~_n^k = sum_j omega_jk s_j(f_n), s the softmax of K decision values F (n, K); for two classes also of one
f (n,), s_1 = sigma(f). Rows of Omega are true classes and sum to one. Class names are taken to be right where
omega_01 + omega_10 < 1, and for K > 2 where each omega_jj is the largest entry of its row and of its column.

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (1)-(6); for K > 2 Bootkrajang and Kabán, ECML PKDD 2012,
Section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from noisylabels.validation import Array, Floats, finite

FLIPPED = 0.2  # 1 - omega_jj where fits begin
SMALLEST_MASS = 1e-12  # a class with fewer examples than this keeps its row
PROJECTED = 0.49  # both flip rates after the two classes have changed names


def start(K: int) -> Floats:
    """omega_jj = 0.8, the rest of each row in equal parts."""
    return np.where(np.eye(K, dtype=bool), 1.0 - FLIPPED, FLIPPED / (K - 1))


START = start(2)
"""Where fits of two classes begin."""


def from_rates(omega01: float, omega10: float) -> Floats:
    """[[1 - omega01, omega01], [omega10, 1 - omega10]]."""
    return np.array([[1.0 - omega01, omega01], [omega10, 1.0 - omega10]])


def checked(omega: ArrayLike, K: int = 2) -> Floats:
    """Omega as (K, K) floats; for K > 2, `START` means `start` (K).

    Raises ValueError : not (K, K), entries outside [0, 1], rows that do not sum to 1, permuted class names.
    """
    matrix = finite("omega", omega, (2, 2) if K == 2 else (None, None)).copy()
    if K > 2 and matrix.shape == (2, 2) and np.array_equal(matrix, START):
        return start(K)
    if matrix.shape != (K, K):
        wrong = f"flip matrix of {K} classes must have shape ({K}, {K}), got {matrix.shape}"
    elif not (np.all(matrix >= 0) and np.allclose(matrix.sum(axis=1), 1.0)):
        wrong = f"flip matrix must have entries >= 0 and rows that sum to 1, got {matrix.tolist()}"
    elif not permuted(matrix):
        return matrix
    elif K == 2:
        rule = "flip rates omega_01 + omega_10 must be less than 1, else the classes change names"
        wrong = f"{rule}; got {matrix[0, 1]:g} + {matrix[1, 0]:g}"
    else:
        rule = "diagonal of the flip matrix must hold the largest entry of each row and column"
        wrong = f"{rule}, else the classes change names; got {matrix.tolist()}"
    raise ValueError(f"omega: the {wrong}")


def log_sum(F: Floats) -> Floats:
    """log sum_j exp F_nj of F (n, K): (n, 1). Quick where the columns of F are contiguous."""
    top = F.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(F - top).sum(axis=1, keepdims=True)))


def expected(f: Floats, labels: Array, omega: Floats, norm: Floats | None = None) -> tuple[Floats, Floats]:
    """`log_likelihood` and `posterior` at once; norm: `log_sum` of f (n, K), if it is known."""
    with np.errstate(divide="ignore"):  # -inf where Omega has a zero
        log_omega = np.log(omega)[:, np.asarray(labels).astype(np.intp)]
    if f.ndim == 1:
        zero, one = log_omega[0] + log_expit(-f), log_omega[1] + log_expit(f)
        return np.logaddexp(zero, one), np.asarray(expit(one - zero))
    joint = f + log_omega.T
    total = log_sum(joint)
    return (total - (log_sum(f) if norm is None else norm))[:, 0], np.exp(joint - total)


def log_likelihood(f: Floats, labels: Array, omega: Floats) -> Floats:
    """log P~_n of the observed labels (n,), 0..K-1, at decision values f (n,) or (n, K): (n,)."""
    return expected(f, labels, omega)[0]


def posterior(f: Floats, labels: Array, omega: Floats) -> Floats:
    """q_nj = P(y_n = j | x_n, y~_n) = omega_j,y~ s_j / P~ (n, K), computed in logs; of f (n,), q_n1 (n,)."""
    return expected(f, labels, omega)[1]


def updated(q: Floats, labels: Array, omega: Floats, weights: Floats | None = None) -> Floats:
    """omega_jk = sum_n a_n q_nj 1(y~_n = k) / sum_n a_n q_nj for q (n, K), or (n,), which is q_n1.

    One such update never decreases the likelihood. weights a (n,): of the examples. A row without mass is
    left as it is.
    """
    if q.ndim == 2:
        share = q if weights is None else q * weights[:, np.newaxis]
        counts = share.T @ np.eye(q.shape[1])[labels]
        mass = counts.sum(axis=1, keepdims=True)
        enough = mass > SMALLEST_MASS
        return np.where(enough, counts / np.where(enough, mass, 1.0), omega)
    a = np.ones_like(q) if weights is None else weights
    one = np.asarray(labels) == 1
    result = omega.copy()
    for true, part in ((0, a * (1.0 - q)), (1, a * q)):
        total = part.sum()
        if total > SMALLEST_MASS:
            flipped = min(part[one != bool(true)].sum() / total, 1.0)
            result[true, [true, 1 - true]] = 1.0 - flipped, flipped
    return result


def permuted(omega: Floats) -> bool:
    """Whether class names have changed places, see the top of this page."""
    if len(omega) == 2:
        return bool(omega[0, 1] + omega[1, 0] >= 1.0)
    diagonal = np.diag(omega)
    return bool((diagonal < omega.max(axis=1)).any() or (diagonal < omega.max(axis=0)).any())


def projected(K: int = 2) -> Floats:
    """Omega after a permutation of the names: 0.98 / K off the diagonal, almost no information."""
    off = 2.0 * PROJECTED / K
    return np.where(np.eye(K, dtype=bool), 1.0 - (K - 1) * off, off)
