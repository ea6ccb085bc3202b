"""Kernel classifiers: their costs, kernels on single features, labels by annotators or by a web search.

How width and parameter are selected is in `reproduction.run.training`. Splits, features and what is compared
of labels by people are ours.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from noisylabels.crowds import DawidSkene, MajorityVote, OneCoin
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


class TimingSettings(ErrorsSettings):
    """Settings of `timing`."""

    timings: PositiveInt = Field(description="runs of which the median counts, after one that is not timed")


class BankMethod(keys.Method):
    """A method with several kernels, `fit_bank`."""

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

    ranks: PositiveInt = Field(description="length of the list of the images that each method ranks first")


@protocol(TimingSettings, labels=("cpu_seconds",))
def timing(settings: TimingSettings, loop: Loop) -> Iterator[Row]:
    """CPU time to train on one split: distances, selection, final fit; one test row only.

    Every fold of every candidate is fitted, as on the slides. Metric: cpu_seconds, median of ``timings``
    runs. The first split of a block is also trained on once without being timed, which compiles. Unlike every
    other result table, this one differs from run to run.

    Source: table of CPU times.
    """
    methods = resolve(settings, settings.noise)
    for number, (repetition, split, noisy) in enumerate(loop.noisy_splits(settings)):
        alone = replace(split, X_test=split.X_test[:1], truth=split.truth[:1])
        if number == 0:
            train(methods, alone, noisy, settings, repetition)
        for k, noise in enumerate(settings.noise):
            for method in (m for m in methods if k in m.columns(noisy)):
                seconds, every = [], replace(method, conditions=None, complete=True)
                for _ in range(settings.timings):
                    start = time.process_time()
                    train([every], alone, noisy[:, [k]], settings, repetition)
                    seconds.append(time.process_time() - start)
                here = repetition.with_columns(
                    noise=noise.label, method=method.label, setting=method.selection or ""
                )
                yield here.row("cpu_seconds", float(np.median(seconds)))


@protocol(FeaturesSettings, labels=("accuracy", "flagged"))
def features(settings: FeaturesSettings, loop: Loop) -> Iterator[Row]:
    """Accuracy of multiple-kernel classifiers with kernels on single features, under symmetric label noise.

    Kernels: every width on each feature alone and on all features, 10 (d + 1) in the paper. Every repetition
    draws a share of the rows for training; its labels are flipped independently. A method that asks for the
    true flip rate (`FLIP_RATE`) is given it. Metrics: accuracy in [0, 1] on the clean labels of the other
    rows; flagged, 1 where the fit is doubtful.

    Source: "rMKLR vs StPMKL"; split, widths and StPMKL are our choice.
    """
    rates = [noise.parameters["rate"] for noise in settings.noise]
    for repetition, split, _ in loop.random_splits(settings):
        noisy = noisy_labels(split.clean, settings.noise, repetition)
        D, D_out = feature_distances(split.X, split.X), feature_distances(split.X_test, split.X)
        bank = KernelBank.of_widths(np.exp2(np.asarray(settings.widths, dtype=float)), groups=len(D))
        for label, method in settings.methods.items():
            known = {method.cls.FLIP_RATE: rates} if hasattr(method.cls, "FLIP_RATE") else {}
            fits = method.cls.fit_bank(bank, D, D_out, noisy, **(known | method.parameters))
            accuracy = ((fits.scores[:, 0] > 0) == split.truth).mean(axis=1)
            for noise, value, flag in zip(settings.noise, accuracy, fits.flagged[:, 0], strict=True):
                yield from repetition.rows(
                    {"accuracy": value, "flagged": flag}, noise=noise.label, method=label
                )


def feature_distances(A: Floats, B: Floats) -> Floats:
    """Squared distances of the rows of A (n, d) and B (m, d) in each feature, then in all: (d + 1, n, m)."""
    single = [squared_distances(A[:, [j]], B[:, [j]]) for j in range(A.shape[1])]
    return np.stack([*single, squared_distances(A, B)])


LABELLED, NEW, GOLD = "labelled items", "new items", "new items and gold labels"
MAJORITY = "majority vote"
EM = {"one-coin EM": OneCoin, "two-coin EM": DawidSkene}


@protocol(AnnotatorsSettings, labels=(LABELLED, NEW, GOLD, MAJORITY, *EM, "accuracy", "gain", "flagged"))
def annotators(settings: AnnotatorsSettings, loop: Loop) -> Iterator[Row]:
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

    Source: textual entailment.
    """
    methods = resolve(settings)
    for repetition, split, dataset in loop.random_splits(settings):
        n = len(split.clean)
        labels = [aggregated(dataset.arrays, m, repetition) for m in settings.annotators]
        votes = np.stack([each[MAJORITY][split.train] for each in labels], axis=1)
        both = replace(split, X_test=np.vstack([split.X, split.X_test]))
        noisy = np.column_stack([votes, split.clean])  # the last column: trained on gold labels
        outcomes = train(methods, both, noisy, settings, repetition)
        for k, m in enumerate(settings.annotators):
            right = {(LABELLED, name): each[split.train] == split.clean for name, each in labels[k].items()}
            for method in methods:
                found = outcomes[method.label]
                right |= {
                    (LABELLED, method.label): completed(found[k], votes[:, k]) == split.clean,
                    (NEW, method.label): (found[k].scores[n:] > 0) == split.truth,
                    (GOLD, method.label): (found[votes.shape[1]].scores[n:] > 0) == split.truth,
                }
                yield repetition.row("flagged", found[k].flagged, setting=NEW, method=method.label, x=m)
            base = float(np.mean(right[LABELLED, MAJORITY]))
            for (setting, name), each in right.items():
                here, accuracy = (
                    repetition.with_columns(setting=setting, method=name, x=m),
                    float(np.mean(each)),
                )
                yield here.row("accuracy", accuracy)
                if setting == LABELLED:
                    yield here.row("gain", accuracy - base)


def aggregated(arrays: Mapping[str, Any], m: int, repetition: Repetition) -> dict[str, Labels]:
    """Labels 0 or 1 of all items from m labels each, by every way of aggregating them.

    Raises ValueError : an item with fewer than m labels.
    """
    item, n = arrays["item"], len(arrays["y"])
    if m > (fewest := int(np.bincount(item, minlength=n).min())):
        raise ValueError(f"annotators: {m} labels per item asked, but some item has only {fewest}")
    chosen = subset(item, m, repetition.rng("annotators"))
    item, worker, response = (arrays[key][chosen] for key in ("item", "worker", "response"))
    crowd = {"item": item, "annotator": worker, "label": response}
    methods = {MAJORITY: MajorityVote, **EM}
    found = {name: method(random_state=repetition.rng("ties")).fit(crowd) for name, method in methods.items()}
    return {name: zero_one(each.labels_) for name, each in found.items()}


def completed(outcome: Outcome, votes: Labels) -> NDArray[np.bool_]:
    """Is the true class of each labelled item rather 1? From f and, with a flip matrix, from its vote too."""
    f = outcome.scores[: len(votes)]
    if np.isnan(outcome.omega01):
        return np.asarray(f > 0)
    omega = flip_matrix.from_rates(outcome.omega01, outcome.omega10)
    return np.asarray(flip_matrix.posterior(f, votes.astype(float), omega) > 0.5)


@protocol(SearchSettings, labels=("search", "error", "positive", "noise_share", "flagged"))
def search(settings: SearchSettings, loop: Loop) -> Iterator[Row]:
    """Classifiers trained on what a search returned: the test error, and the images that each ranks first.

    A repetition draws a share of the rows for training with their noisy labels; the others are judged by
    their true ones. A data set without noisy labels is trained on its labels as they are. Metrics: error,
    wrong test labels in %; positive, 1 where the test image at rank x (the largest decision value has rank 1)
    is truly of the positive class; noise_share, wrong training labels in %; flagged.

    Raises ValueError : too few rows for a share, or one noisy class among the training rows.
    Source: Bike / NotBike.
    """
    methods = resolve(settings)
    for repetition, split, dataset in loop.random_splits(settings):
        observed = zero_one(dataset.arrays.get("y_noisy", dataset.arrays["y"]))[split.train]
        if len(np.unique(observed)) < 2:
            share = f"a share of {settings.train:g} of {dataset.id}"
            raise ValueError(f"train: {share} leaves one class for training")
        outcomes = train(methods, split, observed[:, np.newaxis], settings, repetition)
        yield repetition.row("noise_share", 100.0 * float(np.mean(observed != split.clean)), method="search")
        for method in methods:
            here, outcome = repetition.with_columns(method=method.label), outcomes[method.label][0]
            yield here.row("error", 100.0 * float(np.mean((outcome.scores > 0) != split.truth)))
            yield here.row("flagged", outcome.flagged)
            first = split.truth[np.argsort(-outcome.scores, kind="stable")[: settings.ranks]]
            yield from here.curve("positive", enumerate(first, start=1))
