r"""Compiled logistic fits of the boosters: weighted members, flip rates and Platt's scaling.

The fit maximises :math:`\sum_n a_n \log \tilde P_n - \lambda \sum_{j > 0} \theta_j^2` with
:math:`\tilde P^k = \omega_{0k} (1 - \sigma(f)) + \omega_{1k} \sigma(f)`,
:math:`f = \theta^T z` and :math:`z_0 = 1`. A Newton step on the EM surrogate and an update of the
flip rates take turns, as in `noisylabels.solvers.flipped_softmax.em_newton`, but for thousands of
small fits.

Sources: Kabán and Bootkrajang, LABELNOISE 2017; Bootkrajang and Kabán, ECML PKDD 2012.
"""

from __future__ import annotations

import math

import numpy as np

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order.lanes import fma, sum_lanes
from noisylabels.fixed_order.linear_algebra import normal_equations, put, scores, solve
from noisylabels.validation import Floats

TOLERANCE = 1e-3
"""Relative size of the last Newton step; the error after it is of the order of its square."""
SMALLEST_CURVATURE = 1e-6
SMALLEST_MASS = 1e-12
SWAPPED = 0.49  # value of both flip rates after the classes have changed names
HALVINGS = 20
BLOCK = 128  # terms that are computed before they are summed
PLATT_STEPS = 50
PLATT_HALVINGS = 30
PLATT_GRADIENT = 1e-8
PLATT_RIDGE = 1e-12

PlattTerms = tuple[float, float, float, float, float, float]

# What `_evaluate` returns, by position.
VALUE, CLASS_ONE, FLIPPED_ONE, CLASS_ZERO, FLIPPED_ZERO = range(5)


@compile_kernel(error_model="numpy")
def draws(weights: Floats, spacings: Floats) -> Floats:
    """Count how often each point is drawn in as many weighted draws as there are points.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Weights, at least 0, in proportion to which points are drawn, with replacement.
    spacings : ndarray of shape (n + 1,)
        Independent standard exponential numbers. Their partial sums, divided by the total, are n
        uniform numbers in order.

    Returns
    -------
    ndarray of shape (n,)
        The counts; their sum is n.
    """
    n = len(weights)
    scale = weights.sum() / spacings.sum()
    last = np.flatnonzero(weights > 0.0)[-1]
    counts = np.zeros(n)
    point = 0
    end_of_point = weights[0]
    uniform = 0.0
    for i in range(n):
        uniform += spacings[i] * scale
        while uniform > end_of_point and point < last:
            point += 1
            end_of_point += weights[point]
        counts[point] += 1.0
    return counts


@compile_kernel(error_model="numpy")
def decisions(ZT: Floats, theta: Floats) -> Floats:
    """Decide between two classes by the sign of the scores.

    Parameters
    ----------
    ZT : ndarray of shape (r, n)
        Features by columns.
    theta : ndarray of shape (r,)
        Weights of the features.

    Returns
    -------
    ndarray of shape (n,)
        +1 where the score is at least 0, else -1.
    """
    f = np.empty(ZT.shape[1])
    scores(ZT, theta, f)
    return np.where(f >= 0.0, 1.0, -1.0)


@compile_kernel(error_model="numpy")
def _terms(f: Floats, y: Floats, a: Floats, omega01: float, omega10: float, block: Floats) -> None:
    """Write the terms of the sums of `_evaluate`, slopes and curvatures, into rows of the block."""
    omega00 = 1.0 - omega01
    omega11 = 1.0 - omega10
    out = block.reshape(-1)
    for n in range(len(f)):
        weight = a[n]
        label = y[n]
        size = min(abs(f[n]), LARGEST)
        e = exp_of_negative(-size)
        w1 = omega10 + label * (omega11 - omega10)
        w0 = omega00 + label * (omega01 - omega00)
        # sigma is e1 / (1 + e), and 1 - sigma is e0 / (1 + e).
        is_positive = f[n] > 0.0
        e1 = 1.0 if is_positive else e
        e0 = e if is_positive else 1.0
        joint_one = w1 * e1
        numerator = fma(w0, e0, joint_one) + 1e-300
        over = 1.0 / (1.0 + e)
        q = joint_one / numerator
        curvature = max(e * over * over, SMALLEST_CURVATURE)
        log_likelihood = log_of_positive(numerator * over)
        out[n] = weight * log_likelihood
        mass_of_one = weight * q
        mass_of_zero = weight * (1.0 - q)
        out[BLOCK + n] = mass_of_one
        out[2 * BLOCK + n] = mass_of_one * (1.0 - label)
        out[3 * BLOCK + n] = mass_of_zero
        out[4 * BLOCK + n] = mass_of_zero * label
        residual = q - e1 * over
        out[5 * BLOCK + n] = weight * residual
        out[6 * BLOCK + n] = weight * curvature


@compile_kernel(error_model="numpy")
def _evaluate(
    f: Floats,
    y: Floats,
    a: Floats,
    omega01: float,
    omega10: float,
    slope: Floats,
    curvature: Floats,
) -> tuple[float, float, float, float, float]:
    """Write a (q - sigma) and a sigma (1 - sigma), and sum what the updates need.

    Returns sum a log P~; sum a q, sum a q 1(y~ = 0), sum a (1 - q), sum a (1 - q) 1(y~ = 1).
    """
    block = np.empty((7, BLOCK))  # a single array shows the compiler that nothing overlaps
    value = 0.0
    class_one = 0.0
    flipped_one = 0.0
    class_zero = 0.0
    flipped_zero = 0.0
    for start in range(0, len(f), BLOCK):
        stop = min(start + BLOCK, len(f))
        count = stop - start
        _terms(f[start:stop], y[start:stop], a[start:stop], omega01, omega10, block)
        put(slope[start:stop], block[5, :count])
        put(curvature[start:stop], block[6, :count])
        value += sum_lanes(block[0], 0, count)
        class_one += sum_lanes(block[1], 0, count)
        flipped_one += sum_lanes(block[2], 0, count)
        class_zero += sum_lanes(block[3], 0, count)
        flipped_zero += sum_lanes(block[4], 0, count)
    return value, class_one, flipped_one, class_zero, flipped_zero


@compile_kernel(error_model="numpy")
def _advance(x: Floats, t: float, step: Floats, out: Floats) -> float:
    """Write x + t step to out, and return its largest absolute value."""
    largest = 0.0
    for i in range(len(x)):
        out[i] = x[i] + t * step[i]
        largest = max(largest, abs(out[i]))
    return largest


@compile_kernel(error_model="numpy")
def _square(theta: Floats, t: float, step: Floats) -> float:
    """Sum the squares of theta + t step, without the constant."""
    total = 0.0
    for j in range(1, len(theta)):
        total += (theta[j] + t * step[j]) ** 2
    return total


@compile_kernel(error_model="numpy")
def _newton(
    ZT: Floats,
    y: Floats,
    a: Floats,
    theta: Floats,
    lam: float,
    omega: Floats,
    learn_omega: bool,
    steps: int,
) -> int:
    """Maximise over theta (r,) and omega (2,), which are changed in place, and count the steps."""
    r, n = ZT.shape
    work = np.empty((5, n))
    f = work[0]
    along = work[1]
    trial = work[2]
    slope = work[3]
    curvature = work[4]
    hessian = np.empty((r, r))
    direction = np.empty(r)
    scores(ZT, theta, f)
    sums = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
    for step in range(steps):
        value = sums[VALUE] - lam * _square(theta, 0.0, theta)
        normal_equations(ZT, slope, curvature, hessian, direction)
        for j in range(1, r):
            hessian[j, j] += 2.0 * lam
            direction[j] -= 2.0 * lam * theta[j]
        solve(hessian, direction)
        scores(ZT, direction, along)
        t = 1.0
        for k in range(HALVINGS + 1):
            if k == HALVINGS:
                t = 0.0
            _advance(f, t, along, trial)
            sums = _evaluate(trial, y, a, omega[0], omega[1], slope, curvature)
            if t == 0.0:
                break
            if sums[VALUE] - lam * _square(theta, t, direction) >= value:
                break
            t *= 0.5
        _advance(theta, t, direction, theta)
        size = _advance(f, t, along, f)
        change = _advance(along, 0.0, along, trial)
        change_of_omega = 0.0
        if learn_omega:
            change_of_omega = _update(omega, sums)
            sums = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
        scores_rest = t * change <= TOLERANCE * (1.0 + size)
        if scores_rest and change_of_omega <= TOLERANCE:
            return step + 1
    return steps


@compile_kernel(error_model="numpy")
def _update(omega: Floats, sums: tuple[float, float, float, float, float]) -> float:
    """Set both flip rates to the expected shares of flipped labels; return the largest change."""
    old01 = omega[0]
    old10 = omega[1]
    if sums[CLASS_ONE] > SMALLEST_MASS:
        omega[1] = min(sums[FLIPPED_ONE] / sums[CLASS_ONE], 1.0)
    if sums[CLASS_ZERO] > SMALLEST_MASS:
        omega[0] = min(sums[FLIPPED_ZERO] / sums[CLASS_ZERO], 1.0)
    if omega[0] + omega[1] >= 1.0:
        omega[:] = SWAPPED
    change01 = abs(omega[0] - old01)
    change10 = abs(omega[1] - old10)
    return max(change01, change10)


def fit(
    ZT: Floats,
    s: Floats,
    a: Floats,
    theta: Floats,
    lam: float,
    omega: Floats,
    learn_omega: bool,
    steps: int,
) -> int:
    """Fit weighted logistic regression whose labels may be flipped.

    Points of weight 0 are left out. Where one class has all the weight, the fit is the constant of
    that class.

    Parameters
    ----------
    ZT : ndarray of shape (r, n)
        Features by columns, the first one constant 1.
    s : ndarray of shape (n,)
        Labels, -1 and +1.
    a : ndarray of shape (n,)
        Weights, at least 0.
    theta : ndarray of shape (r,)
        Where to begin; overwritten with the solution.
    lam : float
        Penalty on the squares of all weights but the first.
    omega : ndarray of shape (2,)
        Flip rates of the classes 0 and 1 where to begin; overwritten with the solution.
    learn_omega : bool
        Whether the flip rates are learned. Rates of 0 that are not learned make plain logistic
        regression.
    steps : int
        Largest number of Newton steps.

    Returns
    -------
    int
        The number of Newton steps done.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.weighted_logistic import fit
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> ZT = np.stack([np.ones(40), x])
    >>> labels = np.where(x > 0.0, 1.0, -1.0)
    >>> theta, rates = np.zeros(2), np.zeros(2)
    >>> fit(ZT, labels, np.ones(40), theta, 0.1, rates, False, 20) <= 20
    True
    >>> bool(theta[1] > 1.0)
    True
    """
    weighted = np.flatnonzero(a > 0.0)
    y = (s.take(weighted) + 1.0) * 0.5
    positive = y.sum()
    if positive in (0, len(y)):
        theta[:] = 0.0
        theta[0] = 1.0 if positive else -1.0
        return 0
    columns = ZT.take(weighted, axis=1)
    weights = a.take(weighted)
    return int(_newton(columns, y, weights, theta, lam, omega, learn_omega, steps))


@compile_kernel(error_model="numpy")
def _platt(H: Floats, targets: Floats, A: float, B: float) -> PlattTerms:
    """Compute the loss -sum t log P + (1 - t) log(1 - P), its gradient and its ridged Hessian."""
    loss = g1 = g2 = h12 = 0.0
    h11 = h22 = PLATT_RIDGE
    for i in range(len(H)):
        score = H[i]
        u = A * score + B
        e = math.exp(-abs(u))
        share = e if u >= 0.0 else 1.0
        p = share / (1.0 + e)
        h = e / (1.0 + e) ** 2
        if u > 0.0:
            softplus = math.log1p(e)
        else:
            softplus = math.log1p(e) - u
        residual = targets[i] - p
        loss += targets[i] * u + softplus
        g1 += score * residual
        g2 += residual
        h11 += h * score * score
        h12 += h * score
        h22 += h
    return loss, g1, g2, h11, h12, h22


@compile_kernel(error_model="numpy")
def platt(H: Floats, s: Floats) -> tuple[float, float]:
    r"""Fit the two parameters of Platt's scaling of scores to probabilities.

    Parameters
    ----------
    H : ndarray of shape (n,)
        Scores.
    s : ndarray of shape (n,)
        Labels, -1 and +1.

    Returns
    -------
    A, B : float
        Slope and intercept; -1 and 0 where all labels are of one class.

    Notes
    -----
    :math:`P(y = 1 \mid H) = 1 / (1 + \exp(A H + B))`. Damped Newton steps start from
    :math:`A = 0`, :math:`B = \log((n_- + 1) / (n_+ + 1))`. The targets are
    :math:`(n_+ + 1) / (n_+ + 2)` and :math:`1 / (n_- + 2)`.

    References
    ----------
    Platt (1999); Lin, Lin and Weng, Machine Learning 68 (2007).
    """
    positive = float((s > 0.0).sum())
    negative = len(s) - positive
    if positive == 0.0 or negative == 0.0:
        return -1.0, 0.0
    high = (positive + 1.0) / (positive + 2.0)
    low = 1.0 / (negative + 2.0)
    targets = np.where(s > 0.0, high, low)
    A = 0.0
    B = math.log((negative + 1.0) / (positive + 1.0))
    terms = _platt(H, targets, A, B)
    for _ in range(PLATT_STEPS):
        old, g1, g2, h11, h12, h22 = terms
        largest_slope = max(abs(g1), abs(g2))
        if largest_slope < PLATT_GRADIENT:
            break
        determinant = h11 * h22 - h12 * h12
        if not determinant > 0.0:
            break
        dA = -(h22 * g1 - h12 * g2) / determinant
        dB = -(h11 * g2 - h12 * g1) / determinant
        t = 1.0
        for _ in range(PLATT_HALVINGS):
            terms = _platt(H, targets, A + t * dA, B + t * dB)
            if terms[0] < old:
                break
            t *= 0.5
        else:
            break
        A += t * dA
        B += t * dB
    return A, B
