"""Nystrom's features: a kernel machine on n points as a linear one in at most m dimensions.

phi(x) = S^-1/2 U^T k(Z, x) with K_ZZ = U S U^T of the landmarks Z (m, d): K_ZZ^-1/2 k(Z, x), turned.
<phi(x), phi(x')> = k(x, Z) K_ZZ^-1 k(Z, x') is k(x, x') where x or x' is a landmark,
so that nothing is lost where all points are landmarks.

Source: Williams and Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from noisylabels.kernels.gaussian import squared_distances

Array = NDArray[np.float64]

SMALLEST_EIGENVALUE = 1e-12  # relative to the largest; directions below it are dropped
BLOCK = 1024  # rows at a time, so that memory beside the result does not grow with them


@dataclass(frozen=True)
class Nystrom:
    """Z (m, d) landmarks; gamma of exp(-gamma D); root (m, r) = U S^-1/2, phi(x) = root^T k(Z, x)."""

    Z: Array
    gamma: float
    root: Array

    @property
    def r(self) -> int:
        """Features."""
        return self.root.shape[1]

    def features(self, X: Array, bias: bool = False) -> Array:
        """phi of each row of X (n, d), and a last column of ones for a bias: (n, r) or (n, r + 1)."""
        out = np.ones((len(X), self.r + bias))
        for at in range(0, len(X), BLOCK):
            np.matmul(self._kernel(X, at), self.root, out=out[at : at + BLOCK, : self.r])
        return out

    def times(self, X: Array, w: Array) -> Array:
        """sum_i k(x, z_i) w_i per row of X (n, d), for w (m,) or (m, K): (n,) or (n, K)."""
        out = np.empty((len(X), *w.shape[1:]))
        for at in range(0, len(X), BLOCK):
            out[at : at + BLOCK] = self._kernel(X, at) @ w
        return out

    def _kernel(self, X: Array, at: int) -> Array:
        D = squared_distances(X[at : at + BLOCK], self.Z)
        D *= -self.gamma
        return np.asarray(np.exp(D, out=D))


def nystrom(Z: Array, gamma: float) -> Nystrom:
    """The features of the kernel exp(-gamma D) with landmarks Z (m, d); repeated landmarks add none."""
    s, U = eigh(np.exp(-gamma * squared_distances(Z)), driver="evd", check_finite=False)
    keep = s > SMALLEST_EIGENVALUE * s[-1]
    return Nystrom(Z, float(gamma), np.ascontiguousarray((U[:, keep] / np.sqrt(s[keep]))[:, ::-1]))
