"""Flips near the boundary, at random or far from it: their effect on classifiers and the audit.

The number of flips is the same for every shape. Source of what the audit computes: Northcutt, Jiang
and Chuang, JAIR 2021. The shapes and what is compared are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt

from noisylabels.auditing import flip_rates as rates
from noisylabels.auditing import intervals
from noisylabels.auditing.cross_fitting import cross_fitted
from reproduction.run.protocol_loop import Loop, Repetition, Row, split_of
from reproduction.run.splits import Floats, Split
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

Classes = NDArray[np.intp]
Mask = NDArray[np.bool_]
Shape = Literal["near", "random", "far"]
SIGNS: dict[Shape, float] = {"near": -1.0, "random": 0.0, "far": 1.0}
"""Shape of flips -> sign of the effect of distance from the boundary on their chance."""


class ShapeSettings(keys.OnDataSets):
    """Settings of `errors`."""

    splits: keys.Drawn | None = Field(None, description="of data sets without official splits")
    shapes: keys.Distinct[Shape] = Field(description="where flips fall")
    rates: keys.Distinct[keys.Share] = Field(description="shares of the labels to flip")
    strength: keys.Positive = Field(
        description="log of the odds of the row farthest from the boundary against the nearest"
    )
    methods: keys.Methods[keys.Method] = Field(description="classifiers, nothing is tuned")


class AuditSettings(ShapeSettings):
    """Settings of `audit`."""

    folds: keys.Folds
    reviewed: PositiveInt = Field(description="rows of a simulated review")


@protocol(ShapeSettings, labels=("error", "near *", "random *", "far *"))
def errors(settings: ShapeSettings, loop: Loop) -> Iterator[Row]:
    """Measure test errors in % by where the flipped labels are; noise = shape and share."""
    for repetition, split, observed, method in _flipped_splits(settings, loop):
        model = repetition.build(method).fit(split.X, observed)
        yield repetition.row("error", split.scored(model.predict(split.X_test)))


OF_AUDIT = (
    "average_precision",
    "precision",
    "recall",
    "joint_bias",
    "anchor_bias",
    "covers",
    "width",
)


@protocol(AuditSettings, labels=(*OF_AUDIT, "near *", "random *", "far *"))
def audit(settings: AuditSettings, loop: Loop) -> Iterator[Row]:
    """Measure how well an audit finds flipped labels and counts them, by where they are.

    Metrics: average_precision of the ranking by the margin, precision and recall of the labels that
    the confident joint calls wrong; joint_bias and anchor_bias, the share of wrong labels by both
    estimates minus the true one; covers, 1 where the 95 % interval from reviewed rows holds the
    true share, and its width relative to that without the ranking.
    """
    for repetition, split, observed, method in _flipped_splits(settings, loop):
        seed = int(repetition.rng("folds").integers(2**31))
        model = repetition.build(method)
        folds: dict[str, Any] = {"random_state": seed, "repetitions": 1, "folds": settings.folds}
        fit = cross_fitted(split.X, observed, model, **folds)
        rows = repetition.rng("review").permutation(len(observed))[: settings.reviewed]
        flipped = observed != split.clean
        yield from repetition.rows(measure_audit(fit.mean, observed, flipped, rows))


def _flipped_splits(
    settings: ShapeSettings, loop: Loop
) -> Iterator[tuple[Repetition, Split, Classes, keys.Method]]:
    """Yield every split with the labels of each shape and share, for every method."""
    for repetition, dataset in loop.on_data_sets(settings.datasets):
        split = split_of(dataset, repetition, settings.splits)
        if split is None:
            continue
        distance = distance_from_boundary(split)
        for shape in settings.shapes:
            for share in settings.rates:
                # all methods get the same flips, so that they are paired
                rng = repetition.rng("flips")
                chosen = choose_flips(distance, shape, share, settings.strength, rng)
                observed = split.clean.astype(np.intp)
                observed[chosen] = 1 - observed[chosen]
                for label, method in settings.methods.items():
                    noise = f"{shape} {share:g}"
                    labelled = repetition.with_columns(noise=noise, method=label)
                    yield labelled, split, observed, method


def distance_from_boundary(split: Split) -> Floats:
    """Compute the size of the decision value of every training row, by a fit to clean labels."""
    from noisylabels import KernelLogisticRegression  # imported here, because it is slow to load

    model = KernelLogisticRegression(width="scale", zeta=0.5, penalty="rkhs")
    values = model.fit(split.X, split.clean).decision_function(split.X)
    return np.asarray(np.abs(values))


def choose_flips(
    distance: Floats, shape: Shape, share: float, strength: float, rng: np.random.Generator
) -> Classes:
    """Choose round(share n) rows without replacement, by their rank from near to far.

    Parameters
    ----------
    distance : ndarray of shape (n,)
        Distances from the boundary; equal ones share a rank.
    shape : {"near", "random", "far"}
        Which rows are more likely.
    share : float
        Share of the rows to choose.
    strength : float
        Log of the odds of the farthest row against the nearest, or the reverse.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of shape (round(share n),)
        The rows.

    Notes
    -----
    The largest log-weight plus Gumbel noise come first, which draws one row after the other in
    proportion to the weights.
    """
    from scipy.stats import rankdata  # imported here, because it is slow to load

    n = len(distance)
    rank = (rankdata(distance) - 1) / max(n - 1, 1)
    keys_of_rows = SIGNS[shape] * strength * rank + rng.gumbel(size=n)
    return np.argsort(-keys_of_rows, kind="stable")[: round(share * n)]


def measure_audit(p: Floats, observed: Classes, flipped: Mask, rows: Classes) -> dict[str, Any]:
    """Compute the metrics of `audit` for probabilities p (n, 2) of the observed labels.

    rows : drawn without replacement, and reviewed.
    """
    from sklearn.metrics import average_precision_score  # imported here, because it is slow to load

    doubt = -rates.margins(p, observed)
    listed = rates.likely_wrong(p, observed, rates.joint(p, observed))
    hits = int((listed & flipped).sum())
    true_share = float(flipped.mean())
    joint_share = rates.wrong_share_of(rates.from_joint(p, observed), observed)
    anchor_share = rates.wrong_share_of(rates.anchor(p, observed), observed)
    wrong = flipped.astype(float)
    estimate = intervals.rate(wrong[rows], doubt[rows], float(doubt.mean()), len(wrong))
    plain = intervals.counted(wrong[rows], len(wrong))
    covers = estimate.low - 1e-9 <= true_share <= estimate.high + 1e-9
    return {
        "average_precision": float(average_precision_score(flipped, doubt)),
        "precision": hits / max(int(listed.sum()), 1),
        "recall": hits / int(flipped.sum()),
        "joint_bias": joint_share - true_share,
        "anchor_bias": anchor_share - true_share,
        "covers": float(covers),
        "width": estimate.width / plain.width if plain.width else 1.0,
    }
