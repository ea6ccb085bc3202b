"""Kernel logistic regression, which takes the observed labels for the true ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.fits import Fits
from noisylabels.bases.kernel import KernelClassifier, settled, silent
from noisylabels.bases.softmax import SoftmaxModel, check_solver
from noisylabels.kernels.gaussian import Basis, Gram, basis
from noisylabels.solvers.flipped_logistic.batch import Solution, fit_batch
from noisylabels.solvers.flipped_logistic.em_newton import EMFit, em_newton
from noisylabels.solvers.flipped_logistic.readings import Columns, check, columns
from noisylabels.validation import number, numbers

Array = NDArray[np.float64]

SMALLEST_ZETA = 1e-8
TOLERANCE = 1e-9  # of a single fit; `fit_many`, made for choosing among thousands, has that of `fit_batch`


def check_zeta(zeta: float) -> None:
    """ValueError: zeta is no finite number, or below 1e-8, where separable data have no solution."""
    number("zeta", zeta, least=SMALLEST_ZETA)


class KernelLogisticRegression(SoftmaxModel, KernelClassifier):
    """max_{w, b} sum_n log sigma((2 y_n - 1) f(x_n)) - zeta ||w||^2,  f(x) = sum_n w_n kappa(x, x_n) + b.

    With K > 2 classes sigma is the softmax of f = (f_1, ..., f_K), sum_k f_k = 0, and the penalty
    2 zeta sum_k ||w_k||^2, which for two classes is the one above. Weights of examples: see
    `NystromLogisticRegression`.

    width, parametrisation : of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`; or "scale", see
        `noisylabels.kernels.width`.   zeta : >= 1e-8.
    bias : "none", b = 0; "free", b is not penalised; "penalised", zeta b^2 is added to the penalty.
    penalty : "weights", zeta ||w||^2; or "rkhs", zeta w^T K w, the norm of the function space.
        The paper's formula is "none" with "weights"; what its tables come from is another question.
    solver : "lbfgs", or "em_newton", the plain reference.

    Fitted: X_fit_ (n, d), width_, dual_coef_ = w, (n,) or (n, K), intercept_ = b, () or (K,), classes_ (K,),
    objective_ (the maximum), converged_, flags_ (not_converged) and flagged_.
    Raises ValueError : labels of one class, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1) with Omega = I.
    """

    name = "kernel_logistic"
    robust: ClassVar[bool] = False
    GRID: ClassVar[list[float]] = [2.0**k for k in range(-10, 11, 2)]

    def __init__(
        self,
        width: float | str = "scale",
        zeta: float = 1.0,
        *,
        parametrisation: str = "sigma2",
        bias: str = "none",
        penalty: str = "weights",
        solver: str = "lbfgs",
    ) -> None:
        self.width = width
        self.zeta = zeta
        self.parametrisation = parametrisation
        self.bias = bias
        self.penalty = penalty
        self.solver = solver

    def fit(self, X: Any, y: ArrayLike) -> KernelLogisticRegression:
        """Fit to X (n, d) and the labels y (n,)."""
        check_zeta(self.zeta)
        check_solver(self.solver)
        check(self.bias, self.penalty)
        X, labels, _ = self._examples(X, y)
        self.X_fit_ = X
        space = basis(self._kernel(X))
        if len(self.classes_) == 2:
            self._solve(space, labels.astype(float))
        else:
            self._solve_softmax(space, labels)
        return self

    def _solve_softmax(self, basis: Basis, labels: NDArray[np.intp]) -> None:
        """`_solve` for K > 2 classes, labels (n,) of 0..K-1."""
        reading = columns(basis, self.bias, self.penalty)
        theta = self._softmax(reading.Z, float(self.zeta) * reading.mask, labels, None, self.solver)
        v, self.intercept_ = reading.weights(theta.T)
        self.dual_coef_ = basis.Q @ v.T

    def _solve(self, basis: Basis, labels: Array) -> None:
        """Sets dual_coef_, intercept_, objective_, converged_ and the flags."""
        if self.solver == "lbfgs":
            self._from_batch(basis, labels, float(self.zeta))
        else:
            reading = columns(basis, self.bias, self.penalty)
            penalties = float(self.zeta) * reading.mask
            em = em_newton(reading.Z, labels, penalties, np.eye(2), learn_omega=False)
            self._from_em(basis, reading, em)
        self._doubt(not_converged=not self.converged_)

    def _from_batch(self, basis: Basis, labels: Array, zeta: float) -> Solution:
        """The solution of L-BFGS; sets dual_coef_, intercept_, objective_ and converged_."""
        column, grid = np.zeros(1, np.int64), np.array([zeta])
        batch = fit_batch(
            basis, labels[np.newaxis], column, grid, self.robust, TOLERANCE, self.bias, self.penalty
        )
        self.dual_coef_, self.intercept_ = basis.Q @ batch.v[0], float(batch.bias[0])
        self.objective_, self.converged_ = -float(batch.objective[0]), bool(batch.converged[0])
        return batch

    def _from_em(self, basis: Basis, reading: Columns, em: EMFit) -> None:
        """Sets dual_coef_, intercept_, objective_ and converged_ from the solution of EM-Newton."""
        v, b = reading.weights(em.v[np.newaxis])
        self.dual_coef_, self.intercept_ = basis.Q @ v[0], float(b[0])
        self.objective_, self.converged_ = em.objectives[-1], em.converged

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        bias: str = "none",
        penalty: str = "weights",
    ) -> Fits:
        """One model per column of labels (n, L), 0 or 1, and per zeta in grid (G,), all on one kernel.

        A column with one class only gets f = +-1 everywhere, flagged. Also flagged: not converged, f = 0 at
        all held-out points (there the more frequent observed class is predicted), classes swapped.
        Raises ValueError : labels other than 0 and 1, zeta < 1e-8, unknown bias or penalty.
        """
        zeta = numbers("zeta", grid, least=SMALLEST_ZETA)
        check(bias, penalty)
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
            column, zetas = np.repeat(mixed, shape[1]), np.tile(zeta, len(mixed))
            batch = fit_batch(gram.basis, y, column, zetas, cls.robust, bias=bias, penalty=penalty)
            f = batch.v @ gram.Z_out.T + batch.bias[:, np.newaxis]
            scores[mixed] = settled(f, np.repeat(side[mixed], shape[1])).reshape(len(mixed), shape[1], -1)
            swap = batch.omega01 + batch.omega10 >= 1.0
            flagged[mixed] = (~batch.converged | swap | silent(f)).reshape(-1, shape[1])
            if cls.robust:
                omega01[mixed] = batch.omega01.reshape(-1, shape[1])
                omega10[mixed] = batch.omega10.reshape(-1, shape[1])
        return Fits(scores, omega01, omega10, flagged)
