"""A Newton step of a small linear model: n columns of r features, r small, all in one thread."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def scores(ZT: Array, theta: Array, f: Array) -> None:
    """Write f = theta . z for the columns z of ZT (r, n)."""
    f[:] = theta[0] * ZT[0]
    for j in range(1, len(theta)):
        row, weight = ZT[j], theta[j]
        for n in range(len(f)):
            f[n] += weight * row[n]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def normal_equations(ZT: Array, slope: Array, curvature: Array, hessian: Array, gradient: Array) -> None:
    """Write ZT diag(curvature) Z (lower half) and ZT slope."""
    r, n = ZT.shape
    weighted = np.empty(n)
    for i in range(r):
        row = ZT[i]
        total = 0.0
        for m in range(n):
            weighted[m] = curvature[m] * row[m]
            total += slope[m] * row[m]
        gradient[i] = total
        j = 0
        while j + 3 <= i:  # four rows at a time: fewer loads
            r0, r1, r2, r3 = ZT[j], ZT[j + 1], ZT[j + 2], ZT[j + 3]
            t0 = t1 = t2 = t3 = 0.0
            for m in range(n):
                t0 += weighted[m] * r0[m]
                t1 += weighted[m] * r1[m]
                t2 += weighted[m] * r2[m]
                t3 += weighted[m] * r3[m]
            hessian[i, j], hessian[i, j + 1], hessian[i, j + 2], hessian[i, j + 3] = t0, t1, t2, t3
            j += 4
        while j <= i:
            other = ZT[j]
            total = 0.0
            for m in range(n):
                total += weighted[m] * other[m]
            hessian[i, j] = total
            j += 1


@njit(cache=True, error_model="numpy")
def solve(hessian: Array, x: Array) -> None:
    """Cholesky in place on the lower half, x <- hessian^-1 x; a direction without curvature gets no step."""
    r = len(x)
    smallest = 0.0
    for i in range(r):
        smallest = max(smallest, hessian[i, i])
    smallest *= 1e-14
    for i in range(r):
        for j in range(i + 1):
            total = hessian[i, j]
            for k in range(j):
                total -= hessian[i, k] * hessian[j, k]
            if i == j:
                hessian[i, i] = math.sqrt(total) if total > smallest else np.inf
            else:
                hessian[i, j] = total / hessian[j, j]
        for k in range(i):
            x[i] -= hessian[i, k] * x[k]
        x[i] /= hessian[i, i]
    for i in range(r - 1, -1, -1):
        for k in range(i + 1, r):
            x[i] -= hessian[k, i] * x[k]
        x[i] /= hessian[i, i]
