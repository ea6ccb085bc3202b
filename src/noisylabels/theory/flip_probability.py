"""How often a random projection to k dimensions flips the sign of an inner product."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def flip_probability(theta: ArrayLike, k: ArrayLike) -> Array:
    """f_k(theta) = I_{(1 - cos theta) / 2}(k/2, k/2) = P((R h).(R x) <= 0) for R (k, d) with independent Gaussian entries.

    theta in [0, pi], the angle between h and x; I is the regularised incomplete beta function; k >= 1.
    Raises ValueError : theta outside [0, pi], k < 1. Source: Kaban and Bootkrajang, LABELNOISE 2017.
    """
    raise NotImplementedError


def slope(theta: ArrayLike, k: ArrayLike) -> Array:
    """d f_k / d theta = sin(theta)^(k-1) / B(1/2, k/2)."""
    raise NotImplementedError


def gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Array:
    """f_k(theta) <= exp(-k cos(theta)^2 / 2) for margin = cos theta > 0; 1 for margins <= 0."""
    raise NotImplementedError


def sub_gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Array:
    """exp(-k cos(theta)^2 / 8) for margin = cos theta > 0 and sub-Gaussian entries of R; 1 for margins <= 0."""
    raise NotImplementedError


def simulated(
    margin: float, k: int, trials: int, rng: np.random.Generator, entries: str = "gaussian", d: int = 10
) -> float:
    """Share of `trials` projections R (k, d) with (R h).(R x) <= 0, where cos(h, x) = margin.

    entries : "gaussian" or "rademacher" (+-1 with equal probability; h and x are then random directions).
    """
    raise NotImplementedError
