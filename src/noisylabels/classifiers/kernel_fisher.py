"""The kernel Fisher discriminant, robust to flipped labels by expectation and maximisation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.classifiers.base import TrueLabelPosterior
from noisylabels.classifiers.kernel import Fits, KernelClassifier
from noisylabels.compilation import compile_kernel
from noisylabels.kernels.gaussian import Basis, Gram, Parametrisation, basis
from noisylabels.noise import flip_matrix as flips
from noisylabels.validation import Floats, choice, number, numbers, whole

START = 0.8  # P(true label = observed label) at the start
ROUNDS = 50
Threshold = Literal["posterior", "midpoint"]
TOLERANCE = 1e-4  # of the posteriors
SMALLEST_VARIANCE = 1e-12  # within the classes, relative to the variance of z


@dataclass
class Discriminants:
    """P discriminants f(x) = sum_k w_k kappa(x, x_k) + b, one a row, w = Q v.

    v (P, r), b (P,); omega01, omega10 (P,); posterior (P, n), P(y = 1 | x, observed label).
    converged (P,) : the posteriors came to rest.   lost (P,) : a class was, the model is a constant.
    """

    v: Floats
    b: Floats
    omega01: Floats
    omega10: Floats
    posterior: Floats
    converged: NDArray[np.bool_]
    lost: NDArray[np.bool_]


def ridges(K: Floats, mu: ArrayLike, n: float | None = None) -> Floats:
    """mu tr(K^2) / n, n = len(K) if not given; ValueError: not finite, or not above 0."""
    return numbers("mu", mu, above=0) * float((K * K).sum()) / (len(K) if n is None else n)


def directions(basis: Basis, centred: Floats, mu: Floats, root: Floats | None = None) -> Floats:
    """(K H K + mu I)^-1 K r_c in the basis (P, r), for centred posteriors r_c (P, n), H = I - 1 1^T / n.

    With n_1 + n_0 = n and r the posteriors, the scatter within the classes is
    S_w = K^2 - n_1 m_1 m_1^T - n_0 m_0 m_0^T = K H K - (n_1 n_0 / n) (m_1 - m_0)(m_1 - m_0)^T,
    and m_1 - m_0 is K r_c times a number.
    So this is (S_w + mu I)^-1 (m_1 - m_0) up to a factor, which the Gaussians along the direction do not see.
    K H K + mu I is diagonal in the basis but for one rank-1 term (Woodbury).
    root (n,) : square roots of the rows' weights, if they have any; the basis is that of root K root, and
    centred is multiplied with root.
    """
    Q, lam = basis.Q, basis.lam
    n = len(Q) if root is None else root @ root
    ones = Q.sum(axis=0) if root is None else root @ Q  # the constant vector in the basis
    diagonal = lam**2 + mu[:, np.newaxis]
    tilt = lam * ones / diagonal
    # 1 - (1/n) sum ones^2 lam^2 / diagonal, without cancellation
    rest = max(n - float(ones @ ones), 0.0) + (mu[:, np.newaxis] * ones**2 / diagonal).sum(axis=1)
    d = (centred @ Q) * lam
    return d / diagonal + tilt * ((tilt * d).sum(axis=1) / rest)[:, np.newaxis]


@single_threaded_if_small
def expectation_maximisation(
    basis: Basis, labels: Floats, mu: Floats, rounds: int = ROUNDS, threshold: str = "posterior",
    weights: Floats | None = None,
) -> Discriminants:  # fmt: skip
    """Discriminants for P rows of observed labels (P, n), 0.0 or 1.0, and ridges mu (P,).

    weights a (n,) : of the rows, 1 if not given; the basis is then that of sqrt(a_i a_j) K_ij.
    rounds, threshold : see `RobustKernelFisherClassifier`.
    A row with one class only, or in which a class has less than one point left by its posteriors, becomes a
    constant. What has converged leaves the batch.
    Raises ValueError: rounds that are not whole numbers >= 0, unknown threshold.
    """
    whole("rounds", rounds, 0)
    choice("threshold", threshold, get_args(Threshold))
    trust = START if rounds else 1.0  # labels that are believed are a fixed point
    models, n = labels.shape[0], labels.shape[1] if weights is None else weights.sum()
    a, root = np.ones(labels.shape[1]), None
    if weights is not None:
        a, root = weights, np.sqrt(weights)
    QT = np.ascontiguousarray(basis.Q.T if root is None else (basis.Q / root[:, np.newaxis]).T)
    found = Discriminants(
        v=np.zeros((models, len(basis.lam))), b=np.zeros(models),
        omega01=np.full(models, np.nan), omega10=np.full(models, np.nan),
        posterior=np.where(labels == 1, trust, 1 - trust),
        converged=np.zeros(models, dtype=bool), lost=np.zeros(models, dtype=bool),
    )  # fmt: skip
    constant = np.isin(labels.mean(axis=1), (0.0, 1.0))
    found.b[constant] = 2 * labels[constant, 0] - 1
    found.lost[constant] = True
    live = np.flatnonzero(~constant)
    for _ in range(max(rounds, 1)):
        r = found.posterior[live]
        n1 = (r if root is None else r * a).sum(axis=1)
        lost = (n1 < 1) | (n - n1 < 1)
        found.b[live[lost]] = np.where(n1[lost] < 1, -1.0, 1.0)
        found.v[live[lost]], found.lost[live[lost]] = 0.0, True
        live, n1 = live[~lost], n1[~lost]
        if not len(live):
            break
        r = found.posterior[live]
        centred = r - (r.mean(axis=1, keepdims=True) if root is None else n1[:, np.newaxis] / n)
        v = directions(basis, centred if root is None else centred * root, mu[live], root)
        slope, offset, up, down, change = posteriors((v * basis.lam) @ QT, r, labels[live], a)
        if threshold == "midpoint":
            offset -= np.log(n1 / (n - n1))
        found.v[live], found.b[live] = slope[:, np.newaxis] * v, offset
        found.omega01[live], found.omega10[live], found.posterior[live] = up, down, r
        found.converged[live] = change < TOLERANCE
        live = live[change >= TOLERANCE]
    return found


@compile_kernel(error_model="numpy")
def posteriors(
    z: Floats, r: Floats, labels: Floats, a: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """From posteriors r (P, n) the Gaussians along z (P, n) and the flip rates; from these r again, in place.

    log-odds of the true label = slope z + offset + log omega_{1,y~} / omega_{0,y~}.
    a (n,) : weights of the points.
    Returns slope, offset, omega01, omega10 and the largest change of r, (P,) each.
    """
    models, points, n = z.shape[0], z.shape[1], a.sum()
    slope, offset, change = np.zeros(models), np.zeros(models), np.zeros(models)
    up, down = np.zeros(models), np.zeros(models)
    for p in range(models):
        centre = (a * z[p]).sum() / n
        n1 = weighted = square = kept = observed = 0.0
        for i in range(points):
            t, mass = z[p, i] - centre, a[i] * r[p, i]
            n1 += mass
            weighted += mass * t
            square += a[i] * t * t
            kept += mass * labels[p, i]
            observed += a[i] * labels[p, i]
        n0 = n - n1
        mean1, mean0 = weighted / n1, -weighted / n0  # z - centre has mean 0
        variance = max(square / n + mean1 * mean0, SMALLEST_VARIANCE * square / n)
        if variance > 0.0:
            slope[p] = (mean1 - mean0) / variance
        middle = np.log(n1 / n0) - slope[p] * (mean1 + mean0) / 2
        offset[p] = middle - slope[p] * centre
        up[p], down[p] = max(observed - kept, 0.0) / n0, max(n1 - kept, 0.0) / n1
        if_one, if_zero = np.log((1.0 - down[p]) / up[p]), np.log(down[p] / (1.0 - up[p]))
        for i in range(points):
            odds = slope[p] * (z[p, i] - centre) + middle + (if_one if labels[p, i] == 1.0 else if_zero)
            new = 1.0 / (1.0 + np.exp(-odds))
            change[p] = max(change[p], abs(new - r[p, i]))
            r[p, i] = new
    return slope, offset, up, down, change


@dataclass(eq=False, repr=False)
class RobustKernelFisherClassifier(TrueLabelPosterior, KernelClassifier):
    r"""Kernel Fisher discriminant that learns how often the labels of each class were flipped.

    Parameters
    ----------
    width : float or "scale", default "scale"
        Width of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`. "scale" follows the
        variance of the features, see `noisylabels.kernels.gaussian.width_of`.
    mu : float, default 1e-3
        Ridge, above 0, in units of the trace of the squared kernel matrix over n.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    rounds : int, default 50
        Rounds of EM, at most; with 0 observed labels are taken for true ones.
    threshold : {"posterior", "midpoint"}, default "posterior"
        "midpoint" leaves the frequencies of the classes out of the decision value, which is then 0
        halfway between the means. EM itself always has that term.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows.
    width_ : float
        The width that was used.
    dual_coef_ : ndarray (n,)
        Weights of the training rows.
    intercept_ : float
    classes_ : ndarray (2,)
    flip_matrix_ : ndarray (K, K)
        Probability of each observed class, given the true one (rows).
    converged_ : bool
        Not flagged if False: EM is slow on wide kernels.
    flags_ : tuple of str
        ``lost_class``: the decision value is a constant; ``classes_swapped``.
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
    >>> from noisylabels import RobustKernelFisherClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RobustKernelFisherClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True

    Notes
    -----
    The discriminant is :math:`z(x) = \sum_n a_n \kappa(x, x_n)` with :math:`a = (S_w + \mu I)^{-1}
    (m_1 - m_0)`, and :math:`p(z | y)` is Gaussian with one variance. From the posteriors of the
    true labels, at first 0.8 or 0.2, follow :math:`S_w`, the means, the Gaussians, the frequencies
    of the classes and the flip rates; from these the posteriors, until they change by less than
    1e-4. The decision value is :math:`f(x) = \log P(y = 1 | z(x)) / P(y = 0 | z(x))`, a sum
    :math:`\sum_n w_n \kappa(x, x_n) + b`.

    References
    ----------
    Lawrence and Scholkopf (2001), Estimating a kernel Fisher discriminant in the presence of label
    noise, ICML.

    Li et al. (2007), Classification in the presence of class noise using a probabilistic kernel
    Fisher method, Pattern Recognition 40.
    """

    name = "robust_kernel_fisher"
    GRID: ClassVar[list[float]] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]

    width: float | str = "scale"
    mu: float = 1e-3
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    rounds: int = ROUNDS
    threshold: Threshold = "posterior"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to X (n, d) and the labels y (n,), with weights a (n,) >= 0 of the examples, 1 if not given."""
        X, labels, a = self._examples(X, y, sample_weight)
        K = self._kernel(X, a)
        space, mu = basis(K), ridges(K, number("mu", self.mu), None if a is None else a.sum())
        y = labels[np.newaxis].astype(float)
        model = expectation_maximisation(space, y, mu, self.rounds, self.threshold, a)
        w, self.intercept_ = space.Q @ model.v[0], float(model.b[0])
        self.dual_coef_ = w if a is None else np.sqrt(a) * w
        self.flip_matrix_ = flips.from_rates(float(model.omega01[0]), float(model.omega10[0]))
        self.converged_ = bool(model.converged[0])
        self._flag(lost_class=bool(model.lost[0]), classes_swapped=bool(model.omega01 + model.omega10 >= 1))
        return self

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        rounds: int = ROUNDS,
        threshold: Threshold = "posterior",
        wanted: NDArray[np.bool_] | None = None,
    ) -> Fits:
        """One model per column of labels (n, L), 0 or 1, and per mu in grid (G,), all on one kernel.

        A column with one class only, or a fit that loses a class, is a constant, flagged; also flagged:
        classes swapped, and the constant of what is not ``wanted`` (L, G). Fits that the rounds stop are not:
        EM is slow on wide kernels.
        Raises ValueError: mu <= 0, wrong rounds or threshold.
        """
        y, mu = np.asarray(labels, dtype=float).T, ridges(gram.K, grid)
        fits = Fits.constant(y, len(mu), len(gram.K_out))
        left = np.flatnonzero(fits.flagged if wanted is None else wanted)
        at = column, g = divmod(left, len(mu))
        models = expectation_maximisation(gram.basis, y[column], mu[g], rounds, threshold)
        fits.scores[at] = models.v @ gram.Z_out.T + models.b[:, np.newaxis]
        fits.omega01[at], fits.omega10[at] = models.omega01, models.omega10
        fits.flagged[at] = models.lost | (models.omega01 + models.omega10 >= 1)
        return fits
