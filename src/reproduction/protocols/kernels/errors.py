"""Test error of kernel classifiers whose training labels are partly flipped.

Metrics: error, wrong test labels in %; width and parameter, what cross-validation chose,
and validation_size, the number of rows it was judged on;
omega01 and omega10, the estimated flip rates P(observed 1 | true 0) and P(observed 0 | true 1);
flagged, 1 where the fit is a fallback or doubtful. setting = how the method was selected.

Source: Kaban and Bootkrajang, LABELNOISE 2017, tables "KLR vs rKLR", "CV vs MKL", "rMKLR vs rKFD vs SVM".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.protocols.kernels.data import problems
from reproduction.protocols.kernels.methods import resolve
from reproduction.protocols.kernels.training import Outcome, train
from reproduction.protocols.kernels.validation import validation_size


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits; repetition = number of the split, source = variant of the data set."""
    methods = resolve(settings)
    rows = []
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        outcomes = train(methods, split, noisy, settings, own, columns["repetition"])
        for k, noise in enumerate(settings["noise"]):
            for method in (m for m in methods if k in outcomes[m.label]):
                named = columns | {"noise": noise, "method": method.label, "setting": method.selection}
                outcome = outcomes[method.label][k]
                rows.append(named | split.scored(outcome.scores > 0).row("error"))
                size = validation_size(method.selection, len(split.clean), settings)
                values = _metrics(outcome, size)
                rows += [named | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows


def _metrics(outcome: Outcome, validation_size: int) -> dict[str, float]:
    values: dict[str, float] = {}
    if outcome.choice is not None:
        values |= outcome.choice._asdict() | {"validation_size": validation_size}
    values |= {"omega01": outcome.omega01, "omega10": outcome.omega10, "flagged": float(outcome.flagged)}
    return {metric: value for metric, value in values.items() if not np.isnan(value)}
