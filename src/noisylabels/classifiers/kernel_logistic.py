"""Kernel logistic regression, which takes the observed labels for the true ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.doubts import Doubts
from noisylabels.bases.fits import Fits
from noisylabels.bases.kernel import KernelClassifier, settled, silent
from noisylabels.kernels.gaussian import Basis, Gram, basis, rbf, squared_distances
from noisylabels.solvers.flipped_logistic.batch import fit_batch
from noisylabels.solvers.flipped_logistic.em_newton import em_newton

Array = NDArray[np.float64]

SMALLEST_ZETA = 1e-8
TOLERANCE = 1e-9  # of a single fit; `fit_many`, made for choosing among thousands, has that of `fit_batch`
SOLVERS = ("lbfgs", "em_newton")


def checked_grid(zeta: ArrayLike) -> Array:
    """zeta as an array; ValueError: not finite, or below 1e-8, where separable data have no solution."""
    values = np.atleast_1d(np.asarray(zeta, dtype=float))
    if not (np.isfinite(values).all() and (values >= SMALLEST_ZETA).all()):
        raise ValueError(
            f"zeta, the weight of the penalty, must be finite and >= {SMALLEST_ZETA:g}, got {values.tolist()}"
        )
    return values


class KernelLogisticRegression(Doubts, KernelClassifier):
    """max_w sum_n log sigma((2 y_n - 1) f(x_n)) - zeta ||w||^2,  f(x) = sum_n w_n kappa(x, x_n).

    The penalty is the norm of the coefficients, not that of the function space; there is no bias.
    width, parametrisation : of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`.   zeta : >= 1e-8.
    solver : "lbfgs", or "em_newton", the plain reference.

    Fitted: X_fit_ (n, d), dual_coef_ (n,) = w, classes_ (2,), objective_ (the maximum), converged_,
    flags_ (not_converged) and flagged_.
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1) with Omega = I.
    """

    name = "kernel_logistic"
    robust: ClassVar[bool] = False
    GRID: ClassVar[list[float]] = [2.0**k for k in range(-10, 11, 2)]

    def __init__(
        self, width: float = 1.0, zeta: float = 1.0, *, parametrisation: str = "sigma2", solver: str = "lbfgs"
    ) -> None:
        self.width = width
        self.zeta = zeta
        self.parametrisation = parametrisation
        self.solver = solver

    def fit(self, X: Any, y: ArrayLike) -> KernelLogisticRegression:
        """Fit to X (n, d) and the labels y (n,)."""
        checked_grid(self.zeta)
        if self.solver not in SOLVERS:
            raise ValueError(f"unknown solver {self.solver!r}; known: {', '.join(SOLVERS)}")
        X, labels = self._checked(X, y)
        self._solve(basis(rbf(squared_distances(X), self.width, self.parametrisation)), labels)
        return self

    def _solve(self, basis: Basis, labels: Array) -> None:
        """Sets dual_coef_, objective_, converged_ and the flags."""
        if self.solver == "lbfgs":
            column, zeta = np.zeros(1, np.int64), np.array([float(self.zeta)])
            batch = fit_batch(basis, labels[np.newaxis], column, zeta, robust=False, tolerance=TOLERANCE)
            v, self.objective_, self.converged_ = batch.v[0], -batch.objective[0], bool(batch.converged[0])
        else:
            penalty = np.full(len(basis.lam), float(self.zeta))
            em = em_newton(basis.Q * basis.lam, labels, penalty, np.eye(2), learn_omega=False)
            v, self.objective_, self.converged_ = em.v, em.objectives[-1], em.converged
        self.dual_coef_ = basis.Q @ v
        self._doubt(not_converged=not self.converged_)

    @classmethod
    def fit_many(cls, gram: Gram, labels: NDArray[Any], grid: ArrayLike) -> Fits:
        """One model per column of labels (n, L), 0 or 1, and per zeta in grid (G,), all on one kernel.

        A column with one class only gets f = +-1 everywhere, flagged. Also flagged: not converged, f = 0 at
        all held-out points (there the more frequent observed class is predicted), classes swapped.
        Raises ValueError : labels other than 0 and 1, zeta < 1e-8.
        """
        zeta = checked_grid(grid)
        y = np.ascontiguousarray(np.asarray(labels, dtype=float).T)
        if y.ndim != 2 or y.shape[1] != len(gram.K):
            raise ValueError(f"labels must be (n, L) with n = {len(gram.K)}, got {np.shape(labels)}")
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError("labels must be 0 and 1")
        shape = (len(y), len(zeta))
        side = np.where(2.0 * y.sum(axis=1) >= y.shape[1], 1.0, -1.0)
        mixed = np.flatnonzero((y.min(axis=1) == 0.0) & (y.max(axis=1) == 1.0))
        scores = np.repeat(side[:, np.newaxis, np.newaxis], shape[1], axis=1).repeat(len(gram.K_out), axis=2)
        omega01, omega10 = np.full(shape, np.nan), np.full(shape, np.nan)
        flagged = np.ones(shape, bool)
        if len(mixed):
            batch = fit_batch(
                gram.basis, y, np.repeat(mixed, shape[1]), np.tile(zeta, len(mixed)), robust=cls.robust
            )
            f = batch.v @ gram.Z_out.T
            scores[mixed] = settled(f, np.repeat(side[mixed], shape[1])).reshape(len(mixed), shape[1], -1)
            swap = batch.omega01 + batch.omega10 >= 1.0
            flagged[mixed] = (~batch.converged | swap | silent(f)).reshape(-1, shape[1])
            if cls.robust:
                omega01[mixed] = batch.omega01.reshape(-1, shape[1])
                omega10[mixed] = batch.omega10.reshape(-1, shape[1])
        return Fits(scores, omega01, omega10, flagged)
