"""log P~(y~ | f) of logistic regression with flipped labels, and its derivatives, for one row of f at a time.

P~^1 = omega01 (1 - sigma) + omega11 sigma,  P~^0 = 1 - P~^1,  q = P(y = 1 | f, y~);
d log P~ / d f = q - sigma. Everything is written with e = exp(-|f|), so nothing overflows.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.compiled.exponential import LARGEST, exp_of_negative, log_of_positive


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
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
    omega00, omega11 = 1.0 - omega01, 1.0 - omega10
    value = up = down = 0.0
    for n in range(len(f)):
        here = f[n] + t * step[n]
        e = exp_of_negative(-min(abs(here), LARGEST))
        w1 = omega10 + y[n] * (omega11 - omega10)
        w0 = omega00 + y[n] * (omega01 - omega00)
        positive = here > 0.0
        e1 = 1.0 if positive else e  # sigma = e1 / (1 + e)
        e0 = e if positive else 1.0
        numerator = w0 * e0 + w1 * e1
        both = 1.0 / (numerator * (1.0 + e))
        over = both * (1.0 + e)  # 1 / numerator
        slope[n] = w1 * e1 * over - e1 * both * numerator
        value += log_of_positive(numerator * numerator * both)
        sign = 2.0 * y[n] - 1.0
        up += sign * e0 * over
        down -= sign * e1 * over
    return value, up, down


@njit(cache=True, error_model="numpy")
def logistic(a: float) -> float:
    """1 / (1 + exp(-a))."""
    if a >= 0.0:
        return 1.0 / (1.0 + math.exp(-a))
    e = math.exp(a)
    return e / (1.0 + e)
