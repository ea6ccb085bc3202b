"""Kernel logistic regression, on labels taken as true or with estimated flip rates, for K >= 2 classes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from noisylabels.classifiers.base import FitFlags, TrueLabelPosterior, bounded, classes_of, example_weights
from noisylabels.classifiers.kernel import (
    Fits,
    KernelClassifier,
    label_columns,
    majority,
    silent,
    with_majority,
)
from noisylabels.kernels.gaussian import Basis, Gram, Parametrisation, basis
from noisylabels.noise import flip_matrix
from noisylabels.solvers import flipped_softmax
from noisylabels.solvers.flipped_logistic import (
    Bias,
    Columns,
    EMFit,
    Penalty,
    PriorFactor,
    check_variant,
    columns,
    em_newton,
    fit_batch,
    marginal_zeta,
    prior_factor_value,
)
from noisylabels.validation import Floats, choice, number, numbers

SMALLEST_ZETA = 1e-8
TOLERANCE = 1e-9  # of a single fit; `fit_many`, made for choosing among thousands, has that of `fit_batch`
Solver = Literal["lbfgs", "em_newton"]
Regularisation = Literal["fixed", "bayes"]


def check_zeta(zeta: float) -> None:
    """ValueError: zeta is not a finite number, or below 1e-8, where separable data have no solution."""
    number("zeta", zeta, least=SMALLEST_ZETA)


class SoftmaxModel(FitFlags):
    """Logistic models of K >= 2 classes by a softmax solver.

    robust : whether flip_matrix_ is learned, else it is the identity, and not an attribute.
    """

    robust: ClassVar[bool]
    classes_: NDArray[Any]
    flip_matrix_: Floats
    objective_: float
    converged_: bool

    def _examples(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Floats, NDArray[np.intp], Floats | None]:
        """Checked X (n, d), class numbers (n,) and weights (n,) > 0, or None for 1; sets classes_."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = classes_of(y)
        bounded(X)
        labels = np.searchsorted(self.classes_, y)
        weights = example_weights(X, y, sample_weight)
        if weights is None:
            return X, labels, None
        used = weights > 0
        return X[used], labels[used], weights[used]

    def _softmax(
        self,
        Z: Floats,
        penalty: Floats,
        labels: NDArray[np.intp],
        weights: Floats | None,
        solver: str = "lbfgs",
    ) -> Floats:
        """The weights (r, C) of the columns of Z (n, r): C = 1 for two classes, the log-odds; else C = K.

        penalty (r,) : of each column.   labels (n,) : 0..K-1.   weights (n,) : of the examples.
        Sets flip_matrix_, objective_, converged_ and the flags.
        """
        K = len(self.classes_)
        omega = flip_matrix.start(K) if self.robust else np.eye(K)
        method = flipped_softmax.lbfgs if solver == "lbfgs" else flipped_softmax.em_newton
        fit = method(Z, labels, penalty, omega, learn_omega=self.robust, weights=weights)
        self.objective_, self.converged_ = fit.objectives[-1], fit.converged
        if self.robust:
            self.flip_matrix_ = fit.omega
        self._flag(not_converged=not fit.converged, classes_swapped=self.robust and fit.permuted)
        return fit.W if K > 2 else fit.W[:, 1:] - fit.W[:, :1]


@dataclass(eq=False, repr=False)
class KernelLogisticRegression(SoftmaxModel, KernelClassifier):
    """max_{w, b} sum_n log sigma((2 y_n - 1) f(x_n)) - zeta ||w||^2,  f(x) = sum_n w_n kappa(x, x_n) + b.

    With K > 2 classes sigma is the softmax of f = (f_1, ..., f_K), sum_k f_k = 0, and the penalty
    2 zeta sum_k ||w_k||^2, which for two classes is the one above. Weights of examples: see
    `NystromLogisticRegression`.

    width, parametrisation : of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`; or "scale", see
        `noisylabels.kernels.gaussian.width_of`.   zeta : >= 1e-8.
    bias : "none", b = 0; "free", b is not penalised; "penalised", zeta b^2 is added to the penalty.
    penalty : "weights", zeta ||w||^2; or "rkhs", zeta w^T K w, the norm of the function space.
        The paper's formula is "none" with "weights"; which variant its tables used is an open question.
    solver : "lbfgs", or "em_newton", the plain reference.

    Fitted: X_fit_ (n, d), width_, dual_coef_ = w, (n,) or (n, K), intercept_ = b, () or (K,), classes_ (K,),
    objective_ (the maximum), converged_, flags_ (not_converged) and flagged_.
    Raises ValueError: labels of one class, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1) with Omega = I.
    """

    name = "kernel_logistic"
    MULTICLASS: ClassVar[bool] = True
    robust: ClassVar[bool] = False
    GRID: ClassVar[list[float]] = [2.0**k for k in range(-10, 11, 2)]

    width: float | str = "scale"
    zeta: float = 1.0
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    bias: Bias = "none"
    penalty: Penalty = "weights"
    solver: Solver = "lbfgs"

    def fit(self, X: Any, y: ArrayLike) -> KernelLogisticRegression:
        """Fit to X (n, d) and the labels y (n,)."""
        check_zeta(self.zeta)
        choice("solver", self.solver, get_args(Solver))
        check_variant(self.bias, self.penalty)
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
        variant = columns(basis, self.bias, self.penalty)
        theta = self._softmax(variant.Z, float(self.zeta) * variant.mask, labels, None, self.solver)
        v, self.intercept_ = variant.weights(theta.T)
        self.dual_coef_ = basis.Q @ v.T

    def _solve(self, basis: Basis, labels: Floats) -> None:
        """Sets dual_coef_, intercept_, objective_, converged_ and the flags."""
        if self.solver == "lbfgs":
            self._from_batch(basis, labels, float(self.zeta))
        else:
            variant = columns(basis, self.bias, self.penalty)
            penalties = float(self.zeta) * variant.mask
            self._from_em(
                basis, variant, em_newton(variant.Z, labels, penalties, np.eye(2), learn_omega=False)
            )
        self._flag(not_converged=not self.converged_)

    def _from_batch(self, basis: Basis, labels: Floats, zeta: float) -> Floats:
        """Omega of the solution of L-BFGS; sets dual_coef_, intercept_, objective_ and converged_."""
        column, grid = np.zeros(1, np.int64), np.array([zeta])
        batch = fit_batch(
            basis, labels[np.newaxis], column, grid, self.robust, TOLERANCE, self.bias, self.penalty
        )
        self.dual_coef_, self.intercept_ = basis.Q @ batch.v[0], float(batch.bias[0])
        self.objective_, self.converged_ = -float(batch.objective[0]), bool(batch.converged[0])
        return flip_matrix.from_rates(batch.omega01[0], batch.omega10[0])

    def _from_em(self, basis: Basis, variant: Columns, em: EMFit) -> None:
        """Sets dual_coef_, intercept_, objective_ and converged_ from the solution of EM-Newton."""
        v, b = variant.weights(em.v[np.newaxis])
        self.dual_coef_, self.intercept_ = basis.Q @ v[0], float(b[0])
        self.objective_, self.converged_ = em.objectives[-1], em.converged

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        bias: Bias = "none",
        penalty: Penalty = "weights",
    ) -> Fits:
        """One model per column of labels (n, L), 0 or 1, and per zeta in grid (G,), all on one kernel.

        A column with one class only gets f = +-1 everywhere, flagged. Also flagged: not converged, f = 0 at
        all held-out points (there the more frequent observed class is predicted), classes swapped.
        Raises ValueError: labels other than 0 and 1, zeta < 1e-8, unknown bias or penalty.
        """
        zeta = numbers("zeta", grid, least=SMALLEST_ZETA)
        check_variant(bias, penalty)
        y = label_columns(labels, len(gram.K))
        L, G, side = len(y), len(zeta), majority(y)
        scores = np.tile(side[:, np.newaxis, np.newaxis], (1, G, len(gram.K_out)))
        omega01, omega10, flagged = np.full((L, G), np.nan), np.full((L, G), np.nan), np.ones((L, G), bool)
        mixed = np.flatnonzero((y.min(axis=1) == 0.0) & (y.max(axis=1) == 1.0))
        if len(mixed):
            column, zetas = np.repeat(mixed, G), np.tile(zeta, len(mixed))
            batch = fit_batch(gram.basis, y, column, zetas, cls.robust, bias=bias, penalty=penalty)
            f = batch.v @ gram.Z_out.T + batch.bias[:, np.newaxis]
            scores[mixed] = with_majority(f, np.repeat(side[mixed], G)).reshape(len(mixed), G, -1)
            swap = batch.omega01 + batch.omega10 >= 1.0
            flagged[mixed] = (~batch.converged | swap | silent(f)).reshape(-1, G)
            if cls.robust:
                omega01[mixed], omega10[mixed] = batch.omega01.reshape(-1, G), batch.omega10.reshape(-1, G)
        return Fits(scores, omega01, omega10, flagged)


@dataclass(eq=False, repr=False)
class RobustKernelLogisticRegression(TrueLabelPosterior, KernelLogisticRegression):
    """max_{w, b, Omega} sum_n log P~_n - zeta ||w||^2,  P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f).

    P~_n is the probability of the observed label, sigma(f) that of the true one: classes are predicted by f.
    The objective is not concave; both solvers start from w = 0, omega_01 = omega_10 = 0.2.
    With K > 2 classes P~^k = sum_j omega_jk s_j(f), s the softmax of f as in `KernelLogisticRegression`, and
    all omega_jj start at 0.8; Omega is identified by omega_jj being the largest entry of its row and column.

    width, parametrisation, zeta, bias, penalty : as in `KernelLogisticRegression`.
    regularisation : "fixed"; or "bayes", zeta is updated from the marginal prior of what is penalised after
        every round of "em_newton" (the argument zeta is then not used); two classes only.
    prior_factor : of "bayes": "slides" or "exact", see `marginal_zeta`.
    solver : "lbfgs" for (w, Omega) jointly, or "em_newton", a Newton step and an update of Omega in turn.

    Fitted: X_fit_ (n, d), width_, dual_coef_ = w, (n,) or (n, K), intercept_ = b, () or (K,), classes_ (K,),
    flip_matrix_ (K, K) with rows = true classes, zeta_, objective_, converged_,
    flags_ (not_converged, classes_swapped: Omega was then reset) and flagged_.
    Raises ValueError: labels of one class, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6); K classes: Bootkrajang and Kaban, ECML PKDD
    2012.
    """

    name = "robust_kernel_logistic"
    robust: ClassVar[bool] = True

    _: KW_ONLY
    regularisation: Regularisation = "fixed"
    prior_factor: PriorFactor = "slides"

    def _solve(self, basis: Basis, labels: Floats) -> None:
        choice("regularisation", self.regularisation, get_args(Regularisation))
        factor = prior_factor_value(self.prior_factor)
        self.zeta_, swapped = float(self.zeta), False
        if self.solver == "lbfgs" and self.regularisation == "fixed":
            self.flip_matrix_ = self._from_batch(basis, labels, self.zeta_)
            swapped = flip_matrix.permuted(self.flip_matrix_)
        if self.solver == "em_newton" or self.regularisation == "bayes" or swapped:
            swapped |= self._em_newton(basis, labels, factor)
        self._flag(not_converged=not self.converged_, classes_swapped=swapped)

    def _solve_softmax(self, basis: Basis, labels: NDArray[np.intp]) -> None:
        choice("regularisation", self.regularisation, get_args(Regularisation))
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

    def _em_newton(self, basis: Basis, labels: Floats, factor: float) -> bool:
        """Sets what is fitted; whether the classes changed names."""
        variant = columns(basis, self.bias, self.penalty)
        mask, weights = variant.mask, len(labels) + (self.bias == "penalised")
        bayes = self.regularisation == "bayes"
        if bayes:
            self.zeta_ = marginal_zeta(0.0, weights, factor)
        em = em_newton(
            variant.Z,
            labels,
            self.zeta_ * mask,
            flip_matrix.START,
            penalty_of=(lambda v: marginal_zeta(float(mask @ v**2), weights, factor) * mask)
            if bayes
            else None,
        )
        self._from_em(basis, variant, em)
        self.flip_matrix_, self.zeta_ = em.omega, float(em.penalty[0])
        return em.label_swap
