"""What boosters share: staged scores, checked input, linear or tree members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

Array = NDArray[np.float64]


class BoostingClassifier(ClassifierMixin, BaseEstimator):
    """H(x) = sum_t alpha_t h_t(x);  classes_[1] if H(x) >= 0, else classes_[0]."""

    def decision_function(self, X: Any) -> Array:
        """H(x) per row of X (n, d); ValueError: not fitted, other features."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d)."""
        raise NotImplementedError

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """H(x) per row of X (n, d) after 1, 2, ... rounds."""
        raise NotImplementedError

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The class of each row of X (n, d) after 1, 2, ... rounds."""
        raise NotImplementedError

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Array, Array]:
        """X as floats (n, d) and the labels as -1.0 and +1.0; sets classes_."""
        raise NotImplementedError


class LinearBoostingClassifier(BoostingClassifier):
    """Members are the rows (b_t, w_t) of members_ (T, 1 + d), h_t(x) = +1 if b_t + x.w_t >= 0, else -1."""

    def _boost(self, X: Array, loss: Any) -> None:
        raise NotImplementedError


class TreeBoostingClassifier(BoostingClassifier):
    """Members are scikit-learn's regression trees."""
