"""The unbiased loss and the weighted SVM of Natarajan et al. (NIPS 2013), with a Gaussian kernel.

The labels y = +1 and -1 are flipped with probability rho_+ and rho_-. Flip rates are written as the
pair (rho_+, rho_-).
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from noisylabels.classifiers.kernel import Fits
from noisylabels.kernels.gaussian import Gram, rbf
from noisylabels.validation import Floats

Rates = tuple[float, float]
Candidate = tuple[float, Rates]
"""A parameter, and the flip rates that a method assumes."""
Loss = Callable[[Floats, Any], Floats]

CLEAN: Rates = (0.0, 0.0)
PAIRS: list[Rates] = list(product((0.0, 0.2, 0.4), (0.0, 0.2, 0.4)))
"""Pairs of flip rates among which cross-validation chooses where they are unknown."""


def logistic(t: Floats, y: Any) -> Floats:
    """Compute the logistic loss log(1 + e^(-y t))."""
    return np.logaddexp(0.0, -y * t)


def hinge(t: Floats, y: Any) -> Floats:
    """Compute the hinge loss max(0, 1 - y t)."""
    return np.maximum(0.0, 1 - y * t)


def zero_one(t: Floats, y: Any) -> Floats:
    """Compute the 0-1 loss: 1 where the sign of t is not y; t = 0 is class -1."""
    return np.where((t > 0) == (y > 0), 0.0, 1.0)


def unbiased(loss: Loss, t: Floats, y: Any, rates: Rates) -> Floats:
    """Estimate a loss without bias from labels that are flipped.

    Parameters
    ----------
    loss : callable
        The loss l(t, y) of scores and labels.
    t : ndarray of shape (n,)
        Scores.
    y : int or ndarray of shape (n,)
        Observed labels, +1 or -1.
    rates : tuple of float
        Flip rates (rho_+, rho_-), whose sum is below 1.

    Returns
    -------
    ndarray of shape (n,)
        Losses, whose mean over the flips is l(t, y) of the true label.

    Examples
    --------
    >>> import numpy as np
    >>> from natarajan2013.methods import unbiased, zero_one
    >>> unbiased(zero_one, np.array([0.7, -0.7]), 1, (0.2, 0.2)).round(2).tolist()
    [-0.33, 1.33]

    Notes
    -----
    The estimate is [(1 - rho_-y) l(t, y) - rho_y l(t, -y)] / (1 - rho_+ - rho_-).

    References
    ----------
    Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with Noisy Labels, Lemma 1.
    """
    positive, negative = rates
    rate_of_label = np.where(y > 0, positive, negative)
    rate_of_other = np.where(y > 0, negative, positive)
    difference = (1 - rate_of_other) * loss(t, y) - rate_of_label * loss(t, -y)
    return difference / (1 - positive - negative)


def weight(rates: Rates) -> float:
    """Compute the weight alpha of the weighted loss from the flip rates.

    It is P(observed +1 | x) where P(true +1 | x) = 1/2.
    """
    return (1 - rates[0] + rates[1]) / 2


class Folds:
    """Kernels of all widths on the folds of a cross-validation, each computed only once.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Squared distances between the training points.
    count : int
        Number of folds.
    parametrisation : str, default "sigma2"
        How a width enters the kernel, see `noisylabels.kernels.gaussian.rbf`.
    """

    def __init__(self, D: Floats, count: int, parametrisation: str = "sigma2"):
        self.D = D
        self.parametrisation = parametrisation
        self.grams: dict[tuple[float, int], Gram] = {}
        fold_of_row = np.random.default_rng(0).permutation(len(D)) % count
        self.is_held_out = [fold_of_row == k for k in range(count)]

    def gram(self, width: float, k: int) -> Gram:
        """Compute the kernel of a width on the training and the held-out rows of fold k."""
        if (width, k) not in self.grams:
            K = rbf(self.D, width, self.parametrisation)
            held_out = self.is_held_out[k]
            training = ~held_out
            between_training = K[np.ix_(training, training)]
            self.grams[width, k] = Gram(between_training, K[np.ix_(held_out, training)])
        return self.grams[width, k]

    def risk(
        self, method: type["Selected"], y: Floats, width: float, candidate: Candidate, rates: Rates
    ) -> float:
        """Sum the unbiased 0-1 loss under `rates` over the held-out rows of all folds."""
        risk = 0.0
        for k, held_out in enumerate(self.is_held_out):
            t = method.scores(self.gram(width, k), y[~held_out], *candidate)
            risk += unbiased(zero_one, t, y[held_out], rates).sum()
        return risk

    def best(
        self,
        method: type["Selected"],
        y: Floats,
        widths: Sequence[float] | Floats,
        candidates: list[Candidate],
        rates: Rates,
    ) -> tuple[float, Candidate]:
        """Find the width and candidate with the lowest risk; of equal ones, the first."""
        risks = {}
        for width, candidate in product(widths, candidates):
            risks[width, candidate] = self.risk(method, y, width, candidate, rates)
        return min(risks, key=lambda choice: risks[choice])


class Selected:
    """Base of methods that choose width, parameter and unknown rates on noisy labels.

    With known rates, the lowest mean of the unbiased 0-1 loss over the folds decides. With unknown
    rates, width and parameter are chosen as if nothing were flipped, then the rates, each by the
    errors on the noisy labels. Among equal candidates the first is chosen.
    """

    GRID = (0.01, 0.1, 1.0, 10.0)

    @staticmethod
    def scores(gram: Gram, y: Floats, parameter: float, rates: Rates, /) -> Floats:
        """Score the held-out points after training on labels y (n,), +1 or -1."""
        raise NotImplementedError

    @classmethod
    def fit_distances(
        cls,
        D: Floats,
        D_test: Floats,
        labels: Any,
        widths: Sequence[float] | Floats,
        *,
        parametrisation: str = "sigma2",
        rates: Sequence[Rates] | None = None,
        folds: int = 3,
    ) -> Fits:
        """Fit each column of labels, with everything chosen by cross-validation.

        Parameters
        ----------
        D : ndarray of shape (n, n)
            Squared distances between the training points.
        D_test : ndarray of shape (m, n)
            Squared distances between test and training points.
        labels : array-like of shape (n, L)
            Labels 0 or 1; each column is one problem.
        widths : sequence of float
            Widths of the Gaussian kernel to choose from.
        parametrisation : str, default "sigma2"
            How a width enters the kernel, see `noisylabels.kernels.gaussian.rbf`.
        rates : sequence of tuple, optional
            Known flip rates (rho_+, rho_-) of each column.
        folds : int, default 3
            Number of folds of the cross-validation.

        Returns
        -------
        Fits
            Scores of shape (L, 1, m).
        """
        signs = 2.0 * np.asarray(labels).T - 1
        scores = []
        cut = Folds(D, folds, parametrisation)
        for k, y in enumerate(signs):
            if rates is None:
                width, best = cls.chosen(cut, y, widths, CLEAN)
                candidates = [(best[0], pair) for pair in PAIRS]
                width, best = cut.best(cls, y, [width], candidates, CLEAN)
            else:
                width, best = cls.chosen(cut, y, widths, rates[k])
            gram = Gram(rbf(D, width, parametrisation), rbf(D_test, width, parametrisation))
            scores.append(cls.scores(gram, y, *best))
        missing = np.full((len(signs), 1), np.nan)
        flagged = np.zeros(missing.shape, bool)
        return Fits(np.stack(scores)[:, np.newaxis], missing, missing, flagged)

    @classmethod
    def chosen(
        cls, cut: Folds, y: Floats, widths: Sequence[float] | Floats, rates: Rates
    ) -> tuple[float, Candidate]:
        """Choose the width and the candidate (parameter, rates) for known rates."""
        positive, negative = rates
        candidates = [(value, (positive, negative)) for value in cls.GRID]
        return cut.best(cls, y, widths, candidates, rates)


class UnbiasedLogistic(Selected):
    """Kernel logistic regression on the unbiased estimate of the logistic loss.

    Notes
    -----
    It solves min_f sum_n l~(f(x_n), y_n) + zeta ||f||^2, with l the logistic loss and the kernel
    kappa + 1 for a constant. The estimate l~(t, y) = log(1 + e^(-y t))
    - y t rho_y / (1 - rho_+ - rho_-) is convex, because l''(t, y) = l''(t, -y).

    References
    ----------
    Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with Noisy Labels, Section 3.
    """

    @staticmethod
    def scores(gram: Gram, y: Floats, zeta: float, rates: Rates) -> Floats:
        """Compute f on the held-out points of y (n,), +1 or -1."""
        basis = gram.basis  # then f = Q v on the training points, and ||f||^2 = sum_i v_i^2 / lam_i
        Z = np.column_stack([basis.Q * np.sqrt(basis.lam), np.ones(len(y))])
        slope = np.where(y > 0, *rates) / (1 - sum(rates))
        # Divided by these sizes, the coordinates have curvatures of about 1 or less.
        size = np.sqrt(0.25 * (Z**2).sum(axis=0) + 2 * zeta)
        Z /= size

        def objective(v: Floats) -> tuple[float, Floats]:
            f = Z @ v
            ridge = zeta * (v / size**2) * v
            value = logistic(f, y).sum() - (slope * y) @ f + ridge.sum()
            derivative_in_f = -y * (expit(-y * f) + slope)
            gradient = Z.T @ derivative_in_f + 2 * zeta * v / size**2
            return value, gradient

        start = np.zeros(Z.shape[1])
        solution = minimize(objective, start, jac=True, method="L-BFGS-B", tol=1e-9)
        v = solution.x / size
        return gram.Z_out @ (v[:-1] / np.sqrt(basis.lam)) + v[-1]


class WeightedSVM(Selected):
    """Support vector machine that weights the two classes by the flip rates.

    Notes
    -----
    It solves min_f 1/2 ||f||^2 + 2 C sum_n a_n max(0, 1 - y_n (f(x_n) + b)), where a_n = 1 - alpha
    for y_n = +1, else alpha; alpha is the `weight` of the rates. With it, the minimiser of the
    weighted 0-1 loss under noise is the Bayes classifier.

    References
    ----------
    Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with Noisy Labels, Section 4.
    """

    @staticmethod
    def scores(gram: Gram, y: Floats, C: float, rates: Rates) -> Floats:
        """Compute f + b on the held-out points of y (n,), +1 or -1."""
        alpha = weight(rates)
        weights = {1.0: 2 * (1 - alpha), -1.0: 2 * alpha}
        model = SVC(C=C, kernel="precomputed", class_weight=weights, cache_size=500)
        model.fit(gram.K, y)
        return model.decision_function(gram.K_out)
