"""Linear classification by a smooth margin loss, robust or convex, solved to its minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.losses.margin import Loss, resolve
from noisylabels.solvers.margin_lbfgs import minimise
from noisylabels.validation import number, whole


class MarginMinimiser(LinearBinaryClassifier):
    """min_w (1/n) sum_i r(y_i (x_i.w + b)) + lambda/2 ||(w, b)||^2 by L-BFGS from zero weights.

    The problem of `RobustSGDClassifier` without the noise of its steps: the difference between the two is the
    optimiser's. A loss that is not convex is solved to the minimum that L-BFGS reaches from 0.

    loss : name or `noisylabels.losses.margin.Loss` without kinks.   lam : lambda > 0.
    max_iter : rounds of L-BFGS.   random_state : not used, there is nothing random.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), n_iter_, converged_.
    Raises ValueError : a loss with kinks, labels that are not two classes, NaN or infinity, wrong parameters.
    Source: the losses of Han, Tsang, Chen, ECML PKDD 2016; solving them to the minimum is ours.
    """

    name = "margin_minimiser"

    def __init__(
        self,
        loss: str | Loss = "rgomp",
        *,
        lam: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.lam = lam
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> MarginMinimiser:
        """Solve for X (n, d), dense or CSR, and y (n,)."""
        loss = resolve(self.loss)
        if not (
            loss.smooth or loss.name in ("squared_hinge", "modified_huber")
        ):  # these have a slope everywhere
            raise ValueError(
                f"loss: {loss.name} has kinks, for which L-BFGS is not made; take a smooth one, "
                "or for the hinge LiblinearClassifier(loss='hinge', dual=True)"
            )
        number("lam", self.lam, above=0)
        whole("max_iter", self.max_iter, 1)
        X, labels = self._checked(X, y, None, first=True)
        found = minimise(X, labels, loss, float(self.lam), max_iter=self.max_iter)
        self.coef_, self.intercept_ = found.w[np.newaxis, :-1].copy(), found.w[-1:].copy()
        self.n_iter_, self.converged_ = found.iterations, found.converged
        return self
