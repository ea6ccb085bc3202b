"""Noise on real targets."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]


def gaussian(y: Values, rng: np.random.Generator, *, scale: float) -> Values:
    """Add normal noise to every value, ``scale`` times the standard deviation of the values."""
    _check_scale(scale)
    return np.asarray(y + scale * y.std() * rng.standard_normal(len(y)))


def outliers(y: Values, rng: np.random.Generator, *, rate: float, scale: float) -> Values:
    """Add normal noise to a share of the values, ``scale`` times the deviation of all values."""
    _check_share("rate", rate)
    _check_scale(scale)
    chosen = rng.choice(len(y), round(rate * len(y)), replace=False)
    observed = np.array(y, dtype=float)
    observed[chosen] += scale * y.std() * rng.standard_normal(len(chosen))
    return observed


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value:g}; it must be from 0 to 1")


def _check_scale(value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"scale is {value:g}; it must be at least 0")
