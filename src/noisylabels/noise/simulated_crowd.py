"""Labels of simulated annotators, for tests of `noisylabels.crowds`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise.flip_models import Labels, check_classes
from noisylabels.validation import Floats, number, whole


@dataclass(frozen=True)
class Crowd:
    """Labels of several annotators, one entry per label.

    Parameters
    ----------
    item : ndarray of shape (n_labels,)
        Number of the item that was labelled.
    worker : ndarray of shape (n_labels,)
        Number of the annotator who gave the label.
    response : ndarray of shape (n_labels,)
        The label, -1 or +1.
    accuracy : ndarray of shape (n_workers,)
        Probability with which each annotator is right.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.simulated_crowd import simulate
    >>> crowd = simulate(np.array([1, -1]), np.random.default_rng(0), workers=5, per_item=3)
    >>> crowd.item.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    item: NDArray[np.int32]
    worker: NDArray[np.int32]
    response: Labels
    accuracy: Floats


def simulate(
    y: Labels,
    rng: np.random.Generator,
    *,
    workers: int = 164,
    per_item: int = 10,
    beta: tuple[float, float] = (6.0, 2.0),
    spammers: float = 0.05,
) -> Crowd:
    """Simulate a crowd in which each item goes to several different annotators.

    Parameters
    ----------
    y : ndarray of shape (n,)
        True labels of the items, -1 and +1.
    rng : numpy.random.Generator
        Source of the draws.
    workers : int, default 164
        Number of annotators.
    per_item : int, default 10
        Labels per item, from 1 to ``workers``.
    beta : tuple of float, default (6.0, 2.0)
        Parameters of the beta distribution of the annotators' accuracy.
    spammers : float, default 0.05
        Share of the annotators who answer by a fair coin.

    Returns
    -------
    Crowd
        The labels.

    Raises
    ------
    ValueError
        If an argument is out of range, or y has other classes than -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.simulated_crowd import simulate
    >>> y = np.repeat([1, -1], 500)
    >>> crowd = simulate(y, np.random.default_rng(0))
    >>> 0.7 < float(np.mean(crowd.response == y[crowd.item])) < 0.8
    True
    """
    whole("per_item", per_item, 1, workers)
    number("spammers", spammers, least=0, most=1)
    check_classes(y)
    accuracy = rng.beta(*beta, size=workers)
    n_spammers = round(spammers * workers)
    accuracy[rng.choice(workers, n_spammers, replace=False)] = 0.5
    shuffled_workers = np.argsort(rng.random((len(y), workers)), axis=1)
    worker = shuffled_workers[:, :per_item].ravel().astype(np.int32)
    item = np.repeat(np.arange(len(y), dtype=np.int32), per_item)
    is_right = rng.random(len(item)) < accuracy[worker]
    response = np.where(is_right, y[item], -y[item]).astype(np.int8)
    return Crowd(item, worker, response, accuracy)


def subset(item: NDArray[np.int32], m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw the same number of labels of each item, without replacement.

    Parameters
    ----------
    item : ndarray of shape (n_labels,)
        Number of the item of each label.
    m : int
        Labels per item, at least 1. Items with fewer labels keep all of them.
    rng : numpy.random.Generator
        Source of the draws. From the same state, the labels for m are among those for m + 1.

    Returns
    -------
    ndarray of int
        Sorted positions of the drawn labels.

    Raises
    ------
    ValueError
        If m is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.simulated_crowd import subset
    >>> item = np.array([0, 0, 0, 1])
    >>> item[subset(item, 2, np.random.default_rng(0))].tolist()
    [0, 0, 1]
    """
    whole("m", m, 1)
    shuffled = rng.permutation(len(item))
    order_of_items = np.argsort(item[shuffled], kind="stable")
    order = shuffled[order_of_items]
    items = item[order]
    starts = np.zeros(0, np.intp)
    if len(items):
        is_new = np.r_[True, items[1:] != items[:-1]]
        starts = np.flatnonzero(is_new)
    ends = np.r_[starts, len(items)]
    sizes = np.diff(ends)
    first_rank = np.repeat(starts, sizes)
    rank_within_item = np.arange(len(items)) - first_rank
    return np.sort(order[rank_within_item < m])
