"""Kernel logistic regression that estimates how often the labels of each class were flipped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.bases.posterior import TrueLabelPosterior
from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression
from noisylabels.kernels.gaussian import Basis
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic.em_newton import em_newton
from noisylabels.solvers.flipped_logistic.priors import marginal_zeta, prior_factor_value
from noisylabels.solvers.flipped_logistic.readings import columns

Array = NDArray[np.float64]

REGULARISATIONS = ("fixed", "bayes")


class RobustKernelLogisticRegression(TrueLabelPosterior, KernelLogisticRegression):
    """max_{w, b, Omega} sum_n log P~_n - zeta ||w||^2,  P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f).

    P~_n is the probability of the observed label, sigma(f) that of the true one: classes are predicted by f.
    The objective is not concave; both solvers start from w = 0, omega_01 = omega_10 = 0.2.
    width, parametrisation, zeta, bias, penalty : as in `KernelLogisticRegression`.
    regularisation : "fixed"; or "bayes", zeta is reread from the marginal prior of what is penalised after
        every round of "em_newton" (the argument zeta is then not used).
    prior_factor : of "bayes": "slides" or "exact", see `marginal_zeta`.
    solver : "lbfgs" for (w, Omega) jointly, or "em_newton", a Newton step and an update of Omega in turn.

    Fitted: X_fit_ (n, d), dual_coef_ (n,) = w, intercept_ = b, classes_ (2,),
    flip_matrix_ (2, 2) with rows = true classes, zeta_, objective_, converged_,
    flags_ (not_converged, classes_swapped: Omega was then reset) and flagged_.
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6).
    """

    name = "robust_kernel_logistic"
    robust: ClassVar[bool] = True

    def __init__(
        self,
        width: float = 1.0,
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
        if self.regularisation not in REGULARISATIONS:
            raise ValueError(
                f"unknown regularisation {self.regularisation!r}; known: {', '.join(REGULARISATIONS)}"
            )
        factor = prior_factor_value(self.prior_factor)
        self.zeta_, swapped = float(self.zeta), False
        if self.solver == "lbfgs" and self.regularisation == "fixed":
            batch = self._from_batch(basis, labels, self.zeta_)
            self.flip_matrix_ = flip_matrix.from_rates(batch.omega01[0], batch.omega10[0])
            swapped = flip_matrix.swapped(self.flip_matrix_)
        if self.solver == "em_newton" or self.regularisation == "bayes" or swapped:
            swapped |= self._em_newton(basis, labels, factor)
        self._doubt(not_converged=not self.converged_, classes_swapped=swapped)

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
