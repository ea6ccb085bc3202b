"""What boosters do from round to round: errors on the training and on the test labels, learned flip rates.

Metrics at round x: train_error, wrong observed labels of the training rows in %;
test_error, wrong test labels in %; gamma01 and gamma10, the flip rates that a booster has learned so far.
Once a run: rounds_to_drop, the first round at which the training error has fallen by 95 % of its whole fall.

Source: Kaban and Bootkrajang, LABELNOISE 2017, curves of AdaBoost with robust base learners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.protocols.boosting.members import boosters, build
from reproduction.protocols.kernels.data import Array, Labels, Split, problems

DROP = 0.95


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits and rounds; repetition = number of the split, source = variant of the data set."""
    methods = boosters(settings)
    rows = []
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        for noise, observed in zip(settings["noise"], noisy.T, strict=True):
            for label, spec in methods.items():
                model = build(spec, noise, own.generator(columns["repetition"], f"resampling {noise}"))
                model.fit(split.X, observed)
                named = columns | {"noise": noise, "method": label}
                curves = _curves(model, split, observed)
                for metric, values in curves.items():
                    rows += [
                        named | {"metric": metric, "x": x, "value": float(value)}
                        for x, value in enumerate(values, start=1)
                    ]
                    if metric == "test_error":  # point by point at the end only
                        rows[-1] |= split.scored(model.predict(split.X_test)).row(metric)
                dropped = rounds_to_drop(curves["train_error"])
                rows.append(named | {"metric": "rounds_to_drop", "value": float(dropped)})
    return rows


def _curves(model: Any, split: Split, observed: Labels) -> dict[str, Array]:
    curves = {
        "train_error": _errors(model, split.X, observed),
        "test_error": _errors(model, split.X_test, split.truth),
    }
    if getattr(model, "learn_gamma", False):
        curves |= {"gamma01": model.gamma_path_[:, 0], "gamma10": model.gamma_path_[:, 1]}
    return curves


def _errors(model: Any, X: Array, labels: NDArray[Any]) -> Array:
    """Wrong labels in % after each round."""
    return np.array([100.0 * np.mean(found != labels) for found in model.staged_predict(X)])


def rounds_to_drop(errors: Array) -> int:
    """First t with e_t <= e_1 - 0.95 (e_1 - min e); 1 where the error never falls."""
    return int(np.argmax(errors <= errors[0] - DROP * (errors[0] - errors.min()))) + 1
