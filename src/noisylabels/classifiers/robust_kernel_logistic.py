"""Kernel logistic regression that estimates how often the labels of each class were flipped."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.bases.posterior import TrueLabelPosterior
from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression
from noisylabels.kernels.gaussian import Basis
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic.em_newton import em_newton
from noisylabels.solvers.flipped_logistic.priors import marginal_zeta, prior_factor_value
from noisylabels.solvers.flipped_logistic.readings import columns
from noisylabels.validation import choice

Array = NDArray[np.float64]

REGULARISATIONS = ("fixed", "bayes")


class RobustKernelLogisticRegression(TrueLabelPosterior, KernelLogisticRegression):
    """max_{w, b, Omega} sum_n log P~_n - zeta ||w||^2,  P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f).

    P~_n is the probability of the observed label, sigma(f) that of the true one: classes are predicted by f.
    The objective is not concave; both solvers start from w = 0, omega_01 = omega_10 = 0.2.
    With K > 2 classes P~^k = sum_j omega_jk s_j(f), s the softmax of f as in `KernelLogisticRegression`, and
    all omega_jj start at 0.8; Omega is identified by omega_jj being the largest entry of its row and column.

    width, parametrisation, zeta, bias, penalty : as in `KernelLogisticRegression`.
    regularisation : "fixed"; or "bayes", zeta is reread from the marginal prior of what is penalised after
        every round of "em_newton" (the argument zeta is then not used); two classes only.
    prior_factor : of "bayes": "slides" or "exact", see `marginal_zeta`.
    solver : "lbfgs" for (w, Omega) jointly, or "em_newton", a Newton step and an update of Omega in turn.

    Fitted: X_fit_ (n, d), width_, dual_coef_ = w, (n,) or (n, K), intercept_ = b, () or (K,), classes_ (K,),
    flip_matrix_ (K, K) with rows = true classes, zeta_, objective_, converged_,
    flags_ (not_converged, classes_swapped: Omega was then reset) and flagged_.
    Raises ValueError : labels of one class, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6); K classes: Bootkrajang and Kaban, ECML PKDD
    2012.
    """

    name = "robust_kernel_logistic"
    robust: ClassVar[bool] = True

    def __init__(
        self,
        width: float | str = "scale",
        zeta: float = 1.0,
        *,
        parametrisation: str = "sigma2",
        bias: str = "none",
        penalty: str = "weights",
        regularisation: str = "fixed",
        prior_factor: str = "slides",
        solver: str = "lbfgs",
    ) -> None:
        super().__init__(
            width, zeta, parametrisation=parametrisation, bias=bias, penalty=penalty, solver=solver
        )
        self.regularisation = regularisation
        self.prior_factor = prior_factor

    def _solve(self, basis: Basis, labels: Array) -> None:
        self._check_regularisation()
        factor = prior_factor_value(self.prior_factor)
        self.zeta_, swapped = float(self.zeta), False
        if self.solver == "lbfgs" and self.regularisation == "fixed":
            batch = self._from_batch(basis, labels, self.zeta_)
            self.flip_matrix_ = flip_matrix.from_rates(batch.omega01[0], batch.omega10[0])
            swapped = flip_matrix.permuted(self.flip_matrix_)
        if self.solver == "em_newton" or self.regularisation == "bayes" or swapped:
            swapped |= self._em_newton(basis, labels, factor)
        self._doubt(not_converged=not self.converged_, classes_swapped=swapped)

    def _check_regularisation(self) -> None:
        choice("regularisation", self.regularisation, REGULARISATIONS)

    def _solve_softmax(self, basis: Basis, labels: NDArray[np.intp]) -> None:
        self._check_regularisation()
        if self.regularisation == "bayes":
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass; "
                'regularisation="fixed" takes it'
            )
        self.zeta_ = float(self.zeta)
        super()._solve_softmax(basis, labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.regularisation == "fixed"
        return tags

    def _em_newton(self, basis: Basis, labels: Array, factor: float) -> bool:
        """Sets what is fitted; whether the classes changed names."""
        reading = columns(basis, self.bias, self.penalty)
        mask, weights = reading.mask, len(labels) + (self.bias == "penalised")
        bayes = self.regularisation == "bayes"
        if bayes:
            self.zeta_ = marginal_zeta(0.0, weights, factor)
        em = em_newton(
            reading.Z,
            labels,
            self.zeta_ * mask,
            flip_matrix.START,
            reread=(lambda v: marginal_zeta(float(mask @ v**2), weights, factor) * mask) if bayes else None,
        )
        self._from_em(basis, reading, em)
        self.flip_matrix_, self.zeta_ = em.omega, float(em.penalty[0])
        return em.label_swap
