"""Linear logistic regression that learns how often the labels of each class were flipped."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import LinearBinaryClassifier, TrueLabelPosterior, Weighted
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_linear import fit_two_classes
from noisylabels.solvers.flipped_softmax import Fit, em_newton
from noisylabels.validation import Floats, flag, number, whole


@dataclass(eq=False, repr=False)
class RobustLogisticRegression(Weighted, TrueLabelPosterior, LinearBinaryClassifier):
    r"""Logistic regression that learns how often the labels of each class were flipped.

    Parameters
    ----------
    lam : float, default 1e-3
        Penalty of the weights, above 0; the bias is not penalised.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    omega : array_like (K, K), default 0.8 on the diagonal for two classes
        Flip matrix where the fit begins, rows are true classes. The default stands for 0.8 on the
        diagonal and equal other entries for any number of classes.
    learn_omega : bool, default True
        False keeps the flip matrix as given; with the identity this is plain logistic regression.
    max_iter : int, default 500
        Most rounds of the solver.

    Attributes
    ----------
    coef_ : ndarray (1, d), or (K, d) for more than two classes
    intercept_ : ndarray (1,) or (K,)
    classes_ : ndarray (K,)
    flip_matrix_ : ndarray (K, K)
        Probability of each observed class, given the true one (rows).
    objectives_ : list of float
        Penalised log-likelihood after each round.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
    flags_ : tuple of str
        ``not_converged``; ``classes_swapped``: the flip matrix was then reset.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        For labels of one class, NaN or infinity, parameters out of range, or negative weights.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import RobustLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=5000)
    >>> X = rng.normal(size=(5000, 2)) + 3 * y[:, None]
    >>> observed = np.where((y == 0) & (rng.random(5000) < 0.3), 1, y)
    >>> model = RobustLogisticRegression().fit(X, observed)
    >>> model.flip_matrix_.round(1)
    array([[0.7, 0.3],
           [0. , 1. ]])
    >>> bool(model.score(X, y) > 0.98)
    True

    Notes
    -----
    The fit maximises :math:`\sum_n a_n \log \tilde P_n - \lambda \lVert w \rVert^2` with
    :math:`f = x \cdot w + b` and
    :math:`\tilde P^k = \omega_{0k} (1 - \sigma(f)) + \omega_{1k} \sigma(f)`. For more classes the
    softmax of :math:`f_1, \ldots, f_K`, whose sum is 0, takes the place of :math:`\sigma`, and the
    penalty is :math:`2 \lambda \sum_k \lVert w_k \rVert^2`, which for two classes is the one
    above. The flip matrix is identified by its diagonal, which holds the largest entry of each row
    and column.

    Columns are centred and scaled inside, which changes rounding only. Two classes are solved by
    L-BFGS on weights and flip rates together. More classes, fits that do not converge, and classes
    that change their names are solved by the authors' method: a Newton step on the surrogate of EM
    and an update of the flip matrix in turn. The likelihood can have several maxima; both methods
    begin at w = 0 and one flip matrix.

    References
    ----------
    Bootkrajang and Kabán (2012), Label-noise robust logistic regression and its applications, ECML
    PKDD; the start of the flip matrix is that of their public code.
    """

    name = "robust_logistic"
    SPARSE: ClassVar[bool] = False
    MULTICLASS: ClassVar[bool] = True
    LINK: ClassVar[float] = 1.0

    lam: float = 1e-3
    _: KW_ONLY
    omega: ArrayLike = ((0.8, 0.2), (0.2, 0.8))
    learn_omega: bool = True
    max_iter: int = 500

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0; None for 1.

        Returns
        -------
        RobustLogisticRegression
            The classifier.
        """
        number("lam", self.lam, above=0)
        flag("learn_omega", self.learn_omega)
        whole("max_iter", self.max_iter, 1)
        X, labels, weights = self._examples(X, y, sample_weight)
        n_classes = len(self.classes_)
        omega = flips.checked(self.omega, n_classes)
        ZT, centre, scale = standardised_columns(X, weights)
        rates = float(self.lam) / scale**2
        penalty = np.append(0.0, rates)
        fit = self._solve(ZT, labels, penalty, omega, weights)
        W = fit.theta.T.reshape(-1, len(ZT))
        self.coef_ = W[:, 1:] / scale
        self.intercept_ = W[:, 0] - self.coef_ @ centre
        self.flip_matrix_ = fit.omega
        self.objectives_ = fit.objectives
        self.converged_ = fit.converged
        self.n_iter_ = len(fit.objectives)
        self._flag(not_converged=not fit.converged, classes_swapped=fit.permuted)
        return self

    def _solve(
        self,
        ZT: Floats,
        labels: NDArray[np.intp],
        penalty: Floats,
        omega: Floats,
        weights: Floats | None,
    ) -> Fit:
        """Fit two classes by L-BFGS, and by EM where that fails or the classes swap."""
        if len(omega) == 2:
            if weights is None:
                a = np.ones(len(labels))
            else:
                a = weights
            fit = fit_two_classes(
                ZT,
                labels.astype(float),
                a,
                penalty,
                omega,
                learn_omega=self.learn_omega,
                rounds=self.max_iter,
            )
            if fit.converged and not fit.permuted:
                return fit
        return em_newton(
            ZT.T,
            labels,
            penalty,
            omega,
            learn_omega=self.learn_omega,
            weights=weights,
            rounds=self.max_iter,
        )


def standardised_columns(X: Floats, weights: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Centre and scale the columns of a matrix, and put a row of ones before them.

    Newton steps and L-BFGS lose their digits where columns have other units or are far from 0.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The matrix.
    weights : ndarray of shape (n,), optional
        Weights of the rows; None for 1.

    Returns
    -------
    ZT : ndarray of shape (1 + d, n)
        The ones, and the columns as rows.
    centre : ndarray of shape (d,)
        The means.
    scale : ndarray of shape (d,)
        The standard deviations, 1 for a constant column.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.logistic import standardised_columns
    >>> ZT, centre, scale = standardised_columns(np.array([[1.0], [3.0]]))
    >>> ZT.tolist(), centre.tolist(), scale.tolist()
    ([[1.0, 1.0], [-1.0, 1.0]], [2.0], [1.0])
    """
    n, d = X.shape
    ZT = np.ones((1 + d, n))
    ZT[1:] = X.T
    centre = np.empty(d)
    scale = np.empty(d)
    for j, column in enumerate(ZT[1:]):
        centre[j] = np.average(column, weights=weights)
        column -= centre[j]
        mean_square = np.average(column * column, weights=weights)
        deviation = math.sqrt(mean_square)
        scale[j] = deviation if deviation > 0.0 else 1.0
        column /= scale[j]
    return ZT, centre, scale
