"""What kernel classifiers share: the kernel, and many fits on one kernel.

f(x) = sum_n w_n kappa(x, x_n) + b; class 1 if f(x) > 0. With K > 2 classes f(x), w_n and b have K entries,
and the class is that of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.classifiers.base import DecisionClassifier, Weighted, features_of
from noisylabels.kernels.gaussian import kernel_matrix, width_of
from noisylabels.validation import Floats

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
        X = features_of(self, X)
        K = kernel_matrix(X, self.X_fit_, width=self.width_, parametrisation=self.parametrisation)
        return np.asarray(K @ self.dual_coef_ + self.intercept_)

    def _kernel(self, X: Any, weights: Floats | None = None, multiple: int = 1) -> Floats:
        """K (n, n) of the training points; sets X_fit_ and width_. Zeros follow up to a multiple of columns.

        With weights a (n,) it is sqrt(a_i a_j) K_ij, whose eigenvalues above 0 are those of K with row i
        repeated a_i times; the entry i of an eigenvector is then spread evenly over a_i rows.
        """
        self.X_fit_, self.width_ = X, width_of(self.width, X, self.parametrisation, weights)
        K = kernel_matrix(X, width=self.width_, parametrisation=self.parametrisation, multiple=multiple)
        return K if weights is None else np.sqrt(np.outer(weights, weights)) * K
