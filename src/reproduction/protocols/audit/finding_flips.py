"""How well confident learning finds the flipped labels, by the classifier whose probabilities it has.

All classifiers see the same rows, flips and folds. Labels are ranked by the margin p_observed - p_other, and
those that the confident joint calls wrong are compared with those that were flipped. Metrics:
average_precision of the ranking; precision, recall and f1 of the labels found; found and flipped, shares of
the labels.

Source: Northcutt, Jiang and Chuang, Confident learning, JAIR 2021; what is compared is our choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import confident_joint
from noisylabels.seeding import Seeds
from reproduction.protocols.audit.cross_fits import Audited, audited


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits; repetition = number of the split, source = variant of the data set."""
    return [row for found in audited(settings, data, seeds, repetitions) for row in rows_of(found)]


def rows_of(found: Audited) -> list[dict[str, Any]]:
    """A row for each metric."""
    p, y = found.cross.mean, found.observed
    wrong = confident_joint.likely_wrong(p, y, confident_joint.joint(p, y))
    figures = scores(wrong, -confident_joint.margins(p, y), found.observed != found.true)
    return [found.columns | {"metric": metric, "value": value} for metric, value in figures.items()]


def scores(wrong: NDArray[np.bool_], doubt: NDArray[Any], flipped: NDArray[np.bool_]) -> dict[str, float]:
    """The metrics, each in [0, 1]; nothing found has precision 0; nothing flipped leaves the shares only."""
    shares = {"found": float(wrong.mean()), "flipped": float(flipped.mean())}
    if not flipped.any():
        return shares
    from sklearn.metrics import average_precision_score

    hits, called, there = (int(each.sum()) for each in (wrong & flipped, wrong, flipped))
    return {
        "average_precision": float(average_precision_score(flipped, doubt)),
        "precision": hits / max(called, 1),
        "recall": hits / there,
        "f1": 2 * hits / (called + there),
    } | shares
