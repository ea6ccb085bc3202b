"""What the kernel classifiers share: f(x) = sum_n w_n kappa(x, x_n), without a bias; class 1 if f(x) > 0."""

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
"""Where |f| is not above this the training points say nothing: the more frequent observed class is
predicted.
"""


def majority(labels: Array) -> float:
    """+1.0 if at least half of the labels, 0 or 1, are 1, else -1.0."""
    return 1.0 if 2.0 * float(np.sum(labels)) >= len(labels) else -1.0


def decided(f: Array, side: float | Array) -> Array:
    """f with side * 1e-12 where |f| <= 1e-12; side = +-1, the `majority`."""
    return np.where(np.abs(f) <= NOTHING, side * NOTHING, f)


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """A Gaussian kernel; `fit` of the subclass sets X_fit_ (n, d), dual_coef_ (n,), majority_."""

    width: float
    parametrisation: str
    classes_: NDArray[Any]
    X_fit_: Array
    dual_coef_: Array
    majority_: float

    def decision_function(self, X: Any) -> Array:
        """f(x) per row of X (n, d); where no training point is near, +-1e-12 for the more frequent class.

        Raises ValueError : not fitted, other number of features, NaN or infinity.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        K = rbf(squared_distances(X, self.X_fit_), self.width, self.parametrisation)
        return decided(K @ self.dual_coef_, self.majority_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def predict_proba(self, X: Any) -> Array:
        """P(y = 0 | x) and P(y = 1 | x) = sigma(f(x)) of the true label, (n, 2)."""
        p = expit(self.decision_function(X))
        return np.column_stack([1.0 - p, p])

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Array, Array]:
        """Checked X (n, d) and the labels as 0.0 and 1.0; sets classes_, X_fit_ and majority_."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = two_classes(y)
        labels = (y == self.classes_[1]).astype(float)
        self.X_fit_, self.majority_ = X, majority(labels)
        return X, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
