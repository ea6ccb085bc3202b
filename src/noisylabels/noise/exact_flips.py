"""Flips of an exact number of binary labels, so that the realised rate is the nominal one.

All models take labels of -1 and +1 and return a new array.

Sources: Han, Tsang and Chen, ECML PKDD 2016, Section 5.1 (symmetric); Natarajan et al., NIPS 2013
(class-conditional).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import Floats, number, whole

Labels = NDArray[np.int8]


def _count_flips(rate: float, n: int, name: str = "rate") -> int:
    return round(number(name, rate, least=0, most=1) * n)


def _flip(y: Labels, chosen: NDArray[Any]) -> Labels:
    noisy = y.copy()
    noisy[chosen] *= -1
    return noisy


def symmetric(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Flip an exact share of the labels, drawn without replacement.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Share of the labels to flip, from 0 to 1. Beyond 1/2 the noise outweighs the labels.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.exact_flips import symmetric
    >>> noisy = symmetric(np.ones(10, dtype=np.int8), np.random.default_rng(0), rate=0.3)
    >>> int((noisy == -1).sum())
    3
    """
    chosen = rng.choice(len(y), _count_flips(rate, len(y)), replace=False)
    return _flip(y, chosen)


def compound(y: Labels, rng: np.random.Generator, *, rate: float, times: int) -> Labels:
    r"""Flip an exact share of the labels several times in a row.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Share of the labels to flip each time, from 0 to 1.
    times : int
        How often, at least 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.exact_flips import compound
    >>> noisy = compound(np.ones(1000, dtype=np.int8), np.random.default_rng(0), rate=0.2, times=3)
    >>> float(np.mean(noisy == -1)) < 0.5
    True

    Notes
    -----
    The expected share of wrong labels is :math:`(1 - (1 - 2\, rate)^{times}) / 2`.
    """
    for _ in range(whole("times", times, 1)):
        y = symmetric(y, rng, rate=rate)
    return y


def uniform(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """Replace an exact share of the labels by fair coins, which makes half of them wrong.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    rate : float
        Share of the labels to replace, from 0 to 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.exact_flips import uniform
    >>> noisy = uniform(np.ones(1000, dtype=np.int8), np.random.default_rng(0), rate=0.4)
    >>> 0.15 < float(np.mean(noisy == -1)) < 0.25
    True
    """
    noisy = y.copy()
    chosen = rng.choice(len(y), _count_flips(rate, len(y)), replace=False)
    noisy[chosen] = np.where(rng.random(len(chosen)) < 0.5, 1, -1)
    return noisy


def class_conditional(
    y: Labels,
    rng: np.random.Generator,
    *,
    positive: float,
    negative: float,
) -> Labels:
    """Flip an exact share of each class.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    positive : float
        Share of the labels +1 to flip, from 0 to 1.
    negative : float
        Share of the labels -1 to flip, from 0 to 1.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.exact_flips import class_conditional
    >>> y = np.repeat(np.array([1, -1], dtype=np.int8), 10)
    >>> noisy = class_conditional(y, np.random.default_rng(0), positive=0.2, negative=0.0)
    >>> int((noisy == -1).sum())
    12
    """
    noisy = y.copy()
    for label, rate, name in ((1, positive, "positive"), (-1, negative, "negative")):
        members = np.flatnonzero(y == label)
        chosen = rng.choice(members, _count_flips(rate, len(members), name), replace=False)
        noisy[chosen] *= -1
    return noisy


def far_outliers(y: Labels, rng: np.random.Generator, *, rate: float, f: Floats) -> Labels:
    """Flip the labels that are farthest from the decision boundary of a good classifier.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of -1 and +1.
    rng : numpy.random.Generator
        Not used: the model has no randomness.
    rate : float
        Share of the labels to flip, from 0 to 1.
    f : ndarray of shape (n,)
        Decision values of the classifier.

    Returns
    -------
    ndarray of shape (n,)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.exact_flips import far_outliers
    >>> y = np.array([1, 1, -1], dtype=np.int8)
    >>> far_outliers(y, np.random.default_rng(0), rate=1 / 3, f=np.array([0.1, 2.0, -1.0])).tolist()
    [1, -1, -1]

    References
    ----------
    The points of which Theorem 2 of Han, Tsang and Chen (2016) speaks.
    """
    farthest_first = np.argsort(-np.abs(f), kind="stable")
    return _flip(y, farthest_first[: _count_flips(rate, len(y))])
