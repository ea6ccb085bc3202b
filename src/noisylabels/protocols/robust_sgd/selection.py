"""Methods of the robust-SGD study as settings name them, and the choice of their parameters by
cross-validation.

A method is ``{method: robust_sgd, losses: [{loss: ramp, s: -1}, ...], parameters: {...}}`` or, without a
list of losses, ``{method: pegasos | liblinear, parameters: {...}}``. The grid is losses x lambdas x
multipliers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.frame import methods
from noisylabels.losses.margin import CONSTRUCTORS, Loss
from noisylabels.protocols.robust_sgd.data import Problem
from noisylabels.protocols.splits import stratified_mask
from noisylabels.seeding import Seeds
from noisylabels.solvers.sgd.many import Candidate, fit_models

Spec = dict[str, Any]


class Point(NamedTuple):
    """A point of the grid; loss: its index in the method's list, 0 without a list."""

    loss: int
    lam: float
    multiplier: float


def build(spec: Spec, point: dict[str, Any], epochs: int, rng: np.random.Generator) -> Any:
    """The estimator of a method at a point of its grid."""
    options = dict(spec.get("parameters", {}), lam=point["lam"])
    if "losses" in spec:
        options |= {"loss": make_loss(spec["losses"][point["loss"]]), "multiplier": point["multiplier"]}
        return methods.find(spec["method"])(epochs=epochs, random_state=rng, **options)
    return methods.find(spec["method"])(random_state=int(rng.integers(2**31 - 1)), **options)


def make_loss(spec: Spec) -> Loss:
    """``{loss: ramp, s: -1}`` -> the loss.

    Raises
    ------
    ValueError : an unknown loss or parameter.
    """
    parameters = {key: value for key, value in spec.items() if key != "loss"}
    if spec["loss"] not in CONSTRUCTORS:
        raise ValueError(f"unknown loss {spec['loss']!r}; known: {', '.join(CONSTRUCTORS)}")
    try:
        return CONSTRUCTORS[spec["loss"]](**parameters)
    except TypeError:
        raise ValueError(f"the loss {spec['loss']} has no parameters {sorted(parameters)}") from None


def folds(y: NDArray[Any], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Number of the fold of each row, classes in proportion.

    Raises
    ------
    ValueError : a class with fewer rows than folds.
    """
    fold = np.empty(len(y), dtype=np.int64)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        if len(members) < count:
            raise ValueError(f"class {label} has {len(members)} rows, fewer than the {count} folds")
        fold[members] = np.arange(len(members)) % count
    return fold


def grid(spec: Spec, lambdas: list[float], multipliers: list[float]) -> list[Point]:
    """Every point of the method's grid."""
    if "losses" not in spec:
        return [Point(0, lam, 1.0) for lam in lambdas]
    return [Point(i, lam, m) for i in range(len(spec["losses"])) for lam in lambdas for m in multipliers]


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
        if "losses" in spec:
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
    loss = [make_loss(item) for item in spec["losses"]]
    candidates = [Candidate(loss[point.loss], point.lam, point.multiplier) for point in points]
    options = spec.get("parameters", {})
    W = fit_models(
        problem.X,
        problem.labels,
        train,
        candidates,
        rng,
        epochs=epochs,
        schedule_name=options.get("schedule", "warm_inv_epoch"),
        average=options.get("average", "none"),
    )
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
