"""JO-NLMS: step and regularisation optimised together, from the expected misalignment."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, flag, number
from noisylabels.compiled.arithmetic import add, dot, energy
from noisylabels.filters.base import Filter, Rows, Side, known_variance


class JONLMS(Filter):
    """w_t = w_{t-1} + mu_t e_t x_t,  mu_t = p_t / (d v_t + (d + 2) p_t X_t / d),  p_t = m_{t-1} + d q_{t-1}.

    m_t = (1 - mu_t X_t / d) p_t estimates ||w_t - u||^2, m_0 = misalignment; q_t = ||w_t - w_{t-1}||^2 / d
    estimates the motion of the target u if tracking, else q = 0. A Kalman filter with P = (m/d) I, in effect:
    fed with the local v_t it weights every label.
    misalignment: expected ||u||^2 at the start, > 0.  tracking: does the target move?
    Side information of `run`: v, the variance of the label noise.
    Raises ValueError: misalignment <= 0, missing v.
    Source: S. Ciochina, C. Paleologu, J. Benesty, An optimized NLMS algorithm for system identification,
    Signal Processing 118, 2016.
    """

    name = "jo_nlms"
    m: Floats

    def __init__(self, misalignment: float = 1.0, tracking: bool = False) -> None:
        self.misalignment = number("misalignment", misalignment, above=0)
        self.tracking = flag("tracking", tracking)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.m = np.array([self.misalignment, 0.0])  # m and q

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        m = self.m.copy()
        _jo_nlms(rows.flat, rows.step, w, y, yhat, known_variance(self, side), m, self.tracking)
        self.m = m


@njit(cache=True)
def _jo_nlms(x, step, w, y, yhat, v, m, tracking):  # type: ignore[no-untyped-def]
    d = len(w)
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e, X = y[t] - yhat[t], energy(x, at, d)
        p = m[0] + d * m[1]
        size = d * v[t] + (d + 2) * p * X / d
        mu = p / size if size > 0 else 0.0
        add(w, mu * e, x, at)
        m[0] = (1 - mu * X / d) * p
        m[1] = mu * mu * e * e * X / d if tracking else 0.0
