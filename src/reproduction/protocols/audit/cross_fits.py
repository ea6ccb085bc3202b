"""Cross-fitted probabilities of flipped labels: the same rows, flips and folds for every classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from noisylabels.auditing.confident_joint import Classes
from noisylabels.auditing.cross_fitting import CrossFit, cross_fitted
from noisylabels.seeding import Seeds
from reproduction.protocols.kernels.data import Array, problems
from reproduction.protocols.specs import specs

LARGEST = 2**31


class Audited(NamedTuple):
    """One data set with its flips, as one classifier sees it.

    columns : of its rows in the result table.   X (n, d), standardised; true and observed classes y (n,).
    cross : cross-fitted probabilities.   model : the classifier, not fitted.
    """

    columns: dict[str, Any]
    X: Array
    true: Classes
    observed: Classes
    cross: CrossFit
    model: Any


def audited(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range
) -> Iterator[Audited]:
    """Every method on the training rows of every split and noise; a model is rebuilt for each.

    Raises ValueError : a method that does not exist, or that gives no probabilities.
    """
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        true = split.clean.astype(int)
        for k, noise in enumerate(settings["noise"]):
            named = columns | {"noise": noise}
            yield from by_methods(settings, named, split.X, true, noisy[:, k].astype(int), own)


def by_methods(
    settings: dict[str, Any],
    columns: dict[str, Any],
    X: Array,
    true: Classes,
    observed: Classes,
    seeds: Seeds,
) -> Iterator[Audited]:
    """Every method on the same rows, labels and folds."""
    state = int(seeds.generator(columns["repetition"], "folds").integers(LARGEST))
    for label, spec in specs(settings["methods"]).items():
        model = spec.build()
        cross = cross_fitted(
            X,
            observed,
            model,
            random_state=state,
            repetitions=settings["cross_fits"],
            folds=settings["folds"],
        )
        yield Audited(columns | {"method": label}, X, true, observed, cross, model)
