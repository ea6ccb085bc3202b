"""Small linear algebra whose sums have one written order, with equal bits on every processor."""

from __future__ import annotations

import math

import numpy as np

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import dot_lanes, dot_two_rows, fma
from noisylabels.validation import Array, Floats


@compile_kernel(error_model="numpy")
def put(out: Array, values: Array) -> None:
    """Copy one array into another, in a form that Numba compiles in a tenth of the usual time.

    Parameters
    ----------
    out : ndarray of shape (n, ...)
        The array to write to.
    values : ndarray of shape (n, ...)
        What to write.
    """
    for i in range(len(out)):
        out[i] = values[i]


@compile_kernel(error_model="numpy")
def times(A: Floats, x: Floats) -> Floats:
    """Multiply a matrix by a vector.

    Parameters
    ----------
    A : ndarray of shape (m, n)
        Matrix with contiguous rows, in double or single precision.
    x : ndarray of shape (n,)
        Vector.

    Returns
    -------
    ndarray (m,)
        The product A x, in double precision.
    """
    out = np.empty(len(A))
    for i in range(len(A)):
        out[i] = dot_lanes(A[i], 0, x, 0, len(x))
    return out


@compile_kernel(error_model="numpy")
def combined(c: Floats, A: Floats) -> Floats:
    """Add up the rows of a matrix with coefficients.

    Parameters
    ----------
    c : ndarray of shape (m,)
        Coefficients.
    A : ndarray of shape (m, n)
        Rows to add up.

    Returns
    -------
    ndarray (n,)
        The sum of c_i A_i over the rows A_i.
    """
    out = np.zeros(A.shape[1])
    for i in range(len(A)):
        weight = c[i]
        row = A[i]
        for j in range(len(out)):
            out[j] = fma(weight, row[j], out[j])
    return out


@compile_kernel(error_model="numpy")
def scores(ZT: Floats, theta: Floats, f: Floats) -> None:
    """Compute the scores of all rows.

    Parameters
    ----------
    ZT : ndarray of shape (r, n)
        Samples in columns.
    theta : ndarray of shape (r,)
        Weights.
    f : ndarray of shape (n,)
        Receives theta . z for each column z of ZT.
    """
    put(f, theta[0] * ZT[0])
    for j in range(1, len(theta)):
        row = ZT[j]
        weight = theta[j]
        for n in range(len(f)):
            f[n] = fma(weight, row[n], f[n])


@compile_kernel(error_model="numpy")
def normal_equations(
    ZT: Floats,
    slope: Floats,
    curvature: Floats,
    hessian: Floats,
    gradient: Floats,
) -> None:
    """Compute the Hessian matrix and the gradient of the normal equations.

    Parameters
    ----------
    ZT : ndarray of shape (r, n)
        Samples in columns.
    slope : ndarray of shape (n,)
        Slope of the loss of each sample.
    curvature : ndarray of shape (n,)
        Curvature of the loss of each sample.
    hessian : ndarray of shape (r, r)
        Its lower half receives ZT diag(curvature) Z, where Z is the transpose of ZT.
    gradient : ndarray of shape (r,)
        Receives ZT slope.

    Notes
    -----
    The sums have one order, on every machine.
    """
    r, n = ZT.shape
    weighted = np.empty(n)
    for i in range(r):
        row = ZT[i]
        gradient[i] = dot_lanes(slope, 0, row, 0, n)
        for m in range(n):
            weighted[m] = curvature[m] * ZT[i, m]
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 2):  # two rows at a time need fewer loads
            hessian[i, j], hessian[i, j + 1] = dot_two_rows(ZT, j, weighted)
        for j in range(whole, i + 1):
            hessian[i, j] = dot_lanes(weighted, 0, ZT[j], 0, n)


@compile_kernel(error_model="numpy")
def solve(hessian: Floats, x: Floats) -> None:
    """Solve linear equations by Cholesky in place; a direction without curvature gets no step.

    Parameters
    ----------
    hessian : ndarray of shape (r, r)
        Symmetric matrix, of which only the lower half is read. The factor replaces it.
    x : ndarray of shape (r,)
        Right-hand side. The solution replaces it.

    Notes
    -----
    A pivot of at most 1e-14 times the largest entry of the diagonal counts as no curvature.
    """
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
                if total > smallest:
                    hessian[i, i] = math.sqrt(total)
                else:
                    hessian[i, i] = np.inf
            else:
                hessian[i, j] = total / hessian[j, j]
        for k in range(i):
            x[i] -= hessian[i, k] * x[k]
        x[i] /= hessian[i, i]
    for i in range(r - 1, -1, -1):
        for k in range(i + 1, r):
            x[i] -= hessian[k, i] * x[k]
        x[i] /= hessian[i, i]
