"""Support vector machine with a Gaussian kernel, for many values of C at once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import FitFlags
from noisylabels.classifiers.kernel import Fits, KernelClassifier, majority
from noisylabels.kernels.gaussian import Gram, Parametrisation
from noisylabels.solvers.svm_path import padded, path
from noisylabels.validation import number, numbers, whole


@dataclass(eq=False, repr=False)
class KernelSVMClassifier(FitFlags, KernelClassifier):
    """min_f 1/2 ||f||^2 + C sum_n max(0, 1 - y_n (f(x_n) + b)),  f(x) = sum_n beta_n kappa(x, x_n).

    The solutions are those of scikit-learn's SVC (LIBSVM) to the same tolerance; see
    `noisylabels.solvers.svm_path` for how a path of C is computed faster.
    width, parametrisation : of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`; or "scale".
    C : > 0.
    tolerance : largest violation of the optimality conditions, LIBSVM's 1e-3.   max_steps : of the solver.

    Fitted: X_fit_ (n, d), dual_coef_ (n,) = beta, intercept_ = b, classes_ (2,), converged_,
    flags_ (not_converged) and flagged_.
    Raises ValueError: labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Chang and Lin, ACM TIST 2, 2011.
    """

    name = "kernel_svm"
    GRID: ClassVar[list[float]] = [2.0**k for k in range(-10, 11, 2)]

    width: float | str = "scale"
    C: float = 1.0
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    tolerance: float = 1e-3
    max_steps: int = 100_000

    def fit(self, X: Any, y: ArrayLike) -> KernelSVMClassifier:
        """Fit to X (n, d) and the labels y (n,)."""
        Cs = np.array([number("C", self.C, above=0)])
        _check(self.tolerance, self.max_steps)
        X, labels = self._checked(X, y)
        K = padded(self._kernel(X))
        beta, b, converged, _ = path(K, 2 * labels - 1, Cs, self.tolerance, self.max_steps)
        self.dual_coef_, self.intercept_, self.converged_ = beta[0], float(b[0]), bool(converged[0])
        self._flag(not_converged=not self.converged_)
        return self

    @property
    def predict_proba(self) -> Any:
        """An SVM has no probabilities."""
        raise AttributeError(
            "KernelSVMClassifier has no predict_proba: its decision values are not log-odds; "
            "calibrate them, sklearn.calibration.CalibratedClassifierCV(estimator)"
        )

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        tolerance: float = 1e-3,
        max_steps: int = 100_000,
    ) -> Fits:
        """One model per column of labels (n, L), 0 or 1, and per C in grid (G,), all on one kernel.

        A column with one class only is that class everywhere, flagged; so is what has not converged after
        ``max_steps``. Raises ValueError: C <= 0.
        """
        y = np.asarray(labels, dtype=float).T
        Cs = numbers("C", grid, above=0)
        order = np.argsort(Cs, kind="stable")
        Cs = Cs[order]
        _check(tolerance, max_steps)
        shape = (len(y), len(Cs))
        scores, flagged = np.empty((*shape, len(gram.K_out))), np.ones(shape, dtype=bool)
        K = padded(gram.K)
        for k, column in enumerate(y):
            if column.min() == column.max():
                scores[k] = majority(column)
                continue
            beta, b, converged, _ = path(K, 2 * column - 1, Cs, tolerance, max_steps)
            scores[k, order] = beta @ gram.K_out.T + b[:, np.newaxis]
            flagged[k, order] = ~converged
        return Fits(scores, np.full(shape, np.nan), np.full(shape, np.nan), flagged)


def _check(tolerance: float, max_steps: int) -> None:
    number("tolerance", tolerance, above=0)
    whole("max_steps", max_steps, 1)
