"""What kernel classifiers share, and the support vector machine.

f(x) = sum_n w_n kappa(x, x_n) + b; class 1 if f(x) > 0. With K > 2 classes f(x), w_n and b have K entries,
and the class is that of the largest.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import DecisionClassifier, FitFlags, Repeated, Weighted, features_of
from noisylabels.kernels.gaussian import Gram, Parametrisation, rbf, squared_distances, width_of
from noisylabels.solvers.svm_path import padded, path
from noisylabels.validation import Floats, number, numbers, whole

NOTHING = 1e-12
"""If |f| is nowhere above this, the training points carry no information about the test points."""


@dataclass(frozen=True)
class Fits:
    """Decision values f(x) on m held-out points for L label columns and G values of the parameter.

    scores : (L, G, m), f > 0 means class 1. Where a fit has f = 0 at all m points, +-1e-12 for the class that
        was observed more often, and it is flagged.
    omega01, omega10 : (L, G), estimated flip rates P(observed 1 | true 0) and P(observed 0 | true 1); NaN
        where the method has none.
    flagged : (L, G), a fallback or doubtful: one class only, f = 0, not converged, classes swapped.
    """

    scores: Floats
    omega01: Floats
    omega10: Floats
    flagged: NDArray[np.bool_]

    @classmethod
    def constant(cls, labels: Floats, G: int, m: int) -> Fits:
        """The `majority` of each row of labels (L, n) at all m points, without rates, flagged."""
        shape = len(labels), G
        scores = np.tile(majority(labels)[:, np.newaxis, np.newaxis], (1, G, m))
        return cls(scores, np.full(shape, np.nan), np.full(shape, np.nan), np.ones(shape, bool))


def label_columns(labels: NDArray[Any], n: int) -> Floats:
    """Labels (n, L) of 0 and 1 as the rows of an array (L, n); ValueError: other labels, another length."""
    y = np.asarray(labels, dtype=float)
    if y.ndim != 2 or len(y) != n:
        raise ValueError(f"labels must be (n, L) with n = {n}, got {np.shape(labels)}")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("labels must be 0 and 1")
    return np.ascontiguousarray(y.T)


def majority(labels: Floats) -> Floats:
    """+1.0 if at least half of a row of labels (L, n), 0 or 1, are 1, else -1.0: (L,)."""
    return np.where(2.0 * labels.sum(axis=-1) >= labels.shape[-1], 1.0, -1.0)


def silent(f: Floats) -> NDArray[np.bool_]:
    """Whether f (P, m) is 0, |f| <= 1e-12, at all m points: (P,). Then the majority is predicted, flagged."""
    return np.abs(f).max(axis=1, initial=0.0) <= NOTHING


def with_majority(f: Floats, labels: Floats) -> Floats:
    """f (P, m) with +-1e-12 in the rows that are `silent`, the sign that of the `majority` of labels (P, n).

    A single point with f = 0 among others keeps it, which is class 0.
    """
    return np.where(silent(f)[:, np.newaxis], majority(labels)[:, np.newaxis] * NOTHING, f)


class KernelClassifier(Weighted, DecisionClassifier):
    """A Gaussian kernel; `fit` of the subclass sets X_fit_ (n, d), dual_coef_ (n,) = w, and intercept_ = b if
    there is one; and width_, which is `width` or what "scale" means (`kernels.gaussian.width_of`).
    """

    SPARSE: ClassVar[bool] = True

    width: float | str
    parametrisation: str
    X_fit_: Any
    dual_coef_: Floats
    width_: float
    intercept_: Any = 0.0

    def decision_function(self, X: Any) -> Floats:
        """f(x) per row of X (n, d): (n,), or (n, K) of K > 2 classes.

        Without a bias it is 0, which is the first class, where no training point is near.

        Raises ValueError: not fitted, other number of features, NaN or infinity.
        """
        K = rbf(squared_distances(features_of(self, X), self.X_fit_), self.width_, self.parametrisation)
        return np.asarray(K @ self.dual_coef_ + self.intercept_)

    def _kernel(self, X: Any, weights: Floats | None = None) -> Floats:
        """K (n, n) of the training points; sets X_fit_ and width_.

        With weights a (n,) it is sqrt(a_i a_j) K_ij, whose eigenvalues above 0 are those of K with row i
        repeated a_i times; the entry i of an eigenvector is then spread evenly over a_i rows.
        """
        self.X_fit_, self.width_ = X, width_of(self.width, X, self.parametrisation, weights)
        K = rbf(squared_distances(X), self.width_, self.parametrisation)
        return K if weights is None else np.sqrt(np.outer(weights, weights)) * K


@dataclass(eq=False, repr=False)
class KernelSVMClassifier(Repeated, FitFlags, KernelClassifier):
    """min_f 1/2 ||f||^2 + C sum_n max(0, 1 - y_n (f(x_n) + b)),  f(x) = sum_n beta_n kappa(x, x_n).

    The solutions are those of scikit-learn's SVC (LIBSVM) to the same tolerance; see
    `noisylabels.solvers.svm_path` for how a path of C is computed faster.
    width, parametrisation : of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`; or "scale".
    C : > 0.
    tolerance : largest violation of the optimality conditions, LIBSVM's 1e-3.   max_steps : of the solver.
    gap : a duality gap of at most gap n C ends the descent as well; 0: it does not. liquidSVM's rule is 1e-3.

    Fitted: X_fit_ (n, d), dual_coef_ (n,) = beta, intercept_ = b, classes_ (2,), converged_,
    flags_ (not_converged) and flagged_.
    Raises ValueError: labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Chang and Lin, ACM TIST 2, 2011.
    """

    name = "kernel_svm"
    LINK: ClassVar[float] = 0.0
    GRID: ClassVar[list[float]] = [2.0**k for k in range(-10, 11, 2)]

    width: float | str = "scale"
    C: float = 1.0
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    tolerance: float = 1e-3
    max_steps: int = 100_000
    gap: float = 0.0

    def fit(self, X: Any, y: ArrayLike, **weights: Any) -> KernelSVMClassifier:
        """Fit to X (n, d) and the labels y (n,); weights: ``sample_weight``, see `Weighted`."""
        Cs = np.array([number("C", self.C, above=0)])
        X, labels, _ = self._examples(X, y, **weights)
        K = padded(self._kernel(X))
        beta, b, converged = self._path(K, labels.astype(float), Cs, self.tolerance, self.max_steps, self.gap)
        self.dual_coef_, self.intercept_, self.converged_ = beta[0], float(b[0]), bool(converged[0])
        self._flag(not_converged=not self.converged_)
        return self

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        tolerance: float = 1e-3,
        max_steps: int = 100_000,
        gap: float = 0.0,
        wanted: NDArray[np.bool_] | None = None,
    ) -> Fits:
        """One model per column of labels (n, L), 0 or 1, and per C in grid (G,), all on one kernel.

        A column with one class only is that class everywhere, flagged, and so is every C above the largest
        that is ``wanted`` (L, G); flagged is also what has not converged after ``max_steps``.
        Raises ValueError: C <= 0.
        """
        y, Cs = np.asarray(labels, dtype=float).T, numbers("C", grid, above=0)
        order = np.argsort(Cs, kind="stable")
        fits, K = Fits.constant(y, len(Cs), len(gram.K_out)), padded(gram.K)
        for k, column in enumerate(y):
            here = order
            if wanted is not None:
                here = order[: np.max(np.flatnonzero(wanted[k, order]), initial=-1) + 1]
            if len(here) and column.min() < column.max():
                beta, b, converged = cls._path(K, column, Cs[here], tolerance, max_steps, gap)
                fits.scores[k, here] = beta @ gram.K_out.T + b[:, np.newaxis]
                fits.flagged[k, here] = ~converged
        return fits

    @staticmethod
    def _path(
        K: Floats, labels: Floats, Cs: Floats, tolerance: float, max_steps: int, gap: float
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        number("tolerance", tolerance, above=0)
        whole("max_steps", max_steps, 1)
        number("gap", gap, least=0)
        return path(K, 2 * labels - 1, Cs, tolerance, max_steps, gap)[:3]
