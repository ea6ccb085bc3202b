"""What linear binary classifiers share: f(x) = x.w + b, and checked input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noisylabels.bases.features import bounded
from noisylabels.bases.labels import two_classes
from noisylabels.losses.margin import Loss


class LinearBinaryClassifier(ClassifierMixin, BaseEstimator):
    """f(x) = x.w + b, w = coef_ (1, d), b = intercept_ (1,);  classes_[1] if f(x) >= 0, else classes_[0]."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """f(x) per row of X (n, d); ValueError: not fitted, other features."""
        check_is_fitted(self)
        X = bounded(
            validate_data(self, X, accept_sparse=self._storage(), reset=False, dtype=[np.float64, np.float32])
        )
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d); f(x) = 0 counts as the second class."""
        f = self.decision_function(X)
        chosen = (f >= 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)
        return self.classes_[chosen]

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[np.float64]]:
        """X (n, d) -> P(y = 0 | x) and P(y = 1 | x) = sigma(f(x)) (n, 2), where f are log-odds.

        They are for the logistic loss; the other margin losses only say on which side of zero f lies.
        Raises AttributeError : another loss, with how to calibrate its f.
        """
        if not self._log_odds_are_f():
            raise AttributeError(
                f"{type(self).__name__} has no predict_proba with this loss: its decision values are no "
                "log-odds; calibrate them, sklearn.calibration.CalibratedClassifierCV(estimator)"
            )
        return self._proba

    def _log_odds_are_f(self) -> bool:
        loss = getattr(self, "loss", None)
        return (loss.name if isinstance(loss, Loss) else loss) == "log"

    def _proba(self, X: Any) -> NDArray[np.float64]:
        p = expit(self.decision_function(X))
        return np.column_stack([1.0 - p, p])

    def _checked(self, X: Any, y: ArrayLike, classes: Any, first: bool) -> tuple[Any, NDArray[np.float64]]:
        """Checked X (float, dense or CSR) and the labels as -1.0 and +1.0; sets classes_ the first time."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=self._storage(),
            dtype=[np.float64, np.float32],
            order="C",
            accept_large_sparse=False,
            reset=first,
        )
        if first:
            self.classes_ = two_classes(y, classes)
        elif not np.isin(y, self.classes_).all():
            raise ValueError(f"y has labels outside the classes of the first call, {self.classes_.tolist()}")
        return bounded(X), np.where(y == self.classes_[1], 1.0, -1.0)

    def _storage(self) -> str | bool:
        """The sparse storage that the method reads, False if none."""
        return "csr" if self.__sklearn_tags__().input_tags.sparse else False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
