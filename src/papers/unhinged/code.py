"""The experiments of the paper: Long and Servedio's points, the limit of strong regularisation, real sets."""

from typing import Annotated

import numpy as np
from pydantic import Field, PositiveInt

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


def turned(v, w):
    """1 - cos of the angle between two directions."""
    v, w = v / np.linalg.norm(v), w / np.linalg.norm(w)
    return 0.5 * float((v - w) @ (v - w))


def flipped(Z, p, rate):
    """The rows y x of a distribution and their probabilities once labels are flipped with that rate."""
    return np.vstack([Z, -Z]), np.concatenate([(1 - rate) * p, rate * p])


class LongServedio(Repeated):
    """Settings of `long_servedio`."""

    noise: COINS
    gamma: Distinct[Positive] = Field(description="margins of the separable points")


@protocol(LongServedio, labels=("error", *LOSSES))
def long_servedio(settings, loop):
    """True error in % of the minimiser over all w in the plane, exactly, against the margin x = gamma.

    All labels are +1; a quarter of the mass is on (1, 0), a quarter on (gamma, 5 gamma) and half of it on
    (gamma, -gamma). Labels are flipped at one rate. Source: Long and Servedio, Machine Learning 78, 2010.
    """
    p = np.array([0.25, 0.25, 0.5])
    for repetition in loop:
        for gamma in settings.gamma:
            X = np.array([[1.0, 0.0], [gamma, 5 * gamma], [gamma, -gamma]])
            for noise in settings.noise:
                for loss in LOSSES:
                    w = minimiser(loss, *flipped(X, p, noise.parameters["rate"]), 0.0)
                    yield repetition.row(
                        "error", 100 * p @ (X @ w <= 0), x=gamma, noise=noise.label, method=loss
                    )


class Distributions(Repeated):
    """Settings of `identities`."""

    noise: COINS
    points: PositiveInt = Field(description="points of each distribution")
    lam: Positive = Field(description="ridge")


@protocol(Distributions, labels=("turned", "affinity", *LOSSES))
def identities(settings, loop):
    """What flips do to the minimiser over linear functions, exactly, on random distributions in R^5.

    turned : 1 - cos of the angle between the minimisers under noise and without.
    affinity (unhinged loss): the largest |risk under noise - (1 - 2 rate) risk - 2 rate| of 100 functions.
    """
    for repetition in loop:
        rng, n = repetition.rng("points"), settings.points
        X, eta, mass = rng.standard_normal((n, 5)), rng.random(n), rng.dirichlet(np.ones(n))
        Z, p = np.vstack([X, -X]), np.concatenate([mass * eta, mass * (1 - eta)])
        functions = rng.standard_normal((5, 100))
        for noise in settings.noise:
            rate = noise.parameters["rate"]
            noisy, q = flipped(Z, p, rate)
            for loss in LOSSES:
                found = [minimiser(loss, *each, settings.lam) for each in ((Z, p), (noisy, q))]
                yield repetition.row("turned", turned(*found), noise=noise.label, method=loss)
            clean, risk = p @ (1 - Z @ functions), q @ (1 - noisy @ functions)
            gap = np.abs(risk - (1 - 2 * rate) * clean - 2 * rate).max()
            yield repetition.row("affinity", gap, noise=noise.label, method="unhinged loss")


class Regularised(SplitSettings):
    """Settings of `regularisation`."""

    times: Distinct[Positive] = Field(description="ridges, as multiples of `methods.threshold`")


@protocol(Regularised, labels=("turned", "hinge loss", *LOSSES))
def regularisation(settings, loop):
    """1 - cos of the angle between a solution and the unhinged one, against the ridge x, in thresholds."""
    for repetition, split, noisy in loop.noisy_splits(settings):
        for noise, observed in zip(settings.noise, noisy.T, strict=True):
            Z = signed(split.X, observed)
            p = np.full(len(Z), 1 / len(Z))
            for x in settings.times:
                for loss in ("hinge loss", *POTENTIALS):
                    w = minimiser(loss, Z, p, x * threshold(Z))
                    yield repetition.row("turned", turned(w, p @ Z), x=x, noise=noise.label, method=loss)


class Benchmarks(SplitSettings):
    """Settings of `benchmarks`; the first noise is the one that rises are counted from."""

    methods: Methods[Method]


@protocol(Benchmarks, labels=("error", "rise"))
def benchmarks(settings, loop):
    """Test error in %, and its rise over that at the first noise on the same split."""
    first = {}
    for repetition, split, observed, noise, method in loop.fits(settings, settings.methods):
        score = split.scored(method.build().fit(split.X, observed).predict(split.X_test))
        yield repetition.row("error", score)
        error = 100 * float(np.mean(score.wrong))
        if noise == settings.noise[0]:
            first[repetition.columns["method"]] = error
        else:
            yield repetition.row("rise", error - first[repetition.columns["method"]])
