"""How often a random projection to k dimensions flips the sign of an inner product."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaln

Array = NDArray[np.float64]

ENTRIES = ("gaussian", "rademacher")
BATCH = 2_000_000  # entries of the projections that are drawn at once


def flip_probability(theta: ArrayLike, k: ArrayLike) -> Array:
    """f_k(theta) = I_{(1 - cos theta) / 2}(k/2, k/2) = P((R h).(R x) <= 0), R (k, d) with Gaussian entries.

    theta in [0, pi], the angle between h and x; I is the regularised incomplete beta function; k >= 1.
    Raises ValueError : theta outside [0, pi], k < 1. Source: Kaban and Bootkrajang, LABELNOISE 2017.
    """
    theta = _angle(theta)
    half = _dimension(k) / 2.0
    return np.asarray(betainc(half, half, np.sin(theta / 2.0) ** 2))


def slope(theta: ArrayLike, k: ArrayLike) -> Array:
    """d f_k / d theta = sin(theta)^(k - 1) / B(1/2, k/2)."""
    theta, k = _angle(theta), _dimension(k)
    return np.asarray(np.sin(theta) ** (k - 1.0) * np.exp(-betaln(0.5, k / 2.0)))


def gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Array:
    """f_k(theta) <= exp(-k cos(theta)^2 / 2) for margin = cos theta > 0; 1 for margins <= 0."""
    return _exponential(margin, k, 2.0)


def sub_gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Array:
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
    if not -1.0 <= margin <= 1.0:
        raise ValueError(f"margin, a cosine, must lie in [-1, 1], got {margin}")
    if k < 1 or trials < 1 or d < 2:
        raise ValueError(f"k and trials must be at least 1 and d at least 2, got {k}, {trials} and {d}")
    if entries not in ENTRIES:
        raise ValueError(f"entries must be one of {', '.join(ENTRIES)}, got {entries!r}")
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


def _exponential(margin: ArrayLike, k: ArrayLike, divisor: float) -> Array:
    c = np.asarray(margin, dtype=float)
    if not (np.abs(c) <= 1.0).all():
        raise ValueError("margin, a cosine, must lie in [-1, 1]")
    return np.asarray(np.where(c > 0.0, np.exp(-_dimension(k) * c**2 / divisor), 1.0))


def _angle(theta: ArrayLike) -> Array:
    angle = np.asarray(theta, dtype=float)
    if not ((angle >= 0.0) & (angle <= math.pi)).all():
        raise ValueError("theta, an angle, must lie in [0, pi]")
    return angle


def _dimension(k: ArrayLike) -> Array:
    dimension = np.asarray(k, dtype=float)
    if not (np.isfinite(dimension) & (dimension >= 1.0)).all():
        raise ValueError(f"k, the dimension of the projection, must be at least 1, got {dimension.tolist()}")
    return dimension
