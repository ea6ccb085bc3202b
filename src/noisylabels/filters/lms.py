"""LMS: the stochastic gradient step on the squared error."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.arithmetic import add, dot
from noisylabels.filters.base import Filter, Rows, Side


class LMS(Filter):
    """w_t = w_{t-1} + mu e_t x_t,  e_t = y_t - w_{t-1}.x_t.

    mu: step size, > 0; stable in the mean for mu < 2 / (largest eigenvalue of E[x x']).
    Raises ValueError: mu <= 0; divergence, with the first row that is not finite.
    Source: B. Widrow, M. E. Hoff, Adaptive switching circuits, IRE WESCON Convention Record, 1960.
    """

    name = "lms"

    def __init__(self, mu: float = 0.01) -> None:
        self.mu = number("mu", mu, above=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _lms(rows.flat, rows.step, w, y, yhat, self.mu)


@njit(cache=True)
def _lms(x: np.ndarray, step: int, w: np.ndarray, y: np.ndarray, yhat: np.ndarray, mu: float) -> None:
    for t in range(len(y)):
        yhat[t] = dot(x, t * step, w)
        add(w, mu * (y[t] - yhat[t]), x, t * step)
