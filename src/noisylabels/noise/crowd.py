"""A simulated crowd, and fewer labels of a crowd; what its labels say is found by `noisylabels.crowds`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import Floats, number, whole

Integers = NDArray[np.int32]
Labels = NDArray[np.int8]


@dataclass(frozen=True)
class Crowd:
    """One entry per label: item, worker and response of -1 and +1, (L,) each; the workers' accuracy (W,)."""

    item: Integers
    worker: Integers
    response: Labels
    accuracy: Floats


def simulate(
    y: Labels, rng: np.random.Generator, *, workers: int = 164, per_item: int = 10,
    beta: tuple[float, float] = (6.0, 2.0), spammers: float = 0.05,
) -> Crowd:  # fmt: skip
    """Labels of items with the true labels y (n,), -1 and +1: each item goes to per_item different workers.

    Each worker is right with a probability drawn from Beta(*beta); round(spammers workers) of them, the
    spammers, with probability 1/2.
    Raises ValueError : per_item not in 1..workers, a share outside [0, 1], labels other than -1 and +1.
    """
    whole("per_item", per_item, 1, workers)
    number("spammers", spammers, least=0, most=1)
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(y)[:5].tolist()}")
    accuracy = rng.beta(*beta, size=workers)
    accuracy[rng.choice(workers, round(spammers * workers), replace=False)] = 0.5
    worker = np.argsort(rng.random((len(y), workers)), axis=1)[:, :per_item].ravel().astype(np.int32)
    item = np.repeat(np.arange(len(y), dtype=np.int32), per_item)
    right = rng.random(len(item)) < accuracy[worker]
    response = np.where(right, y[item], -y[item]).astype(np.int8)
    return Crowd(item, worker, response, accuracy)


def subset(item: Integers, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Sorted positions of m labels of each item, drawn without replacement; all of an item that has fewer.

    From the same state of rng, the labels for m are among those for m + 1. Raises ValueError : m < 1.
    """
    whole("m", m, 1)
    shuffled = rng.permutation(len(item))
    order = shuffled[np.argsort(item[shuffled], kind="stable")]
    items = item[order]
    first = np.flatnonzero(np.r_[True, items[1:] != items[:-1]]) if len(items) else np.zeros(0, np.intp)
    place = np.arange(len(items)) - np.repeat(first, np.diff(np.r_[first, len(items)]))
    return np.sort(order[place < m])
