"""Exponentiated gradient: EG on the simplex, EG+- for weights of either sign, and unnormalised EG."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.elementary import exp2_inplace
from noisylabels.filters.base import Filter, Rows, Side
from noisylabels.fixed_order import dot_lanes, fma, put, sum_lanes
from noisylabels.validation import Floats, number


class EG(Filter):
    """w_{t,i} = w_{t-1,i} exp(-2 eta (yhat_t - y_t) x_{t,i}) / Z_t,  w_{0,i} = 1/d.

    eta: > 0; the loss bound sum (yhat_t - y_t)^2 <= 3/2 (Loss_u + R^2 ln d), u in the simplex,
    asks for 2/(3 R^2) with R >= max_i x_{t,i} - min_i x_{t,i}.
    State: log2 of the weights up to a constant, (d,); the largest is shifted to 0 before the exponential.
    Raises ValueError: eta <= 0; divergence.
    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, Inf. Comput. 132, 1997.
    """

    name = "eg"
    _taps = ("logarithms",)
    logarithms: Floats

    def __init__(self, eta: float = 0.1) -> None:
        self.eta = number("eta", eta, above=0)

    def _start(self, d: int) -> None:
        self.logarithms = np.zeros(d)
        self.w = np.full(d, 1.0 / d)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _eg(rows.flat, rows.step, self.logarithms, y, yhat, 2.0 * self.eta / math.log(2), w)


@njit(cache=True, error_model="numpy")
def _eg(x: Floats, step: int, logs: Floats, y: Floats, yhat: Floats, rate: float, w: Floats) -> None:
    d, gain = len(logs), 0.0
    z = np.empty(d)
    for t in range(len(y) + 1):
        now, after = max(t - 1, 0) * step, min(t, len(y) - 1) * step
        top = -np.inf
        for i in range(d):
            logs[i] = fma(gain, x[now + i], logs[i])
            top = logs[i] if logs[i] > top else top
        for i in range(d):
            logs[i] -= top
            z[i] = logs[i]
        exp2_inplace(z)
        if t < len(y):
            yhat[t] = dot_lanes(z, 0, x, after, d) / sum_lanes(z, 0, d)
            gain = rate * (y[t] - yhat[t])
    put(w, z / z.sum())


class EGPlusMinus(Filter):
    """w_i = U sinh(a_i) / sum_j cosh(a_j),  a_t = a_{t-1} + 2 eta U (y_t - yhat_t) x_t,  a_0 = 0.

    This is EG on the instances (U x, -U x) in R^2d.

    budget: U >= ||u||_1, > 0.  eta: > 0; Kivinen and Warmuth ask for 1/(3 U^2 X^2) with |x_{t,i}| <= X.
    State: a in units of ln 2, (d,), a_0 = 0 (so w_0 = 0).
    Raises ValueError: eta <= 0, budget <= 0; divergence.
    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, Inf. Comput. 132, 1997.
    """

    name = "eg_pm"
    _taps = ("logarithms",)
    logarithms: Floats

    def __init__(self, eta: float = 0.1, budget: float = 1.0) -> None:
        self.eta = number("eta", eta, above=0)
        self.budget = number("budget", budget, above=0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.logarithms = np.zeros(d)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        rate = 2.0 * self.eta * self.budget / math.log(2)
        _eg_pm(rows.flat, rows.step, self.logarithms, y, yhat, rate, self.budget, w)


@njit(cache=True, error_model="numpy")
def _eg_pm(
    x: Floats, step: int, a: Floats, y: Floats, yhat: Floats, rate: float,
    budget: float, w: Floats,
) -> None:  # fmt: skip
    """z = (a - m, -a - m) with m = max |a|, so that no power of 2 exceeds 1."""
    d, gain = len(a), 0.0
    z = np.empty(2 * d)
    up, down = z[:d], z[d:]
    for t in range(len(y) + 1):
        now, after = max(t - 1, 0) * step, min(t, len(y) - 1) * step
        top = 0.0
        for i in range(d):
            a[i] = fma(gain, x[now + i], a[i])
            top = abs(a[i]) if abs(a[i]) > top else top
        for i in range(d):
            up[i], down[i] = a[i] - top, -a[i] - top
        exp2_inplace(z)
        if t < len(y):
            total = sum_lanes(z, 0, 2 * d)
            for i in range(d):
                up[i] -= down[i]
            yhat[t] = budget * (dot_lanes(z, 0, x, after, d) / total)
            gain = rate * (y[t] - yhat[t])
    put(w, budget * (up - down) / z.sum())


class UnnormalizedEG(Filter):
    """w_{t,i} = w_{t-1,i} exp(-2 eta (yhat_t - y_t) x_{t,i}),  w_{0,i} = start.

    eta: > 0; a large one diverges, for nothing holds the sum.  start: > 0, default 1/d.
    State: log2 of the weights, (d,).
    Raises ValueError: eta <= 0, start <= 0; divergence, with the first row that is not finite.
    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, 1997 (EGU).
    """

    name = "unnormalized_eg"
    _taps = ("logarithms",)
    logarithms: Floats

    def __init__(self, eta: float = 0.01, start: float | None = None) -> None:
        self.eta = number("eta", eta, above=0)
        self.start = None if start is None else number("start", start, above=0)

    def _start(self, d: int) -> None:
        self.w = np.full(d, 1.0 / d if self.start is None else self.start)
        self.logarithms = np.log2(self.w)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _egu(rows.flat, rows.step, self.logarithms, w, y, yhat, 2.0 * self.eta / math.log(2))


@njit(cache=True, error_model="numpy")
def _egu(x: Floats, step: int, logs: Floats, w: Floats, y: Floats, yhat: Floats, rate: float) -> None:
    d = logs.shape[0]
    for t in range(y.shape[0]):
        row = x[t * step : t * step + d]
        yhat[t] = 0.0
        for i in range(d):
            yhat[t] += w[i] * row[i]
        for i in range(d):
            logs[i] += rate * (y[t] - yhat[t]) * row[i]
            w[i] = 2.0 ** logs[i]
