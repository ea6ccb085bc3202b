"""Flips of binary labels, each decided by a separate coin.

All models take labels of -1 and +1 and return a new array.

Source: Kabán and Bootkrajang, LABELNOISE 2017.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import number

Labels = NDArray[np.int8]
LARGEST_REDRAWS = 10
"""Largest number of new tosses if all labels are of one class after the flips."""


def _flip_by_coins(
    y: Labels,
    rng: np.random.Generator,
    positive: float,
    negative: float,
) -> Labels:
    """Flip each label with the probability of its class, and start again if one class is left."""
    for _ in range(1 + LARGEST_REDRAWS):
        probabilities = np.where(y > 0, positive, negative)
        noisy = y.copy()
        noisy[rng.random(len(y)) < probabilities] *= -1
        if len(np.unique(noisy)) == 2:
            return noisy
    raise ValueError(
        f"{len(y)} labels of which {np.count_nonzero(y > 0)} are +1 were of one class after flips "
        f"with probability {positive:g} (+1) and {negative:g} (-1), {1 + LARGEST_REDRAWS} times; "
        "lower the rate"
    )


def independent(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip every label with the same probability, independently.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Probability of a flip, at least 0 and below 1/2.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels. They are drawn again while only one class is left.

    Raises
    ------
    ValueError
        If the rate is out of range, or only one class is left after eleven draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.coin_flips import independent
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 500)
    >>> noisy = independent(y, np.random.default_rng(0), rate=0.2)
    >>> 0.15 < float(np.mean(noisy != y)) < 0.25
    True
    """
    probability = number("rate", rate, least=0, below=0.5)
    return _flip_by_coins(y, rng, probability, probability)


def negative_only(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip every label -1 with the same probability, and no label +1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Probability that a label -1 becomes +1, at least 0 and below 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels. They are drawn again while only one class is left.

    Raises
    ------
    ValueError
        If the rate is out of range, or only one class is left after eleven draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.coin_flips import negative_only
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 50)
    >>> noisy = negative_only(y, np.random.default_rng(0), rate=0.5)
    >>> bool((noisy[y == 1] == 1).all())
    True
    """
    return _flip_by_coins(y, rng, 0.0, number("rate", rate, least=0, below=1))


def positive_only(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip every label +1 with the same probability, and no label -1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Probability that a label +1 becomes -1, at least 0 and below 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels. They are drawn again while only one class is left.

    Raises
    ------
    ValueError
        If the rate is out of range, or only one class is left after eleven draws.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.coin_flips import positive_only
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 50)
    >>> noisy = positive_only(y, np.random.default_rng(0), rate=0.5)
    >>> bool((noisy[y == -1] == -1).all())
    True
    """
    return _flip_by_coins(y, rng, number("rate", rate, least=0, below=1), 0.0)
