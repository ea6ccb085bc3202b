"""Constant steps and Theorem 1 of Han, Tsang, Chen: the published bound, and with the term its proof drops.

For a convex, beta-smooth G, eta < 1/(6 beta) and i uniform, with D = ||w_0 - w*||^2:
published   D / ((2 eta - 12 eta^2 beta) T)
corrected   published + 3 eta sigma^2 / (2 - 12 eta beta),  sigma^2 = E ||grad g_i(w*)||^2,
both against the mean of E G(w_t) - G(w*) over the T steps. Metrics: gap (that mean, over every `stride`-th
step), published, corrected, and excess_published = gap - published, excess_corrected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.losses.margin import Log, Loss
from noisylabels.noise.flips import corrupt
from noisylabels.seeding import Seeds
from noisylabels.solvers.sgd import Objective, Schedule, as_rows, epoch

Array = NDArray[np.float64]


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows; noise = flips, setting = eta in units of 1/(6 beta), method = where w starts."""
    rows = []
    loss, lam = Log(), settings["lam"]
    for repetition in repetitions:
        for label in settings["noise"]:
            X, y = _points(settings, label, seeds, repetition)
            optimum = minimiser(X, y, lam)
            gradients = (loss.slope(y * (X @ optimum)) * y)[:, np.newaxis] * X + lam * optimum
            sigma2 = float(np.mean(np.sum(gradients**2, axis=1)))
            beta = loss.curvature * float(np.max(np.sum(X**2, axis=1))) + lam
            for share in settings["steps"]:
                eta = share / (6 * beta)
                for method, start in (("from zero", np.zeros_like(optimum)), ("from the optimum", optimum)):
                    rng = seeds.generator(repetition, f"order {label}")
                    gap = _mean_gap(X, y, loss, lam, eta, start, optimum, settings, rng)
                    free = 2 * eta - 12 * eta**2 * beta
                    published = float(np.sum((start - optimum) ** 2)) / (free * settings["T"])
                    corrected = published + 3 * eta**2 * sigma2 / free
                    columns = {"noise": label, "setting": f"{share:g}", "method": method}
                    columns |= {"repetition": repetition, "x": settings["T"]}
                    values = {"gap": gap, "published": published, "corrected": corrected}
                    values |= {"excess_published": gap - published, "excess_corrected": gap - corrected}
                    rows += [columns | {"metric": name, "value": value} for name, value in values.items()]
    return rows


def _points(settings: dict[str, Any], label: str, seeds: Seeds, repetition: int) -> tuple[Array, Array]:
    """Two Gaussian classes, +-m along the diagonal with |m| = 1, and a constant feature."""
    rng = seeds.generator(repetition, "points")
    n, d = settings["n"], settings["d"]
    y = np.where(np.arange(n) % 2 == 0, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, d)) / np.sqrt(d) + y[:, np.newaxis] / np.sqrt(d)
    noisy = corrupt(y, label, seeds.generator(repetition, f"noise {label}"))
    return np.column_stack([X, np.ones(n)]), noisy.astype(np.float64)


def minimiser(X: Array, y: Array, lam: float) -> Array:
    """w* = argmin (1/n) sum_i ln(1 + e^(-y_i x_i.w)) + lambda/2 ||w||^2, by Newton's method."""
    loss, w = Log(), np.zeros(X.shape[1])
    for _ in range(100):
        p = -loss.slope(y * (X @ w))  # r'' = p (1 - p)
        gradient = lam * w - X.T @ (p * y) / len(y)
        if np.linalg.norm(gradient) < 1e-14:
            break
        hessian = (X.T * (p * (1 - p))) @ X / len(y) + lam * np.eye(len(w))
        w = w - np.linalg.solve(hessian, gradient)
    return w


def _mean_gap(
    X: Array,
    y: Array,
    loss: Loss,
    lam: float,
    eta: float,
    start: Array,
    optimum: Array,
    settings: dict[str, Any],
    rng: np.random.Generator,
) -> float:
    """Mean of G(w_t) - G(w*) over t = 1, 1 + stride, ... of one run of T constant steps."""
    rows, w = as_rows(X), np.append(start, 0.0)
    objective = Objective(loss, lam, 0.0, 0.0)
    order = rng.integers(len(y), size=settings["T"], dtype=np.uint32)
    steps = Schedule(eta, 0.0, 1.0, 1.0)
    unused = np.zeros_like(w)
    gaps = []
    for at in range(0, settings["T"], settings["stride"]):
        epoch(rows, y, order[at : at + 1], w, unused, False, objective, steps, 0)
        gaps.append(_gap(X, y, loss, lam, w[:-1], optimum))
        epoch(rows, y, order[at + 1 : at + settings["stride"]], w, unused, False, objective, steps, 0)
    return float(np.mean(gaps))


def _gap(X: Array, y: Array, loss: Loss, lam: float, w: Array, optimum: Array) -> float:
    """G(w) - G(w*)."""
    values = [loss.value(y * (X @ v)).mean() + 0.5 * lam * (v @ v) for v in (w, optimum)]
    return float(values[0] - values[1])
