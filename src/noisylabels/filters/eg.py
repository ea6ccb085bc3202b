"""EG: exponentiated gradient on the probability simplex."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.fma import fma
from noisylabels.compiled.powers import exp2_inplace
from noisylabels.compiled.simd import dot_lanes, sum_lanes
from noisylabels.filters.base import Filter, Rows, Side


class EG(Filter):
    """w_{t,i} = w_{t-1,i} exp(-2 eta (yhat_t - y_t) x_{t,i}) / Z_t,  w_{0,i} = 1/d.

    eta: > 0; the loss bound sum (yhat_t - y_t)^2 <= 3/2 (Loss_u + R^2 ln d), u in the simplex,
    asks for 2/(3 R^2) with R >= max_i x_{t,i} - min_i x_{t,i}.
    State: log2 of the weights up to a constant, (d,); the largest is shifted to 0 before the exponential.
    Raises ValueError: eta <= 0; divergence.
    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, Inf. Comput. 132, 1997.
    """

    name = "eg"
    logarithms: Floats

    def __init__(self, eta: float = 0.1) -> None:
        self.eta = number("eta", eta, above=0)

    def _start(self, d: int) -> None:
        self.logarithms = np.zeros(d)
        self.w = np.full(d, 1.0 / d)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        turn = slice(None, None, -1 if rows.reversed else 1)
        logs = np.ascontiguousarray(self.logarithms[turn])
        _eg(rows.flat, rows.step, logs, y, yhat, 2.0 * self.eta / math.log(2), w)
        self.logarithms = np.ascontiguousarray(logs[turn])


@njit(cache=True)
def _shift(logs: np.ndarray, gain: float, x: np.ndarray, z: np.ndarray) -> None:
    """logs += gain x, then the largest is moved to 0; z = logs."""
    top = -np.inf
    for i in range(x.shape[0]):
        logs[i] = fma(gain, x[i], logs[i])
        top = logs[i] if logs[i] > top else top
    for i in range(x.shape[0]):
        logs[i] -= top
        z[i] = logs[i]


@njit(cache=True, error_model="numpy")
def _mean(z: np.ndarray, x: np.ndarray) -> float:
    return dot_lanes(z, 0, x, 0, len(x)) / sum_lanes(z, 0, len(x))


@njit(cache=True, error_model="numpy")
def _eg(
    x: np.ndarray, step: int, logs: np.ndarray, y: np.ndarray, yhat: np.ndarray, rate: float, w: np.ndarray
) -> None:
    d, n = logs.shape[0], y.shape[0]
    z = np.empty(d)
    _shift(logs, 0.0, x[:d], z)
    exp2_inplace(z)
    for t in range(n):
        row = x[t * step : t * step + d]
        yhat[t] = _mean(z, row)
        _shift(logs, rate * (y[t] - yhat[t]), row, z)
        exp2_inplace(z)
    w[:] = z / z.sum()
