"""The large margin distribution machine by an interior-point method, compiled.

min_w 1/2 w.A w - b.w + C sum_n max(0, 1 - w.z_n) with z_n = s_n x_n,
A = I + (4 lam1 / n^2) (n sum z z^T - (sum z)(sum z)^T),  b = (lam2 / n) sum z.
Its dual is min_{0 <= alpha <= C} 1/2 u.A^-1 u - sum alpha,  u = b + sum alpha_n z_n,  and w = A^-1 u. Every
iterate keeps A w = u and z_n.w - 1 = p_n - q_n with p, q > 0, so that alpha.p + (C - alpha).q is the gap.

Source: Zhang and Zhou, KDD 2014, who descend along the coordinates of the dual; the minimum is the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noisylabels.fixed_order import normal_equations, scores, solve

Array = NDArray[np.float64]

CENTRING = 0.1
TO_THE_EDGE = 0.99


def quadratic(ZT: Array, lam1: float) -> Array:
    """A (d, d) for the columns z_n of ZT (d, n)."""
    n = ZT.shape[1]
    total = ZT.sum(axis=1)
    scatter = n * (ZT @ ZT.T) - np.outer(total, total)
    return np.asarray(np.eye(len(ZT)) + 4.0 * lam1 / n**2 * scatter)


def primal(ZT: Array, A: Array, b: Array, C: float, w: Array) -> float:
    """1/2 w.A w - b.w + C sum_n max(0, 1 - w.z_n)."""
    return float(0.5 * w @ A @ w - b @ w + C * np.maximum(0.0, 1.0 - w @ ZT).sum())


def dual(ZT: Array, A: Array, b: Array, alpha: Array) -> float:
    """sum alpha - 1/2 u.A^-1 u, u = b + sum alpha_n z_n; at most the primal value of any w."""
    u = b + ZT @ alpha
    return float(alpha.sum() - 0.5 * u @ np.linalg.solve(A, u))


@njit(cache=True, error_model="numpy")
def interior_point(
    ZT: Array, A: Array, b: Array, C: float, tolerance: float, rounds: int
) -> tuple[Array, Array, float, int]:
    """(w, alpha, gap, rounds taken) for the columns z_n of ZT (d, n).

    Stops when the gap is at most tolerance (1 + |dual value|), or no longer falls.
    """
    d, n = ZT.shape
    alpha = np.full(n, 0.5 * C)
    w = _middle(ZT, A, b, alpha)
    margin = np.empty(n)
    scores(ZT, w, margin)
    p = np.maximum(margin - 1.0, 0.0) + 1.0
    q = p - (margin - 1.0)
    along, d_alpha = np.empty(n), np.empty(n)
    hessian, step = np.empty((d, d)), np.empty(d)
    gap = np.inf
    for taken in range(rounds):
        rest = C - alpha
        now = (alpha * p).sum() + (rest * q).sum()
        value = alpha.sum() - 0.5 * ((b * w).sum() + (alpha * margin).sum())
        if now <= tolerance * (1.0 + abs(value)) or now >= 0.999 * gap:
            return w, alpha, now, taken
        gap = now
        mu = CENTRING * now / (2.0 * n)
        inverse = 1.0 / (p / alpha + q / rest)
        wanted = inverse * ((mu - p * alpha) / alpha - (mu - q * rest) / rest)
        normal_equations(ZT, wanted, inverse, hessian, step)
        hessian += A
        solve(hessian, step)
        scores(ZT, step, along)
        d_alpha[:] = wanted - inverse * along
        d_p = (mu - p * alpha - p * d_alpha) / alpha
        d_q = (mu - q * rest + q * d_alpha) / rest
        longest = min(min(_room(alpha, d_alpha), _room(rest, -d_alpha)), min(_room(p, d_p), _room(q, d_q)))
        alpha += longest * d_alpha
        w += longest * step
        margin += longest * along
        p += longest * d_p
        q += longest * d_q
    return w, alpha, (alpha * p).sum() + ((C - alpha) * q).sum(), rounds


@njit(cache=True, error_model="numpy")
def _room(value: Array, change: Array) -> float:
    """The longest step, at most 1, up to which value + step change stays above 0, with a little room."""
    longest = 1.0
    for i in range(len(value)):
        if change[i] < 0.0:
            longest = min(longest, -TO_THE_EDGE * value[i] / change[i])
    return longest


@njit(cache=True, error_model="numpy")
def _middle(ZT: Array, A: Array, b: Array, alpha: Array) -> Array:
    """w = A^-1 (b + sum alpha_n z_n)."""
    factor, w = A.copy(), b.copy()
    for j in range(len(b)):
        w[j] += (ZT[j] * alpha).sum()
    solve(factor, w)
    return w
