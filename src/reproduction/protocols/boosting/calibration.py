"""rBoost calibrated on a few verified labels: its error, and how well it learns the flip rates.

x = number of trusted rows: random training rows whose true labels are known, used for the calibration alone
(x = 0: it is calibrated on the observed labels). Boosting itself sees the observed label of every row.
A method that learns no flip rates is fitted once, and its rows are the same at every x.

Metrics: error, wrong test labels in %; gamma01, gamma10;
gamma_error = (|gamma01 - true| + |gamma10 - true|) / 2; flagged.

Source: the remedy that Kaban and Bootkrajang, LABELNOISE 2017, propose; the experiment is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.protocols.boosting.members import boosters, build, flip_rates, gamma_of
from reproduction.protocols.kernels.data import Labels, Split, problems


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits; repetition = number of the split, source = variant of the data set."""
    methods = boosters(settings)
    rows = []
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        repetition = columns["repetition"]
        order = own.generator(repetition, "trusted").permutation(len(split.clean))
        for noise, observed in zip(settings["noise"], noisy.T, strict=True):
            for label, spec in methods.items():
                values: dict[str, float] = {}
                for count in settings["trusted"]:
                    if not values or "gamma01" in values:  # other methods do not change with the count
                        model = build(spec, noise, own.generator(repetition, f"resampling {noise}"))
                        model = _fit(model, split, observed, order[:count])
                        scored, values = split.scored(model.predict(split.X_test)), _metrics(model, noise)
                    named = columns | {"noise": noise, "method": label, "x": count}
                    rows.append(named | scored.row("error"))
                    rows += [named | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows


def _fit(model: Any, split: Split, observed: Labels, trusted: NDArray[np.int64]) -> Any:
    if len(trusted) == 0 or not getattr(model, "learn_gamma", False):
        return model.fit(split.X, observed)
    return model.fit(split.X, observed, trusted=(split.X[trusted], split.clean[trusted]))


def _metrics(model: Any, noise: str) -> dict[str, float]:
    values: dict[str, float] = {}
    if gamma := gamma_of(model):
        distances = np.abs(np.array(list(gamma.values())) - flip_rates(noise))
        values |= gamma | {"gamma_error": float(distances.mean())}
    return values | {"flagged": float(getattr(model, "flagged_", False))}
