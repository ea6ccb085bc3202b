"""z^a and 2^y as polynomials that the compiler vectorises: most of the cost of the p-norm filters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numpy.polynomial import Chebyshev, Polynomial

from noisylabels.compiled.bits import bits, from_bits, intrinsic

# Reordered sums and fused multiply-add; NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}
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


def _coefficients(f: Any, degree: int, low: float, high: float) -> list[float]:
    """Polynomial through f at the Chebyshev points of [low, high], lowest power first."""
    return [float(c) for c in Chebyshev.interpolate(f, degree, [low, high]).convert(kind=Polynomial).coef]


# log2 m = s g(s^2) with s = (m - 1)/(m + 1) and g(t) = 2/ln 2 (1 + t/3 + t^2/5 + ...), 1/2 <= m^2 <= 2
_HALF = int(np.float64(math.sqrt(0.5)).view(np.int64))
_T = ((math.sqrt(2) - 1) / (math.sqrt(2) + 1)) ** 2
_L = _coefficients(lambda t: sum(2 / math.log(2) / (2 * k + 1) * t**k for k in range(14)), 6, 0.0, _T)
L0, L1, L2, L3, L4, L5, L6 = _L
E0, E1, E2, E3, E4, E5, E6, E7, E8, E9 = _coefficients(np.exp2, 9, -0.5, 0.5)


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
    return np.float64(k) + s * ((L0 + t * L1) + t2 * ((L2 + t * L3) + t2 * ((L4 + t * L5) + t2 * L6)))


@njit(inline="always")
def exp2(y: float) -> float:
    """2^y for y < 1020, relative error about 2e-14; 0 for y <= -1020."""
    j = nearest(y)
    r = y - j
    r2 = r * r
    r4 = r2 * r2
    low = (E0 + r * E1) + r2 * (E2 + r * E3)
    high = ((E4 + r * E5) + r2 * (E6 + r * E7)) + r4 * (E8 + r * E9)
    return from_bits(bits(low + r4 * high) + (np.int64(j) << 52)) if y > FLOOR else 0.0


@njit(cache=True, fastmath=REORDER, error_model="numpy")
def power_inplace(z: np.ndarray, a: np.ndarray) -> None:
    """z_i <- z_i^(a_i) for 0 <= z_i <= 1 and a_i >= 1; z, a: (n,). Relative error below 1e-12 for a <= 100.

    Two passes: each has a short chain of dependent operations, so the processor overlaps several vectors.
    """
    wide()
    for i in range(z.shape[0]):
        z[i] = a[i] * log2(z[i])
    for i in range(z.shape[0]):
        z[i] = exp2(z[i])


@njit(cache=True, fastmath=REORDER, error_model="numpy")
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
