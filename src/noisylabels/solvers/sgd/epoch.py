"""One epoch of stochastic gradient descent on G(w) = (1/n) sum_i [lambda/2 ||w||^2 + r(y_i (x_i.w + b))].

w <- w - eta_t [lambda w + r'(z_i) y_i x_i],  z_i = y_i (x_i.w + b) before the step. The factors
1 - eta_t lambda are kept apart from the weights, w = s v, so that a step costs only the nonzero entries of
its example; the sum of the weights over the steps is kept in the same lazy way.

Source: Han, Tsang, Chen, ECML PKDD 2016, Algorithm 1; lazy sums: W. Xu, arXiv:1107.2490, Section 6.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from noisylabels.losses.compiled import slope
from noisylabels.solvers.sgd.rows import Rows, add, dot, fetch

AHEAD = 6  # rows between a read-ahead and its use
SMALLEST_SCALE = 1e-200  # the lazy weights are then 1e200 times too large, with all their digits
SMALLEST_SCALE_OF_SUM = 1e-4  # the lazy sum cancels by about 1/scale


class Schedule(NamedTuple):
    """eta_t = eta0 min(1, (t+1)/warm) / (1 + decay t)^power at the global step t = 0, 1, ..."""

    eta0: float
    decay: float
    power: float
    warm: float


class Objective(NamedTuple):
    """The loss and what is added to it.

    kind, a, b, c : the loss, see `noisylabels.losses.margin.Loss.code`.
    positive, negative : (u, v) for the label +1 and -1: the loss is u r(z) + v r(-z); (1, 0) is r itself.
    lam : lambda.   bias : value of the constant feature (0: no bias).   bias_lam : lambda of its weight.
    """

    kind: int
    a: float
    b: float
    c: float
    positive: tuple[float, float]
    negative: tuple[float, float]
    lam: float
    bias: float
    bias_lam: float


@njit(cache=True, error_model="numpy")
def step_size(schedule: Schedule, t: int) -> float:
    """eta_t of `Schedule`."""
    eta = schedule.eta0
    if t + 1 < schedule.warm:
        eta *= (t + 1) / schedule.warm
    grown = 1.0 + schedule.decay * t
    if schedule.power == 1.0:
        return eta / grown
    if schedule.power == 0.75:
        return eta / (math.sqrt(grown) * math.sqrt(math.sqrt(grown)))
    return eta / grown**schedule.power


@njit(cache=True, error_model="numpy")
def objective_slope(objective: Objective, z: float, positive: bool) -> float:
    """Derivative of u r(z) + v r(-z) with respect to z."""
    u, v = objective.positive if positive else objective.negative
    g = u * slope(objective.kind, objective.a, objective.b, objective.c, z)
    if v != 0.0:
        g -= v * slope(objective.kind, objective.a, objective.b, objective.c, -z)
    return g


@njit(cache=True, error_model="numpy")
def epoch(
    rows: Rows,
    y: np.ndarray,
    order: np.ndarray,
    w: np.ndarray,
    total: np.ndarray,
    averaged: bool,
    objective: Objective,
    schedule: Schedule,
    t: int,
) -> None:
    """Step through rows[order], changing w in place; if averaged, total += sum of the weights.

    y (n,) of -1.0 and +1.0; order: row numbers; w, total (d+1,), the bias last; t: steps done before.
    """
    d = len(w) - 1
    scale, kappa, bias = 1.0, 0.0, w[d]  # lazily: weights = scale w, their sum = total + kappa w
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        eta = step_size(schedule, t + k)
        z = y[i] * (scale * dot(rows, i, w) + objective.bias * bias)
        step = -eta * y[i] * objective_slope(objective, z, y[i] > 0)
        scale *= 1.0 - eta * objective.lam
        bias *= 1.0 - eta * objective.bias_lam
        if step != 0.0:
            add(rows, i, w, step / scale)
            bias += step * objective.bias
            if averaged:
                add(rows, i, total, -kappa * step / scale)
        if scale < floor:
            flush(w, total, scale, kappa)
            scale, kappa = 1.0, 0.0
        if averaged:
            kappa += scale
            total[d] += bias
    flush(w, total, scale, kappa)
    w[d] = bias


@njit(cache=True)
def flush(w: np.ndarray, total: np.ndarray, scale: float, kappa: float) -> None:
    """End the lazy form of the weights (but the bias) and of their sum."""
    for j in range(len(w) - 1):
        total[j] += kappa * w[j]
        w[j] *= scale
