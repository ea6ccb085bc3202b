"""A linear classifier that minimises how often a random projection would flip its predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.folds import fold_numbers, with_constant
from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.bases.random_state import generator
from noisylabels.bases.starts import start_points
from noisylabels.solvers.margin_descent import descend
from noisylabels.theory.projections import flip_probability, margins, slope, uniform_bound
from noisylabels.validation import choice, number, whole

Array = NDArray[np.float64]

KS = (1, 2, 5, 10, 20, 50, 100, 300)
INTERVALS = 2048  # of the table of f_k; the interpolation is then right to 1e-10


class BoundMinimiser(LinearBinaryClassifier):
    """min_h 1/n sum_i min(1, 2 f_k(theta_i)),  cos theta_i = s_i h.x_i / (||h|| ||x_i||).

    x_i has a constant 1 appended. Only angles count: features should be centred and of one scale.
    k : an integer, the dimension of the projection; "cv", chosen from ks by cross-validation with `folds`
        folds, ties to the smaller; "bound", the k <= d + 1 of ks whose bound on the error is smallest.
    delta : the bound holds with probability 1 - delta.   max_iter : rounds of L-BFGS.
    starts : random start points, beside the linear SVM, logistic regression, the mean of s_i x_i / ||x_i||.
    random_state : of the starts and the folds.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,); k_; risk_, the minimum found;
    bound_, the terms of the bound (`theory.compressive_bounds.Bound`);
    by_k_, for each k the error of the folds or the whole bound;
    n_iter_, rounds from the best start;
    flagged_, and flags_ in words: "no_folds" (one point of a class only: the smallest k was taken).
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: Kaban and Bootkrajang, LABELNOISE 2017.
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
        ks = self._candidates()
        X, s = self._checked(X, y, None, first=True)
        Z = with_constant(X.astype(np.float64))
        U = s[:, np.newaxis] * Z
        rng = generator(self.random_state)
        starts = start_points(U, self.starts, rng)
        self.by_k_: dict[int, float] = {}
        if self.k == "cv":
            self.by_k_ = self._errors(U, s, ks, rng)
        elif self.k == "bound":
            for k in [k for k in ks if k <= U.shape[1]] or ks[:1]:
                h = self._minimised(U, k, starts)[0]
                self.by_k_[k] = uniform_bound(margins(h, Z, s), k, self.delta).total
        self.flags_ = ("no_folds",) if self.k == "cv" and not self.by_k_ else ()
        self.flagged_ = bool(self.flags_)
        self.k_ = min(self.by_k_, key=lambda k: self.by_k_[k], default=ks[0])
        h, self.risk_, self.n_iter_ = self._minimised(U, self.k_, starts)
        self.bound_ = uniform_bound(margins(h, Z, s), self.k_, self.delta)
        self.coef_, self.intercept_ = h[np.newaxis, :-1].copy(), h[-1:].copy()
        return self

    def _candidates(self) -> list[int]:
        """The values of k to choose from, in increasing order."""
        whole("folds", self.folds, 2)
        number("delta", self.delta, above=0, below=1)
        whole("max_iter", self.max_iter, 1)
        ks = {whole("ks", k, 1) for k in (self.ks if np.iterable(self.ks) else [self.ks])}
        if not ks:
            raise ValueError("ks: at least one k is needed, got none")
        if not isinstance(self.k, str):
            return [whole('k, if not "cv" or "bound"', self.k, 1)]
        choice("k, if no number", self.k, ("cv", "bound"))
        return sorted(ks)

    def _errors(self, U: Array, s: Array, ks: list[int], rng: np.random.Generator) -> dict[int, float]:
        """Share of wrong points of all folds together, for every k; empty where there can be no folds."""
        folds = fold_numbers(s, self.folds, rng)
        if folds is None:
            return {}
        wrong = dict.fromkeys(ks, 0)
        for fold in range(folds.max() + 1):
            train, test = U[folds != fold], U[folds == fold]
            starts = start_points(train, self.starts, rng)
            for k in ks:
                h = self._minimised(train, k, starts)[0]
                wrong[k] += int(np.count_nonzero(test @ h <= 0))
        return {k: float(count / len(U)) for k, count in wrong.items()}

    def _minimised(self, U: Array, k: int, starts: list[Array]) -> tuple[Array, float, int]:
        """(h of norm 1, risk, rounds of at least 1), the best of all starts."""
        UT = np.ascontiguousarray((U / np.linalg.norm(U, axis=1, keepdims=True)).T)
        theta = np.linspace(0.0, 0.5 * math.pi, INTERVALS + 1)
        table = np.vstack([flip_probability(theta, k), slope(theta, k)])
        found = [descend(UT, h, 0.0, table, self.max_iter) for h in starts]
        h, risk, rounds = min(found, key=lambda each: each[1])
        return h / np.linalg.norm(h), float(risk), max(1, int(rounds))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
