"""GentleBoost over small regression trees."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.boosting import TreeBoostingClassifier


class GentleBoostClassifier(TreeBoostingClassifier):
    """H = sum_t g_t,  g_t the regression tree that fits s_i = +-1 with weights exp(-s_i H_i) by least squares.

    rounds : T.   splits : of each tree.   random_state : which of two equally good splits a tree takes.

    Fitted: members_, the T trees; log_losses_ (T,), the log of mean exp(-s H) after each round; classes_ (2,). Raises
    ValueError : labels that are not two classes, NaN or infinity, wrong parameters. Source: Friedman, Hastie
    and Tibshirani, Annals of Statistics 28, 2000, algorithm 4.
    """

    name = "gentle_boost"

    def __init__(self, *, rounds: int = 100, splits: int = 3, random_state: Any = None) -> None:
        self.rounds = rounds
        self.splits = splits
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> GentleBoostClassifier:
        """Boost for X (n, d) and the labels y (n,)."""
        raise NotImplementedError
