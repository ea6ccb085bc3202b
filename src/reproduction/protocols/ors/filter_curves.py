"""Learning curves of adaptive filters under label noise (ORS paper, Figs. 2, 4 and 5).

For every task, tuning mode, method and repetition: mse_t = (1/t) sum_{s<=t} (yhat_s - y_s)^2, against the
clean label, and mse_window, the mean over the rounds since the previous point; at the ends of `windows`
equal windows. mse_tail is the mean over the last fifth of the windows: the long run without the start.
"""

from typing import Any

import numpy as np

from noisylabels.filters.base import window_starts
from noisylabels.seeding import Seeds
from reproduction.protocols.ors.tasks import sequence, source_of, tuned_apart
from reproduction.protocols.tuning import filters, losses, tune_all


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """Tuned parameters, ``{repetition: {task: {mode: {method: {parameters, mse, at_end_of_grid}}}}}``."""
    methods, grids, shared = filters(settings), settings.get("grids", {}), settings.get("shared")

    def tune_on(name: str) -> dict[str, Any]:
        tuned = {}
        for label, task in settings["tasks"].items():
            noisy = sequence(task, data, seeds, name)
            tuned[label] = {mode: tune_all(methods, grids, mode, shared, noisy) for mode in settings["modes"]}
        return tuned

    return tuned_apart(settings, tune_on)


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of the curves; noise = name of the task, setting = tuning mode, x = number of rounds seen."""
    methods = filters(settings)
    rows = []
    for name, task in settings["tasks"].items():
        labels = [(mode, method) for mode in settings["modes"] for method in methods]
        columns = source_of(task, data) | {"noise": name}
        for repetition in repetitions:
            chosen = tuned[str(repetition)][name]
            pairs = [(methods[m], chosen[mode][m]["parameters"]) for mode, m in labels]
            noisy = sequence(task, data, seeds, repetition)
            per_window = losses(pairs, noisy, settings["windows"])
            rounds = np.append(window_starts(len(noisy), settings["windows"])[1:], len(noisy))
            for (mode, method), window in zip(labels, per_window, strict=True):
                columns |= {"setting": mode, "method": method, "repetition": repetition}
                rows += _curve(window, rounds, columns)
    return rows


def _curve(window: np.ndarray, rounds: np.ndarray, columns: dict[str, Any]) -> list[dict[str, Any]]:
    lengths = np.diff(rounds, prepend=0)
    cumulative = np.cumsum(window * lengths) / rounds
    last = -max(1, len(window) // 5)
    tail = np.average(window[last:], weights=lengths[last:])
    rows = [columns | {"metric": "mse_tail", "x": float(rounds[-1]), "value": float(tail)}]
    return rows + [
        columns | {"metric": metric, "x": float(x), "value": float(value)}
        for metric, values in (("mse", cumulative), ("mse_window", window))
        for x, value in zip(rounds, values, strict=True)
    ]
