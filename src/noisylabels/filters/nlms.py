"""NLMS: the LMS step divided by the energy of the row."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.arithmetic import add, dot, energy
from noisylabels.filters.base import Filter, Rows, Side


class NLMS(Filter):
    """w_t = w_{t-1} + mu e_t x_t / (eps + X_t),  e_t = y_t - w_{t-1}.x_t,  X_t = ||x_t||^2.

    mu: step size, 0 < mu < 2 for stability.
    eps: regularisation in units of X, >= 0; a row with eps + X_t = 0 is skipped.
    With mu = 1 and eps = r it is `ORS(variant="noisy", r=r)`.
    Raises ValueError: mu <= 0, eps < 0; divergence, with the first row that is not finite.
    Source: J. Nagumo, A. Noda, A learning method for system identification, IEEE Trans. AC 12, 1967.
    """

    name = "nlms"

    def __init__(self, mu: float = 0.5, eps: float = 1e-3) -> None:
        self.mu = number("mu", mu, above=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _nlms(rows.flat, rows.step, w, y, yhat, self.mu, self.eps)


@njit(cache=True)
def _nlms(
    x: np.ndarray, step: int, w: np.ndarray, y: np.ndarray, yhat: np.ndarray, mu: float, eps: float
) -> None:
    for t in range(len(y)):
        yhat[t] = dot(x, t * step, w)
        size = eps + energy(x, t * step, len(w))
        if size > 0:
            add(w, mu * (y[t] - yhat[t]) / size, x, t * step)
