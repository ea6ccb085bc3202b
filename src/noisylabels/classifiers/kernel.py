"""What kernel classifiers share: f(x) = sum_n w_n kappa(x, x_n) + b; class 1 if f(x) > 0.

With K > 2 classes f(x), w_n and b have K entries, and the class is that of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from noisylabels.classifiers.base import bounded, features_of, two_classes
from noisylabels.kernels.gaussian import rbf, squared_distances, width_of
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


def with_majority(f: Floats, side: Floats) -> Floats:
    """f (P, m) with side * 1e-12 in the rows that are `silent`; side (P,) = +-1, the `majority`.

    A single point with f = 0 among others keeps it, which is class 0.
    """
    return np.where(silent(f)[:, np.newaxis], side[:, np.newaxis] * NOTHING, f)


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """A Gaussian kernel; `fit` of the subclass sets X_fit_ (n, d), dual_coef_ (n,) = w, and intercept_ = b if
    there is one; and width_, which is `width` or what "scale" means (`kernels.gaussian.width_of`).
    """

    MULTICLASS: ClassVar[bool] = False

    width: float | str
    parametrisation: str
    classes_: NDArray[Any]
    X_fit_: Floats
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

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d)."""
        f = self.decision_function(X)
        chosen = (f > 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> Floats:
        """P(y = k | x) of the true label, (n, K): sigma(f(x)) for the second of two classes, else softmax."""
        f = self.decision_function(X)
        if f.ndim == 2:
            return np.asarray(softmax(f, axis=1))
        p = expit(f)
        return np.column_stack([1.0 - p, p])

    def _kernel(self, X: Floats) -> Floats:
        """K (n, n) of the training points; sets width_."""
        self.width_ = width_of(self.width, X, self.parametrisation)
        return rbf(squared_distances(X), self.width_, self.parametrisation)

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Floats, Floats]:
        """Checked X (n, d) and the labels as 0.0 and 1.0; sets classes_ and X_fit_."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = two_classes(y)
        self.X_fit_ = bounded(X)
        return self.X_fit_, (y == self.classes_[1]).astype(float)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.MULTICLASS
        return tags
