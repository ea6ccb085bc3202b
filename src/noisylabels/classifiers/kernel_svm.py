"""The support vector machine, one C or a path of them on one kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import FitFlags, Repeated
from noisylabels.classifiers.kernel import Fits, KernelClassifier
from noisylabels.kernels.gaussian import Gram, Parametrisation
from noisylabels.solvers.svm_path import BLOCK, padded, path
from noisylabels.validation import Floats, number, numbers, whole


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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> KernelSVMClassifier:
        """Fit to X (n, d) and the labels y (n,), with weights (n,) as `Weighted` says."""
        Cs = np.array([number("C", self.C, above=0)])
        X, labels, _ = self._examples(X, y, sample_weight)
        K = self._kernel(X, multiple=BLOCK)
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


# The kernel Fisher discriminant that models flipped labels (rKFD)
