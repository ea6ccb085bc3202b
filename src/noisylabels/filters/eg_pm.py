"""EG+-: exponentiated gradient for weights of either sign."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.fma import fma
from noisylabels.compiled.powers import exp2_inplace
from noisylabels.compiled.simd import dot_lanes, sum_lanes
from noisylabels.filters.base import Filter, Rows, Side


class EGPlusMinus(Filter):
    """w_i = U sinh(a_i) / sum_j cosh(a_j),  a_t = a_{t-1} + 2 eta U (y_t - yhat_t) x_t,  a_0 = 0.

    This is EG on the instances (U x, -U x) in R^2d.

    budget: U >= ||u||_1, > 0.  eta: > 0; Kivinen and Warmuth ask for 1/(3 U^2 X^2) with |x_{t,i}| <= X.
    State: a in units of ln 2, (d,), a_0 = 0 (so w_0 = 0).
    Raises ValueError: eta <= 0, budget <= 0; divergence.
    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, Inf. Comput. 132, 1997.
    """

    name = "eg_pm"
    logarithms: Floats

    def __init__(self, eta: float = 0.1, budget: float = 1.0) -> None:
        self.eta = number("eta", eta, above=0)
        self.budget = number("budget", budget, above=0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.logarithms = np.zeros(d)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        turn = slice(None, None, -1 if rows.reversed else 1)
        logs = np.ascontiguousarray(self.logarithms[turn])
        rate = 2.0 * self.eta * self.budget / math.log(2)
        _eg_pm(rows.flat, rows.step, logs, y, yhat, rate, self.budget, w)
        self.logarithms = np.ascontiguousarray(logs[turn])


@njit(cache=True)
def _spread(a: np.ndarray, gain: float, x: np.ndarray, z: np.ndarray) -> None:
    """a += gain x;  z = (a - m, -a - m) with m = max |a|, so that no power of 2 exceeds 1."""
    top = 0.0
    up, down = z[: x.shape[0]], z[x.shape[0] :]
    for i in range(x.shape[0]):
        a[i] = fma(gain, x[i], a[i])
        top = abs(a[i]) if abs(a[i]) > top else top
    for i in range(x.shape[0]):
        up[i] = a[i] - top
        down[i] = -a[i] - top


@njit(cache=True, error_model="numpy")
def _mean(z: np.ndarray, x: np.ndarray) -> float:
    """(up - down).x over the sum of both, for z = (up, down); up becomes up - down."""
    d = x.shape[0]
    total = sum_lanes(z, 0, 2 * d)
    for i in range(d):
        z[i] -= z[d + i]
    return dot_lanes(z, 0, x, 0, d) / total


@njit(cache=True, error_model="numpy")
def _eg_pm(
    x: np.ndarray, step: int, a: np.ndarray, y: np.ndarray, yhat: np.ndarray, rate: float,
    budget: float, w: np.ndarray,
) -> None:  # fmt: skip
    d, n = a.shape[0], y.shape[0]
    z = np.empty(2 * d)
    _spread(a, 0.0, x[:d], z)
    exp2_inplace(z)
    for t in range(n):
        row = x[t * step : t * step + d]
        yhat[t] = budget * _mean(z, row)
        _spread(a, rate * (y[t] - yhat[t]), row, z)
        exp2_inplace(z)
    w[:] = budget * (z[:d] - z[d:]) / z.sum()
