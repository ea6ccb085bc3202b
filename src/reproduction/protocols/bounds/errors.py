"""Test error of linear classifiers on random halves of a data set, labels as they are.

Metrics: error, share of wrong test labels in [0, 1];
k and C, what cross-validation on the training half chose.
The features are standardised on the training half.

Source: Kaban and Bootkrajang, LABELNOISE 2017, table of the bound minimiser.
Its protocol is not described; random halves are those of Zhang and Zhou, KDD 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.kernels.features import random_split
from reproduction.protocols.specs import Spec, specs

CHOSEN = {"k": "k_", "C": "C_"}
"""Metric -> fitted attribute."""


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set. All methods draw from the same stream."""
    methods = specs(settings["methods"])
    for spec in methods.values():
        spec.check()
    rows = []
    for name, dataset, own in data_sets(settings, data, seeds):
        for repetition in repetitions:
            split = random_split(dataset, settings["train"], own, repetition)
            columns = {"dataset": name, "source": dataset.variant, "repetition": repetition}
            for label, spec in methods.items():
                model = _build(spec, own, repetition).fit(split.X, split.clean)
                values = {"error": float(np.mean(model.predict(split.X_test) != split.truth))}
                values |= {m: float(getattr(model, a)) for m, a in CHOSEN.items() if hasattr(model, a)}
                named = columns | {"method": label}
                rows += [named | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows


def _build(spec: Spec, seeds: Seeds, repetition: int) -> Any:
    model = spec.build()
    if "random_state" in model.get_params():
        model.set_params(random_state=int(seeds.generator(repetition, "starts").integers(2**31 - 1)))
    return model
