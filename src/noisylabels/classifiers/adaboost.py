"""AdaBoost over linear base classifiers."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.boosting import LinearBoostingClassifier
from noisylabels.losses.exponential import FlippedExponential


class AdaBoostClassifier(LinearBoostingClassifier):
    """H = sum_t alpha_t h_t,  h_t(x) = sign(b_t + x.w_t),  alpha_t = 1/2 log((1 - e_t) / e_t).

    e_t is the weighted error of h_t.
    base : "logistic", or "robust_logistic", which starts at random and learns flip rates in every round.
    rounds : T.   weighting : "resample" fits a member to n draws from the weights, "reweight" to the weights.
    lam : penalty lam ||w||^2 of a member, whose weights sum to n; the bias is free.
    newton_steps : at most so many for a member.

    Fitted: members_ (T, 1 + d), the rows (b_t, w_t); steps_ (T,), the alpha_t; log_losses_ (T,), the log of
    the mean of exp(-s H) after each round; classes_ (2,).
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Freund and Schapire 1997; the bases: Kaban and Bootkrajang, LABELNOISE 2017.
    """

    name = "adaboost"

    def __init__(
        self,
        base: str = "logistic",
        *,
        rounds: int = 100,
        weighting: str = "resample",
        lam: float = 1e-3,
        newton_steps: int = 15,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.rounds = rounds
        self.weighting = weighting
        self.lam = lam
        self.newton_steps = newton_steps
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> AdaBoostClassifier:
        """Boost for X (n, d) and the labels y (n,)."""
        X, s = self._checked(X, y)
        self._boost(X, FlippedExponential(s))
        return self
