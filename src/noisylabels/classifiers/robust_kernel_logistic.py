"""Kernel logistic regression that estimates how often the labels of each class were flipped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.bases.posterior import TrueLabelPosterior
from noisylabels.classifiers.kernel_logistic import TOLERANCE, KernelLogisticRegression
from noisylabels.kernels.gaussian import Basis
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic.batch import fit_batch
from noisylabels.solvers.flipped_logistic.em_newton import em_newton
from noisylabels.solvers.flipped_logistic.priors import marginal_zeta, prior_factor_value

Array = NDArray[np.float64]

REGULARISATIONS = ("fixed", "bayes")


class RobustKernelLogisticRegression(TrueLabelPosterior, KernelLogisticRegression):
    """max_{w, Omega} sum_n log P~_n - zeta ||w||^2,  P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f).

    P~_n is the probability of the observed label, sigma(f) that of the true one: classes are predicted by f.
    The objective is not concave; both solvers start from w = 0, omega_01 = omega_10 = 0.2.
    width, parametrisation, zeta : as in `KernelLogisticRegression`.
    regularisation : "fixed"; or "bayes", zeta is reread from the marginal prior of w after every round of
        "em_newton" (the argument zeta is then not used).
    prior_factor : of "bayes": "slides" or "exact", see `marginal_zeta`.
    solver : "lbfgs" for (w, Omega) jointly, or "em_newton", a Newton step and an update of Omega in turn.

    Fitted: X_fit_ (n, d), dual_coef_ (n,) = w, classes_ (2,), flip_matrix_ (2, 2) with rows = true classes,
    zeta_, objective_, converged_,
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
        regularisation: str = "fixed",
        prior_factor: str = "slides",
        solver: str = "lbfgs",
    ) -> None:
        super().__init__(width, zeta, parametrisation=parametrisation, solver=solver)
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
            batch = fit_batch(
                basis,
                labels[np.newaxis],
                np.zeros(1, np.int64),
                np.array([self.zeta_]),
                robust=True,
                tolerance=TOLERANCE,
            )
            self.flip_matrix_ = flip_matrix.from_rates(batch.omega01[0], batch.omega10[0])
            v, self.objective_, self.converged_ = batch.v[0], -batch.objective[0], bool(batch.converged[0])
            swapped = flip_matrix.swapped(self.flip_matrix_)
        if self.solver == "em_newton" or self.regularisation == "bayes" or swapped:
            n, r = len(labels), len(basis.lam)
            bayes = self.regularisation == "bayes"
            if bayes:
                self.zeta_ = marginal_zeta(0.0, n, factor)
            em = em_newton(
                basis.Q * basis.lam,
                labels,
                np.full(r, self.zeta_),
                flip_matrix.START,
                reread=(lambda v: np.full(r, marginal_zeta(float(v @ v), n, factor))) if bayes else None,
            )
            v, self.flip_matrix_, self.zeta_ = em.v, em.omega, float(em.penalty[0])
            self.objective_, self.converged_ = em.objectives[-1], em.converged
            swapped = swapped or em.label_swap
        self.dual_coef_ = basis.Q @ v
        self._doubt(not_converged=not self.converged_, classes_swapped=swapped)
