"""Kernel logistic regression for K >= 2 classes, with labels taken as true or estimated flip rates.

`noisylabels.classifiers.nystrom_logistic` is for many rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import FitFlags, TrueLabelPosterior
from noisylabels.classifiers.kernel import (
    Fits,
    KernelClassifier,
    label_columns,
    silent,
    with_majority,
)
from noisylabels.kernels.gaussian import Basis, Gram, Parametrisation, basis
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers import flipped_kernel
from noisylabels.solvers.flipped_logistic import (
    Bias,
    Penalty,
    PriorFactor,
    check_variant,
    columns,
    fit_batch,
    marginal_zeta,
)
from noisylabels.validation import Floats, choice, number, numbers

SMALLEST_ZETA = 1e-8  # below this zeta, separable data have no solution
PRIOR_ROUNDS = 10  # rounds in which `fit_many` updates zeta and w in turn
TOLERANCE = 1e-9  # tolerance of a single fit; `fit_many` uses the wider one of `fit_batch`
Solver = Literal["lbfgs", "em_newton"]
Regularisation = Literal["fixed", "bayes"]
Penalties = tuple[Floats, Callable[[Floats], Floats] | None]
"""The penalty of each column (r,) at the start, and how it follows from theta."""


def __getattr__(name: str) -> Any:
    """Give the classes that were in this module before."""
    if name in ("NystromLogisticRegression", "RobustNystromLogisticRegression"):
        from noisylabels.classifiers import nystrom_logistic

        return getattr(nystrom_logistic, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class SoftmaxModel(FitFlags):
    """Logistic models of two or more classes, which a softmax solver fits.

    The class variable ``robust`` says whether the flip matrix is learned. If not, it is fixed to
    the identity, and there is no ``flip_matrix_``.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    flip_matrix_ : ndarray of shape (K, K), only if ``robust``
        Probability of each observed class, given the true one (rows).
    zeta_ : float
        The penalty that was used.
    objective_ : float
        The maximum that was found.
    converged_ : bool

    Examples
    --------
    >>> from noisylabels import KernelLogisticRegression, RobustKernelLogisticRegression
    >>> KernelLogisticRegression.robust, RobustKernelLogisticRegression.robust
    (False, True)
    """

    robust: ClassVar[bool]
    classes_: NDArray[Any]
    flip_matrix_: Floats
    zeta_: float
    objective_: float
    converged_: bool

    def _by_columns(
        self,
        Z: Floats,
        penalty: Floats,
        labels: NDArray[np.intp],
        weights: Floats | None = None,
        solver: str = "lbfgs",
        **options: Any,
    ) -> Floats:
        """Map the columns of Z (n, r) to decision values by weights: (r, 1) for two classes, else
        (r, K).

        penalty (r,) : of each column.   labels (n,) : 0..K-1.   weights (n,) : of the examples.
        Sets flip_matrix_, zeta_, objective_, converged_ and the flags.
        """
        from noisylabels.solvers import flipped_softmax

        K = len(self.classes_)
        omega = flips.start(K) if self.robust else np.eye(K)
        method = flipped_softmax.lbfgs if solver == "lbfgs" else flipped_softmax.em_newton
        fit = method(Z, labels, penalty, omega, learn_omega=self.robust, weights=weights, **options)
        self.objective_ = fit.objectives[-1]
        self.zeta_ = float(fit.penalty[0])
        self.converged_ = fit.converged
        if self.robust:
            self.flip_matrix_ = fit.omega
        self._flag(not_converged=not fit.converged, classes_swapped=self.robust and fit.permuted)
        return fit.theta.reshape(len(fit.theta), -1)


@dataclass(eq=False, repr=False)
class KernelLogisticRegression(SoftmaxModel, KernelClassifier):
    r"""Kernel logistic regression that trusts the labels, for two or more classes.

    Parameters
    ----------
    width : float or "scale", default "scale"
        Width of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`. "scale" follows the
        variance of the features, see `noisylabels.kernels.gaussian.width_of`.
    zeta : float, default 1.0
        Penalty, at least 1e-8.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    bias : {"none", "free", "penalised"}, default "none"
        No bias, one that is not penalised, or one penalised like a weight.
    penalty : {"weights", "rkhs"}, default "weights"
        Norm of the weights, or of the function space. The paper's formula has no bias and penalises
        the weights; which variant its tables used is an open question.
    solver : {"lbfgs", "em_newton"}, default "lbfgs"
        L-BFGS, or the plain reference.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows.
    width_ : float
        The width that was used.
    dual_coef_ : ndarray (n,) or (n, K)
        Weights of the training rows.
    intercept_ : float or ndarray (K,)
    classes_ : ndarray of shape (K,)
    objective_ : float
        The maximum that was found.
    zeta_ : float
        The penalty that was used.
    converged_ : bool
    flags_ : tuple of str
        ``not_converged``.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are of one class, features are NaN or infinite, or a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import KernelLogisticRegression
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelLogisticRegression().fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit maximises :math:`\sum_n a_n \log \sigma((2 y_n - 1) f(x_n)) - \zeta \sum_n a_n w_n^2`
    for :math:`f(x) = \sum_n a_n w_n \kappa(x, x_n) + b` and weights :math:`a_n` of the rows, 1 if
    there are none; `dual_coef_` holds :math:`a_n w_n`. For K classes the softmax of :math:`f_1,
    \ldots, f_K`, whose sum is 0, takes the place of :math:`\sigma`, and the penalty is :math:`2
    \zeta \sum_k \lVert w_k \rVert^2`, which for two classes is the one above. Two classes without
    weights need the eigenvectors of the kernel only where
    `noisylabels.solvers.flipped_kernel.fit_one` does not pay.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE, eq. (1) with the identity as flip matrix.
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

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> KernelLogisticRegression:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        KernelLogisticRegression
            The classifier.
        """
        number("zeta", self.zeta, least=SMALLEST_ZETA)
        choice("solver", self.solver, get_args(Solver))
        X, labels, weights = self._examples(X, y, sample_weight)
        K = self._kernel(X, weights)
        check_variant(self.bias, self.penalty)
        two = len(self.classes_) == 2
        if two and self.solver == "lbfgs" and self.penalty == "weights" and weights is None:
            _, penalty_of = self._penalties(np.ones(1), float(len(labels)))
            if penalty_of is None and self._without_basis(K, labels):
                return self
        space = basis(K)
        if weights is None:
            a = np.ones(len(labels))
        else:
            a = weights
        variant = columns(space, self.bias, self.penalty)
        penalty, penalty_of = self._penalties(variant.mask, float(a.sum()))
        swapped = False
        if two and self.solver == "lbfgs" and penalty_of is None and weights is None:
            swapped = self._by_batch(space, labels)
            if not swapped:
                return self
        solver = self.solver
        options = {}
        if two and (weights is None or penalty_of is not None):
            solver = "em_newton"
            options = {"penalty_of": penalty_of}
        Z = variant.Z
        if weights is not None:
            Z[:, : len(variant.factors)] /= np.sqrt(a)[:, np.newaxis]
        v, b = variant.weights(self._by_columns(Z, penalty, labels, weights, solver, **options).T)
        if two:
            w = space.Q @ v[0]
            self.intercept_ = float(b[0])
        else:
            w = space.Q @ v.T
            self.intercept_ = b
        if weights is None:
            self.dual_coef_ = w
        else:
            self.dual_coef_ = (w.T * np.sqrt(a)).T
        if swapped:
            self._flag(not_converged=not self.converged_, classes_swapped=True)
        return self

    def _penalties(self, mask: Floats, n: float) -> Penalties:
        """Return the first penalty of each column (r,), and how theta gives later ones."""
        return float(self.zeta) * mask, None

    def _without_basis(self, K: Floats, labels: NDArray[np.intp]) -> bool:
        """Fit without the eigenvectors of K if possible, and say whether that succeeded."""
        y = labels.astype(float)
        model = flipped_kernel.fit_one(K, y, float(self.zeta), self.robust, self.bias, TOLERANCE)
        if model is None or not model.converged or flips.permuted(model.omega):
            return False
        self.dual_coef_ = model.w
        self.intercept_ = model.bias
        self.objective_ = model.objective
        self.converged_ = True
        self.zeta_ = float(self.zeta)
        if self.robust:
            self.flip_matrix_ = model.omega
        self._flag(not_converged=False)
        return True

    def _by_batch(self, space: Basis, labels: NDArray[np.intp]) -> bool:
        """Fit in the basis of eigenvectors, and say whether the classes changed names."""
        y = labels[np.newaxis].astype(float)
        columns = np.zeros(1, np.int64)
        grid = np.array([float(self.zeta)])
        batch = fit_batch(space, y, columns, grid, self.robust, TOLERANCE, self.bias, self.penalty)
        self.dual_coef_ = space.Q @ batch.v[0]
        self.intercept_ = float(batch.bias[0])
        self.objective_ = -float(batch.objective[0])
        self.converged_ = bool(batch.converged[0])
        self.zeta_ = float(self.zeta)
        omega = flips.from_rates(batch.omega01[0], batch.omega10[0])
        if self.robust:
            self.flip_matrix_ = omega
        self._flag(not_converged=not self.converged_)
        return flips.permuted(omega)

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        bias: Bias = "none",
        penalty: Penalty = "weights",
        regularisation: Regularisation = "fixed",
        wanted: NDArray[np.bool_] | None = None,
    ) -> Fits:
        """Fit a model for each column of labels and each penalty, all on one kernel.

        Parameters
        ----------
        gram : `noisylabels.kernels.gaussian.Gram`
            The kernel on n training and m held-out points.
        labels : ndarray of shape (n, L)
            Columns of labels, 0 and 1.
        grid : array_like of shape (G,)
            Penalties zeta, at least 1e-8.
        bias : {"none", "free", "penalised"}, default "none"
            No bias, one that is not penalised, or one penalised like a weight.
        penalty : {"weights", "rkhs"}, default "weights"
            Norm of the weights, or of the function space.
        regularisation : {"fixed", "bayes"}, default "fixed"
            "bayes" replaces the values of the grid by the value of
            `noisylabels.solvers.flipped_logistic.marginal_zeta` at weights of zero, and then, ten
            times, by its value at the fitted weights: the limit of "em_newton", where it has one.
        wanted : ndarray of bool, shape (L, G), optional
            Which models to fit; all by default.

        Returns
        -------
        `noisylabels.classifiers.kernel.Fits`
            Decision values (L, G, m) at the held-out points, flip rates (L, G) if they are learned,
            and flags (L, G). A column with one class only, and a model that is not wanted, get a
            constant decision value of 1 or -1 and a flag. Flagged are also models that did not
            converge, whose classes changed names, or whose decision value is 0 at all held-out
            points, which then get the class observed more often.

        Raises
        ------
        ValueError
            If labels are not 0 and 1, a penalty is below 1e-8, or a name is unknown.
        """
        zeta = numbers("zeta", grid, least=SMALLEST_ZETA)
        check_variant(bias, penalty)
        y = label_columns(labels, len(gram.K))
        fits = Fits.constant(y, len(zeta), len(gram.K_out))
        has_zero = y.min(axis=1) == 0.0
        has_one = y.max(axis=1) == 1.0
        mixed = (has_zero & has_one)[:, np.newaxis]
        left = mixed & (np.ones(len(zeta), bool) if wanted is None else wanted)
        cells = column, g = divmod(np.flatnonzero(left), len(zeta))
        if len(column):
            checked = choice("regularisation", regularisation, get_args(Regularisation))
            bayes = checked == "bayes"
            n_points = y.shape[1]
            if bayes:
                zeta_of_fit = np.full(len(g), marginal_zeta(0.0, n_points, "slides"))
            else:
                zeta_of_fit = zeta[g]
            options: dict[str, Any] = {"bias": bias, "penalty": penalty}
            for _ in range(PRIOR_ROUNDS if bayes else 0):
                batch = fit_batch(gram.basis, y, column, zeta_of_fit, cls.robust, **options)
                squares = [float(v @ v) for v in batch.v]
                zeta_of_fit = np.array([marginal_zeta(s, n_points, "slides") for s in squares])
            batch = fit_batch(gram.basis, y, column, zeta_of_fit, cls.robust, **options)
            products = batch.v @ gram.Z_out.T
            f = products + batch.bias[:, np.newaxis]
            fits.scores[cells] = with_majority(f, y[column])
            rates = batch.omega01 + batch.omega10
            fits.flagged[cells] = ~batch.converged | (rates >= 1.0) | silent(f)
            if cls.robust:
                fits.omega01[cells] = batch.omega01
                fits.omega10[cells] = batch.omega10
        return fits


@dataclass(eq=False, repr=False)
class RobustKernelLogisticRegression(TrueLabelPosterior, KernelLogisticRegression):
    r"""Kernel logistic regression that learns how often the labels of each class were flipped.

    Parameters
    ----------
    width : float or "scale", default "scale"
        Width of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`. "scale" follows the
        variance of the features, see `noisylabels.kernels.gaussian.width_of`.
    zeta : float, default 1.0
        Penalty, at least 1e-8.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    bias : {"none", "free", "penalised"}, default "none"
        No bias, one that is not penalised, or one penalised like a weight.
    penalty : {"weights", "rkhs"}, default "weights"
        Norm of the weights, or of the function space. The paper's formula has no bias and penalises
        the weights; which variant its tables used is an open question.
    solver : {"lbfgs", "em_newton"}, default "lbfgs"
        L-BFGS, or the plain reference.
    regularisation : {"fixed", "bayes"}, default "fixed"
        "bayes" updates zeta from the marginal prior of what is penalised after every round of
        "em_newton", for two classes only; the argument zeta is then not used.
    prior_factor : {"slides", "exact"}, default "slides"
        Of "bayes", see `noisylabels.solvers.flipped_logistic.marginal_zeta`.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows.
    width_ : float
        The width that was used.
    dual_coef_ : ndarray (n,) or (n, K)
        Weights of the training rows.
    intercept_ : float or ndarray (K,)
    classes_ : ndarray of shape (K,)
    objective_ : float
        The maximum that was found.
    zeta_ : float
        The penalty that was used.
    converged_ : bool
    flip_matrix_ : ndarray of shape (K, K)
        Probability of each observed class, given the true one (rows).
    flags_ : tuple of str
        ``not_converged``; ``classes_swapped``: the flip matrix was then reset.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are of one class, features are NaN or infinite, or a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import RobustKernelLogisticRegression
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RobustKernelLogisticRegression().fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit maximises :math:`\sum_n \log \tilde P_n - \zeta \lVert w \rVert^2`, where :math:`\tilde
    P_n` is the probability of the observed label, :math:`\tilde P^k = \omega_{0k} (1 - \sigma(f)) +
    \omega_{1k} \sigma(f)`, and :math:`\sigma(f)` that of the true one, by which classes are
    predicted. For K classes :math:`\tilde P^k = \sum_j \omega_{jk} s_j(f)` with the softmax s. The
    objective is not concave: both solvers start from :math:`w = 0` and 0.8 on the diagonal of the
    flip matrix, which is identified by its diagonal holding the largest entry of each row and
    column.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE, eq. (1) to (6).

    Bootkrajang and Kabán (2012), Label-noise robust logistic regression and its applications, ECML
    PKDD: more than two classes.
    """

    name = "robust_kernel_logistic"
    robust: ClassVar[bool] = True

    _: KW_ONLY
    regularisation: Regularisation = "fixed"
    prior_factor: PriorFactor = "slides"

    def _penalties(self, mask: Floats, n: float) -> Penalties:
        choice("regularisation", self.regularisation, get_args(Regularisation))
        weights = n + (self.bias == "penalised")

        def penalty_of(theta: Floats) -> Floats:
            return marginal_zeta(float(mask @ theta**2), weights, self.prior_factor) * mask

        start = penalty_of(np.zeros(len(mask)))  # its errors
        if self.regularisation == "fixed":
            return super()._penalties(mask, n)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass; "
                'regularisation="fixed" takes it'
            )
        return start, penalty_of

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.regularisation == "fixed"
        return tags
