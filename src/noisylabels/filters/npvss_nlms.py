"""NPVSS-NLMS: the step shrinks as the error comes down to the noise."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.arithmetic import add, dot, energy
from noisylabels.filters.base import Filter, Rows, Side, known_variance


class NPVSSNLMS(Filter):
    """w_t = w_{t-1} + mu_t e_t x_t,  mu_t = (1 - sqrt(v_t) / (eps + s_t)) / (delta + X_t).

    mu_t = 0 where s_t < sqrt(v_t).
    s_t^2 = lambda s_{t-1}^2 + (1 - lambda) e_t^2 is the power of the error, lambda = 1 - 1/(K d), s_0 = 0.
    K: memory in filter lengths, K d >= 1 (usual: 2 to 10).  delta: regularisation, >= 0 (usual: 20 times the
    variance of an entry of x).  eps: avoids 0/0, >= 0.
    Side information of `run`: v, the variance of the label noise.
    Raises ValueError: K d < 1, delta < 0, eps < 0, missing v.
    Source: J. Benesty et al., A nonparametric VSS NLMS algorithm, IEEE Signal Processing Letters 13, 2006.
    """

    name = "npvss_nlms"
    power: Floats

    def __init__(self, K: float = 6.0, delta: float = 20.0, eps: float = 1e-8) -> None:
        self.K = number("K", K, above=0)
        self.delta = number("delta", delta, least=0)
        self.eps = number("eps", eps, least=0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.power = np.zeros(1)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        memory = number("K", self.K, least=1 / rows.d) * rows.d
        deviation = np.sqrt(known_variance(self, side))
        power = self.power.copy()
        _npvss(rows.flat, rows.step, w, y, yhat, deviation, 1 / memory, self.delta, self.eps, power)
        self.power = power


@njit(cache=True)
def _npvss(x, step, w, y, yhat, deviation, rate, delta, eps, power):  # type: ignore[no-untyped-def]
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e = y[t] - yhat[t]
        power[0] += rate * (e * e - power[0])
        s = np.sqrt(power[0])
        size = delta + energy(x, at, len(w))
        if s >= deviation[t] and eps + s > 0 and size > 0:
            add(w, (1 - deviation[t] / (eps + s)) * e / size, x, at)
