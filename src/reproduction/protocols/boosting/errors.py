"""Test error of boosters whose training labels are partly flipped.

Metrics: error, wrong test labels in %; gamma01 and gamma10, the learned flip rates P(observed 1 | true 0) and
P(observed 0 | true 1); flagged, 1 where the fit is a fallback or doubtful. All boosters of a split draw
their resamples from the same stream.

Source: Kaban and Bootkrajang, LABELNOISE 2017, the two tables of rBoost.
"""

from __future__ import annotations

from typing import Any

from noisylabels.seeding import Seeds
from reproduction.protocols.boosting.members import boosters, build, gamma_of
from reproduction.protocols.kernels.data import problems


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits; repetition = number of the split, source = variant of the data set."""
    methods = boosters(settings)
    rows = []
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        for noise, observed in zip(settings["noise"], noisy.T, strict=True):
            for label, spec in methods.items():
                model = build(spec, noise, own.generator(columns["repetition"], f"resampling {noise}"))
                found = model.fit(split.X, observed).predict(split.X_test)
                values = gamma_of(model) | {"flagged": float(getattr(model, "flagged_", False))}
                named = columns | {"noise": noise, "method": label}
                rows.append(named | split.scored(found).row("error"))
                rows += [named | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows
