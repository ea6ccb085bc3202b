"""Inner products and updates shared by the compiled loops; sums have one order, on every machine."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.compiled.simd import dot_lanes


@njit(cache=True)
def dot(x: np.ndarray, at: int, w: np.ndarray) -> float:
    """sum_k x[at+k] w[k] over the entries of w."""
    return dot_lanes(x, at, w, 0, len(w))


@njit(cache=True)
def energy(x: np.ndarray, at: int, d: int) -> float:
    """sum_k x[at+k]^2 over d entries."""
    return dot_lanes(x, at, x, at, d)


@njit(cache=True)
def add(w: np.ndarray, c: float, x: np.ndarray, at: int) -> None:
    """w += c x_t, in place; x_t = x[at : at+d]."""
    row = x[at : at + len(w)]
    for k in range(len(w)):
        w[k] += c * row[k]
