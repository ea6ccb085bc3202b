"""The choice of a method's parameters by cross-validation on the noisy labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from noisylabels.solvers.sgd_grid import Candidate
from reproduction.protocols.robust_sgd.data import Problem
from reproduction.protocols.robust_sgd.methods import Point, build, make_loss
from reproduction.protocols.specs import Spec
from reproduction.protocols.splits import stratified_mask


def validation_errors(
    spec: Spec,
    points: list[Point],
    problem: Problem,
    fold: NDArray[np.int64],
    epochs: int,
    seeds: Seeds,
    label: str,
) -> NDArray[np.float64]:
    """Misclassification of the noisy labels, (folds, points); every fold has a shuffle of its own."""
    count = int(fold.max()) + 1
    errors = np.empty((count, len(points)))
    for k in range(count):
        train, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        rng = seeds.generator("tuning", f"shuffle {label} fold {k}")
        if "losses" in spec.options:
            errors[k] = _errors_of_grid(spec, points, problem, train, held, epochs, rng)
        else:
            for j, point in enumerate(points):
                model = build(spec, point._asdict(), epochs, rng).fit(problem.X[train], problem.noisy[train])
                errors[k, j] = np.mean(model.predict(problem.X[held]) != problem.noisy[held])
    return errors


def _errors_of_grid(
    spec: Spec,
    points: list[Point],
    problem: Problem,
    train: NDArray[np.int64],
    held: NDArray[np.int64],
    epochs: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    losses = [make_loss(content) for content in spec.options["losses"]]
    candidates = [Candidate(losses[point.loss], point.lam, point.multiplier) for point in points]
    W = spec.cls.fit_grid(problem.X, problem.labels, train, candidates, rng, epochs=epochs, **spec.parameters)
    f = problem.X[held] @ W[:-1] + W[-1]
    wrong = (f >= 0) != (problem.noisy[held] > 0)[:, np.newaxis]
    return np.where(np.isfinite(W).all(axis=0), wrong.mean(axis=0), 1.0)


def choose(points: list[Point], errors: NDArray[np.float64], rule: str) -> dict[str, Any]:
    """The chosen point, its mean error and the lowest one; errors (folds, points).

    "one_se": among points within one standard error of the lowest mean, the largest lambda, then the smallest
    multiplier, then the lowest mean. "minimum": the lowest mean, ties as above.
    """
    mean = errors.mean(axis=0)
    best = int(mean.argmin())
    slack = 0.0
    if rule == "one_se" and len(errors) > 1:
        slack = float(errors[:, best].std(ddof=1) / np.sqrt(len(errors)))
    near = np.flatnonzero(mean <= mean[best] + slack)
    chosen = min(near, key=lambda j: (-points[j].lam, points[j].multiplier, mean[j], j))
    return points[chosen]._asdict() | {"error": float(mean[chosen]), "lowest": float(mean[best])}


def tuning_rows(problem: Problem, limit: int, rng: np.random.Generator) -> Problem:
    """The problem with at most ``limit`` training rows, classes (of the noisy labels) in proportion."""
    mask = stratified_mask(problem.noisy, limit / len(problem.noisy), rng)
    if mask.all():
        return problem
    return Problem(problem.X[mask], problem.clean[mask], problem.noisy[mask], problem.X_test, problem.y_test)
