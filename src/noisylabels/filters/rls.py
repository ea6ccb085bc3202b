"""Weighted recursive least squares, which is the Kalman filter of a fixed or wandering target."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.arithmetic import add, dot
from noisylabels.filters.base import Filter, Rows, Side


class RLS(Filter):
    """w_t = w_{t-1} + k_t e_t,  k_t = P x_t / s_t,  s_t = v_t + noise + x_t'P x_t.

    Then P <- P - k_t x_t'P + drift I; P_0 = prior I.

    With drift = 0, w_t minimises sum_s (y_s - w.x_s)^2 / (v_s + noise) + ||w||^2 / prior over the rows so
    far: the best linear estimate when the variances are right. With drift > 0 it is the Kalman filter of a
    target that takes a random step of variance drift per entry and row.
    prior: variance of an entry of the target, P_0 = prior I, > 0.
    noise: variance on top of v (the process noise of the clean label, or all of it), >= 0.
    drift: >= 0.
    Side information of `run`: v, which may be left out if noise > 0.  O(d^2) a row; s_t = 0 is skipped.
    Raises ValueError: a hyperparameter outside its range, neither v nor noise.
    Source: R. E. Kalman, A new approach to linear filtering and prediction problems, J. Basic Engineering
    82, 1960.
    """

    name = "rls"
    P: Floats

    def __init__(self, prior: float = 1.0, noise: float = 0.0, drift: float = 0.0) -> None:
        self.prior = number("prior", prior, above=0)
        self.noise = number("noise", noise, least=0)
        self.drift = number("drift", drift, least=0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.P = self.prior * np.eye(d)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        if side.v is None and self.noise == 0:
            raise ValueError("v: rls needs the noise variance of every row, or noise > 0")
        variance = np.full(rows.n, self.noise) if side.v is None else side.v + self.noise
        turn = slice(None, None, -1 if rows.reversed else 1)
        P = np.ascontiguousarray(self.P[turn, turn].copy())
        _rls(rows.flat, rows.step, w, y, yhat, variance, P, self.drift)
        self.P = np.ascontiguousarray(P[turn, turn])


@njit(cache=True)
def _rls(x, step, w, y, yhat, variance, P, drift):  # type: ignore[no-untyped-def]
    d = len(w)
    Px = np.empty(d)
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        for i in range(d):
            Px[i] = dot(x, at, P[i])
        s = variance[t] + dot(x, at, Px)
        if s > 0:
            add(w, (y[t] - yhat[t]) / s, Px, 0)
            Px /= np.sqrt(s)
            for i in range(d):  # P - Px Px'/s, symmetric to the last bit
                add(P[i], -Px[i], Px, 0)
        if drift > 0:
            for i in range(d):
                P[i, i] += drift
