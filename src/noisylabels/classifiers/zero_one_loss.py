"""A linear classifier that minimises the number of training errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.folds import with_constant
from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.bases.random_state import generator
from noisylabels.bases.starts import start_points
from noisylabels.solvers.margin_descent import NO_TABLE, coordinate_search, descend
from noisylabels.validation import whole

Array = NDArray[np.float64]

KAPPAS = tuple(2.0**j for j in range(1, 9))
ROUNDS = 200


class ZeroOneLossClassifier(LinearBinaryClassifier):
    """min_{w, b} sum_i 1(s_i (b + x_i.w) <= 0), by sum_i sigma(-kappa s_i f_i) for kappa = 2, 4, ..., 256.

    After each kappa comes an exact search along every coordinate, accepted where the 0-1 loss falls. The best
    of all starts is kept, ties to the smaller smooth loss.
    starts : random ones, beside the linear SVM, logistic regression and the mean of s_i x_i / ||x_i||.
    sweeps : most rounds of the search over all coordinates.   random_state : of the starts.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), errors_, the training errors.
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Nguyen and Sanner, ICML 2013 (smooth loss and coordinate search; not their branch and bound).
    """

    name = "zero_one_loss"

    def __init__(self, *, starts: int = 5, sweeps: int = 20, random_state: Any = None) -> None:
        self.starts = starts
        self.sweeps = sweeps
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> ZeroOneLossClassifier:
        """Search for X (n, d) and y (n,)."""
        whole("sweeps", self.sweeps, 1)
        X, s = self._checked(X, y, None, first=True)
        U = s[:, np.newaxis] * with_constant(X.astype(np.float64))
        UT = np.ascontiguousarray(U.T)
        found = [self._searched(UT, h) for h in start_points(U, self.starts, generator(self.random_state))]
        _, _, h = min(found, key=lambda each: each[:2])
        self.coef_, self.intercept_ = h[np.newaxis, :-1].copy(), h[-1:].copy()
        self.errors_ = int(np.count_nonzero(self.predict(X) != y))
        return self

    def _searched(self, UT: Array, h: Array) -> tuple[int, float, Array]:
        """(errors, smooth loss, h) after all kappas from a start h."""
        for kappa in KAPPAS:
            h, smooth, _ = descend(UT, h, kappa, NO_TABLE, ROUNDS)
            errors = coordinate_search(UT, h, self.sweeps)
        return errors, smooth, h

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
