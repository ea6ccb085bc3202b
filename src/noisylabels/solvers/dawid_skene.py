"""The true labels of items that several workers labelled: majority vote, and EM for the workers' errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from noisylabels.validation import Floats

Integers = NDArray[np.int32]
Labels = NDArray[np.int8]

TOLERANCE = 1e-6  # of the posteriors
SMOOTHING = 1e-6  # labels of each kind that every worker is given beforehand, so that no rate is 0 or 1


@dataclass(frozen=True)
class Consensus:
    """What EM found for n items and W workers.

    posterior (n,) of y = +1; confusion (W, 2, 2), P(response | y) with rows = true classes; prior of y = +1;
    objectives, the log-likelihood with its smoothing before every round; converged.
    """

    posterior: Floats
    confusion: Floats
    prior: float
    objectives: list[float]
    converged: bool

    def labels(self, rng: np.random.Generator) -> Labels:
        """-1 or +1 per item; ties by coins."""
        return _decided(self.posterior - 0.5, rng)


def majority_vote(item: Integers, response: Labels, n: int, rng: np.random.Generator) -> Labels:
    """The sign of the sum of each item's responses (n,); ties, and items without a label, by coins.

    item (L,), numbers 0..n-1; response (L,) of -1 and +1. Raises ValueError: other numbers.
    """
    _check(item, response, n)
    return _decided(np.bincount(item, response, n).astype(float), rng)


def dawid_skene(
    item: Integers, worker: Integers, response: Labels, n: int, *, coins: int = 2, rounds: int = 200
) -> Consensus:
    """max prod_i sum_y P(y) prod_l P_w(l)(response_l | y) by EM, over items i and their labels l.

    item, worker, response (L,): items 0..n-1, workers 0, 1, ..., responses -1 and +1.
    coins : 2, a rate of errors per class for each worker; 1, the same rate in both classes.
    Starts at the share of +1 among an item's labels, so the majority of the workers is taken to be right.
    Raises ValueError: items or responses of other values, coins other than 1 or 2.
    Source: Dawid and Skene, Applied Statistics 28, 1979.
    """
    _check(item, response, n)
    if coins not in (1, 2):
        raise ValueError(f"coins must be 1 or 2, got {coins}")
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    workers = int(worker.max()) + 1
    one = response > 0
    votes = np.bincount(item, minlength=n)
    share = np.bincount(item, one, n) / np.maximum(votes, 1)
    posterior = np.where(votes > 0, share, 0.5)
    objectives: list[float] = []
    converged = False
    for _ in range(rounds):
        prior, confusion = _maximised(posterior, item, worker, one, workers, coins)
        log = np.log(confusion)
        observed = one.astype(np.intp)
        negative = np.log1p(-prior) + np.bincount(item, log[worker, 0, observed], n)
        positive = np.log(prior) + np.bincount(item, log[worker, 1, observed], n)
        smoothing = SMOOTHING * (log.sum() + np.log(prior) + np.log1p(-prior))
        objectives.append(float(np.logaddexp(negative, positive).sum() + smoothing))
        before, posterior = posterior, expit(positive - negative)
        if np.abs(posterior - before).max() <= TOLERANCE:
            converged = True
            break
    return Consensus(posterior, confusion, prior, objectives, converged)


def _maximised(
    posterior: Floats, item: Integers, worker: Integers, one: NDArray[np.bool_], workers: int, coins: int
) -> tuple[float, Floats]:
    """(prior, confusion) from the posteriors: shares of responses, with a little of every response added."""
    counts = np.empty((workers, 2, 2))
    for true, q in ((0, 1.0 - posterior[item]), (1, posterior[item])):
        for observed, those in ((0, ~one), (1, one)):
            counts[:, true, observed] = np.bincount(worker, q * those, workers)
    counts += SMOOTHING
    if coins == 1:
        right = counts[:, 0, 0] + counts[:, 1, 1]
        wrong = counts[:, 0, 1] + counts[:, 1, 0]
        counts[:, 0, 0] = counts[:, 1, 1] = right
        counts[:, 0, 1] = counts[:, 1, 0] = wrong
    prior = (posterior.sum() + SMOOTHING) / (len(posterior) + 2.0 * SMOOTHING)
    return float(prior), counts / counts.sum(axis=2, keepdims=True)


def _decided(score: Floats, rng: np.random.Generator) -> Labels:
    coins = np.where(rng.random(len(score)) < 0.5, 1, -1)
    return np.where(score == 0.0, coins, np.sign(score)).astype(np.int8)


def _check(item: Integers, response: Labels, n: int) -> None:
    if len(item) == 0:
        raise ValueError("there are no labels")
    if item.min() < 0 or item.max() >= n:
        raise ValueError(f"item must hold numbers from 0 to n - 1 = {n - 1}")
    if not np.isin(response, (-1, 1)).all():
        raise ValueError(f"response must be -1 or +1, got {np.unique(response)[:5].tolist()}")
