"""The loss of rBoost as a function of the score H = x, for a label +1 and a label -1.

Metric: loss, a exp(-s H) + b exp(s H). setting = the observed label, method = the flip rates, the exponential
loss where both are zero.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (11) and the picture beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.losses import exponential
from noisylabels.seeding import Seeds


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of one repetition; nothing is random."""
    H = np.linspace(-settings["largest"], settings["largest"], settings["points"])
    rows = []
    for method, gamma in settings["gammas"].items():
        for s, setting in ((1, "label +1"), (-1, "label -1")):
            losses = exponential.value(H, np.full(len(H), s), tuple(gamma))
            columns = {"setting": setting, "method": method, "repetition": 0, "metric": "loss"}
            rows += [columns | {"x": float(x), "value": float(v)} for x, v in zip(H, losses, strict=True)]
    return rows
