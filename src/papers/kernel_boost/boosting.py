"""Experiments on boosting under label noise, and on bounds by random projections.

gamma01 and gamma10 are the flip rates P(observed 1 | true 0) and P(observed 0 | true 1) that a
booster has learned. All boosters of a split draw their resamples from the same stream.

Source: Kabán and Bootkrajang, LABELNOISE 2017. The protocol of the table of bounds is not
described; random halves are those of Zhang and Zhou, KDD 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

import noisylabels
from noisylabels.classifiers import projections
from reproduction.run.points import Scored
from reproduction.run.protocol_loop import Loop, Repetition, Row, seeded
from reproduction.run.splits import Floats
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

FlipRate = Annotated[float, Field(ge=0, lt=0.5)]
FlipRates = Annotated[list[FlipRate], Field(min_length=2, max_length=2)]


class Booster(keys.Method):
    """A booster, or any scikit-learn classifier."""

    gamma: Literal["known"] | None = Field(
        None,
        description="the method is given the true flip rates",
    )

    def check(self) -> None:
        """Check the parameters, and that only a class with flip rates gets them."""
        keywords = ("gamma", "learn_gamma") if self.gamma else ()
        keys.check_keywords(self.cls, self.parameters, keywords)

    def model(self, noise: keys.Noise, repetition: Repetition) -> Any:
        """Build the classifier under a noise, with a seed from a stream of the repetition."""
        if self.gamma:
            model = self.build(gamma=flip_rates(noise), learn_gamma=False)
        else:
            model = self.build()
        return seeded(model, repetition.rng(f"resampling {noise}"))


class BoostersSettings(keys.SplitSettings):
    """Settings of every experiment with boosters."""

    noise: Annotated[keys.Flips, keys.only(*keys.COINS)]
    methods: keys.Methods[Booster]


class ErrorsSettings(BoostersSettings):
    """Settings of `errors`."""

    rounds: list[PositiveInt] = Field(
        [], description="rounds of a run after which boosters are tested; none: the last one"
    )


class Shown(keys.Model):
    """The parts of the results that the figure of the artifact shows."""

    noise: keys.Some[str]
    methods: keys.Some[str]


class CurvesSettings(BoostersSettings):
    """Settings of `curves`."""

    drawn: Shown

    @model_validator(mode="after")
    def _references(self) -> Self:
        keys.among("drawn.noise", self.drawn.noise, self.noise)
        keys.among("drawn.methods", self.drawn.methods, self.methods)
        return self


class CalibrationSettings(BoostersSettings):
    """Settings of `calibration`."""

    trusted: keys.Distinct[NonNegativeInt] = Field(
        description="numbers of training rows with verified labels"
    )


class LossSettings(keys.Settings):
    """Settings of `loss`."""

    largest: keys.Positive = Field(description="the score goes from -largest to largest")
    points: int = Field(ge=2)
    gammas: dict[keys.Label, FlipRates] = Field(
        min_length=1, description="label -> rates of 0 -> 1 and 1 -> 0"
    )


LEARNED = ("gamma01", "gamma10", "flagged")


@protocol(ErrorsSettings, labels=("error", *LEARNED))
def errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Measure the test errors of boosters.

    Metrics: error, wrong test labels in %, after the rounds x where they are set; gamma01,
    gamma10; flagged, 1 where the fit is doubtful.

    Source: the two tables of rBoost.
    """
    for repetition, split, observed, noise, booster in loop.fits(settings, settings.methods):
        model = booster.model(noise, repetition).fit(split.X, observed)
        if settings.rounds:
            # Boosting may stop before the last round, when the points run out of weight.
            stages = list(model.staged_predict(split.X_test))
            for count in settings.rounds:
                predicted = stages[min(count, len(stages)) - 1]
                yield repetition.row("error", split.scored(predicted), x=count)
        else:
            yield repetition.row("error", split.scored(model.predict(split.X_test)))
        yield from repetition.rows(learned(model))
        yield repetition.row("flagged", getattr(model, "flagged_", False))


@protocol(CurvesSettings, labels=("train_error", "test_error", "rounds_to_drop", *LEARNED))
def curves(settings: CurvesSettings, loop: Loop) -> Iterator[Row]:
    """Measure boosters after each round x.

    Metrics: train_error, wrong observed labels of the training rows in %; test_error, wrong test
    labels in %; gamma01 and gamma10. Once a run: rounds_to_drop, see `rounds_to_drop`.

    Source: curves of AdaBoost with robust base learners.
    """
    for repetition, split, observed, noise, booster in loop.fits(settings, settings.methods):
        model = booster.model(noise, repetition).fit(split.X, observed)
        metrics = {
            "train_error": _errors_by_round(model, split.X, observed),
            "test_error": _errors_by_round(model, split.X_test, split.truth),
        }
        if getattr(model, "learn_gamma", False):
            metrics["gamma01"] = model.gamma_path_[:, 0]
            metrics["gamma10"] = model.gamma_path_[:, 1]
        for metric, values in metrics.items():
            *rows, last = repetition.curve(metric, enumerate(values, start=1))
            yield from rows
            if metric == "test_error":  # the points are kept at the last round only
                last |= split.scored(model.predict(split.X_test)).row(metric)
            yield last
        yield repetition.row("rounds_to_drop", rounds_to_drop(metrics["train_error"]))


def _errors_by_round(model: Any, X: Floats, labels: Any) -> Floats:
    """Compute the share of wrong labels in % after each round."""
    shares = [100.0 * np.mean(predicted != labels) for predicted in model.staged_predict(X)]
    return np.array(shares)


@protocol(CalibrationSettings, labels=("error", "gamma_error", *LEARNED))
def calibration(settings: CalibrationSettings, loop: Loop) -> Iterator[Row]:
    """Measure how well rBoost learns the flip rates from a few verified labels, and its error.

    x = number of trusted rows: random training rows whose true labels are known, used for the
    calibration alone (x = 0: it is calibrated on the observed labels). Boosting itself sees the
    observed label of every row. A method that learns no flip rates is fitted once, and its rows are
    the same at every x.

    Metrics: error, wrong test labels in %; gamma01, gamma10;
    gamma_error = (|gamma01 - true| + |gamma10 - true|) / 2; flagged.

    Source: the remedy that the slides propose; the experiment is ours.
    """
    for repetition, split, observed, noise, booster in loop.fits(settings, settings.methods):
        order = repetition.rng("trusted").permutation(len(split.clean))
        values: dict[str, float | Scored] = {}
        for count in settings.trusted:
            if not values or "gamma01" in values:  # other methods do not use the verified labels
                model = booster.model(noise, repetition)
                verified = order[:count]
                if len(verified) and getattr(model, "learn_gamma", False):
                    trusted = (split.X[verified], split.clean[verified])
                    model.fit(split.X, observed, trusted=trusted)
                else:
                    model.fit(split.X, observed)
                rates = learned(model)
                values = {"error": split.scored(model.predict(split.X_test))} | rates
                if rates:
                    distance = np.abs(np.array(list(rates.values())) - flip_rates(noise))
                    values["gamma_error"] = float(distance.mean())
                values["flagged"] = getattr(model, "flagged_", False)
            yield from repetition.rows(values, x=count)


@protocol(LossSettings, labels=("loss", "label +1", "label -1"))
def loss(settings: LossSettings, loop: Loop) -> Iterator[Row]:
    """Compute the loss of rBoost as a function of the score H = x; nothing is random.

    The loss is a exp(-s H) + b exp(s H). setting = the observed label s, method = the flip rates;
    it is the exponential loss where both are zero.

    Source: eq. (11) and the figure next to it.
    """
    # imported here, so that a plan loads no classifier
    from noisylabels.classifiers.boosting import exponential_loss

    H = np.linspace(-settings.largest, settings.largest, settings.points)
    for repetition in loop:
        for method, (gamma01, gamma10) in settings.gammas.items():
            for s, setting in ((1, "label +1"), (-1, "label -1")):
                values = exponential_loss(H, np.full(len(H), s), (gamma01, gamma10))
                points = zip(H, values, strict=True)
                yield from repetition.curve("loss", points, setting=setting, method=method)


def flip_rates(noise: keys.Noise) -> tuple[float, float]:
    """Return the probabilities of the flips 0 -> 1 and 1 -> 0 under a noise."""
    rate = noise.parameters["rate"]
    gamma01 = rate if noise.model != "positive_only" else 0.0
    gamma10 = rate if noise.model != "negative_only" else 0.0
    return gamma01, gamma10


def learned(model: Any) -> dict[str, float]:
    """Return the flip rates gamma01 and gamma10 of a fitted model, if it has learned any."""
    if not getattr(model, "learn_gamma", False):
        return {}
    return {"gamma01": float(model.flip_matrix_[0, 1]), "gamma10": float(model.flip_matrix_[1, 0])}


def rounds_to_drop(errors: Floats) -> int:
    """Find the first round t with e_t <= e_1 - 0.95 (e_1 - min e); 1 if the error never falls."""
    has_dropped = errors <= errors[0] - 0.95 * (errors[0] - errors.min())
    return int(np.argmax(has_dropped)) + 1


# Random projections


class MinimisersSettings(keys.PartSettings):
    """Settings of `bound_minimisers`."""

    methods: keys.Methods[keys.Method] = Field(
        description="linear classifiers that choose their parameters themselves"
    )
    standardise: bool = Field(
        True, description="features by mean and standard deviation of the training part"
    )


class BoundsSettings(keys.PartSettings):
    """Settings of `bounds`."""

    ks: keys.Distinct[PositiveInt] = Field(description="dimensions of the projection")
    delta: keys.Share = Field(description="the bound holds with probability 1 - delta")


class FlipProbabilitySettings(keys.Trials):
    """Settings of `flip_probability`."""

    ks: keys.Distinct[PositiveInt] = Field(description="dimensions of the projection")
    angles: int = Field(ge=2, description="points of each curve between 0 and pi")
    simulated: list[PositiveInt] = Field(description="those of ks that are simulated too")
    simulated_angles: keys.Distinct[keys.Share] = Field(description="in units of pi")
    trials: PositiveInt = Field(description="projections for each point")
    margins: keys.Distinct[Annotated[float, Field(ge=0, le=1)]] = Field(
        description="smallest of sets of points"
    )

    @model_validator(mode="after")
    def _among_ks(self) -> Self:
        keys.among("simulated", self.simulated, self.ks)
        return self


CHOSEN = {"k": "k_", "C": "C_"}
"""Metric -> the fitted attribute that holds it."""


@protocol(MinimisersSettings, labels=("error", *CHOSEN))
def bound_minimisers(settings: MinimisersSettings, loop: Loop) -> Iterator[Row]:
    """Measure test errors of linear classifiers on random halves of a data set.

    Metrics: error, share of wrong test labels in [0, 1]; k and C, what cross-validation on the
    training half chose. The labels have no added noise. All methods draw from the same stream.

    Source: table of the bound minimiser.
    """
    for repetition, split, dataset in loop.random_splits(settings):
        if not settings.standardise:
            X = dataset.arrays["X"]
            split = replace(split, X=X[split.train], X_test=X[split.test])
        for label, method in settings.methods.items():
            model = seeded(method.build(), repetition.rng("starts"))
            model = model.fit(split.X, split.clean)
            values = {"error": float(np.mean(model.predict(split.X_test) != split.truth))}
            for metric, attribute in CHOSEN.items():
                if hasattr(model, attribute):
                    values[metric] = float(getattr(model, attribute))
            yield from repetition.rows(values, method=label)


@protocol(
    BoundsSettings,
    labels=("new", "risk", "complexity", "confidence", "bound", "error", "excess"),
)
def bounds(settings: BoundsSettings, loop: Loop) -> Iterator[Row]:
    """Measure the bound and its terms for the classifier that minimises it.

    Metrics at x = k, the dimension of the projection: risk, 1/N sum min(1, 2 f_k); complexity;
    confidence; bound, their sum; error, share of wrong test labels; excess = error - bound.
    Source: bound-minimising classifier.
    """
    for repetition, split, _ in loop.random_splits(settings):
        for k in settings.ks:
            minimiser = noisylabels.BoundMinimiser(k=k, delta=settings.delta)
            model = seeded(minimiser, repetition.rng("starts"))
            bound = model.fit(split.X, split.clean).bound_
            error = float(np.mean(model.predict(split.X_test) != split.truth))
            metrics = {
                "risk": bound.risk,
                "complexity": bound.complexity,
                "confidence": bound.confidence,
                "bound": bound.total,
                "error": error,
                "excess": error - bound.total,
            }
            yield from repetition.rows(metrics, method="new", x=k)


ENTRIES = ("gaussian", "rademacher")
SHARE_OF_ZEROS = 0.95  # entries that are 0, of a projection with the entries -1, 0 and 1
POINTS = 1000  # each set of margins has its curve


@protocol(
    FlipProbabilitySettings,
    labels=(
        *("k=*", "formula", *ENTRIES, "mostly zero", "margin", "some without margin"),
        *("f", "gaussian_slack", "sub_gaussian_slack", "symmetry", "share", "z", "flip_term"),
    ),
)
def flip_probability(settings: FlipProbabilitySettings, loop: Loop) -> Iterator[Row]:
    """Compare the flip probability f_k with simulations and bounds at points with known margins.

    setting "formula" (x = theta): f; gaussian_slack and sub_gaussian_slack, bound - f;
    symmetry, |f(pi - theta) - (1 - f)|.
    setting "gaussian" or "rademacher" (x = theta): share of random projections that flip the sign;
    z, its distance to f in standard errors; sub_gaussian_slack, bound - share + 4 standard errors.
    setting "mostly zero" (x = theta = 0): sub_gaussian_slack, the bound minus the probability that
    the projection of an axis is 0, if 95 % of the entries are 0 and the others 1 or -1.
    setting "margin" (x = smallest margin): flip_term, the mean of min(1, 2 f_k) over points whose
    margins cos theta spread evenly from x to 1.
    setting "some without margin": the same for points with the margin 0.9, of which 1 % have none.
    Only the simulations differ from one repetition to the next.

    Source: flip probability and its figure.
    """
    mostly_large_margins = np.where(np.arange(POINTS) < POINTS // 100, 0.0, 0.9)
    thetas = np.linspace(0, np.pi, settings.angles)
    margins = np.cos(thetas)
    for repetition in loop:
        for k in settings.ks:
            of_k = repetition.with_columns(method=f"k={k}")
            formula = projections.flip_probability(thetas, k)
            mirrored = projections.flip_probability(np.pi - thetas, k)
            curves = {
                "f": formula,
                "gaussian_slack": projections.gaussian_bound(margins, k) - formula,
                "sub_gaussian_slack": projections.sub_gaussian_bound(margins, k) - formula,
                "symmetry": np.abs(mirrored - (1.0 - formula)),
            }
            for metric, column in curves.items():
                points = zip(thetas, column, strict=True)
                yield from of_k.curve(metric, points, setting="formula")
            all_zero = SHARE_OF_ZEROS**k
            slack = float(projections.sub_gaussian_bound(1.0, k)) - all_zero
            yield of_k.row("sub_gaussian_slack", slack, setting="mostly zero", x=0.0)
            for x in settings.margins:
                term = _flip_term(np.linspace(x, 1.0, POINTS), k)
                yield of_k.row("flip_term", term, setting="margin", x=x)
            term = _flip_term(mostly_large_margins, k)
            yield of_k.row("flip_term", term, setting="some without margin", x=0.0)
            if k in settings.simulated:
                yield from _simulated_flips(settings, of_k, k)


def _simulated_flips(
    settings: FlipProbabilitySettings,
    of_k: Repetition,
    k: int,
) -> Iterator[Row]:
    """Compare simulated shares of flips with f_k and its bound, at every angle."""
    for entries in ENTRIES:
        rng = of_k.rng(f"projections {entries} {k}")
        for x in settings.simulated_angles:
            theta = x * np.pi
            margin = float(np.cos(x * np.pi))
            f = float(projections.flip_probability(theta, k))
            se = float(np.sqrt(f * (1.0 - f) / settings.trials))
            share = projections.simulated(margin, k, settings.trials, rng, entries)
            slack = float(projections.sub_gaussian_bound(margin, k)) - share + 4.0 * se
            metrics = {"share": share, "z": (share - f) / se, "sub_gaussian_slack": slack}
            yield from of_k.rows(metrics, setting=entries, x=theta)


def _flip_term(margins: Floats, k: int) -> float:
    """Compute the mean of min(1, 2 f_k(theta)) over points with known margins."""
    f = projections.flip_probability(np.arccos(margins), k)
    return float(np.mean(np.minimum(1.0, 2.0 * f)))
