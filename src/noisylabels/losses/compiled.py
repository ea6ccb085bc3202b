"""Compiled margin losses: a pair of inlined functions per loss, `<name>_value` r(z) and `<name>_slope` r'(z).

`value` and `slope` choose the pair by its code: one well-predicted branch in a learner's loop, and one
compiled learner for all losses. The two-branch forms keep margins of any size free of overflow.
The losses themselves, with their parameters and sources, are in `noisylabels.losses.margin`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LOG, HINGE, RAMP, SMOOTH_RAMP, RGOMP, SQUARED_HINGE, MODIFIED_HUBER, PERCEPTRON, SAVAGE, TANGENT, UNHINGED = (
    range(11)
)
_FLAT = 6.0  # beyond c z = 6 the reversed Gompertz loss is below e^-403: taken as 0


@njit(inline="always")
def falling_sigmoid(u: float) -> float:
    """1 / (1 + e^u), without overflow."""
    e = math.exp(-abs(u))
    return e / (1.0 + e) if u > 0 else 1.0 / (1.0 + e)


@njit(inline="always")
def log_value(z: float) -> float:
    """ln(1 + e^-z)."""
    return max(-z, 0.0) + math.log1p(math.exp(-abs(z)))


@njit(inline="always")
def log_slope(z: float) -> float:
    """-1 / (1 + e^z)."""
    return -falling_sigmoid(z)


@njit(inline="always")
def hinge_value(z: float) -> float:
    """max(0, 1 - z)."""
    return max(1.0 - z, 0.0)


@njit(inline="always")
def hinge_slope(z: float) -> float:
    """-1 for z < 1, else 0."""
    return -1.0 if z < 1.0 else 0.0


@njit(inline="always")
def ramp_value(z: float, s: float) -> float:
    """min(1 - s, max(0, 1 - z))."""
    return min(1.0 - s, hinge_value(z))


@njit(inline="always")
def ramp_slope(z: float, s: float) -> float:
    """-1 for s < z < 1, else 0."""
    return -1.0 if s < z < 1.0 else 0.0


@njit(inline="always")
def smooth_ramp_value(z: float, s: float, alpha: float, beta: float) -> float:
    """(1 - s) / (1 + e^(alpha (z + beta)))."""
    return (1.0 - s) * falling_sigmoid(alpha * (z + beta))


@njit(inline="always")
def smooth_ramp_slope(z: float, s: float, alpha: float, beta: float) -> float:
    """-(1 - s) alpha phi / (1 + phi)^2, phi = e^(alpha (z + beta))."""
    # phi / (1 + phi)^2 is even in the exponent, so e^-|.| serves both sides
    e = math.exp(-abs(alpha * (z + beta)))
    return -(1.0 - s) * alpha * e / ((1.0 + e) * (1.0 + e))


@njit(inline="always")
def rgomp_value(z: float, c: float) -> float:
    """e^(-e^(c z))."""
    return math.exp(-math.exp(min(c * z, _FLAT))) if c * z <= _FLAT else 0.0


@njit(inline="always")
def rgomp_slope(z: float, c: float) -> float:
    """-c e^(c z - e^(c z))."""
    u = min(c * z, _FLAT)
    return -c * math.exp(u - math.exp(u)) if c * z <= _FLAT else 0.0


@njit(inline="always")
def squared_hinge_value(z: float) -> float:
    """max(0, 1 - z)^2."""
    return hinge_value(z) ** 2


@njit(inline="always")
def squared_hinge_slope(z: float) -> float:
    """-2 max(0, 1 - z)."""
    return -2.0 * hinge_value(z)


@njit(inline="always")
def modified_huber_value(z: float) -> float:
    """max(0, 1 - z)^2 for z >= -1, else -4 z."""
    return squared_hinge_value(z) if z >= -1.0 else -4.0 * z


@njit(inline="always")
def modified_huber_slope(z: float) -> float:
    """-2 max(0, 1 - z) for z >= -1, else -4."""
    return squared_hinge_slope(max(z, -1.0))


@njit(inline="always")
def perceptron_value(z: float) -> float:
    """max(0, -z)."""
    return max(-z, 0.0)


@njit(inline="always")
def perceptron_slope(z: float) -> float:
    """-1 for z <= 0, else 0 (so that learning can start from w = 0)."""
    return -1.0 if z <= 0.0 else 0.0


@njit(inline="always")
def savage_value(z: float) -> float:
    """1 / (1 + e^z)^2."""
    return falling_sigmoid(z) ** 2


@njit(inline="always")
def savage_slope(z: float) -> float:
    """-2 e^z / (1 + e^z)^3."""
    return -2.0 * falling_sigmoid(z) ** 2 * falling_sigmoid(-z)


@njit(inline="always")
def tangent_value(z: float) -> float:
    """(2 arctan z - 1)^2."""
    return (2.0 * math.atan(z) - 1.0) ** 2


@njit(inline="always")
def tangent_slope(z: float) -> float:
    """4 (2 arctan z - 1) / (1 + z^2)."""
    return 4.0 * (2.0 * math.atan(z) - 1.0) / (1.0 + z * z)


@njit(cache=True)
def value(kind: int, a: float, b: float, c: float, z: float) -> float:
    """r(z) of the loss with this code and these parameters (see `Loss`)."""
    if kind == LOG:
        return log_value(z)
    if kind == HINGE:
        return hinge_value(z)
    if kind == RAMP:
        return ramp_value(z, a)
    if kind == SMOOTH_RAMP:
        return smooth_ramp_value(z, a, b, c)
    if kind == RGOMP:
        return rgomp_value(z, a)
    if kind == SQUARED_HINGE:
        return squared_hinge_value(z)
    if kind == MODIFIED_HUBER:
        return modified_huber_value(z)
    if kind == PERCEPTRON:
        return perceptron_value(z)
    if kind == SAVAGE:
        return savage_value(z)
    if kind == TANGENT:
        return tangent_value(z)
    return 1.0 - z


@njit(cache=True)
def slope(kind: int, a: float, b: float, c: float, z: float) -> float:
    """r'(z) of the loss with this code and these parameters (see `Loss`)."""
    if kind == LOG:
        return log_slope(z)
    if kind == HINGE:
        return hinge_slope(z)
    if kind == RAMP:
        return ramp_slope(z, a)
    if kind == SMOOTH_RAMP:
        return smooth_ramp_slope(z, a, b, c)
    if kind == RGOMP:
        return rgomp_slope(z, a)
    if kind == SQUARED_HINGE:
        return squared_hinge_slope(z)
    if kind == MODIFIED_HUBER:
        return modified_huber_slope(z)
    if kind == PERCEPTRON:
        return perceptron_slope(z)
    if kind == SAVAGE:
        return savage_slope(z)
    if kind == TANGENT:
        return tangent_slope(z)
    return -1.0


@njit(cache=True)
def values(kind: int, a: float, b: float, c: float, z: np.ndarray) -> np.ndarray:
    """`value` of each margin of a vector."""
    out = np.empty(len(z))
    for i in range(len(z)):
        out[i] = value(kind, a, b, c, z[i])
    return out


@njit(cache=True)
def slopes(kind: int, a: float, b: float, c: float, z: np.ndarray) -> np.ndarray:
    """`slope` of each margin of a vector."""
    out = np.empty(len(z))
    for i in range(len(z)):
        out[i] = slope(kind, a, b, c, z[i])
    return out


@njit(cache=True)
def slopes_of_models(
    kind: int, a: np.ndarray, b: np.ndarray, c: np.ndarray, z: np.ndarray, out: np.ndarray
) -> None:
    """out = `slope` of each model's margin; the losses without exponentials are loops that become vectors."""
    if kind == HINGE:
        for m in range(len(z)):
            out[m] = hinge_slope(z[m])
    elif kind == RAMP:
        for m in range(len(z)):
            out[m] = ramp_slope(z[m], a[m])
    else:
        for m in range(len(z)):
            out[m] = slope(kind, a[m], b[m], c[m], z[m])
