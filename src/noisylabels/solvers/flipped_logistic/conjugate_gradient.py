"""Ascent in the coefficients w of f = K w: log-likelihood of flipped labels minus zeta ||w||^2.

phi(w) = zeta ||w||^2 - sum_n log P~_n(f_n),  grad phi = 2 zeta w - K (q - sigma), is made smaller by
nonlinear conjugate gradients, beta = max(0, (g - g_old).g / g_old.g_old) (Polak-Ribiere+), with a line search
for the strong Wolfe conditions. f is linear in w: a search costs one product K d, its trial steps only O(n).

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (4); Nocedal and Wright, Numerical Optimization, 2006,
Algorithms 3.5, 3.6 and 5.4.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noisylabels.fixed_order import dot, times
from noisylabels.solvers.flipped_logistic.likelihood import likelihood

Array = NDArray[np.float64]

DECREASE, CURVATURE = 1e-4, 0.4  # the two Wolfe constants
TRIALS = 40  # of a line search
STATIONARY = 1e-5  # largest entry of a gradient that counts as zero


@njit(cache=True, error_model="numpy")
def _cubic(t0: float, phi0: float, slope0: float, t1: float, phi1: float, slope1: float) -> float:
    """Where the cubic through two points with slopes has its minimum, kept inside the middle 80 %."""
    d1 = slope0 + slope1 - 3.0 * (phi0 - phi1) / (t0 - t1)
    square = d1 * d1 - slope0 * slope1
    middle = 0.5 * (t0 + t1)
    if not square >= 0.0:
        return middle
    d2 = np.sqrt(square) if t1 > t0 else -np.sqrt(square)
    t = t1 - (t1 - t0) * (slope1 + d2 - d1) / (slope1 - slope0 + 2.0 * d2)
    low, high = min(t0, t1), max(t0, t1)
    margin = 0.1 * (high - low)
    if not low + margin <= t <= high - margin:
        return middle if not np.isfinite(t) else min(max(t, low + margin), high - margin)
    return t


@njit(cache=True, error_model="numpy")
def wolfe_step(
    f: np.ndarray, Kd: np.ndarray, y: np.ndarray, omega01: float, omega10: float, zeta: float,
    ww: float, wd: float, dd: float, phi: float, slope: float, t: float, residual: np.ndarray,
) -> tuple[float, float]:  # fmt: skip
    """A step t > 0 along d that meets the strong Wolfe conditions, and phi(w + t d); (0, phi): no such step.

    f = K w, Kd = K d, y (n,); ww, wd, dd: products of w and d; phi, slope < 0: at t = 0; t: first trial.
    Writes q - sigma at the last trial, which is the returned one unless t = 0, to residual (n,).
    """
    t_low, phi_low, slope_low = 0.0, phi, slope
    t_high, phi_high, slope_high = -1.0, phi, slope  # t_high < 0: no bracket yet
    for _ in range(TRIALS):
        value = likelihood(f, Kd, t, y, omega01, omega10, residual)[0]
        here = zeta * (ww + t * (2.0 * wd + t * dd)) - value
        along = 2.0 * zeta * (wd + t * dd) - dot(residual, 0, Kd)
        if not here <= phi + DECREASE * t * slope or (t_low > 0.0 and not here < phi_low):
            t_high, phi_high, slope_high = t, here, along
        else:
            if abs(along) <= -CURVATURE * slope:
                return t, here
            if along * (t_high - t_low if t_high >= 0.0 else 1.0) >= 0.0:
                t_high, phi_high, slope_high = t_low, phi_low, slope_low
            t_low, phi_low, slope_low = t, here, along
        if t_high < 0.0:
            t *= 2.0
        else:
            t = _cubic(t_low, phi_low, slope_low, t_high, phi_high, slope_high)
    return 0.0, phi


@njit(cache=True, error_model="numpy")
def conjugate_gradient(
    K: Array, w: Array, y: Array, omega: Array, zeta: float, iterations: int = 10
) -> tuple[Array, Array]:
    """w and f = K w after at most ``iterations`` conjugate-gradient steps from w (n,); K (n, n) symmetric.

    y : (n,) observed labels 0.0 and 1.0.   omega : (2, 2) flip matrix.   zeta : > 0.
    The first trial step of a search expects the decrease of the previous one, and ||g||/2 at the start.
    """
    omega01, omega10 = omega[0, 1], omega[1, 0]
    residual, zero = np.empty(len(w)), np.zeros(len(w))
    f = times(K, w)
    phi = zeta * dot(w, 0, w) - likelihood(f, zero, 0.0, y, omega01, omega10, residual)[0]
    gradient = 2.0 * zeta * w - times(K, residual)
    square = dot(gradient, 0, gradient)
    d = -gradient
    before = phi + 0.5 * np.sqrt(square)
    for _ in range(iterations):
        if not np.abs(gradient).max() > STATIONARY:
            break
        slope = dot(gradient, 0, d)
        if not slope < 0.0:
            d, slope = -gradient, -square
        t = min(1.0, 2.02 * (phi - before) / slope)
        Kd = times(K, d)
        t, reached = wolfe_step(
            f, Kd, y, omega01, omega10, zeta, dot(w, 0, w), dot(w, 0, d), dot(d, 0, d), phi, slope,
            t if t > 0.0 else 1.0, residual,
        )  # fmt: skip
        if t == 0.0:
            break
        before, phi = phi, reached
        w, f = w + t * d, f + t * Kd
        new = 2.0 * zeta * w - times(K, residual)
        beta = max(0.0, dot(new - gradient, 0, new) / square)
        d, gradient = beta * d - new, new
        square = dot(gradient, 0, gradient)
    return w, f
