"""The experiments of the paper: its theorems by enumeration, and its two synthetic sets."""

from itertools import product
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveInt

from natarajan2013 import methods
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances
from reproduction.run.points import Scored
from reproduction.run.protocol_loop import noisy_labels
from reproduction.run.splits import standardised, zero_one
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Distinct, Exponents, Flips, Folds, PartSettings, Repeated, only

LOSSES = {"logistic loss": methods.logistic, "hinge loss": methods.hinge, "0-1 loss": methods.zero_one}
METHODS = {
    "unbiased loss": (methods.UnbiasedLogistic, True),
    "weighted SVM": (methods.WeightedSVM, True),
    "plain loss": (methods.UnbiasedLogistic, False),
    "plain SVM": (methods.WeightedSVM, False),
}
"""Label -> class, and whether it is told the flip rates."""
CONDITIONAL = Annotated[Flips, only("class_conditional")]


def rates(noise):
    """(rho_+, rho_-) of `class_conditional rho_+ rho_-`."""
    return noise.parameters["positive"], noise.parameters["negative"]


class Identities(Repeated):
    """Settings of `identities`."""

    noise: CONDITIONAL
    points: PositiveInt = Field(description="of each distribution; all 2^points classifiers are compared")


@protocol(Identities, labels=("bias", "curvature", "excess", "affinity", *LOSSES, "weighted", "unweighted"))
def identities(settings, loop):
    """What is unbiased, what is convex and what the weighted loss leads to, without sampling.

    Methods that are losses: bias, the largest |E l~(t, y~) - l(t, y)| over t in [-8, 8] and y; curvature, the
    smallest second difference of l~ in t.
    weighted, unweighted (a = alpha, 1/2): over all classifiers of a random distribution P(x) P(+1 | x),
    excess, the true error, less that of the Bayes classifier, of the one with the lowest a-weighted 0-1 loss
    under noise; affinity, the largest deviation of that loss from an affine function of the true error.
    """
    t = np.linspace(-8, 8, 1601)
    for repetition in loop:
        mass, eta = (
            repetition.rng("points").dirichlet(np.ones(settings.points)),
            repetition.rng("eta").random(settings.points),
        )
        every = np.array(list(product((0, 1), repeat=settings.points)))
        error = every @ (mass * (1 - eta)) + (1 - every) @ (mass * eta)
        for noise in settings.noise:
            pair = rates(noise)
            for name, loss in LOSSES.items():
                flipped = {y: methods.unbiased(loss, t, y, pair) for y in (1, -1)}
                bias = [
                    (1 - rate) * flipped[y] + rate * flipped[-y] - loss(t, y)
                    for y, rate in zip((1, -1), pair, strict=True)
                ]
                curvature = min(np.diff(each, 2).min() for each in flipped.values())
                here = {"noise": noise.label, "method": name}
                yield from repetition.rows({"bias": np.abs(bias).max(), "curvature": curvature}, **here)
            observed = (1 - pair[0]) * eta + pair[1] * (1 - eta)
            for name, a in (("weighted", methods.weight(pair)), ("unweighted", 0.5)):
                loss = every @ (a * mass * (1 - observed)) + (1 - every) @ ((1 - a) * mass * observed)
                rest = loss - (1 - sum(pair)) / 2 * error
                found = {"excess": error[loss.argmin()] - error.min(), "affinity": np.ptp(rest)}
                yield from repetition.rows(found, noise=noise.label, method=name)


class Curves(Repeated):
    """Settings of `separable`."""

    noise: CONDITIONAL
    n: Distinct[PositiveInt] = Field(
        description="numbers of training rows; width and parameter are chosen at the first"
    )
    widths: Exponents = Field(description="of the Gaussian kernel, exponents of 2")
    folds: Folds


class PartCurves(Curves, PartSettings):
    """Settings of `banana`."""


@protocol(Curves, labels=("error", *METHODS))
def separable(settings, loop):
    """Test error in % against the number x of training rows, drawn uniformly in [-1, 1]^2 without the strip
    |x1 + x2| < 0.1; the label is the sign of x1 + x2.
    """
    for repetition in loop:
        X = repetition.rng("rows").uniform(-1, 1, (4 * max(settings.n), 2))
        X = X[np.abs(X.sum(axis=1)) >= 0.1][: 2 * max(settings.n)]
        y, half = zero_one(X.sum(axis=1)), max(settings.n)
        for x, noise, label, found in trained(X[:half], y[:half], X[half:], settings, repetition):
            yield repetition.row(
                "error", 100 * np.mean(found != y[half:]), x=x, noise=noise.label, method=label
            )


@protocol(PartCurves, labels=("error", *METHODS))
def banana(settings, loop):
    """Test error in % against the number x of training rows, the first x of a random part of the data set."""
    for repetition, split, _ in loop.random_splits(settings):
        for x, noise, label, found in trained(split.X, split.clean, split.X_test, settings, repetition):
            score = Scored(split.test, found != split.truth, len(split.clean) + len(split.truth))
            yield repetition.row("error", score, x=x, noise=noise.label, method=label)


def trained(X, clean, X_test, settings, repetition):
    """(number of rows, noise, method, labels 0 or 1 of the rows of X_test); width and parameter are chosen by
    `methods.Folds` on the smallest number of rows and kept.
    """
    noisy, widths = noisy_labels(clean, settings.noise, repetition), np.exp2(settings.widths)
    first = squared_distances(standardised(X[: settings.n[0]], X_test)[0])
    cut = methods.Folds(first, settings.folds)
    for noise, observed in zip(settings.noise, 2.0 * noisy.T - 1, strict=True):
        chosen = {}
        for label, (cls, told) in METHODS.items():
            pair = rates(noise) if told else methods.CLEAN
            chosen[label] = cls.chosen(cut, observed[: settings.n[0]], widths, pair)
        for n in settings.n:
            rows, new = standardised(X[:n], X_test)
            D, D_test = squared_distances(rows), squared_distances(new, rows)
            grams = {}
            for label, (width, best) in chosen.items():
                gram = grams.setdefault(width, Gram(rbf(D, width), rbf(D_test, width)))
                yield n, noise, label, zero_one(METHODS[label][0].scores(gram, observed[:n], *best))
