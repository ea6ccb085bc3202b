"""A Newton step of a small linear model: n columns of r features, r small, all in one thread."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noisylabels.compiled.fma import fma
from noisylabels.compiled.simd import dot_four_rows, dot_lanes

Array = NDArray[np.float64]


@njit(cache=True, error_model="numpy")
def scores(ZT: Array, theta: Array, f: Array) -> None:
    """Write f = theta . z for the columns z of ZT (r, n)."""
    f[:] = theta[0] * ZT[0]
    for j in range(1, len(theta)):
        row, weight = ZT[j], theta[j]
        for n in range(len(f)):
            f[n] = fma(weight, row[n], f[n])


@njit(cache=True, error_model="numpy")
def normal_equations(ZT: Array, slope: Array, curvature: Array, hessian: Array, gradient: Array) -> None:
    """Write ZT diag(curvature) Z (lower half) and ZT slope; the sums have one order, on every machine."""
    r, n = ZT.shape
    weighted, four = np.empty(n), np.empty(4)
    for i in range(r):
        gradient[i] = dot_lanes(slope, 0, ZT[i], 0, n)
        for m in range(n):
            weighted[m] = curvature[m] * ZT[i, m]
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 4):  # four rows at a time: fewer loads
            dot_four_rows(ZT, j, weighted, four)
            for k in range(4):
                hessian[i, j + k] = four[k]
        for j in range(whole, i + 1):
            hessian[i, j] = dot_lanes(weighted, 0, ZT[j], 0, n)


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
