"""Labels from several annotators.

Source: Kaban and Bootkrajang, LABELNOISE 2017, textual entailment. Split, features and what is compared are
our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from noisylabels.noise import flip_matrix
from noisylabels.noise.crowd import subset
from noisylabels.solvers.dawid_skene import dawid_skene, majority_vote
from reproduction.protocols.kernels import Outcome, TrainingSettings, resolve, train
from reproduction.protocols.settings import Distinct, Share
from reproduction.protocols.walk import At, Labels, Row, Split, Walk, protocol, share_split, zero_one

LABELLED, NEW, GOLD = "labelled items", "new items", "new items and gold labels"
MAJORITY = "majority vote"
COINS = {"one-coin EM": 1, "two-coin EM": 2}


class AnnotatorsSettings(TrainingSettings):
    """Settings of `annotators`."""

    train: Share = Field(description="share of the items that are for training")
    annotators: Distinct[PositiveInt] = Field(description="labels per item")


@protocol(AnnotatorsSettings, labels=(LABELLED, NEW, GOLD, MAJORITY, *COINS, "accuracy", "gain", "flagged"))
def annotators(settings: AnnotatorsSettings, walk: Walk) -> Iterator[Row]:
    """Accuracy of aggregated labels, and of classifiers trained on them, by the number of annotators x = m.

    A repetition splits the items into a training and a test part and draws m labels of every item.

    setting "labelled items" (training part): labels by majority vote (ties by coins); by Dawid and Skene's EM
    with one or two error rates per worker, over all items; the classes that a classifier trained on the
    majority vote predicts or, if it has learned a flip matrix, the more probable true label given features
    and vote.
    setting "new items" (test part): predictions from the features alone.
    setting "new items and gold labels": the same after training on true labels, the same at every m.

    Metrics: accuracy against gold, in [0, 1]; flagged; gain, the accuracy minus that of majority vote, on the
    labelled items.
    """
    methods = resolve(settings)
    for at, dataset in walk.each(settings.datasets):
        part, rest = share_split(dataset.arrays["y"], settings.train, at)
        labels = [aggregated(dataset.arrays, m, at) for m in settings.annotators]
        votes = np.stack([each[MAJORITY][part] for each in labels], axis=1)
        split = Split.of(dataset.arrays, part, rest)
        both = Split(split.X, np.vstack([split.X, split.X_test]), split.clean, split.truth)
        noisy = np.column_stack([votes, split.clean])  # the last column: trained on gold labels
        outcomes = train(methods, both, noisy, settings, at)
        for k, m in enumerate(settings.annotators):
            base = float(np.mean(votes[:, k] == split.clean))
            accuracies = {
                (LABELLED, name): np.mean(each[part] == split.clean) for name, each in labels[k].items()
            }
            for method in methods:
                outcome, reference = outcomes[method.label][k], outcomes[method.label][votes.shape[1]]
                accuracies |= {
                    (LABELLED, method.label): np.mean(completed(outcome, votes[:, k]) == split.clean),
                    (NEW, method.label): _on_new(outcome, split),
                    (GOLD, method.label): _on_new(reference, split),
                }
                yield at.row("flagged", outcome.flagged, setting=NEW, method=method.label, x=m)
            for (setting, name), value in accuracies.items():
                here = at.on(setting=setting, method=name, x=m)
                yield here.row("accuracy", value)
                if setting == LABELLED:
                    yield here.row("gain", float(value) - base)


def aggregated(arrays: Mapping[str, Any], m: int, at: At) -> dict[str, Labels]:
    """Labels 0 or 1 of all items from m labels each, by every way of aggregating them.

    Raises ValueError : an item with fewer than m labels.
    """
    item, worker, response = (arrays[key] for key in ("item", "worker", "response"))
    n = len(arrays["y"])
    fewest = int(np.bincount(item, minlength=n).min())
    if m > fewest:
        raise ValueError(f"annotators: {m} labels per item asked, but some item has only {fewest}")
    chosen = subset(item, m, at.rng("annotators"))
    drawn = item[chosen], worker[chosen], response[chosen]
    found = {MAJORITY: majority_vote(drawn[0], drawn[2], n, at.rng("ties"))}
    for name, coins in COINS.items():
        found[name] = dawid_skene(*drawn, n, coins=coins).labels(at.rng("ties"))
    return {name: zero_one(signs) for name, signs in found.items()}


def completed(outcome: Outcome, votes: Labels) -> NDArray[np.bool_]:
    """Is the true class of each labelled item rather 1? From f and, with a flip matrix, from its vote too."""
    f = outcome.scores[: len(votes)]
    if np.isnan(outcome.omega01):
        return np.asarray(f > 0)
    omega = flip_matrix.from_rates(outcome.omega01, outcome.omega10)
    return np.asarray(flip_matrix.posterior(f, votes.astype(float), omega) > 0.5)


def _on_new(outcome: Outcome, split: Split) -> float:
    return float(np.mean((outcome.scores[len(split.clean) :] > 0) == split.truth))
