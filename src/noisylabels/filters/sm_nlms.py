"""Set-membership NLMS: no step while the error can be explained by the noise."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.arithmetic import add, dot, energy
from noisylabels.filters.base import Filter, Rows, Side, known_variance


class SMNLMS(Filter):
    """w_t = w_{t-1} + (1 - gamma_t/|e_t|)_+ e_t x_t / (eps + X_t),  gamma_t = sqrt(tau v_t).

    After a step the error of the same row is gamma_t (at eps = 0); rows with |e_t| <= gamma_t are left alone.
    tau: width of the dead zone in noise variances, >= 0 (usual: 5).  eps: regularisation in units of X, >= 0.
    Side information of `run`: v, the variance of the label noise.
    Raises ValueError: tau < 0, eps < 0, missing v.
    Source: S. Gollamudi et al., Set-membership filtering and a set-membership normalized LMS algorithm with
    an adaptive step size, IEEE Signal Processing Letters 5, 1998.
    """

    name = "sm_nlms"

    def __init__(self, tau: float = 5.0, eps: float = 1e-6) -> None:
        self.tau = number("tau", tau, least=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        gamma = np.sqrt(self.tau * known_variance(self, side))
        _sm_nlms(rows.flat, rows.step, w, y, yhat, gamma, self.eps)


@njit(cache=True)
def _sm_nlms(x, step, w, y, yhat, gamma, eps):  # type: ignore[no-untyped-def]
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e = y[t] - yhat[t]
        size = eps + energy(x, at, len(w))
        if abs(e) > gamma[t] and size > 0:
            add(w, (1 - gamma[t] / abs(e)) * e / size, x, at)
