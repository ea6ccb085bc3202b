"""What the kernel classifiers share: f(x) = sum_n w_n kappa(x, x_n) + b; class 1 if f(x) > 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noisylabels.bases.labels import two_classes
from noisylabels.kernels.gaussian import rbf, squared_distances

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
    there is one.
    """

    width: float
    parametrisation: str
    classes_: NDArray[Any]
    X_fit_: Array
    dual_coef_: Array
    intercept_: float = 0.0

    def decision_function(self, X: Any) -> Array:
        """f(x) per row of X (n, d); without a bias 0, which is class 0, where no training point is near.

        Raises ValueError : not fitted, other number of features, NaN or infinity.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        K = rbf(squared_distances(X, self.X_fit_), self.width, self.parametrisation)
        return np.asarray(K @ self.dual_coef_ + self.intercept_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def predict_proba(self, X: Any) -> Array:
        """P(y = 0 | x) and P(y = 1 | x) = sigma(f(x)) of the true label, (n, 2)."""
        p = expit(self.decision_function(X))
        return np.column_stack([1.0 - p, p])

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Array, Array]:
        """Checked X (n, d) and the labels as 0.0 and 1.0; sets classes_ and X_fit_."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = two_classes(y)
        labels = (y == self.classes_[1]).astype(float)
        self.X_fit_ = X
        return X, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
