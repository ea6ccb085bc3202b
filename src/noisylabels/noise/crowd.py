"""Items that several workers label: a simulated crowd, majority vote, and EM for the workers' errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from noisylabels.validation import Floats, number, whole

Integers = NDArray[np.int32]
Labels = NDArray[np.int8]

TOLERANCE = 1e-6  # of the posteriors
SMOOTHING = 1e-6  # labels of each kind that every worker is given beforehand, so that no rate is 0 or 1


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
    _signs("labels", y)
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
    whole("coins", coins, 1, 2)
    whole("rounds", rounds, 1)
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
        counts += counts[:, ::-1, ::-1].copy()
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
    _signs("response", response)


def _signs(name: str, values: Labels) -> None:
    if not np.isin(values, (-1, 1)).all():
        raise ValueError(f"{name} must be -1 or +1, got {np.unique(values)[:5].tolist()}")
