"""Linear logistic regression that estimates how often the labels of each class were flipped."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.classifiers.base import LinearBinaryClassifier, TrueLabelPosterior, Weighted
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_softmax import em_newton
from noisylabels.validation import flag, number, whole


@dataclass(eq=False, repr=False)
class RobustLogisticRegression(Weighted, TrueLabelPosterior, LinearBinaryClassifier):
    """max_{w, b, Omega} sum_n a_n log P~_n - lambda ||w||^2,  f = x.w + b,

    P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f). The bias is not penalised.
    A Newton step on the EM surrogate and an update of Omega in turn.

    With K > 2 classes P~^k = sum_j omega_jk s_j(f), s the softmax of f = (f_1, ..., f_K), sum_k f_k = 0, and
    the penalty is 2 lambda sum_k ||w_k||^2, which for two classes is the one above. Omega is identified by
    omega_jj being the largest entry of its row and column.

    lam : lambda > 0.   learn_omega : False keeps Omega at its start; with the identity this is plain logistic
        regression.   omega : Omega (K, K) at the start, rows = true classes; the default stands for
        omega_jj = 0.8 and equal others.   max_iter : rounds.

    Fitted: coef_ (1, d), intercept_ (1,), or (K, d) and (K,); classes_ (K,), flip_matrix_ (K, K),
    objectives_ per round, n_iter_, converged_, flags_ (not_converged, classes_swapped: Omega was then reset)
    and flagged_.
    Raises ValueError: labels of one class, NaN or infinity, wrong parameters, weights < 0.
    Source: Bootkrajang and Kaban, ECML PKDD 2012; the start of Omega is that of their public code.
    """

    name = "robust_logistic"
    SPARSE: ClassVar[bool] = False
    MULTICLASS: ClassVar[bool] = True

    lam: float = 1e-3
    _: KW_ONLY
    omega: ArrayLike = ((0.8, 0.2), (0.2, 0.8))
    learn_omega: bool = True
    max_iter: int = 500

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RobustLogisticRegression:
        """Fit to X (n, d) and the labels y (n,), with weights a (n,) >= 0 of the examples, 1 if not given."""
        number("lam", self.lam, above=0)
        flag("learn_omega", self.learn_omega)
        whole("max_iter", self.max_iter, 1)
        X, labels, weights = self._examples(X, y, sample_weight)
        omega = flip_matrix.checked(self.omega, len(self.classes_))
        Z = np.column_stack([np.ones(len(X)), X])
        penalty = np.full(Z.shape[1], float(self.lam))
        penalty[0] = 0.0
        em = em_newton(
            Z, labels, penalty, omega, learn_omega=self.learn_omega, weights=weights, rounds=self.max_iter
        )
        W = em.theta.T.reshape(-1, Z.shape[1])
        self.coef_, self.intercept_ = W[:, 1:].copy(), W[:, 0].copy()
        self.flip_matrix_, self.objectives_ = em.omega, em.objectives
        self.converged_, self.n_iter_ = em.converged, len(em.objectives)
        self._flag(not_converged=not em.converged, classes_swapped=em.permuted)
        return self

    def _log_odds_are_f(self) -> bool:
        return True
