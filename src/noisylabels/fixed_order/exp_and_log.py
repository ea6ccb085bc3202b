"""Exponentials, logarithms and powers with the same bits on every processor.

They are polynomials, and every step is one correctly rounded operation. Relative errors: 2e-16 for
exp, 1e-15 for log, below 1e-12 for a power with an exponent of at most 100.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import bits, fma, from_bits, intrinsic
from noisylabels.validation import Floats

_DOUBLE = ir.DoubleType()
LARGEST = 700.0  # up to here exp(-x) is a normal number
_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LN2 = 0.6931471805599453
# 1.5 * 2^52: the low bits of a sum with it are the nearest whole number
_SHIFTER = 6755399441055744.0
_SHIFTER_BITS = 0x4338000000000000
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@compile_kernel(error_model="numpy")
def exp_of_negative(x: float) -> float:
    """Compute the exponential of a number that is not positive.

    Parameters
    ----------
    x : float
        A number from -700 to 0.

    Returns
    -------
    float
        exp(x), with a relative error of about 2e-16.
    """
    shifted = fma(x, _LOG2E, _SHIFTER)
    k = shifted - _SHIFTER
    reduced = fma(k, -_LN2_HIGH, x)
    z = fma(k, -_LN2_LOW, reduced)
    c12 = fma(z, 1 / 6227020800, 1 / 479001600)
    p = fma(z, c12, 1 / 39916800)
    c10 = fma(z, p, 1 / 3628800)
    p = fma(z, c10, 1 / 362880)
    c8 = fma(z, p, 1 / 40320)
    p = fma(z, c8, 1 / 5040)
    c6 = fma(z, p, 1 / 720)
    p = fma(z, c6, 1 / 120)
    c4 = fma(z, p, 1 / 24)
    p = fma(z, c4, 1 / 6)
    c2 = fma(z, p, 0.5)
    c1 = fma(z, c2, 1.0)
    p = fma(z, c1, 1.0)
    exponent_bits = bits(shifted) << 52
    return from_bits(bits(p) + exponent_bits)


@compile_kernel(error_model="numpy")
def log_of_positive(x: float) -> float:
    """Compute the natural logarithm of a positive number.

    Parameters
    ----------
    x : float
        A normal number above 0.

    Returns
    -------
    float
        log(x), with a relative error of about 1e-15.
    """
    k = (bits(x) - _SQRT_HALF_BITS) >> 52
    mantissa_bits = bits(x) - (k << 52)
    m = from_bits(mantissa_bits)
    numerator = m - 1.0
    s = numerator / (m + 1.0)
    z = s * s
    c17 = fma(z, 1 / 19, 1 / 17)
    c15 = fma(z, c17, 1 / 15)
    p = fma(z, c15, 1 / 13)
    c11 = fma(z, p, 1 / 11)
    c9 = fma(z, c11, 1 / 9)
    c7 = fma(z, c9, 1 / 7)
    p = fma(z, c7, 1 / 5)
    shifted = from_bits(_SHIFTER_BITS + k)
    exponent = shifted - _SHIFTER
    c3 = fma(z, p, 1 / 3)
    series = fma(z, c3, 1.0)
    scaled = 2.0 * s * series
    return fma(exponent, _LN2, scaled)


FLOOR = -1020.0  # exponent below which 2^y counts as 0, to avoid denormal numbers


@intrinsic
def nearest(typing_context: Any, x: Any) -> Any:
    """Round to the nearest whole number.

    Parameters
    ----------
    x : float
        A number.

    Returns
    -------
    float
        The whole number; of two that are equally near the even one.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.nearbyint", [_DOUBLE])
        return builder.call(function, arguments)

    return types.float64(types.float64), generate


@intrinsic
def wide(typing_context: Any) -> Any:
    """Allow 512-bit vectors in the calling function."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


# log2 m = s g(s^2) with s = (m - 1)/(m + 1) and g(t) = 2/ln 2 (1 + t/3 + t^2/5 + ...), 1/2 <= m^2
# <= 2; g and 2^r, |r| <= 1/2, through their Chebyshev points, lowest power first. The last digits
# of a computed interpolation would depend on the processor.
L0, L1, L2, L3 = 2.8853900817779268, 0.9617966939245807, 0.5770780172522434, 0.412198395708273
L4, L5, L6 = 0.3206169851220956, 0.26142239092850283, 0.24320128754698006
E0, E1, E2, E3 = 1.000000000000014, 0.6931471805599526, 0.24022650695631514, 0.05550410866428854
E4, E5, E6 = 0.009618129195951041, 0.001333355825801874, 0.00015403432339553542
E7, E8, E9 = 1.5252640059770786e-05, 1.3259945262689143e-06, 1.0212097549811005e-07


@compile_kernel(inline="always")
def log2(z: float) -> float:
    """Compute the logarithm to base 2 of a normal number.

    Parameters
    ----------
    z : float
        A normal number above 0, or 0.

    Returns
    -------
    float
        The logarithm, with an absolute error of about 1e-14; -1023 for 0.

    Notes
    -----
    The number is split into z = 2^k m with 1/2 <= m^2 <= 2. The polynomial of m is split in halves
    (Estrin) to shorten the chain of dependent multiplications.
    """
    b = bits(z)
    k = (b - _SQRT_HALF_BITS) >> 52
    mantissa_bits = b - (k << 52)
    m = from_bits(mantissa_bits)
    numerator = m - 1.0
    s = numerator / (m + 1.0)
    t = s * s
    t2 = t * t
    g45 = fma(t, L5, L4)
    g23 = fma(t, L3, L2)
    g456 = fma(t2, L6, g45)
    high = fma(t2, g456, g23)
    g01 = fma(t, L1, L0)
    series = fma(t2, high, g01)
    return fma(s, series, np.float64(k))


@compile_kernel(inline="always")
def exp2(y: float) -> float:
    """Compute a power of 2.

    Parameters
    ----------
    y : float
        The exponent, below 1020.

    Returns
    -------
    float
        The power, with a relative error of about 2e-14; 0 for an exponent of at most -1020.
    """
    j = nearest(y)
    r = y - j
    r2 = r * r
    r4 = r2 * r2
    e23 = fma(r, E3, E2)
    e01 = fma(r, E1, E0)
    low = fma(r2, e23, e01)
    e89 = fma(r, E9, E8)
    e67 = fma(r, E7, E6)
    e45 = fma(r, E5, E4)
    e4567 = fma(r2, e67, e45)
    high = fma(r4, e89, e4567)
    if y > FLOOR:
        power = fma(r4, high, low)
        exponent_bits = np.int64(j) << 52
        return from_bits(bits(power) + exponent_bits)
    return 0.0


@compile_kernel(error_model="numpy")
def power_inplace(z: Floats, a: Floats) -> None:
    """Raise numbers from 0 to 1 to powers, in place.

    Parameters
    ----------
    z : ndarray of shape (n,)
        Numbers from 0 to 1. The powers replace them, with a relative error below 1e-12 for
        exponents of at most 100.
    a : ndarray of shape (n,)
        Exponent of each number, at least 1.

    Notes
    -----
    There are two passes. Each has a short chain of dependent operations, so the processor overlaps
    several vectors.
    """
    wide()
    for i in range(z.shape[0]):
        z[i] = a[i] * log2(z[i])
    for i in range(z.shape[0]):
        z[i] = exp2(z[i])


@compile_kernel(error_model="numpy")
def exp2_inplace(y: Floats) -> None:
    """Replace numbers by powers of 2, in place.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Exponents below 1020. The powers replace them, see `exp2`.
    """
    wide()
    for i in range(y.shape[0]):
        y[i] = exp2(y[i])


@compile_kernel(error_model="numpy")
def power(z: float, a: float) -> float:
    """Raise one positive number to a power, by the same polynomials.

    Parameters
    ----------
    z : float
        A normal number above 0.
    a : float
        The exponent.

    Returns
    -------
    float
        The power.
    """
    return exp2(a * log2(z))
