"""Large margin distribution machine (LDM); without its two terms, the linear SVM."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from noisylabels.bases.linear import LinearBinaryClassifier


class LargeMarginDistributionClassifier(LinearBinaryClassifier):
    """min_w 1/2 ||w||^2 + lam1 Var - lam2 Mean + C sum_i max(0, 1 - s_i w.x_i), x_i with a constant 1 appended.

    Mean = 1/n sum_i s_i w.x_i,  Var = 2 (1/n sum_i (w.x_i)^2 - Mean^2).
    lam1, lam2 >= 0, C > 0 : numbers, or lists of numbers from which `folds`-fold cross-validation chooses;
        lam1 = lam2 = 0 is the linear SVM.   random_state : of the folds and of the order of the coordinates.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), C_, lam1_, lam2_, dual_gap_, n_iter_ (passes), converged_.
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters. Source: Zhang and
    Zhou, KDD 2014.
    """

    name = "large_margin_distribution"

    def __init__(
        self,
        C: Any = 10.0,
        *,
        lam1: Any = 2.0**-5,
        lam2: Any = 2.0**-5,
        folds: int = 5,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.lam1 = lam1
        self.lam2 = lam2
        self.folds = folds
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> LargeMarginDistributionClassifier:
        """Minimise for X (n, d) and y (n,)."""
        raise NotImplementedError
