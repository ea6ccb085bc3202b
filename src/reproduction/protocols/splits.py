"""Training and test rows drawn at random, classes in proportion or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def random_split(
    y: NDArray[Any], test: float, stratified: bool, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """Rows (training, test), each ascending; round(test n) of them are for the test, at least one.

    stratified : the same share of every class.
    Raises ValueError : no row, or none of a class, would be left on one of the sides.
    """
    held = stratified_mask(y if stratified else np.zeros(len(y)), test, rng)
    return np.flatnonzero(~held), np.flatnonzero(held)


def stratified_mask(y: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mask of round(share n_c) members (at least one) of every class c; everything if share >= 1.

    Raises
    ------
    ValueError : a class would be empty on one of the sides.
    """
    if share >= 1:
        return np.ones(len(y), dtype=bool)
    mask = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        count = max(1, round(share * len(members)))
        if count == len(members):
            raise ValueError(
                f"class {label} has {len(members)} rows only: none would be left for the other part"
            )
        mask[members[:count]] = True
    return mask
