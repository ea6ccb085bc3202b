"""The support vector machine's dual along increasing C: SMO and Newton steps from the last C's solution.

max_beta  y.beta - beta.K beta / 2,  sum_i beta_i = 0,  0 <= y_i beta_i <= C,  y_i = +-1;
f(x) = sum_i beta_i kappa(x, x_i) + b.  The residual r = y - K beta is the slope of the dual: optimal up to
``tolerance`` once no beta_i that may grow has a residual that much above that of a beta_j that may shrink.

Sequential minimal optimisation moves the pair (i, j) that gains most (Fan, Chen, Lin, JMLR 6, 2005, WSS 2),
the rule and the stopping criterion of LIBSVM. Where that is slow, at large C on wide kernels, the free
variables 0 < y_i beta_i < C take Newton steps, the exact solution for these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.validation import Floats

BLOCK = 32  # rows are padded to a multiple of it
SMALLEST_CURVATURE = 1e-12
RIDGE = 1e-10  # of the Newton system
LOOK = 16  # steps between two looks at the duality gap
NEWTON_CUBIC, NEWTON_SQUARE = 0.1, 6.0  # cost of a Newton step on m variables, in n SMO steps on n
ROWS = 11  # of the work of `solve`
BETA, R, SIGNS, DIAGONAL, LOWER, UPPER, GROW, SHRINK, ABOVE, BELOW, GAIN = range(ROWS)
FAST = {"reassoc", "contract", "nsz", "arcp", "nnan"}


def padded(K: Floats) -> Floats:
    """K (n, n) with zero columns up to a multiple of `BLOCK`: (n, p)."""
    n = len(K)
    wide = np.zeros((n, -(-n // BLOCK) * BLOCK))
    wide[:, :n] = K
    return wide


def path(
    K: Floats, y: Floats, Cs: Floats, tolerance: float, max_steps: int, gap: float = 0.0
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Solutions for all of Cs, ascending; K (n, p) `padded`, y (n,) of -1.0 and +1.0 with both classes.

    gap : a duality gap of at most gap n C is near enough as well; 0: only the tolerance is.
    Returns beta (len(Cs), n), b, converged and the number of SMO steps, (len(Cs),) each. Once no beta is at
    the bound C, the solution is that of every larger C.
    """
    n, p = K.shape
    work = np.zeros((ROWS, p))
    work[R, :n], work[SIGNS, :n], work[DIAGONAL, :n] = y, y, K.diagonal()
    betas, intercepts = np.zeros((len(Cs), n)), np.zeros(len(Cs))
    converged, steps = np.ones(len(Cs), np.bool_), np.zeros(len(Cs), np.int64)
    for k, C in enumerate(Cs):
        last = Cs[k - 1] if k else 0.0
        intercepts[k], steps[k], converged[k] = solve(K, work, C, last, tolerance, gap * n * C, max_steps)
        if steps[k] < 0:
            betas[k:], intercepts[k:], converged[k:], steps[k:] = (
                betas[k - 1],
                intercepts[k - 1],
                converged[k - 1],
                0,
            )
            break
        betas[k] = work[BETA, :n]
    return betas, intercepts, converged, steps


@compile_kernel(error_model="numpy")
def solve(
    K: Floats, work: Floats, C: float, last: float, tolerance: float, allowed: float, most: int
) -> tuple[float, int, bool]:
    """From the solution for C = ``last`` (0: from beta = 0) to that for C: b, steps (-1: the same), optimal.

    SMO, a Newton step whenever SMO has cost as much.   work : the rows named by `ROWS`; beta and r change.
    allowed : duality gap that is near enough. The last columns, beyond the rows of K, are padding.
    """
    n, p = K.shape
    beta, r, lower, upper, diagonal = work[BETA], work[R], work[LOWER], work[UPPER], work[DIAGONAL]
    grow, shrink = work[GROW], work[SHRINK]  # 0 where beta may grow (shrink), else -inf
    above, below, gain = work[ABOVE], work[BELOW], work[GAIN]
    if not stretch(beta, r, work[SIGNS], last, C, lower, upper):
        return 0.0, -1, True
    steps, since, wait, due, optimal = 0, 0, 2 * n, True, False
    while True:
        if due:
            for i in range(p):
                grow[i] = 0.0 if beta[i] < upper[i] else -np.inf
                shrink[i] = 0.0 if beta[i] > lower[i] else -np.inf
            move(r, K[0], K[0], 0.0, grow, shrink, above, below)
            due, since = False, 0
        i = largest(above)
        top = above[i]
        gains(top, below, K[i], diagonal[i], diagonal, gain)
        j = largest(gain)
        look = allowed > 0.0 and since % LOOK == 0
        if look or top + below[j] <= tolerance:
            bottom = below[largest(below)]
            optimal = top + bottom <= tolerance
            if not optimal and look:
                optimal = duality_gap(beta, r, lower, upper, 0.5 * (top - bottom)) <= allowed
            if optimal:
                break
        curvature = diagonal[i] + diagonal[j] - 2.0 * K[i, j]
        curvature = curvature if curvature > SMALLEST_CURVATURE else SMALLEST_CURVATURE
        step = (top - r[j]) / curvature
        step = upper[i] - beta[i] if upper[i] - beta[i] < step else step
        step = beta[j] - lower[j] if beta[j] - lower[j] < step else step
        beta[i] = upper[i] if step == upper[i] - beta[i] else beta[i] + step
        beta[j] = lower[j] if step == beta[j] - lower[j] else beta[j] - step
        for t in (i, j):
            grow[t] = 0.0 if beta[t] < upper[t] else -np.inf
            shrink[t] = 0.0 if beta[t] > lower[t] else -np.inf
        move(r, K[i], K[j], step, grow, shrink, above, below)
        steps += 1
        since += 1
        wait -= 1
        if wait == 0:
            m = np.int64(0)
            for t in range(n):
                m += lower[t] < beta[t] < upper[t]
            wait = 2 * n
            if m >= 2 and NEWTON_CUBIC * m**3 + NEWTON_SQUARE * m**2 <= since * n:
                newton_step(K, beta, r, lower, upper, m)
                due = True
            if steps >= most:
                break
    return intercept(beta, r, lower, upper, n), steps, optimal


@compile_kernel(error_model="numpy")
def stretch(beta, r, signs, last, C, lower, upper):  # type: ignore[no-untyped-def]
    """Set the bounds for C; beta <- beta C / last if the dual is larger there; was any beta at a bound?

    Exact while a whole class is at the bound.
    """
    linear, square, most = 0.0, 0.0, 0.0
    for i in range(len(beta)):
        linear += signs[i] * beta[i]
        square += beta[i] * (signs[i] - r[i])
        most = abs(beta[i]) if abs(beta[i]) > most else most
        lower[i] = C * signs[i] if signs[i] < 0.0 else 0.0
        upper[i] = C * signs[i] if signs[i] > 0.0 else 0.0
    factor = C / last
    if last > 0.0 and (factor - 1.0) * linear > 0.5 * (factor**2 - 1.0) * square:
        for i in range(len(beta)):
            beta[i] *= factor
            r[i] = signs[i] - factor * (signs[i] - r[i])
    return most >= last


@compile_kernel(error_model="numpy")
def intercept(beta, r, lower, upper, n):  # type: ignore[no-untyped-def]
    """b: the mean residual of the free variables, without any the middle of what the others allow."""
    total, free, most, least = 0.0, 0, -np.inf, np.inf
    for i in range(n):
        if lower[i] < beta[i] < upper[i]:
            total += r[i]
            free += 1
        elif beta[i] < upper[i]:
            most = r[i] if r[i] > most else most
        else:
            least = r[i] if r[i] < least else least
    return total / free if free else 0.5 * (most + least)


@compile_kernel(error_model="numpy")
def newton_step(K, beta, r, lower, upper, m):  # type: ignore[no-untyped-def]
    """Towards the solution for the m free variables at fixed sum; one that reaches a bound stays there.

    The step d solves [[K_FF, 1], [1, 0]] [d, b] = [r_F, 0] by sweeps of all pivots; another sweep of a
    variable takes it out of the system and leaves the rest of the step without it.
    """
    free, memory = np.empty(m, np.int64), np.empty((m + 4, m + 2))
    G, inside, total, row = memory[3:], memory[0], memory[1], memory[2]
    a = 0
    for i in range(len(K)):
        if lower[i] < beta[i] < upper[i]:
            free[a], inside[a], total[a] = i, 1.0, 0.0
            a += 1
    for a in range(m):
        for c in range(a, m):
            G[a, c] = K[free[a], free[c]]
        G[a, a] += RIDGE
        G[a, m], G[a, m + 1] = 1.0, r[free[a]]
    G[m, m], G[m, m + 1] = 0.0, 0.0
    for a in range(m + 1):
        sweep(G, a, row, 1.0)
    left = m
    while left >= 2:
        mean = 0.0  # rounding must not change the sum of beta
        for a in range(m):
            mean += G[a, m + 1] / left
        t = 1.0
        hit: Any = np.int64(-1)
        bound = 0.0
        for a in range(m):
            if inside[a] == 1.0:
                G[a, m + 1] -= mean
                d, i = G[a, m + 1], free[a]
                limit = (upper[i] if d > 0.0 else lower[i]) - beta[i]
                if abs(limit - total[a]) < t * abs(d):
                    t, hit, bound = abs((limit - total[a]) / d), a, limit
        for a in range(m):
            total[a] += t * G[a, m + 1]
        if hit < 0:
            break
        total[hit], inside[hit] = bound, 0.0
        left -= 1
        sweep(G, hit, row, 0.0)
        for a in range(m):
            G[a, m + 1] *= 1.0 - t
    for a in range(m):
        i = free[a]
        if inside[a] == 1.0:
            beta[i] = min(max(beta[i] + total[a], lower[i]), upper[i])
        else:
            beta[i] = upper[i] if total[a] > 0 else lower[i]
        subtract(r, total[a], K[i], np.int64(0))


@compile_kernel(error_model="numpy")
def sweep(G, h, row, kept):  # type: ignore[no-untyped-def]
    """Exchange variable h of the symmetric system G (m, m + 1), of which the upper triangle is kept.

    Once for each variable (``kept`` 1): minus the inverse, and in the last column the solution. Then with
    ``kept`` 0: both without h, and zeros in its place.
    """
    m = len(G)
    for a in range(m + 1):
        row[a] = G[a, h] if a < h else G[h, a]
    pivot = 1.0 / row[h]
    for a in range(m):
        subtract(G[a], row[a] * pivot, row, a)
    for a in range(m + 1):
        if a < h:
            G[a, h] = kept * row[a] * pivot
        else:
            G[h, a] = kept * row[a] * pivot
    G[h, h] = -pivot * kept


@compile_kernel(error_model="numpy", fastmath=FAST)
def subtract(v, factor, w, start):  # type: ignore[no-untyped-def]
    """v -= factor w from ``start``."""
    for t in range(start, len(v)):
        v[t] -= factor * w[t]


@compile_kernel(error_model="numpy", fastmath=FAST)
def duality_gap(beta, r, lower, upper, b):  # type: ignore[no-untyped-def]
    """Primal minus dual: sum_i C max(0, y_i (r_i - b)) - beta_i (r_i - b), no term of which is negative."""
    total = 0.0
    for t in range(len(r)):
        u = r[t] - b
        total += max(upper[t] * u, lower[t] * u) - beta[t] * u
    return total


@compile_kernel(error_model="numpy", fastmath=FAST)
def move(r, ki, kj, step, grow, shrink, above, below):  # type: ignore[no-untyped-def]
    """r -= step (ki - kj); above = r where beta may grow, below = -r where it may shrink, elsewhere -inf."""
    for t in range(len(r)):
        value = r[t] - step * (ki[t] - kj[t])
        r[t] = value
        above[t] = value + grow[t]
        below[t] = shrink[t] - value


@compile_kernel(error_model="numpy", fastmath=FAST)
def gains(top, below, ki, kii, diagonal, gain):  # type: ignore[no-untyped-def]
    """Twice the gain of the dual if beta_i with residual ``top`` grows at the cost of each other variable."""
    for t in range(len(below)):
        fall = top + below[t]
        fall = fall if fall > 0.0 else 0.0
        curvature = kii + diagonal[t] - 2.0 * ki[t]
        curvature = curvature if curvature > SMALLEST_CURVATURE else SMALLEST_CURVATURE
        gain[t] = fall * fall / curvature


@compile_kernel(error_model="numpy", fastmath=FAST)
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
