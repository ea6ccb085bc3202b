"""Which observed labels to believe: what classifiers with a flip matrix know about single labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from noisylabels.bases.doubts import Doubts
from noisylabels.noise import flip_matrix

Array = NDArray[np.float64]


class TrueLabelPosterior(Doubts):
    """For classifiers that estimate how labels are flipped: flip_matrix_ (K, K), rows = true classes.

    converged_ and `Doubts` say how far the estimate can be trusted.
    """

    classes_: NDArray[Any]
    flip_matrix_: Array
    converged_: bool
    decision_function: Callable[[Any], Array]

    def true_label_posterior(self, X: Any, y: ArrayLike) -> Array:
        """q_n = P(y_n is classes_[1] | x_n, observed label y_n) for X (n, d) and y (n,): (n,).

        With K > 2 classes q_nj = P(y_n is classes_[j] | x_n, y_n): (n, K).
        Raises ValueError : a label outside the classes of `fit`; see `decision_function`.
        """
        check_is_fitted(self)
        y = np.asarray(y)
        if not np.isin(y, self.classes_).all():
            raise ValueError(f"y has labels outside the classes of fit, {self.classes_.tolist()}")
        if len(self.classes_) > 2:
            labels = np.searchsorted(self.classes_, y)
            return flip_matrix.posterior(self.decision_function(X), labels, self.flip_matrix_)
        return flip_matrix.posterior(self._log_odds(X), y == self.classes_[1], self.flip_matrix_)

    def _log_odds(self, X: Any) -> Array:
        """log P(y = 1 | x) - log P(y = 0 | x) of the true label per row of X (n, d): (n,)."""
        return self.decision_function(X)
