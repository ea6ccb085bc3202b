"""Modest AdaBoost over small trees."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.boosting import TreeBoostingClassifier


class ModestBoostClassifier(TreeBoostingClassifier):
    """H = sum_t sum_l v_l 1(x in leaf l of tree t),  v_l = P+_l (1 - P-_l') - P-_l (1 - P-_l').

    P+-_l is the weight a of the class in the leaf, P'+-_l the same with the inverse weights a' ~ 1 / a; a leaf where
    v_l and P+_l - P-_l disagree in sign is left out. Then a_i ~ exp(-s_i H_i / sum_j |H_j|), from the whole score.
    rounds : T.   splits : of each tree.   random_state : which of two equally good splits a tree takes.

    Fitted: members_, the T trees; log_losses_ (T,), the log of mean exp(-s H) after each round; classes_ (2,). Raises
    ValueError : labels that are not two classes, NaN or infinity, wrong parameters. Source: Vezhnevets and
    Vezhnevets, GraphiCon 2005, and the authors' toolbox.
    """

    name = "modest_boost"

    def __init__(self, *, rounds: int = 100, splits: int = 3, random_state: Any = None) -> None:
        self.rounds = rounds
        self.splits = splits
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> ModestBoostClassifier:
        """Boost for X (n, d) and the labels y (n,)."""
        raise NotImplementedError
