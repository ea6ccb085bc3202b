"""Projected gradient steps on the squared loss, compiled: one step, and a whole run of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, whole
from noisylabels.compiled.arithmetic import add, dot
from noisylabels.noise.features import real
from noisylabels.online.base import LinearLearner, Run

SHORT = 8  # rows shorter than this are summed in one plain loop


@njit(cache=True)
def project(w: np.ndarray, B_w: float) -> None:
    """w = w min(1, sqrt(B_w) / ||w||), in place."""
    _shrink(w, dot(w, 0, w), B_w)


@njit(cache=True)
def _shrink(w: np.ndarray, size: float, B_w: float) -> None:
    """`project` where size = ||w||^2 is known."""
    if size > B_w:
        scale = math.sqrt(B_w / size)
        for k in range(len(w)):
            w[k] *= scale


@njit(cache=True)
def step(w: np.ndarray, x: np.ndarray, y: float, second: np.ndarray, at: int, eta: float, B_w: float) -> None:
    """w = P(w - eta 2 (<w, x~> - y~) x~'), in place; x~ = x[at : at+d], x~' = second[at : at+d]."""
    d = len(w)
    if d >= SHORT:
        add(w, -eta * 2.0 * (dot(x, at, w) - y), second, at)
        project(w, B_w)
        return
    inner = size = 0.0
    for k in range(d):
        inner += x[at + k] * w[k]
    c = -eta * 2.0 * (inner - y)
    for k in range(d):
        w[k] += c * second[at + k]
        size += w[k] * w[k]
    _shrink(w, size, B_w)


@njit(cache=True)
def steps(
    clean: np.ndarray,
    x: np.ndarray,
    second: np.ndarray,
    y: np.ndarray,
    eta: float,
    B_w: float,
    w: np.ndarray,
    predictions: np.ndarray,
    total: np.ndarray,
    since: int,
) -> None:
    """predictions[t] = <w, clean_t>, then `step`, for all t; total = sum of w over the rounds t >= since.

    The instances are flat arrays of T d numbers.
    """
    d = len(w)
    for t in range(len(y)):
        predictions[t] = dot(clean, t * d, w)
        if t >= since:
            for k in range(d):
                total[k] += w[k]
        step(w, x, y[t], second, t * d, eta, B_w)


def arrays(learner: LinearLearner, X: ArrayLike, y: ArrayLike, copies: Sequence[ArrayLike]) -> list[Floats]:
    """The clean rows (T, d), the targets (T,) and the copies (T, d), checked; the learner is started."""
    clean = real("X", X, (None, None))
    learner._ready(clean.shape[1])
    targets = real("y", y, (len(clean),))
    return [clean, targets, *(real(f"copy {i}", copy, clean.shape) for i, copy in enumerate(copies, start=1))]


def whole_run(
    learner: LinearLearner,
    X: ArrayLike,
    X1: ArrayLike,
    X2: ArrayLike,
    y: ArrayLike,
    average_from: int = 0,
) -> Run:
    """All rounds of `steps` from the learner's present w, which ends as that of the last round.

    X: (T, d) instances to predict.  X1, X2: (T, d) copies for the residual and for the direction.  y: (T,).
    Raises ValueError: wrong shape, not finite, `average_from` not in 0..T-1, divergence.
    """
    clean, targets, first = arrays(learner, X, y, [X1])
    second = first if X2 is X1 else real("copy 2", X2, clean.shape)
    predictions, total = np.empty(len(targets)), np.zeros(clean.shape[1])
    since = whole("average_from", average_from, 0, len(targets) - 1)
    flat = clean.ravel(), first.ravel(), second.ravel()
    steps(*flat, targets, learner.eta, learner.B_w, learner.w, predictions, total, since)
    return finished(learner, predictions, total / (len(targets) - since))


def finished(learner: LinearLearner, predictions: Floats, average: Floats) -> Run:
    """The results as a `Run`, or a ValueError if they are not finite."""
    if not (np.isfinite(predictions).all() and np.isfinite(learner.w).all()):
        raise ValueError(f"{learner.name}: diverged; take a smaller step eta or scale the instances")
    return Run(predictions, learner.w.copy(), average)
