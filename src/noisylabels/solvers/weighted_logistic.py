"""The base classifier of boosters: weighted logistic regression with or without a flip matrix, compiled.

max_theta sum_n a_n log P~_n - lambda sum_{j > 0} theta_j^2,
P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f),  f = theta . z, z_0 = 1.
A Newton step on the EM surrogate and an update of Omega in turn, like `flipped_logistic.em_newton`, but for
thousands of small fits.

Source: Kaban and Bootkrajang, LABELNOISE 2017; Bootkrajang and Kaban, ECML PKDD 2012.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noisylabels.elementary import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order import fma, normal_equations, scores, solve, sum_lanes

Array = NDArray[np.float64]

TOLERANCE = 1e-3  # of the last Newton step, relative; the error after it is of the order of its square
SMALLEST_CURVATURE = 1e-6
SMALLEST_MASS = 1e-12
SWAPPED = 0.49  # both rates after the classes have changed names
HALVINGS = 20
BLOCK = 128  # terms that are computed before they are summed


@njit(cache=True, error_model="numpy")
def draws(weights: Array, spacings: Array) -> Array:
    """How often each of n points is drawn in n draws with replacement, P ~ weights (n,): (n,).

    spacings (n + 1,) : independent standard exponentials; their partial sums over the total are n uniforms
        in order.
    """
    n = len(weights)
    scale = weights.sum() / spacings.sum()
    counts = np.zeros(n)
    at, last = 0, 0
    for i in range(n):
        if weights[i] > 0.0:
            last = i
    below, u = weights[0], 0.0
    for i in range(n):
        u += spacings[i] * scale
        while u > below and at < last:
            at += 1
            below += weights[at]
        counts[at] += 1.0
    return counts


@njit(cache=True, error_model="numpy")
def decisions(ZT: Array, theta: Array) -> Array:
    """h = +1 where theta . z >= 0, else -1: (n,)."""
    f = np.empty(ZT.shape[1])
    scores(ZT, theta, f)
    for n in range(len(f)):
        f[n] = 1.0 if f[n] >= 0.0 else -1.0
    return f


@njit(cache=True, error_model="numpy")
def _terms(
    f: Array, y: Array, a: Array, omega00: float, omega01: float, omega10: float, omega11: float, block: Array
) -> None:
    """The terms of the sums of `_evaluate`, then a (q - sigma) and a sigma (1 - sigma), in rows of block."""
    out = block.reshape(-1)
    for n in range(len(f)):
        e = exp_of_negative(-min(abs(f[n]), LARGEST))
        w1 = omega10 + y[n] * (omega11 - omega10)
        w0 = omega00 + y[n] * (omega01 - omega00)
        e1 = 1.0 if f[n] > 0.0 else e
        e0 = e if f[n] > 0.0 else 1.0
        numerator = fma(w0, e0, w1 * e1) + 1e-300
        over = 1.0 / (1.0 + e)
        q = w1 * e1 / numerator
        out[n] = a[n] * log_of_positive(numerator * over)
        out[BLOCK + n] = a[n] * q
        out[2 * BLOCK + n] = a[n] * q * (1.0 - y[n])
        out[3 * BLOCK + n] = a[n] * (1.0 - q)
        out[4 * BLOCK + n] = a[n] * (1.0 - q) * y[n]
        out[5 * BLOCK + n] = a[n] * (q - e1 * over)
        out[6 * BLOCK + n] = a[n] * max(e * over * over, SMALLEST_CURVATURE)


@njit(cache=True, error_model="numpy")
def _evaluate(
    f: Array, y: Array, a: Array, omega01: float, omega10: float, slope: Array, curvature: Array
) -> tuple[float, float, float, float, float]:
    """Write a (q - sigma) and a sigma (1 - sigma).

    Returns sum a log P~; sum a q, sum a q 1(y~ = 0), sum a (1 - q), sum a (1 - q) 1(y~ = 1).
    """
    omega00, omega11 = 1.0 - omega01, 1.0 - omega10
    block = np.empty((7, BLOCK))  # one array, so that the compiler sees that nothing overlaps
    value = one = one_flipped = zero = zero_flipped = 0.0
    for start in range(0, len(f), BLOCK):
        stop = min(start + BLOCK, len(f))
        _terms(f[start:stop], y[start:stop], a[start:stop], omega00, omega01, omega10, omega11, block)
        count = stop - start
        slope[start:stop] = block[5, :count]
        curvature[start:stop] = block[6, :count]
        value += sum_lanes(block[0], 0, count)
        one += sum_lanes(block[1], 0, count)
        one_flipped += sum_lanes(block[2], 0, count)
        zero += sum_lanes(block[3], 0, count)
        zero_flipped += sum_lanes(block[4], 0, count)
    return value, one, one_flipped, zero, zero_flipped


@njit(cache=True, error_model="numpy")
def _penalised(value: float, theta: Array, lam: float) -> float:
    return value - lam * (theta[1:] ** 2).sum()


@njit(cache=True, error_model="numpy")
def _newton(
    ZT: Array, y: Array, a: Array, theta: Array, lam: float, omega: Array, learn_omega: bool, steps: int
) -> int:
    """Maximise from theta (r,) and omega = (omega01, omega10), changed in place; returns the steps taken."""
    r, n = ZT.shape
    f, along, trial = np.empty(n), np.empty(n), np.empty(n)
    slope, curvature = np.empty(n), np.empty(n)
    hessian, direction = np.empty((r, r)), np.empty(r)
    scores(ZT, theta, f)
    found = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
    for taken in range(steps):
        old = _penalised(found[0], theta, lam)
        normal_equations(ZT, slope, curvature, hessian, direction)
        for j in range(1, r):
            hessian[j, j] += 2.0 * lam
            direction[j] -= 2.0 * lam * theta[j]
        solve(hessian, direction)
        scores(ZT, direction, along)
        t = 1.0
        for _ in range(HALVINGS):
            trial[:] = f + t * along
            found = _evaluate(trial, y, a, omega[0], omega[1], slope, curvature)
            if _penalised(found[0], theta + t * direction, lam) >= old:
                break
            t *= 0.5
        else:
            t = 0.0
            found = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
        theta += t * direction
        f += t * along
        moved = 0.0
        if learn_omega:
            moved = _update(omega, found)
            found = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
        if t * np.abs(along).max() <= TOLERANCE * (1.0 + np.abs(f).max()) and moved <= TOLERANCE:
            return taken + 1
    return steps


@njit(cache=True, error_model="numpy")
def _update(omega: Array, found: tuple[float, float, float, float, float]) -> float:
    """omega_10 = sum a q 1(y~ = 0) / sum a q, omega_01 likewise, in place; returns the largest change."""
    up, down = omega[0], omega[1]
    if found[1] > SMALLEST_MASS:
        omega[1] = min(found[2] / found[1], 1.0)
    if found[3] > SMALLEST_MASS:
        omega[0] = min(found[4] / found[3], 1.0)
    if omega[0] + omega[1] >= 1.0:
        omega[:] = SWAPPED
    return max(abs(omega[0] - up), abs(omega[1] - down))


@njit(cache=True, error_model="numpy")
def fit(
    ZT: Array, s: Array, a: Array, theta: Array, lam: float, omega: Array, learn_omega: bool, steps: int
) -> int:
    """theta (r,) for labels s (n,) of -1 and +1, weights a (n,) >= 0 and the columns of ZT (r, n), ZT[0] = 1.

    theta and omega = (omega01, omega10) hold the start and are changed in place;
    omega = 0 without `learn_omega` is plain logistic regression. Points of weight 0 are left out.
    Where one class has all the weight, theta is the constant of that class. Returns the Newton steps taken.
    """
    used = np.flatnonzero(a > 0.0)
    positive = 0
    for n in used:
        positive += s[n] > 0.0
    if positive == 0 or positive == len(used):
        theta[:] = 0.0
        theta[0] = 1.0 if positive else -1.0
        return 0
    if len(used) == len(a):
        return _newton(ZT, (s + 1.0) * 0.5, a, theta, lam, omega, learn_omega, steps)
    subset = np.empty((ZT.shape[0], len(used)))
    for j in range(ZT.shape[0]):
        for k in range(len(used)):
            subset[j, k] = ZT[j, used[k]]
    y = (s[used] + 1.0) * 0.5
    return _newton(subset, y, a[used], theta, lam, omega, learn_omega, steps)
