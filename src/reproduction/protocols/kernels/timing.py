"""CPU time to train kernel classifiers on one split: distances, selection, final fit; one test row only.

Metric: cpu_seconds, median of ``timings`` runs. The first split of a block is also trained on once without
being timed, which compiles. These rows are measurements: unlike every other result table, theirs is not the
same to the byte from run to run.

Source: Kaban and Bootkrajang, LABELNOISE 2017, table of CPU times.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.protocols.kernels.data import problems
from reproduction.protocols.kernels.methods import resolve
from reproduction.protocols.kernels.training import train


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all splits, methods and noise conditions, each timed alone."""
    methods = resolve(settings)
    rows: list[dict[str, Any]] = []
    for columns, split, noisy, own in problems(settings, data, seeds, repetitions):
        alone = dataclasses.replace(split, X_test=split.X_test[:1], truth=split.truth[:1])
        if not rows:
            train(methods, alone, noisy, settings, own, columns["repetition"])  # compiles
        for k, noise in enumerate(settings["noise"]):
            for method in (m for m in methods if k in m.columns(noisy)):
                rest = alone, noisy[:, [k]], settings, own, columns["repetition"]
                seconds = [
                    cpu_seconds(train, [dataclasses.replace(method, conditions=None)], *rest)
                    for _ in range(settings["timings"])
                ]
                named = {"noise": noise, "method": method.label, "setting": method.selection}
                value = float(np.median(seconds))
                rows.append(columns | named | {"metric": "cpu_seconds", "value": value})
    return rows


def cpu_seconds(function: Callable[..., object], *arguments: object) -> float:
    """Process time of one call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start
