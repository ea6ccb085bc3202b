"""CROWDLAB next to votes and models of annotators: labels, their quality, and ratings.

The quality of a label is its probability by the method. Labels are ranked by the sum of the other
classes' probabilities, which is not rounded to 1 where many labels agree. A method scores its own
labels and those of the majority vote. In the paper, CROWDLAB scores those of the vote, Dawid-Skene
and GLAD their own. The authors' program ranks the labels of GLAD and Dawid-Skene by what they
say of the vote's class. For GLAD this is its probability, which may be rounded to 1. For
Dawid-Skene it is log P(labels of the item, class), which is lower the more labels there are.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from noisylabels.crowds import MajorityVote, read_crowd_labels
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Repetition, Row, seeded
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
    """Takes the most frequent label of each item, with ties broken by a classifier.

    The quality of a label is the share of votes for it.

    Attributes
    ----------
    quality_ : ndarray of shape (W,)
        Share of an annotator's labels, of items with several labels, that are the vote.
    """

    def fit(self, labels: Any, p: Floats) -> Self:  # type: ignore[override]  # needs a classifier
        """Count the labels; p (n, K) are the classifier's probabilities."""
        data = read_crowd_labels(labels, self.classes)
        is_most_frequent = data.votes == data.votes.max(axis=1, keepdims=True)
        vote = (is_most_frequent * (1.0 + p)).argmax(axis=1)
        self._set_results(data, self.scores(data, p), chosen=vote)
        has_several = data.votes.sum(axis=1) > 1
        is_of_several = has_several[data.item].astype(float)
        agrees = data.label == vote[data.item]
        with np.errstate(invalid="ignore"):  # 0 / 0
            self.quality_ = data.sum_by_annotator(is_of_several * agrees)
            self.quality_ /= data.sum_by_annotator(is_of_several)
        return self

    def scores(self, data: Any, p: Floats) -> Floats:
        """Compute the quality (n, K) of every class of every item."""
        return data.shares


class LabelQuality(Vote):
    """Takes the majority vote; the quality of a label is the classifier's probability of it.

    The rating of an annotator is the mean quality of the annotator's labels.
    """

    def fit(self, labels: Any, p: Floats) -> Self:  # type: ignore[override]  # as in `Vote`
        """Count the labels as `Vote` does."""
        super().fit(labels, p)
        self.quality_ = self.accuracy_
        return self

    def scores(self, data: Any, p: Floats) -> Floats:
        """Return the classifier's probabilities."""
        return p


class Aggregator(keys.Method):
    """Settings of a method: a class like those of `noisylabels.crowds`, and its classifier."""

    classifier: str | None = Field(None, description="key of `classifiers`; none: labels alone")


class Settings(keys.Repeated):
    """Settings of all experiments."""

    methods: keys.Methods[Aggregator] = Field(description="label -> way of aggregating")
    lifts: keys.Distinct[keys.Count] = Field(
        description="sizes k of the lists of the least sure labels",
    )


class Trained(Settings):
    """Settings of experiments that train classifiers on the vote, with ties broken by coins."""

    classifiers: keys.Methods[keys.Method] = Field(
        description="name -> classifier; the first breaks ties",
    )
    folds: keys.Folds
    labels: keys.Distinct[int] = Field(description="numbers x of labels per item, at least 2")

    def check_custom(self) -> None:
        """Check the classifiers in the same way as the methods."""
        super().check_custom()
        for method in self.classifiers.values():
            method.check()


class CrowdSettings(Trained, keys.OnDataSets):
    """Settings of `crowd`."""


class SimulatedSettings(Trained):
    """Settings of `simulated`: annotators, and which methods know their accuracies."""

    annotators: keys.Count
    accuracy: Pair = Field(description="Beta(a, b) of their accuracies, where items do not differ")
    ability: Pair = Field(description="mean and deviation of abilities, GLAD's, where they do")


class VotesSettings(Settings, keys.OnDataSets):
    """Settings of `votes`."""

    images: keys.Count = Field(description="the first so many")
    annotators: keys.Count
    kinds: keys.Distinct[str]


@protocol(CrowdSettings, labels=(*METRICS, EACH, ONE_TO))
def crowd(settings: CrowdSettings, loop: Loop) -> Iterator[Row]:
    """Judge methods on labels by people: x labels of each item, or one to x, drawn at random."""
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        arrays = dataset.arrays
        truth = zero_one(arrays["y"]).astype(int)
        X = standardised(arrays["X"], arrays["X"][:0])[0]
        for noise in (ONE_TO, EACH):
            for x in settings.labels:
                counts = np.full(len(truth), x)
                if noise == ONE_TO:
                    counts = repetition.rng("counts").integers(1, counts + 1)
                chosen = drawn(arrays["item"], counts, repetition.rng("labels"))
                labels = {
                    "item": arrays["item"][chosen],
                    "annotator": arrays["worker"][chosen],
                    "label": zero_one(arrays["response"][chosen]).astype(int),
                }
                with_noise = repetition.with_columns(noise=noise, x=x)
                p = trained(settings, X, labels, truth, repetition)
                yield from judged(with_noise, settings, labels, truth, p)


@protocol(SimulatedSettings, labels=(*METRICS, ONE_COIN, DIFFICULTY))
def simulated(settings: SimulatedSettings, loop: Loop) -> Iterator[Row]:
    """Judge methods on digits with one to x labels each from simulated annotators.

    The digits are scikit-learn's, 1797 x 64. All is known of the annotators.
    """
    X, truth = load_digits(return_X_y=True)
    X = standardised(X, X[:0])[0]
    n = len(truth)
    W = settings.annotators
    a, b = settings.accuracy
    mean, deviation = settings.ability
    K = truth.max() + 1
    for repetition in loop:
        rng = repetition.rng("annotators")
        share_of_labels = repetition.rng("counts").random(n)
        accuracy = np.broadcast_to(rng.beta(a, b, size=W), (n, W))
        ease = np.exp(rng.standard_normal((n, 1)))
        ability = rng.normal(mean, deviation, size=W)
        accuracies = {ONE_COIN: accuracy, DIFFICULTY: expit(ability * ease)}
        annotators = np.argsort(rng.random((n, W)), axis=1)[:, : max(settings.labels)]
        coins = rng.random(annotators.shape)
        shift = rng.integers(1, K, size=annotators.shape)
        for noise, accuracy in accuracies.items():
            is_right = coins < np.take_along_axis(accuracy, annotators, 1)
            label = (truth[:, None] + np.where(is_right, 0, shift)) % K
            for x in settings.labels:
                counts = 1 + np.floor(x * share_of_labels)
                item, worker = np.nonzero(np.arange(annotators.shape[1]) < counts[:, None])
                labels = {
                    "item": item,
                    "annotator": annotators[item, worker],
                    "label": label[item, worker],
                }
                with_noise = repetition.with_columns(noise=noise, x=x)
                p = trained(settings, X, labels, truth, repetition)
                yield from judged(with_noise, settings, labels, truth, p)


@protocol(VotesSettings, labels=METRICS, targets=("classes",))
def votes(settings: VotesSettings, loop: Loop) -> Iterator[Row]:
    """Judge methods on votes for images: all votes, or one to five of each image.

    Annotators, who are all alike, are drawn at random.
    """
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        truth = dataset.arrays["y"][: settings.images].astype(int)
        p = dataset.arrays["p"][: settings.images]
        counts = dataset.arrays["votes"][: settings.images].astype(int)
        image_of_count, class_of_count = np.indices(counts.shape)
        image = np.repeat(image_of_count.ravel(), counts.ravel())
        label = np.repeat(class_of_count.ravel(), counts.ravel())
        total = counts.sum(axis=1)
        rng = repetition.rng("annotators")
        shuffled_annotators = np.argsort(rng.random((len(truth), settings.annotators)), axis=1)
        annotators = shuffled_annotators[:, : total.max()]
        shuffled = drawn(image, total, repetition.rng("votes"))
        uniform = repetition.rng("counts").integers(1, 6, size=len(truth))
        n_votes = {COMPLETE: total, UNIFORM: uniform}
        item = image[shuffled]
        position = np.arange(len(item)) - np.repeat(total.cumsum() - total, total)
        for noise in settings.kinds:
            is_used = position < n_votes[noise][item]
            labels = {
                "item": item[is_used],
                "annotator": annotators[item[is_used], position[is_used]],
                "label": label[shuffled][is_used],
            }
            with_noise = repetition.with_columns(noise=noise)
            yield from judged(with_noise, settings, labels, truth, {"network": p})


def drawn(
    item: NDArray[Any],
    largest_count: NDArray[Any],
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Draw up to ``most`` (n,) labels of every item, and return their places by ascending items."""
    order = np.lexsort([rng.random(len(item)), item])
    counts = np.bincount(item)
    position = np.arange(len(item)) - np.repeat(counts.cumsum() - counts, counts)
    return order[position < largest_count[item[order]]]


def trained(
    settings: Trained,
    X: Floats,
    labels: Mapping[str, Any],
    truth: NDArray[Any],
    repetition: Repetition,
) -> dict[str, Floats]:
    """Cross-fit the probabilities (n, K) of every classifier, which is trained on the vote."""
    classes = np.arange(truth.max() + 1)
    state = int(repetition.rng("folds").integers(2**31 - 1))
    vote = MajorityVote(classes, random_state=state).fit(labels).labels_
    folds = StratifiedKFold(settings.folds, shuffle=True, random_state=state)
    probabilities = {}
    for name, method in settings.classifiers.items():
        model = seeded(method.build(), repetition.rng("classifier"))
        p = cross_val_predict(model, X, vote, cv=folds, method="predict_proba")
        of_all_classes = np.zeros((len(X), len(classes)))
        # Probabilities of naive Bayes sum to 1 only up to 1e-5.
        of_all_classes[:, np.unique(vote)] = p / p.sum(axis=1, keepdims=True)
        probabilities[name] = of_all_classes
    return probabilities


def judged(
    repetition: Repetition,
    settings: Settings,
    labels: Mapping[str, Any],
    truth: NDArray[Any],
    p: Mapping[str, Floats],
) -> Iterator[Row]:
    """Make the rows of every method about labels, their quality, and ratings of annotators.

    p : classifier -> its probabilities (n, K); the first classifier breaks the ties of the vote.
    """
    first = next(iter(p.values()))
    classes = np.arange(first.shape[1])
    data = read_crowd_labels(labels, classes)
    vote = Vote(classes).fit(labels, first).labels_
    has_several = data.votes.sum(axis=1) > 1
    is_rated = data.sum_by_annotator(has_several[data.item].astype(float)) > 0
    true_rating = data.sum_by_annotator((data.label == truth[data.item]).astype(float))
    true_rating /= data.sum_by_annotator(np.ones(len(data.label)))
    for name, probabilities in p.items():
        share = np.mean(probabilities.argmax(axis=1) == truth)
        yield repetition.row("accuracy", float(share), method=name, setting=ALONE)
    for name, method in settings.methods.items():
        model = seeded(method.build(classes=classes), repetition.rng("ties"))
        if method.classifier:
            model.fit(labels, p[method.classifier])
        else:
            model.fit(labels)
        of_method = repetition.with_columns(method=name, setting=OWN)
        yield of_method.row("accuracy", float(np.mean(model.labels_ == truth)))
        rating = find_rating(model)
        if np.ptp(true_rating[is_rated]) > 0 and np.ptp(rating[is_rated]) > 0:
            correlation = spearmanr(rating[is_rated], true_rating[is_rated]).statistic
            yield of_method.row("spearman", float(correlation))
        for setting, chosen, score in score_labels(model, data, vote):
            is_wrong = chosen != truth
            if 0 < is_wrong.sum() < len(is_wrong):
                coins = repetition.rng("order of equals").random(len(is_wrong))
                metrics = ranked(is_wrong, -score, coins, settings.lifts)
                yield from of_method.rows(metrics, setting=setting)


def find_rating(model: Any) -> Floats:
    """Return the ratings (W,) of annotators under the name that the method has for them."""
    for attribute in ("quality_", "ability_", "accuracy_"):
        if hasattr(model, attribute):
            return getattr(model, attribute)
    raise ValueError(f"methods: {type(model).__name__} rates no annotators; remove it")


def score_labels(
    model: Any,
    data: Any,
    vote: NDArray[Any],
) -> list[tuple[str, NDArray[Any], Floats]]:
    """List a setting, its labels (n,), and how sure the method is of them (n,)."""
    scored = [
        (OWN, model.labels_, quality(model, model.labels_)),
        (VOTE, vote, quality(model, vote)),
    ]
    n = np.arange(len(vote))
    if hasattr(model, "prior_"):
        log_likelihood = np.log(model.confusion_)[data.annotator, :, data.label]
        joint = np.log(model.prior_) + data.sum_by_item(log_likelihood)
        scored.append((PROGRAM, model.labels_, joint[n, vote]))
    elif hasattr(model, "ability_"):
        scored.append((PROGRAM, model.labels_, model.posterior_[n, vote]))
    return scored


def quality(model: Any, chosen: NDArray[Any]) -> Floats:
    """Measure how sure a method is of labels (n,), by the probability of the other classes."""
    classes = np.arange(model.posterior_.shape[1])
    is_other_class = classes != chosen[:, None]
    return -(model.posterior_ * is_other_class).sum(axis=1)


def ranked(
    wrong: NDArray[np.bool_],
    doubt: Floats,
    coins: Floats,
    lifts: list[int],
) -> dict[str, float]:
    """Measure how well doubts find wrong labels, by two areas and by lifts at k.

    The area under precision and recall is by trapezoids, as in the paper.
    """
    precision, recall, _ = precision_recall_curve(wrong, doubt)
    metrics = {"auroc": roc_auc_score(wrong, doubt), "auprc": auc(recall, precision)}
    order = np.lexsort([coins, -doubt])
    for k in lifts:
        if k <= len(wrong):
            metrics[f"lift {k}"] = wrong[order[:k]].mean() / wrong.mean()
    return metrics


class PrintedSettings(keys.Settings):
    """Settings of `printed`."""

    chosen: dict[keys.Label, dict[str, str]] = Field(
        description="label -> columns of the file and their values"
    )
    metrics: keys.Distinct[str] = Field(description="columns of the file with results")


@protocol(
    PrintedSettings,
    labels=(COMPLETE, UNIFORM, "worst_annotators", "resnet18", "swin", "truelabels"),
)
def printed(settings: PrintedSettings, loop: Loop) -> Iterator[Row]:
    """Read the authors' results as rows: noise is their data set, setting is their network."""
    table = pd.read_csv(Path(__file__).with_name("printed.csv"))
    for repetition in loop:
        for method, cell in settings.chosen.items():
            is_chosen = (table[list(cell)].fillna("") == pd.Series(cell)).all(axis=1)
            for metric in settings.metrics:
                rows = table[is_chosen].dropna(subset=[metric])
                for row in rows.to_dict("records"):
                    columns = {"noise": row["dataset"], "setting": row["model"], "method": method}
                    yield repetition.with_columns(**columns).row(metric, row[metric])
