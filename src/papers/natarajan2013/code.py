"""The experiments of the paper: its theorems by enumeration, and its two synthetic sets."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveInt

from natarajan2013 import methods
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances
from noisylabels.validation import Floats
from reproduction.run.points import Scored
from reproduction.run.protocol_loop import Loop, Repetition, Row, noisy_labels
from reproduction.run.splits import Labels, standardised, zero_one
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import (
    Distinct,
    Exponents,
    Flips,
    Folds,
    Noise,
    PartSettings,
    Repeated,
    only,
)

LOSSES: dict[str, methods.Loss] = {
    "logistic loss": methods.logistic,
    "hinge loss": methods.hinge,
    "0-1 loss": methods.zero_one,
}
METHODS: dict[str, tuple[type[methods.Selected], bool]] = {
    "unbiased loss": (methods.UnbiasedLogistic, True),
    "weighted SVM": (methods.WeightedSVM, True),
    "plain loss": (methods.UnbiasedLogistic, False),
    "plain SVM": (methods.WeightedSVM, False),
}
"""Label of a method -> its class, and whether it knows the flip rates."""
CONDITIONAL = Annotated[Flips, only("class_conditional")]


def rates(noise: Noise) -> methods.Rates:
    """Read the two flip rates of the noise `class_conditional rho_+ rho_-`."""
    return noise.parameters["positive"], noise.parameters["negative"]


class Identities(Repeated):
    """Settings of `identities`."""

    noise: CONDITIONAL
    points: PositiveInt = Field(
        description="of each distribution; all 2^points classifiers are compared",
    )


METRICS = ("bias", "curvature", "excess", "affinity")


@protocol(Identities, labels=(*METRICS, *LOSSES, "weighted", "unweighted"))
def identities(settings: Identities, loop: Loop) -> Iterator[Row]:
    """Compute by enumeration which losses are unbiased and convex, and what the weighted loss does.

    Methods that are losses: bias, the largest |E l~(t, y~) - l(t, y)| over t in [-8, 8] and y;
    curvature, the smallest second difference of l~ in t.
    weighted, unweighted (a = alpha, 1/2): over all classifiers of a random distribution
    P(x) P(+1 | x), excess, the true error, less that of the Bayes classifier, of the one with the
    lowest a-weighted 0-1 loss under noise; affinity, the largest deviation of that loss from an
    affine function of the true error.
    """
    for repetition in loop:
        mass = repetition.rng("points").dirichlet(np.ones(settings.points))
        eta = repetition.rng("eta").random(settings.points)
        for noise in settings.noise:
            pair = rates(noise)
            of_noise = repetition.with_columns(noise=noise.label)
            for name, loss in LOSSES.items():
                metrics = _measure_estimator(loss, pair)
                yield from of_noise.rows(metrics, method=name)
            for name, a in (("weighted", methods.weight(pair)), ("unweighted", 0.5)):
                metrics = _measure_weighted_loss(a, mass, eta, pair)
                yield from of_noise.rows(metrics, method=name)


def _measure_estimator(
    loss: methods.Loss,
    pair: methods.Rates,
) -> dict[str, float]:
    """Measure bias and curvature of the unbiased estimator of a loss, under a pair of rates."""
    t = np.linspace(-8, 8, 1601)
    estimates = {y: methods.unbiased(loss, t, y, pair) for y in (1, -1)}
    bias = []
    for y, rate in zip((1, -1), pair, strict=True):
        mean = (1 - rate) * estimates[y] + rate * estimates[-y]
        bias.append(mean - loss(t, y))
    curvature = min(np.diff(estimate, 2).min() for estimate in estimates.values())
    return {"bias": np.abs(bias).max(), "curvature": curvature}


def _measure_weighted_loss(
    a: float,
    mass: Floats,
    eta: Floats,
    pair: methods.Rates,
) -> dict[str, float]:
    """Measure the excess error of the classifier with the lowest a-weighted loss under noise.

    mass, eta : P(x) and P(+1 | x) of every point.
    """
    positive = np.array(list(product((0, 1), repeat=len(mass))))
    negative = 1 - positive
    error = positive @ (mass * (1 - eta)) + negative @ (mass * eta)
    observed = (1 - pair[0]) * eta + pair[1] * (1 - eta)
    of_false_positives = positive @ (a * mass * (1 - observed))
    of_false_negatives = negative @ ((1 - a) * mass * observed)
    weighted = of_false_positives + of_false_negatives
    slope = (1 - sum(pair)) / 2
    deviation = weighted - slope * error
    excess = error[weighted.argmin()] - error.min()
    return {"excess": excess, "affinity": np.ptp(deviation)}


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
def separable(settings: Curves, loop: Loop) -> Iterator[Row]:
    """Measure test errors in % on a separable set, against the number x of training rows.

    Rows are drawn uniformly in [-1, 1]^2 without the strip |x1 + x2| < 0.1; the label is the sign
    of x1 + x2.
    """
    n = max(settings.n)
    for repetition in loop:
        drawn = repetition.rng("rows").uniform(-1, 1, (4 * n, 2))
        is_outside = np.abs(drawn.sum(axis=1)) >= 0.1
        X = drawn[is_outside][: 2 * n]
        y = zero_one(X.sum(axis=1))
        predictions = trained(X[:n], y[:n], X[n:], settings, repetition)
        for x, noise, label, predicted in predictions:
            error = 100 * np.mean(predicted != y[n:])
            yield repetition.row("error", error, x=x, noise=noise.label, method=label)


@protocol(PartCurves, labels=("error", *METHODS))
def banana(settings: PartCurves, loop: Loop) -> Iterator[Row]:
    """Measure test errors in % on the first x rows of a random part of the data set."""
    for repetition, split, _ in loop.random_splits(settings):
        n_rows = len(split.clean) + len(split.truth)
        results = trained(split.X, split.clean, split.X_test, settings, repetition)
        for x, noise, label, predicted in results:
            score = Scored(split.test, predicted != split.truth, n_rows)
            yield repetition.row("error", score, x=x, noise=noise.label, method=label)


def trained(
    X: Floats,
    clean: Labels,
    X_test: Floats,
    settings: Curves,
    repetition: Repetition,
) -> Iterator[tuple[int, Noise, str, Labels]]:
    """Train every method on more and more rows.

    Width and parameter are chosen by `methods.Folds` on the smallest number of rows, for all.
    Yields (number of rows, noise, method, labels 0 or 1 of the rows of X_test).
    """
    noisy = noisy_labels(clean, settings.noise, repetition)
    widths = np.exp2(settings.widths)
    fewest = settings.n[0]
    rows, _ = standardised(X[:fewest], X_test)
    folds = methods.Folds(squared_distances(rows), settings.folds)
    for noise, observed in zip(settings.noise, 2.0 * noisy.T - 1, strict=True):
        chosen = {}
        for label, (cls, knows_rates) in METHODS.items():
            pair = rates(noise) if knows_rates else methods.CLEAN
            chosen[label] = cls.chosen(folds, observed[:fewest], widths, pair)
        for n in settings.n:
            rows, test_rows = standardised(X[:n], X_test)
            D = squared_distances(rows)
            D_test = squared_distances(test_rows, rows)
            grams: dict[float, Gram] = {}
            for label, (width, best) in chosen.items():
                gram = grams.setdefault(width, Gram(rbf(D, width), rbf(D_test, width)))
                cls, _ = METHODS[label]
                scores = cls.scores(gram, observed[:n], *best)
                yield n, noise, label, zero_one(scores)
