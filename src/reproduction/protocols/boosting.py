"""Boosting under label noise: errors, curves over the rounds, calibration on verified labels, the loss.

gamma01 and gamma10 are the flip rates P(observed 1 | true 0) and P(observed 0 | true 1) that a booster has
learned. All boosters of a split draw their resamples from the same stream.

Source: Kaban and Bootkrajang, LABELNOISE 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, model_validator

from noisylabels.losses import exponential
from reproduction.protocols.settings import (
    COINS,
    Distinct,
    Flips,
    Label,
    Method,
    Methods,
    Noise,
    Positive,
    Settings,
    Some,
    SplitSettings,
    among,
    only,
)
from reproduction.protocols.walk import At, Floats, Labels, Row, Split, Walk, protocol
from reproduction.strict_yaml import Model

DROP = 0.95
FlipRates = Annotated[list[Annotated[float, Field(ge=0, lt=0.5)]], Field(min_length=2, max_length=2)]


class Booster(Method):
    """A booster, or any scikit-learn classifier."""

    gamma: Literal["known"] | None = Field(None, description="the method is given the true flip rates")

    def check(self) -> None:
        """Check the parameters, and that the class takes flip rates if it is given them."""
        self.check_parameters(self.cls, ("gamma", "learn_gamma") if self.gamma else ())

    def model(self, noise: Noise, at: At) -> Any:
        """The classifier under a noise; what is left to chance inside is drawn from the place's streams."""
        model = self.build(**({"gamma": flip_rates(noise), "learn_gamma": False} if self.gamma else {}))
        if "random_state" in model.get_params():
            model.set_params(random_state=at.random_state(f"resampling {noise}"))
        return model


class ErrorsSettings(SplitSettings):
    """Settings of `errors`."""

    noise: Annotated[Flips, only(*COINS)]
    methods: Methods[Booster]


class Shown(Model):
    """What the figure of the artifact shows; other figures may use the rest."""

    noise: Some[str]
    methods: Some[str]


class CurvesSettings(ErrorsSettings):
    """Settings of `curves`."""

    drawn: Shown

    @model_validator(mode="after")
    def _references(self) -> Self:
        among("drawn.noise", self.drawn.noise, self.noise)
        among("drawn.methods", self.drawn.methods, self.methods)
        return self


class CalibrationSettings(ErrorsSettings):
    """Settings of `calibration`."""

    trusted: Distinct[NonNegativeInt] = Field(description="numbers of training rows with verified labels")


class LossSettings(Settings):
    """Settings of `loss`."""

    largest: Positive = Field(description="the score goes from -largest to largest")
    points: int = Field(ge=2)
    gammas: dict[Label, FlipRates] = Field(min_length=1, description="label -> rates of 0 -> 1 and 1 -> 0")


LEARNED = ("gamma01", "gamma10", "flagged")


@protocol(ErrorsSettings, labels=("error", *LEARNED))
def errors(settings: ErrorsSettings, walk: Walk) -> Iterator[Row]:
    """Metrics: error, wrong test labels in %; gamma01, gamma10; flagged, 1 where the fit is doubtful.

    Source: the two tables of rBoost.
    """
    for at, split, observed, noise, booster in boosters(settings, walk):
        model = booster.model(noise, at).fit(split.X, observed)
        yield at.row("error", split.scored(model.predict(split.X_test)))
        yield from at.rows(learned(model) | {"flagged": _flagged(model)})


@protocol(CurvesSettings, labels=("train_error", "test_error", "rounds_to_drop", *LEARNED))
def curves(settings: CurvesSettings, walk: Walk) -> Iterator[Row]:
    """What boosters do from round to round x.

    Metrics: train_error, wrong observed labels of the training rows in %; test_error, wrong test labels in %;
    gamma01 and gamma10. Once a run: rounds_to_drop, see `rounds_to_drop`.

    Source: curves of AdaBoost with robust base learners.
    """
    for at, split, observed, noise, booster in boosters(settings, walk):
        model = booster.model(noise, at).fit(split.X, observed)
        found = {
            "train_error": _errors(model, split.X, observed),
            "test_error": _errors(model, split.X_test, split.truth),
        }
        if getattr(model, "learn_gamma", False):
            found |= {"gamma01": model.gamma_path_[:, 0], "gamma10": model.gamma_path_[:, 1]}
        for metric, values in found.items():
            *rows, last = at.curve(metric, enumerate(values, start=1))
            yield from rows
            if metric == "test_error":  # point by point at the end only
                last |= split.scored(model.predict(split.X_test)).row(metric)
            yield last
        yield at.row("rounds_to_drop", rounds_to_drop(found["train_error"]))


@protocol(CalibrationSettings, labels=("error", "gamma_error", *LEARNED))
def calibration(settings: CalibrationSettings, walk: Walk) -> Iterator[Row]:
    """rBoost calibrated on a few verified labels: its error, and how well it learns the flip rates.

    x = number of trusted rows: random training rows whose true labels are known, used for the calibration
    alone (x = 0: it is calibrated on the observed labels). Boosting itself sees the observed label of every
    row. A method that learns no flip rates is fitted once, and its rows are the same at every x.

    Metrics: error, wrong test labels in %; gamma01, gamma10;
    gamma_error = (|gamma01 - true| + |gamma10 - true|) / 2; flagged.

    Source: the remedy that the slides propose; the experiment is ours.
    """
    for at, split, observed, noise, booster in boosters(settings, walk):
        order = at.rng("trusted").permutation(len(split.clean))
        values: dict[str, float] = {}
        for count in settings.trusted:
            if not values or "gamma01" in values:  # other methods do not change with the count
                model = booster.model(noise, at)
                known = order[:count]
                if len(known) and getattr(model, "learn_gamma", False):
                    model.fit(split.X, observed, trusted=(split.X[known], split.clean[known]))
                else:
                    model.fit(split.X, observed)
                scored, values = split.scored(model.predict(split.X_test)), learned(model)
                if values:
                    distances = np.abs(np.array(list(values.values())) - flip_rates(noise))
                    values |= {"gamma_error": float(distances.mean())}
                values |= {"flagged": _flagged(model)}
            yield at.row("error", scored, x=count)
            yield from at.rows(values, x=count)


@protocol(LossSettings, labels=("loss", "label +1", "label -1"))
def loss(settings: LossSettings, walk: Walk) -> Iterator[Row]:
    """The loss of rBoost as a function of the score H = x: a exp(-s H) + b exp(s H); nothing is random.

    setting = the observed label s, method = the flip rates, the exponential loss where both are zero.

    Source: eq. (11) and the figure beside it.
    """
    H = np.linspace(-settings.largest, settings.largest, settings.points)
    for at in walk.trials():
        for method, (gamma01, gamma10) in settings.gammas.items():
            for s, setting in ((1, "label +1"), (-1, "label -1")):
                values = exponential.value(H, np.full(len(H), s), (gamma01, gamma10))
                yield from at.curve("loss", zip(H, values, strict=True), setting=setting, method=method)


def boosters(settings: ErrorsSettings, walk: Walk) -> Iterator[tuple[At, Split, Labels, Noise, Booster]]:
    """(place, split, observed labels (n,), noise, booster) of every split, noise and method."""
    for at, split, noisy in walk.problems(settings):
        for noise, observed in zip(settings.noise, noisy.T, strict=True):
            for label, booster in settings.methods.items():
                yield at.on(noise=noise.label, method=label), split, observed, noise, booster


def flip_rates(noise: Noise) -> tuple[float, float]:
    """(gamma01, gamma10), the probabilities of the flips 0 -> 1 and 1 -> 0 under a noise by coins."""
    rate = noise.parameters["rate"]
    return (
        0.0 if noise.model == "positive_only" else rate,
        0.0 if noise.model == "negative_only" else rate,
    )


def learned(model: Any) -> dict[str, float]:
    """gamma01 and gamma10 that a fitted model has learned; nothing for a model that learns none."""
    if not getattr(model, "learn_gamma", False):
        return {}
    omega = model.flip_matrix_
    return {"gamma01": float(omega[0, 1]), "gamma10": float(omega[1, 0])}


def _flagged(model: Any) -> float:
    return float(getattr(model, "flagged_", False))


def _errors(model: Any, X: Floats, labels: NDArray[Any]) -> Floats:
    """Wrong labels in % after each round."""
    return np.array([100.0 * np.mean(found != labels) for found in model.staged_predict(X)])


def rounds_to_drop(errors: Floats) -> int:
    """First t with e_t <= e_1 - 0.95 (e_1 - min e); 1 where the error never falls."""
    return int(np.argmax(errors <= errors[0] - DROP * (errors[0] - errors.min()))) + 1
