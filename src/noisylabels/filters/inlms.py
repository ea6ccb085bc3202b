"""A step size that follows the ratio of useful error to interference."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number, whole
from noisylabels.compiled.arithmetic import add, dot, energy
from noisylabels.filters.base import Filter, Rows, Side


class INLMS(Filter):
    """w_t = w_{t-1} + mu_t e_t x_t / X_t,  mu_t = min(eta_t P(yhat) / P(e), mu_max).

    P is a running power with rate 1/memory. eta, the estimated misalignment, moves multiplicatively with the
    agreement of successive gradients: eta <- eta exp(rho cos(e_t x_t, psi)), within [1e-6, 1], and then
    psi <- (1 - 1/memory) psi + e_t x_t. The first `start` rows take the step mu_max: P(yhat) = 0 at w = 0.

    Written from memory of Valin and Collings,
    Interference-normalised least mean square algorithm, IEEE Signal Processing Letters 14, 2007:
    it follows the recalled form and is *not verified* against the published one.

    eta: at the start, 0 < eta <= 1.  rho: >= 0.  mu_max: 0 < mu_max <= 2.  memory: rows, >= 1.
    start: rows, >= 0.
    No side information. Raises ValueError: a hyperparameter outside its range.
    """

    name = "inlms"
    psi: Floats
    scalars: Floats

    def __init__(
        self,
        eta: float = 0.1,
        rho: float = 0.01,
        mu_max: float = 0.5,
        memory: float = 100.0,
        start: int = 100,
    ) -> None:
        self.eta = number("eta", eta, above=0, most=1)
        self.rho = number("rho", rho, least=0)
        self.mu_max = number("mu_max", mu_max, above=0, most=2)
        self.memory = number("memory", memory, least=1)
        self.start = whole("start", start, 0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.psi = np.zeros(d)
        self.scalars = np.array([0.0, 0.0, self.eta, 0.0])  # P(yhat), P(e), eta, rows seen

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        turn = slice(None, None, -1 if rows.reversed else 1)
        psi, state = self.psi[turn].copy(), self.scalars.copy()
        options = (self.rho, self.mu_max, 1 / self.memory, self.start)
        _inlms(rows.flat, rows.step, w, y, yhat, psi, state, *options)
        self.psi, self.scalars = psi[turn].copy(), state


@njit(cache=True)
def _inlms(x, step, w, y, yhat, psi, state, rho, mu_max, rate, start):  # type: ignore[no-untyped-def]
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e, X = y[t] - yhat[t], energy(x, at, len(w))
        state[0] += rate * (yhat[t] ** 2 - state[0])
        state[1] += rate * (e * e - state[1])
        norms = abs(e) * np.sqrt(X * energy(psi, 0, len(psi)))
        if norms > 0:
            agreement = e * dot(x, at, psi) / norms
            state[2] = min(max(state[2] * np.exp(rho * agreement), 1e-6), 1.0)
        mu = mu_max
        if state[3] >= start and state[1] > 0:
            mu = min(state[2] * state[0] / state[1], mu_max)
        state[3] += 1
        if X > 0:
            add(w, mu * e / X, x, at)
        for k in range(len(psi)):
            psi[k] *= 1 - rate
        add(psi, e, x, at)
