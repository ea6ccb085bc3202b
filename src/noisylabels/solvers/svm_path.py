r"""The dual of the support vector machine for increasing C, each solved from the last C.

The dual is :math:`\max_\beta\, y^T \beta - \frac{1}{2} \beta^T K \beta` with :math:`\sum_i \beta_i
= 0`, :math:`0 \le y_i \beta_i \le C` and :math:`y_i = \pm 1`, and the decision value is
:math:`f(x) = \sum_i \beta_i \kappa(x, x_i) + b`. The residual :math:`r = y - K \beta` is the slope
of the dual. A point is optimal up to ``tolerance`` once no :math:`\beta_i` that may grow has a
residual that much above that of a :math:`\beta_j` that may shrink.

Sequential minimal optimisation moves the pair (i, j) that gains most (Fan, Chen, Lin, JMLR 6,
2005, WSS 2), the rule and the stopping criterion of LIBSVM. Where that is slow, at large C on wide
kernels, the free variables :math:`0 < y_i \beta_i < C` take Newton steps, the exact solution for
these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.validation import Floats

BLOCK = 32  # matrices are padded to a multiple of this many rows
SMALLEST_CURVATURE = 1e-12
RIDGE = 1e-10  # ridge of the Newton system
LOOK = 16  # steps after which the duality gap is computed again
# cost of a Newton step on m variables, in units of n SMO steps
NEWTON_CUBIC = 0.1
NEWTON_SQUARE = 6.0
ROWS = 11  # number of rows in the work array of `solve`
BETA, R, SIGNS, DIAGONAL, LOWER, UPPER, GROW, SHRINK, ABOVE, BELOW, GAIN = range(ROWS)
FAST = {"reassoc", "contract", "nsz", "arcp", "nnan"}
SAME_SOLUTION = -1  # number of steps that marks the solution of the last C

Path = tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.int64]]


def padded(K: Floats) -> Floats:
    """Pad a kernel matrix with zero columns up to a multiple of `BLOCK`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.

    Returns
    -------
    ndarray of shape (n, p)
        The padded matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.svm_path import padded
    >>> padded(np.eye(3)).shape
    (3, 32)
    """
    n = len(K)
    blocks = -(-n // BLOCK)
    wide = np.zeros((n, blocks * BLOCK))
    wide[:, :n] = K
    return wide


def path(
    K: Floats,
    y: Floats,
    Cs: Floats,
    tolerance: float,
    max_steps: int,
    gap: float = 0.0,
) -> Path:
    """Solve the dual for ascending values of C.

    Once no variable is at the bound C, the solution is that of every larger C.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Kernel matrix, `padded`.
    y : ndarray of shape (n,)
        Labels, -1.0 and +1.0, both classes.
    Cs : ndarray of shape (m,)
        Values of C, ascending.
    tolerance : float
        Difference of residuals that is optimal.
    max_steps : int
        Largest number of steps for one C.
    gap : float, default 0.0
        Duality gap that is near enough as well, relative to n C; 0 for none.

    Returns
    -------
    betas : ndarray of shape (m, n)
        The solutions.
    intercepts : ndarray of shape (m,)
        Their constants b.
    converged : ndarray of shape (m,)
        Whether they are optimal.
    steps : ndarray of shape (m,)
        Numbers of steps of sequential minimal optimisation.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.svm_path import padded, path
    >>> x = np.array([-1.0, 1.0])
    >>> betas, intercepts, converged, _ = path(padded(np.outer(x, x)), x, np.ones(1), 1e-6, 100)
    >>> betas.tolist(), bool(converged[0])
    ([[-0.5, 0.5]], True)
    """
    n, p = K.shape
    work = np.zeros((ROWS, p))
    work[R, :n] = y
    work[SIGNS, :n] = y
    work[DIAGONAL, :n] = K.diagonal()
    betas = np.zeros((len(Cs), n))
    intercepts = np.zeros(len(Cs))
    converged = np.ones(len(Cs), np.bool_)
    steps = np.zeros(len(Cs), np.int64)
    last = 0.0
    for k, C in enumerate(Cs):
        solution = solve(K, work, C, last, tolerance, gap * n * C, max_steps)
        intercepts[k], steps[k], converged[k] = solution
        if steps[k] < 0:
            betas[k:] = betas[k - 1]
            intercepts[k:] = intercepts[k - 1]
            converged[k:] = converged[k - 1]
            steps[k:] = 0
            break
        betas[k] = work[BETA, :n]
        last = C
    return betas, intercepts, converged, steps


@compile_kernel(error_model="numpy")
def solve(
    K: Floats,
    work: Floats,
    C: float,
    last: float,
    tolerance: float,
    allowed: float,
    max_steps: int,
) -> tuple[float, int, bool]:
    """Solve the dual for one C, from the solution of a smaller C.

    A Newton step is done whenever sequential minimal optimisation has cost as much as it costs.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Kernel matrix, `padded`.
    work : ndarray of shape (11, p)
        The rows named by `ROWS`, of which the variables and residuals hold the solution of the
        smaller C. Overwritten.
    C : float
        Bound of the variables.
    last : float
        The smaller C; 0 to start from zero.
    tolerance : float
        Difference of residuals that is optimal.
    allowed : float
        Duality gap that is near enough.
    max_steps : int
        Largest number of steps.

    Returns
    -------
    b : float
        The intercept.
    steps : int
        Number of steps; -1 where the solution is that of the smaller C.
    optimal : bool
        Whether the solution is optimal.
    """
    n, p = K.shape
    beta = work[BETA]
    r = work[R]
    lower = work[LOWER]
    upper = work[UPPER]
    diagonal = work[DIAGONAL]
    grow = work[GROW]  # 0 where beta may grow, else -inf
    shrink = work[SHRINK]  # 0 where beta may shrink, else -inf
    slopes_up = work[ABOVE]
    slopes_down = work[BELOW]
    gain = work[GAIN]
    if not stretch(beta, r, work[SIGNS], last, C, lower, upper):
        return 0.0, SAME_SOLUTION, True
    steps = 0
    since = 0  # steps since the last Newton step
    wait = 2 * n  # steps until a Newton step is considered again
    due = True  # whether the slopes must be computed again
    optimal = False
    while True:
        if due:
            for t in range(p):
                _set_freedom(t, beta, lower, upper, grow, shrink)
            move(r, K[0], K[0], 0.0, grow, shrink, slopes_up, slopes_down)
            due = False
            since = 0
        i = largest(slopes_up)
        top = slopes_up[i]
        gains(top, slopes_down, K[i], diagonal[i], diagonal, gain)
        j = largest(gain)
        look = allowed > 0.0 and since % LOOK == 0
        if look or top + slopes_down[j] <= tolerance:
            bottom = slopes_down[largest(slopes_down)]
            optimal = top + bottom <= tolerance
            if not optimal and look:
                middle = 0.5 * (top - bottom)
                optimal = duality_gap(beta, r, lower, upper, middle) <= allowed
            if optimal:
                break
        curvature = diagonal[i] + diagonal[j] - 2.0 * K[i, j]
        curvature = curvature if curvature > SMALLEST_CURVATURE else SMALLEST_CURVATURE
        step = (top - r[j]) / curvature
        room_above = upper[i] - beta[i]
        room_below = beta[j] - lower[j]
        step = room_above if room_above < step else step
        step = room_below if room_below < step else step
        if step == room_above:
            beta[i] = upper[i]
        else:
            beta[i] = beta[i] + step
        if step == room_below:
            beta[j] = lower[j]
        else:
            beta[j] = beta[j] - step
        _set_freedom(i, beta, lower, upper, grow, shrink)
        _set_freedom(j, beta, lower, upper, grow, shrink)
        move(r, K[i], K[j], step, grow, shrink, slopes_up, slopes_down)
        steps += 1
        since += 1
        wait -= 1
        if wait == 0:
            m = _count_free(beta, lower, upper, n)
            wait = 2 * n
            if m >= 2 and NEWTON_CUBIC * m**3 + NEWTON_SQUARE * m**2 <= since * n:
                newton_step(K, beta, r, lower, upper, m)
                due = True
            if steps >= max_steps:
                break
    return intercept(beta, r, lower, upper, n), steps, optimal


@compile_kernel(error_model="numpy")
def _set_freedom(t, beta, lower, upper, grow, shrink):  # type: ignore[no-untyped-def]
    """Note whether a variable may grow and shrink."""
    if beta[t] < upper[t]:
        grow[t] = 0.0
    else:
        grow[t] = -np.inf
    if beta[t] > lower[t]:
        shrink[t] = 0.0
    else:
        shrink[t] = -np.inf


@compile_kernel(error_model="numpy")
def _count_free(beta, lower, upper, n):  # type: ignore[no-untyped-def]
    """Count the variables that are strictly between their bounds."""
    free = np.int64(0)
    for t in range(n):
        free += lower[t] < beta[t] < upper[t]
    return free


@compile_kernel(error_model="numpy")
def stretch(beta, r, signs, last, C, lower, upper):  # type: ignore[no-untyped-def]
    """Set the bounds for C, and stretch the variables by C / `last` where that raises the dual.

    The stretched variables are exact while a whole class is at the bound.

    Parameters
    ----------
    beta : ndarray of shape (p,)
        Variables, changed in place.
    r : ndarray of shape (p,)
        Residuals, changed in place.
    signs : ndarray of shape (p,)
        Labels, -1.0 and +1.0, and 0.0 for padding.
    last : float
        The smaller C; 0 for none.
    C : float
        The new bound.
    lower : ndarray of shape (p,)
        Overwritten with the lower bounds.
    upper : ndarray of shape (p,)
        Overwritten with the upper bounds.

    Returns
    -------
    bool
        Whether any variable was at its bound.
    """
    linear = 0.0
    square = 0.0
    largest_size = 0.0
    for i in range(len(beta)):
        sign = signs[i]
        linear += sign * beta[i]
        square += beta[i] * (sign - r[i])
        size = abs(beta[i])
        if size > largest_size:
            largest_size = abs(beta[i])
        if sign < 0.0:
            lower[i] = C * sign
        else:
            lower[i] = 0.0
        if sign > 0.0:
            upper[i] = C * sign
        else:
            upper[i] = 0.0
    factor = C / last
    if last > 0.0 and (factor - 1.0) * linear > 0.5 * (factor**2 - 1.0) * square:
        for i in range(len(beta)):
            beta[i] *= factor
            output = signs[i] - r[i]
            r[i] = signs[i] - factor * output
    return largest_size >= last


@compile_kernel(error_model="numpy")
def intercept(beta, r, lower, upper, n):  # type: ignore[no-untyped-def]
    """Compute the intercept of a solution.

    Parameters
    ----------
    beta : ndarray of shape (p,)
        Variables.
    r : ndarray of shape (p,)
        Residuals.
    lower : ndarray of shape (p,)
        Lower bounds.
    upper : ndarray of shape (p,)
        Upper bounds.
    n : int
        Number of variables without padding.

    Returns
    -------
    float
        The mean residual of the free variables; without any, the middle of what the others allow.
    """
    total = 0.0
    free = 0
    highest = -np.inf
    lowest = np.inf
    for i in range(n):
        if lower[i] < beta[i] < upper[i]:
            total += r[i]
            free += 1
        elif beta[i] < upper[i]:
            highest = r[i] if r[i] > highest else highest
        else:
            lowest = r[i] if r[i] < lowest else lowest
    if free:
        return total / free
    return 0.5 * (highest + lowest)


@compile_kernel(error_model="numpy")
def newton_step(K, beta, r, lower, upper, m):  # type: ignore[no-untyped-def]
    r"""Move the free variables towards their solution at fixed sum.

    A variable that reaches a bound stays there, and the others go on.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Kernel matrix, `padded`.
    beta : ndarray of shape (p,)
        Variables, changed in place.
    r : ndarray of shape (p,)
        Residuals, changed in place.
    lower : ndarray of shape (p,)
        Lower bounds.
    upper : ndarray of shape (p,)
        Upper bounds.
    m : int
        Number of free variables.

    Notes
    -----
    The step d solves :math:`[[K_{FF}, 1], [1, 0]]\, [d, b] = [r_F, 0]` by sweeps of all pivots.
    Another sweep of a variable takes it out of the system, and leaves the rest of the step without
    it.
    """
    free = np.empty(m, np.int64)
    memory = np.empty((m + 4, m + 2))
    inside = memory[0]
    total = memory[1]
    row = memory[2]
    G = memory[3:]
    a = 0
    for i in range(len(K)):
        if lower[i] < beta[i] < upper[i]:
            free[a] = i
            inside[a] = 1.0
            total[a] = 0.0
            a += 1
    _solve_free(K, r, free, G, row, m)
    remaining = m
    while remaining >= 2:
        mean = 0.0  # subtracted, so that rounding does not change the sum of beta
        for a in range(m):
            mean += G[a, m + 1] / remaining
        t = 1.0
        hit: Any = np.int64(-1)
        bound = 0.0
        for a in range(m):
            if inside[a] == 1.0:
                G[a, m + 1] -= mean
                d = G[a, m + 1]
                i = free[a]
                limit = (upper[i] if d > 0.0 else lower[i]) - beta[i]
                room = limit - total[a]
                if abs(room) < t * abs(d):
                    t = abs(room / d)
                    hit = a
                    bound = limit
        for a in range(m):
            total[a] += t * G[a, m + 1]
        if hit < 0:
            break
        total[hit] = bound
        inside[hit] = 0.0
        remaining -= 1
        sweep(G, hit, row, 0.0)
        for a in range(m):
            G[a, m + 1] *= 1.0 - t
    for a in range(m):
        i = free[a]
        if inside[a] == 1.0:
            beta[i] = min(max(beta[i] + total[a], lower[i]), upper[i])
        else:
            if total[a] > 0:
                beta[i] = upper[i]
            else:
                beta[i] = lower[i]
        subtract(r, total[a], K[i], np.int64(0))


@compile_kernel(error_model="numpy")
def _solve_free(K, r, free, G, row, m):  # type: ignore[no-untyped-def]
    """Write the Newton system of the free variables to G, and sweep all its pivots."""
    for a in range(m):
        for c in range(a, m):
            row_of_a = free[a]
            G[a, c] = K[row_of_a, free[c]]
        G[a, a] += RIDGE
        G[a, m] = 1.0
        G[a, m + 1] = r[free[a]]
    G[m, m] = 0.0
    G[m, m + 1] = 0.0
    for a in range(m + 1):
        sweep(G, a, row, 1.0)


@compile_kernel(error_model="numpy")
def sweep(G, h, row, inverted):  # type: ignore[no-untyped-def]
    """Exchange a variable of a symmetric linear system.

    Sweeping each variable once, with `inverted` 1, makes minus the inverse, and the solution in the
    last column. A sweep with `inverted` 0 then makes both without the variable, and zeros in its
    place.

    Parameters
    ----------
    G : ndarray of shape (m, m + 1)
        The system, of which the upper triangle is stored; changed in place.
    h : int
        The variable.
    row : ndarray of shape (m + 1,)
        Work.
    inverted : float
        1.0 or 0.0.
    """
    m = len(G)
    for a in range(m + 1):
        if a < h:
            row[a] = G[a, h]
        else:
            row[a] = G[h, a]
    pivot = 1.0 / row[h]
    for a in range(m):
        factor = row[a] * pivot
        subtract(G[a], factor, row, a)
    for a in range(m + 1):
        if a < h:
            G[a, h] = inverted * row[a] * pivot
        else:
            G[h, a] = inverted * row[a] * pivot
    G[h, h] = -pivot * inverted


@compile_kernel(error_model="numpy", fastmath=FAST)
def subtract(v, factor, w, start):  # type: ignore[no-untyped-def]
    """Subtract a multiple of a vector, from entry ``start`` to the end.

    Parameters
    ----------
    v : ndarray of shape (n,)
        Changed in place.
    factor : float
        The multiple.
    w : ndarray of shape (n,)
        What is subtracted.
    start : int
        The first entry that is changed.
    """
    for t in range(start, len(v)):
        v[t] -= factor * w[t]


@compile_kernel(error_model="numpy", fastmath=FAST)
def duality_gap(beta, r, lower, upper, b):  # type: ignore[no-untyped-def]
    r"""Compute the primal objective minus the dual.

    Parameters
    ----------
    beta : ndarray of shape (p,)
        Variables.
    r : ndarray of shape (p,)
        Residuals.
    lower : ndarray of shape (p,)
        Lower bounds.
    upper : ndarray of shape (p,)
        Upper bounds.
    b : float
        Intercept.

    Returns
    -------
    float
        The gap.

    Notes
    -----
    :math:`\sum_i C \max(0, y_i (r_i - b)) - \beta_i (r_i - b)`, no term of which is negative.
    """
    total = 0.0
    for t in range(len(r)):
        u = r[t] - b
        largest = max(upper[t] * u, lower[t] * u)
        total += largest - beta[t] * u
    return total


@compile_kernel(error_model="numpy", fastmath=FAST)
def move(r, ki, kj, step, grow, shrink, slopes_up, slopes_down):  # type: ignore[no-untyped-def]
    """Update the residuals after a step of two variables, and write the slopes of allowed moves.

    Parameters
    ----------
    r : ndarray of shape (p,)
        Residuals, changed in place.
    ki : ndarray of shape (p,)
        Row of the kernel matrix of the variable that grows.
    kj : ndarray of shape (p,)
        Row of the variable that shrinks.
    step : float
        Size of the step.
    grow : ndarray of shape (p,)
        0.0 where a variable may grow, else -inf.
    shrink : ndarray of shape (p,)
        0.0 where a variable may shrink, else -inf.
    slopes_up : ndarray of shape (p,)
        Overwritten with the residuals where a variable may grow, else -inf.
    slopes_down : ndarray of shape (p,)
        Overwritten with minus the residuals where a variable may shrink, else -inf.
    """
    for t in range(len(r)):
        difference = ki[t] - kj[t]
        value = r[t] - step * difference
        r[t] = value
        slopes_up[t] = value + grow[t]
        slopes_down[t] = shrink[t] - value


@compile_kernel(error_model="numpy", fastmath=FAST)
def gains(top, slopes_down, ki, kii, diagonal, gain):  # type: ignore[no-untyped-def]
    """Compute how much the dual gains if one variable grows and each other one shrinks.

    Parameters
    ----------
    top : float
        Residual of the variable that grows.
    slopes_down : ndarray of shape (p,)
        Minus the residuals where a variable may shrink, else -inf.
    ki : ndarray of shape (p,)
        Row of the kernel matrix of the variable that grows.
    kii : float
        Its diagonal entry.
    diagonal : ndarray of shape (p,)
        Diagonal of the kernel matrix.
    gain : ndarray of shape (p,)
        Overwritten with twice the gains.
    """
    for t in range(len(slopes_down)):
        fall = top + slopes_down[t]
        fall = fall if fall > 0.0 else 0.0
        entry = kii + diagonal[t]
        curvature = entry - 2.0 * ki[t]
        curvature = curvature if curvature > SMALLEST_CURVATURE else SMALLEST_CURVATURE
        gain[t] = fall * fall / curvature


@compile_kernel(error_model="numpy", fastmath=FAST)
def largest(v):  # type: ignore[no-untyped-def]
    """Find the first of the largest entries.

    There are eight running maxima, because the compiler does not split one.

    Parameters
    ----------
    v : ndarray of shape (p,)
        Entries; the length is a multiple of `BLOCK`.

    Returns
    -------
    int
        Index of the entry.
    """
    best = -np.inf
    block = 0
    for start in range(0, len(v), BLOCK):
        w = v[start : start + BLOCK]
        a = w[0]
        b = w[1]
        c = w[2]
        d = w[3]
        e = w[4]
        f = w[5]
        g = w[6]
        h = w[7]
        for k in range(8, BLOCK, 8):
            a = w[k] if w[k] > a else a
            if w[k + 1] > b:
                b = w[k + 1]
            if w[k + 2] > c:
                c = w[k + 2]
            if w[k + 3] > d:
                d = w[k + 3]
            if w[k + 4] > e:
                e = w[k + 4]
            if w[k + 5] > f:
                f = w[k + 5]
            if w[k + 6] > g:
                g = w[k + 6]
            if w[k + 7] > h:
                h = w[k + 7]
        a = max(a, b)
        c = max(c, d)
        e = max(e, f)
        g = max(g, h)
        top = max(max(a, c), max(e, g))
        if top > best:
            best = top
            block = start
    for t in range(block, block + BLOCK):
        if v[t] == best:
            return t
    return block
