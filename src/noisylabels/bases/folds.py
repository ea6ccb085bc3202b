"""Folds for linear classifiers that choose a parameter by themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import whole

Array = NDArray[np.float64]
Integers = NDArray[np.intp]


def with_constant(X: Array) -> Array:
    """X (n, d) with a constant 1 as its last feature, (n, d + 1)."""
    return np.column_stack([X, np.ones(len(X))])


def fold_numbers(s: Array, folds: int, rng: np.random.Generator) -> Integers | None:
    """The fold of each point (n,), 0..folds - 1, both classes of s spread evenly; drawn at random.

    A class with fewer points than folds gives so many folds; None where it has one point, which cannot be
    both learned and tested. Raises ValueError : folds < 2.
    """
    folds = whole("folds", folds, 2)
    members = [rng.permutation(np.flatnonzero(those)) for those in (s < 0, s >= 0)]
    folds = min(folds, *(len(those) for those in members))
    if folds < 2:
        return None
    number = np.empty(len(s), dtype=np.intp)
    for those in members:
        number[those] = np.arange(len(those)) % folds
    return number
