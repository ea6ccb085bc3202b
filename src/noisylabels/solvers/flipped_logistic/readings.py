"""Readings of kernel logistic regression: has f a bias, and what is penalised.

f = K w + b = Z theta, and the penalty is zeta ||theta_1..p||^2, p the number of penalised columns of Z.

penalty "weights" : zeta ||w||^2, with Z = Q diag(lam) and w = Q theta.
        "rkhs"    : zeta w^T K w, the norm of the function space, with Z = Q diag(lam)^1/2 and
                    w = Q diag(lam)^-1/2 theta.
bias "none"; "free" : a last column of ones, not penalised;
     "penalised"    : the same column, with zeta b^2 in the penalty, as if b was one more weight. With "rkhs"
                      that is the penalty of the kernel kappa + 1 without a bias.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1), is "none" with "weights"; the others are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisylabels.kernels.gaussian import Basis
from noisylabels.validation import choice

Array = NDArray[np.float64]

BIASES = ("none", "free", "penalised")
PENALTIES = ("weights", "rkhs")


@dataclass(frozen=True)
class Columns:
    """Z (n, r) or, with a bias, (n, r + 1).

    norms : of its columns.   penalised : how many of them, from the first.   back (r,) : w = Q (back theta).
    """

    Z: Array
    norms: Array
    penalised: int
    back: Array

    @property
    def mask(self) -> Array:
        """1.0 for penalised columns, else 0.0."""
        return (np.arange(len(self.norms)) < self.penalised).astype(float)

    def weights(self, theta: Array) -> tuple[Array, Array]:
        """v (C, r) and b (C,) of theta (C, r) or (C, r + 1): f = K Q v + b."""
        r = len(self.back)
        b = theta[:, r] if theta.shape[1] > r else np.zeros(len(theta))
        return theta[:, :r] * self.back, b


def columns(basis: Basis, bias: str, penalty: str, least: float = 0.0) -> Columns:
    """The columns of a reading, but those of w with n norms^2 <= ``least``.

    Raises ValueError : unknown bias or penalty.
    """
    check(bias, penalty)
    root = basis.lam if penalty == "weights" else np.sqrt(basis.lam)
    r = int(np.count_nonzero(root**2 * len(basis.Q) > least))
    norms = root[:r]
    Z, back = basis.Q[:, :r] * norms, norms / basis.lam[:r]
    if bias == "none":
        return Columns(Z, norms, r, back)
    n = len(Z)
    penalised = r + (bias == "penalised")
    return Columns(np.column_stack([Z, np.ones(n)]), np.append(norms, np.sqrt(n)), penalised, back)


def check(bias: str, penalty: str) -> None:
    """ValueError: a bias or a penalty that is not known."""
    choice("bias", bias, BIASES)
    choice("penalty", penalty, PENALTIES)
