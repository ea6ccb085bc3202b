"""Compiled logistic fits of the boosters: weighted members, with flip rates or without, and Platt scaling.

max_theta sum_n a_n log P~_n - lambda sum_{j > 0} theta_j^2,
P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f),  f = theta . z, z_0 = 1.
A Newton step on the EM surrogate and an update of Omega in turn, like `flipped_logistic.em_newton`, but for
thousands of small fits.

Source: Kabán and Bootkrajang, LABELNOISE 2017; Bootkrajang and Kabán, ECML PKDD 2012.
"""

from __future__ import annotations

import math

import numpy as np

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order.lanes import fma, sum_lanes
from noisylabels.fixed_order.linear_algebra import normal_equations, put, scores, solve
from noisylabels.validation import Floats

TOLERANCE = 1e-3  # of the last Newton step, relative; the error after it is of the order of its square
SMALLEST_CURVATURE = 1e-6
SMALLEST_MASS = 1e-12
SWAPPED = 0.49  # both rates after the classes have changed names
HALVINGS = 20
BLOCK = 128  # terms that are computed before they are summed
PLATT_STEPS, PLATT_HALVINGS = 50, 30
PLATT_GRADIENT, PLATT_RIDGE = 1e-8, 1e-12


@compile_kernel(error_model="numpy")
def draws(weights: Floats, spacings: Floats) -> Floats:
    """How often each of n points is drawn in n draws with replacement, P ~ weights (n,): (n,).

    spacings (n + 1,) : independent standard exponentials; their partial sums over the total are n uniforms
        in order.
    """
    n = len(weights)
    scale = weights.sum() / spacings.sum()
    counts = np.zeros(n)
    at, last = 0, np.flatnonzero(weights > 0.0)[-1]
    below, u = weights[0], 0.0
    for i in range(n):
        u += spacings[i] * scale
        while u > below and at < last:
            at += 1
            below += weights[at]
        counts[at] += 1.0
    return counts


@compile_kernel(error_model="numpy")
def decisions(ZT: Floats, theta: Floats) -> Floats:
    """h = +1 where theta . z >= 0, else -1: (n,)."""
    f = np.empty(ZT.shape[1])
    scores(ZT, theta, f)
    return np.where(f >= 0.0, 1.0, -1.0)


@compile_kernel(error_model="numpy")
def _terms(f: Floats, y: Floats, a: Floats, omega01: float, omega10: float, block: Floats) -> None:
    """The terms of the sums of `_evaluate`, then a (q - sigma) and a sigma (1 - sigma), in rows of block."""
    omega00, omega11 = 1.0 - omega01, 1.0 - omega10
    out = block.reshape(-1)
    for n in range(len(f)):
        e = exp_of_negative(-min(abs(f[n]), LARGEST))
        w1 = omega10 + y[n] * (omega11 - omega10)
        w0 = omega00 + y[n] * (omega01 - omega00)
        e1 = 1.0 if f[n] > 0.0 else e
        e0 = e if f[n] > 0.0 else 1.0
        numerator = fma(w0, e0, w1 * e1) + 1e-300
        over = 1.0 / (1.0 + e)
        q = w1 * e1 / numerator
        out[n] = a[n] * log_of_positive(numerator * over)
        out[BLOCK + n] = a[n] * q
        out[2 * BLOCK + n] = a[n] * q * (1.0 - y[n])
        out[3 * BLOCK + n] = a[n] * (1.0 - q)
        out[4 * BLOCK + n] = a[n] * (1.0 - q) * y[n]
        out[5 * BLOCK + n] = a[n] * (q - e1 * over)
        out[6 * BLOCK + n] = a[n] * max(e * over * over, SMALLEST_CURVATURE)


@compile_kernel(error_model="numpy")
def _evaluate(
    f: Floats, y: Floats, a: Floats, omega01: float, omega10: float, slope: Floats, curvature: Floats
) -> tuple[float, float, float, float, float]:
    """Write a (q - sigma) and a sigma (1 - sigma).

    Returns sum a log P~; sum a q, sum a q 1(y~ = 0), sum a (1 - q), sum a (1 - q) 1(y~ = 1).
    """
    block = np.empty((7, BLOCK))  # one array, so that the compiler sees that nothing overlaps
    value = one = one_flipped = zero = zero_flipped = 0.0
    for start in range(0, len(f), BLOCK):
        stop = min(start + BLOCK, len(f))
        _terms(f[start:stop], y[start:stop], a[start:stop], omega01, omega10, block)
        count = stop - start
        put(slope[start:stop], block[5, :count])
        put(curvature[start:stop], block[6, :count])
        value += sum_lanes(block[0], 0, count)
        one += sum_lanes(block[1], 0, count)
        one_flipped += sum_lanes(block[2], 0, count)
        zero += sum_lanes(block[3], 0, count)
        zero_flipped += sum_lanes(block[4], 0, count)
    return value, one, one_flipped, zero, zero_flipped


@compile_kernel(error_model="numpy")
def _advance(x: Floats, t: float, step: Floats, out: Floats) -> float:
    """out = x + t step; returns the largest |out|."""
    largest = 0.0
    for i in range(len(x)):
        out[i] = x[i] + t * step[i]
        largest = max(largest, abs(out[i]))
    return largest


@compile_kernel(error_model="numpy")
def _square(theta: Floats, t: float, step: Floats) -> float:
    """sum_{j > 0} (theta_j + t step_j)^2."""
    total = 0.0
    for j in range(1, len(theta)):
        total += (theta[j] + t * step[j]) ** 2
    return total


@compile_kernel(error_model="numpy")
def _newton(
    ZT: Floats, y: Floats, a: Floats, theta: Floats, lam: float, omega: Floats, learn_omega: bool, steps: int
) -> int:
    """Maximise from theta (r,) and omega = (omega01, omega10), changed in place; returns the steps taken."""
    r, n = ZT.shape
    work = np.empty((5, n))
    f, along, trial, slope, curvature = work[0], work[1], work[2], work[3], work[4]
    hessian, direction = np.empty((r, r)), np.empty(r)
    scores(ZT, theta, f)
    found = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
    for taken in range(steps):
        old = found[0] - lam * _square(theta, 0.0, theta)
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
            found = _evaluate(trial, y, a, omega[0], omega[1], slope, curvature)
            if t == 0.0 or found[0] - lam * _square(theta, t, direction) >= old:
                break
            t *= 0.5
        _advance(theta, t, direction, theta)
        size, change = _advance(f, t, along, f), _advance(along, 0.0, along, trial)
        moved = 0.0
        if learn_omega:
            moved = _update(omega, found)
            found = _evaluate(f, y, a, omega[0], omega[1], slope, curvature)
        if t * change <= TOLERANCE * (1.0 + size) and moved <= TOLERANCE:
            return taken + 1
    return steps


@compile_kernel(error_model="numpy")
def _update(omega: Floats, found: tuple[float, float, float, float, float]) -> float:
    """omega_10 = sum a q 1(y~ = 0) / sum a q, omega_01 likewise, in place; returns the largest change."""
    up, down = omega[0], omega[1]
    if found[1] > SMALLEST_MASS:
        omega[1] = min(found[2] / found[1], 1.0)
    if found[3] > SMALLEST_MASS:
        omega[0] = min(found[4] / found[3], 1.0)
    if omega[0] + omega[1] >= 1.0:
        omega[:] = SWAPPED
    return max(abs(omega[0] - up), abs(omega[1] - down))


def fit(
    ZT: Floats, s: Floats, a: Floats, theta: Floats, lam: float, omega: Floats, learn_omega: bool, steps: int
) -> int:
    """theta (r,) for labels s (n,) of -1 and +1, weights a (n,) >= 0 and the columns of ZT (r, n), ZT[0] = 1.

    theta and omega = (omega01, omega10) hold the start and are changed in place;
    omega = 0 without `learn_omega` is plain logistic regression. Points of weight 0 are left out.
    Where one class has all the weight, theta is the constant of that class. Returns the Newton steps taken.
    """
    used = np.flatnonzero(a > 0.0)
    y = (s.take(used) + 1.0) * 0.5
    positive = y.sum()
    if positive in (0, len(y)):
        theta[:] = 0.0
        theta[0] = 1.0 if positive else -1.0
        return 0
    return int(_newton(ZT.take(used, axis=1), y, a.take(used), theta, lam, omega, learn_omega, steps))


@compile_kernel(error_model="numpy")
def _platt(H: Floats, targets: Floats, A: float, B: float) -> tuple[float, float, float, float, float, float]:
    """-sum t log P + (1 - t) log(1 - P); its gradient in A and B; its Hessian with a ridge: AA, AB, BB."""
    loss = g1 = g2 = h12 = 0.0
    h11 = h22 = PLATT_RIDGE
    for i in range(len(H)):
        u = A * H[i] + B
        e = math.exp(-abs(u))
        p = (e if u >= 0.0 else 1.0) / (1.0 + e)
        h = e / (1.0 + e) ** 2
        loss += targets[i] * u + (math.log1p(e) if u > 0.0 else math.log1p(e) - u)
        g1 += H[i] * (targets[i] - p)
        g2 += targets[i] - p
        h11 += h * H[i] * H[i]
        h12 += h * H[i]
        h22 += h
    return loss, g1, g2, h11, h12, h22


@compile_kernel(error_model="numpy")
def platt(H: Floats, s: Floats) -> tuple[float, float]:
    """(A, B) of P(y = 1 | H) = 1 / (1 + exp(A H + B)) for scores H (n,) and labels s (n,) of -1 and +1.

    Damped Newton steps from A = 0, B = log((n- + 1) / (n+ + 1)); targets (n+ + 1) / (n+ + 2), 1 / (n- + 2).
    With labels of one class (-1, 0).
    Source: Platt 1999; Lin, Lin and Weng, Machine Learning 68, 2007.
    """
    positive = float((s > 0.0).sum())
    negative = len(s) - positive
    if positive == 0.0 or negative == 0.0:
        return -1.0, 0.0
    targets = np.where(s > 0.0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
    A, B = 0.0, math.log((negative + 1.0) / (positive + 1.0))
    found = _platt(H, targets, A, B)
    for _ in range(PLATT_STEPS):
        old, g1, g2, h11, h12, h22 = found
        if max(abs(g1), abs(g2)) < PLATT_GRADIENT:
            break
        determinant = h11 * h22 - h12 * h12
        if not determinant > 0.0:
            break
        dA, dB = -(h22 * g1 - h12 * g2) / determinant, -(h11 * g2 - h12 * g1) / determinant
        t = 1.0
        for _ in range(PLATT_HALVINGS):
            found = _platt(H, targets, A + t * dA, B + t * dB)
            if found[0] < old:
                break
            t *= 0.5
        else:
            break
        A, B = A + t * dA, B + t * dB
    return A, B
