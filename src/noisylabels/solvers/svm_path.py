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

from noisylabels.validation import Floats

BLOCK = 32  # rows are padded to a multiple of it
SMALLEST_CURVATURE = 1e-12
RIDGE = 1e-10  # of the Newton system
LOOK = 16  # steps between two looks at the duality gap
NEWTON_CUBIC, NEWTON_SQUARE = 0.1, 6.0  # cost of a Newton step on m variables, in n SMO steps on n
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
    beta, r, diagonal, signs = (np.zeros(p) for _ in range(4))
    r[:n], diagonal[:n], signs[:n] = y, K.diagonal(), y
    betas, intercepts = np.zeros((len(Cs), n)), np.zeros(len(Cs))
    converged, steps = np.ones(len(Cs), np.bool_), np.zeros(len(Cs), np.int64)
    for k, C in enumerate(Cs):
        if k == 0 or np.abs(beta).max() >= Cs[k - 1]:
            if k > 0:
                stretch(beta, r, signs, C / Cs[k - 1])
            lower, upper = np.minimum(0.0, C * signs), np.maximum(0.0, C * signs)
            due = True
            while due:
                left = max_steps - int(steps[k])
                taken, converged[k], due = descend(
                    K, beta, r, lower, upper, diagonal, tolerance, gap * n * C, left
                )
                steps[k] += taken
                if due:
                    newton_step(K, beta, r, lower, upper)
                    due = steps[k] < max_steps
            intercepts[k] = intercept(beta[:n], r[:n], lower[:n], upper[:n])
        else:
            intercepts[k], converged[k] = intercepts[k - 1], converged[k - 1]
        betas[k] = beta[:n]
    return betas, intercepts, converged, steps


def stretch(beta: Floats, r: Floats, y: Floats, factor: float) -> None:
    """beta <- factor beta if the dual is larger there; exact while a whole class is at the bound."""
    if (factor - 1.0) * (y @ beta) > 0.5 * (factor**2 - 1.0) * (beta @ (y - r)):
        beta *= factor
        r[:] = y - factor * (y - r)


def intercept(beta: Floats, r: Floats, lower: Floats, upper: Floats) -> float:
    """b: the mean residual of the free variables, without any the middle of what the others allow."""
    free = (lower < beta) & (beta < upper)
    if free.any():
        return float(r[free].mean())
    return float(0.5 * (r[beta < upper].max() + r[beta > lower].min()))


@njit(cache=True, error_model="numpy")
def descend(
    K: Floats, beta: Floats, r: Floats, lower: Floats, upper: Floats, diagonal: Floats, tolerance: float,
    allowed: float, most: int,
) -> tuple[int, bool, bool]:  # fmt: skip
    """SMO until optimal, or ``most`` steps, or it has cost as much as a Newton step; changes beta and r.

    allowed : duality gap that is near enough.   Returns the steps, whether it is optimal, and whether a
    Newton step is due. The last entries of the arrays, beyond the rows of K, are padding.
    """
    n, p = K.shape
    grow, shrink = np.empty(p), np.empty(p)  # 0 where beta may grow (shrink), else -inf
    above, below, gain = np.empty(p), np.empty(p), np.empty(p)
    for i in range(p):
        grow[i] = 0.0 if beta[i] < upper[i] else -np.inf
        shrink[i] = 0.0 if beta[i] > lower[i] else -np.inf
    move(r, K[0], K[0], 0.0, grow, shrink, above, below)
    steps = 0
    while steps < most:
        for k in range(2 * n):
            i = largest(above)
            top = above[i]
            gains(top, below, K[i], diagonal[i], diagonal, gain)
            j = largest(gain)
            if top + below[j] <= tolerance and top + below[largest(below)] <= tolerance:
                return steps, True, False
            if k % LOOK == 0 and allowed > 0.0:
                middle = 0.5 * (top - below[largest(below)])
                if duality_gap(beta, r, lower, upper, middle) <= allowed:
                    return steps, True, False
            curvature = max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], SMALLEST_CURVATURE)
            step = min((top - r[j]) / curvature, upper[i] - beta[i], beta[j] - lower[j])
            beta[i] = upper[i] if step == upper[i] - beta[i] else beta[i] + step
            beta[j] = lower[j] if step == beta[j] - lower[j] else beta[j] - step
            for t in (i, j):
                grow[t] = 0.0 if beta[t] < upper[t] else -np.inf
                shrink[t] = 0.0 if beta[t] > lower[t] else -np.inf
            move(r, K[i], K[j], step, grow, shrink, above, below)
            steps += 1
        m = 0
        for i in range(n):
            m += lower[i] < beta[i] < upper[i]
        if m >= 2 and NEWTON_CUBIC * m**3 + NEWTON_SQUARE * m**2 <= steps * n:
            return steps, False, True
    return steps, False, False


def newton_step(K: Floats, beta: Floats, r: Floats, lower: Floats, upper: Floats) -> None:
    """Towards the solution for the free variables at fixed sum; one that reaches a bound stays there.

    The step d solves [[K_FF, 1], [1, 0]] [d, b] = [r_F, 0]. Without variable h the rest of it is
    d - G_h d_h / G_hh, G the inverse of the matrix, and G loses a rank.
    """
    free = np.flatnonzero((lower < beta) & (beta < upper))
    m, low, high, start = len(free), lower[free], upper[free], beta[free]
    system = np.ones((m + 1, m + 1))
    system[:m, :m] = K[np.ix_(free, free)]
    system[np.diag_indices(m)] += RIDGE
    system[m, m] = 0.0
    G = np.linalg.inv(system)
    d = G[:, :m] @ r[free]
    inside, total = np.ones(m, bool), np.zeros(m)
    for _ in range(m):
        d[:m] -= inside * (d[:m].sum() / inside.sum())  # rounding must not change the sum of beta
        room = np.where(d[:m] > 0.0, high, low) - start
        share = np.full(m, np.inf)
        np.divide(room - total, d[:m], out=share, where=inside & (d[:m] != 0.0))
        hit = int(share.argmin())
        t = min(1.0, share[hit])
        total += t * d[:m]
        if t == 1.0:
            break
        total[hit], inside[hit] = room[hit], False
        if inside.sum() < 2:
            break
        d = (1.0 - t) * (d - G[hit] * (d[hit] / G[hit, hit]))
        d[hit] = 0.0
        G -= np.outer(G[:, hit] / G[hit, hit], G[hit])
        G[hit, hit] = 1.0
    beta[free] = np.where(inside, np.clip(start + total, low, high), np.where(total > 0.0, high, low))
    r -= total @ K[free]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def duality_gap(beta, r, lower, upper, b):  # type: ignore[no-untyped-def]
    """Primal minus dual: sum_i C max(0, y_i (r_i - b)) - beta_i (r_i - b), no term of which is negative."""
    total = 0.0
    for t in range(len(r)):
        u = r[t] - b
        total += max(upper[t] * u, lower[t] * u) - beta[t] * u
    return total


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
