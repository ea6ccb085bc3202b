"""log P~(y~ | f) of logistic regression with flipped labels, and its derivatives, for one row of f at a time.

P~^1 = omega01 (1 - sigma) + omega11 sigma,  P~^0 = 1 - P~^1,  q = P(y = 1 | f, y~);
d log P~ / d f = q - sigma. Everything is written with e = exp(-|f|), so nothing overflows.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.elementary import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order import fma, sum_lanes

BLOCK = 128  # terms that are computed before they are summed


@njit(cache=True, error_model="numpy")
def _weights(omega01: float, omega10: float, y: float) -> tuple[float, float]:
    """omega_0y and omega_1y of an observed label y, 0.0 or 1.0."""
    omega00, omega11 = 1.0 - omega01, 1.0 - omega10
    return omega00 + y * (omega01 - omega00), omega10 + y * (omega11 - omega10)


@njit(cache=True, error_model="numpy")
def _terms(
    f: np.ndarray, step: np.ndarray, t: float, y: np.ndarray, omega01: float, omega10: float, out: np.ndarray
) -> None:
    """The terms of the three sums of `likelihood`, then q - sigma, from 0, BLOCK, 2 BLOCK, 3 BLOCK of out."""
    for n in range(len(f)):
        here = fma(t, step[n], f[n])
        e = exp_of_negative(-min(abs(here), LARGEST))
        w0, w1 = _weights(omega01, omega10, y[n])
        e1 = 1.0 if here > 0.0 else e  # sigma = e1 / (1 + e)
        e0 = e if here > 0.0 else 1.0
        numerator = fma(w0, e0, w1 * e1)
        both = 1.0 / (numerator * (1.0 + e))
        over = both * (1.0 + e)  # 1 / numerator
        sign = 2.0 * y[n] - 1.0
        out[n] = log_of_positive(numerator * numerator * both)
        out[BLOCK + n] = sign * e0 * over
        out[2 * BLOCK + n] = sign * e1 * over
        out[3 * BLOCK + n] = w1 * e1 * over - e1 * both * numerator


@njit(cache=True, error_model="numpy")
def likelihood(
    f: np.ndarray,
    step: np.ndarray,
    t: float,
    y: np.ndarray,
    omega01: float,
    omega10: float,
    slope: np.ndarray,
) -> tuple[float, float, float]:
    """sum_n log P~_n at f + t step, and its derivatives.

    f, step, y (n,), y the observed labels 0.0 and 1.0. Writes q - sigma to slope (n,).
    Returns the sum and its derivatives with respect to omega01, sum (2y - 1)(1 - sigma) / P~,
    and omega10, -sum (2y - 1) sigma / P~.
    """
    block = np.empty(4 * BLOCK)  # one array, so that the compiler sees that nothing overlaps
    value = up = down = 0.0
    for start in range(0, len(f), BLOCK):
        stop = min(start + BLOCK, len(f))
        count = stop - start
        _terms(f[start:stop], step[start:stop], t, y[start:stop], omega01, omega10, block)
        slope[start:stop] = block[3 * BLOCK : 3 * BLOCK + count]
        value += sum_lanes(block, 0, count)
        up += sum_lanes(block, BLOCK, count)
        down -= sum_lanes(block, 2 * BLOCK, count)
    return value, up, down


@njit(cache=True, error_model="numpy")
def posterior(f: np.ndarray, y: np.ndarray, omega01: float, omega10: float) -> np.ndarray:
    """q_n = P(y_n = 1 | f_n, y~_n) for f, y (n,), y the observed labels 0.0 and 1.0: (n,)."""
    q = np.empty(len(f))
    for n in range(len(f)):
        e = exp_of_negative(-min(abs(f[n]), LARGEST))
        w0, w1 = _weights(omega01, omega10, y[n])
        zero, one = (w0 * e, w1) if f[n] > 0.0 else (w0, w1 * e)
        q[n] = one / (zero + one)
    return q


@njit(cache=True, error_model="numpy")
def logistic(a: float) -> float:
    """1 / (1 + exp(-a))."""
    if a >= 0.0:
        return 1.0 / (1.0 + math.exp(-a))
    e = math.exp(a)
    return e / (1.0 + e)
