"""exp and log as polynomials that the compiler turns into vectors: 2e-16 and 1e-15 relative error.

Every step is a correctly rounded operation in a fixed order: the same bits on every processor.
"""

from __future__ import annotations

from numba import njit

from noisylabels.compiled.bits import bits, from_bits
from noisylabels.compiled.fma import fma

LARGEST = 700.0  # exp(-700) is still a normal number
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LN2 = 0.6931471805599453
_SHIFTER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
_SHIFTER_BITS = 0x4338000000000000
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@njit(cache=True, error_model="numpy")
def exp_of_negative(x: float) -> float:
    """exp(x) for -700 <= x <= 0."""
    shifted = fma(x, _LOG2E, _SHIFTER)
    k = shifted - _SHIFTER
    z = fma(k, -_LN2_LOW, fma(k, -_LN2_HIGH, x))
    p = fma(z, fma(z, 1 / 6227020800, 1 / 479001600), 1 / 39916800)
    p = fma(z, fma(z, p, 1 / 3628800), 1 / 362880)
    p = fma(z, fma(z, p, 1 / 40320), 1 / 5040)
    p = fma(z, fma(z, p, 1 / 720), 1 / 120)
    p = fma(z, fma(z, p, 1 / 24), 1 / 6)
    p = fma(z, fma(z, fma(z, p, 0.5), 1.0), 1.0)
    return from_bits(bits(p) + (bits(shifted) << 52))


@njit(cache=True, error_model="numpy")
def log_of_positive(x: float) -> float:
    """log(x) for normal x > 0."""
    k = (bits(x) - _SQRT_HALF_BITS) >> 52
    m = from_bits(bits(x) - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = fma(z, fma(z, fma(z, 1 / 19, 1 / 17), 1 / 15), 1 / 13)
    p = fma(z, fma(z, fma(z, fma(z, p, 1 / 11), 1 / 9), 1 / 7), 1 / 5)
    exponent = from_bits(_SHIFTER_BITS + k) - _SHIFTER
    return fma(exponent, _LN2, 2.0 * s * fma(z, fma(z, p, 1 / 3), 1.0))
