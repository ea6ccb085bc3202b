"""How the self-tuned strategy finds its threshold (ORS paper, Fig. 7).

After every 100 rounds: labels_per_round, the labels so far over the rounds so far (b_t), and the threshold a.
"""

from typing import Any

import numpy as np

from noisylabels.filters.label_budget import run_budget
from noisylabels.seeding import Seeds
from reproduction.protocols.ors.label_budget import budget_sequence, shared_r
from reproduction.protocols.ors.tasks import tuned_apart

BLOCK = 100
"""Rounds between two adjustments of a."""


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{repetition: {r}}``: the shared value of Fig. 2."""
    return tuned_apart(settings, lambda name: {"r": shared_r(settings, seeds, name)})


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows with noise = model of the variances, setting = "B=1.5" and so on, x = number of rounds seen."""
    rows = []
    for noise in settings["noise"]:
        for repetition in repetitions:
            sequence = budget_sequence(settings, noise, seeds, repetition)
            uniforms = seeds.generator(repetition, "uniforms").uniform(size=len(sequence))
            for B in settings["budgets"]:
                result = run_budget(
                    sequence.x,
                    sequence.y,
                    sequence.labels,
                    r=tuned[str(repetition)]["r"],
                    B=B,
                    strategy="self_tuned",
                    scaling=True,
                    uniforms=uniforms,
                )
                columns = {
                    "noise": noise,
                    "setting": f"B={B:g}",
                    "method": "self_tuned",
                    "repetition": repetition,
                }
                rounds = np.arange(BLOCK, len(sequence) + 1, BLOCK)
                spent = np.cumsum(result.used)[rounds - 1] / rounds
                for metric, values in (("labels_per_round", spent), ("a", result.a[: len(rounds)])):
                    rows += [
                        columns | {"metric": metric, "x": x, "value": value}
                        for x, value in zip(rounds, values, strict=True)
                    ]
    return rows
