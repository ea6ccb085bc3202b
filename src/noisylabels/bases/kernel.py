"""What the kernel classifiers share: f(x) = sum_n w_n kappa(x, x_n) + b; class 1 if f(x) > 0.

With K > 2 classes f(x), w_n and b have K entries, and the class is that of the largest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noisylabels.bases.features import bounded
from noisylabels.bases.labels import two_classes
from noisylabels.kernels.gaussian import rbf, squared_distances
from noisylabels.kernels.width import width_of

Array = NDArray[np.float64]

NOTHING = 1e-12
"""Where |f| is above this at no point at all, the training points say nothing."""


def majority(labels: Array) -> float:
    """+1.0 if at least half of the labels, 0 or 1, are 1, else -1.0."""
    return 1.0 if 2.0 * float(np.sum(labels)) >= len(labels) else -1.0


def silent(f: Array) -> NDArray[np.bool_]:
    """Whether f (P, m) is 0, |f| <= 1e-12, at all m points: (P,). Then the majority is predicted, flagged."""
    return np.abs(f).max(axis=1, initial=0.0) <= NOTHING


def settled(f: Array, side: Array) -> Array:
    """f (P, m) with side * 1e-12 in the rows that are `silent`; side (P,) = +-1, the `majority`.

    A single point with f = 0 among others keeps it, which is class 0.
    """
    return np.where(silent(f)[:, np.newaxis], side[:, np.newaxis] * NOTHING, f)


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """A Gaussian kernel; `fit` of the subclass sets X_fit_ (n, d), dual_coef_ (n,) = w, and intercept_ = b if
    there is one; and width_, which is `width` or what "scale" stands for (`noisylabels.kernels.width`).
    """

    width: float | str
    parametrisation: str
    classes_: NDArray[Any]
    X_fit_: Array
    dual_coef_: Array
    width_: float
    intercept_: Any = 0.0

    def decision_function(self, X: Any) -> Array:
        """f(x) per row of X (n, d): (n,), or (n, K) of K > 2 classes.

        Without a bias it is 0, which is the first class, where no training point is near.

        Raises ValueError : not fitted, other number of features, NaN or infinity.
        """
        check_is_fitted(self)
        X = bounded(validate_data(self, X, reset=False, dtype=np.float64))
        K = rbf(squared_distances(X, self.X_fit_), self.width_, self.parametrisation)
        return np.asarray(K @ self.dual_coef_ + self.intercept_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d)."""
        f = self.decision_function(X)
        chosen = (f > 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> Array:
        """P(y = k | x) of the true label, (n, K): sigma(f(x)) for the second of two classes, else softmax."""
        f = self.decision_function(X)
        if f.ndim == 2:
            return np.asarray(softmax(f, axis=1))
        p = expit(f)
        return np.column_stack([1.0 - p, p])

    def _kernel(self, X: Array) -> Array:
        """K (n, n) of the training points; sets width_."""
        self.width_ = width_of(self.width, X, self.parametrisation)
        return rbf(squared_distances(X), self.width_, self.parametrisation)

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Array, Array]:
        """Checked X (n, d) and the labels as 0.0 and 1.0; sets classes_ and X_fit_."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = two_classes(y)
        bounded(X)
        labels = (y == self.classes_[1]).astype(float)
        self.X_fit_ = X
        return X, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
