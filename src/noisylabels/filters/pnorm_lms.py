"""p-norm LMS: additive updates of the dual weights, read through the p-norm link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, as_array, finite, number
from noisylabels.compiled.bits import bits, from_bits
from noisylabels.compiled.fma import fma
from noisylabels.compiled.powers import lanes, power, power_inplace, wide
from noisylabels.compiled.simd import dot_lanes
from noisylabels.filters.base import Filter, NoisySequence, Rows, Side, Sliding, window_means, window_starts
from noisylabels.theory.link import Power, exponent, link

TINY = 1e-290  # dual weights below count as 0


class PNormLMS(Filter):
    """theta_t = theta_{t-1} + eta (y_t - yhat_t) x_t,  w_t = f^-1(theta_t),  yhat_t = w_{t-1}.x_t.

    theta_0 = 0; f^-1 is `link(theta, p)`. p = 2 is LMS; p = "auto" = 2 ln d suits sparse targets.
    eta: step size, > 0; the bounds ask for `loss_bounds.rate(p, X_p)` = 1/((p-1) X_p^2), ||x_t||_p <= X_p.
    p: 2 <= p < infinity, or "auto".
    State: theta (d,), updated exactly; w is computed from it, never the other way round.
    Raises ValueError: eta <= 0, p < 2 or infinite; divergence, with the first row that is not finite.
    Source: Kivinen, Warmuth, Hassibi, The p-norm generalization of the LMS algorithm,
    IEEE Trans. SP 54(5), 2006.
    """

    name = "pnorm_lms"
    theta: Floats

    def __init__(self, eta: float = 0.01, p: Power = "auto") -> None:
        self.eta = number("eta", eta, above=0)
        exponent(p, 3)
        self.p = p

    def _start(self, d: int) -> None:
        super()._start(d)
        self.theta = np.zeros(d)

    def _radius(self) -> float:
        return np.inf

    def _rates(self, rows: Rows, p: float) -> Floats:
        """Step sizes, (1,) for a constant one or (n,)."""
        return np.array([self.eta])

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        p = exponent(self.p, rows.d)
        turn = slice(None, None, -1 if rows.reversed else 1)
        theta = np.ascontiguousarray(self.theta[turn])[None, :]
        rates = self._rates(rows, p)[None, :]
        one = np.array([p]), np.array([self._radius()])
        _pnorm(rows.flat, rows.step, theta, y[None, :], yhat[None, :], rates, *one)
        if np.isfinite(theta).all():
            self.theta = np.ascontiguousarray(theta[0, turn])
            w[:] = link(theta[0], p)
        else:
            w[:] = np.nan  # the frame reports the divergence

    @classmethod
    def run_many(cls, filters: Sequence[Self], X: ArrayLike | Sliding, Y: ArrayLike) -> Floats:
        """Predictions of several filters on the same rows in one pass, each from w = 0; (len(filters), n).

        X: (n, d) or `Sliding`. Y: labels, (n,) for all or (len(filters), n), one sequence each.
        The filters learn: afterwards each has the state of its run, or all are as they were if one diverged.
        Raises ValueError: as `run`.
        """
        rows = Rows.of(X)
        count = len(filters)
        one = as_array("Y", Y).ndim < 2
        given = finite("Y", Y, (rows.n,) if one else (count, rows.n))
        labels = np.ascontiguousarray(np.broadcast_to(given, (count, rows.n)))
        powers = np.array([exponent(f.p, rows.d) for f in filters])
        rates = [f._rates(rows, p) for f, p in zip(filters, powers, strict=True)]
        longest = max(len(r) for r in rates)
        steps = np.array([np.broadcast_to(r, longest) for r in rates])
        theta, yhat = np.zeros((count, rows.d)), np.empty((count, rows.n))
        radii = np.array([f._radius() for f in filters])
        _pnorm(rows.flat, rows.step, theta, labels, yhat, steps, powers, radii)
        for f, state, values, p in zip(filters, theta, yhat, powers, strict=True):
            if not (np.isfinite(values).all() and np.isfinite(state).all()):
                raise ValueError(
                    f"{f.name}: a filter with eta = {f.eta:g}, p = {p:g} diverged; use a smaller step size"
                )
        for f, state, p in zip(filters, theta, powers, strict=True):
            f.theta = np.ascontiguousarray(state[::-1]) if rows.reversed else state.copy()
            f.w = link(f.theta, p)
        return yhat

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """As `Filter.losses`, in one pass over the rows."""
        import copy

        fresh = [copy.copy(f) for f in filters]
        yhat = cls.run_many(fresh, data.x, data.labels[:, 0])  # type: ignore[arg-type]
        starts = window_starts(len(data), windows)
        return np.array([window_means((row - data.y) ** 2, starts) for row in yhat])


@njit(cache=True, error_model="numpy")
def step_dual(
    theta: np.ndarray, keep: np.ndarray, gain: np.ndarray, x: np.ndarray, z: np.ndarray, top: np.ndarray
) -> None:
    """theta_c <- keep_c theta_c + gain_c x,  top_c = max_i |theta_ci|,  z_c = |theta_c| / top_c.

    theta (C, d).
    """
    wide()
    for c in range(theta.shape[0]):
        largest = np.int64(0)
        k, g = keep[c], gain[c]
        for i in range(x.shape[0]):
            value = fma(k, theta[c, i], g * x[i])
            theta[c, i] = value
            size = bits(abs(value))
            largest = size if size > largest else largest
        top[c] = from_bits(largest)
        factor = 1.0 / top[c] if top[c] > TINY else 0.0
        for i in range(x.shape[0]):
            z[c, i] = abs(theta[c, i]) * factor


@njit(cache=True, error_model="numpy")
def read_dual(theta: np.ndarray, z: np.ndarray, x: np.ndarray, total: np.ndarray, inner: np.ndarray) -> None:
    """total_c = sum_i z_ci |theta_ci|,  inner_c = sum_i sign(theta_ci) z_ci x_i.

    z = (|theta| / top)^(p-1), which gets the signs of theta.
    """
    wide()
    d = x.shape[0]
    for c in range(theta.shape[0]):
        for i in range(d):
            z[c, i] = math.copysign(z[c, i], theta[c, i])
        total[c] = dot_lanes(z[c], 0, theta[c], 0, d)
        inner[c] = dot_lanes(z[c], 0, x, 0, d)


@njit(cache=True, error_model="numpy")
def _pnorm(
    x: np.ndarray, step: int, theta: np.ndarray, y: np.ndarray, yhat: np.ndarray,
    rates: np.ndarray, p: np.ndarray, radius: np.ndarray,
) -> None:  # fmt: skip
    """C filters over n rows. theta (C, d), y and yhat (C, n), rates (C, 1) or (C, n), p and radius (C,).

    One power per coordinate and step, z^(p-1) with z = |theta|/m: the norm needs z^p = z z^(p-1),
    and yhat = m (sum z^p)^((2-p)/p) sum sign z^(p-1) x never needs the weights themselves.
    The prediction of row t+1 is made in the pass that follows the update by row t.
    A ball ||w||_q <= radius scales theta in the next update.
    """
    count, d = theta.shape
    n = y.shape[1]
    width = lanes_of(d)
    z = np.zeros((count, width))
    flat = z.reshape(-1)
    power_of = np.repeat(p - 1.0, width)
    every = 1 if rates.shape[1] > 1 else 0
    top, keep, gain = np.zeros(count), np.ones(count), np.zeros(count)
    total, inner = np.zeros(count), np.zeros(count)
    for t in range(-1, n):
        now, after = max(t, 0) * step, min(t + 1, n - 1) * step
        step_dual(theta, keep, gain, x[now : now + d], z, top)
        power_inplace(flat, power_of)
        read_dual(theta, z, x[after : after + d], total, inner)
        for c in range(count):
            value = 0.0
            keep[c] = 1.0
            if total[c] > 0.0 and top[c] > TINY:
                sum_z = total[c] / top[c]
                root = power(sum_z, (2.0 - p[c]) / p[c])
                value = top[c] * root * inner[c]
                if radius[c] < np.inf:
                    size = top[c] * np.sqrt(sum_z * root)  # ||theta||_p = ||w||_q
                    if size > radius[c]:
                        keep[c] = radius[c] / size
                        value *= keep[c]
            elif not total[c] >= 0.0:
                value = np.nan
            if t + 1 < n:
                yhat[c, t + 1] = value
                gain[c] = rates[c, (t + 1) * every] * (y[c, t + 1] - value)
    for c in range(count):
        for i in range(d):
            theta[c, i] *= keep[c]


lanes_of = njit(cache=True)(lanes)
