"""Linear logistic regression that estimates how often the labels of each class were flipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noisylabels.bases.labels import two_classes
from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.bases.posterior import TrueLabelPosterior
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic.em_newton import em_newton

Array = NDArray[np.float64]


class RobustLogisticRegression(TrueLabelPosterior, LinearBinaryClassifier):
    """max_{w, b, Omega} sum_n a_n log P~_n - lambda ||w||^2,  f = x.w + b,

    P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f). The bias is not penalised.
    A Newton step on the EM surrogate and an update of Omega in turn.

    lam : lambda > 0.   learn_omega : False keeps Omega at its start; with the identity this is plain logistic
        regression.   omega : Omega (2, 2) at the start, rows = true classes.   max_iter : rounds.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), flip_matrix_ (2, 2), objectives_ per round,
    n_iter_, converged_, flags_ (not_converged, classes_swapped: Omega was then reset) and flagged_.
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters, weights < 0.
    Source: Bootkrajang and Kaban, ECML PKDD 2012; the start of Omega is that of their public code.
    """

    name = "robust_logistic"

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        omega: ArrayLike = ((0.8, 0.2), (0.2, 0.8)),
        learn_omega: bool = True,
        max_iter: int = 500,
    ) -> None:
        self.lam = lam
        self.omega = omega
        self.learn_omega = learn_omega
        self.max_iter = max_iter

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RobustLogisticRegression:
        """Fit to X (n, d) and the labels y (n,), with weights a (n,) >= 0 of the examples, 1 if not given."""
        if not (self.lam > 0 and np.isfinite(self.lam)):
            raise ValueError(f"lam, the weight of the penalty, must be finite and > 0, got {self.lam}")
        if self.max_iter < 1:
            raise ValueError(f"max_iter must be at least 1, got {self.max_iter}")
        omega = flip_matrix.checked(self.omega)
        X, y = validate_data(self, X, y, dtype=np.float64)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.classes_ = two_classes(y)
        labels = (y == self.classes_[1]).astype(float)
        if min(weights @ labels, weights @ (1.0 - labels)) <= 0.0:
            raise ValueError(
                "sample_weight leaves one class only: some example of each class needs a weight > 0"
            )
        Z = np.column_stack([np.ones(len(X)), X])
        penalty = np.full(Z.shape[1], float(self.lam))
        penalty[0] = 0.0
        em = em_newton(
            Z, labels, penalty, omega, learn_omega=self.learn_omega, weights=weights, rounds=self.max_iter
        )
        self.coef_, self.intercept_ = em.v[np.newaxis, 1:].copy(), em.v[:1].copy()
        self.flip_matrix_, self.objectives_ = em.omega, em.objectives
        self.converged_, self.n_iter_ = em.converged, len(em.objectives)
        self._doubt(not_converged=not em.converged, classes_swapped=em.label_swap)
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(y = 0 | x) and P(y = 1 | x) = sigma(f(x)) of the true label, (n, 2)."""
        p = expit(self.decision_function(X))
        return np.column_stack([1.0 - p, p])

    def decision_function(self, X: Any) -> Array:
        """f(x) per row of X (n, d); ValueError: not fitted, other features."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
