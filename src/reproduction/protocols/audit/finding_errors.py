"""How well confident learning finds labels that people got wrong, by the source of its probabilities.

A repetition draws a share of the rows. Observed labels: of a crowd, the majority vote of m labels drawn for
each row, ties by coins; else the labels y_noisy that the data set comes with. The true ones are those of
experts. Metrics: those of `finding_flips`; column noise says where the labels are from.

Source: Northcutt, Jiang and Chuang, Confident learning, JAIR 2021; what is compared is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from noisylabels.auditing.confident_joint import Classes
from noisylabels.noise.crowd import subset
from noisylabels.seeding import Seeds
from noisylabels.solvers.dawid_skene import majority_vote
from reproduction.protocols.audit.cross_fits import by_methods
from reproduction.protocols.audit.finding_flips import rows_of
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.kernels.data import standardised
from reproduction.protocols.splits import random_split


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set."""
    rows = []
    for name, dataset, own in data_sets(settings, data, seeds):
        X, y = dataset.arrays["X"], dataset.arrays["y"]
        for repetition in repetitions:
            drawn, _ = random_split(y, 1 - settings["share"], True, own.generator(repetition, "split"))
            columns = {"dataset": name, "source": dataset.variant, "repetition": repetition}
            Z = standardised(X[drawn], X[:0])[0]
            true = (y[drawn] > 0).astype(int)
            for noise, labels in observed(dataset.arrays, settings["annotators"], own, repetition):
                named = columns | {"noise": noise}
                for found in by_methods(settings, named, Z, true, labels[drawn], own):
                    rows += rows_of(found)
    return rows


def observed(
    arrays: dict[str, Any], annotators: list[int], seeds: Seeds, repetition: int
) -> Iterator[tuple[str, Classes]]:
    """(where the labels are from, labels 0 or 1 of all rows).

    Raises ValueError : a data set without labels by people.
    """
    if "y_noisy" in arrays:
        yield "as they come", (arrays["y_noisy"] > 0).astype(int)
        return
    if "response" not in arrays:
        raise ValueError("settings.datasets: a data set with labels by people is needed, such as rte")
    for m in annotators:
        chosen = subset(arrays["item"], m, seeds.generator(repetition, "annotators"))
        rng = seeds.generator(repetition, "ties")
        vote = majority_vote(arrays["item"][chosen], arrays["response"][chosen], len(arrays["y"]), rng)
        yield f"vote of {m}", np.asarray(vote > 0, dtype=int)
