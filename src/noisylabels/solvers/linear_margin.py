r"""Linear classifiers that minimise losses which saturate, or fit the margin distribution.

`descend` and `coordinate_search` minimise losses that saturate, means over the signed rows
:math:`u_n = s_n x_n`:

* the sigmoid :math:`\sigma(-\kappa u_n \cdot h)`, which tends to the 0-1 loss as :math:`\kappa`
grows; * that of the angle, :math:`\min(1, 2 f_k(\theta_n))` with
  :math:`\cos \theta_n = u_n \cdot h / \lVert h \rVert`, rows of norm 1 and :math:`f_k` from a
  table.

Sources: Nguyen and Sanner, ICML 2013; Kabán and Bootkrajang, LABELNOISE 2017.

`interior_point` solves
:math:`\min_w \frac{1}{2} w^T A w - b^T w + C \sum_n \max(0, 1 - w \cdot z_n)` with
:math:`z_n = s_n x_n`,
:math:`A = I + (4 \lambda_1 / n^2) (n \sum z z^T - (\sum z)(\sum z)^T)` and
:math:`b = (\lambda_2 / n) \sum z`. Its dual is
:math:`\min_{0 \le \alpha \le C} \frac{1}{2} u^T A^{-1} u - \sum \alpha` with
:math:`u = b + \sum \alpha_n z_n` and :math:`w = A^{-1} u`. Every iterate keeps :math:`A w = u` and
:math:`z_n \cdot w - 1 = p_n - q_n` with :math:`p, q > 0`, so that
:math:`\alpha \cdot p + (C - \alpha) \cdot q` is the gap.

Source: Zhang and Zhou, KDD 2014, who descend along the coordinates of the dual; the minimum is the
same.
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
STILL = 1e-7  # share of the largest entry of the gradient at which the search ends
NO_TABLE = np.zeros((2, 1))
"""Stands for the table where the sigmoid needs none."""


@compile_kernel(error_model="numpy")
def _angle_loss(c: float, table: Floats) -> tuple[float, float]:
    """Interpolate 2 f_k(theta) and its derivative in cos theta, by cubics in theta.

    table (2, m + 1): f_k and its slope at m + 1 equal steps of theta from 0 to pi/2.
    """
    theta = math.acos(min(c, 1.0))
    m = table.shape[1] - 1
    h = 0.5 * math.pi / m
    position = theta / h
    i = min(int(position), m - 1)
    t = position - i
    left_value = table[0, i]
    right_value = table[0, i + 1]
    start = h * table[1, i]
    end = h * table[1, i + 1]
    d = left_value - right_value
    square_term = -3.0 * d - 2.0 * start - end
    cubic_term = 2.0 * d + start + end
    curved = square_term + t * cubic_term
    value = left_value + t * (start + t * curved)
    bend = 2.0 * square_term + 3.0 * t * cubic_term
    rise = start + t * bend
    sine = max(math.sin(theta), SMALLEST_SINE)
    slope = -2.0 * rise / h / sine
    return 2.0 * value, slope


@compile_kernel(error_model="numpy")
def loss(UT: Floats, h: Floats, kappa: float, table: Floats, gradient: Floats) -> float:
    """Compute the mean loss of a direction, and its gradient.

    Parameters
    ----------
    UT : ndarray of shape (d, n)
        Signed rows, by columns.
    h : ndarray of shape (d,)
        Weights of the classifier.
    kappa : float
        Slope of the sigmoid; 0 for the loss of the angle.
    table : ndarray of shape (2, m + 1)
        Values and slopes of the loss of the angle at equal steps; `NO_TABLE` for the sigmoid.
    gradient : ndarray of shape (d,)
        Overwritten with the gradient.

    Returns
    -------
    float
        The mean loss.
    """
    d, n = UT.shape
    f = np.empty(n)
    slope = np.zeros(n)
    scores(UT, h, f)
    if kappa > 0.0:
        size = 1.0
    else:
        square = (h * h).sum()
        size = math.sqrt(square)
    total = radial = 0.0
    for i in range(n):
        if kappa > 0.0:
            scaled = kappa * f[i]
            size_of_f = abs(scaled)
            e = math.exp(-size_of_f)
            share = e if f[i] > 0.0 else 1.0
            total += share / (1.0 + e)
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
        slope_of_weight = 0.0
        for i in range(n):
            slope_of_weight += slope[i] * UT[j, i]
        radial_part = radial * h[j] / size
        weight = n * size
        gradient[j] = (slope_of_weight - radial_part) / weight
    return total / n


@compile_kernel(error_model="numpy")
def _direction(gradient: Floats, S: Floats, Y: Floats, stored: int) -> Floats:
    """Multiply the gradient by the inverse Hessian of L-BFGS, from the last pairs of steps."""
    q = -gradient
    alphas = np.zeros(MEMORY)
    first = max(0, stored - MEMORY)
    for i in range(stored - 1, first - 1, -1):
        k = i % MEMORY
        s = S[k]
        y = Y[k]
        inner = (s * q).sum()
        curvature = (s * y).sum()
        alphas[k] = inner / curvature
        q -= alphas[k] * y
    if stored > 0:
        k = (stored - 1) % MEMORY
        s = S[k]
        y = Y[k]
        square = (y * y).sum()
        q *= (s * y).sum() / square
    for i in range(first, stored):
        k = i % MEMORY
        s = S[k]
        y = Y[k]
        beta = (y * q).sum() / (s * y).sum()
        q += (alphas[k] - beta) * s
    return q


@compile_kernel(error_model="numpy")
def descend(
    UT: Floats,
    start: Floats,
    kappa: float,
    table: Floats,
    rounds: int,
) -> tuple[Floats, float, int]:
    """Minimise the mean loss by L-BFGS with a backtracking line search.

    Parameters
    ----------
    UT : ndarray of shape (d, n)
        Signed rows, by columns.
    start : ndarray of shape (d,)
        Where to begin.
    kappa : float
        Slope of the sigmoid; 0 for the loss of the angle.
    table : ndarray of shape (2, m + 1)
        See `loss`.
    rounds : int
        Largest number of rounds.

    Returns
    -------
    h : ndarray of shape (d,)
        Weights of the classifier.
    value : float
        Their mean loss.
    done : int
        Number of rounds done.
    """
    d = len(start)
    h = start.copy()
    gradient = np.empty(d)
    after = np.empty(d)
    S = np.empty((MEMORY, d))
    Y = np.empty((MEMORY, d))
    stored: Any = np.int64(0)
    value = loss(UT, h, kappa, table, gradient)
    for done in range(rounds):
        if np.abs(gradient).max() <= STILL:
            return h, value, done
        direction = _direction(gradient, S, Y, stored)
        fall = (direction * gradient).sum()
        if fall >= 0.0:
            direction = -gradient
            stored = 0
            fall = -(gradient * gradient).sum()
        if stored:
            t = 1.0
        else:
            t = min(1.0, 0.1 / math.sqrt(-fall))
        for _ in range(HALVINGS):
            trial = loss(UT, h + t * direction, kappa, table, after)
            if trial <= value + ARMIJO * t * fall:
                break
            t *= 0.5
        else:
            return h, value, done
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
    """Find the step along one coordinate with the fewest errors.

    Between two neighbouring breakpoints, where the sign of a decision value changes, the 0-1 loss
    is constant.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Signed decision values; an error is at most 0.
    row : ndarray of shape (n,)
        How each of them changes with the step.

    Returns
    -------
    errors : int
        The fewest errors.
    t : float
        The step nearest to 0 among the middles of the best intervals.
    """
    changing = np.flatnonzero(row != 0.0)
    errors = 0  # count at the far left, t = -infinity
    for n in range(len(f)):
        is_error = row[n] > 0.0 or (row[n] == 0.0 and f[n] <= 0.0)
        if is_error:
            errors += 1
    if len(changing) == 0:
        return errors, 0.0
    breaks = -f[changing] / row[changing]
    order = np.argsort(breaks)
    best = errors
    t = breaks[order[0]] - 1.0
    for k in range(len(order)):
        column = changing[order[k]]
        is_right = row[column] > 0.0
        errors += -1 if is_right else 1
        start = breaks[order[k]]
        if k + 1 < len(order):
            end = breaks[order[k + 1]]
        else:
            end = start + 2.0
        if end > start:
            middle = 0.5 * (start + end)
            if errors < best or (errors == best and abs(middle) < abs(t)):
                best = errors
                t = middle
    return best, t


@compile_kernel(error_model="numpy")
def coordinate_search(UT: Floats, h: Floats, sweeps: int) -> int:
    """Lower the 0-1 loss along one coordinate after the other.

    The search ends when no coordinate improves.

    Parameters
    ----------
    UT : ndarray of shape (d, n)
        Signed rows, by columns.
    h : ndarray of shape (d,)
        Weights of the classifier, changed in place.
    sweeps : int
        Largest number of sweeps over the coordinates.

    Returns
    -------
    int
        The number of errors.
    """
    f = np.empty(UT.shape[1])
    scores(UT, h, f)
    errors = (f <= 0.0).sum()
    for _ in range(sweeps):
        before = errors
        for j in range(len(h)):
            best, t = best_move(f, UT[j])
            if best < errors:
                old_weight = h[j]
                h[j] += t
                scores(UT, h, f)
                new_errors = (f <= 0.0).sum()
                if new_errors < errors:
                    errors = new_errors
                else:  # two breakpoints are closer than rounding
                    h[j] = old_weight
                    scores(UT, h, f)
        if errors == before:
            break
    return errors


CENTRING = 0.1
TO_THE_EDGE = 0.99


def quadratic(ZT: Floats, lam1: float) -> Floats:
    """Compute the matrix of the quadratic term of `interior_point`.

    Parameters
    ----------
    ZT : ndarray of shape (d, n)
        Signed rows, by columns.
    lam1 : float
        Weight of the margin variance.

    Returns
    -------
    ndarray of shape (d, d)
        The matrix A.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.linear_margin import quadratic
    >>> quadratic(np.array([[1.0, -1.0]]), 0.5).tolist()
    [[3.0]]
    """
    n = ZT.shape[1]
    total = ZT.sum(axis=1)
    squares = n * (ZT @ ZT.T)
    scatter = squares - np.outer(total, total)
    weight = 4.0 * lam1 / n**2
    return np.asarray(np.eye(len(ZT)) + weight * scatter)


@compile_kernel(error_model="numpy")
def interior_point(
    ZT: Floats, A: Floats, b: Floats, C: float, tolerance: float, rounds: int
) -> tuple[Floats, Floats, float, int]:
    """Minimise a quadratic plus hinge losses by an interior-point method.

    The iteration stops when the gap is at most the tolerance, relative to 1 plus the dual value, or
    no longer falls.

    Parameters
    ----------
    ZT : ndarray of shape (d, n)
        Signed rows, by columns.
    A : ndarray of shape (d, d)
        Matrix of the quadratic term.
    b : ndarray of shape (d,)
        The linear term, which is subtracted.
    C : float
        Weight of the hinge losses.
    tolerance : float
        Gap that is small enough.
    rounds : int
        Largest number of rounds.

    Returns
    -------
    w : ndarray of shape (d,)
        Weights of the classifier.
    alpha : ndarray of shape (n,)
        Dual variables.
    gap : float
        The gap.
    done : int
        Number of rounds done.
    """
    d, n = ZT.shape
    alpha = np.full(n, 0.5 * C)
    factor = A.copy()
    w = b.copy()
    margin = np.empty(n)
    for j in range(d):
        total = (ZT[j] * alpha).sum()
        w[j] += total
    solve(factor, w)  # this solves w = A^-1 (b + sum alpha_n z_n)
    scores(ZT, w, margin)
    p = np.maximum(margin - 1.0, 0.0) + 1.0
    q = p - (margin - 1.0)
    along = np.empty(n)
    d_alpha = np.empty(n)
    hessian = np.empty((d, d))
    step = np.empty(d)
    last_gap = np.inf
    for done in range(rounds):
        slack = C - alpha
        gap_of_alpha = (alpha * p).sum()
        gap_of_slack = (slack * q).sum()
        gap = gap_of_alpha + gap_of_slack
        linear = (b * w).sum()
        of_margin = (alpha * margin).sum()
        value = alpha.sum() - 0.5 * (linear + of_margin)
        is_small = gap <= tolerance * (1.0 + abs(value))
        if is_small or gap >= 0.999 * last_gap:
            return w, alpha, gap, done
        last_gap = gap
        mu = CENTRING * gap / (2.0 * n)
        inverse = 1.0 / (p / alpha + q / slack)
        miss_p = mu - p * alpha
        miss_q = mu - q * slack
        wanted = inverse * (miss_p / alpha - miss_q / slack)
        normal_equations(ZT, wanted, inverse, hessian, step)
        hessian += A
        solve(hessian, step)
        scores(ZT, step, along)
        put(d_alpha, wanted - inverse * along)
        d_p = (miss_p - p * d_alpha) / alpha
        d_q = (miss_q + q * d_alpha) / slack
        room_of_alpha = _room(alpha, d_alpha)
        room_of_dual = min(room_of_alpha, _room(slack, -d_alpha))
        room_of_p = _room(p, d_p)
        room_of_margin = min(room_of_p, _room(q, d_q))
        longest = min(room_of_dual, room_of_margin)
        alpha += longest * d_alpha
        w += longest * step
        margin += longest * along
        p += longest * d_p
        q += longest * d_q
    final_gap = (alpha * p).sum() + ((C - alpha) * q).sum()
    return w, alpha, final_gap, rounds


@compile_kernel(error_model="numpy")
def _room(value: Floats, change: Floats) -> float:
    """Find the longest step, at most 1, after which all values stay well above 0."""
    longest = 1.0
    for i in range(len(value)):
        if change[i] < 0.0:
            longest = min(longest, -TO_THE_EDGE * value[i] / change[i])
    return longest
