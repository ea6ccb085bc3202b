"""Inner products and updates shared by the compiled loops; sums have a fixed order."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def dot(x: np.ndarray, at: int, w: np.ndarray) -> float:
    """sum_k x[at+k] w[k] in four interleaved partial sums (an order of its own, but a fixed one)."""
    a = b = c = e = 0.0
    d = len(w)
    for k in range(0, d - 3, 4):
        a += x[at + k] * w[k]
        b += x[at + k + 1] * w[k + 1]
        c += x[at + k + 2] * w[k + 2]
        e += x[at + k + 3] * w[k + 3]
    for k in range(d - d % 4, d):
        a += x[at + k] * w[k]
    return (a + b) + (c + e)


@njit(cache=True)
def energy(x: np.ndarray, at: int, d: int) -> float:
    """sum_k x[at+k]^2 over d entries."""
    return dot(x, at, x[at : at + d])


@njit(cache=True)
def add(w: np.ndarray, c: float, x: np.ndarray, at: int) -> None:
    """w += c x_t, in place; x_t = x[at : at+d]."""
    for k in range(len(w)):
        w[k] += c * x[at + k]
