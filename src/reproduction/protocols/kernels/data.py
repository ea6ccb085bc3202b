"""Splits and flipped labels of the kernel study, each drawn under a name without the method's.

Source: Kaban and Bootkrajang, LABELNOISE 2017; which random numbers are drawn where is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise.flips import corrupt
from noisylabels.seeding import Seeds
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.splits import random_split
from reproduction.verdicts.per_point_errors import Scored

Array = NDArray[np.float64]
Labels = NDArray[np.int8]


@dataclass(frozen=True)
class Split:
    """One split of a data set, standardised; labels are 0 and 1.

    X (n, d), X_test (m, d); clean (n,) and truth (m,): true labels of the training and of the test rows.
    Of a split of a pool, test (m,) has the numbers of the test rows in it.
    """

    X: Array
    X_test: Array
    clean: Labels
    truth: Labels
    test: NDArray[np.integer[Any]] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def scored(self, found: NDArray[Any]) -> Scored:
        """The test rows as points of the pool, wrong where the ``found`` labels (m,) are not true."""
        return Scored(self.test, found != self.truth, len(self.clean) + len(self.truth))


def standardised(train: Array, test: Array) -> tuple[Array, Array]:
    """(x - mean) / std per feature, both of the training rows, std of a population; constant features: 0."""
    mean, std = train.mean(axis=0), train.std(axis=0)
    varies = train.max(axis=0) > train.min(axis=0)  # the std of a constant feature may be rounded above 0
    factor = np.divide(1.0, std, out=np.zeros_like(std), where=varies)
    return (train - mean) * factor, (test - mean) * factor


def official_split(dataset: Any, repetition: int) -> Split | None:
    """Split number ``repetition`` of a data set with arrays X, y, train, test; None beyond the last one."""
    arrays = dataset.arrays
    if "train" not in arrays:
        raise ValueError(
            f"{dataset.id} has no official splits (arrays train and test); say how to draw them: "
            "settings.splits, such as {test: 0.4, stratified: true}"
        )
    if repetition >= len(arrays["train"]):
        return None
    return _split(arrays, arrays["train"][repetition], arrays["test"][repetition])


def split_of(dataset: Any, repetition: int, splits: dict[str, Any] | None, seeds: Seeds) -> Split | None:
    """The official split of that number; of a data set without any, one drawn at random.

    splits : how to draw, ``{test: share of the rows, stratified: bool}``.
    """
    if splits is None or "train" in dataset.arrays:
        return official_split(dataset, repetition)
    rng = seeds.generator(repetition, "split")
    return _split(
        dataset.arrays, *random_split(dataset.arrays["y"], splits["test"], splits["stratified"], rng)
    )


def _split(arrays: dict[str, Any], train: NDArray[np.int64], test: NDArray[np.int64]) -> Split:
    X, X_test = standardised(arrays["X"][train], arrays["X"][test])
    labels = (arrays["y"] > 0).astype(np.int8)
    return Split(X, X_test, labels[train], labels[test], test)


def noisy_labels(clean: Labels, noise: list[str], seeds: Seeds, repetition: int) -> Labels:
    """One column of flipped 0/1 labels per noise label (see `noisylabels.noise.flips.parse`): (n, L)."""
    signs = (2 * clean - 1).astype(np.int8)
    columns = [corrupt(signs, label, seeds.generator(repetition, f"flips {label}")) for label in noise]
    return (np.stack(columns, axis=1) > 0).astype(np.int8)


def problems(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range
) -> Iterator[tuple[dict[str, Any], Split, Labels, Seeds]]:
    """(columns of its rows, split, noisy labels (n, L), seeds) of every split of every data set.

    A data set without official splits is split as ``settings["splits"]`` says; of one with them, a repetition
    beyond the last split is left out. With settings["first_split"] repetition r is split first + r, see
    `first_split`; its random numbers are the same as without.
    """
    for name, dataset, own in data_sets(settings, data, seeds):
        first = first_split(dataset, settings.get("first_split", 0))
        for number in range(first + repetitions.start, first + repetitions.stop):
            split = split_of(dataset, number, settings.get("splits"), own)
            if split is None:
                break
            columns = {"dataset": name, "source": dataset.variant, "repetition": number}
            yield columns, split, noisy_labels(split.clean, settings["noise"], own, number), own


def first_split(dataset: Any, wanted: int) -> int:
    """``wanted``, or half of the official splits of a data set that has fewer than twice as many."""
    return min(wanted, len(dataset.arrays["train"]) // 2) if "train" in dataset.arrays else wanted
