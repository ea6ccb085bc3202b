"""Every filter has a worst ratio of at least 1: the argument of the slide, for each filter.

All labels are 0, so a filter predicts the same whether the target is u or -u. The noise energy of
both is that of u . x, and the filtering errors of both add up to at least twice that. So one of the
two has at least the ratio T / (T + 1).

Source: slides of Kivinen, Warmuth and Hassibi, H-infinity optimality; the game is ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from noisylabels.filters import theory
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Row
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Count, Distinct, Method, Methods, Repeated

SILENT = "labels 0"
RANDOM = "random labels"
EUCLIDEAN = 2.0
VARIANCE = 1.0
"""Noise variance that is given to the filters that need it."""


class EveryFilterSettings(Repeated):
    """Settings of `every_filter`."""

    n: Count
    rounds: Distinct[Count] = Field(description="numbers of rows T")
    methods: Methods[Method] = Field(description="filters; none needs to start at 0")


@protocol(EveryFilterSettings, labels=("ratio", "distance", SILENT, RANDOM))
def every_filter(settings: EveryFilterSettings, loop: Loop) -> Iterator[Row]:
    """Measure the H-infinity ratio of filters with p = 2 against the rows T.

    setting "labels 0": the larger ratio of the targets u and -u, all rows equal and of norm 1;
    "random labels": that of the worst target for normal rows of norm 1 and normal labels. Metrics:
    ratio; distance (labels 0), how far it is above T / (T + 1).
    """
    for repetition in loop:
        for T in settings.rounds:
            X, y, u = theory.silent(settings.n, T, 1.0, EUCLIDEAN)
            rows = repetition.rng(f"rows {T}").standard_normal((T, settings.n))
            rows /= (rows**2).sum(axis=1, keepdims=True) ** 0.5
            labels = repetition.rng(f"labels {T}").standard_normal(T)
            for label, method in settings.methods.items():
                of_method = repetition.with_columns(method=label, x=T)
                predictions = repetition.build(method).run(X, y, v=VARIANCE)
                silent = larger_ratio(X, y, u, predictions)
                yield of_method.row("ratio", silent, setting=SILENT)
                yield of_method.row("distance", silent - T / (T + 1), setting=SILENT)
                predictions = repetition.build(method).run(rows, labels, v=VARIANCE)
                worst, _ = theory.worst_target(rows, predictions, labels, 1.0)
                yield of_method.row("ratio", worst, setting=RANDOM)


def larger_ratio(X: Floats, y: Floats, u: Floats, predictions: Floats) -> float:
    """Compute the larger H-infinity ratio of the targets u and -u for rows of norm 1."""
    ratios = [theory.ratio(X, y, sign * u, predictions, EUCLIDEAN, 1.0) for sign in (1.0, -1.0)]
    return max(ratios)
