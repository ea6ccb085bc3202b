"""Products of a matrix and a vector; sums have one order, on every machine, which those of BLAS have not."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.compiled.fma import fma
from noisylabels.compiled.simd import dot_lanes


@njit(cache=True, error_model="numpy")
def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x for A (m, n) with contiguous rows, in double or single precision, and x (n,): (m,)."""
    out = np.empty(len(A))
    for i in range(len(A)):
        out[i] = dot_lanes(A[i], 0, x, 0, len(x))
    return out


@njit(cache=True, error_model="numpy")
def combined(c: np.ndarray, A: np.ndarray) -> np.ndarray:
    """sum_i c_i A_i for c (m,) and the rows A_i of A (m, n): (n,)."""
    out = np.zeros(A.shape[1])
    for i in range(len(A)):
        weight, row = c[i], A[i]
        for j in range(len(out)):
            out[j] = fma(weight, row[j], out[j])
    return out
