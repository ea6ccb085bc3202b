"""Linear learners on noisy instances, squared loss: regret on the clean data against the number of rounds.

Every horizon is a run of its own with its own clean sequence, noise and step;
all learners of a repetition share the sequence, its copies and its noisy targets.
"""

from typing import Any

import numpy as np

from noisylabels.protocols.noisy_online import comparators
from noisylabels.protocols.noisy_online.regret import Row, exponents, rows_of
from noisylabels.protocols.noisy_online.sequences import Floats, Task
from noisylabels.protocols.noisy_online.tasks import Noise, tasks
from noisylabels.protocols.noisy_online.world import Spec, World
from noisylabels.seeding import Seeds


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


def _repetition(settings: dict[str, Any], task: Task, seeds: Seeds, columns: Row, tuned: Spec) -> list[Row]:
    B_w, rows = settings["ball"], []
    best = comparators.quadratic(task.A, task.b, B_w)
    learners: dict[str, Spec] = settings["learners"]
    regrets: dict[str, dict[int, float]] = {label: {} for label in learners}
    bounds: dict[str, dict[int, float]] = {label: {} for label in learners}
    excesses: dict[str, dict[int, float]] = {label: {} for label in learners}
    for horizon in settings["horizons"]:
        world = World(settings, task, seeds, columns["repetition"], horizon * task.rounds)
        for label, spec in learners.items():
            factor = tuned[label][str(horizon)] if spec["step"] == "tuned" else 1.0
            eta, bound = world.step(spec, factor)
            done = world.run(spec, eta, settings["average_from"])
            regrets[label][world.T] = float(((done.predictions - world.clean.y) ** 2).sum()) - world.least
            if bound is not None:
                bounds[label][world.T] = bound
            at = columns | {"method": label, "x": world.T}
            rows += [at | {"metric": "weight_ratio", "value": float(done.average @ best / (best @ best))}]
            excesses[label][world.T] = excess = task.excess(done.average, best)
            rows += [at | {"metric": "excess_risk", "value": excess}]
            if bound is not None:
                rows += [at | {"metric": "excess_bound_ratio", "value": excess * world.T / bound}]
            limit = _predicted(spec, task, world.noise(spec), B_w)
            if limit is not None:
                ratio = float(limit @ best / (best @ best))
                rows += [at | {"metric": "weight_ratio_predicted", "value": ratio}]
                rows += [at | {"metric": "regret_per_round_predicted", "value": task.excess(limit, best)}]
    for label in learners:
        own = columns | {"method": label}
        lasts = settings["exponent_horizons"]
        rows += rows_of(own, regrets[label], bounds[label] or None, lasts=lasts)
        rows += exponents(own, "excess_exponent", excesses[label], lasts)
    return rows


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
