"""Which rows a candidate is trained on, and on which labels it is judged.

trusted : a share V of the training rows keeps clean labels; the rest R, with noisy labels, is cut into folds;
    fits on all folds but one, each judged on V.   trusted_holdout : one fit on R, judged on V.
cv : folds of all training rows, judged on the noisy labels of the fold that was left out.

Source: Kaban and Bootkrajang, LABELNOISE 2017, "CV (5 fold) with a trusted validation set";
this reading of it is ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.protocols.folds import random_folds
from reproduction.protocols.kernels.data import Labels

SELECTIONS = ("trusted", "trusted_holdout", "cv")
Rows = NDArray[np.int64]


class Fold(NamedTuple):
    """Rows to train on, rows to judge on, and the labels of the latter (h, L)."""

    train: Rows
    held: Rows
    labels: Labels


def validation(
    selection: str, clean: Labels, noisy: Labels, settings: dict[str, Any], seeds: Seeds, repetition: int
) -> list[Fold]:
    """The fits of a kind of selection for true labels ``clean`` (n,) and observed ones ``noisy`` (n, L).

    Raises ValueError : fewer rows than folds.
    """
    n, columns = noisy.shape
    count = settings["folds"]
    if selection == "cv":
        number = random_folds(n, count, seeds.generator(repetition, "folds"))
        return [
            Fold(np.flatnonzero(number != k), np.flatnonzero(number == k), noisy[number == k])
            for k in range(count)
        ]
    trusted = trusted_rows(n, settings["trusted"], seeds, repetition)
    held, rest = np.flatnonzero(trusted), np.flatnonzero(~trusted)
    labels = np.repeat(clean[held, np.newaxis], columns, axis=1)
    if selection == "trusted_holdout":
        return [Fold(rest, held, labels)]
    number = random_folds(len(rest), count, seeds.generator(repetition, "folds"))
    return [Fold(rest[number != k], held, labels) for k in range(count)]


def validation_size(selection: str, n: int, settings: dict[str, Any]) -> int:
    """The number of rows, of n, on which every candidate is judged."""
    return n if selection == "cv" else trusted_count(n, settings["trusted"])


def trusted_count(n: int, share: float) -> int:
    """round(share n) rows, at least one."""
    return max(1, round(share * n))


def trusted_rows(n: int, share: float, seeds: Seeds, repetition: int) -> NDArray[np.bool_]:
    """Which of n rows, drawn at random, keep their clean label for the validation."""
    mask = np.zeros(n, dtype=bool)
    mask[seeds.generator(repetition, "trusted").permutation(n)[: trusted_count(n, share)]] = True
    return mask
