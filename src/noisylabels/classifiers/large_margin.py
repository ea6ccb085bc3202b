"""Linear classifiers by their margins: LDM, a minimiser of a bound, and the smallest 0-1 loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import FitFlags, LinearBinaryClassifier, Repeated, fold_numbers
from noisylabels.classifiers.projections import flip_probability, margins, slope, uniform_bound
from noisylabels.seeding import generator
from noisylabels.solvers import weighted_logistic
from noisylabels.solvers.linear_margin import (
    NO_TABLE,
    coordinate_search,
    descend,
    interior_point,
    quadratic,
)
from noisylabels.validation import Floats, choice, number, numbers, whole

Choice = tuple[float, float, float]  # lam1, lam2, C
T = TypeVar("T")

TOLERANCE = 1e-8
ROUGH = 1e-4  # tolerance within the folds
KS = (1, 2, 5, 10, 20, 50, 100, 300)
INTERVALS = 2048  # intervals of the table of f_k, for which interpolation is right to 1e-10
KAPPAS = tuple(2.0**j for j in range(1, 9))
ROUNDS = 200
RIDGE = 1e-3  # ridge of the logistic regression among the start points
STEPS = 50


@dataclass(eq=False, repr=False)
class LargeMarginDistributionClassifier(Repeated, FitFlags, LinearBinaryClassifier):
    r"""Linear classifier with margins of large mean and small variance.

    Parameters
    ----------
    C : float or list of float, default 10.0
        Weight of the hinge losses, above 0. Cross-validation chooses among the values of lists,
        ties to the smaller lam1, then lam2, then C.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    lam1 : float or list of float, default 1 / 32
        Weight of the variance of the margins, at least 0.
    lam2 : float or list of float, default 1 / 32
        Weight of their mean, at least 0. With both 0 this is the linear support vector machine.
    folds : int, default 5
        Folds of the cross-validation.
    max_iter : int, default 100
        Rounds of the interior-point method, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of the folds.

    Attributes
    ----------
    coef_ : ndarray (1, d)
    intercept_ : ndarray (1,)
    classes_ : ndarray (2,)
    lam1_, lam2_, C_ : float
        The values chosen.
    errors_ : dict
        Errors of the folds for each (lam1, lam2, C).
    dual_gap_ : float
        Primal minus dual value.
    n_iter_ : int
        Rounds done.
    converged_ : bool
    flags_ : tuple of str
        ``no_folds``: the smallest value of each list was taken; ``not_converged``.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import LargeMarginDistributionClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LargeMarginDistributionClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit minimises :math:`\tfrac12 \lVert w \rVert^2 + \lambda_1 V - \lambda_2 M + C \sum_i
    \max(0, 1 - s_i w \cdot x_i)` for rows with a constant 1 appended, :math:`M = \tfrac1n \sum_i
    s_i w \cdot x_i` and :math:`V = 2 (\tfrac1n \sum_i (w \cdot x_i)^2 - M^2)`. Equal rows may lie
    in different folds.

    References
    ----------
    Zhang and Zhou (2014), Large margin distribution machine, KDD.
    """

    name = "large_margin_distribution"
    SPARSE: ClassVar[bool] = False

    C: Any = 10.0
    _: KW_ONLY
    lam1: Any = 2.0**-5
    lam2: Any = 2.0**-5
    folds: int = 5
    max_iter: int = 100
    random_state: Any = None

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> LargeMarginDistributionClassifier:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        LargeMarginDistributionClassifier
            The classifier.
        """
        whole("folds", self.folds, 2)
        whole("max_iter", self.max_iter, 1)
        lam1 = numbers("lam1", self.lam1, least=0)
        lam2 = numbers("lam2", self.lam2, least=0)
        C = numbers("C", self.C, above=0)
        grids = [np.unique(values).tolist() for values in (lam1, lam2, C)]
        choices: list[Choice] = list(product(*grids))
        U, s = self._signed(X, y, sample_weight)
        self.errors_: dict[Choice, float] = {}
        if len(choices) > 1:
            rng = generator(self.random_state)
            folds = fold_numbers(s, self.folds, rng)

            def solver(train: Floats) -> Callable[[Choice], Floats]:
                return lambda choice: _ldm(train, choice, ROUGH, self.max_iter)[0]

            self.errors_ = fold_errors(U, folds, choices, solver)
        chosen = min(self.errors_, key=lambda choice: self.errors_[choice], default=choices[0])
        self.lam1_, self.lam2_, self.C_ = chosen
        w, self.dual_gap_, self.n_iter_, self.converged_ = _ldm(
            U,
            chosen,
            TOLERANCE,
            self.max_iter,
        )
        no_folds = len(choices) > 1 and not self.errors_
        self._flag(no_folds=no_folds, not_converged=not self.converged_)
        self.coef_ = w[np.newaxis, :-1].copy()
        self.intercept_ = w[-1:].copy()
        return self


def _ldm(
    U: Floats,
    choice: Choice,
    tolerance: float,
    rounds: int,
) -> tuple[Floats, float, int, bool]:
    """Solve for w of rows s_i x_i; return it with the dual gap and whether the gap is small."""
    lam1, lam2, C = choice
    UT = np.ascontiguousarray(U.T)
    b = lam2 * UT.mean(axis=1)
    A = quadratic(UT, lam1)
    w, alpha, gap, done = interior_point(UT, A, b, C, tolerance, rounds)
    value = alpha.sum() - 0.5 * (b @ w + alpha @ (w @ UT))
    is_small = gap <= tolerance * (1.0 + abs(value))
    return w, float(gap), int(done), bool(is_small)


@dataclass(eq=False, repr=False)
class BoundMinimiser(FitFlags, LinearBinaryClassifier):
    r"""Linear classifier that minimises a bound on its error by random projections.

    Only angles count: features should be centred and of one scale. The bound is one for independent
    rows, so `fit` takes no weights.

    Parameters
    ----------
    k : int, "cv" or "bound", default "cv"
        Dimension of the projection; "cv" chooses from ks by cross-validation, ties to the smaller;
        "bound" chooses the k of ks, at most d + 1, whose bound on the error is smallest.
    ks : tuple of int
        Candidates for k.
    folds : int, default 5
        Folds of the cross-validation.
    delta : float, default 0.05
        The bound holds with probability 1 - delta.
    starts : int, default 5
        Random starting points, next to the linear support vector machine, logistic regression and
        the mean of the signed rows of norm 1.
    max_iter : int, default 200
        Rounds of L-BFGS, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of the starting points and folds.

    Attributes
    ----------
    coef_ : ndarray (1, d)
    intercept_ : ndarray (1,)
    classes_ : ndarray (2,)
    k_ : int
        The dimension chosen.
    risk_ : float
        The minimum found.
    bound_ : `noisylabels.classifiers.projections.Bound`
        The terms of the bound.
    by_k_ : dict
        Error of the folds, or the whole bound, for each k.
    n_iter_ : int
        Rounds from the best start.
    flags_ : tuple of str
        ``no_folds``: the smallest k was taken.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import BoundMinimiser
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = BoundMinimiser(k=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True

    Notes
    -----
    The fit minimises :math:`\tfrac1n \sum_i \min(1, 2 f_k(\theta_i))` with :math:`\cos \theta_i =
    s_i h \cdot x_i / (\lVert h \rVert \lVert x_i \rVert)`, where :math:`f_k(\theta)` is how often a
    random projection to k dimensions flips a prediction. Rows have a constant 1 appended.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE.
    """

    name = "bound_minimiser"
    SPARSE: ClassVar[bool] = False

    k: int | str = "cv"
    _: KW_ONLY
    ks: tuple[int, ...] = KS
    folds: int = 5
    delta: float = 0.05
    starts: int = 5
    max_iter: int = 200
    random_state: Any = None

    def fit(self, X: Any, y: ArrayLike) -> BoundMinimiser:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples, which the bound takes as independent.
        y : array_like of shape (n,)
            Labels of two classes.

        Returns
        -------
        BoundMinimiser
            The classifier.
        """
        ks = self._candidates()
        U, s = self._signed(X, y)
        Z = s[:, np.newaxis] * U
        rng = generator(self.random_state)
        starts = start_points(U, self.starts, rng)
        self.by_k_: dict[int, float] = {}
        if self.k == "cv":
            folds = fold_numbers(s, self.folds, rng)

            def solver(train: Floats) -> Callable[[int], Floats]:
                starts = start_points(train, self.starts, rng)
                return lambda k: self._minimised(train, k, starts)[0]

            self.by_k_ = fold_errors(U, folds, ks, solver)
        elif self.k == "bound":
            allowed = [k for k in ks if k <= U.shape[1]]
            for k in allowed or ks[:1]:
                h = self._minimised(U, k, starts)[0]
                margins_of_k = margins(h, Z, s)
                self.by_k_[k] = uniform_bound(margins_of_k, k, self.delta).total
        has_no_folds = self.k == "cv" and not self.by_k_
        self._flag(no_folds=has_no_folds)
        self.k_ = min(self.by_k_, key=lambda k: self.by_k_[k], default=ks[0])
        h, self.risk_, self.n_iter_ = self._minimised(U, self.k_, starts)
        self.bound_ = uniform_bound(margins(h, Z, s), self.k_, self.delta)
        self.coef_ = h[np.newaxis, :-1].copy()
        self.intercept_ = h[-1:].copy()
        return self

    def _candidates(self) -> list[int]:
        """List the values of k to choose from, in increasing order."""
        whole("folds", self.folds, 2)
        number("delta", self.delta, above=0, below=1)
        whole("max_iter", self.max_iter, 1)
        values = self.ks if np.iterable(self.ks) else [self.ks]
        ks = {whole("ks", k, 1) for k in values}
        if not ks:
            raise ValueError("ks: at least one k is needed, got none")
        if not isinstance(self.k, str):
            return [whole('k, if not "cv" or "bound"', self.k, 1)]
        choice("k, if no number", self.k, ("cv", "bound"))
        return sorted(ks)

    def _minimised(self, U: Floats, k: int, starts: list[Floats]) -> tuple[Floats, float, int]:
        """Minimise the risk over directions of norm 1, from several starts."""
        sizes = np.linalg.norm(U, axis=1, keepdims=True)
        units = U / sizes
        UT = np.ascontiguousarray(units.T)
        right_angle = 0.5 * math.pi
        theta = np.linspace(0.0, right_angle, INTERVALS + 1)
        probabilities = flip_probability(theta, k)
        slopes = slope(theta, k)
        table = np.vstack([probabilities, slopes])
        ends = [descend(UT, h, 0.0, table, self.max_iter) for h in starts]
        h, risk, rounds = min(ends, key=lambda end: end[1])
        size = np.linalg.norm(h)
        return h / size, float(risk), max(1, int(rounds))


@dataclass(eq=False, repr=False)
class ZeroOneLossClassifier(Repeated, LinearBinaryClassifier):
    r"""Linear classifier that searches for the fewest training errors.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    starts : int, default 5
        Random starting points, next to the linear support vector machine, logistic regression and
        the mean of the signed rows.
    sweeps : int, default 20
        Rounds of the search over all coordinates, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of the starting points.

    Attributes
    ----------
    coef_ : ndarray (1, d)
    intercept_ : ndarray (1,)
    classes_ : ndarray (2,)
    errors_ : int
        Training errors.

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import ZeroOneLossClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = ZeroOneLossClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit minimises :math:`\sum_i 1(s_i (b + x_i \cdot w) \le 0)` by :math:`\sum_i \sigma(-\kappa
    s_i f_i)` for :math:`\kappa = 2, 4, \ldots, 256`. After each comes an exact search along every
    coordinate, accepted where the number of errors falls. The best of all starts is kept, ties to
    the smaller smooth loss.

    References
    ----------
    Nguyen and Sanner (2013), Algorithms for direct 0-1 loss optimization in binary classification,
    ICML; the smooth loss and the search, not their branch and bound.
    """

    name = "zero_one_loss"
    SPARSE: ClassVar[bool] = False

    _: KW_ONLY
    starts: int = 5
    sweeps: int = 20
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> ZeroOneLossClassifier:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        ZeroOneLossClassifier
            The classifier.
        """
        whole("sweeps", self.sweeps, 1)
        U, _ = self._signed(X, y, sample_weight)
        UT = np.ascontiguousarray(U.T)
        ends = []
        for start in start_points(U, self.starts, generator(self.random_state)):
            h = start
            for kappa in KAPPAS:
                h, smooth, _ = descend(UT, h, kappa, NO_TABLE, ROUNDS)
                errors = coordinate_search(UT, h, self.sweeps)
            ends.append((errors, smooth, h))
        _, _, h = min(ends, key=lambda end: end[:2])
        self.coef_ = h[np.newaxis, :-1].copy()
        self.intercept_ = h[-1:].copy()
        self.errors_ = int(np.count_nonzero(self.predict(X) != y))
        return self


def fold_errors(
    U: Floats,
    folds: NDArray[np.intp] | None,
    choices: Sequence[T],
    solver: Callable[[Floats], Callable[[T], Floats]],
) -> dict[T, float]:
    """Compute the share of wrong points of all folds together, for every choice.

    Parameters
    ----------
    U : ndarray of shape (n, d)
        Signed rows.
    folds : ndarray of shape (n,) or None
        The fold of each row; None where there can be no folds, and so no errors.
    choices : sequence
        The choices.
    solver : callable
        Takes the rows of a training set, and returns the weights (d,) as a function of the choice.

    Returns
    -------
    dict
        The share of each choice.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.large_margin import fold_errors
    >>> def solver(train):
    ...     return lambda sign: np.array([sign])
    >>> fold_errors(np.ones((4, 1)), np.array([0, 0, 1, 1]), [1.0, -1.0], solver)
    {1.0: 0.0, -1.0: 1.0}
    """
    if folds is None:
        return {}
    wrong = dict.fromkeys(choices, 0)
    for fold in range(folds.max() + 1):
        solve_for = solver(U[folds != fold])
        test = U[folds == fold]
        for candidate in choices:
            margin = test @ solve_for(candidate)
            wrong[candidate] += int(np.count_nonzero(margin <= 0))
    return {candidate: count / len(U) for candidate, count in wrong.items()}


def start_points(U: Floats, random: int, rng: np.random.Generator) -> list[Floats]:
    """Choose directions from which to search.

    They are the linear SVM with C of 1, logistic regression, the mean of the rows of norm 1, and
    Gaussian draws. A direction that gets every point wrong is reversed.

    Parameters
    ----------
    U : ndarray of shape (n, d)
        Signed rows, whose last feature was 1.
    random : int
        Number of Gaussian draws.
    rng : numpy.random.Generator
        Their source.

    Returns
    -------
    list of ndarray of shape (d,)
        Directions of norm 1.

    Raises
    ------
    ValueError
        If `random` is below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.large_margin import start_points
    >>> U = np.array([[1.0, 1.0], [2.0, -1.0]])
    >>> len(start_points(U, 2, np.random.default_rng(0)))
    5
    """
    random = whole("starts", random, 0)
    d = U.shape[1]
    UT = np.ascontiguousarray(U.T)
    identity = np.eye(d)
    zeros = np.zeros(d)
    svm = interior_point(UT, identity, zeros, 1.0, 1e-6, 100)[0]
    sizes = np.linalg.norm(U, axis=1, keepdims=True)
    units_of_rows = U / sizes
    mean = units_of_rows.mean(axis=0)
    s = U[:, -1]
    rows = s[:, np.newaxis] * U
    ZT = np.ascontiguousarray(rows.T[::-1])  # the constant comes first and has no penalty
    theta = np.zeros(d)
    no_flips = np.zeros(2)
    constant = np.ones(len(s))
    weighted_logistic.fit(ZT, s, constant, theta, RIDGE, no_flips, False, STEPS)
    normals = rng.standard_normal((random, d))
    logistic = theta[::-1].copy()
    points = [svm, logistic, mean, *normals]
    units = [h / np.linalg.norm(h) for h in points if np.abs(h).max() > 0.0]
    return [h if (U @ h > 0.0).any() else -h for h in units]
