"""Cross-fitted probabilities of flipped labels: the same rows, flips and folds for every classifier."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from noisylabels.auditing.confident_joint import Classes
from noisylabels.auditing.cross_fitting import CrossFit, cross_fitted
from noisylabels.protocols.kernels.data import Array, problems
from noisylabels.protocols.specs import Spec, specs
from noisylabels.seeding import Seeds

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
    methods = specs(settings["methods"])
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        state = int(own.generator(columns["repetition"], "folds").integers(LARGEST))
        for k, noise in enumerate(settings["noise"]):
            true, observed = split.clean.astype(int), noisy[:, k].astype(int)
            for label, spec in methods.items():
                model = built(spec, split.X)
                cross = cross_fitted(
                    split.X,
                    observed,
                    model,
                    random_state=state,
                    repetitions=settings["cross_fits"],
                    folds=settings["folds"],
                )
                named = columns | {"noise": noise, "method": label}
                yield Audited(named, split.X, true, observed, cross, model)


def built(spec: Spec, X: Array) -> Any:
    """The classifier; with ``width: scale`` that of its kernel is sqrt(d / 2), for scaled features."""
    scale = spec.options.get("width") == "scale"
    return spec.build(**({"width": math.sqrt(X.shape[1] / 2)} if scale else {}))
