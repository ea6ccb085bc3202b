"""Linear classifiers with a robust loss, trained to the minimum, to separate loss and optimiser."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from noisylabels.classifiers.base import LinearBinaryClassifier, Weighted
from noisylabels.losses.margin import Loss, resolve
from noisylabels.validation import Floats, number, whole


@dataclass(eq=False, repr=False)
class MarginMinimiser(Weighted, LinearBinaryClassifier):
    """Linear classifier with a robust loss, trained to the minimum by L-BFGS.

    It solves the problem of `RobustSGDClassifier` without the noise of its steps, which isolates
    the effect of the optimiser. A loss that is not convex is solved to the minimum that L-BFGS
    reaches from zero weights.

    Parameters
    ----------
    loss : str or Loss
        Name of a loss of `noisylabels.losses.margin`, or a loss, without kinks.
    lam : float
        Strength of the regularisation, above 0.
    max_iter : int
        Most rounds of L-BFGS. It stops when no entry of the gradient exceeds 1e-5, or when the
        objective falls by less than 1e-10 of its value.
    random_state : int, optional
        Not used: nothing is random.
    class_weight : dict or "balanced", optional
        Weights of the observed classes.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        The weights.
    intercept_ : array of shape (1,)
        The intercept.
    classes_ : array of shape (2,)
        The classes.
    n_iter_ : int
        Rounds that were used.
    converged_ : bool
        Whether L-BFGS stopped before the last round.

    Raises
    ------
    ValueError
        A loss with kinks, labels that are not two classes, NaN or infinity, wrong parameters.

    Examples
    --------
    >>> from robust_sgd.minimiser import MarginMinimiser
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> MarginMinimiser(loss="log").fit(X, y).coef_.shape
    (1, 2)

    Notes
    -----
    The objective is the mean of the losses of the margins plus lam / 2 times the squared norm of
    the weights and the intercept.

    References
    ----------
    The losses are those of Han, Tsang and Chen, ECML PKDD 2016. Solving them to the minimum is
    ours.
    """

    name = "margin_minimiser"

    loss: str | Loss = "rgomp"
    _: KW_ONLY
    lam: float = 1e-4
    max_iter: int = 1000
    random_state: Any = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> MarginMinimiser:
        """Fit to X (n, d), dense or CSR, and y (n,), with weights (n,) up to a factor."""
        loss = resolve(self.loss)
        has_slope_everywhere = loss.smooth or loss.name in ("squared_hinge", "modified_huber")
        if not has_slope_everywhere:
            raise ValueError(
                f"loss: {loss.name} has kinks, for which L-BFGS is not made; take a smooth one, "
                "or for the hinge LiblinearClassifier(loss='hinge', dual=True)"
            )
        lam = number("lam", self.lam, above=0)
        rounds = whole("max_iter", self.max_iter, 1)
        X, y, weights = self._checked(X, y, sample_weight=sample_weight)
        n, d = X.shape
        a: Any = 1.0 if weights is None else weights * (n / weights.sum())

        def objective(v: Floats) -> tuple[float, Floats]:
            margins = y * (X @ v[:d] + v[d])
            pull = loss.slope(margins) * y * a / n
            gradient = lam * v
            gradient[:d] += X.T @ pull
            gradient[d] += pull.sum()
            return float((a * loss.value(margins)).mean() + 0.5 * lam * (v @ v)), gradient

        options: Any = {"maxiter": rounds, "maxfun": 2 * rounds, "gtol": 1e-5, "ftol": 1e-10}
        minimum = minimize(objective, np.zeros(d + 1), jac=True, method="L-BFGS-B", options=options)
        self.coef_ = minimum.x[np.newaxis, :-1].copy()
        self.intercept_ = minimum.x[-1:].copy()
        self.n_iter_ = int(minimum.nit)
        self.converged_ = bool(minimum.success)
        return self
