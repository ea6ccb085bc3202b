"""Linear classifiers f(x) = w . x that minimise a convex potential or the unhinged loss.

The unhinged loss is 1 - y f(x).

Source: van Rooyen, Menon and Williamson, NIPS 2015.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC

from noisylabels.validation import Floats

NEWTON_STEPS = 200
"""Largest number of steps of Newton's method."""
SMALL_DECREMENT = 1e-10
"""Decrement below which a step is not halved, because rounding hides the improvement."""
LAST_DECREMENT = 1e-24
"""Decrement at which the minimum counts as reached."""


class Potential(NamedTuple):
    """A convex function of the margin z, with its first and second derivatives."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    curvature: Callable[[Floats], Floats]


POTENTIALS = {
    "logistic loss": Potential(
        lambda z: np.logaddexp(0.0, -z),
        lambda z: -expit(-z),
        lambda z: expit(z) * expit(-z),
    ),
    "exponential loss": Potential(
        lambda z: np.exp(-z),
        lambda z: -np.exp(-z),
        lambda z: np.exp(-z),
    ),
    "squared hinge loss": Potential(
        lambda z: np.maximum(0.0, 1 - z) ** 2,
        lambda z: -2 * np.maximum(0.0, 1 - z),
        lambda z: np.where(z < 1, 2.0, 0.0),
    ),
}
"""Names of convex functions phi that fall to 0 in the limit, with phi'(0) < 0."""


def minimiser(loss: str, Z: Floats, p: Floats, lam: float) -> Floats:
    """Minimise the mean loss of a linear function with a ridge.

    Parameters
    ----------
    loss : str
        A key of `POTENTIALS`, "hinge loss" or "unhinged loss".
    Z : ndarray of shape (n, d)
        Rows z_i = y_i x_i.
    p : ndarray of shape (n,)
        Probabilities of the rows.
    lam : float
        Weight of the ridge, at least 0; the hinge loss needs more than 0.

    Returns
    -------
    ndarray of shape (d,)
        The weights w. Those of the unhinged loss have a direction that does not depend on `lam`, in
        which 0 counts as 1.

    Examples
    --------
    >>> import numpy as np
    >>> from unhinged.methods import minimiser
    >>> rows = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> minimiser("unhinged loss", rows, np.array([0.5, 0.5]), 0.5).tolist()
    [1.0, 2.0]

    Notes
    -----
    The problem is min_w sum_i p_i phi(z_i . w) + lam/2 ||w||^2. Newton's method with halved steps
    minimises potentials, LIBLINEAR the hinge loss. The unhinged loss has the solution
    w = sum_i p_i z_i / lam.

    References
    ----------
    van Rooyen, Menon and Williamson (2015), Learning with Symmetric Label Noise: The Importance of
    Being Unhinged.
    """
    if loss == "unhinged loss":
        return p @ Z / (lam or 1.0)
    if loss == "hinge loss":
        return _minimise_hinge(Z, p, lam)
    return _minimise_potential(POTENTIALS[loss], Z, p, lam)


def _minimise_hinge(Z: Floats, p: Floats, lam: float) -> Floats:
    # LIBLINEAR needs both labels, and -z with label -1 is the same example.
    sign = np.where(np.arange(len(Z)) % 2, 1.0, -1.0)
    model = LinearSVC(
        C=1.0 / lam,
        loss="hinge",
        fit_intercept=False,
        # LIBLINEAR draws the order of the rows; without a seed the last digits vary.
        random_state=0,
        tol=1e-5,
        max_iter=100_000,
    )
    model.fit(Z * sign[:, np.newaxis], sign, sample_weight=p)
    return model.coef_[0]


def _minimise_potential(potential: Potential, Z: Floats, p: Floats, lam: float) -> Floats:
    d = Z.shape[1]
    w = np.zeros(d)

    def objective(w: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(p @ potential.value(Z @ w) + lam / 2 * w @ w)

    for _ in range(NEWTON_STEPS):
        z = Z @ w
        gradient = Z.T @ (p * potential.slope(z)) + lam * w
        hessian = Z.T @ ((p * potential.curvature(z))[:, np.newaxis] * Z) + lam * np.eye(d)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        decrement = gradient @ step
        size = 1.0
        if decrement > SMALL_DECREMENT:
            while objective(w - size * step) > objective(w) - 1e-4 * size * decrement:
                size /= 2
        w = w - size * step
        if decrement <= LAST_DECREMENT:
            break
    return w


def signed(X: Floats, y: ArrayLike) -> Floats:
    """Make the rows y_i (x_i, 1) of features X (n, d) and labels y (n,), positive for class +1."""
    sign = np.where(np.asarray(y) > 0, 1.0, -1.0)
    return sign[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])


def threshold(Z: Floats) -> float:
    """Compute the ridge from which on the SVM is the unhinged solution.

    It is max_i z_i . m with m the mean of the rows of Z. No margin z_i . w of w = m / lam then
    exceeds 1, so the hinge loss is 1 - z_i . w at every point.
    """
    return float((Z @ Z.mean(axis=0)).max())


class LinearPotential(ClassifierMixin, BaseEstimator):
    """Linear classifier of two classes that minimises a convex potential or the unhinged loss.

    Parameters
    ----------
    loss : str, default "unhinged loss"
        A loss that `minimiser` knows.
    lam : float, optional
        Weight of the ridge. If neither `lam` nor `times` is given, the multiple is chosen that has
        the fewest wrong labels in 5 folds of the (noisy) training labels.
    times : float, optional
        Weight of the ridge as a multiple of the `threshold`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels.
    coef_ : ndarray of shape (d + 1,)
        The weights, the last one for the constant.

    Examples
    --------
    >>> import numpy as np
    >>> from unhinged.methods import LinearPotential
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> LinearPotential().fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 0, 1, 1]
    """

    MULTIPLES = (10.0, 1.0, 0.1, 0.01, 0.001)

    def __init__(
        self,
        loss: str = "unhinged loss",
        lam: float | None = None,
        times: float | None = None,
    ):
        self.loss = loss
        self.lam = lam
        self.times = times

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the weights to features X (n, d) and labels y (n,) of two classes."""
        self.classes_ = np.unique(y)
        Z = signed(X, y == self.classes_[1])
        times = self.times
        if self.lam is None and times is None and self.loss != "unhinged loss":
            times = self._choose_multiple(Z)
        self.coef_ = self._solved(Z, times)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class by the sign of w . (x, 1)."""
        scores = np.asarray(X) @ self.coef_[:-1] + self.coef_[-1]
        return self.classes_[(scores > 0).astype(int)]

    def _choose_multiple(self, Z: Floats) -> float:
        fold = np.random.default_rng(0).permutation(len(Z)) % 5
        errors = []
        for multiple in self.MULTIPLES:
            errors.append(sum(self._wrong(Z, fold == k, multiple) for k in range(5)))
        return self.MULTIPLES[int(np.argmin(errors))]

    def _solved(self, Z: Floats, times: float | None) -> Floats:
        lam = times * threshold(Z) if times else self.lam or 1.0
        return minimiser(self.loss, Z, np.full(len(Z), 1 / len(Z)), lam)

    def _wrong(self, Z: Floats, is_held_out: NDArray[np.bool_], times: float) -> int:
        scores = Z[is_held_out] @ self._solved(Z[~is_held_out], times)
        return int(np.sum(scores <= 0))
