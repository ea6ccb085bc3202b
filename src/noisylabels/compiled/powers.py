"""z^a and 2^y as polynomials that the compiler vectorises: most of the cost of the p-norm filters.

Every step is a correctly rounded operation in a fixed order: the same bits on every processor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types

from noisylabels.compiled.bits import bits, from_bits, intrinsic
from noisylabels.compiled.fma import fma

FLOOR = -1020.0  # 2^y is taken as 0 below: no denormal numbers


def _nearest(_typing: Any, x: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.nearbyint", [ir.DoubleType()]), [args[0]])

    return types.float64(types.float64), emit


def _wide(_typing: Any) -> Any:
    def emit(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), emit


# For compiled code only.
nearest: Any = intrinsic(_nearest)  # the nearest whole number, as a float
wide: Any = intrinsic(_wide)  # allow 512-bit vectors in the calling function


# log2 m = s g(s^2) with s = (m - 1)/(m + 1) and g(t) = 2/ln 2 (1 + t/3 + t^2/5 + ...), 1/2 <= m^2 <= 2;
# g and 2^r, |r| <= 1/2, through their Chebyshev points, lowest power first. Written out, because the last
# digits of a computed interpolation depend on the processor.
_HALF = int(np.float64(math.sqrt(0.5)).view(np.int64))
L0, L1, L2, L3 = 2.8853900817779268, 0.9617966939245807, 0.5770780172522434, 0.412198395708273
L4, L5, L6 = 0.3206169851220956, 0.26142239092850283, 0.24320128754698006
E0, E1, E2, E3 = 1.000000000000014, 0.6931471805599526, 0.24022650695631514, 0.05550410866428854
E4, E5, E6 = 0.009618129195951041, 0.001333355825801874, 0.00015403432339553542
E7, E8, E9 = 1.5252640059770786e-05, 1.3259945262689143e-06, 1.0212097549811005e-07


@njit(inline="always")
def log2(z: float) -> float:
    """log2 z for a normal number z > 0, absolute error about 1e-14; -1023 for z = 0.

    z = 2^k m; polynomials are split in halves (Estrin) to shorten the chain of dependent multiplications.
    """
    b = bits(z)
    k = (b - _HALF) >> 52
    m = from_bits(b - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    t2 = t * t
    high = fma(t2, fma(t2, L6, fma(t, L5, L4)), fma(t, L3, L2))
    return fma(s, fma(t2, high, fma(t, L1, L0)), np.float64(k))


@njit(inline="always")
def exp2(y: float) -> float:
    """2^y for y < 1020, relative error about 2e-14; 0 for y <= -1020."""
    j = nearest(y)
    r = y - j
    r2 = r * r
    r4 = r2 * r2
    low = fma(r2, fma(r, E3, E2), fma(r, E1, E0))
    high = fma(r4, fma(r, E9, E8), fma(r2, fma(r, E7, E6), fma(r, E5, E4)))
    return from_bits(bits(fma(r4, high, low)) + (np.int64(j) << 52)) if y > FLOOR else 0.0


@njit(cache=True, error_model="numpy")
def power_inplace(z: np.ndarray, a: np.ndarray) -> None:
    """z_i <- z_i^(a_i) for 0 <= z_i <= 1 and a_i >= 1; z, a: (n,). Relative error below 1e-12 for a <= 100.

    Two passes: each has a short chain of dependent operations, so the processor overlaps several vectors.
    """
    wide()
    for i in range(z.shape[0]):
        z[i] = a[i] * log2(z[i])
    for i in range(z.shape[0]):
        z[i] = exp2(z[i])


@njit(cache=True, error_model="numpy")
def exp2_inplace(y: np.ndarray) -> None:
    """y_i <- 2^(y_i), y_i < 1020; y: (n,)."""
    wide()
    for i in range(y.shape[0]):
        y[i] = exp2(y[i])


@njit(cache=True, error_model="numpy")
def power(z: float, a: float) -> float:
    """z^a of one number z > 0, by the same polynomials."""
    return exp2(a * log2(z))


def lanes(n: int) -> int:
    """n rounded up to whole vectors of 8: the width of a scratch row that needs no leftover loop."""
    return -(-n // 8) * 8
