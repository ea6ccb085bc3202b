"""Random projections: how often they flip a sign, and bounds on errors that follow.

Sources: Kabán and Bootkrajang, LABELNOISE 2017; Kabán, "Structure-aware error bounds for linear
classification with the zero-one loss", 2017.
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
    r"""Compute how often a random Gaussian projection flips the sign of an inner product.

    Parameters
    ----------
    theta : array_like
        Angle between the two vectors, from 0 to pi.
    k : array_like
        Dimension of the projection, at least 1.

    Returns
    -------
    ndarray
        The probabilities.

    Raises
    ------
    ValueError
        If an angle or a dimension is out of range.

    Examples
    --------
    >>> import math
    >>> from noisylabels.classifiers.projections import flip_probability
    >>> round(float(flip_probability(math.pi / 2, 3)), 12)
    0.5

    Notes
    -----
    :math:`f_k(\theta) = P((R h) \cdot (R x) \le 0) = I_{(1 - \cos \theta) / 2}(k/2, k/2)` for R
    (k, d) with Gaussian entries; I is the regularised incomplete beta function.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE.
    """
    theta = _angle(theta)
    half = _dimension(k) / 2.0
    return np.asarray(betainc(half, half, np.sin(theta / 2.0) ** 2))


def slope(theta: ArrayLike, k: ArrayLike) -> Floats:
    r"""Compute the derivative of `flip_probability` in the angle.

    Parameters
    ----------
    theta : array_like
        Angle, from 0 to pi.
    k : array_like
        Dimension of the projection, at least 1.

    Returns
    -------
    ndarray
        The derivatives :math:`\sin(\theta)^{k - 1} / B(1/2, k/2)`.

    Examples
    --------
    >>> from noisylabels.classifiers.projections import slope
    >>> round(float(slope(1.0, 1)), 4)
    0.3183
    """
    angle = _angle(theta)
    dimension = _dimension(k)
    constant = np.exp(-betaln(0.5, dimension / 2.0))
    return np.asarray(np.sin(angle) ** (dimension - 1.0) * constant)


def gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Floats:
    r"""Bound `flip_probability` for Gaussian entries.

    Parameters
    ----------
    margin : array_like
        Cosine of the angle.
    k : array_like
        Dimension of the projection, at least 1.

    Returns
    -------
    ndarray
        The bounds :math:`\exp(-k \cos(\theta)^2 / 2)`; 1 for margins of at most 0.

    Examples
    --------
    >>> from noisylabels.classifiers.projections import gaussian_bound
    >>> round(float(gaussian_bound(1.0, 2)), 4)
    0.3679
    """
    return _exponential(margin, k, 2.0)


def sub_gaussian_bound(margin: ArrayLike, k: ArrayLike) -> Floats:
    r"""Bound the same probability for sub-Gaussian entries.

    Parameters
    ----------
    margin : array_like
        Cosine of the angle.
    k : array_like
        Dimension of the projection, at least 1.

    Returns
    -------
    ndarray
        The bounds :math:`\exp(-k \cos(\theta)^2 / 8)`; 1 for margins of at most 0.

    Examples
    --------
    >>> from noisylabels.classifiers.projections import sub_gaussian_bound
    >>> round(float(sub_gaussian_bound(1.0, 8)), 4)
    0.3679
    """
    return _exponential(margin, k, 8.0)


def simulated(
    margin: float,
    k: int,
    trials: int,
    rng: np.random.Generator,
    entries: str = "gaussian",
    d: int = 10,
) -> float:
    """Simulate how often a random projection flips the sign of an inner product.

    Parameters
    ----------
    margin : float
        Cosine of the angle between the two vectors.
    k : int
        Dimension of the projection, at least 1.
    trials : int
        Number of projections.
    rng : numpy.random.Generator
        Source of random numbers.
    entries : {"gaussian", "rademacher"}, default "gaussian"
        Entries of the projection. Rademacher entries are -1 and +1 with equal probability; the
        vectors are then a new random pair in every trial, because the probability depends on them.
    d : int, default 10
        Number of features, at least 2.

    Returns
    -------
    float
        The share of flipped signs.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.projections import simulated
    >>> simulated(-1.0, 2, 100, np.random.default_rng(0))
    1.0
    """
    number("margin", margin, least=-1, most=1)
    whole("k", k, 1)
    whole("trials", trials, 1)
    whole("d", d, 2)
    choice("entries", entries, ENTRIES)
    flips = 0
    done = 0
    batch = max(1, BATCH // (k * d))
    while done < trials:
        size = min(batch, trials - done)
        flips += _flips(margin, k, size, rng, entries, d)
        done += size
    return flips / trials


def _flips(
    margin: float,
    k: int,
    size: int,
    rng: np.random.Generator,
    entries: str,
    d: int,
) -> int:
    across = math.sqrt(1.0 - margin**2)
    if entries == "gaussian":  # R h and R x are Gaussian with correlation cos theta, whatever d is
        Rh, independent = rng.standard_normal((2, size, k))
        Rx = margin * Rh + across * independent
    else:
        R = rng.integers(0, 2, (size, k, d)).astype(float) * 2.0 - 1.0
        h = rng.standard_normal((size, d))
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        u = rng.standard_normal((size, d))
        u -= (u * h).sum(axis=1, keepdims=True) * h
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        x = margin * h + across * u
        Rh = np.einsum("tkd,td->tk", R, h)
        Rx = np.einsum("tkd,td->tk", R, x)
    products = (Rh * Rx).sum(axis=1)
    return int(np.count_nonzero(products <= 0.0))


def _exponential(margin: ArrayLike, k: ArrayLike, divisor: float) -> Floats:
    c = np.asarray(margin, dtype=float)
    if not (np.abs(c) <= 1.0).all():
        raise ValueError("margin, a cosine, must lie in [-1, 1]")
    bound = np.exp(-_dimension(k) * c**2 / divisor)
    return np.asarray(np.where(c > 0.0, bound, 1.0))


def _angle(theta: ArrayLike) -> Floats:
    angle = np.asarray(theta, dtype=float)
    if not ((angle >= 0.0) & (angle <= math.pi)).all():
        raise ValueError("theta, an angle, must lie in [0, pi]")
    return angle


def _dimension(k: ArrayLike) -> Floats:
    dimension = np.asarray(k, dtype=float)
    if not (np.isfinite(dimension) & (dimension >= 1.0)).all():
        rule = "k, the dimension of the projection, must be at least 1"
        raise ValueError(f"{rule}, got {dimension.tolist()}")
    return dimension


@dataclass(frozen=True)
class Bound:
    r"""The three terms of a bound on the error.

    Parameters
    ----------
    risk : float
        :math:`\tfrac1n \sum_i \min(1, 2 f_k(\theta_i))`.
    complexity : float
        :math:`2 \sqrt{2 / \pi} \sqrt{k / n}`.
    confidence : float
        :math:`3 \sqrt{\log(2 / \delta) / (2 n)}`.

    Examples
    --------
    >>> from noisylabels.classifiers.projections import Bound
    >>> Bound(0.25, 0.5, 0.125).total
    0.875
    """

    risk: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """Sum of the terms, which bounds the error with probability 1 - delta.

        Returns
        -------
        float
            The sum.
        """
        return self.risk + self.complexity + self.confidence


def margins(h: ArrayLike, X: ArrayLike, s: ArrayLike) -> Floats:
    r"""Compute the margins of a linear classifier, as cosines.

    Parameters
    ----------
    h : array_like of shape (d,)
        Weights of the classifier.
    X : array_like of shape (n, d)
        Samples. Those of norm 0 have no angle and are left out.
    s : array_like of shape (n,)
        Labels, -1 and +1.

    Returns
    -------
    ndarray of shape (at most n,)
        :math:`s_i h \cdot x_i / (\lVert h \rVert \lVert x_i \rVert)`.

    Raises
    ------
    ValueError
        If the weights or all samples are 0.

    Examples
    --------
    >>> from noisylabels.classifiers.projections import margins
    >>> margins([1, 0], [[2, 0], [0, 3]], [-1, 1]).tolist()
    [-1.0, 0.0]
    """
    h = np.asarray(h, dtype=float)
    X = np.asarray(X, dtype=float)
    s = np.asarray(s, dtype=float)
    norms = np.linalg.norm(X, axis=1)
    size = float(np.linalg.norm(h))
    if size == 0.0:
        raise ValueError("h is the zero vector: its angles are undefined")
    has_angle = norms > 0.0
    if not has_angle.any():
        raise ValueError("every row of X is zero: no angle is defined")
    products = s[has_angle] * (X[has_angle] @ h)
    return np.clip(products / (norms[has_angle] * size), -1.0, 1.0)


def uniform_bound(cosines: ArrayLike, k: int, delta: float) -> Bound:
    """Bound the error of a linear classifier with high probability, for all classifiers at once.

    Parameters
    ----------
    cosines : array_like of shape (n,)
        See `margins`.
    k : int
        Dimension of the projection, at most the number of features.
    delta : float
        The bound holds with probability 1 - delta.

    Returns
    -------
    Bound
        The terms of the bound.

    Raises
    ------
    ValueError
        If a parameter is out of range, or there are no cosines.

    Examples
    --------
    >>> from noisylabels.classifiers.projections import uniform_bound
    >>> round(uniform_bound([0.0] * 100, 1, 0.05).risk, 12)
    1.0
    """
    c = np.atleast_1d(np.asarray(cosines, dtype=float))
    if not len(c) or not (np.abs(c) <= 1.0).all():
        raise ValueError("cosines must be numbers in [-1, 1], at least one")
    n = len(c)
    delta = number("delta", delta, above=0, below=1)
    log_delta = math.log(2.0 / delta)
    confidence = 3.0 * math.sqrt(log_delta / (2.0 * n))
    angles = np.arccos(c)
    flipped = flip_probability(angles, k)
    risk = float(np.minimum(1.0, 2.0 * flipped).mean())
    constant = 2.0 * math.sqrt(2.0 / math.pi)
    spread = math.sqrt(k / n)
    complexity = constant * spread
    return Bound(risk, complexity, confidence)
