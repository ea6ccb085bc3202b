"""Linear learners on noisy instances, squared loss: regret on the clean data against the number of rounds.

Every horizon is a run of its own with its own clean sequence, noise and step;
all learners of a repetition share the sequence, its copies and its noisy targets.
"""

from typing import Any, NamedTuple

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.protocols.noisy_online import comparators
from reproduction.protocols.noisy_online.regret import Row, exponents, rows_of
from reproduction.protocols.noisy_online.sequences import Floats, Task
from reproduction.protocols.noisy_online.tasks import Noise, tasks
from reproduction.protocols.noisy_online.world import Spec, World


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; x = rounds T. Beside regret: weight_ratio <v, u> / ||u||^2 and excess_risk of the mean v of w_t.

    u is the best vector of the ball; the average is over the rounds after the share ``average_from``.
    The rows .._predicted are the limits that theory has for the biased learners.
    """
    rows = []
    for name, task, own in tasks(settings, data, seeds):
        for repetition in repetitions:
            columns = {"dataset": name, "source": task.source, "repetition": repetition}
            rows += _repetition(settings, task, own, columns, tuned.get(name, {}))
    return rows


class Point(NamedTuple):
    """One run of a learner: its regret, the bound if a theorem has one, and what else is said of it."""

    regret: float
    bound: float | None
    measures: dict[str, float]


def _repetition(settings: dict[str, Any], task: Task, seeds: Seeds, columns: Row, tuned: Spec) -> list[Row]:
    best = comparators.quadratic(task.A, task.b, settings["ball"])
    points: dict[str, dict[int, Point]] = {label: {} for label in settings["learners"]}
    for horizon in settings["horizons"]:
        world = World(settings, task, seeds, columns["repetition"], horizon * task.rounds)
        for label, spec in settings["learners"].items():
            factor = tuned[label][str(horizon)] if spec["step"] == "tuned" else 1.0
            points[label][world.T] = _point(settings, task, world, best, spec, factor)
    rows = []
    for label, found in points.items():
        rows += _rows(found, columns | {"method": label}, settings["exponent_horizons"])
    return rows


def _point(
    settings: dict[str, Any], task: Task, world: World, best: Floats, spec: Spec, factor: float
) -> Point:
    eta, bound = world.step(spec, factor)
    done = world.run(spec, eta, settings["average_from"])
    regret = float(((done.predictions - world.clean.y) ** 2).sum()) - world.least
    excess = task.excess(done.average, best)
    measures = {"weight_ratio": _along(done.average, best), "excess_risk": excess}
    if bound is not None:
        measures["excess_bound_ratio"] = excess * world.T / bound
    limit = _predicted(spec, task, world.noise(spec), settings["ball"])
    if limit is not None:
        measures["weight_ratio_predicted"] = _along(limit, best)
        measures["regret_per_round_predicted"] = task.excess(limit, best)
    return Point(regret, bound, measures)


def _rows(points: dict[int, Point], columns: Row, lasts: list[int]) -> list[Row]:
    rows = [
        columns | {"metric": metric, "x": T, "value": value}
        for T, point in points.items()
        for metric, value in point.measures.items()
    ]
    bounds = {T: point.bound for T, point in points.items() if point.bound is not None}
    rows += rows_of(columns, {T: p.regret for T, p in points.items()}, bounds or None, lasts=lasts)
    excesses = {T: point.measures["excess_risk"] for T, point in points.items()}
    return rows + exponents(columns, "excess_exponent", excesses, lasts)


def _along(w: Floats, best: Floats) -> float:
    """<w, u> / ||u||^2."""
    return float(w @ best / (best @ best))


def _predicted(spec: Spec, task: Task, noise: Noise, B_w: float) -> Floats | None:
    """Where a biased learner goes, argmin w'(A + S)w - 2b'w in the ball; None for one that is unbiased.

    S is what is left of the covariance: all of it over the number of copies, or 1 - c of it if told c Sigma.
    """
    left = 1 - spec["told"] if "told" in spec else 1 / spec.get("copies", 1)
    if spec["method"] not in ("naive_ogd", "known_covariance") or noise.variances.ndim > 1:
        return None
    if spec["method"] == "known_covariance" and "told" not in spec:
        return None
    return comparators.quadratic(task.A + left * np.diag(noise.variances), task.b, B_w)
