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
    factors: Factors,
    s: Floats,
    rho: float,
    C: float,
    *,
    tolerance: float = 1e-3,
    iterations: int = 2000,
) -> SaddlePoint:
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
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> StPMKLLikeClassifier:
        """Fit to X (n, d) and labels y (n,), with weights (n,) as in `Weighted`."""
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
