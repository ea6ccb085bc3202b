"""Generalisation bounds by random projections, term by term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """The three terms: 1/n sum_i min(1, 2 f_k(theta_i)), 2 sqrt(2/pi) sqrt(k/n), 3 sqrt(log(2/delta) / (2 n))."""

    risk: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """Their sum, which bounds the error with probability 1 - delta."""
        return self.risk + self.complexity + self.confidence


def margins(h: ArrayLike, X: ArrayLike, s: ArrayLike) -> Array:
    """cos theta_i = s_i h.x_i / (||h|| ||x_i||), for X (n, d), s (n,), h (d,); rows of norm 0 are left out: (<= n,)."""
    raise NotImplementedError


def uniform_bound(cosines: ArrayLike, k: int, delta: float) -> Bound:
    """err(h) <= the sum of the terms of `Bound`, for all h at once, with probability 1 - delta."""
    raise NotImplementedError


def flip_terms(cosines: ArrayLike, k: int) -> Array:
    """f_k^+(theta_i) = f_k(theta_i) 1(cos theta_i > 0), which the compressive bounds average: (n,)."""
    raise NotImplementedError


def deviation(mean_flip: float, delta: float) -> float:
    """min{(1 - delta) / delta mean_flip, sqrt(1/2 log(1/delta))}: the price of one random projection."""
    raise NotImplementedError


def sufficient_k(margin: float, epsilon: float, delta: float) -> int:
    """Smallest integer k >= 8 log(1 / (epsilon delta)) / margin^2; margin = min_i |cos theta_i| > 0."""
    raise NotImplementedError
