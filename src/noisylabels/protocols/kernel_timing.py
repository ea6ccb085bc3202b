"""CPU time to train kernel classifiers on one split: distances, selection, final fit; one test row only.

Metric: cpu_seconds, median of ``timings`` runs after one that is not timed, which compiles. These rows are
measurements: unlike every other result table, theirs is not the same to the byte from run to run.

Source: Kaban and Bootkrajang, LABELNOISE 2017, table of CPU times.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from noisylabels.protocols.kernel_data import Labels, Split, problems
from noisylabels.protocols.kernel_selection import Method, resolve, train
from noisylabels.seeding import Seeds


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits, methods and noise conditions, each timed alone."""
    rows = []
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        for k, noise in enumerate(settings["noise"]):
            for method in resolve(settings):
                named = {"noise": noise, "method": method.label, "setting": method.selection}
                seconds = cpu_seconds(method, split, noisy[:, [k]], settings, own, columns["repetition"])
                rows.append(columns | named | {"metric": "cpu_seconds", "value": seconds})
    return rows


def cpu_seconds(
    method: Method, split: Split, noisy: Labels, settings: dict[str, Any], seeds: Seeds, repetition: int
) -> float:
    """Median process time of `train` with one test row."""
    alone = dataclasses.replace(split, X_test=split.X_test[:1], truth=split.truth[:1])
    times = []
    for _ in range(1 + settings["timings"]):
        start = time.process_time()
        train([method], alone, noisy, settings, seeds, repetition)
        times.append(time.process_time() - start)
    return float(np.median(times[1:]))
