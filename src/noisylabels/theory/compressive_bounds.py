"""Generalisation bounds by random projections, term by term.

Source: Kaban and Bootkrajang, LABELNOISE 2017; Kaban, "Structure-aware error bounds for linear classification
with the zero-one loss", 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.theory.flip_probability import flip_probability

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """Three terms: 1/n sum_i min(1, 2 f_k(theta_i)), 2 sqrt(2/pi) sqrt(k/n), 3 sqrt(log(2/delta) / (2n))."""

    risk: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """Their sum, which bounds the error with probability 1 - delta."""
        return self.risk + self.complexity + self.confidence


def margins(h: ArrayLike, X: ArrayLike, s: ArrayLike) -> Array:
    """cos theta_i = s_i h.x_i / (||h|| ||x_i||) for h (d,), X (n, d), s (n,) of -1 and +1.

    Rows of X of norm 0 have no angle and are left out, so the result has at most n entries.
    Raises ValueError : h = 0, every row is 0.
    """
    h, X, s = np.asarray(h, dtype=float), np.asarray(X, dtype=float), np.asarray(s, dtype=float)
    norms = np.linalg.norm(X, axis=1)
    size = float(np.linalg.norm(h))
    if size == 0.0:
        raise ValueError("h is the zero vector: its angles are undefined")
    used = norms > 0.0
    if not used.any():
        raise ValueError("every row of X is zero: no angle is defined")
    return np.clip(s[used] * (X[used] @ h) / (norms[used] * size), -1.0, 1.0)


def uniform_bound(cosines: ArrayLike, k: int, delta: float) -> Bound:
    """err(h) <= the sum of the terms of `Bound`, for all h at once, with probability 1 - delta; k <= d.

    cosines (n,) : see `margins`. Raises ValueError : k < 1, delta outside (0, 1), no cosines.
    """
    c = _cosines(cosines)
    confidence = 3.0 * math.sqrt(math.log(2.0 / _probability("delta", delta)) / (2.0 * len(c)))
    risk = float(np.minimum(1.0, 2.0 * flip_probability(np.arccos(c), k)).mean())
    return Bound(risk, 2.0 * math.sqrt(2.0 / math.pi) * math.sqrt(k / len(c)), confidence)


def flip_terms(cosines: ArrayLike, k: int) -> Array:
    """f_k^+(theta_i) = f_k(theta_i) 1(cos theta_i > 0), which the compressive bounds average: (n,)."""
    c = _cosines(cosines)
    return np.where(c > 0.0, flip_probability(np.arccos(c), k), 0.0)


def deviation(mean_flip: float, delta: float) -> float:
    """min{(1 - delta) / delta mean_flip, sqrt(1/2 log(1 / delta))}: the price of one random projection."""
    _probability("delta", delta)
    return min((1.0 - delta) / delta * mean_flip, math.sqrt(0.5 * math.log(1.0 / delta)))


def sufficient_k(margin: float, epsilon: float, delta: float) -> int:
    """Smallest integer k >= 8 log(1 / (epsilon delta)) / margin^2, margin = min_i cos theta_i > 0.

    From this k on the flip terms of the compressive bounds, with the factor 1 / delta, are below epsilon.
    Raises ValueError : margin outside (0, 1], epsilon or delta outside (0, 1).
    """
    if not 0.0 < margin <= 1.0:
        raise ValueError(f"margin, the smallest cosine, must lie in (0, 1], got {margin}")
    product = _probability("epsilon", epsilon) * _probability("delta", delta)
    return math.ceil(8.0 * math.log(1.0 / product) / margin**2)


def _cosines(cosines: ArrayLike) -> Array:
    c = np.atleast_1d(np.asarray(cosines, dtype=float))
    if not len(c) or not (np.abs(c) <= 1.0).all():
        raise ValueError("cosines must be numbers in [-1, 1], at least one")
    return c


def _probability(name: str, value: float) -> float:
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return value
