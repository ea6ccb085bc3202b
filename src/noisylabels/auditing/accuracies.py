"""Accuracies of robust and plain classifiers on the same folds, with a correction for noisy test labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.confident_joint import Array, Classes
from noisylabels.auditing.corrected_error import balanced_error, corrected_error
from noisylabels.auditing.flip_rates import Z

COLUMNS = ["method", "kind", "accuracy", "low", "high", "balanced", "corrected", "corrected_low",
           "corrected_high", "clipped", "behind", "behind_low", "behind_high"]  # fmt: skip


def compared(predicted: dict[str, NDArray[np.intp]], kinds: dict[str, str], y: Classes, omega: Array) -> Any:
    """Data frame, best first: accuracy on the observed labels, balanced accuracy, accuracy after correction.

    predicted : method -> classes (n,) found by models that were trained on the other rows.
    behind : how far behind the best method the accuracy is, with the interval of the paired difference.
    Corrected columns are NaN if Omega cannot be inverted safely, see `corrected_error`.
    """
    import pandas as pd

    right = {name: (found == y).astype(float) for name, found in predicted.items()}
    best = max(right, key=lambda name: right[name].mean())
    rows = []
    for name, found in predicted.items():
        behind = _interval(right[best] - right[name], -1.0)
        figures = [*_interval(right[name], 0.0), 1.0 - balanced_error(found, y), *_corrected(found, y, omega)]
        rows.append([name, kinds[name], *figures, *behind])
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def _interval(values: Array, lowest: float) -> list[float]:
    """Mean and its 95 % interval, clipped to [lowest, 1]."""
    mean, half = float(values.mean()), Z * float(values.std(ddof=1)) / len(values) ** 0.5
    return [mean, max(mean - half, lowest), min(mean + half, 1.0)]


def _corrected(found: NDArray[np.intp], y: Classes, omega: Array) -> list[float | bool]:
    try:
        error = corrected_error(found, y, omega)
    except ValueError:
        return [float("nan")] * 3 + [False]
    return [1.0 - error.error, 1.0 - error.high, 1.0 - error.low, error.clipped]
