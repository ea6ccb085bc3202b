"""The unbiased loss and the weighted SVM of Natarajan et al. (NIPS 2013), with a Gaussian kernel.

The labels y = +1 and -1 are flipped with probability rho_+ and rho_-; rates are written (rho_+, rho_-).
"""

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from noisylabels.classifiers.kernel import Fits
from noisylabels.kernels.gaussian import Gram, rbf

CLEAN = (0.0, 0.0)
PAIRS = list(product((0.0, 0.2, 0.4), repeat=2))
"""Rates among which cross-validation chooses where they are not known."""


def logistic(t, y):
    """log(1 + e^(-y t))."""
    return np.logaddexp(0.0, -y * t)


def hinge(t, y):
    """max(0, 1 - y t)."""
    return np.maximum(0.0, 1 - y * t)


def zero_one(t, y):
    """1 where the sign of t is not y; t = 0 is class -1."""
    return np.where((t > 0) == (y > 0), 0.0, 1.0)


def unbiased(loss, t, y, rates):
    """[(1 - rho_-y) l(t, y) - rho_y l(t, -y)] / (1 - rho_+ - rho_-): its mean over the flips is l(t, y)."""
    positive, negative = rates
    of_y, of_other = np.where(y > 0, positive, negative), np.where(y > 0, negative, positive)
    return ((1 - of_other) * loss(t, y) - of_y * loss(t, -y)) / (1 - positive - negative)


def weight(rates):
    """alpha = (1 - rho_+ + rho_-) / 2, where P(observed +1 | x) is when P(true +1 | x) = 1/2."""
    return (1 - rates[0] + rates[1]) / 2


class Selected:
    """Width, parameter and, unless known, rates by cross-validation on the noisy labels.

    Known rates: the lowest mean of the unbiased 0-1 loss over the folds. Unknown: width and parameter as if
    nothing were flipped, then the rates, each by the errors on the noisy labels. Ties: the first candidate.
    """

    GRID = (0.01, 0.1, 1.0, 10.0)

    @classmethod
    def fit_distances(cls, D, D_test, labels, widths, *, parametrisation="sigma2", rates=None, folds=3):
        """`Fits` for each column of labels (n, L), 0 or 1; rates: a pair for each column, None: not known."""
        signs, scores = 2.0 * np.asarray(labels).T - 1, []
        cut = Folds(D, folds, parametrisation)
        for k, y in enumerate(signs):
            width, best = cls.chosen(cut, y, widths, CLEAN if rates is None else rates[k])
            if rates is None:
                width, best = cut.best(cls, y, [width], [(best[0], pair) for pair in PAIRS], CLEAN)
            gram = Gram(*(rbf(each, width, parametrisation) for each in (D, D_test)))
            scores.append(cls.scores(gram, y, *best))
        missing = np.full((len(signs), 1), np.nan)
        return Fits(np.stack(scores)[:, np.newaxis], missing, missing, np.zeros(missing.shape, bool))

    @classmethod
    def chosen(cls, cut, y, widths, rates):
        """(width, (parameter, rates)) for known rates."""
        return cut.best(cls, y, widths, [(value, tuple(rates)) for value in cls.GRID], rates)


class Folds:
    """Kernels of all widths on the folds of a cross-validation, each computed once."""

    def __init__(self, D, count, parametrisation="sigma2"):
        self.D, self.kernel, self.grams = D, parametrisation, {}
        fold = np.random.default_rng(0).permutation(len(D)) % count
        self.held = [fold == k for k in range(count)]

    def best(self, method, y, widths, candidates, rates):
        """The width and the candidate with the lowest mean of the unbiased 0-1 loss under ``rates``."""
        found = {}
        for width, candidate in product(widths, candidates):
            risk = 0.0
            for k, held in enumerate(self.held):
                if (gram := self.grams.get((width, k))) is None:
                    K = rbf(self.D, width, self.kernel)
                    gram = self.grams[width, k] = Gram(K[np.ix_(~held, ~held)], K[np.ix_(held, ~held)])
                t = method.scores(gram, y[~held], *candidate)
                risk += unbiased(zero_one, t, y[held], rates).sum()
            found[width, candidate] = risk
        return min(found, key=found.get)


class UnbiasedLogistic(Selected):
    """min_f sum_n l~(f(x_n), y_n) + zeta ||f||^2,  l the logistic loss, kernel kappa + 1 for a constant.

    l~(t, y) = log(1 + e^(-y t)) - y t rho_y / (1 - rho_+ - rho_-): convex, as l''(t, y) = l''(t, -y).
    """

    @staticmethod
    def scores(gram, y, zeta, rates):
        """f on the held-out points of y (n,), +1 or -1."""
        basis = gram.basis  # f = Q v on the training points, ||f||^2 = sum_i v_i^2 / lam_i
        Z = np.column_stack([basis.Q * np.sqrt(basis.lam), np.ones(len(y))])
        slope = np.where(y > 0, *rates) / (1 - sum(rates))
        size = np.sqrt(0.25 * (Z**2).sum(axis=0) + 2 * zeta)  # curvatures of at most about 1
        Z /= size

        def objective(v):
            f = Z @ v
            ridge = zeta * (v / size**2) * v
            value = logistic(f, y).sum() - (slope * y) @ f + ridge.sum()
            return value, Z.T @ (-y * (expit(-y * f) + slope)) + 2 * zeta * v / size**2

        v = minimize(objective, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B", tol=1e-9).x / size
        return gram.Z_out @ (v[:-1] / np.sqrt(basis.lam)) + v[-1]


class WeightedSVM(Selected):
    """min_f 1/2 ||f||^2 + 2 C sum_n a_n max(0, 1 - y_n (f(x_n) + b)).

    a_n = 1 - alpha where y_n = +1, else alpha; alpha = `weight` of the rates: then the minimiser of the
    weighted 0-1 loss under noise is the Bayes classifier.
    """

    @staticmethod
    def scores(gram, y, C, rates):
        """f + b on the held-out points of y (n,), +1 or -1."""
        alpha = weight(rates)
        weights = {1.0: 2 * (1 - alpha), -1.0: 2 * alpha}
        model = SVC(C=C, kernel="precomputed", class_weight=weights, cache_size=500).fit(gram.K, y)
        return model.decision_function(gram.K_out)
