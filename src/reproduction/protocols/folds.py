"""The folds of a cross-validation: rows at random, classes in proportion or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def random_folds(n: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each of n rows, at random, sizes differing by at most one.

    Raises ValueError : fewer rows than folds.
    """
    if n < count:
        raise ValueError(f"{n} rows cannot make {count} folds; lower the setting folds")
    fold = np.empty(n, dtype=np.int64)
    fold[rng.permutation(n)] = np.arange(n) % count
    return fold


def stratified_folds(y: NDArray[Any], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each row, at random within the classes of y (n,): every fold has its share of each.

    Raises ValueError : a class with fewer rows than folds.
    """
    fold = np.empty(len(y), dtype=np.int64)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        if len(members) < count:
            raise ValueError(
                f"class {label} has {len(members)} rows, fewer than the {count} folds; "
                "lower the setting folds"
            )
        fold[members] = np.arange(len(members)) % count
    return fold
