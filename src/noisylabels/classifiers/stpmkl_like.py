"""A reconstruction of StPMKL, which learns the weights of many kernels at a saddle point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from noisylabels.classifiers.base import Repeated
from noisylabels.classifiers.multi_kernel import Mixture, MultiKernelClassifier
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import Parametrisation
from noisylabels.validation import Floats, number, numbers, whole

LOST = 1e-10  # largest diagonal entry that K_i - G_i G_i^T may have
BOX_SCALE = 0.01  # step in (a, b) relative to p; on heart faster than 0.001, 0.1, 1 and 10
CHECK = 10  # iterations after which the gap is computed again
SHRINK = 0.5
GROW = 1.2


@dataclass(frozen=True)
class Factors:
    r"""Low-rank factors of kernel matrices, side by side in one matrix.

    Parameters
    ----------
    G : ndarray of shape (n, R)
        The factors. Each has n rows and as many columns as its kernel has rank.
    first : ndarray of int, shape (S,)
        Number of the first column of each factor.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.stpmkl_like import Factors
    >>> factors = Factors.of(np.stack([np.ones((3, 3)), np.eye(3)]))
    >>> factors.G.shape, factors.first.tolist()
    ((3, 4), [0, 1])

    Notes
    -----
    Kernel matrix :math:`K_i` is :math:`G_i G_i^T`, up to 1e-10 in each diagonal entry.
    """

    G: Floats
    first: NDArray[np.intp]

    @classmethod
    def of(cls, K: NDArray[np.floating]) -> Factors:
        """Factor kernel matrices by pivoted Cholesky.

        Kernels on one feature have low ranks.

        Parameters
        ----------
        K : ndarray of shape (S, n, n)
            The kernel matrices.

        Returns
        -------
        Factors
            Their factors.
        """
        parts = []
        for matrix in K:
            array = np.asarray(matrix, dtype=float)
            factor, pivots, rank, _ = lapack.dpstrf(array, tol=LOST, lower=1)
            G = np.empty((len(matrix), rank))
            G[pivots - 1] = np.tril(factor)[:, :rank]
            parts.append(G)
        first = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
        joined = np.concatenate(parts, axis=1)
        return cls(np.ascontiguousarray(joined), first)

    def forms(self, p: Floats, v: Floats) -> tuple[Floats, Floats]:
        r"""Compute the quadratic form of every kernel, and the product with their mixture.

        Parameters
        ----------
        p : ndarray of shape (S,)
            Weights of the kernels.
        v : ndarray of shape (n,)
            Weights of the points.

        Returns
        -------
        squares : ndarray of shape (S,)
            The forms :math:`v \cdot K_i v`.
        f : ndarray of shape (n,)
            The product :math:`K_p v` with :math:`K_p = \sum_i p_i K_i`.
        """
        inner = v @ self.G
        sizes = np.diff([*self.first, self.G.shape[1]])
        scaled = inner * np.repeat(p, sizes)
        squares = np.add.reduceat(inner * inner, self.first)
        return squares, self.G @ scaled


@dataclass(frozen=True)
class SaddlePoint:
    """Weights of kernels and points at a saddle point.

    Parameters
    ----------
    p : ndarray of shape (S,)
        Weights of the kernels, at least 0 with the sum 1.
    v : ndarray of shape (n,)
        Weights of the points, with the signs of their labels.
    gap : float
        Relative duality gap.
    iterations : int
        Iterations after which this point was found.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.stpmkl_like import SaddlePoint
    >>> SaddlePoint(np.ones(1), np.array([1.0, -1.0]), 1e-4, 50).gap < 1e-3
    True
    """

    p: Floats
    v: Floats
    gap: float
    iterations: int


@dataclass(frozen=True)
class _Point:
    """A point of the search, and the slopes of the objective there."""

    p: Floats
    z: Floats
    slope_p: Floats
    slope_z: Floats


class _SaddlePoint:
    """The saddle-point problem of one column of labels, with entropy and squares as distances."""

    def __init__(self, factors: Factors, s: Floats, rho: float, C: float) -> None:
        self.factors = factors
        self.s = s
        self.rho = rho
        self.C = C
        rates = np.array([[1.0 - rho], [rho]])
        self.box = C * rates
        self.scale_p = np.log(max(len(factors.first), 2))
        square_of_box = float((self.box**2).sum())
        self.scale_z = BOX_SCALE * 0.5 * len(s) * square_of_box

    def point(self, p: Floats, z: Floats) -> _Point:
        v = self.s * (z[0] - z[1])
        square, f = self.factors.forms(p, v)
        margin = self.s * f
        hinges = np.stack([margin - 1.0, -margin - 1.0])
        return _Point(p, z, -0.5 * square, hinges)

    def step(self, start: _Point, slopes: _Point, t: float) -> tuple[Floats, Floats]:
        """Step to the next weights p, and to the next z within the boxes."""
        log_p = np.log(np.maximum(start.p, 1e-300))
        slope_of_p = t * self.scale_p * slopes.slope_p
        exponent = log_p - slope_of_p
        p = np.exp(exponent - exponent.max())
        moved = start.z - t * self.scale_z * slopes.slope_z
        new_p = p / p.sum()
        new_z = np.clip(moved, 0.0, self.box)
        return new_p, new_z

    def divergence(self, p: Floats, z: Floats, start: _Point) -> float:
        """Compute the distance of a point from the start, which the step size limits."""
        new_p = np.maximum(p, 1e-300)
        old_p = np.maximum(start.p, 1e-300)
        ratio = np.log(new_p / old_p)
        entropy = float(p @ ratio)
        change = z - start.z
        square = float((change**2).sum())
        return entropy / self.scale_p + 0.5 * square / self.scale_z

    def gap(self, p: Floats, z: Floats) -> float:
        """Compute the relative duality gap, (primal - dual) / |primal| >= 0."""
        v = self.s * (z[0] - z[1])
        square, f = self.factors.forms(p, v)
        margin = self.s * f
        hinge_if_right = np.maximum(1.0 - margin, 0.0)
        hinge_if_flipped = np.maximum(1.0 + margin, 0.0)
        hinges = hinge_if_right, hinge_if_flipped
        weighted_hinges = (1.0 - self.rho) * hinges[0] + self.rho * hinges[1]
        loss = self.C * float(weighted_hinges.sum())
        inner = float(v @ f)
        primal = 0.5 * inner + loss
        half_square = 0.5 * square.max()
        dual = float(z.sum() - half_square)
        size = max(abs(primal), 1e-300)
        return (primal - dual) / size


def mirror_prox(
    factors: Factors,
    s: Floats,
    rho: float,
    C: float,
    *,
    tolerance: float = 1e-3,
    iterations: int = 2000,
) -> SaddlePoint:
    r"""Find the saddle point of one column of labels up to a given relative duality gap.

    Parameters
    ----------
    factors : Factors
        The kernels on n points.
    s : ndarray of shape (n,)
        Labels, -1.0 and 1.0.
    rho : float
        Probability that a label is wrong, from 0 to 1/2.
    C : float
        Weight of the losses, above 0.
    tolerance : float, default 1e-3
        Relative duality gap that ends the search.
    iterations : int, default 2000
        Iterations, at most.

    Returns
    -------
    SaddlePoint
        The point with the smallest gap that was found.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.stpmkl_like import Factors, mirror_prox
    >>> factors = Factors.of(np.eye(4)[np.newaxis])
    >>> saddle = mirror_prox(factors, np.array([1.0, 1.0, -1.0, -1.0]), rho=0.0, C=1.0)
    >>> saddle.p.tolist(), saddle.v.round(1).tolist()
    ([1.0], [1.0, 1.0, -1.0, -1.0])

    Notes
    -----
    Kernel weights p are on the simplex, the dual variables a and b in two boxes, and :math:`K_p =
    \sum_i p_i K_i`. The problem is

    .. math::

        \min_p \; \max_{0 \le a \le (1 - \rho) C,\; 0 \le b \le \rho C} \;
        \mathbf{1} \cdot (a + b) - \tfrac12 v \cdot K_p v, \qquad v = s (a - b).

    It is the dual of the expected hinge loss of labels that are wrong with probability
    :math:`\rho`. For fixed p the maximum is the minimum over v of

    .. math::

        P(p, f) = \tfrac12 v \cdot K_p v + C \sum_n [(1 - \rho) \max(0, 1 - s_n f_n)
        + \rho \max(0, 1 + s_n f_n)], \qquad f = K_p v.

    For fixed (a, b) the minimum over p is :math:`\mathbf{1} \cdot (a + b) - \tfrac12 \max_i v \cdot
    K_i v`. The difference of the two is the duality gap. It is divided by :math:`|P|`.

    A step of length t goes from (p, z) with z = (a, b) along the slopes there to (p', z'), and
    again from (p, z) along those at (p', z'). t is halved until the theory's condition for 1/L is
    met, and then tried 1.2 times as long. After every 10 iterations two points are judged: the mean
    of all (p', z') weighted with t, and the last point. The one with the smallest gap of all is
    returned.

    References
    ----------
    Nemirovski (2004), SIAM J. Optim. 15. The problem is our reconstruction, after Yang et al.
    (2012), Stochastic programming multiple kernel learner.
    """
    problem = _SaddlePoint(factors, s, rho, C)
    S = len(factors.first)
    uniform = np.full(S, 1.0 / S)
    no_duals = np.zeros((2, len(s)))
    current = problem.point(uniform, no_duals)
    sum_p = np.zeros(S)
    sum_z = np.zeros((2, len(s)))
    length = 0.0
    t = 1.0
    best = SaddlePoint(current.p, np.zeros(len(s)), np.inf, 0)
    for k in range(1, iterations + 1):
        while True:
            middle = problem.point(*problem.step(current, current, t))
            p, z = problem.step(current, middle, t)
            change_p = middle.slope_p - current.slope_p
            change_of_p = middle.p - p
            error = change_p @ change_of_p
            change_z = middle.slope_z - current.slope_z
            change_of_z = middle.z - z
            error += (change_z * change_of_z).sum()
            room_of_middle = problem.divergence(middle.p, middle.z, current)
            room_of_end = problem.divergence(p, z, middle)
            room = room_of_middle + room_of_end
            if t * error <= room + 1e-15:
                break
            t *= SHRINK
        sum_p += t * middle.p
        sum_z += t * middle.z
        length += t
        t *= GROW
        if k % CHECK == 0 or k == iterations:
            means = (sum_p / length, sum_z / length)
            for weights, duals in (means, (p, z)):
                gap = problem.gap(weights, duals)
                if gap < best.gap:
                    v = s * (duals[0] - duals[1])
                    best = SaddlePoint(weights, v, gap, k)
            if best.gap < tolerance:
                return best
        current = problem.point(p, z)
    return best


@dataclass(eq=False, repr=False)
class StPMKLLikeClassifier(Repeated, MultiKernelClassifier):
    r"""Support vector machine with a mixture of kernels, for labels flipped at a known rate.

    This is a reconstruction: the original's exact minimax problem could not be read.

    Parameters
    ----------
    widths : array_like (S,), optional
        Widths of the Gaussian kernels, by default 2^-10 to 2^10.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    rho : float or sequence of float, default 0.0
        Known probability that a label is flipped, in [0, 0.5). `fit_bank` also takes one for each
        column of labels.
    C : float, default 1.0
        Weight of the losses, above 0 and at most 1e12.
    tolerance : float, default 1e-3
        Relative duality gap.
    max_iter : int, default 2000
        Iterations of mirror-prox, at most.

    Attributes
    ----------
    weights_ : ndarray (n,)
        Weights of the training rows.
    eta_ : ndarray (S,)
        Weight of each width.
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows, repeated or drawn if they have weights.
    n_iter_ : int
        Iterations after which the solution was found.
    classes_ : ndarray (2,)
        The classes.
    gap_ : float
        The relative duality gap.
    converged_ : bool
        Whether the gap is below the tolerance.
    flags_ : tuple of str
        ``not_converged``.
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
    >>> from noisylabels import StPMKLLikeClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = StPMKLLikeClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True

    Notes
    -----
    The fit minimises over p in the simplex and f :math:`\tfrac12 \lVert f \rVert^2_{K_p} + C \sum_n
    [(1 - \rho) h(s_n f_n) + \rho h(-s_n f_n)]` with :math:`h(z) = \max(0, 1 - z)` and :math:`f(x) =
    \sum_i p_i \sum_n w_n \kappa_i(x, x_n)`. The saddle point of its dual is found by mirror-prox.

    References
    ----------
    After Yang et al. (2012), Stochastic programming multiple kernel learner.
    """

    name = "stpmkl_like"
    FLIP_RATE: ClassVar[str] = "rho"

    widths: ArrayLike | None = None
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    rho: float | Sequence[float] = 0.0
    C: float = 1.0
    tolerance: float = 1e-3
    max_iter: int = 2000

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> StPMKLLikeClassifier:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        StPMKLLikeClassifier
            The classifier.
        """
        return self._fit(X, y, sample_weight)

    def _learn(
        self,
        bank: KernelBank,
        D: Floats,
        labels: Floats,
        a: Floats | None = None,
    ) -> list[Mixture]:
        """Fit each column of ``labels`` on one bank, with one rho for all or one for each."""
        rates = numbers("rho", self.rho, least=0, below=0.5)
        columns = labels.shape[1]
        if len(rates) not in (1, columns):
            raise ValueError(f"rho: {len(rates)} flip rates for {columns} columns of labels")
        number("C", self.C, above=0, most=1e12)
        number("tolerance", self.tolerance, above=0)
        whole("max_iter", self.max_iter, 1)
        stack = bank.stack(D)
        factors = Factors.of(stack.K)
        copies = np.bincount(stack.member)
        mixtures = []
        rate_of_column = np.broadcast_to(rates, labels.shape[1])
        for y, rho in zip(labels.T, rate_of_column, strict=True):
            labels_of_column = 2.0 * y - 1.0
            saddle = mirror_prox(
                factors,
                labels_of_column,
                float(rho),
                self.C,
                tolerance=self.tolerance,
                iterations=self.max_iter,
            )
            eta = saddle.p[stack.member] / copies[stack.member]  # equal kernels share their weight
            converged = bool(saddle.gap < self.tolerance)
            fitted = {"gap_": saddle.gap, "n_iter_": saddle.iterations, "converged_": converged}
            flags = {"not_converged": not converged}
            mixtures.append(Mixture(saddle.v, eta, flags, fitted=fitted))
        return mixtures
