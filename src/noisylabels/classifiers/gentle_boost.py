"""GentleBoost over small regression trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.boosting import TreeBoostingClassifier
from noisylabels.losses.exponential import FlippedExponential


class _WholeStep(FlippedExponential):
    """AdaBoost's weights; each tree is added as it is."""

    def step(self, h: NDArray[np.float64]) -> float:
        """alpha = 1."""
        return 1.0


class GentleBoostClassifier(TreeBoostingClassifier):
    """H = sum_t g_t,  g_t the regression tree that fits s_i = +-1 by least squares, weights exp(-s_i H_i).

    rounds : T.   splits : of each tree.   random_state : which of two equally good splits a tree takes.

    Fitted: members_, the T trees, each with the values of its nodes; steps_ (T,), ones; log_losses_ (T,), the
    log of the mean of exp(-s H) after each round; classes_ (2,).
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Friedman, Hastie and Tibshirani, Annals of Statistics 28, 2000, algorithm 4.
    """

    name = "gentle_boost"

    def __init__(self, *, rounds: int = 100, splits: int = 3, random_state: Any = None) -> None:
        self.rounds = rounds
        self.splits = splits
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> GentleBoostClassifier:
        """Boost for X (n, d) and the labels y (n,)."""
        X, s = self._checked(X, y)
        self._boost(X, _WholeStep(s), lambda tree, leaves, weights: tree.value[:, 0, 0].copy())
        return self
