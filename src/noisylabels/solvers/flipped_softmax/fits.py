"""What the solvers of softmax regression with flipped labels return, and the coordinates they work in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SoftmaxFit:
    """W (r, K) whose rows sum to zero, Omega (K, K), the objective per round, what happened.

    permuted : class names changed places on the way, and Omega was reset.
    """

    W: Array
    omega: Array
    objectives: list[float]
    converged: bool
    permuted: bool


def contrasts(K: int) -> Array:
    """C (K, K-1) with orthonormal columns that sum to zero: W = V C^T and ||W|| = ||V||."""
    return np.ascontiguousarray(helmert(K).T)
