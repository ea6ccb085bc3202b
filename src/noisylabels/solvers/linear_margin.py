"""Linear classifiers by their margins: losses that saturate, and the margin distribution.

`descend` and `coordinate_search`: losses that saturate, means over the signed rows u_n = s_n x_n of U;
  the sigmoid, sigma(-kappa u_n.h), which tends to the 0-1 loss as kappa grows;
  the angle's, min(1, 2 f_k(theta_n)), cos theta_n = u_n.h / ||h|| with rows of norm 1, f_k from a table.
Source: Nguyen and Sanner, ICML 2013; Kabán and Bootkrajang, LABELNOISE 2017.

`interior_point`: min_w 1/2 w.A w - b.w + C sum_n max(0, 1 - w.z_n) with z_n = s_n x_n,
A = I + (4 lam1 / n^2) (n sum z z^T - (sum z)(sum z)^T),  b = (lam2 / n) sum z.
Its dual is min_{0 <= alpha <= C} 1/2 u.A^-1 u - sum alpha,  u = b + sum alpha_n z_n,  and w = A^-1 u. Every
iterate keeps A w = u and z_n.w - 1 = p_n - q_n with p, q > 0, so that alpha.p + (C - alpha).q is the gap.
Source: Zhang and Zhou, KDD 2014, who descend along the coordinates of the dual; the minimum is the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.linear_algebra import normal_equations, put, scores, solve
from noisylabels.validation import Floats

MEMORY = 8
ARMIJO = 1e-4
HALVINGS = 30
SMALLEST_SINE = 1e-6
STILL = 1e-7  # of the largest entry of the gradient
NO_TABLE = np.zeros((2, 1))
"""What the sigmoid gets in the place of a table."""


@compile_kernel(error_model="numpy")
def _angle_loss(c: float, table: Floats) -> tuple[float, float]:
    """(2 f_k(theta), its derivative in c) at c = cos theta > 0, by cubic Hermite interpolation in theta.

    table (2, m + 1) : f_k and its slope at m + 1 equal steps of theta from 0 to pi/2.
    """
    theta = math.acos(min(c, 1.0))
    m = table.shape[1] - 1
    h = 0.5 * math.pi / m
    i = min(int(theta / h), m - 1)
    t = theta / h - i
    left, right = table[0, i], table[0, i + 1]
    start, end = h * table[1, i], h * table[1, i + 1]
    d = left - right
    value = left + t * (start + t * (-3.0 * d - 2.0 * start - end + t * (2.0 * d + start + end)))
    rise = start + t * (2.0 * (-3.0 * d - 2.0 * start - end) + 3.0 * t * (2.0 * d + start + end))
    return 2.0 * value, -2.0 * rise / h / max(math.sin(theta), SMALLEST_SINE)


@compile_kernel(error_model="numpy")
def loss(UT: Floats, h: Floats, kappa: float, table: Floats, gradient: Floats) -> float:
    """The mean loss at h (d,) for the columns u_n of UT (d, n); writes its gradient.

    kappa > 0 : the sigmoid's.   kappa = 0 : the angle's, by the table.
    """
    d, n = UT.shape
    f, slope = np.empty(n), np.zeros(n)
    scores(UT, h, f)
    size = 1.0 if kappa > 0.0 else math.sqrt((h * h).sum())
    total = radial = 0.0
    for i in range(n):
        if kappa > 0.0:
            e = math.exp(-abs(kappa * f[i]))
            total += (e if f[i] > 0.0 else 1.0) / (1.0 + e)
            slope[i] = -kappa * e / (1.0 + e) ** 2
        else:
            c = f[i] / size
            if c <= 0.0:
                total += 1.0
            else:
                value, slope[i] = _angle_loss(c, table)
                total += value
                radial += slope[i] * c
    for j in range(d):
        sum_ = 0.0
        for i in range(n):
            sum_ += slope[i] * UT[j, i]
        gradient[j] = (sum_ - radial * h[j] / size) / (n * size)
    return total / n


@compile_kernel(error_model="numpy")
def _direction(gradient: Floats, S: Floats, Y: Floats, stored: int) -> Floats:
    """-H gradient by the two loops of L-BFGS, over the last `stored` pairs of S and Y (`MEMORY`, d)."""
    q = -gradient
    alphas = np.zeros(MEMORY)
    first = max(0, stored - MEMORY)
    for i in range(stored - 1, first - 1, -1):
        s, y = S[i % MEMORY], Y[i % MEMORY]
        alphas[i % MEMORY] = (s * q).sum() / (s * y).sum()
        q -= alphas[i % MEMORY] * y
    if stored > 0:
        s, y = S[(stored - 1) % MEMORY], Y[(stored - 1) % MEMORY]
        q *= (s * y).sum() / (y * y).sum()
    for i in range(first, stored):
        s, y = S[i % MEMORY], Y[i % MEMORY]
        q += (alphas[i % MEMORY] - (y * q).sum() / (s * y).sum()) * s
    return q


@compile_kernel(error_model="numpy")
def descend(UT: Floats, start: Floats, kappa: float, table: Floats, rounds: int) -> tuple[Floats, float, int]:
    """(h, loss, rounds taken): L-BFGS from start (d,) with a backtracking line search; see `loss`."""
    d = len(start)
    h, gradient, after = start.copy(), np.empty(d), np.empty(d)
    S, Y = np.empty((MEMORY, d)), np.empty((MEMORY, d))
    stored: Any = np.int64(0)
    value = loss(UT, h, kappa, table, gradient)
    for taken in range(rounds):
        if np.abs(gradient).max() <= STILL:
            return h, value, taken
        direction = _direction(gradient, S, Y, stored)
        fall = (direction * gradient).sum()
        if fall >= 0.0:
            direction, stored = -gradient, 0
            fall = -(gradient * gradient).sum()
        t = 1.0 if stored else min(1.0, 0.1 / math.sqrt(-fall))
        for _ in range(HALVINGS):
            trial = loss(UT, h + t * direction, kappa, table, after)
            if trial <= value + ARMIJO * t * fall:
                break
            t *= 0.5
        else:
            return h, value, taken
        change = after - gradient
        if t * (direction * change).sum() > 1e-12 * (change * change).sum():
            put(S[stored % MEMORY], t * direction)
            put(Y[stored % MEMORY], change)
            stored += 1
        h += t * direction
        value = trial
        put(gradient, after)
    return h, value, rounds


@compile_kernel(error_model="numpy")
def best_move(f: Floats, row: Floats) -> tuple[int, float]:
    """(fewest errors of f + t row over t, the t nearest to 0 among the middles of the best intervals).

    Between two neighbouring breakpoints -f_n / row_n the 0-1 loss is constant.
    """
    where = np.flatnonzero(row != 0.0)
    errors = 0  # far to the left, t = -infinity
    for n in range(len(f)):
        if row[n] > 0.0 or (row[n] == 0.0 and f[n] <= 0.0):
            errors += 1
    if len(where) == 0:
        return errors, 0.0
    breaks = -f[where] / row[where]
    order = np.argsort(breaks)
    best, t = errors, breaks[order[0]] - 1.0
    for k in range(len(order)):
        errors += -1 if row[where[order[k]]] > 0.0 else 1
        here = breaks[order[k]]
        following = breaks[order[k + 1]] if k + 1 < len(order) else here + 2.0
        if following > here:
            middle = 0.5 * (here + following)
            if errors < best or (errors == best and abs(middle) < abs(t)):
                best, t = errors, middle
    return best, t


@compile_kernel(error_model="numpy")
def coordinate_search(UT: Floats, h: Floats, sweeps: int) -> int:
    """Move h (d,), in place, along one coordinate after the other wherever the 0-1 loss falls; returns it.

    Ends when no coordinate improves, or after `sweeps` sweeps.
    """
    f = np.empty(UT.shape[1])
    scores(UT, h, f)
    errors = (f <= 0.0).sum()
    for _ in range(sweeps):
        before = errors
        for j in range(len(h)):
            best, t = best_move(f, UT[j])
            if best < errors:
                moved = h[j]
                h[j] += t
                scores(UT, h, f)
                now = (f <= 0.0).sum()
                if now < errors:
                    errors = now
                else:  # two breakpoints closer than rounding
                    h[j] = moved
                    scores(UT, h, f)
        if errors == before:
            break
    return errors


CENTRING = 0.1
TO_THE_EDGE = 0.99


def quadratic(ZT: Floats, lam1: float) -> Floats:
    """A (d, d) for the columns z_n of ZT (d, n)."""
    n = ZT.shape[1]
    total = ZT.sum(axis=1)
    scatter = n * (ZT @ ZT.T) - np.outer(total, total)
    return np.asarray(np.eye(len(ZT)) + 4.0 * lam1 / n**2 * scatter)


@compile_kernel(error_model="numpy")
def interior_point(
    ZT: Floats, A: Floats, b: Floats, C: float, tolerance: float, rounds: int
) -> tuple[Floats, Floats, float, int]:
    """(w, alpha, gap, rounds taken) for the columns z_n of ZT (d, n).

    Stops when the gap is at most tolerance (1 + |dual value|), or no longer falls.
    """
    d, n = ZT.shape
    alpha = np.full(n, 0.5 * C)
    factor, w, margin = A.copy(), b.copy(), np.empty(n)
    for j in range(d):
        w[j] += (ZT[j] * alpha).sum()
    solve(factor, w)  # w = A^-1 (b + sum alpha_n z_n)
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
        put(d_alpha, wanted - inverse * along)
        d_p = (mu - p * alpha - p * d_alpha) / alpha
        d_q = (mu - q * rest + q * d_alpha) / rest
        longest = min(min(_room(alpha, d_alpha), _room(rest, -d_alpha)), min(_room(p, d_p), _room(q, d_q)))
        alpha += longest * d_alpha
        w += longest * step
        margin += longest * along
        p += longest * d_p
        q += longest * d_q
    return w, alpha, (alpha * p).sum() + ((C - alpha) * q).sum(), rounds


@compile_kernel(error_model="numpy")
def _room(value: Floats, change: Floats) -> float:
    """The longest step, at most 1, up to which value + step change stays above 0, with a little room."""
    longest = 1.0
    for i in range(len(value)):
        if change[i] < 0.0:
            longest = min(longest, -TO_THE_EDGE * value[i] / change[i])
    return longest
