"""Inner products and updates shared by the compiled loops; sums have one order, on every machine."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.filters.simd import dot_lanes


@njit(cache=True)
def dot(x: np.ndarray, at: int, w: np.ndarray) -> float:
    """sum_k x[at+k] w[k]: 32 partial sums as far as they go, then one by one."""
    d = len(w)
    row = x[at : at + d]
    wide = d - d % 32
    total = dot_lanes(row, w, wide) if wide else 0.0
    for k in range(wide, d):
        total += row[k] * w[k]
    return total


@njit(cache=True)
def energy(x: np.ndarray, at: int, d: int) -> float:
    """sum_k x[at+k]^2 over d entries."""
    return dot(x, at, x[at : at + d])


@njit(cache=True)
def energies(x: np.ndarray, step: int, n: int, d: int) -> np.ndarray:
    """Energy of the rows t = 0..n-1, row t being x[t*step : t*step+d]."""
    result = np.empty(n)
    for t in range(n):
        result[t] = energy(x, t * step, d)
    return result


@njit(cache=True)
def add(w: np.ndarray, c: float, x: np.ndarray, at: int) -> None:
    """w += c x_t, in place; x_t = x[at : at+d]."""
    row = x[at : at + len(w)]
    for k in range(len(w)):
        w[k] += c * row[k]
