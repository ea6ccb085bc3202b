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
