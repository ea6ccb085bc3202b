"""Noise on the labels of K classes, numbers from 0."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]


def _other_classes(y: Values, chosen: Values, rng: np.random.Generator) -> Values:
    """Change the class of chosen rows to another one, each with the same probability."""
    classes = int(y.max()) + 1
    observed = y.copy()
    steps = rng.integers(1, max(classes, 2), size=len(chosen))
    observed[chosen] = (y[chosen] + steps) % classes
    return observed


def symmetric_classes(y: Values, rng: np.random.Generator, *, rate: float) -> Values:
    """Change an exact share of the labels to other classes, at random."""
    _check_share("rate", rate)
    chosen = rng.choice(len(y), round(rate * len(y)), replace=False)
    return _other_classes(y, chosen, rng)


def independent_classes(y: Values, rng: np.random.Generator, *, rate: float) -> Values:
    """Change each label with the same probability to another class, at random."""
    _check_share("rate", rate)
    return _other_classes(y, np.flatnonzero(rng.random(len(y)) < rate), rng)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value:g}; it must be from 0 to 1")
