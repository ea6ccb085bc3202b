"""Large margin distribution machine (LDM); without its two terms it is the linear SVM."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.folds import fold_numbers, with_constant
from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.bases.random_state import generator
from noisylabels.solvers.margin_distribution import interior_point, quadratic
from noisylabels.validation import numbers, whole

Array = NDArray[np.float64]
Choice = tuple[float, float, float]  # lam1, lam2, C

TOLERANCE = 1e-8
ROUGH = 1e-4  # within the folds


class LargeMarginDistributionClassifier(LinearBinaryClassifier):
    """min_w 1/2 ||w||^2 + lam1 Var - lam2 Mean + C sum_i max(0, 1 - s_i w.x_i).

    x_i has a constant 1 appended; Mean = 1/n sum_i s_i w.x_i,  Var = 2 (1/n sum_i (w.x_i)^2 - Mean^2).
    C > 0, lam1, lam2 >= 0 : numbers, or lists of numbers from which cross-validation with `folds` folds
        chooses, ties to the smaller lam1, then lam2, then C. lam1 = lam2 = 0 is the linear SVM.
    max_iter : rounds of the interior-point method.   random_state : of the folds.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,); lam1_, lam2_, C_; errors_, by (lam1, lam2, C), the
    errors of the folds; dual_gap_, primal minus dual value; n_iter_; converged_;
    flagged_, and flags_ in words: "no_folds" (one point of a class only: the smallest value of each list was
    taken), "not_converged".
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Zhang and Zhou, KDD 2014.
    """

    name = "large_margin_distribution"

    def __init__(
        self,
        C: Any = 10.0,
        *,
        lam1: Any = 2.0**-5,
        lam2: Any = 2.0**-5,
        folds: int = 5,
        max_iter: int = 100,
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
        choices = self._choices()
        X, s = self._checked(X, y, None, first=True)
        Z = s[:, np.newaxis] * with_constant(X.astype(np.float64))
        self.errors_: dict[Choice, float] = {}
        if len(choices) > 1:
            folds = fold_numbers(s, self.folds, generator(self.random_state))
            if folds is not None:
                self.errors_ = self._errors(Z, choices, folds)
        chosen = min(self.errors_, key=lambda choice: self.errors_[choice], default=choices[0])
        self.lam1_, self.lam2_, self.C_ = chosen
        w, gap, self.n_iter_, self.converged_ = _solved(Z, chosen, TOLERANCE, self.max_iter)
        reasons = {"no_folds": len(choices) > 1 and not self.errors_, "not_converged": not self.converged_}
        self.flags_ = tuple(word for word, applies in reasons.items() if applies)
        self.flagged_ = bool(self.flags_)
        self.coef_, self.intercept_, self.dual_gap_ = w[np.newaxis, :-1].copy(), w[-1:].copy(), gap
        return self

    def _choices(self) -> list[Choice]:
        """Every combination of lam1, lam2, C, in increasing order."""
        whole("folds", self.folds, 2)
        whole("max_iter", self.max_iter, 1)
        lam1 = np.unique(numbers("lam1", self.lam1, least=0))
        lam2 = np.unique(numbers("lam2", self.lam2, least=0))
        C = np.unique(numbers("C", self.C, above=0))
        return [(float(a), float(b), float(c)) for a, b, c in product(lam1, lam2, C)]

    def _errors(self, Z: Array, choices: list[Choice], folds: NDArray[np.intp]) -> dict[Choice, float]:
        """Share of wrong points of all folds together, for every choice."""
        wrong = dict.fromkeys(choices, 0)
        for fold in range(folds.max() + 1):
            train, test = Z[folds != fold], Z[folds == fold]
            for choice in choices:
                w = _solved(train, choice, ROUGH, self.max_iter)[0]
                wrong[choice] += int(np.count_nonzero(test @ w <= 0))
        return {choice: float(count / len(Z)) for choice, count in wrong.items()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _solved(Z: Array, choice: Choice, tolerance: float, rounds: int) -> tuple[Array, float, int, bool]:
    """(w, dual gap, rounds, whether the gap is below the tolerance) for rows s_i x_i of Z (n, d)."""
    lam1, lam2, C = choice
    ZT = np.ascontiguousarray(Z.T)
    b = lam2 * ZT.mean(axis=1)
    w, alpha, gap, taken = interior_point(ZT, quadratic(ZT, lam1), b, C, tolerance, rounds)
    value = alpha.sum() - 0.5 * (b @ w + alpha @ (w @ ZT))
    return w, float(gap), int(taken), bool(gap <= tolerance * (1.0 + abs(value)))
