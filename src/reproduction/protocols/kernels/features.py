"""Accuracy of multiple-kernel classifiers with kernels on single features, under symmetric label noise.

Kernels: every width on each feature alone and on all features, 10 (d + 1) in the paper. Every repetition
draws a share of the rows for training; its labels are flipped independently. A method that asks for the true
flip rate (`ToldFlipRate`) is told it. Metrics: accuracy in [0, 1] on the clean labels of the other rows;
flagged, 1 where the fit is doubtful.

Source: Kaban and Bootkrajang, LABELNOISE 2017, "rMKLR vs StPMKL"; split, widths and StPMKL are our choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.bases.contracts import FitsBank, ToldFlipRate, require
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import squared_distances
from noisylabels.noise.flips import parse
from noisylabels.seeding import Seeds
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.kernels.data import Array, Split, noisy_labels, standardised
from reproduction.protocols.specs import Spec, specs


def random_split(dataset: Any, share: float, seeds: Seeds, repetition: int) -> Split:
    """round(share N) random rows for training, the others for testing; redrawn while training has one class.

    Raises ValueError : no row would be left for one of the parts.
    """
    X, y = dataset.arrays["X"], (dataset.arrays["y"] > 0).astype(np.int8)
    count = round(share * len(y))
    if not 1 < count < len(y):
        raise ValueError(
            f"train: a share of {share:g} of the {len(y)} rows of {dataset.id} leaves a part empty"
        )
    rng = seeds.generator(repetition, "split")
    order = rng.permutation(len(y))
    while len(np.unique(y[order[:count]])) < 2:
        order = rng.permutation(len(y))
    train, test = order[:count], order[count:]
    return Split(*standardised(X[train], X[test]), y[train], y[test])


def feature_distances(A: Array, B: Array) -> Array:
    """Squared distances of the rows of A (n, d) and B (m, d) in each feature, then in all: (d + 1, n, m)."""
    single = [squared_distances(A[:, [j]], B[:, [j]]) for j in range(A.shape[1])]
    return np.stack([*single, squared_distances(A, B)])


def flip_rate(noise: str) -> float:
    """The rate of ``"independent RATE"``.

    Raises ValueError : another kind of noise, which has no single rate to tell a method.
    """
    model, parameters = parse(noise)
    if model != "independent":
        raise ValueError(f"noise {noise!r}: methods are told one flip rate here; use `independent RATE`")
    return parameters["rate"]


def resolve(settings: dict[str, Any]) -> list[Spec]:
    """The methods of the settings; ValueError: a class that takes no bank of kernels, a wrong parameter."""
    methods = list(specs(settings["methods"]).values())
    for method in methods:
        require(method.cls, FitsBank, method.label, "a protocol with kernels on single features")
        method.check()
    return methods


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set."""
    methods = resolve(settings)
    rates = [flip_rate(noise) for noise in settings["noise"]]
    widths = np.exp2(np.asarray(settings["widths"], dtype=float))
    rows = []
    for name, dataset, own in data_sets(settings, data, seeds):
        for repetition in repetitions:
            split = random_split(dataset, settings["train"], own, repetition)
            noisy = noisy_labels(split.clean, settings["noise"], own, repetition)
            D, D_out = feature_distances(split.X, split.X), feature_distances(split.X_test, split.X)
            bank = KernelBank.of_widths(widths, groups=len(D))
            columns = {"dataset": name, "source": dataset.variant, "repetition": repetition}
            for method in methods:
                told = {method.cls.FLIP_RATE: rates} if isinstance(method.cls, ToldFlipRate) else {}
                fits = method.cls.fit_bank(bank, D, D_out, noisy, **(told | method.parameters))
                accuracy = _accuracy(fits.scores[:, 0], split.truth)
                for noise, value, flag in zip(settings["noise"], accuracy, fits.flagged[:, 0], strict=True):
                    own_columns = columns | {"noise": noise, "method": method.label}
                    rows.append(own_columns | {"metric": "accuracy", "value": value})
                    rows.append(own_columns | {"metric": "flagged", "value": float(flag)})
    return rows


def _accuracy(scores: Array, truth: NDArray[Any]) -> Array:
    """Share of right classes for scores (L, m), class 1 where positive: (L,)."""
    return np.asarray(((scores > 0) == truth).mean(axis=1))
