"""Linear models under flips against the number of rows, where errors are known exactly.

Twonorm's classes are N(a, I) and N(-a, I) in 20 dimensions, a = 2/sqrt(20) in each. The error of a
hyperplane follows from its weights and bias, and the Bayes error is Phi(-2).

Source of the law: L. Breiman, TR 460, University of California, 1996. The comparison is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.special import ndtr

from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Row, noisy_labels
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

DIMENSIONS = 20
CENTRE = 2 / DIMENSIONS**0.5
BAYES = float(ndtr(-2.0))
"""Error of the best possible classifier."""


class RowsSettings(keys.Repeated):
    """Settings of `linear_against_rows`."""

    rows: keys.Distinct[keys.Count] = Field(description="numbers of training rows")
    noise: Annotated[keys.Flips, keys.only("independent", "negative_only")]
    methods: keys.Methods[keys.Method] = Field(description="linear classifiers, with coef_")


@protocol(RowsSettings, labels=("excess",))
def linear_against_rows(settings: RowsSettings, loop: Loop) -> Iterator[Row]:
    """Compute the true error above the Bayes error in percentage points, by training rows.

    Fewer rows are the first of more.
    """
    for repetition in loop:
        n_rows = max(settings.rows)
        y = (repetition.rng("classes").random(n_rows) < 0.5).astype(np.int8)
        normal = repetition.rng("rows").standard_normal((n_rows, DIMENSIONS))
        X = normal + CENTRE * (2.0 * y[:, np.newaxis] - 1.0)
        noisy = noisy_labels(y, settings.noise, repetition)
        for column, noise in enumerate(settings.noise):
            for label, method in settings.methods.items():
                for n in settings.rows:
                    of_method = repetition.with_columns(noise=noise.label, method=label, x=n)
                    model = of_method.build(method).fit(X[:n], noisy[:n, column])
                    w = np.ravel(model.coef_)
                    bias = float(np.ravel(model.intercept_)[0])
                    yield of_method.row("excess", 100 * (true_error(w, bias) - BAYES))


def true_error(w: Floats, bias: float) -> float:
    """Compute the error of the classifier w . x + bias > 0 on Twonorm, in [0, 1]."""
    shift = CENTRE * float(w.sum())
    size = float(np.linalg.norm(w))
    return 0.5 * float(ndtr(-(shift + bias) / size) + ndtr(-(shift - bias) / size))
