"""Linear classifiers f(x) = w . x that minimise a convex potential, or the unhinged loss 1 - y f(x).

Source: van Rooyen, Menon and Williamson, NIPS 2015.
"""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC

POTENTIALS = {  # phi, phi', phi'' of the margin z: convex, falling, phi'(0) < 0, 0 in the limit
    "logistic loss": (lambda z: np.logaddexp(0.0, -z), lambda z: -expit(-z), lambda z: expit(z) * expit(-z)),
    "exponential loss": (lambda z: np.exp(-z), lambda z: -np.exp(-z), lambda z: np.exp(-z)),
    "squared hinge loss": (
        lambda z: np.maximum(0.0, 1 - z) ** 2,
        lambda z: -2 * np.maximum(0.0, 1 - z),
        lambda z: np.where(z < 1, 2.0, 0.0),
    ),
}


def minimiser(loss, Z, p, lam):
    """min_w sum_i p_i phi(z_i . w) + lam/2 ||w||^2 for rows z_i = y_i x_i of Z (n, d): w (d,).

    Potentials by Newton's method with halved steps; the hinge loss by LIBLINEAR; the unhinged loss has
    w = sum_i p_i z_i / lam, whose direction does not depend on lam (0 counts as 1).
    """
    if loss == "unhinged loss":
        return p @ Z / (lam or 1.0)
    if loss == "hinge loss":  # LIBLINEAR wants both labels: -z with label -1 is the same example
        sign = np.where(np.arange(len(Z)) % 2, 1.0, -1.0)
        # LIBLINEAR draws the order of the rows: without a seed the last digits are others every time
        options = {"C": 1.0 / lam, "loss": "hinge", "fit_intercept": False, "random_state": 0}
        model = LinearSVC(**options, tol=1e-5, max_iter=100_000)
        return model.fit(Z * sign[:, np.newaxis], sign, sample_weight=p).coef_[0]
    value, slope, curvature = POTENTIALS[loss]
    w, d = np.zeros(Z.shape[1]), Z.shape[1]

    def objective(w):
        with np.errstate(over="ignore"):
            return p @ value(Z @ w) + lam / 2 * w @ w

    for _ in range(200):
        z = Z @ w
        gradient = Z.T @ (p * slope(z)) + lam * w
        hessian = Z.T @ ((p * curvature(z))[:, np.newaxis] * Z) + lam * np.eye(d)
        step, size = np.linalg.lstsq(hessian, gradient, rcond=None)[0], 1.0
        decrement = gradient @ step
        while decrement > 1e-10 and objective(w - size * step) > objective(w) - 1e-4 * size * decrement:
            size /= 2  # the last steps are whole: they improve less than rounding shows
        w = w - size * step
        if decrement <= 1e-24:
            break
    return w


def signed(X, y):
    """Rows y_i (x_i, 1)."""
    return np.where(np.asarray(y) > 0, 1.0, -1.0)[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])


def threshold(Z):
    """max_i z_i . m with m the mean of the rows of Z: from this ridge on the SVM is the unhinged solution.

    No margin z_i . w of w = m / lam then exceeds 1, so the hinge loss is 1 - z_i . w at every point.
    """
    return float((Z @ Z.mean(axis=0)).max())


class LinearPotential(ClassifierMixin, BaseEstimator):
    """`minimiser` on rows (x, 1), all weights alike.

    lam : of the ridge.   times : lam is that multiple of the `threshold` instead.
    Neither: the multiple with the fewest wrong labels in 5 folds of the (noisy) training labels.
    """

    MULTIPLES = (10.0, 1.0, 0.1, 0.01, 0.001)

    def __init__(self, loss="unhinged loss", lam=None, times=None):
        self.loss, self.lam, self.times = loss, lam, times

    def fit(self, X, y):
        """Sets coef_ (d + 1,), the last entry for the constant, and classes_."""
        self.classes_ = np.unique(y)
        Z, times = signed(X, y == self.classes_[1]), self.times
        if self.lam is None and times is None and self.loss != "unhinged loss":
            fold = np.random.default_rng(0).permutation(len(Z)) % 5
            wrong = [sum(self._wrong(Z, fold == k, each) for k in range(5)) for each in self.MULTIPLES]
            times = self.MULTIPLES[int(np.argmin(wrong))]
        self.coef_ = self._solved(Z, times)
        return self

    def predict(self, X):
        """The class by the sign of w . (x, 1)."""
        return self.classes_[(np.asarray(X) @ self.coef_[:-1] + self.coef_[-1] > 0).astype(int)]

    def _solved(self, Z, times):
        lam = times * threshold(Z) if times else self.lam or 1.0
        return minimiser(self.loss, Z, np.full(len(Z), 1 / len(Z)), lam)

    def _wrong(self, Z, held, times):
        return np.sum(Z[held] @ self._solved(Z[~held], times) <= 0)
