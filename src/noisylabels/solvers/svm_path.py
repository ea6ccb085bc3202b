"""The support vector machine's dual along increasing C: SMO and Newton steps from the last C's solution.

max_beta  y.beta - beta.K beta / 2,  sum_i beta_i = 0,  0 <= y_i beta_i <= C,  y_i = +-1;
f(x) = sum_i beta_i kappa(x, x_i) + b.  The residual r = y - K beta is the slope of the dual: optimal up to
``tolerance`` once no beta_i that may grow has a residual that much above that of a beta_j that may shrink.

Sequential minimal optimisation moves the pair (i, j) that gains most (Fan, Chen, Lin, JMLR 6, 2005, WSS 2),
the rule and the stopping criterion of LIBSVM. Where that is slow, at large C on wide kernels, the free
variables 0 < y_i beta_i < C take Newton steps, the exact solution for these.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noisylabels.fixed_order import put
from noisylabels.validation import Floats

BLOCK = 32  # rows are padded to a multiple of it
SMALLEST_CURVATURE = 1e-12
RIDGE = 1e-10  # of the Newton system
NEWTON_CUBIC, NEWTON_SQUARE = 0.1, 6.0  # cost of a Newton step on m variables, in n SMO steps on n
FAST = {"reassoc", "contract", "nsz", "arcp", "nnan"}


def padded(K: Floats) -> Floats:
    """K (n, n) with zero columns up to a multiple of `BLOCK`: (n, p)."""
    n = len(K)
    wide = np.zeros((n, -(-n // BLOCK) * BLOCK))
    wide[:, :n] = K
    return wide


@njit(cache=True, error_model="numpy")
def path(
    K: Floats, y: Floats, Cs: Floats, tolerance: float, max_steps: int
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Solutions for all of Cs, ascending; K (n, p) `padded`, y (n,) of -1.0 and +1.0 with both classes.

    Returns beta (len(Cs), n), b, converged and the number of SMO steps, (len(Cs),) each. Once no beta is at
    the bound C, the solution is that of every larger C.
    """
    n, p = K.shape
    beta, r = np.zeros(p), np.zeros(p)
    put(r[:n], y)
    lower, upper = np.zeros(p), np.zeros(p)
    betas, intercepts = np.zeros((len(Cs), n)), np.zeros(len(Cs))
    converged, steps = np.ones(len(Cs), np.bool_), np.zeros(len(Cs), np.int64)
    for k in range(len(Cs)):
        C = Cs[k]
        if k == 0 or np.abs(beta).max() >= Cs[k - 1]:
            if k > 0:
                stretch(beta, r, y, C / Cs[k - 1])
            for i in range(n):
                lower[i], upper[i] = min(0.0, C * y[i]), max(0.0, C * y[i])
            steps[k], converged[k] = descend(K, beta, r, lower, upper, n, tolerance, max_steps)
            intercepts[k] = intercept(beta, r, lower, upper, n)
        else:
            intercepts[k], converged[k] = intercepts[k - 1], converged[k - 1]
        put(betas[k], beta[:n])
    return betas, intercepts, converged, steps


@njit(cache=True, error_model="numpy")
def stretch(beta: Floats, r: Floats, y: Floats, factor: float) -> None:
    """beta <- factor beta if the dual is larger there; exact while a whole class is at the bound."""
    n = len(y)
    linear, square = 0.0, 0.0
    for i in range(n):
        linear += y[i] * beta[i]
        square += beta[i] * (y[i] - r[i])
    if (factor - 1.0) * linear > 0.5 * (factor**2 - 1.0) * square:
        for i in range(n):
            beta[i] *= factor
            r[i] = y[i] - factor * (y[i] - r[i])


@njit(cache=True, error_model="numpy")
def intercept(beta: Floats, r: Floats, lower: Floats, upper: Floats, n: int) -> float:
    """b: the mean residual of the free variables, without any the middle of what the others allow."""
    total, free = 0.0, 0
    most, least = -np.inf, np.inf
    for i in range(n):
        if lower[i] < beta[i] < upper[i]:
            total += r[i]
            free += 1
        elif beta[i] < upper[i]:
            most = max(most, r[i])
        else:
            least = min(least, r[i])
    return total / free if free else 0.5 * (most + least)


@njit(cache=True, error_model="numpy")
def descend(
    K: Floats, beta: Floats, r: Floats, lower: Floats, upper: Floats, n: int, tolerance: float, max_steps: int
) -> tuple[int, bool]:
    """SMO until optimal or ``max_steps``, a Newton step whenever SMO has cost as much; changes beta and r."""
    p = len(r)
    grow, shrink = np.empty(p), np.empty(p)  # 0 where beta may grow (shrink), else -inf
    above, below, gain, diagonal = np.empty(p), np.empty(p), np.empty(p), np.zeros(p)
    for i in range(n):
        diagonal[i] = K[i, i]
    steps, since = 0, -1
    while steps < max_steps:
        if since < 0:
            for i in range(p):
                grow[i] = 0.0 if beta[i] < upper[i] else -np.inf
                shrink[i] = 0.0 if beta[i] > lower[i] else -np.inf
            move(r, K[0], K[0], 0.0, grow, shrink, above, below)
            since = 0
        for _ in range(2 * n):
            i = largest(above)
            top = above[i]
            gains(top, below, K[i], diagonal[i], diagonal, gain)
            j = largest(gain)
            if top + below[j] <= tolerance and top + below[largest(below)] <= tolerance:
                return steps, True
            curvature = max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], SMALLEST_CURVATURE)
            step = min((top - r[j]) / curvature, upper[i] - beta[i], beta[j] - lower[j])
            beta[i] = upper[i] if step == upper[i] - beta[i] else beta[i] + step
            beta[j] = lower[j] if step == beta[j] - lower[j] else beta[j] - step
            for t in (i, j):
                grow[t] = 0.0 if beta[t] < upper[t] else -np.inf
                shrink[t] = 0.0 if beta[t] > lower[t] else -np.inf
            move(r, K[i], K[j], step, grow, shrink, above, below)
            steps += 1
        since += 2 * n
        free = np.array([i for i in range(n) if lower[i] < beta[i] < upper[i]])
        m = len(free)
        if m >= 2 and NEWTON_CUBIC * m**3 + NEWTON_SQUARE * m**2 <= since * n:
            newton_step(K, beta, r, lower, upper, free)
            since = -1
    return steps, False


@njit(cache=True, error_model="numpy")
def newton_step(
    K: Floats, beta: Floats, r: Floats, lower: Floats, upper: Floats, free: NDArray[np.int64]
) -> None:
    """Towards the solution for the free variables at fixed sum; one that reaches a bound stays there.

    The step d solves [[K_FF, 1], [1, 0]] [d, b] = [r_F, 0]. Without variable h the rest of it is
    d - G_h d_h / G_hh, G the inverse of the matrix, and G loses a rank.
    """
    n, m = len(K), len(free)
    system, right = np.ones((m + 1, m + 1)), np.zeros(m + 1)
    system[m, m] = 0.0
    for a in range(m):
        right[a] = r[free[a]]
        for c in range(m):
            system[a, c] = K[free[a], free[c]]
        system[a, a] += RIDGE
    G = np.linalg.inv(system)
    d = G @ right
    inside = np.ones(m)
    total = np.zeros(m)
    for _ in range(m):
        # rounding must not change the sum of beta
        put(d[:m], d[:m] - inside * (np.sum(d[:m]) / np.sum(inside)))
        t, hit = 1.0, -1
        for a in range(m):
            if inside[a] == 1.0:
                i = free[a]
                room = (upper[i] if d[a] > 0 else lower[i]) - beta[i] - total[a]
                if room / d[a] < t:
                    t, hit = room / d[a], a
        total += t * d[:m]
        if hit < 0:
            break
        i = free[hit]
        total[hit] = (upper[i] if d[hit] > 0 else lower[i]) - beta[i]
        inside[hit] = 0.0
        if np.sum(inside) < 2:
            break
        d = (1.0 - t) * (d - G[hit] * (d[hit] / G[hit, hit]))
        d[hit] = 0.0
        G -= np.outer(G[:, hit] / G[hit, hit], G[hit])
        G[hit, hit] = 1.0
    for a in range(m):
        i = free[a]
        if inside[a] == 1.0:
            beta[i] = min(max(beta[i] + total[a], lower[i]), upper[i])
        else:
            beta[i] = upper[i] if total[a] > 0 else lower[i]
        put(r[:n], r[:n] - total[a] * K[i, :n])


@njit(cache=True, error_model="numpy", fastmath=FAST)
def move(r, ki, kj, step, grow, shrink, above, below):  # type: ignore[no-untyped-def]
    """r -= step (ki - kj); above = r where beta may grow, below = -r where it may shrink, elsewhere -inf."""
    for t in range(len(r)):
        value = r[t] - step * (ki[t] - kj[t])
        r[t] = value
        above[t] = value + grow[t]
        below[t] = shrink[t] - value


@njit(cache=True, error_model="numpy", fastmath=FAST)
def gains(top, below, ki, kii, diagonal, gain):  # type: ignore[no-untyped-def]
    """Twice the gain of the dual if beta_i with residual ``top`` grows at the cost of each other variable."""
    for t in range(len(below)):
        fall = top + below[t]
        fall = fall if fall > 0.0 else 0.0
        curvature = kii + diagonal[t] - 2.0 * ki[t]
        curvature = curvature if curvature > SMALLEST_CURVATURE else SMALLEST_CURVATURE
        gain[t] = fall * fall / curvature


@njit(cache=True, error_model="numpy", fastmath=FAST)
def largest(v):  # type: ignore[no-untyped-def]
    """Index of the first of the largest entries; len(v) is a multiple of `BLOCK`.

    Eight running maxima, because the compiler does not split one.
    """
    best, block = -np.inf, 0
    for start in range(0, len(v), BLOCK):
        w = v[start : start + BLOCK]
        a, b, c, d, e, f, g, h = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
        for k in range(8, BLOCK, 8):
            a = w[k] if w[k] > a else a
            b = w[k + 1] if w[k + 1] > b else b
            c = w[k + 2] if w[k + 2] > c else c
            d = w[k + 3] if w[k + 3] > d else d
            e = w[k + 4] if w[k + 4] > e else e
            f = w[k + 5] if w[k + 5] > f else f
            g = w[k + 6] if w[k + 6] > g else g
            h = w[k + 7] if w[k + 7] > h else h
        a, c, e, g = max(a, b), max(c, d), max(e, f), max(g, h)
        top = max(max(a, c), max(e, g))
        if top > best:
            best, block = top, start
    for t in range(block, block + BLOCK):
        if v[t] == best:
            return t
    return block
