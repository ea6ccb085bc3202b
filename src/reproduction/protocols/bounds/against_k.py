"""The bound and its terms for the classifier that minimises it, against the dimension k of the projection.

Metrics at x = k: risk, 1/N sum min(1, 2 f_k); complexity; confidence; bound, their sum;
error, share of wrong test labels; excess = error - bound.
The rows of the training half, with their constant 1, are those of the minimiser.

Source: Kaban and Bootkrajang, LABELNOISE 2017, bound-minimising classifier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.classifiers.bound_minimiser import BoundMinimiser
from noisylabels.seeding import Seeds
from noisylabels.theory.projections import margins, uniform_bound
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.kernels.data import Split
from reproduction.protocols.kernels.features import random_split


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set."""
    rows = []
    for name, dataset, own in data_sets(settings, data, seeds):
        for repetition in repetitions:
            split = random_split(dataset, settings["train"], own, repetition)
            columns = {"dataset": name, "source": dataset.variant, "repetition": repetition, "method": "new"}
            for k in settings["ks"]:
                seed = int(own.generator(repetition, "starts").integers(2**31 - 1))
                values = _terms(split, k, settings["delta"], seed)
                rows += [columns | {"metric": m, "x": k, "value": v} for m, v in values.items()]
    return rows


def _terms(split: Split, k: int, delta: float, seed: int) -> dict[str, float]:
    model = BoundMinimiser(k=k, random_state=seed).fit(split.X, split.clean)
    h = np.append(model.coef_[0], model.intercept_)
    X = np.column_stack([split.X, np.ones(len(split.X))])
    bound = uniform_bound(margins(h, X, 2.0 * split.clean - 1.0), k, delta)
    error = float(np.mean(model.predict(split.X_test) != split.truth))
    terms = {"risk": bound.risk, "complexity": bound.complexity, "confidence": bound.confidence}
    return terms | {"bound": bound.total, "error": error, "excess": error - bound.total}
