"""Random projections: how often they flip the sign of an inner product, and generalisation bounds from that.

Source: Kabán and Bootkrajang, LABELNOISE 2017; Kabán, "Structure-aware error bounds for linear classification
with the zero-one loss", 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln

from noisylabels.validation import Floats, choice, number, whole

ENTRIES = ("gaussian", "rademacher")
BATCH = 2_000_000  # entries of the projections that are drawn at once


def flip_probability(theta: ArrayLike, k: ArrayLike) -> Floats:
    """f_k(theta) = I_{(1 - cos theta) / 2}(k/2, k/2) = P((R h).(R x) <= 0), R (k, d) with Gaussian entries.

    theta in [0, pi], the angle between h and x; I is the regularised incomplete beta function; k >= 1.
    Raises ValueError : theta outside [0, pi], k < 1. Source: Kabán and Bootkrajang, LABELNOISE 2017.
    """
    theta = _angle(theta)
    half = _dimension(k) / 2.0
    return np.asarray(betainc(half, half, np.sin(theta / 2.0) ** 2))


def slope(theta: ArrayLike, k: ArrayLike) -> Floats:
    """d f_k / d theta = sin(theta)^(k - 1) / B(1/2, k/2)."""
    theta, k = _angle(theta), _dimension(k)
    return np.asarray(np.sin(theta) ** (k - 1.0) * np.exp(-betaln(0.5, k / 2.0)))


def gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Floats:
    """f_k(theta) <= exp(-k cos(theta)^2 / 2) for margin = cos theta > 0; 1 for margins <= 0."""
    return _exponential(margin, k, 2.0)


def sub_gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Floats:
    """exp(-k cos(theta)^2 / 8) for margin = cos theta > 0, sub-Gaussian entries; 1 for margins <= 0."""
    return _exponential(margin, k, 8.0)


def simulated(
    margin: float, k: int, trials: int, rng: np.random.Generator, entries: str = "gaussian", d: int = 10
) -> float:
    """Share of `trials` projections R (k, d) with (R h).(R x) <= 0, where cos(h, x) = margin.

    entries : "gaussian" or "rademacher", +-1 with equal probability; there h and x are a new random pair of
        directions in every trial, because the probability depends on them.
    Raises ValueError : margin outside [-1, 1], k or trials < 1, d < 2, unknown entries.
    """
    number("margin", margin, least=-1, most=1)
    for name, value, least in (("k", k, 1), ("trials", trials, 1), ("d", d, 2)):
        whole(name, value, least)
    choice("entries", entries, ENTRIES)
    flips, done, batch = 0, 0, max(1, BATCH // (k * d))
    while done < trials:
        size = min(batch, trials - done)
        flips += _flips(margin, k, size, rng, entries, d)
        done += size
    return flips / trials


def _flips(margin: float, k: int, size: int, rng: np.random.Generator, entries: str, d: int) -> int:
    across = math.sqrt(1.0 - margin**2)
    if entries == "gaussian":  # R h and R x are Gaussian with correlation cos theta, whatever d is
        along, other = rng.standard_normal((2, size, k))
        projected = (along, margin * along + across * other)
    else:
        R = rng.integers(0, 2, (size, k, d)).astype(float) * 2.0 - 1.0
        h = rng.standard_normal((size, d))
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        u = rng.standard_normal((size, d))
        u -= (u * h).sum(axis=1, keepdims=True) * h
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        projected = (np.einsum("tkd,td->tk", R, h), np.einsum("tkd,td->tk", R, margin * h + across * u))
    return int(np.count_nonzero((projected[0] * projected[1]).sum(axis=1) <= 0.0))


def _exponential(margin: ArrayLike, k: ArrayLike, divisor: float) -> Floats:
    c = np.asarray(margin, dtype=float)
    if not (np.abs(c) <= 1.0).all():
        raise ValueError("margin, a cosine, must lie in [-1, 1]")
    return np.asarray(np.where(c > 0.0, np.exp(-_dimension(k) * c**2 / divisor), 1.0))


def _angle(theta: ArrayLike) -> Floats:
    angle = np.asarray(theta, dtype=float)
    if not ((angle >= 0.0) & (angle <= math.pi)).all():
        raise ValueError("theta, an angle, must lie in [0, pi]")
    return angle


def _dimension(k: ArrayLike) -> Floats:
    dimension = np.asarray(k, dtype=float)
    if not (np.isfinite(dimension) & (dimension >= 1.0)).all():
        raise ValueError(f"k, the dimension of the projection, must be at least 1, got {dimension.tolist()}")
    return dimension


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


def margins(h: ArrayLike, X: ArrayLike, s: ArrayLike) -> Floats:
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
    c = np.atleast_1d(np.asarray(cosines, dtype=float))
    if not len(c) or not (np.abs(c) <= 1.0).all():
        raise ValueError("cosines must be numbers in [-1, 1], at least one")
    confidence = 3.0 * math.sqrt(math.log(2.0 / number("delta", delta, above=0, below=1)) / (2.0 * len(c)))
    risk = float(np.minimum(1.0, 2.0 * flip_probability(np.arccos(c), k)).mean())
    return Bound(risk, 2.0 * math.sqrt(2.0 / math.pi) * math.sqrt(k / len(c)), confidence)
