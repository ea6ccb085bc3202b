"""Unnormalised EG: exponentiated gradient for positive weights of any sum."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.filters.base import Filter, Rows, Side


class UnnormalizedEG(Filter):
    """w_{t,i} = w_{t-1,i} exp(-2 eta (yhat_t - y_t) x_{t,i}),  w_{0,i} = start.

    eta: > 0; a large one diverges, for nothing holds the sum.  start: > 0, default 1/d.
    State: log2 of the weights, (d,).
    Raises ValueError: eta <= 0, start <= 0; divergence, with the first row that is not finite.
    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, 1997 (EGU).
    """

    name = "unnormalized_eg"
    logarithms: Floats

    def __init__(self, eta: float = 0.01, start: float | None = None) -> None:
        self.eta = number("eta", eta, above=0)
        self.start = None if start is None else number("start", start, above=0)

    def _start(self, d: int) -> None:
        self.w = np.full(d, 1.0 / d if self.start is None else self.start)
        self.logarithms = np.log2(self.w)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        turn = slice(None, None, -1 if rows.reversed else 1)
        logs = np.ascontiguousarray(self.logarithms[turn])
        _egu(rows.flat, rows.step, logs, w, y, yhat, 2.0 * self.eta / math.log(2))
        self.logarithms = np.ascontiguousarray(logs[turn])


@njit(cache=True, error_model="numpy")
def _egu(
    x: np.ndarray, step: int, logs: np.ndarray, w: np.ndarray, y: np.ndarray, yhat: np.ndarray, rate: float
) -> None:
    d = logs.shape[0]
    for t in range(y.shape[0]):
        row = x[t * step : t * step + d]
        yhat[t] = 0.0
        for i in range(d):
            yhat[t] += w[i] * row[i]
        for i in range(d):
            logs[i] += rate * (y[t] - yhat[t]) * row[i]
            w[i] = 2.0 ** logs[i]
