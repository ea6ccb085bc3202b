"""Proportionate NLMS: every tap has a step in proportion to its size."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.bits import bits, from_bits
from noisylabels.compiled.fma import fma
from noisylabels.compiled.simd import dot_lanes, sum_lanes
from noisylabels.filters.base import Filter, Rows, Side


class PNLMS(Filter):
    """w_t = w_{t-1} + mu e_t G x_t / (x_t.G x_t + eps),  G = diag(g_i / mean g).

    g_i = max(rho max(delta, max_j |w_j|), |w_i|).

    mu: step size, 0 < mu < 2.  rho: smallest share of a tap, 0 < rho <= 1; rho = 1 is NLMS.
    delta: > 0, in units of the weights, starts the adaptation at w = 0.
    eps: regularisation in units of ||x||^2, >= 0; a row with a zero denominator is skipped.
    Raises ValueError: mu, rho, delta or eps outside these ranges; divergence.
    Source: D. L. Duttweiler, Proportionate normalized LMS adaptation in echo cancelers,
    IEEE Trans. SAP 8(5), 2000.
    """

    name = "pnlms"

    def __init__(self, mu: float = 0.5, rho: float = 0.01, delta: float = 0.01, eps: float = 1e-3) -> None:
        self.mu = number("mu", mu, above=0)
        self.rho = number("rho", rho, above=0, most=1)
        self.delta = number("delta", delta, above=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _pnlms(rows.flat, rows.step, w, y, yhat, self.mu, self.rho, self.delta, self.eps)


@njit(cache=True)
def _sums(
    x: np.ndarray, w: np.ndarray, floor: float, g: np.ndarray, gx: np.ndarray
) -> tuple[float, float, float]:
    """w.x, sum of the shares g, and sum of g x^2; writes g and g x, both (d,)."""
    d = len(w)
    for i in range(d):
        size = abs(w[i])
        g[i] = size if size > floor else floor
        gx[i] = g[i] * x[i]
    return dot_lanes(w, 0, x, 0, d), sum_lanes(g, 0, d), dot_lanes(gx, 0, x, 0, d)


@njit(cache=True)
def _step(gx: np.ndarray, w: np.ndarray, gain: float) -> float:
    """w += gain g x in place; returns max |w|."""
    top = np.int64(0)  # as bits: the compiler makes vectors of it
    for i in range(len(w)):
        w[i] = fma(gain, gx[i], w[i])
        size = bits(abs(w[i]))
        top = size if size > top else top
    return from_bits(top)


@njit(cache=True)
def _pnlms(
    x: np.ndarray, step: int, w: np.ndarray, y: np.ndarray, yhat: np.ndarray,
    mu: float, rho: float, delta: float, eps: float,
) -> None:  # fmt: skip
    d = len(w)
    top = np.abs(w).max()
    g, gx = np.empty(d), np.empty(d)
    for t in range(len(y)):
        row = x[t * step : t * step + d]
        floor = rho * max(delta, top)
        yhat[t], shares, energy = _sums(row, w, floor, g, gx)
        size = energy + eps * shares / d
        if size > 0:
            top = _step(gx, w, mu * (y[t] - yhat[t]) / size)
