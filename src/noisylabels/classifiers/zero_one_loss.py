"""A linear classifier that minimises the number of training errors."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.linear import LinearBinaryClassifier


class ZeroOneLossClassifier(LinearBinaryClassifier):
    """min_{w, b} sum_i 1(s_i (b + x_i.w) <= 0) by sum_i sigma(-kappa s_i f_i), kappa = 2, 4, ..., 256.

    After each kappa an exact search along every coordinate, accepted where the 0-1 loss falls.
    starts : random ones, beside the linear SVM and logistic regression.   sweeps : most rounds over the coordinates.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), errors_, the training errors. Raises ValueError : labels that
    are not two classes, NaN or infinity, wrong parameters. Source: Nguyen and Sanner, ICML 2013 (smooth loss
    approximation and coordinate search; not their branch and bound).
    """

    name = "zero_one_loss"

    def __init__(self, *, starts: int = 5, sweeps: int = 20, random_state: Any = None) -> None:
        self.starts = starts
        self.sweeps = sweeps
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> ZeroOneLossClassifier:
        """Search for X (n, d) and y (n,)."""
        raise NotImplementedError
