"""Estimated against true flip rates of the robust classifiers, by five estimates.

setting "own": the model's flip matrix, fitted to all rows; "cross-fitted": the mean of those of the folds;
"confident joint", "anchor" (97 % quantiles) and "surest rows" (labels of the fifth of a class that is most
probable): from the cross-fitted probabilities of the observed label.
Metrics: omega01 and omega10, P(observed 1 | true 0) and P(observed 0 | true 1) as estimated; share, the share
of wrong labels that they imply; bias, that share minus the true one; and absolute_error, its size.

Sources: Kaban and Bootkrajang, LABELNOISE 2017 (own); Northcutt, Jiang and Chuang, JAIR 2021 (confident
joint); Liu and Tao, IEEE TPAMI 2016 (anchor). What is compared is our choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.auditing import flip_rates
from noisylabels.auditing.cross_fitting import probabilities
from noisylabels.seeding import Seeds
from reproduction.protocols.audit.cross_fits import Audited, audited
from reproduction.protocols.kernels.data import Array


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits; repetition = number of the split, source = variant of the data set."""
    rows = []
    for found in audited(settings, data, seeds, repetitions):
        wrong = float(np.mean(found.observed != found.true))
        for setting, omega in estimates(found).items():
            share = flip_rates.wrong_share_of(omega, found.observed)
            figures = {"omega01": omega[0, 1], "omega10": omega[1, 0], "share": share, "bias": share - wrong}
            figures["absolute_error"] = abs(share - wrong)
            named = found.columns | {"setting": setting}
            rows += [named | {"metric": metric, "value": float(v)} for metric, v in figures.items()]
    return rows


def estimates(found: Audited) -> dict[str, Array]:
    """Omega (2, 2) by each estimate; the model's own only of a model that has one."""
    p, y = found.cross.mean, found.observed
    own = probabilities(found.model.fit(found.X, y), found.X[:1])[2]
    made = {
        "own": own,
        "cross-fitted": found.cross.omega.mean(axis=0),
        "confident joint": flip_rates.from_joint(p, y),
        "anchor": flip_rates.anchor(p, y),
        "surest rows": flip_rates.surest(p, y).omega,
    }
    return {setting: omega for setting, omega in made.items() if not np.isnan(omega).any()}
