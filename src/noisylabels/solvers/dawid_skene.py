"""The true labels of items that several workers labelled: majority vote, and EM for the workers' error rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Consensus:
    """posterior (n,) of y = +1, confusion (W, 2, 2) with rows = true classes, prior of +1, log-likelihood per round."""

    posterior: Array
    confusion: Array
    prior: float
    log_likelihoods: list[float]
    converged: bool

    def labels(self, rng: np.random.Generator) -> NDArray[np.int8]:
        """-1 or +1 per item; ties by coins."""
        raise NotImplementedError


def majority_vote(
    item: Integers, response: NDArray[np.int8], n: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """sign of the sum of the responses of each of the n items, ties (and items without a label) by coins: (n,)."""
    raise NotImplementedError


def dawid_skene(
    item: Integers, worker: Integers, response: NDArray[np.int8], n: int, *, coins: int = 2, rounds: int = 200
) -> Consensus:
    """EM for P(response | y) of each worker: one error rate (coins=1) or one per class (coins=2).

    item, worker, response (L,), items 0..n-1, responses -1 or +1. Starts at the shares of +1 among an item's labels.
    Source: Dawid and Skene, Applied Statistics 28, 1979; one coin: Raykar et al., JMLR 11, 2010.
    """
    raise NotImplementedError
