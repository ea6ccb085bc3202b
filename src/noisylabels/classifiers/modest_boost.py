"""Modest AdaBoost over small trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.boosting import TreeBoostingClassifier
from noisylabels.losses.exponential import FlippedExponential

Array = NDArray[np.float64]


class _Modest(FlippedExponential):
    """a_i ~ exp(-s_i H_i / sum_j |H_j|), from the whole score; each tree is added as it is."""

    def weigh(self, H: Array) -> tuple[Array, Array]:
        """The weights (n,), which sum to 1, and the labels (n,)."""
        weights = np.exp(-self.s * H / (np.abs(H).sum() or 1.0))
        return weights / weights.sum(), self.s

    def step(self, h: Array) -> float:
        """alpha = 1."""
        return 1.0


class ModestBoostClassifier(TreeBoostingClassifier):
    """H = sum_t sum_l v_l 1(x in leaf l of tree t),  v_l = P_l (1 - P'_l) - N_l (1 - N'_l).

    P_l and N_l are the weights a of the positive and the negative points in the leaf, P'_l and N'_l the same
    with the inverse weights a' ~ 1 / a; a leaf where v_l and P_l - N_l disagree in sign is left out.
    Then a_i ~ exp(-s_i H_i / sum_j |H_j|).
    rounds : T.   splits : of each tree.   random_state : which of two equally good splits a tree takes.

    Fitted: members_, the T trees, each with the values of its nodes; steps_ (T,), ones; log_losses_ (T,), the
    log of the mean of exp(-s H) after each round; classes_ (2,).
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Vezhnevets and Vezhnevets, GraphiCon 2005, and the authors' toolbox.
    """

    name = "modest_boost"

    def __init__(self, *, rounds: int = 100, splits: int = 3, random_state: Any = None) -> None:
        self.rounds = rounds
        self.splits = splits
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> ModestBoostClassifier:
        """Boost for X (n, d) and the labels y (n,)."""
        X, s = self._checked(X, y)

        def leaf_values(tree: Any, leaves: NDArray[np.intp], weights: Array) -> Array:
            inverse = 1.0 / weights
            inverse /= inverse.sum()

            def mass(points: NDArray[np.bool_], a: Array) -> Array:
                return np.bincount(leaves, np.where(points, a, 0.0), tree.node_count).astype(float)

            P, N = mass(s > 0, weights), mass(s < 0, weights)
            v = P * (1.0 - mass(s > 0, inverse)) - N * (1.0 - mass(s < 0, inverse))
            return np.where(np.sign(v) == np.sign(P - N), v, 0.0)

        self._boost(X, _Modest(s), leaf_values)
        return self
