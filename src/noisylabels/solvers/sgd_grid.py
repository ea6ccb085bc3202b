"""Many SGD models in one pass over the rows: the grids of cross-validation.

The models see the same rows in the same order and differ in lambda, step size and the parameters of one
loss. Their weights are the columns of W (d+1, M), one row of M neighbours per feature: each nonzero entry of
an example is read once and used M times. Model m does what `sgd.epoch` does with its parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noisylabels.losses.margin import Loss, columns, compiled_slope
from noisylabels.solvers.sgd import (
    AHEAD,
    SMALLEST_SCALE,
    SMALLEST_SCALE_OF_SUM,
    Order,
    Rows,
    Schedule,
    adds,
    as_rows,
    dots,
    fetch,
    largest_square,
    permutation,
    scaled_step,
    schedule,
    step_size,
)
from noisylabels.validation import Floats, Ints


class Candidate(NamedTuple):
    """One point of a grid."""

    loss: Loss
    lam: float
    multiplier: float


class Models(NamedTuple):
    """Parameters of M models, one entry (column) each; power and warm are common to all.

    parameters (3, M) : of the losses.   lam (M,) : lambda.
    eta0 (M,), decay (M,), power, warm : see `Schedule`.   bias : value of the constant feature.
    """

    parameters: Floats
    lam: Floats
    eta0: Floats
    decay: Floats
    power: float
    warm: float
    bias: float


def fit_models(
    X: Any, y: Floats, train: NDArray[np.integer[Any]], candidates: Sequence[Candidate],
    rng: np.random.Generator, *, epochs: int, schedule_name: str = "warm_inv_epoch", average: str = "none",
) -> Floats:  # fmt: skip
    """Weights (d+1, M), the bias last, of `RobustSGDClassifier` for each candidate.

    X (n, d), dense or CSR; y (n,) of -1.0 and +1.0; train: the rows to learn from, never copied.
    The rows come in a new uniformly random order each epoch.
    A step size that makes weights overflow leaves NaN in its column.
    Raises ValueError : losses of different classes; a schedule that chooses its own first step.
    """
    kinds = {candidate.loss.name for candidate in candidates}
    if len(kinds) != 1:
        raise ValueError(f"the candidates of one pass must share the kind of loss, got {sorted(kinds)}")
    slopes = compiled_slope(candidates[0].loss)
    if schedule_name in ("constant", "bottou"):
        raise ValueError(f"the schedule {schedule_name!r} chooses its own step size, so it has no grid")
    models = _models(candidates, schedule_name, largest_square(X[train]) + 1.0, len(train))
    rows = as_rows(X)
    W = np.zeros((X.shape[1] + 1, len(candidates)))
    total = np.zeros_like(W)
    for number in range(epochs):
        order = train[permutation(len(train), rng)].astype(np.uint32)
        averaged = average == "epoch" or (average == "run" and number > 0)
        if average == "epoch":
            total[:] = 0.0
        _epoch(rows, y, order, W, total, averaged, slopes, models, number * len(train))
        if average == "epoch":
            W[:] = total / len(train)
    return total / ((epochs - 1) * len(train)) if average == "run" and epochs > 1 else W


def _models(candidates: Sequence[Candidate], name: str, size: float, n: int) -> Models:
    steps = [schedule(name, scaled_step(c.multiplier, c.loss, size, c.lam), c.lam, n) for c in candidates]
    return Models(
        columns([c.loss for c in candidates]),
        np.array([c.lam for c in candidates], float),
        np.array([s.eta0 for s in steps]),
        np.array([s.decay for s in steps]),
        steps[0].power,
        steps[0].warm,
        1.0,
    )


@njit(cache=True, error_model="numpy")
def _epoch(
    rows: Rows, y: Floats, order: Order, W: Floats, total: Floats, averaged: bool,
    slopes: Any, models: Models, t: int,
) -> None:  # fmt: skip
    """`sgd.epoch` for every model at once; slopes: r' over arrays; W, total (d+1, M)."""
    d, M, bias = W.shape[0] - 1, W.shape[1], models.bias
    lam, eta0, decay = models.lam, models.eta0, models.decay
    scale, kappa, eta = np.ones(M), np.zeros(M), np.empty(M)
    z, step = np.empty(M), np.empty(M)
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        dots(rows, i, W, z)
        for m in range(M):
            eta[m] = step_size(Schedule(eta0[m], decay[m], models.power, models.warm), t + k)
        for m in range(M):
            z[m] = y[i] * (scale[m] * z[m] + bias * W[d, m])
        slopes(z.ctypes, models.parameters.ctypes, M, step.ctypes, M)
        low = 0
        for m in range(M):
            moved = -eta[m] * y[i] * step[m]
            shrink = 1.0 - eta[m] * lam[m]
            scale[m] *= shrink
            low |= scale[m] < floor
            step[m] = moved / scale[m]
            W[d, m] = W[d, m] * shrink + bias * moved
        adds(rows, i, W, step)
        if averaged:
            for m in range(M):
                step[m] *= -kappa[m]
                kappa[m] += scale[m]
                total[d, m] += W[d, m]
            adds(rows, i, total, step)
        if low:
            small = np.flatnonzero(scale < floor)
            _flush(W, total, averaged, small, scale, kappa)
            scale[small], kappa[small] = 1.0, 0.0
    _flush(W, total, averaged, np.arange(M), scale, kappa)


@njit(cache=True)
def _flush(W: Floats, total: Floats, averaged: bool, chosen: Ints, scale: Floats, kappa: Floats) -> None:
    """The end of the lazy form for the chosen models; `total` only with averages."""
    for j in range(W.shape[0] - 1):
        for m in chosen:
            if averaged:
                total[j, m] += kappa[m] * W[j, m]
            W[j, m] *= scale[m]
