"""Generalisation bounds by random projections: the bound minimiser, its bound, and the flip probability.

Source: Kaban and Bootkrajang, LABELNOISE 2017. The protocol of the table is not described; random halves are
those of Zhang and Zhou, KDD 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np
from pydantic import Field, PositiveInt, model_validator

from noisylabels.classifiers.large_margin import BoundMinimiser
from noisylabels.theory import projections as theory
from noisylabels.theory.projections import margins, uniform_bound
from reproduction.protocols.settings import (
    Distinct,
    Method,
    Methods,
    OnDataSets,
    Repetitions,
    Settings,
    Share,
    among,
)
from reproduction.protocols.walk import At, Floats, Row, Split, Walk, protocol, share_split

CHOSEN = {"k": "k_", "C": "C_"}
"""Metric -> fitted attribute."""
ENTRIES = ("gaussian", "rademacher")
POINTS = 1000  # of each set of margins


class HalvesSettings(OnDataSets):
    """Settings of an experiment on random parts of data sets."""

    train: Share = Field(description="share of the rows that are for training")

    def splits(self, walk: Walk) -> Iterator[tuple[At, Split]]:
        """Every random split, standardised on its training half."""
        for at, dataset in walk.each(self.datasets):
            yield at, Split.of(dataset.arrays, *share_split(dataset.arrays["y"], self.train, at))


class ErrorsSettings(HalvesSettings):
    """Settings of `errors`."""

    methods: Methods[Method] = Field(description="linear classifiers that choose their parameters themselves")


class AgainstKSettings(HalvesSettings):
    """Settings of `against_k`."""

    ks: Distinct[PositiveInt] = Field(description="dimensions of the projection")
    delta: Share = Field(description="the bound holds with probability 1 - delta")


class FlipProbabilitySettings(Settings):
    """Settings of `flip_probability`."""

    repetitions: Repetitions
    ks: Distinct[PositiveInt] = Field(description="dimensions of the projection")
    angles: int = Field(ge=2, description="points of each curve between 0 and pi")
    simulated: list[PositiveInt] = Field(description="those of ks that are simulated too")
    simulated_angles: Distinct[Share] = Field(description="in units of pi")
    trials: PositiveInt = Field(description="projections for each point")
    margins: Distinct[Annotated[float, Field(ge=0, le=1)]] = Field(description="smallest of sets of points")

    @model_validator(mode="after")
    def _among_ks(self) -> Self:
        among("simulated", self.simulated, self.ks)
        return self


@protocol(ErrorsSettings, labels=("error", *CHOSEN))
def errors(settings: ErrorsSettings, walk: Walk) -> Iterator[Row]:
    """Test error of linear classifiers on random halves of a data set, labels as they are.

    Metrics: error, share of wrong test labels in [0, 1]; k and C, what cross-validation on the training half
    chose. All methods draw from the same stream.

    Source: table of the bound minimiser.
    """
    for at, split in settings.splits(walk):
        for label, method in settings.methods.items():
            model = method.build()
            if "random_state" in model.get_params():
                model.set_params(random_state=at.random_state("starts"))
            model.fit(split.X, split.clean)
            values = {"error": float(np.mean(model.predict(split.X_test) != split.truth))}
            values |= {m: float(getattr(model, name)) for m, name in CHOSEN.items() if hasattr(model, name)}
            yield from at.rows(values, method=label)


TERMS = ("risk", "complexity", "confidence", "bound", "error", "excess")


@protocol(AgainstKSettings, labels=("new", *TERMS))
def against_k(settings: AgainstKSettings, walk: Walk) -> Iterator[Row]:
    """The bound and its terms for the classifier that minimises it, against the dimension k of projection.

    Metrics at x = k: risk, 1/N sum min(1, 2 f_k); complexity; confidence; bound, their sum;
    error, share of wrong test labels; excess = error - bound.
    The rows of the training half, with their constant 1, are those of the minimiser.

    Source: bound-minimising classifier.
    """
    for at, split in settings.splits(walk):
        for k in settings.ks:
            model = BoundMinimiser(k=k, random_state=at.random_state("starts")).fit(split.X, split.clean)
            h = np.append(model.coef_[0], model.intercept_)
            X = np.column_stack([split.X, np.ones(len(split.X))])
            bound = uniform_bound(margins(h, X, 2.0 * split.clean - 1.0), k, settings.delta)
            error = float(np.mean(model.predict(split.X_test) != split.truth))
            values = (bound.risk, bound.complexity, bound.confidence, bound.total, error, error - bound.total)
            yield from at.rows(dict(zip(TERMS, values, strict=True)), method="new", x=k)


@protocol(
    FlipProbabilitySettings,
    labels=(
        *("k=*", "formula", *ENTRIES, "margin", "some without margin"),
        *("f", "gaussian_slack", "sub_gaussian_slack", "symmetry", "share", "z", "flip_term"),
    ),
)
def flip_probability(settings: FlipProbabilitySettings, walk: Walk) -> Iterator[Row]:
    """The flip probability f_k against simulation, its bounds, and what margins do to it.

    setting "formula" (x = theta): f; gaussian_slack and sub_gaussian_slack, bound - f;
    symmetry, |f(pi - theta) - (1 - f)|.
    setting "gaussian" or "rademacher" (x = theta): share of random projections that flip the sign;
    z, its distance to f in standard errors; sub_gaussian_slack, bound - share + 4 standard errors.
    setting "margin" (x = smallest margin): flip_term, the mean of min(1, 2 f_k) over points whose margins
    cos theta spread evenly from x to 1.
    setting "some without margin": the same for points with the margin 0.9, of which 1 % have none.
    Only the simulations differ from one repetition to the next.

    Source: flip probability and its figure.
    """
    for at in walk.trials():
        for k in settings.ks:
            here = at.on(method=f"k={k}")
            yield from _formula(here.on(setting="formula"), k, settings.angles)
            for x in settings.margins:
                spread = np.linspace(x, 1.0, POINTS)
                yield here.row("flip_term", _flip_term(spread, k), setting="margin", x=x)
            few = np.full(POINTS, 0.9)
            few[: POINTS // 100] = 0.0
            yield here.row("flip_term", _flip_term(few, k), setting="some without margin", x=0.0)
            if k in settings.simulated:
                yield from _simulations(here, k, settings)


def _formula(at: At, k: int, angles: int) -> Iterator[Row]:
    theta = np.linspace(0, np.pi, angles)
    f, margin = theory.flip_probability(theta, k), np.cos(theta)
    values = {
        "f": f,
        "gaussian_slack": theory.gaussian_bound(margin, k) - f,
        "sub_gaussian_slack": theory.sub_gaussian_bound(margin, k) - f,
        "symmetry": np.abs(theory.flip_probability(np.pi - theta, k) - (1.0 - f)),
    }
    for metric, column in values.items():
        yield from at.curve(metric, zip(theta, column, strict=True))


def _simulations(at: At, k: int, settings: FlipProbabilitySettings) -> Iterator[Row]:
    n = settings.trials
    for entries in ENTRIES:
        rng = at.rng(f"projections {entries} {k}")
        for x in settings.simulated_angles:
            theta = x * np.pi
            margin = float(np.cos(theta))
            f = float(theory.flip_probability(theta, k))
            se = float(np.sqrt(f * (1.0 - f) / n))
            share = theory.simulated(margin, k, n, rng, entries)
            slack = float(theory.sub_gaussian_bound(margin, k)) - share + 4.0 * se
            values = {"share": share, "z": (share - f) / se, "sub_gaussian_slack": slack}
            yield from at.rows(values, setting=entries, x=theta)


def _flip_term(margins: Floats, k: int) -> float:
    """Mean of min(1, 2 f_k(theta)) over points with cos theta = margins."""
    return float(np.mean(np.minimum(1.0, 2.0 * theory.flip_probability(np.arccos(margins), k))))
