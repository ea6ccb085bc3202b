"""rBoost: AdaBoost with a loss that knows how often labels are flipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.boosting import LinearBoostingClassifier
from noisylabels.bases.posterior import TrueLabelPosterior

Array = NDArray[np.float64]


class RBoostClassifier(TrueLabelPosterior, LinearBoostingClassifier):
    """min_H sum_i a_i exp(-s_i H_i) + b_i exp(s_i H_i),  H = sum_t alpha_t h_t, h_t(x) = sign(b_t + x.w_t).

    gamma : (gamma01, gamma10), rates of the flips 0 -> 1 and 1 -> 0, each in [0, 0.5).   learn_gamma : estimate
        them anew after every round from calibrated scores; gamma is then only the start.
    loss_weights : "convex", (a, b) = (1 - gamma01, gamma01) for s = +1 and (1 - gamma10, gamma10) for s = -1;
        "likelihood", (1 - gamma10, gamma01) and (1 - gamma01, gamma10).
    negative_weights : a point that the ensemble is too sure of has a weight < 0; "flip" teaches the base its
        opposite label, "clip" drops it for the round.
    base, rounds, weighting, lam, newton_steps, random_state : see `AdaBoostClassifier`.

    Fitted: what `AdaBoostClassifier` has; flip_matrix_ (2, 2), rows = true classes; gamma_path_ (T, 2), gamma01 and
    gamma10 after each round; calibration_ (A, B) of P(y = 1 | x) = 1 / (1 + exp(A H + B)); converged_ (gamma was
    given, or moved by less than 1e-3 in the last round); flagged_ and flags_, in words, what went wrong. Raises
    ValueError : wrong labels, parameters, trusted points. Source: Bootkrajang and Kaban, UAI 2013; Kaban and
    Bootkrajang, LABELNOISE 2017, eq. (11)-(22).
    """

    name = "rboost"

    def __init__(
        self,
        base: str = "logistic",
        *,
        gamma: tuple[float, float] = (0.2, 0.2),
        learn_gamma: bool = True,
        loss_weights: str = "convex",
        negative_weights: str = "flip",
        rounds: int = 100,
        weighting: str = "resample",
        lam: float = 1e-3,
        newton_steps: int = 15,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.gamma = gamma
        self.learn_gamma = learn_gamma
        self.loss_weights = loss_weights
        self.negative_weights = negative_weights
        self.rounds = rounds
        self.weighting = weighting
        self.lam = lam
        self.newton_steps = newton_steps
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, trusted: tuple[Any, ArrayLike] | None = None) -> RBoostClassifier:
        """Boost for X (n, d) and the observed labels y (n,).

        trusted : (X, y) of a few points with verified labels, on which the scores are calibrated; without
            them they are calibrated on the training points and their observed labels.
        """
        raise NotImplementedError
