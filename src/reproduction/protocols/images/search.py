"""Classifiers trained on what a web search returned: the test error, and the images that each ranks first.

A repetition draws a share of the rows for training with their noisy labels; the others are judged by their
true ones. A data set without noisy labels is trained on its labels as they are. Metrics: error, wrong test
labels in %; positive, 1 where the test image at rank x (the largest decision value has rank 1) is truly of
the positive class; noise_share, wrong training labels in %; flagged.

Source: Kaban and Bootkrajang, LABELNOISE 2017, Bike / NotBike; split and features are those at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.bases.contracts import FitsDistances, FitsMany
from noisylabels.seeding import Seeds
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.kernels.data import Array, Labels, Split, standardised
from reproduction.protocols.kernels.methods import resolve
from reproduction.protocols.kernels.training import train


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set."""
    rows = []
    for name, dataset, own in data_sets(settings, data, seeds):
        for repetition in repetitions:
            split, observed = found_images(dataset, settings["train"], own, repetition)
            columns = {"dataset": name, "source": dataset.variant, "repetition": repetition}
            wrong = 100.0 * float(np.mean(observed != split.clean))
            rows.append(columns | {"method": "search", "metric": "noise_share", "value": wrong})
            for label, (scores, flagged) in _scores(settings, split, observed, own, repetition).items():
                named = columns | {"method": label}
                error = 100.0 * float(np.mean((scores > 0) != split.truth))
                rows.append(named | {"metric": "error", "value": error})
                rows.append(named | {"metric": "flagged", "value": float(flagged)})
                first = split.truth[np.argsort(-scores, kind="stable")[: settings["ranks"]]]
                rows += [
                    named | {"metric": "positive", "x": rank, "value": float(truth)}
                    for rank, truth in enumerate(first, start=1)
                ]
    return rows


def found_images(dataset: Any, share: float, seeds: Seeds, repetition: int) -> tuple[Split, Labels]:
    """A random split, and the noisy labels of its training rows, 0 or 1.

    Raises ValueError : too few rows for a share, or one noisy class among the training rows.
    """
    arrays = dataset.arrays
    y = (arrays["y"] > 0).astype(np.int8)
    noisy = (arrays.get("y_noisy", arrays["y"]) > 0).astype(np.int8)
    order = seeds.generator(repetition, "split").permutation(len(y))
    train, test = np.split(order, [round(share * len(y))])
    if len(test) == 0 or len(np.unique(noisy[train])) < 2:
        raise ValueError(
            f"train: a share of {share:g} of the {len(y)} rows of {dataset.id} leaves no row for the test, "
            "or one class for training"
        )
    X, X_test = standardised(arrays["X"][train], arrays["X"][test])
    return Split(X, X_test, y[train], y[test]), noisy[train]


def _scores(
    settings: dict[str, Any], split: Split, observed: Labels, seeds: Seeds, repetition: int
) -> dict[str, tuple[Array, bool]]:
    """Label -> (decision values of the test rows, flagged), in the order of the settings.

    The kernel methods are selected and fitted as in the kernel study; any other is a scikit-learn estimator.
    """
    methods = resolve(settings)
    kernel = [m for m in methods if isinstance(m.spec.cls, FitsMany | FitsDistances)]
    outcomes = train(kernel, split, observed[:, np.newaxis], settings, seeds, repetition)
    found = {}
    for method in methods:
        if method.label in outcomes:
            outcome = outcomes[method.label][0]
            found[method.label] = outcome.scores, outcome.flagged
        else:
            model = method.spec.build().fit(split.X, observed)
            found[method.label] = (
                model.decision_function(split.X_test),
                not getattr(model, "converged_", True),
            )
    return found
