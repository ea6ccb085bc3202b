"""The exponential loss with flipped labels: a exp(-s H) + b exp(s H), its weights and its exact line search.

With (gamma01, gamma10) the rates of the flips 0 -> 1 and 1 -> 0 a point that is labelled +1 costs (1 - gamma01) exp(-H) +
gamma01 exp(H), one that is labelled -1 costs (1 - gamma10) exp(H) + gamma10 exp(-H). gamma = 0 is AdaBoost's loss.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (11)-(15). There is a closed form for the step of (15).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def mixture(s: ArrayLike, gamma: tuple[float, float], loss_weights: str = "convex") -> tuple[Array, Array]:
    """(a, b), (n,) each, of labels s (n,) of -1 and +1; loss_weights: see `RBoostClassifier`."""
    raise NotImplementedError


def value(H: ArrayLike, s: ArrayLike, gamma: tuple[float, float], loss_weights: str = "convex") -> Array:
    """a exp(-s H) + b exp(s H), elementwise: the loss as the paper draws it."""
    raise NotImplementedError


def exact_step(agree: float, disagree: float) -> float:
    """alpha = 1/2 log(agree / disagree), where J(H + alpha h) is smallest.

    agree = sum_{h = s} w^a + sum_{h != s} w^b,  disagree = sum_{h = s} w^b + sum_{h != s} w^a.
    """
    raise NotImplementedError


class FlippedExponential:
    """J(H) = sum_i a_i exp(-s_i H_i) + b_i exp(s_i H_i) of n points, and its weights at the current H."""

    def __init__(
        self,
        s: Array,
        gamma: tuple[float, float] = (0.0, 0.0),
        loss_weights: str = "convex",
        negative_weights: str = "flip",
    ) -> None:
        self.s = s
