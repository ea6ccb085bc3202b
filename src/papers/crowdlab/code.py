"""CROWDLAB beside votes and models of annotators: labels, their quality, ratings of annotators.

Quality of a label: its probability by the method, ranked by the sum of the others, which is not rounded to 1
where many labels agree. A method's own labels are scored by it, and those of the majority vote too: the paper
scores the vote by CROWDLAB, Dawid-Skene and GLAD by their own. The authors' program ranks their labels by
what they say of the vote's class: GLAD by its probability, rounded to 1 as may be, Dawid-Skene by
log P(labels of the item, class), which is lower the more labels there are.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from noisylabels.crowds import MajorityVote, read_crowd_labels
from reproduction.run.protocol_loop import seeded
from reproduction.run.splits import standardised, zero_one
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

OWN, VOTE, PROGRAM = "own labels", "labels of the vote", "own labels as the program ranks them"
ALONE = "classifier alone"
EACH, ONE_TO = "x labels each", "one to x labels"
ONE_COIN, DIFFICULTY = "annotators differ", "annotators and items differ"
COMPLETE, UNIFORM = "complete", "uniform_1_5"
Pair = Annotated[list[float], Field(min_length=2, max_length=2)]
METRICS = ("accuracy", "auroc", "auprc", "spearman", "lift *", "network", OWN, VOTE, PROGRAM, ALONE)


class Vote(MajorityVote):
    """The most frequent label, ties by the classifier p (n, K); its quality is the share of votes for it.

    ``quality_`` (W,): the share of an annotator's labels, of items with several, that are the vote.
    """

    def fit(self, labels, p):
        """Count the labels, see `noisylabels.crowds`."""
        data = read_crowd_labels(labels, self.classes)
        vote = ((data.votes == data.votes.max(axis=1, keepdims=True)) * (1.0 + p)).argmax(axis=1)
        self._set_results(data, self.scores(data, p), chosen=vote)
        several = (data.votes.sum(axis=1) > 1)[data.item].astype(float)
        with np.errstate(invalid="ignore"):  # 0 / 0
            self.quality_ = data.sum_by_annotator(several * (data.label == vote[data.item]))
            self.quality_ /= data.sum_by_annotator(several)
        return self

    def scores(self, data, p):
        """The quality (n, K) of every class of every item."""
        return data.shares


class LabelQuality(Vote):
    """The vote, its quality the classifier's probability; annotators' ratings its mean over their labels."""

    def fit(self, labels, p):
        """As `Vote`."""
        super().fit(labels, p)
        self.quality_ = self.accuracy_
        return self

    def scores(self, data, p):
        """The classifier's probabilities."""
        return p


class Aggregator(keys.Method):
    """A class as those of `noisylabels.crowds`, and the classifier whose probabilities it is given."""

    classifier: str | None = Field(None, description="key of `classifiers`; none: labels alone")


class Settings(keys.Repeated):
    """Settings of all experiments."""

    methods: keys.Methods[Aggregator] = Field(description="label -> way of aggregating")
    lifts: keys.Distinct[keys.Count] = Field(description="sizes k of the lists of the least sure labels")


class Trained(Settings):
    """Settings of experiments in which classifiers are trained, on the vote (ties by coins)."""

    classifiers: keys.Methods[keys.Method] = Field(description="name -> classifier; the first breaks ties")
    folds: keys.Folds
    labels: keys.Distinct[int] = Field(description="numbers x of labels per item, at least 2")

    def check_custom(self):
        """Check the classifiers as the methods are."""
        super().check_custom()
        for method in self.classifiers.values():
            method.check()


class CrowdSettings(Trained, keys.OnDataSets):
    """Settings of `crowd`."""


class SimulatedSettings(Trained):
    """Settings of `simulated`: annotators, and what they know."""

    annotators: keys.Count
    accuracy: Pair = Field(description="Beta(a, b) of their accuracies, where items do not differ")
    ability: Pair = Field(description="mean and deviation of abilities, GLAD's, where they do")


class VotesSettings(Settings, keys.OnDataSets):
    """Settings of `votes`."""

    images: keys.Count = Field(description="the first so many")
    annotators: keys.Count
    kinds: keys.Distinct[str]


@protocol(CrowdSettings, labels=(*METRICS, EACH, ONE_TO))
def crowd(settings, loop):
    """Labels that people gave, x of each item, or one to x, drawn at random."""
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        arrays, truth = dataset.arrays, zero_one(dataset.arrays["y"]).astype(int)
        X = standardised(arrays["X"], arrays["X"][:0])[0]
        for noise in (ONE_TO, EACH):
            for x in settings.labels:
                most = np.full(len(truth), x)
                if noise == ONE_TO:
                    most = repetition.rng("counts").integers(1, most + 1)
                kept = drawn(arrays["item"], most, repetition.rng("labels"))
                labels = {"item": arrays["item"][kept], "annotator": arrays["worker"][kept]}
                labels["label"] = zero_one(arrays["response"][kept]).astype(int)
                here = repetition.with_columns(noise=noise, x=x)
                yield from judged(
                    here, settings, labels, truth, trained(settings, X, labels, truth, repetition)
                )


@protocol(SimulatedSettings, labels=(*METRICS, ONE_COIN, DIFFICULTY))
def simulated(settings, loop):
    """Digits (scikit-learn's, 1797 x 64), one to x labels each, by annotators of whom all is known."""
    X, truth = load_digits(return_X_y=True)
    X = standardised(X, X[:0])[0]
    n, W, K = len(truth), settings.annotators, truth.max() + 1
    for repetition in loop:
        rng, most = repetition.rng("annotators"), repetition.rng("counts").random(n)
        accuracy = np.broadcast_to(rng.beta(*settings.accuracy, size=W), (n, W))
        ease = np.exp(rng.standard_normal((n, 1)))
        crowds = {ONE_COIN: accuracy, DIFFICULTY: expit(rng.normal(*settings.ability, size=W) * ease)}
        who = np.argsort(rng.random((n, W)), axis=1)[:, : max(settings.labels)]
        coins, other = rng.random(who.shape), rng.integers(1, K, size=who.shape)
        for noise, right in crowds.items():
            said = (truth[:, None] + np.where(coins < np.take_along_axis(right, who, 1), 0, other)) % K
            for x in settings.labels:
                item, place = np.nonzero(np.arange(who.shape[1]) < 1 + np.floor(x * most)[:, None])
                labels = {"item": item, "annotator": who[item, place], "label": said[item, place]}
                here = repetition.with_columns(noise=noise, x=x)
                yield from judged(
                    here, settings, labels, truth, trained(settings, X, labels, truth, repetition)
                )


@protocol(VotesSettings, labels=METRICS, targets=("classes",))
def votes(settings, loop):
    """Votes on images, all or one to five of each, given to annotators drawn at random, all alike."""
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        truth, p, counts = (dataset.arrays[key][: settings.images] for key in ("y", "p", "votes"))
        truth, counts = truth.astype(int), counts.astype(int)
        image, label = (np.repeat(each.ravel(), counts.ravel()) for each in np.indices(counts.shape))
        total = counts.sum(axis=1)
        who = np.argsort(repetition.rng("annotators").random((len(truth), settings.annotators)), axis=1)[
            :, : total.max()
        ]
        shuffled = drawn(image, total, repetition.rng("votes"))
        most = {COMPLETE: total, UNIFORM: repetition.rng("counts").integers(1, 6, size=len(truth))}
        for noise in settings.kinds:
            item, label_of = image[shuffled], label[shuffled]
            place = np.arange(len(item)) - np.repeat(total.cumsum() - total, total)
            kept = place < most[noise][item]
            labels = {"item": item[kept], "annotator": who[item[kept], place[kept]], "label": label_of[kept]}
            yield from judged(repetition.with_columns(noise=noise), settings, labels, truth, {"network": p})


def drawn(item, most, rng):
    """Places of the first ``most`` (n,) labels of every item, in random order within it, items ascending."""
    order = np.lexsort([rng.random(len(item)), item])
    counts = np.bincount(item)
    place = np.arange(len(item)) - np.repeat(counts.cumsum() - counts, counts)
    return order[place < most[item[order]]]


def trained(settings, X, labels, truth, repetition):
    """Cross-fitted probabilities (n, K) of every classifier, trained on the vote."""
    classes = np.arange(truth.max() + 1)
    state = int(repetition.rng("folds").integers(2**31 - 1))
    vote = MajorityVote(classes, random_state=state).fit(labels).labels_
    folds = StratifiedKFold(settings.folds, shuffle=True, random_state=state)
    found = {}
    for name, method in settings.classifiers.items():
        model = seeded(method.build(), repetition.rng("classifier"))
        p = cross_val_predict(model, X, vote, cv=folds, method="predict_proba")
        found[name] = np.zeros((len(X), len(classes)))
        found[name][:, np.unique(vote)] = p / p.sum(axis=1, keepdims=True)  # naive Bayes rounds them to 1e-5
    return found


def judged(repetition, settings, labels, truth, p):
    """Rows of every method: labels, their quality, ratings of annotators; p: classifier -> (n, K)."""
    n, first = np.arange(len(truth)), next(iter(p.values()))
    classes = np.arange(first.shape[1])
    data = read_crowd_labels(labels, classes)
    vote = Vote(classes).fit(labels, first).labels_
    several = data.sum_by_annotator((data.votes.sum(axis=1) > 1)[data.item].astype(float)) > 0
    right = data.sum_by_annotator((data.label == truth[data.item]).astype(float))
    right /= data.sum_by_annotator(np.ones(len(data.label)))
    for name, found in p.items():
        yield repetition.row("accuracy", np.mean(found.argmax(axis=1) == truth), method=name, setting=ALONE)
    for name, method in settings.methods.items():
        model = seeded(method.build(classes=classes), repetition.rng("ties"))
        model.fit(labels, *([p[method.classifier]] if method.classifier else []))
        rating = next(
            getattr(model, key) for key in ("quality_", "ability_", "accuracy_") if hasattr(model, key)
        )
        here = repetition.with_columns(method=name, setting=OWN)
        yield here.row("accuracy", np.mean(model.labels_ == truth))
        if np.ptp(right[several]) > 0 and np.ptp(rating[several]) > 0:
            yield here.row("spearman", spearmanr(rating[several], right[several]).statistic)
        others = [(OWN, model.labels_, quality(model, model.labels_)), (VOTE, vote, quality(model, vote))]
        if hasattr(model, "prior_"):
            said = np.log(model.confusion_)[data.annotator, :, data.label]
            joint = np.log(model.prior_) + data.sum_by_item(said)
            others.append((PROGRAM, model.labels_, joint[n, vote]))
        elif hasattr(model, "ability_"):
            others.append((PROGRAM, model.labels_, model.posterior_[n, vote]))
        for setting, chosen, score in others:
            wrong = chosen != truth
            if 0 < wrong.sum() < len(wrong):
                coins = repetition.rng("order of equals").random(len(wrong))
                yield from here.rows(ranked(wrong, -score, coins, settings.lifts), setting=setting)


def quality(model, chosen):
    """How sure a method is of labels (n,): minus the probability of the other classes."""
    return -(model.posterior_ * (np.arange(model.posterior_.shape[1]) != chosen[:, None])).sum(axis=1)


def ranked(wrong, doubt, coins, lifts):
    """How well doubts find wrong labels: areas, the second by trapezoids as in the paper; lifts at k."""
    precision, recall, _ = precision_recall_curve(wrong, doubt)
    order = np.lexsort([coins, -doubt])
    found = {f"lift {k}": wrong[order[:k]].mean() / wrong.mean() for k in lifts if k <= len(wrong)}
    return {"auroc": roc_auc_score(wrong, doubt), "auprc": auc(recall, precision)} | found


class PrintedSettings(keys.Settings):
    """Settings of `printed`."""

    chosen: dict[keys.Label, dict[str, str]] = Field(
        description="label -> columns of the file and their values"
    )
    metrics: keys.Distinct[str] = Field(description="columns of the file with results")


@protocol(PrintedSettings, labels=(COMPLETE, UNIFORM, "worst_annotators", "resnet18", "swin", "truelabels"))
def printed(settings, loop):
    """The authors' own results as rows: noise is their data set, setting their network."""
    table = pd.read_csv(Path(__file__).with_name("printed.csv"))
    for repetition in loop:
        for method, where in settings.chosen.items():
            rows = table[(table[list(where)].fillna("") == pd.Series(where)).all(axis=1)]
            for metric in settings.metrics:
                for row in rows.dropna(subset=[metric]).to_dict("records"):
                    here = repetition.with_columns(noise=row["dataset"], setting=row["model"], method=method)
                    yield here.row(metric, row[metric])
