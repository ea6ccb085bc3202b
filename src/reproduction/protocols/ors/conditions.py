"""Filters tuned for additive noise of known variance,
run where that knowledge is wrong (ours; ORS paper, Section 6).

A condition tells the filter a wrong variance, v^_t = factor v_t, v_t exp(lognormal g_t) or a constant,
or corrupts the labels in another way (`noise.additive.OTHER_LABELS`).
Metric: mse, the final cumulative squared error against the clean label.
"""

import dataclasses
from typing import Any

import numpy as np

from noisylabels.filters.base import NoisySequence
from noisylabels.noise.additive import OTHER_LABELS
from noisylabels.seeding import Seeds
from reproduction.protocols.ors.tasks import sequence, tuned_apart
from reproduction.protocols.tuning import filters, losses, tune_all


def apply(
    condition: dict[str, Any], told: NoisySequence, seeds: Seeds, repetition: int | str
) -> NoisySequence:
    """The sequence as the condition shows it to the filter; ``{}`` changes nothing.

    Keys: factor, lognormal (standard deviation of log v^/v), constant, labels (a key of `OTHER_LABELS`).
    """
    if "labels" in condition:
        corrupt = OTHER_LABELS[condition["labels"]]
        columns = [corrupt(told.y, seeds.generator(repetition, f"label{k}")) for k in (1, 2)]
        return dataclasses.replace(
            told, labels=np.column_stack([labels for labels, _ in columns]), v=columns[0][1]
        )
    v = told.v * condition.get("factor", 1.0)
    if "lognormal" in condition:
        v = v * np.exp(
            condition["lognormal"] * seeds.generator(repetition, "v_error").standard_normal(len(v))
        )
    if "constant" in condition:
        v = np.full(len(v), float(condition["constant"]))
    return dataclasses.replace(told, v=v)


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """Parameters tuned without any condition: the error of a condition is what a wrong belief costs."""
    methods, mode, shared = filters(settings), settings["mode"], settings.get("shared")
    return tuned_apart(
        settings,
        lambda name: tune_all(
            methods, settings["grids"], mode, shared, sequence(settings["task"], data, seeds, name)
        ),
    )


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows with setting = name of the condition, x = its position in the settings."""
    rows = []
    methods = filters(settings)
    for repetition in repetitions:
        chosen = tuned[str(repetition)]
        pairs = [(spec, chosen[label]["parameters"]) for label, spec in methods.items()]
        plain = sequence(settings["task"], data, seeds, repetition)
        for position, (name, condition) in enumerate(settings["conditions"].items()):
            errors = losses(pairs, apply(condition, plain, seeds, repetition), 1)[:, 0]
            for label, error in zip(methods, errors, strict=True):
                columns = {"setting": name, "method": label, "repetition": repetition, "x": position}
                rows.append(columns | {"metric": "mse", "value": error})
    return rows
