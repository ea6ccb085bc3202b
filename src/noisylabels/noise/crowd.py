"""A simulated crowd: workers of different accuracy label items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Crowd:
    """One entry per label: item, worker and response of -1 and +1, (L,) each; the workers' accuracy (W,)."""

    item: NDArray[np.int32]
    worker: NDArray[np.int32]
    response: NDArray[np.int8]
    accuracy: NDArray[np.float64]


def simulate(
    y: NDArray[np.int8], rng: np.random.Generator, *, workers: int = 164, per_item: int = 10,
    beta: tuple[float, float] = (6.0, 2.0), spammers: float = 0.05,
) -> Crowd:  # fmt: skip
    """Labels of items with the true labels y (n,), -1 and +1: each item goes to per_item different workers.

    Each worker is right with a probability drawn from Beta(*beta); round(spammers workers) of them, the
    spammers, with probability 1/2.
    Raises ValueError : per_item not in 1..workers, a share outside [0, 1], labels other than -1 and +1.
    """
    if not 1 <= per_item <= workers:
        raise ValueError(f"per_item must lie in 1..workers = {workers}, got {per_item}")
    if not 0.0 <= spammers <= 1.0:
        raise ValueError(f"spammers, a share of the workers, must lie in [0, 1], got {spammers}")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(y)[:5].tolist()}")
    accuracy = rng.beta(*beta, size=workers)
    accuracy[rng.choice(workers, round(spammers * workers), replace=False)] = 0.5
    worker = np.argsort(rng.random((len(y), workers)), axis=1)[:, :per_item].ravel().astype(np.int32)
    item = np.repeat(np.arange(len(y), dtype=np.int32), per_item)
    right = rng.random(len(item)) < accuracy[worker]
    response = np.where(right, y[item], -y[item]).astype(np.int8)
    return Crowd(item, worker, response, accuracy)


def subset(item: NDArray[np.int32], m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Sorted positions of m labels of each item, drawn without replacement; all of an item that has fewer.

    From the same state of rng, the labels for m are among those for m + 1. Raises ValueError : m < 1.
    """
    if m < 1:
        raise ValueError(f"m, the labels per item, must be at least 1, got {m}")
    shuffled = rng.permutation(len(item))
    order = shuffled[np.argsort(item[shuffled], kind="stable")]
    items = item[order]
    first = np.flatnonzero(np.r_[True, items[1:] != items[:-1]]) if len(items) else np.zeros(0, np.intp)
    place = np.arange(len(items)) - np.repeat(first, np.diff(np.r_[first, len(items)]))
    return np.sort(order[place < m])
