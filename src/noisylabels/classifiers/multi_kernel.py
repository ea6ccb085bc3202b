"""Classifiers that learn the weights of many Gaussian kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from noisylabels.classifiers.base import FitFlags, Repeated, TrueLabelPosterior, features_of
from noisylabels.classifiers.kernel import (
    Fits,
    KernelClassifier,
    label_columns,
    majority,
    silent,
    with_majority,
)
from noisylabels.kernels.bank import KernelBank, Stack, mixtures
from noisylabels.kernels.gaussian import WIDTHS, Parametrisation, squared_distances
from noisylabels.solvers.flipped_logistic import PriorFactor
from noisylabels.solvers.multi_kernel import SoftmaxPath, WSolver, ascend
from noisylabels.validation import Floats, number, numbers, whole

SMOOTH = 1e-3  # mean off-diagonal entry from which a kernel reaches beyond single points
CARRIED = 1e-8  # smallest share of sum eta that smooth kernels must carry
PROBES, FLAT = 200, 1e-6  # points between training points, and the least spread of f over them


@dataclass(frozen=True)
class Mixture:
    """The fit of one column of labels: weights w (n,) of points, and eta (S,) >= 0 of kernels.

    flags : words of `noisylabels.classifiers.base.FitFlags`, and whether they apply.
    omega : (2, 2) flip matrix, NaN without one.   fitted : further attributes of the estimator.
    """

    w: Floats
    eta: Floats
    flags: dict[str, bool]
    omega: Floats = field(default_factory=lambda: np.full((2, 2), np.nan))
    fitted: Mapping[str, object] = field(default_factory=dict)


class MultiKernelClassifier(FitFlags, KernelClassifier):
    """Base of classifiers with a Gaussian kernel of each width; subclasses learn the weights."""

    widths: ArrayLike | None
    weights_: Floats
    eta_: Floats

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        widths = WIDTHS if self.widths is None else self.widths
        self._bank = KernelBank.of_widths(widths, parametrisation=self.parametrisation)
        X, labels, a = self._examples(X, y, sample_weight)
        self.X_fit_ = X
        distances = squared_distances(X)
        D = distances[np.newaxis]
        if len(self.classes_) > 2 or a is not None:
            mixture = self._learn(self._bank, D, labels, a)[0]
        else:
            columns = labels[:, np.newaxis].astype(float)
            mixture = self._learn(self._bank, D, columns)[0]
        self.weights_ = mixture.w
        self.eta_ = mixture.eta
        for name, value in mixture.fitted.items():
            setattr(self, name, value)
        self._flag(**mixture.flags)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Compute f(x) for each row of X (n, d); 0, which is class 0, where no training point is
        near.

        Raises ValueError: not fitted, other number of features, NaN or infinity.
        """
        distances = squared_distances(features_of(self, X), self.X_fit_)
        D = distances[np.newaxis]
        w = self.weights_.reshape(len(self.weights_), -1)
        eta = np.repeat(self.eta_[:, np.newaxis], w.shape[1], axis=1)
        f = self._bank.scores(D, w, eta)
        return f[0] if len(f) == 1 else f.T

    @classmethod
    def fit_bank(
        cls, bank: KernelBank, D: Floats, D_out: Floats, labels: NDArray[Any], **parameters: Any
    ) -> Fits:
        """Fit a model to each column of labels (n, L), 0 or 1, with the kernels of ``bank``.

        D (G, n, n), D_out (G, m, n): squared distances, one matrix per group of the bank.
        parameters: of the class. A column with one class only gets f = +-1 everywhere, flagged.
        Also flagged: f = 0 at all held-out points (there the more frequent observed class is
        predicted), and what the method flags.
        Raises ValueError: labels other than 0 and 1 or of another length, wrong parameters.
        """
        y = label_columns(labels, D.shape[1])
        learner = cls(**parameters)
        mixtures = learner._learn(bank, D, y.T)
        w = np.stack([m.w for m in mixtures], axis=1)
        eta = np.stack([m.eta for m in mixtures], axis=1)
        side = majority(y)
        f = bank.scores(D_out, w, eta)
        lowest = y.min(axis=1)
        constant = lowest == y.max(axis=1)
        has_flag = np.array([any(m.flags.values()) for m in mixtures])
        flagged = has_flag | silent(f) | constant
        majority_scores = with_majority(f, y)
        scores = np.where(constant[:, np.newaxis], side[:, np.newaxis], majority_scores)
        omega01 = np.array([m.omega[0, 1] for m in mixtures])
        omega10 = np.array([m.omega[1, 0] for m in mixtures])
        rates01 = np.where(constant, np.nan, omega01)
        rates10 = np.where(constant, np.nan, omega10)
        parts = [part[:, np.newaxis] for part in (scores, rates01, rates10, flagged)]
        return Fits(*parts)

    @classmethod
    def fit_distances(
        cls,
        D: Floats,
        D_out: Floats,
        labels: NDArray[Any],
        widths: ArrayLike,
        *,
        parametrisation: Parametrisation = "sigma2",
        **parameters: Any,
    ) -> Fits:
        """Fit as `fit_bank` does, with a kernel of every width on squared distances."""
        bank = KernelBank.of_widths(widths, parametrisation=parametrisation)
        return cls.fit_bank(bank, D[np.newaxis], D_out[np.newaxis], labels, **parameters)

    def _learn(
        self, bank: KernelBank, D: Floats, labels: NDArray[Any], a: Floats | None = None
    ) -> Sequence[Mixture]:
        """Learn a mixture of kernels for each column of labels."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class RobustMultiKernelLogisticRegression(TrueLabelPosterior, MultiKernelClassifier):
    r"""Kernel logistic regression that learns flip rates and chooses among Gaussian kernels without
    cross-validation.

    Penalties are updated from the marginal priors of the weights, and kernels are pruned on the
    way. The result is not the maximum, which has every kernel off, but the end of the path of
    `noisylabels.solvers.multi_kernel.ascend`.

    That path is **calibrated**: the paper does not describe its optimiser. We tried about 25
    variants (optimiser, numbers of inner and outer iterations, step rule, start values, kernel
    parametrisation) on 5 to 13 sets with 2 to 6 splits each, and kept the one whose test errors
    came closest to the published table. Agreement with that table is therefore a calibration, not
    an independent reproduction.

    Parameters
    ----------
    widths : array_like (S,), optional
        Widths of the Gaussian kernels, by default 2^-10 to 2^10.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    T : int
        Rounds, at most.
    w_solver : {"cg10", "newton"}
        Ten conjugate-gradient steps a round, or eight Newton steps. With weights or more than two
        classes, conjugate-gradient steps to the end.
    prior_factor : {"slides", "exact"}
        See `noisylabels.solvers.flipped_logistic.marginal_zeta`.
    beta : float
        Rate of the prior of the penalty, above 0.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.

    Attributes
    ----------
    weights_ : ndarray (n,) or (n, K)
        Weights of the training rows.
    eta_ : ndarray (S,)
        Weight of each width.
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows.
    n_iter_ : int
        Rounds done.
    classes_ : ndarray (K,)
    flip_matrix_ : ndarray (K, K)
        Probability of each observed class, given the true one (rows).
    converged_ : bool
        Whether decision values and flip rates came to rest. Not flagged if False: the path is meant
        to end.
    flags_ : tuple of str
        ``collapsed``: no smooth kernel is left, so that the decision value is flat between the
        training rows; ``classes_swapped``: the flip matrix was then reset; ``not_finite``: the last
        round was undone.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are of one class, features are NaN or infinite, or a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import RobustMultiKernelLogisticRegression
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RobustMultiKernelLogisticRegression().fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The path ascends :math:`\sum_n \log \tilde P_n - \zeta \lVert w \rVert^2 - \sum_i \xi_i \eta_i`
    for :math:`f = \sum_i \eta_i K_i w` and :math:`\eta_i = u_i^2 \ge 0`, with :math:`\tilde P^k =
    \omega_{0k} (1 - \sigma(f)) + \omega_{1k} \sigma(f)`. For K classes the softmax takes the place
    of :math:`\sigma`, with one :math:`\eta` for all and the penalty :math:`2 \zeta \sum_k \lVert
    w_k \rVert^2`.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE, eq. (4) to (9), box rMKLR.
    """

    name = "robust_multi_kernel"
    MULTICLASS: ClassVar[bool] = True

    widths: ArrayLike | None = None
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    T: int = 10
    w_solver: WSolver = "cg10"
    prior_factor: PriorFactor = "slides"
    beta: float = 2.0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to X (n, d) and the labels y (n,), with weights (n,) >= 0 of the examples, 1 by
        default.
        """
        return self._fit(X, y, sample_weight)

    def _learn(
        self, bank: KernelBank, D: Floats, labels: NDArray[Any], a: Floats | None = None
    ) -> Sequence[Mixture]:
        stack = bank.stack(D)
        paths = ascend(stack, labels, self.T, self.w_solver, self.prior_factor, self.beta, a)
        if isinstance(path := paths[0], SoftmaxPath):
            eta = np.repeat(path.eta[:, np.newaxis], len(path.w), axis=1)
            flat = [all(smooth_collapse(bank, stack, D, path.w.T, eta))]
            w = path.classes(path.w)
            if w.shape[1] > 2:
                path.w = w
            else:
                path.w = w[:, 1] - w[:, 0]
        else:
            w = np.stack([path.w for path in paths], axis=1)
            eta = np.stack([path.eta for path in paths], axis=1)
            flat = smooth_collapse(bank, stack, D, w, eta)
        mixtures = []
        for path, collapsed in zip(paths, flat, strict=True):
            eta_of_kernels = path.eta[stack.member]
            flags = {
                "collapsed": collapsed,
                "classes_swapped": path.swapped,
                "not_finite": path.broken,
            }
            fitted = {
                "flip_matrix_": path.omega,
                "n_iter_": path.rounds,
                "converged_": path.converged,
            }
            mixtures.append(Mixture(path.w, eta_of_kernels, flags, path.omega, fitted))
        return mixtures


def smooth_collapse(
    bank: KernelBank, stack: Stack, D: Floats,
    w: Floats, eta: Floats,
) -> list[bool]:  # fmt: skip
    """Decide for each of L models whether only kernels that are spikes are left.

    D (G, n, n) : squared distances.   w (n, L), eta (S', L) : weights of points and of stacked
    kernels.

    True if kernels with a mean off-diagonal entry above 1e-3 carry less than 1e-8 of sum eta, or if
    f over 200 random mixtures a x_i + (1 - a) x_j of training points has a standard deviation below
    1e-6.
    """
    rng = np.random.default_rng(0)
    first, second = rng.integers(D.shape[1], size=(2, PROBES))
    shares = rng.random(PROBES)
    between = mixtures(D, first, second, shares)
    kernels_of_members = eta[stack.member]
    f = bank.scores(between, w, kernels_of_members)
    carried = stack.copies[:, np.newaxis] * eta
    is_smooth = stack.spread > SMOOTH
    smooth = carried[is_smooth].sum(axis=0)
    total = carried.sum(axis=0)
    lacks_smooth = smooth < CARRIED * total
    is_flat = f.std(axis=1) < FLAT
    return [bool(flag) for flag in lacks_smooth | is_flat]


# The saddle point of StPMKL

LOST = 1e-10  # largest diagonal entry that K_i - G_i G_i^T may have
BOX_SCALE = 0.01  # step in (a, b) relative to p; on heart faster than 0.001, 0.1, 1 and 10
CHECK = 10  # iterations after which the gap is computed again
SHRINK = 0.5
GROW = 1.2


@dataclass(frozen=True)
class Factors:
    """Low-rank factors G_i (n, r_i) of kernel matrices K_i, side by side in one matrix."""

    G: Floats
    first: NDArray[np.intp]

    @classmethod
    def of(cls, K: NDArray[np.floating]) -> Factors:
        """Factor every K_i of K (S, n, n) by pivoted Cholesky, as kernels on one feature have low
        ranks.
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
        """Compute v.K_i v of every kernel (S,), and K_p v (n,)."""
        inner = v @ self.G
        sizes = np.diff([*self.first, self.G.shape[1]])
        scaled = inner * np.repeat(p, sizes)
        squares = np.add.reduceat(inner * inner, self.first)
        return squares, self.G @ scaled


@dataclass(frozen=True)
class SaddlePoint:
    """Weights of kernels and points at a saddle point, its relative duality gap, and the
    iterations.
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
    factors: Factors, s: Floats, rho: float, C: float, *,
    tolerance: float = 1e-3, iterations: int = 2000,
) -> SaddlePoint:  # fmt: skip
    """Find the saddle point of one column of labels up to a relative gap of ``tolerance``.

    Kernel weights p are on the simplex, and the dual variables in two boxes; K_p = sum_i p_i K_i:

    min_{p in simplex} max_{0 <= a <= (1 - rho) C, 0 <= b <= rho C}  1.(a + b) - v.K_p v / 2,  v = s
    (a - b).

    It is the dual of the expected hinge loss of labels that are wrong with probability rho: for
    fixed p the maximum is that of

    P(p, f) = v.K_p v / 2 + C sum_n [(1 - rho) max(0, 1 - s_n f_n) + rho max(0, 1 + s_n f_n)],  f =
    K_p v,

    and for fixed (a, b) the minimum over p is 1.(a + b) - max_i v.K_i v / 2: their difference is
    the duality gap.

    A step of length t goes from (p, z) along the slopes there to (p', z'), and again from (p, z)
    along those at (p', z'). t is halved until the theory's condition for 1/L holds, and then tried
    1.2 times as long. Looked at are the mean of all (p', z') weighted with t, and the last point;
    the one with the smaller gap is returned.
    Source: Nemirovski, SIAM J. Optim. 15, 2004; the problem is our reconstruction, after Yang et
    al., 2012.
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
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    rho : float, default 0.0
        Known probability that a label is flipped, in [0, 0.5).
    C : float, default 1.0
        Weight of the losses, above 0 and at most 1e12.
    tolerance : float, default 1e-3
        Relative duality gap.
    max_iter : int, default 2000
        Iterations of mirror-prox, at most.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.

    Attributes
    ----------
    weights_ : ndarray (n,)
        Weights of the training rows.
    eta_ : ndarray (S,)
        Weight of each width.
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows.
    n_iter_ : int
        Rounds done.
    classes_ : ndarray (2,)
    gap_ : float
        The relative duality gap.
    converged_ : bool
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
    (1 - \rho) h(s_n f_n) + \rho h(-s_n f_n)` with :math:`h(z) = \max(0, 1 - z)` and :math:`f(x) =
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
        self, X: Any, y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> StPMKLLikeClassifier:  # fmt: skip
        """Fit to X (n, d) and labels y (n,), with weights (n,) as in `Weighted`."""
        return self._fit(X, y, sample_weight)

    def _learn(
        self, bank: KernelBank, D: Floats, labels: Floats,
        a: Floats | None = None,
    ) -> list[Mixture]:  # fmt: skip
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
