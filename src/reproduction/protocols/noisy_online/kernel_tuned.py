"""`kernel`, and before it the best multiple of the theorem's step for the naive learner."""

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.protocols.noisy_online import kernel
from reproduction.protocols.noisy_online.kernel_round import Round, ball_of
from reproduction.protocols.noisy_online.kernel_tasks import pair_of, task_of
from reproduction.protocols.noisy_online.regret import Row


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{T: factor}`` of the least loss on pilot sequences; above ``pilot_horizon`` the one found there."""
    task = task_of(settings)
    pair = pair_of(settings["kernel"], task.d, settings["variance"])
    ball = ball_of(settings, task.rivals(pair)[""], pair)
    chosen: dict[str, Any] = {}
    for T in settings["horizons"]:
        length, factors = min(T, settings["pilot_horizon"]), settings["pilot_factors"]
        if length == T:
            names = [f"pilot {i}" for i in range(settings["pilots"])]
            pilots = [Round(settings, task, pair, seeds, name, T) for name in names]
            losses = [
                sum(pilot.loss("naive_kernel", pilot.step(ball, factor)[0], ball) for pilot in pilots)
                for factor in factors
            ]
            chosen[str(T)] = factors[int(np.argmin(losses))]
        else:
            chosen[str(T)] = chosen[str(settings["pilot_horizon"])]
    return chosen


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of `kernel`."""
    return kernel.run(settings, data, seeds, repetitions, tuned)
