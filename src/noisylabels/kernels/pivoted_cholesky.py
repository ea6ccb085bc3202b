"""Cholesky factor of a positive semi-definite matrix, largest remaining diagonal entry first: K ~ L L^T.

It reads only the r rows of K that it takes, and gives up early where the rank will not be low.
Source: Harbrecht, Peters and Schneider, Applied Numerical Mathematics 62, 2012.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

FIRST_LOOK = 0.15  # of n rows, before the decay of the remaining trace is judged
EVERY = 16


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def pivoted_cholesky(K: np.ndarray, tolerance: float, most: int) -> tuple[np.ndarray, bool]:
    """L^T (r, n) with max_i (K - L L^T)_ii <= tolerance, and whether r <= most sufficed.

    K (n, n) symmetric. Every 16 rows the remaining trace is extrapolated as a geometric series, which is
    optimistic for smooth kernels; if even so ``most`` rows will not do, the result is (what there is, False).
    """
    n = len(K)
    rows = np.empty((most, n))
    left = np.empty(n)
    for i in range(n):
        left[i] = K[i, i]
    look, before, trace_before = max(2 * EVERY, int(FIRST_LOOK * n)), 0, 0.0
    for i in range(n):
        trace_before += left[i]
    for k in range(most + 1):
        p, trace = 0, 0.0
        for i in range(n):
            trace += max(left[i], 0.0)
            if left[i] > left[p]:
                p = i
        if left[p] <= tolerance:
            return rows[:k], True
        if k == most:
            break
        if k >= look:
            decay = math.log(trace_before / trace) / (k - before)
            if decay * (most - k) < math.log(left[p] / tolerance):
                break
            look, before, trace_before = k + EVERY, k, trace
        row = rows[k]
        for i in range(n):
            row[i] = K[p, i]
        j = 0
        while j + 4 <= k:
            a, b, c, d = rows[j, p], rows[j + 1, p], rows[j + 2, p], rows[j + 3, p]
            w, x, y, z = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
            for i in range(n):
                row[i] -= a * w[i] + b * x[i] + c * y[i] + d * z[i]
            j += 4
        while j < k:
            a, w = rows[j, p], rows[j]
            for i in range(n):
                row[i] -= a * w[i]
            j += 1
        scale = 1.0 / math.sqrt(left[p])
        for i in range(n):
            row[i] *= scale
            left[i] -= row[i] * row[i]
        left[p] = 0.0
    return rows[:0], False
