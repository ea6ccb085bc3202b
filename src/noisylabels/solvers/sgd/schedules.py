"""Step sizes of SGD by name. The paper says "learning rate eta" only; these readings of it are ours.

warm_inv_epoch   eta0 min(1, (t+1)/n) / (1 + t/n)   ramp-up over the first epoch, then 1/epoch (our default)
inv_sqrt_epoch   eta0 / sqrt(1 + t/n)
bottou           eta0 / (1 + lambda eta0 t)          Bottou, Neural Networks: Tricks of the Trade, 2012
asgd             eta0 / (1 + lambda eta0 t)^(3/4)    Xu, arXiv:1107.2490, for averaging
constant         eta0                                Algorithm 1 to the letter

t = 0, 1, ... counts the steps of the run, n the examples of an epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.arrays import choice, number
from noisylabels.losses.margin import Loss
from noisylabels.solvers.sgd.epoch import Objective, Schedule, epoch
from noisylabels.solvers.sgd.rows import as_rows

SCHEDULES = ("warm_inv_epoch", "inv_sqrt_epoch", "bottou", "asgd", "constant")
_SAMPLE = 1000  # rows of Bottou's search


def schedule(name: str, eta0: float, lam: float, n: int) -> Schedule:
    """The schedule of that name.

    Raises
    ------
    ValueError : an unknown name; eta0 <= 0; eta0 lambda >= 1, where a step would turn the weights round.
    """
    choice("schedule", name, SCHEDULES)
    number("eta0", eta0, above=0)
    if eta0 * lam >= 1:
        raise ValueError(f"eta0 lambda = {eta0:g} x {lam:g} must be < 1: such a step turns the weights round")
    decay = {"warm_inv_epoch": 1 / n, "inv_sqrt_epoch": 1 / n, "constant": 0.0}.get(name, lam * eta0)
    power = {"inv_sqrt_epoch": 0.5, "asgd": 0.75}.get(name, 1.0)
    return Schedule(float(eta0), float(decay), power, float(n if name == "warm_inv_epoch" else 1))


def scaled_step(multiplier: float, loss: Loss, size: float, lam: float) -> float:
    """eta0 = multiplier / (L max_i ||x_i||^2), or 1/(2 lambda) where that would make eta0 lambda >= 1.

    loss.curvature: L;  size: max_i ||x_i||^2, the constant feature included.
    """
    eta0 = multiplier / (loss.curvature * max(size, np.finfo(float).tiny))
    return eta0 if eta0 * lam < 1 else 0.5 / lam


def theorem_1_step(loss: Loss, size: float, lam: float) -> float:
    """eta = 1/(12 beta), beta = L max_i ||x_i||^2 + lambda: the best constant step of Theorem 1."""
    return 1.0 / (12.0 * (loss.curvature * size + lam))


def searched_step(X: Any, y: NDArray[np.float64], objective: Objective, loss: Loss) -> float:
    """The power of two with the lowest objective after one "bottou" pass over (at most) the first 1000 rows.

    Doubles from 1 while that helps, else halves; y of -1 and +1.
    """
    n = min(_SAMPLE, X.shape[0])
    sample, labels, order = X[:n], y[:n], np.arange(n, dtype=np.uint32)
    rows = as_rows(sample)

    def cost(eta0: float) -> float:
        if eta0 * objective.lam >= 1:
            return np.inf
        w = np.zeros(X.shape[1] + 1)
        steps = schedule("bottou", eta0, objective.lam, n)
        epoch(rows, labels, order, w, np.zeros_like(w), False, objective, steps, 0)
        margins = labels * (sample @ w[:-1] + objective.bias * w[-1])
        value = 0.5 * objective.lam * float(w[:-1] @ w[:-1]) + float(loss.value(margins).mean())
        return value if np.isfinite(value) else np.inf

    eta0, best, factor = 1.0, cost(1.0), 2.0
    if cost(2.0) >= best:
        factor = 0.5
    while (trial := cost(eta0 * factor)) < best or not np.isfinite(best):
        eta0, best = eta0 * factor, trial
        if not 2.0**-60 < eta0 < 2.0**60:
            break
    return eta0
