"""Zero-attracting LMS: LMS with a constant pull of every weight towards zero."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.arithmetic import dot
from noisylabels.filters.base import Filter, Rows, Side


class ZALMS(Filter):
    """w_t = w_{t-1} + mu (y_t - yhat_t) x_t - rho sign(w_{t-1}).

    Gradient steps on the squared error plus an l1 penalty.

    mu: step size, > 0.  rho: pull per step, >= 0; 0 is LMS.
    Raises ValueError: mu <= 0, rho < 0; divergence, with the first row that is not finite.
    Source: Y. Chen, Y. Gu, A. O. Hero, Sparse LMS for system identification, ICASSP 2009.
    """

    name = "za_lms"

    def __init__(self, mu: float = 0.01, rho: float = 1e-5) -> None:
        self.mu = number("mu", mu, above=0)
        self.rho = number("rho", rho, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _za(rows.flat, rows.step, w, y, yhat, self.mu, self.rho)


@njit(cache=True)
def _za(
    x: np.ndarray, step: int, w: np.ndarray, y: np.ndarray, yhat: np.ndarray, mu: float, rho: float
) -> None:
    for t in range(len(y)):
        yhat[t] = dot(x, t * step, w)
        gain = mu * (y[t] - yhat[t])
        for k in range(len(w)):
            w[k] += gain * x[t * step + k] - rho * np.sign(w[k])
