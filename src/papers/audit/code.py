"""What an audit of labels reports, where it is known which labels are wrong.

All classifiers see the same rows, flips and folds; probabilities of the observed labels are
cross-fitted.

Sources: Northcutt, Jiang and Chuang, Confident learning, JAIR 2021; Kabán and Bootkrajang,
LABELNOISE 2017; Liu and Tao, IEEE TPAMI 2016 (anchor points). What is compared is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

import noisylabels
from noisylabels.auditing import flip_rates as rates
from noisylabels.auditing import intervals
from noisylabels.auditing.cross_fitting import (
    LARGEST,
    Classes,
    CrossFit,
    cross_fitted,
    probabilities,
)
from noisylabels.noise.simulated_crowd import subset
from reproduction.run.protocol_loop import Loop, Repetition, Row, seeded
from reproduction.run.splits import Floats, random_split, standardised
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

Mask = NDArray[np.bool_]


class AuditSettings(keys.OnDataSets):
    """Settings that the experiments of the audit share."""

    cross_fits: PositiveInt = Field(description="how often the rows are cross-fitted, for a mean")
    folds: keys.Folds
    methods: keys.Methods[keys.Method] = Field(description="classifiers with predict_proba")


class FlipsSettings(keys.SplitSettings, AuditSettings):
    """Settings of `finding_flips` and `flip_rates`."""


class ErrorsSettings(AuditSettings):
    """Settings of `finding_errors`."""

    methods: keys.Methods[keys.Method] = Field(
        description="classifiers with predict_proba, or finders of wrong labels"
    )
    share: keys.Share = Field(description="share of the rows that a repetition draws")
    reviewed: PositiveInt | None = Field(
        None,
        description="rows of a simulated review, for intervals with the finder's doubts as scores",
    )
    annotators: keys.Distinct[PositiveInt] = Field(
        description="labels per item of a crowd, of which a vote is taken"
    )


Correction = Literal["plain", "prune", "importance", "forward", "backward", "likelihood"]


class CorrectingSettings(keys.SplitSettings):
    """Settings of `correcting`."""

    folds: keys.Folds
    methods: keys.Methods[keys.Method] = Field(description="classifiers with predict_proba")
    ways: keys.Distinct[Correction] = Field(
        description="how each classifier is corrected: plain, or a method of CorrectedClassifier"
    )


class Audited(NamedTuple):
    """One data set with flipped labels, as one classifier sees it.

    repetition : makes its rows.   X (n, d), standardised; true and observed classes y (n,).
    cross : cross-fitted probabilities.   model : the classifier, not fitted.
    """

    repetition: Repetition
    X: Floats
    true: Classes
    observed: Classes
    cross: CrossFit
    model: Any


def audit_with(
    settings: AuditSettings,
    method: keys.Method,
    repetition: Repetition,
    X: Floats,
    true: NDArray[Any],
    labels: NDArray[Any],
) -> Audited:
    """Cross-fit a method on rows X with true and observed labels of 0 and 1.

    All methods have the same folds.
    """
    observed = labels.astype(int)
    model = method.build()
    cross = cross_fitted(
        X,
        observed,
        model,
        random_state=seed_of_folds(repetition),
        repetitions=settings.cross_fits,
        folds=settings.folds,
        most_rows=LARGEST,
    )
    return Audited(repetition, X, true.astype(int), observed, cross, model)


def seed_of_folds(repetition: Repetition) -> int:
    """Draw the seed of the folds of a repetition."""
    return int(repetition.rng("folds").integers(2**31))


METRICS = ("average_precision", "precision", "recall", "f1", "found", "flipped")


@protocol(FlipsSettings, labels=METRICS)
def finding_flips(settings: FlipsSettings, loop: Loop) -> Iterator[Row]:
    """Measure how well confident learning finds flipped labels, by the classifier that it uses.

    Labels are ranked by the margin p_observed - p_other, and those that the confident joint calls
    wrong are compared with those that were flipped. Metrics: average_precision of the ranking;
    precision, recall and f1 of the labels found; found and flipped, shares of the labels.
    """
    for audited in on_splits(settings, loop):
        yield from audited.repetition.rows(scores(audited))


@protocol(ErrorsSettings, labels=(*METRICS, "covers", "width", "as they come", "vote of *"))
def finding_errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Measure how well wrong labels of people are found, by the source of the probabilities.

    A repetition draws a share of the rows. Observed labels: of a crowd, the majority vote of m
    labels drawn for each row, ties by coins; else the labels y_noisy that the data set comes with.
    The true ones are those of experts. Metrics: those of `finding_flips`; column noise says where
    the labels are from. A finder (see `noisylabels.auditing.finders`) makes its own list, and has
    the metrics of `review` too.
    """
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        X = dataset.arrays["X"]
        y = dataset.arrays["y"]
        drawn, _ = random_split(y, 1 - settings.share, True, repetition.rng("split"))
        Z, _ = standardised(X[drawn], X[:0])
        true = y[drawn] > 0
        for noise, labels in observed_labels(dataset.arrays, settings.annotators, repetition):
            for label, method in settings.methods.items():
                labelled = repetition.with_columns(noise=noise, method=label)
                if hasattr(method.cls, "find"):
                    values = scores_of_finder(settings, method, labelled, Z, true, labels[drawn])
                else:
                    audited = audit_with(settings, method, labelled, Z, true, labels[drawn])
                    values = scores(audited)
                yield from labelled.rows(values)


def scores_of_finder(
    settings: ErrorsSettings,
    method: keys.Method,
    repetition: Repetition,
    X: Floats,
    true: Mask,
    labels: Mask,
) -> dict[str, float]:
    """Measure a finder, a class that makes a list of suspicious labels itself."""
    seed = seed_of_folds(repetition)
    doubt, listed = method.build().find(X, labels.astype(int), seed)
    doubt = np.asarray(doubt, dtype=float)
    flipped = labels != true
    values = scores_of_list(np.asarray(listed, dtype=bool), doubt, flipped)
    if settings.reviewed:
        order = repetition.rng("review").permutation(len(flipped))
        _, of_review = review(flipped.astype(float), doubt, order[: settings.reviewed])
        values |= of_review
    return values


class ProbabilitiesSettings(keys.OnDataSets):
    """Settings of `by_probabilities`."""

    methods: keys.Methods[keys.Method] = Field(description="finders whose X are probabilities")
    share: keys.Share = Field(description="share of the rows that a repetition draws")
    budget: PositiveInt = Field(description="labels at the top of the ranking that are checked")
    reviewed: PositiveInt = Field(description="rows of a simulated review")


OF_BUDGET = "precision_at_budget"
OF_REVIEW = ("covers", "width", "listed_error", "reviewed_error")


@protocol(
    ProbabilitiesSettings,
    labels=(*METRICS, OF_BUDGET, *OF_REVIEW, "votes *"),
    targets=("classes",),
)
def by_probabilities(settings: ProbabilitiesSettings, loop: Loop) -> Iterator[Row]:
    """Measure how well known probabilities rank labels that people found wrong.

    A repetition draws a share of the rows; see `reproduction.data.loaders.crowd`. Metrics:
    average_precision; precision_at_budget, the share of wrong ones among the first labels of the
    ranking; flipped, among all that were voted on. Where all rows were: those of `finding_flips`
    and `review`, and how far off the share of wrong labels is by the list (listed_error) and by
    rows drawn by chance and reviewed, the votes the answers (reviewed_error).
    """
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        arrays = dataset.arrays
        drawn, _ = random_split(arrays["y"], 1 - settings.share, True, repetition.rng("split"))
        p = arrays["p"][drawn]
        y = arrays["y"][drawn].astype(int)
        lists = {}
        for label, method in settings.methods.items():
            lists[label] = method.build().find(p, y, 0)
        for noise, judged_wrong in called_wrong(arrays).items():
            judged = judged_wrong[drawn]
            was_judged = judged >= 0
            for label, (doubt, listed) in lists.items():
                labelled = repetition.with_columns(noise=noise, method=label)
                doubt_of_judged = np.asarray(doubt, dtype=float)[was_judged]
                listed_of_judged = np.asarray(listed)[was_judged]
                wrong = judged[was_judged] > 0
                values = scores_of_list(listed_of_judged, doubt_of_judged, wrong)
                ranking = np.argsort(-doubt_of_judged, kind="stable")
                values[OF_BUDGET] = float(wrong[ranking[: settings.budget]].mean())
                if was_judged.all():
                    order = repetition.rng("review").permutation(len(wrong))
                    rows = order[: settings.reviewed]
                    rate, of_review = review(wrong.astype(float), doubt_of_judged, rows)
                    values |= of_review
                    values["listed_error"] = abs(float(listed_of_judged.mean() - wrong.mean()))
                    values["reviewed_error"] = abs(float(rate - wrong.mean()))
                else:  # people have reviewed only what confident learning listed
                    names = ("average_precision", OF_BUDGET, "flipped")
                    values = {name: values[name] for name in names if name in values}
                yield from labelled.rows(values)


ESTIMATES = ("own", "cross-fitted", "confident joint", "anchor", "surest rows")
METRICS_OF_RATES = ("omega01", "omega10", "share", "bias", "absolute_error")


@protocol(FlipsSettings, labels=(*ESTIMATES, *METRICS_OF_RATES))
def flip_rates(settings: FlipsSettings, loop: Loop) -> Iterator[Row]:
    """Compare the flip rates that robust classifiers estimate in five ways with the true ones.

    setting "own": the model's flip matrix, fitted to all rows; "cross-fitted": the mean of those of
    the folds; "confident joint", "anchor" (97 % quantiles) and "surest rows" (labels of the fifth
    of a class that is most probable): from the cross-fitted probabilities of the observed label.
    Metrics: omega01 and omega10, P(observed 1 | true 0) and P(observed 0 | true 1) as estimated;
    share, the share of wrong labels that they imply; bias, that share minus the true one; and
    absolute_error, its size. A model without a flip matrix has no estimate.
    """
    for audited in on_splits(settings, loop):
        p = audited.cross.mean
        y = audited.observed
        _, _, of_model = probabilities(audited.model.fit(audited.X, y), audited.X[:1])
        estimates = {
            "own": of_model,
            "cross-fitted": audited.cross.omega.mean(axis=0),
            "confident joint": rates.from_joint(p, y),
            "anchor": rates.anchor(p, y),
            "surest rows": rates.surest(p, y).omega,
        }
        true_share = float(np.mean(y != audited.true))
        for setting, omega in estimates.items():
            if np.isnan(omega).any():
                continue
            share = rates.wrong_share_of(omega, y)
            bias = share - true_share
            values = {"omega01": omega[0, 1], "omega10": omega[1, 0]}
            values |= {"share": share, "bias": bias, "absolute_error": abs(bias)}
            yield from audited.repetition.rows(values, setting=setting)


@protocol(CorrectingSettings, labels=("error", *get_args(Correction)))
def correcting(settings: CorrectingSettings, loop: Loop) -> Iterator[Row]:
    """Measure how many true labels a classifier gets wrong, plain and after each correction.

    setting: the way, a method of `noisylabels.CorrectedClassifier`, the flips by the confident
    joint of cross-fitted probabilities; or plain. All ways have the same seeds and folds. Metric:
    error on the test rows, in %.
    """
    for repetition, split, labels, _, method in loop.fits(settings, settings.methods):
        seed = seed_of_folds(repetition)
        for way in settings.ways:
            model = seeded(method.build(), repetition.rng("model"))
            if way != "plain":
                correct = noisylabels.CorrectedClassifier
                model = correct(model, way, folds=settings.folds, random_state=seed)
            predicted = model.fit(split.X, labels).predict(split.X_test)
            yield repetition.row("error", split.scored(predicted), setting=way)


def on_splits(settings: FlipsSettings, loop: Loop) -> Iterator[Audited]:
    """Audit the training rows of every split and noise with every method."""
    for repetition, split, labels, _, method in loop.fits(settings, settings.methods):
        yield audit_with(settings, method, repetition, split.X, split.clean, labels)


def scores(audited: Audited) -> dict[str, float]:
    """Compute the metrics of `finding_flips`."""
    p = audited.cross.mean
    y = audited.observed
    wrong = rates.likely_wrong(p, y, rates.joint(p, y))
    return scores_of_list(wrong, -rates.margins(p, y), y != audited.true)


def scores_of_list(listed: Mask, doubt: Floats, flipped: Mask) -> dict[str, float]:
    """Compute the metrics of a list and a ranking, each in [0, 1].

    An empty list has precision 0; where nothing is flipped there are the shares only.
    """
    # imported here, so that a plan does not import scikit-learn
    from sklearn.metrics import average_precision_score

    shares = {"found": float(listed.mean()), "flipped": float(flipped.mean())}
    if not flipped.any():
        return shares
    n_hits = int((listed & flipped).sum())
    n_listed = int(listed.sum())
    n_flipped = int(flipped.sum())
    return {
        "average_precision": float(average_precision_score(flipped, doubt)),
        "precision": n_hits / max(n_listed, 1),
        "recall": n_hits / n_flipped,
        "f1": 2 * n_hits / (n_listed + n_flipped),
        **shares,
    }


def review(wrong: Floats, doubt: Floats, rows: NDArray[np.intp]) -> tuple[float, dict[str, float]]:
    """Estimate the share of wrong labels from reviewed rows.

    rows : drawn without replacement, and known to be wrong or right.

    Returns the share, and: whether its 95 % interval covers it; the width of the interval relative
    to that without doubts (of all rows both widths are 0, alike).
    """
    estimate = intervals.rate(wrong[rows], doubt[rows], float(doubt.mean()), len(wrong))
    plain = intervals.counted(wrong[rows], len(wrong))
    covers = estimate.low - 1e-9 <= wrong.mean() <= estimate.high + 1e-9
    width = estimate.width / plain.width if plain.width else 1.0
    return estimate.value, {"covers": float(covers), "width": width}


def called_wrong(arrays: dict[str, Any]) -> dict[str, NDArray[np.int8]]:
    """Judge labels by the votes of people, in each way of counting them.

    1 where the label is wrong, 0 where right, -1 where nobody voted, (n,).
    """
    if "votes" not in arrays:
        return {"votes below half": arrays["wrong"]}
    votes = arrays["votes"]
    for_label = votes[np.arange(len(arrays["y"])), arrays["y"]]
    is_outvoted = votes.max(axis=1) > for_label
    is_below_half = 2 * for_label < votes.sum(axis=1)
    return {
        "votes against": is_outvoted.astype(np.int8),
        "votes below half": is_below_half.astype(np.int8),
    }


def observed_labels(
    arrays: dict[str, Any], annotators: list[int], repetition: Repetition
) -> Iterator[tuple[str, Mask]]:
    """Yield where labels are from, and whether the label of each row is 1.

    Raises ValueError : a data set without labels by people.
    """
    if "y_noisy" in arrays:
        yield "as they come", arrays["y_noisy"] > 0
        return
    if "response" not in arrays:
        needed = "a data set with labels by people is needed, such as rte"
        raise ValueError(f"settings.datasets: {needed}")
    for m in annotators:
        chosen = subset(arrays["item"], m, repetition.rng("annotators"))
        crowd = {
            "item": arrays["item"][chosen],
            "annotator": arrays["worker"][chosen],
            "label": arrays["response"][chosen],
        }
        vote = noisylabels.MajorityVote(random_state=repetition.rng("ties")).fit(crowd)
        yield f"vote of {m}", vote.labels_ > 0
