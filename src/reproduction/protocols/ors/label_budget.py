"""Who gets several labels under a budget of B labels per round on average (ORS paper, Fig. 6).

For every noise model, budget, strategy, scaling and repetition: mse, the mean of (yhat_t - y_t)^2 over all
rounds against the clean label, and labels_per_round, what was really spent. r is the shared value of Fig.
2; the threshold a of the strategy "auto" is found by bisection on the tuning sequence of the repetition,
for each noise model, budget and scaling.
"""

import math
from typing import Any

from noisylabels.filters.base import NoisySequence
from noisylabels.filters.label_budget import run_budget, tune_a
from noisylabels.seeding import Seeds
from reproduction.protocols.ors.sequences import regression
from reproduction.protocols.ors.tasks import tuned_apart
from reproduction.protocols.specs import spec
from reproduction.protocols.tuning import best

SCALING = {"scaling": True, "no scaling": False}
CLEAN = {"method": "ors", "parameters": {"variant": "clean"}}


def budget_sequence(
    settings: dict[str, Any], noise: str, seeds: Seeds, repetition: int | str
) -> NoisySequence:
    """The sequence of one noise model with as many labels a round as the largest budget needs."""
    labels = max(2, math.ceil(max(settings["budgets"])))
    options = settings["task"] | {"variance_model": noise, "labels": labels}
    return regression(seeds, repetition, **options)


def shared_r(settings: dict[str, Any], seeds: Seeds, name: str) -> float:
    """r tuned on clean labels over the tuning sequence ``name`` of Fig. 2 (``tuning_rounds`` long)."""
    sequence = regression(seeds, name, **(settings["task"] | {"T": settings["tuning_rounds"]}))
    return float(best(spec("clean", CLEAN), ["r"], settings["grids"], {}, sequence)["parameters"]["r"])


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{repetition: {r, a: {noise: {scaling: {budget: a}}}}}``; no a where the budget is an integer."""

    def tune_on(name: str) -> dict[str, Any]:
        r = shared_r(settings, seeds, name)
        return {
            "r": r,
            "a": {noise: _thresholds(settings, noise, r, seeds, name) for noise in settings["noise"]},
        }

    return tuned_apart(settings, tune_on)


def _thresholds(settings: dict[str, Any], noise: str, r: float, seeds: Seeds, name: str) -> dict[str, Any]:
    """``{scaling: {budget: a}}`` that spend the budgets on the tuning sequence ``name``."""
    sequence = budget_sequence(settings, noise, seeds, name)
    uniforms = seeds.generator(name, "uniforms").uniform(size=len(sequence))
    fractional = [B for B in settings["budgets"] if round(B) != B]
    return {
        label: {
            f"{B:g}": tune_a(
                sequence.x, sequence.y, sequence.labels, r=r, B=B, scaling=scaling, uniforms=uniforms
            )
            for B in fractional
        }
        for label, scaling in SCALING.items()
    }


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows with noise = model of the variances, setting = scaling or no scaling,
    method = strategy, x = budget B.
    """
    rows = []
    for noise in settings["noise"]:
        for repetition in repetitions:
            sequence = budget_sequence(settings, noise, seeds, repetition)
            uniforms = seeds.generator(repetition, "uniforms").uniform(size=len(sequence))
            chosen = tuned[str(repetition)]
            for name, scaling in SCALING.items():
                for strategy in settings["strategies"]:
                    for B in settings["budgets"]:
                        result = run_budget(
                            sequence.x,
                            sequence.y,
                            sequence.labels,
                            r=chosen["r"],
                            B=B,
                            strategy=strategy,
                            scaling=scaling,
                            a=chosen["a"][noise][name].get(f"{B:g}", 1.0),
                            uniforms=uniforms,
                        )
                        columns = {
                            "noise": noise,
                            "setting": name,
                            "method": strategy,
                            "repetition": repetition,
                            "x": B,
                        }
                        rows.append(columns | {"metric": "mse", "value": result.loss.mean()})
                        rows.append(columns | {"metric": "labels_per_round", "value": result.used.mean()})
    return rows
