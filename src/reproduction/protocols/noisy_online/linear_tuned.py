"""`linear`, and before it the best multiple of the theorem's step for learners with the step "tuned".

The naive learner is compared at its own best step too, so that nothing it loses is owed to a step that was
made for another learner.
"""

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.protocols.noisy_online import linear
from reproduction.protocols.noisy_online.regret import Row
from reproduction.protocols.noisy_online.tasks import tasks
from reproduction.protocols.noisy_online.world import World


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{task: {learner: {T: factor}}}``: the smallest mean regret over pilot sequences, at every horizon."""
    chosen: dict[str, Any] = {}
    for name, task, own in tasks(settings, data, seeds):
        chosen[name] = {label: {} for label, spec in settings["learners"].items() if spec["step"] == "tuned"}
        for horizon in settings["horizons"]:
            worlds = [
                World(settings, task, own, f"pilot {i}", horizon * task.rounds)
                for i in range(settings["pilots"])
            ]
            for label, best in chosen[name].items():
                spec = settings["learners"][label]
                losses = [
                    sum(_loss(world, spec, factor) for world in worlds) for factor in settings["factors"]
                ]
                best[str(horizon)] = settings["factors"][int(np.argmin(losses))]
    return chosen


def _loss(world: World, spec: dict[str, Any], factor: float) -> float:
    eta, _ = world.step(spec, factor)
    return float(((world.run(spec, eta, 0.0).predictions - world.clean.y) ** 2).sum())


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of `linear`."""
    return linear.run(settings, data, seeds, repetitions, tuned)
