"""A linear classifier that minimises a generalisation bound: how often a random projection flips a prediction."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.linear import LinearBinaryClassifier

KS = (1, 2, 5, 10, 20, 50, 100, 300)


class BoundMinimiser(LinearBinaryClassifier):
    """min_h 1/n sum_i min(1, 2 f_k(theta_i)),  cos theta_i = s_i h.x_i / (||h|| ||x_i||), x_i with a constant 1 appended.

    k : an integer, the dimension of the projection; "cv", chosen from ks by `folds`-fold cross-validation, ties to the
        smaller; "bound", the k <= d + 1 of ks with the smallest right-hand side of the bound.   delta : of the bound.
    starts : Gaussian start points, beside the linear SVM and the mean of s_i x_i / ||x_i||.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), k_; risk_, the minimum; risks_, by k (modes "cv": error of the
    folds; "bound": the bound); n_dropped_, rows of norm 0 (none, with the constant). Raises ValueError : labels
    that are not two classes, NaN or infinity, wrong parameters. Source: Kaban and Bootkrajang, LABELNOISE 2017.
    """

    name = "bound_minimiser"

    def __init__(
        self,
        k: int | str = "cv",
        *,
        ks: tuple[int, ...] = KS,
        folds: int = 5,
        delta: float = 0.05,
        starts: int = 5,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.ks = ks
        self.folds = folds
        self.delta = delta
        self.starts = starts
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> BoundMinimiser:
        """Minimise for X (n, d) and y (n,)."""
        raise NotImplementedError
