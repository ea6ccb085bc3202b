"""A simulated crowd: workers of various accuracy label items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Crowd:
    """One entry per label: item (L,), worker (L,), response (L,) of -1 and +1; accuracy (W,) of the workers."""

    item: NDArray[np.int32]
    worker: NDArray[np.int32]
    response: NDArray[np.int8]
    accuracy: NDArray[np.float64]


def simulate(
    y: NDArray[np.int8],
    rng: np.random.Generator,
    *,
    workers: int = 164,
    per_item: int = 10,
    beta: tuple[float, float] = (6.0, 2.0),
    spammers: float = 0.05,
) -> Crowd:
    """Labels of y (n,), -1 and +1: each item goes to per_item different workers.

    A worker is right with probability Beta(6, 2), a spammer with probability 1/2; spammers : their share.
    Raises ValueError : per_item > workers, a share outside [0, 1], labels other than -1 and +1.
    """
    raise NotImplementedError


def subset(item: NDArray[np.int32], m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Positions of m labels per item, drawn without replacement (all labels of an item that has fewer)."""
    raise NotImplementedError
