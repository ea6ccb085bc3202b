"""Experiments: Long and Servedio's points, strong regularisation, and real data sets."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveInt

from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Row
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import (
    Distinct,
    Flips,
    Method,
    Methods,
    Positive,
    Repeated,
    SplitSettings,
    only,
)
from unhinged.methods import POTENTIALS, minimiser, signed, threshold

LOSSES = (*POTENTIALS, "unhinged loss")
COINS = Annotated[Flips, only("independent")]


def turned(v: Floats, w: Floats) -> float:
    """Compute 1 - cos of the angle between two directions."""
    v = v / np.linalg.norm(v)
    w = w / np.linalg.norm(w)
    return 0.5 * float((v - w) @ (v - w))


def flipped(Z: Floats, p: Floats, rate: float) -> tuple[Floats, Floats]:
    """Flip labels at a rate, and return the rows y x with their probabilities."""
    return np.vstack([Z, -Z]), np.concatenate([(1 - rate) * p, rate * p])


class LongServedio(Repeated):
    """Settings of `long_servedio`."""

    noise: COINS
    gamma: Distinct[Positive] = Field(description="margins of the separable points")


@protocol(LongServedio, labels=("error", *LOSSES))
def long_servedio(settings: LongServedio, loop: Loop) -> Iterator[Row]:
    """Compute the true error in % of the minimiser over all w in the plane, exactly.

    x = the margin gamma. All labels are +1; a quarter of the mass is on (1, 0), a quarter on
    (gamma, 5 gamma) and half of it on (gamma, -gamma). Labels are flipped at one rate. Source: Long
    and Servedio, Machine Learning 78, 2010.
    """
    p = np.array([0.25, 0.25, 0.5])
    for repetition in loop:
        for gamma in settings.gamma:
            X = np.array([[1.0, 0.0], [gamma, 5 * gamma], [gamma, -gamma]])
            for noise in settings.noise:
                Z, q = flipped(X, p, noise.parameters["rate"])
                for loss in LOSSES:
                    w = minimiser(loss, Z, q, 0.0)
                    error = float(100 * p @ (X @ w <= 0))
                    columns = {"noise": noise.label, "method": loss, "x": gamma}
                    yield repetition.row("error", error, **columns)


class Distributions(Repeated):
    """Settings of `identities`."""

    noise: COINS
    points: PositiveInt = Field(description="points of each distribution")
    lam: Positive = Field(description="ridge")


@protocol(Distributions, labels=("turned", "affinity", *LOSSES))
def identities(settings: Distributions, loop: Loop) -> Iterator[Row]:
    """Compute what flips do to the minimiser over linear functions, on random distributions in R^5.

    turned : 1 - cos of the angle between the minimisers under noise and without.
    affinity (unhinged loss): the largest |risk under noise - (1 - 2 rate) risk - 2 rate| of 100
    functions.
    """
    n = settings.points
    for repetition in loop:
        rng = repetition.rng("points")
        X = rng.standard_normal((n, 5))
        eta = rng.random(n)
        mass = rng.dirichlet(np.ones(n))
        Z = np.vstack([X, -X])
        p = np.concatenate([mass * eta, mass * (1 - eta)])
        functions = rng.standard_normal((5, 100))
        for noise in settings.noise:
            rate = noise.parameters["rate"]
            noisy, q = flipped(Z, p, rate)
            for loss in LOSSES:
                without_noise = minimiser(loss, Z, p, settings.lam)
                under_noise = minimiser(loss, noisy, q, settings.lam)
                angle = turned(without_noise, under_noise)
                yield repetition.row("turned", angle, noise=noise.label, method=loss)
            risk = p @ (1 - Z @ functions)
            noisy_risk = q @ (1 - noisy @ functions)
            gap = np.abs(noisy_risk - (1 - 2 * rate) * risk - 2 * rate).max()
            yield repetition.row("affinity", gap, noise=noise.label, method="unhinged loss")


class Regularised(SplitSettings):
    """Settings of `regularisation`."""

    times: Distinct[Positive] = Field(description="ridges, as multiples of `methods.threshold`")


@protocol(Regularised, labels=("turned", "hinge loss", *LOSSES))
def regularisation(settings: Regularised, loop: Loop) -> Iterator[Row]:
    """Measure 1 - cos of the angle between a solution and the unhinged one.

    x = the ridge, in thresholds.
    """
    for repetition, split, noisy in loop.noisy_splits(settings):
        for noise, observed in zip(settings.noise, noisy.T, strict=True):
            Z = signed(split.X, observed)
            p = np.full(len(Z), 1 / len(Z))
            for x in settings.times:
                for loss in ("hinge loss", *POTENTIALS):
                    w = minimiser(loss, Z, p, x * threshold(Z))
                    columns = {"noise": noise.label, "method": loss, "x": x}
                    yield repetition.row("turned", turned(w, p @ Z), **columns)


class Benchmarks(SplitSettings):
    """Settings of `benchmarks`; rises are measured from the first noise."""

    methods: Methods[Method]


@protocol(Benchmarks, labels=("error", "rise"))
def benchmarks(settings: Benchmarks, loop: Loop) -> Iterator[Row]:
    """Measure test errors in %, and their rise from the first noise on the same split."""
    error_at_first_noise = {}
    for repetition, split, observed, noise, method in loop.fits(settings, settings.methods):
        model = method.build().fit(split.X, observed)
        score = split.scored(model.predict(split.X_test))
        yield repetition.row("error", score)
        error = 100 * float(np.mean(score.wrong))
        label = repetition.columns["method"]
        if noise == settings.noise[0]:
            error_at_first_noise[label] = error
        else:
            yield repetition.row("rise", error - error_at_first_noise[label])
