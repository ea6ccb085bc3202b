"""Accuracy of aggregated labels, and of classifiers trained on them, against the number of annotators x = m.

A repetition splits the items into a training and a test part and draws m labels of every item.

setting "labelled items" (training part): labels by majority vote (ties by coins); by Dawid and Skene's EM
with one or two error rates per worker, over all items; the classes that a classifier trained on the
majority vote predicts or, if it has learned a flip matrix, the more probable true label given features and
vote.
setting "new items" (test part): predictions from the features alone.
setting "new items and gold labels": the same after training on true labels, the same at every m.

Metrics: accuracy against gold, in [0, 1]; flagged;
gain, the accuracy minus that of majority vote, on the labelled items.

Source: Kaban and Bootkrajang, LABELNOISE 2017, textual entailment.
Split, features and what is compared are our choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise import flip_matrix
from noisylabels.noise.crowd import subset
from noisylabels.seeding import Seeds
from noisylabels.solvers.dawid_skene import dawid_skene, majority_vote
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.kernels.data import Array, Labels, Split, standardised
from reproduction.protocols.kernels.methods import Method, resolve
from reproduction.protocols.kernels.training import Outcome, train

LABELLED, NEW, GOLD = "labelled items", "new items", "new items and gold labels"
MAJORITY = "majority vote"
COINS = {"one-coin EM": 1, "two-coin EM": 2}


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set."""
    methods = resolve(settings)
    rows = []
    for name, dataset, own in data_sets(settings, data, seeds):
        for repetition in repetitions:
            columns = {"dataset": name, "source": dataset.variant, "repetition": repetition}
            found = _repetition(settings, methods, dataset.arrays, own, repetition)
            rows += [columns | row for row in found]
    return rows


def _repetition(
    settings: dict[str, Any], methods: list[Method], arrays: dict[str, Any], seeds: Seeds, repetition: int
) -> list[dict[str, Any]]:
    gold = (arrays["y"] > 0).astype(np.int8)
    order = seeds.generator(repetition, "split").permutation(len(gold))
    part, rest = np.split(order, [round(settings["train"] * len(gold))])
    labels = [aggregated(arrays, m, seeds, repetition) for m in settings["annotators"]]
    votes = np.stack([each[MAJORITY][part] for each in labels], axis=1)
    X, X_new = standardised(arrays["X"][part], arrays["X"][rest])
    split = Split(X, np.vstack([X, X_new]), gold[part], gold[rest])
    noisy = np.column_stack([votes, gold[part]])  # the last column: trained on gold labels
    outcomes = train(methods, split, noisy, settings, seeds, repetition)
    rows, gold_column = [], votes.shape[1]
    for k, m in enumerate(settings["annotators"]):
        base = float(np.mean(votes[:, k] == split.clean))
        accuracies = {
            (LABELLED, name): np.mean(each[part] == split.clean) for name, each in labels[k].items()
        }
        for method in methods:
            outcome, reference = outcomes[method.label][k], outcomes[method.label][gold_column]
            known = completed(outcome, votes[:, k]) == split.clean
            accuracies |= {
                (LABELLED, method.label): np.mean(known),
                (NEW, method.label): _on_new(outcome, split),
                (GOLD, method.label): _on_new(reference, split),
            }
            flag = {"setting": NEW, "method": method.label, "metric": "flagged"}
            rows.append(flag | {"x": m, "value": float(outcome.flagged)})
        for (setting, method_name), value in accuracies.items():
            named = {"setting": setting, "method": method_name, "x": m}
            rows.append(named | {"metric": "accuracy", "value": float(value)})
            if setting == LABELLED:
                rows.append(named | {"metric": "gain", "value": float(value) - base})
    return rows


def aggregated(arrays: dict[str, Any], m: int, seeds: Seeds, repetition: int) -> dict[str, Labels]:
    """Labels 0 or 1 of all items from m labels each, by every way of aggregating them.

    Raises ValueError : an item with fewer than m labels.
    """
    item, worker, response = (arrays[key] for key in ("item", "worker", "response"))
    n = len(arrays["y"])
    fewest = int(np.bincount(item, minlength=n).min())
    if m > fewest:
        raise ValueError(f"annotators: {m} labels per item asked, but some item has only {fewest}")
    chosen = subset(item, m, seeds.generator(repetition, "annotators"))
    own = item[chosen], worker[chosen], response[chosen]
    vote = majority_vote(own[0], own[2], n, seeds.generator(repetition, "ties"))
    found = {MAJORITY: vote}
    for name, coins in COINS.items():
        consensus = dawid_skene(*own, n, coins=coins)
        found[name] = consensus.labels(seeds.generator(repetition, "ties"))
    return {name: (signs > 0).astype(np.int8) for name, signs in found.items()}


def completed(outcome: Outcome, votes: Labels) -> NDArray[np.bool_]:
    """Is the true class of each labelled item rather 1? From f and, with a flip matrix, from its vote too."""
    f: Array = outcome.scores[: len(votes)]
    if np.isnan(outcome.omega01):
        return np.asarray(f > 0)
    omega = flip_matrix.from_rates(outcome.omega01, outcome.omega10)
    return np.asarray(flip_matrix.posterior(f, votes.astype(float), omega) > 0.5)


def _on_new(outcome: Outcome, split: Split) -> float:
    return float(np.mean((outcome.scores[len(split.clean) :] > 0) == split.truth))
