"""Labels of other rows, which no shape shows: no trees can predict them from their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 2000
"""Largest number of rows that the trees are fitted to."""
FEWEST = 10
"""Rows of each class below which no answer is given."""
FOLDS = 5
SEED = 20240611
FAR_ABOVE_CHANCE = 5.0
"""Standard errors above chance from which moved labels count as the right ones."""
ABOVE_CHANCE = 2.0
"""Standard errors above chance from which labels belong to their rows."""

Array = NDArray[Any]


def describe_labels(arrays: Mapping[str, Array], task: str) -> str:
    """Say that trees cannot predict the targets from their rows; "" if they can or it is unknown.

    Parameters
    ----------
    arrays : mapping
        Prepared arrays, with X (n, ...) and y (n,).
    task : str
        ``binary``, ``classes`` or ``regression``; nothing is said of others.
    """
    if task not in ("binary", "classes", "regression"):
        return ""
    for suffix in ("", "_test"):
        X = arrays.get(f"X{suffix}")
        y = arrays.get(f"y{suffix}")
        if X is None or y is None or X.dtype.kind not in "biuf" or len(X) != len(y):
            continue
        X = X.reshape(len(X), -1)
        errors = _above_chance(X, y, task)
        if errors is None or errors > ABOVE_CHANCE:
            continue
        finding = f"trees predict y{suffix} from X{suffix} no better than chance"
        for rows in (-1, 1):
            moved = _above_chance(X, np.roll(y, rows), task)
            if moved is not None and moved > FAR_ABOVE_CHANCE:
                way = "up" if rows < 0 else "down"
                reason = f"but well if y{suffix} is moved {way} by one row"
                return f"{finding}, {reason}; correct its order"
        return f"{finding}; are their rows in the same order?"
    return ""


def _above_chance(X: Array, y: Array, task: str) -> float | None:
    """Measure by how many standard errors trees are better than chance; None for few rows.

    Predictions are cross-validated: of classes the mean recall, of real values the correlation.
    """
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    chosen = np.random.default_rng(SEED).permutation(len(y))[:MOST_ROWS]
    X = X[chosen]
    y = y[chosen]
    if task == "regression":
        if len(y) < 2 * FEWEST or y.std() == 0:
            return None
        folds = KFold(FOLDS, shuffle=True, random_state=0)
        trees = ExtraTreesRegressor(50, random_state=0)
        predicted = cross_val_predict(trees, X, y, cv=folds)
        return float(np.corrcoef(predicted, y)[0, 1] * np.sqrt(len(y)))
    values, sizes = np.unique(y, return_counts=True)
    if len(values) < 2 or sizes.min() < FEWEST:
        return None
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    trees = ExtraTreesClassifier(50, class_weight="balanced", random_state=0)
    predicted = cross_val_predict(trees, X, y, cv=folds)
    recalls = [(predicted[y == value] == value).mean() for value in values]
    chance = 1 / len(values)
    error = np.sqrt((chance * (1 - chance) / sizes).sum()) / len(values)
    return float((np.mean(recalls) - chance) / error)
