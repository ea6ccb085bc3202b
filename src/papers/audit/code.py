"""What an audit of labels reports, where it is known which labels are wrong.

All classifiers see the same rows, flips and folds; probabilities of the observed labels are cross-fitted.

Sources: Northcutt, Jiang and Chuang, Confident learning, JAIR 2021; Kabán and Bootkrajang, LABELNOISE 2017;
Liu and Tao, IEEE TPAMI 2016 (anchor points). What is compared is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from noisylabels.auditing import flip_rates as rates
from noisylabels.auditing import intervals
from noisylabels.auditing.corrected import CorrectedClassifier
from noisylabels.auditing.cross_fitting import LARGEST, Classes, CrossFit, cross_fitted, probabilities
from noisylabels.crowds import MajorityVote
from noisylabels.noise.simulated_crowd import subset
from reproduction.run.protocol_loop import Loop, Repetition, Row, seeded
from reproduction.run.splits import Floats, random_split, standardised
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol


class AuditSettings(keys.OnDataSets):
    """What the three experiments share."""

    cross_fits: PositiveInt = Field(description="how often the rows are cross-fitted, for a mean")
    folds: keys.Folds
    methods: keys.Methods[keys.Method] = Field(description="classifiers with predict_proba")


class FlipsSettings(keys.SplitSettings, AuditSettings):
    """Settings of `finding_flips` and `flip_rates`."""


class ErrorsSettings(AuditSettings):
    """Settings of `finding_errors`."""

    methods: keys.Methods[keys.Method] = Field(description="classifiers with predict_proba, or finders")
    share: keys.Share = Field(description="share of the rows that a repetition draws")
    reviewed: PositiveInt | None = Field(
        None, description="rows of a simulated review, for intervals with the finder's doubts as scores"
    )
    annotators: keys.Distinct[PositiveInt] = Field(description="labels per item of a crowd, for a vote")


Correction = Literal["plain", "prune", "importance", "forward", "backward", "likelihood"]


class CorrectingSettings(keys.SplitSettings):
    """Settings of `correcting`."""

    folds: keys.Folds
    methods: keys.Methods[keys.Method] = Field(description="classifiers with predict_proba")
    ways: keys.Distinct[Correction] = Field(
        description="how each classifier is corrected: plain, or a method of CorrectedClassifier"
    )


class Audited(NamedTuple):
    """One data set with its flips, as one classifier sees it.

    at : the place of its rows.   X (n, d), standardised; true and observed classes y (n,).
    cross : cross-fitted probabilities.   model : the classifier, not fitted.
    """

    repetition: Repetition
    X: Floats
    true: Classes
    observed: Classes
    cross: CrossFit
    model: Any

    @classmethod
    def by(
        cls,
        settings: AuditSettings,
        method: keys.Method,
        repetition: Repetition,
        X: Floats,
        *labels: NDArray[Any],
    ) -> Audited:
        """A method on rows X with true and observed labels of 0 and 1; all methods have the same folds."""
        true, observed = (each.astype(int) for each in labels)
        model, state = method.build(), int(repetition.rng("folds").integers(2**31))
        often, folds = settings.cross_fits, settings.folds
        cross = cross_fitted(
            X, observed, model, random_state=state, repetitions=often, folds=folds, most_rows=LARGEST
        )
        return cls(repetition, X, true, observed, cross, model)


METRICS = ("average_precision", "precision", "recall", "f1", "found", "flipped")


@protocol(FlipsSettings, labels=METRICS)
def finding_flips(settings: FlipsSettings, loop: Loop) -> Iterator[Row]:
    """How well confident learning finds the flipped labels, by the classifier whose probabilities it has.

    Labels are ranked by the margin p_observed - p_other, and those that the confident joint calls wrong are
    compared with those that were flipped. Metrics: average_precision of the ranking; precision, recall and f1
    of the labels found; found and flipped, shares of the labels.
    """
    for each in on_splits(settings, loop):
        yield from each.repetition.rows(scores(each))


@protocol(ErrorsSettings, labels=(*METRICS, "covers", "width", "as they come", "vote of *"))
def finding_errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """How well confident learning finds labels that people got wrong, by the source of its probabilities.

    A repetition draws a share of the rows. Observed labels: of a crowd, the majority vote of m labels drawn
    for each row, ties by coins; else the labels y_noisy that the data set comes with. The true ones are those
    of experts. Metrics: those of `finding_flips`; column noise says where the labels are from. A finder (see
    `noisylabels.auditing.finders`) makes its own list, and has the metrics of `reviewed` too.
    """
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        X, y = dataset.arrays["X"], dataset.arrays["y"]
        drawn, _ = random_split(y, 1 - settings.share, True, repetition.rng("split"))
        Z = standardised(X[drawn], X[:0])[0]
        for noise, labels in observed(dataset.arrays, settings.annotators, repetition):
            for label, method in settings.methods.items():
                here = repetition.with_columns(noise=noise, method=label)
                if not hasattr(method.cls, "find"):
                    audited = Audited.by(settings, method, here, Z, y[drawn] > 0, labels[drawn])
                    yield from here.rows(scores(audited))
                    continue
                state, flipped = int(here.rng("folds").integers(2**31)), labels[drawn] != (y[drawn] > 0)
                found = method.build().find(Z, labels[drawn].astype(int), state)
                doubt, wrong = np.asarray(found[0], dtype=float), np.asarray(found[1], dtype=bool)
                values = scores_of(wrong, doubt, flipped)
                if settings.reviewed:
                    at_random = here.rng("review").permutation(len(flipped))[: settings.reviewed]
                    values |= reviewed(flipped.astype(float), doubt, at_random)[1]
                yield from here.rows(values)


class ProbabilitiesSettings(keys.OnDataSets):
    """Settings of `by_probabilities`."""

    methods: keys.Methods[keys.Method] = Field(description="finders whose X are probabilities")
    share: keys.Share = Field(description="share of the rows that a repetition draws")
    budget: PositiveInt = Field(description="labels at the top of the ranking that are checked")
    reviewed: PositiveInt = Field(description="rows of a simulated review")


@protocol(
    ProbabilitiesSettings,
    labels=(*METRICS, "precision_at_budget", "covers", "width", "listed_error", "reviewed_error", "votes *"),
)
def by_probabilities(settings: ProbabilitiesSettings, loop: Loop) -> Iterator[Row]:
    """How well labels that people found wrong are ranked by given probabilities; see `data.crowd`.

    A repetition draws a share of the rows. Metrics: average_precision; precision_at_budget, the share of
    wrong ones among the first labels of the ranking; flipped, among all that were voted on. Where all rows
    were: those of `finding_flips` and `reviewed`, and how far off the share of wrong labels is by
    the list (listed_error) and by rows drawn by chance and reviewed, the votes the answers (reviewed_error).
    """
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        arrays = dataset.arrays
        drawn, _ = random_split(arrays["y"], 1 - settings.share, True, repetition.rng("split"))
        p, y = arrays["p"][drawn], arrays["y"][drawn].astype(int)
        finds = {label: method.build().find(p, y, 0) for label, method in settings.methods.items()}
        for noise, judged in called_wrong(arrays).items():
            voted, wrong = judged[drawn] >= 0, judged[drawn][judged[drawn] >= 0] > 0
            for label, found in finds.items():
                here = repetition.with_columns(noise=noise, method=label)
                doubt, listed = np.asarray(found[0], dtype=float)[voted], np.asarray(found[1])[voted]
                values = scores_of(listed, doubt, wrong)
                first = np.argsort(-doubt, kind="stable")[: settings.budget]
                values["precision_at_budget"] = float(wrong[first].mean())
                if not voted.all():  # on those that confident learning listed
                    names = ("average_precision", "precision_at_budget", "flipped")
                    yield from here.rows({name: values[name] for name in names if name in values})
                    continue
                rows, truth = (
                    repetition.rng("review").permutation(len(wrong))[: settings.reviewed],
                    wrong.mean(),
                )
                rate, covers = reviewed(wrong.astype(float), doubt, rows)
                values |= covers | {"listed_error": abs(float(listed.mean() - truth))}
                values["reviewed_error"] = abs(float(rate - truth))
                yield from here.rows(values)


ESTIMATES = ("own", "cross-fitted", "confident joint", "anchor", "surest rows")


@protocol(FlipsSettings, labels=(*ESTIMATES, "omega01", "omega10", "share", "bias", "absolute_error"))
def flip_rates(settings: FlipsSettings, loop: Loop) -> Iterator[Row]:
    """Estimated against true flip rates of the robust classifiers, by five estimates.

    setting "own": the model's flip matrix, fitted to all rows; "cross-fitted": the mean of those of the
    folds; "confident joint", "anchor" (97 % quantiles) and "surest rows" (labels of the fifth of a class that
    is most probable): from the cross-fitted probabilities of the observed label.
    Metrics: omega01 and omega10, P(observed 1 | true 0) and P(observed 0 | true 1) as estimated; share, the
    share of wrong labels that they imply; bias, that share minus the true one; and absolute_error, its size.
    A model without a flip matrix has no estimate of its own.
    """
    for each in on_splits(settings, loop):
        p, y = each.cross.mean, each.observed
        found = (
            probabilities(each.model.fit(each.X, y), each.X[:1])[2],
            each.cross.omega.mean(axis=0),
            rates.from_joint(p, y),
            rates.anchor(p, y),
            rates.surest(p, y).omega,
        )
        wrong = float(np.mean(y != each.true))
        for setting, omega in zip(ESTIMATES, found, strict=True):
            if not np.isnan(omega).any():
                share = rates.wrong_share_of(omega, y)
                values = {"omega01": omega[0, 1], "omega10": omega[1, 0], "share": share}
                values |= {"bias": share - wrong, "absolute_error": abs(share - wrong)}
                yield from each.repetition.rows(values, setting=setting)


@protocol(CorrectingSettings, labels=("error", *get_args(Correction)))
def correcting(settings: CorrectingSettings, loop: Loop) -> Iterator[Row]:
    """How many true labels of test rows a classifier gets wrong, plain and corrected in several ways.

    setting: the way, a method of `noisylabels.CorrectedClassifier`, the flips by the confident joint of
    cross-fitted probabilities; or plain. All ways have the same seeds and folds. Metric: error, in %.
    """
    for repetition, split, labels, _, method in loop.fits(settings, settings.methods):
        state = int(repetition.rng("folds").integers(2**31))
        for way in settings.ways:
            model = seeded(method.build(), repetition.rng("model"))
            if way != "plain":
                model = CorrectedClassifier(model, way, folds=settings.folds, random_state=state)
            found = model.fit(split.X, labels).predict(split.X_test)
            yield repetition.row("error", split.scored(found), setting=way)


def on_splits(settings: FlipsSettings, loop: Loop) -> Iterator[Audited]:
    """Every method on the training rows of every split and noise; a model is built for each."""
    for repetition, split, labels, _, method in loop.fits(settings, settings.methods):
        yield Audited.by(settings, method, repetition, split.X, split.clean, labels)


def scores(each: Audited) -> dict[str, float]:
    """The metrics of `finding_flips`."""
    p, y = each.cross.mean, each.observed
    wrong = rates.likely_wrong(p, y, rates.joint(p, y))
    return scores_of(wrong, -rates.margins(p, y), y != each.true)


def scores_of(wrong: NDArray[np.bool_], doubt: Floats, flipped: NDArray[np.bool_]) -> dict[str, float]:
    """The metrics, each in [0, 1]; nothing found has precision 0; nothing flipped leaves the shares only."""
    from sklearn.metrics import average_precision_score

    shares = {"found": float(wrong.mean()), "flipped": float(flipped.mean())}
    if not flipped.any():
        return shares
    hits, called, there = (int(each.sum()) for each in (wrong & flipped, wrong, flipped))
    return {
        "average_precision": float(average_precision_score(flipped, doubt)),
        "precision": hits / max(called, 1),
        "recall": hits / there,
        "f1": 2 * hits / (called + there),
    } | shares


def reviewed(wrong: Floats, doubt: Floats, rows: NDArray[np.intp]) -> tuple[float, dict[str, float]]:
    """The share of wrong labels, and: whether its 95 % interval covers it; its width by that without doubts.

    rows : drawn without replacement, and known to be wrong or right; of all rows both widths are 0, alike.
    """
    found = intervals.rate(wrong[rows], doubt[rows], float(doubt.mean()), len(wrong))
    plain = intervals.counted(wrong[rows], len(wrong))
    covers = found.low - 1e-9 <= wrong.mean() <= found.high + 1e-9
    width = found.width / plain.width if plain.width else 1.0
    return found.value, {"covers": float(covers), "width": width}


def called_wrong(arrays: dict[str, Any]) -> dict[str, NDArray[np.int8]]:
    """How votes are counted -> 1 where the label is wrong, 0 where right, -1 where nobody voted, (n,)."""
    if "votes" not in arrays:
        return {"votes below half": arrays["wrong"]}
    votes, own = arrays["votes"], arrays["votes"][np.arange(len(arrays["y"])), arrays["y"]]
    against, below = votes.max(axis=1) > own, 2 * own < votes.sum(axis=1)
    return {"votes against": against.astype(np.int8), "votes below half": below.astype(np.int8)}


def observed(
    arrays: dict[str, Any], annotators: list[int], repetition: Repetition
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """(where the labels are from, whether the label of each row is 1).

    Raises ValueError : a data set without labels by people.
    """
    if "y_noisy" in arrays:
        yield "as they come", arrays["y_noisy"] > 0
        return
    if "response" not in arrays:
        raise ValueError("settings.datasets: a data set with labels by people is needed, such as rte")
    for m in annotators:
        chosen = subset(arrays["item"], m, repetition.rng("annotators"))
        item, worker, response = (arrays[key][chosen] for key in ("item", "worker", "response"))
        labels = {"item": item, "annotator": worker, "label": response}
        yield f"vote of {m}", MajorityVote(random_state=repetition.rng("ties")).fit(labels).labels_ > 0
