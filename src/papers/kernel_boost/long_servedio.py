"""Boosters on the points of Long and Servedio, which the sum of all features separates.

All 21 features are -1 or +1. A quarter of the points agrees with the label in all features, a
quarter in the first eleven only, and half of them in five of the first eleven and six of the
others. So the sum of the features has the sign of the label everywhere.

Source: Long and Servedio, Machine Learning 78, 2010, experiments; cited by Kabán and Bootkrajang,
LABELNOISE 2017. Numbers of points and rounds are ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kernel_boost.boosting import Booster
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Row
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

FIRST = 11
"""Number of features that agree with the label of a puller."""
OTHERS = 10
AGREEING = (5, 6)
"""Numbers of features of a penaliser that agree with its label, among the first and the others."""


class PointsSettings(keys.Repeated):
    """Settings of `boosters_on_points`."""

    train: keys.Count = Field(description="training points")
    test: keys.Count = Field(description="test points, whose labels are right")
    noise: keys.Flips
    methods: keys.Methods[Booster]


@protocol(PointsSettings, labels=("error",))
def boosters_on_points(settings: PointsSettings, loop: Loop) -> Iterator[Row]:
    """Measure true test errors in % on the points of Long and Servedio."""
    for repetition in loop:
        X, y = draw_points(settings.train, repetition.rng("training points"))
        X_test, y_test = draw_points(settings.test, repetition.rng("test points"))
        for noise in settings.noise:
            observed = noise.observe(y, repetition.rng(f"flips {noise}"), "two classes")
            for label, method in settings.methods.items():
                of_method = repetition.with_columns(noise=noise.label, method=label)
                model = method.model(noise, of_method).fit(X, observed)
                wrong = model.predict(X_test) != y_test
                yield of_method.row("error", 100 * float(np.mean(wrong)))


def draw_points(n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int8]]:
    """Draw n points (n, 21) and their labels 0 and 1."""
    y = (rng.random(n) < 0.5).astype(np.int8)
    agrees = np.ones((n, FIRST + OTHERS), dtype=bool)
    kind = rng.random(n)
    agrees[(kind >= 0.25) & (kind < 0.5), FIRST:] = False
    penalisers = np.flatnonzero(kind >= 0.5)
    agrees[penalisers] = False
    order_of_first = np.argsort(rng.random((len(penalisers), FIRST)), axis=1)
    order_of_others = np.argsort(rng.random((len(penalisers), OTHERS)), axis=1)
    rows = penalisers[:, np.newaxis]
    agrees[rows, order_of_first[:, : AGREEING[0]]] = True
    agrees[rows, FIRST + order_of_others[:, : AGREEING[1]]] = True
    signs = 2.0 * y - 1.0
    return np.where(agrees, 1.0, -1.0) * signs[:, np.newaxis], y
