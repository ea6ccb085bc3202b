"""Implicit p-norm LMS: the error of the step is measured with the weights after the step."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.arrays import Floats, number
from noisylabels.compiled.powers import power, power_inplace
from noisylabels.filters.base import Filter, Rows, Side
from noisylabels.filters.pnorm_lms import TINY, lanes_of, read_dual, step_dual
from noisylabels.theory.link import Power, exponent, link


class ImplicitPNormLMS(Filter):
    """theta_t = theta_{t-1} + eta (y_t - w_t.x_t) x_t,  w_t = f^-1(theta_t),  theta_0 = 0.

    w_t minimises d(w, w_{t-1}) + eta/2 (y_t - w.x_t)^2, with d of `bregman.divergence`.
    One equation in s = w_t.x_t, s = f^-1(theta_{t-1} + eta (y_t - s) x_t).x_t, solved between yhat_t and y_t,
    where left minus right increases strictly. p = 2: w_t = w_{t-1} + eta/(1 + eta ||x_t||^2) (y_t - yhat_t)
    x_t, which is `ORS(variant="noisy", r=1/eta)`; it tends to NLMS with unit step as eta grows.
    eta: > 0, no upper limit.  p: 2 <= p < infinity, or "auto" = 2 ln d.  State: theta (d,).
    At p = 2, sum (u.x_t - w_t.x_t)^2 <= sum (y_t - u.x_t)^2 + ||u||^2/eta
    for every eta and u (a-posteriori filter).
    Raises ValueError: eta <= 0, p < 2 or infinite.
    Source: Kivinen, Warmuth, Hassibi, IEEE Trans. SP 54(5), 2006, implicit update.
    """

    name = "implicit_pnorm_lms"
    theta: Floats

    def __init__(self, eta: float = 1.0, p: Power = "auto") -> None:
        self.eta = number("eta", eta, above=0)
        exponent(p, 3)
        self.p = p

    def _start(self, d: int) -> None:
        super()._start(d)
        self.theta = np.zeros(d)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        p = exponent(self.p, rows.d)
        turn = slice(None, None, -1 if rows.reversed else 1)
        theta = np.ascontiguousarray(self.theta[turn])
        _implicit(rows.flat, rows.step, theta, y, yhat, self.eta, p)
        self.theta = np.ascontiguousarray(theta[turn])
        w[:] = link(theta, p)


@njit(cache=True, error_model="numpy")
def _read(theta: np.ndarray, gain: float, x: np.ndarray, p: float, trial: np.ndarray, z: np.ndarray) -> float:
    """f^-1(theta + gain x).x; theta is left as it is. trial: (1, d), z: (1, lanes) scratch."""
    trial[0, :] = theta
    one, step, top, total, inner = np.ones(1), np.full(1, gain), np.zeros(1), np.zeros(1), np.zeros(1)
    step_dual(trial, one, step, x, z, top)
    power_inplace(z[0], np.full(z.shape[1], p - 1.0))
    read_dual(trial, z, x, total, inner)
    if top[0] <= TINY:
        return 0.0
    return top[0] * power(total[0] / top[0], (2.0 - p) / p) * inner[0]


@njit(cache=True, error_model="numpy")
def _implicit(
    x: np.ndarray, step: int, theta: np.ndarray, y: np.ndarray, yhat: np.ndarray, eta: float, p: float
) -> None:
    d = theta.shape[0]
    trial, z = np.zeros((1, d)), np.zeros((1, lanes_of(d)))
    for t in range(y.shape[0]):
        row = x[t * step : t * step + d]
        yhat[t] = _read(theta, 0.0, row, p, trial, z)
        # Root of g(s) = s - f^-1(theta + eta (y - s) x).x by regula falsi with the Illinois rule,
        # bisection as a guard.
        low, high = yhat[t], y[t]
        g_low, g_high = low - _read(theta, eta * (y[t] - low), row, p, trial, z), high - yhat[t]
        s = high
        for k in range(200):
            if g_low == 0.0 or g_high == 0.0 or abs(high - low) <= 1e-15 * (abs(high) + abs(low)):
                break
            s = (low * g_high - high * g_low) / (g_high - g_low) if k % 4 < 3 else 0.5 * (low + high)
            g = s - _read(theta, eta * (y[t] - s), row, p, trial, z)
            if (g > 0.0) == (g_high > 0.0):
                high, g_high = s, g
                g_low *= 0.5
            else:
                low, g_low = s, g
                g_high *= 0.5
        if g_low == 0.0:
            s = low
        elif g_high == 0.0:
            s = high
        for i in range(d):
            theta[i] += eta * (y[t] - s) * row[i]
