"""Experiments on kernel classifiers: costs, single features, several annotators, image search.

How width and parameter are selected is in `reproduction.run.training`. Splits, features and what is
compared of labels by people are ours.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

import noisylabels
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import squared_distances
from noisylabels.noise import flip_matrix
from noisylabels.noise.simulated_crowd import subset
from reproduction.run.protocol_loop import Loop, Repetition, Row, noisy_labels
from reproduction.run.splits import Floats, Labels, zero_one
from reproduction.run.stock import ErrorsSettings
from reproduction.run.training import Outcome, TrainingSettings, resolve, train
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

Mask = NDArray[np.bool_]


class TimingSettings(ErrorsSettings):
    """Settings of `timing`."""

    timings: PositiveInt = Field(
        description="runs of which the median counts, after one that is not timed",
    )


class BankMethod(keys.Method):
    """Settings of a method with several kernels, whose class has `fit_bank`."""

    def check(self) -> None:
        """Check that the class takes a bank of kernels, and its parameters."""
        self.require("fit_bank", "a protocol with kernels on single features")
        super().check()


class FeaturesSettings(keys.PartSettings):
    """Settings of `features`."""

    noise: Annotated[keys.Flips, keys.only("independent")]
    widths: keys.Exponents = Field(description="of the Gaussian kernels, exponents of 2")
    methods: keys.Methods[BankMethod]


class AnnotatorsSettings(TrainingSettings, keys.PartSettings):
    """Settings of `annotators`."""

    annotators: keys.Distinct[PositiveInt] = Field(description="labels per item")


class SearchSettings(TrainingSettings, keys.PartSettings):
    """Settings of `search`."""

    ranks: PositiveInt = Field(
        description="length of the list of the images that each method ranks first",
    )


@protocol(TimingSettings, labels=("cpu_seconds",))
def timing(settings: TimingSettings, loop: Loop) -> Iterator[Row]:
    """Time the training on one split: distances, selection and final fit, with one test row.

    Every fold of every candidate is fitted, as on the slides. Metric: cpu_seconds, median of
    ``timings`` runs. The first split of a block is also trained on once without being timed, which
    compiles. Unlike every other result table, this one differs from run to run.

    Source: table of CPU times.
    """
    methods = resolve(settings, settings.noise)
    is_compiled = False
    for repetition, split, noisy in loop.noisy_splits(settings):
        one_test_row = replace(split, X_test=split.X_test[:1], truth=split.truth[:1])
        if not is_compiled:
            train(methods, one_test_row, noisy, settings, repetition)
            is_compiled = True
        for column, noise in enumerate(settings.noise):
            for method in methods:
                if column not in method.columns(noisy):
                    continue
                complete = replace(method, conditions=None, complete=True)
                labels = noisy[:, [column]]
                seconds = []
                for _ in range(settings.timings):
                    start = time.process_time()
                    train([complete], one_test_row, labels, settings, repetition)
                    seconds.append(time.process_time() - start)
                selection = method.selection or ""
                columns = {"noise": noise.label, "method": method.label, "setting": selection}
                yield repetition.row("cpu_seconds", float(np.median(seconds)), **columns)


@protocol(FeaturesSettings, labels=("accuracy", "flagged"))
def features(settings: FeaturesSettings, loop: Loop) -> Iterator[Row]:
    """Measure the accuracy of classifiers with kernels on single features, under symmetric noise.

    Kernels: every width on each feature alone and on all features, 10 (d + 1) in the paper. Every
    repetition draws a share of the rows for training; its labels are flipped independently. A
    method that needs the true flip rate (`FLIP_RATE`) gets it. Metrics: accuracy in [0, 1]
    on the clean labels of the other rows; flagged, 1 where the fit is doubtful.

    Source: "rMKLR vs StPMKL"; split, widths and StPMKL are our choice.
    """
    rates = [noise.parameters["rate"] for noise in settings.noise]
    widths = np.exp2(np.asarray(settings.widths, dtype=float))
    for repetition, split, _ in loop.random_splits(settings):
        noisy = noisy_labels(split.clean, settings.noise, repetition)
        D = feature_distances(split.X, split.X)
        D_test = feature_distances(split.X_test, split.X)
        bank = KernelBank.of_widths(widths, groups=len(D))
        for label, method in settings.methods.items():
            options: dict[str, Any] = {}
            if hasattr(method.cls, "FLIP_RATE"):
                options[method.cls.FLIP_RATE] = rates
            options |= method.parameters
            fits = method.cls.fit_bank(bank, D, D_test, noisy, **options)
            is_right = (fits.scores[:, 0] > 0) == split.truth
            for column, noise in enumerate(settings.noise):
                metrics = {
                    "accuracy": is_right[column].mean(),
                    "flagged": fits.flagged[column, 0],
                }
                yield from repetition.rows(metrics, noise=noise.label, method=label)


def feature_distances(A: Floats, B: Floats) -> Floats:
    """Compute squared distances of rows by each feature, then by all: (d + 1, n, m)."""
    distances = [squared_distances(A[:, [j]], B[:, [j]]) for j in range(A.shape[1])]
    distances.append(squared_distances(A, B))
    return np.stack(distances)


LABELLED = "labelled items"
NEW = "new items"
GOLD = "new items and gold labels"
MAJORITY = "majority vote"
EM = {"one-coin EM": "OneCoin", "two-coin EM": "DawidSkene"}
"""Name in the results -> class of the library, imported only where labels are aggregated."""
NAMES_OF_ANNOTATORS = (LABELLED, NEW, GOLD, MAJORITY, *EM)


@protocol(AnnotatorsSettings, labels=(*NAMES_OF_ANNOTATORS, "accuracy", "gain", "flagged"))
def annotators(settings: AnnotatorsSettings, loop: Loop) -> Iterator[Row]:
    """Measure aggregated labels, and classifiers trained on them, by the number of annotators.

    x = m, the number of labels of every item. A repetition splits the items into a training and a
    test part and draws m labels of every item.

    setting "labelled items" (training part): labels by majority vote (ties by coins); by Dawid and
    Skene's EM with one or two error rates per worker, over all items; the classes that a classifier
    trained on the majority vote predicts or, if it has learned a flip matrix, the more probable
    true label given features and vote.
    setting "new items" (test part): predictions from the features alone.
    setting "new items and gold labels": the same after training on true labels, the same at every
    m.

    Metrics: accuracy against gold, in [0, 1]; flagged; gain, the accuracy minus that of majority
    vote, on the labelled items.

    Source: textual entailment.
    """
    methods = resolve(settings)
    for repetition, split, dataset in loop.random_splits(settings):
        n = len(split.clean)
        labels = [aggregated(dataset.arrays, m, repetition) for m in settings.annotators]
        votes = np.stack([by_name[MAJORITY][split.train] for by_name in labels], axis=1)
        both_parts = replace(split, X_test=np.vstack([split.X, split.X_test]))
        noisy = np.column_stack([votes, split.clean])
        gold = votes.shape[1]  # the last column
        outcomes = train(methods, both_parts, noisy, settings, repetition)
        for column, m in enumerate(settings.annotators):
            is_right: dict[tuple[str, str], Mask] = {}
            for name, aggregate in labels[column].items():
                is_right[LABELLED, name] = aggregate[split.train] == split.clean
            for method in methods:
                name = method.label
                outcome = outcomes[name][column]
                of_gold = outcomes[name][gold]
                is_right[LABELLED, name] = completed(outcome, votes[:, column]) == split.clean
                is_right[NEW, name] = (outcome.scores[n:] > 0) == split.truth
                is_right[GOLD, name] = (of_gold.scores[n:] > 0) == split.truth
                yield repetition.row("flagged", outcome.flagged, setting=NEW, method=name, x=m)
            accuracy_of_vote = float(np.mean(is_right[LABELLED, MAJORITY]))
            for (setting, name), right in is_right.items():
                labelled = repetition.with_columns(setting=setting, method=name, x=m)
                accuracy = float(np.mean(right))
                yield labelled.row("accuracy", accuracy)
                if setting == LABELLED:
                    yield labelled.row("gain", accuracy - accuracy_of_vote)


def aggregated(arrays: Mapping[str, Any], m: int, repetition: Repetition) -> dict[str, Labels]:
    """Aggregate m labels of each item in every way into labels 0 and 1 of all items.

    Raises ValueError : an item with fewer than m labels.
    """
    item = arrays["item"]
    fewest = int(np.bincount(item, minlength=len(arrays["y"])).min())
    if m > fewest:
        has_fewer = f"but some item has only {fewest}"
        raise ValueError(f"annotators: needs {m} labels per item, {has_fewer}")
    chosen = subset(item, m, repetition.rng("annotators"))
    crowd = {
        "item": item[chosen],
        "annotator": arrays["worker"][chosen],
        "label": arrays["response"][chosen],
    }
    labels = {}
    for name, class_name in {MAJORITY: "MajorityVote", **EM}.items():
        method = getattr(noisylabels, class_name)
        model = method(random_state=repetition.rng("ties")).fit(crowd)
        labels[name] = zero_one(model.labels_)
    return labels


def completed(outcome: Outcome, votes: Labels) -> Mask:
    """Decide for each labelled item whether its true class is more likely 1.

    From f and, with a flip matrix, from its vote too.
    """
    f = outcome.scores[: len(votes)]
    if np.isnan(outcome.omega01):
        return np.asarray(f > 0)
    omega = flip_matrix.from_rates(outcome.omega01, outcome.omega10)
    return np.asarray(flip_matrix.posterior(f, votes.astype(float), omega) > 0.5)


@protocol(SearchSettings, labels=("search", "error", "positive", "noise_share", "flagged"))
def search(settings: SearchSettings, loop: Loop) -> Iterator[Row]:
    """Measure classifiers trained on the results of a search: errors, and what each ranks first.

    A repetition draws a share of the rows for training with their noisy labels; the others are
    judged by their true ones. A data set without noisy labels is trained on its given labels.
    Metrics: error, wrong test labels in %; positive, 1 where the test image at rank x (the largest
    decision value has rank 1) is truly of the positive class; noise_share, wrong training labels in
    %; flagged.

    Raises ValueError : too few rows for a share, or one noisy class among the training rows.
    Source: Bike / NotBike.
    """
    methods = resolve(settings)
    for repetition, split, dataset in loop.random_splits(settings):
        labels = dataset.arrays.get("y_noisy", dataset.arrays["y"])
        observed = zero_one(labels)[split.train]
        if len(np.unique(observed)) < 2:
            share = f"a share of {settings.train:g} of {dataset.id}"
            raise ValueError(f"train: {share} leaves one class for training")
        outcomes = train(methods, split, observed[:, np.newaxis], settings, repetition)
        noise_share = 100.0 * float(np.mean(observed != split.clean))
        yield repetition.row("noise_share", noise_share, method="search")
        for method in methods:
            labelled = repetition.with_columns(method=method.label)
            outcome = outcomes[method.label][0]
            is_wrong = (outcome.scores > 0) != split.truth
            yield labelled.row("error", 100.0 * float(np.mean(is_wrong)))
            yield labelled.row("flagged", outcome.flagged)
            ranking = np.argsort(-outcome.scores, kind="stable")[: settings.ranks]
            yield from labelled.curve("positive", enumerate(split.truth[ranking], start=1))
