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

START = 0.8  # P(true label = observed label) at the start of EM
ROUNDS = 50
Threshold = Literal["posterior", "midpoint"]
TOLERANCE = 1e-4  # change of the posteriors that ends EM
SMALLEST_VARIANCE = 1e-12  # smallest variance within a class, relative to the variance of z


@dataclass
class Discriminants:
    """Discriminants on one kernel, one a row of each array.

    Parameters
    ----------
    v : ndarray of shape (P, r)
        Weights of the eigenvectors of the kernel matrix.
    b : ndarray of shape (P,)
        Constants.
    omega01 : ndarray of shape (P,)
        Flip rates of class 0.
    omega10 : ndarray of shape (P,)
        Flip rates of class 1.
    posterior : ndarray of shape (P, n)
        Probabilities that the true labels are 1, for known observed labels.
    converged : ndarray of shape (P,)
        Whether the posterior probabilities came to rest.
    lost : ndarray of shape (P,)
        Whether a class was lost, and the model is a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel_fisher import Discriminants
    >>> zero = np.zeros(1)
    >>> models = Discriminants(np.zeros((1, 2)), zero, zero, zero, zero, zero == 0, zero > 0)
    >>> models.converged.tolist()
    [True]
    """

    v: Floats
    b: Floats
    omega01: Floats
    omega10: Floats
    posterior: Floats
    converged: NDArray[np.bool_]
    lost: NDArray[np.bool_]


def ridges(K: Floats, mu: ArrayLike, n: float | None = None) -> Floats:
    """Scale ridges to a kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    mu : float or array_like
        Ridges, above 0.
    n : float, optional
        Number of rows, or sum of their weights; None for that of the matrix.

    Returns
    -------
    ndarray
        The ridges times the trace of the squared matrix, divided by n.

    Raises
    ------
    ValueError
        If a ridge is not finite or not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel_fisher import ridges
    >>> ridges(np.eye(2), 3.0).tolist()
    [3.0]
    """
    size = len(K) if n is None else n
    trace = float((K * K).sum())
    checked = numbers("mu", mu, above=0)
    return checked * trace / size


def directions(basis: Basis, centred: Floats, mu: Floats, root: Floats | None = None) -> Floats:
    r"""Compute the directions of discriminants in the basis of the kernel matrix.

    Parameters
    ----------
    basis : Basis
        Eigenvalues and eigenvectors of the kernel matrix, or of its product with `root` on both
        sides.
    centred : ndarray of shape (P, n)
        Posterior probabilities minus their mean, multiplied with `root`.
    mu : ndarray of shape (P,)
        Ridges.
    root : ndarray of shape (n,), optional
        Square roots of the weights of the rows; None for 1.

    Returns
    -------
    ndarray of shape (P, r)
        The directions.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel_fisher import directions
    >>> from noisylabels.kernels.gaussian import Basis
    >>> basis = Basis(np.eye(2), np.ones(2))
    >>> directions(basis, np.array([[0.5, -0.5]]), np.ones(1)).tolist()
    [[0.25, -0.25]]

    Notes
    -----
    The result is :math:`(K H K + \mu I)^{-1} K r_c` for centred posteriors :math:`r_c` and
    :math:`H = I - 1 1^T / n`. With :math:`n_1 + n_0 = n` and the posteriors r, the scatter within
    the classes is :math:`S_w = K^2 - n_1 m_1 m_1^T - n_0 m_0 m_0^T`, which is
    :math:`K H K - (n_1 n_0 / n) (m_1 - m_0)(m_1 - m_0)^T`, and :math:`m_1 - m_0` is
    :math:`K r_c` times a number. So this is :math:`(S_w + \mu I)^{-1} (m_1 - m_0)` up to a factor,
    which the Gaussians along the direction do not see. :math:`K H K + \mu I` is diagonal in the
    basis but for one term of rank 1 (Woodbury).
    """
    Q = basis.Q
    lam = basis.lam
    n = len(Q) if root is None else root @ root
    # the constant function in the basis
    if root is None:
        constant_vector = Q.sum(axis=0)
    else:
        constant_vector = root @ Q
    ridge = mu[:, np.newaxis]
    diagonal = lam**2 + ridge
    tilt = lam * constant_vector / diagonal
    # 1 - (1/n) sum ones^2 lam^2 / diagonal, without cancellation
    outside = max(n - float(constant_vector @ constant_vector), 0.0)
    denominator = outside + (ridge * constant_vector**2 / diagonal).sum(axis=1)
    d = (centred @ Q) * lam
    factor = (tilt * d).sum(axis=1) / denominator
    return d / diagonal + tilt * factor[:, np.newaxis]


@single_threaded_if_small
def expectation_maximisation(
    basis: Basis,
    labels: Floats,
    mu: Floats,
    rounds: int = ROUNDS,
    threshold: str = "posterior",
    weights: Floats | None = None,
) -> Discriminants:
    """Fit discriminants by expectation and maximisation.

    A row with one class only, or in which a class has less than one point left by its posterior
    probabilities, becomes a constant. What has converged leaves the batch.

    Parameters
    ----------
    basis : Basis
        Eigenvalues and eigenvectors of the kernel matrix; with weights, of that times the square
        roots of the weights on both sides.
    labels : ndarray of shape (P, n)
        Rows of observed labels, 0.0 and 1.0.
    mu : ndarray of shape (P,)
        Ridges.
    rounds : int, default 50
        See `RobustKernelFisherClassifier`.
    threshold : {"posterior", "midpoint"}, default "posterior"
        The same.
    weights : ndarray of shape (n,), optional
        Weights of the rows; None for 1.

    Returns
    -------
    Discriminants
        The discriminants.

    Raises
    ------
    ValueError
        If `rounds` or `threshold` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel_fisher import expectation_maximisation
    >>> from noisylabels.kernels.gaussian import Basis
    >>> basis = Basis(np.eye(2), np.ones(2))
    >>> expectation_maximisation(basis, np.ones((1, 2)), np.ones(1)).lost.tolist()
    [True]
    """
    whole("rounds", rounds, 0)
    choice("threshold", threshold, get_args(Threshold))
    trust = START if rounds else 1.0  # EM would never leave labels that it fully believes
    models, points = labels.shape
    n = points if weights is None else weights.sum()
    root = None if weights is None else np.sqrt(weights)
    a = np.ones(points) if weights is None else weights
    if root is None:
        Q = basis.Q
    else:
        Q = basis.Q / root[:, np.newaxis]
    QT = np.ascontiguousarray(Q.T)
    fitted = Discriminants(
        v=np.zeros((models, len(basis.lam))),
        b=np.zeros(models),
        omega01=np.full(models, np.nan),
        omega10=np.full(models, np.nan),
        posterior=np.where(labels == 1, trust, 1 - trust),
        converged=np.zeros(models, dtype=bool),
        lost=np.zeros(models, dtype=bool),
    )
    means = labels.mean(axis=1)
    constant = np.isin(means, (0.0, 1.0))
    fitted.b[constant] = 2 * labels[constant, 0] - 1
    fitted.lost[constant] = True
    live = np.flatnonzero(~constant)
    for _ in range(max(rounds, 1)):
        r = fitted.posterior[live]
        n1 = (r if root is None else r * a).sum(axis=1)
        n0 = n - n1
        lost = (n1 < 1) | (n0 < 1)
        is_lost = n1[lost] < 1
        fitted.b[live[lost]] = np.where(is_lost, -1.0, 1.0)
        fitted.v[live[lost]] = 0.0
        fitted.lost[live[lost]] = True
        live = live[~lost]
        n1 = n1[~lost]
        if not len(live):
            break
        r = fitted.posterior[live]
        if root is None:
            centred = r - r.mean(axis=1, keepdims=True)
        else:
            centred = (r - n1[:, np.newaxis] / n) * root
        v = directions(basis, centred, mu[live], root)
        z = (v * basis.lam) @ QT
        columns = labels[live]
        slope, offset, omega01, omega10, change = posteriors(z, r, columns, a)
        if threshold == "midpoint":
            offset -= np.log(n1 / (n - n1))
        fitted.v[live] = slope[:, np.newaxis] * v
        fitted.b[live] = offset
        fitted.omega01[live] = omega01
        fitted.omega10[live] = omega10
        fitted.posterior[live] = r
        fitted.converged[live] = change < TOLERANCE
        live = live[change >= TOLERANCE]
    return fitted


@compile_kernel(error_model="numpy")
def posteriors(
    z: Floats, r: Floats, labels: Floats, a: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Estimate Gaussians and flip rates from posterior probabilities, and these from them again.

    Parameters
    ----------
    z : ndarray of shape (P, n)
        Values of the points along the direction of each model.
    r : ndarray of shape (P, n)
        Posterior probabilities, overwritten with the new ones.
    labels : ndarray of shape (P, n)
        Observed labels, 0.0 and 1.0.
    a : ndarray of shape (n,)
        Weights of the points.

    Returns
    -------
    slope : ndarray of shape (P,)
        Slope of the log-odds of the true label in z.
    offset : ndarray of shape (P,)
        Their constant, without the logarithm of the ratio of flip rates of the observed label.
    omega01 : ndarray of shape (P,)
        Flip rates of class 0.
    omega10 : ndarray of shape (P,)
        Flip rates of class 1.
    change : ndarray of shape (P,)
        The largest changes of a probability.
    """
    models, points = z.shape
    n = a.sum()
    slope = np.zeros(models)
    offset = np.zeros(models)
    change = np.zeros(models)
    omega01 = np.zeros(models)
    omega10 = np.zeros(models)
    for p in range(models):
        total = (a * z[p]).sum()
        centre = total / n
        n1 = weighted = square = unflipped = observed = 0.0
        for i in range(points):
            t = z[p, i] - centre
            mass = a[i] * r[p, i]
            n1 += mass
            weighted += mass * t
            square += a[i] * t * t
            label = labels[p, i]
            unflipped += mass * label
            observed += a[i] * labels[p, i]
        n0 = n - n1
        mean1, mean0 = weighted / n1, -weighted / n0  # the means of z - centre, which has mean 0
        smallest = SMALLEST_VARIANCE * square / n
        product_of_means = mean1 * mean0
        variance_of_rows = square / n
        variance = max(variance_of_rows + product_of_means, smallest)
        if variance > 0.0:
            difference = mean1 - mean0
            slope[p] = difference / variance
        middle_of_means = slope[p] * (mean1 + mean0) / 2
        log_prior = np.log(n1 / n0)
        middle = log_prior - middle_of_means
        offset_of_centre = slope[p] * centre
        offset[p] = middle - offset_of_centre
        missing = max(observed - unflipped, 0.0)
        omega01[p] = missing / n0
        added = max(n1 - unflipped, 0.0)
        omega10[p] = added / n1
        odds_if_one = (1.0 - omega10[p]) / omega01[p]
        if_one = np.log(odds_if_one)
        odds_if_zero = omega10[p] / (1.0 - omega01[p])
        if_zero = np.log(odds_if_zero)
        for i in range(points):
            of_label = if_one if labels[p, i] == 1.0 else if_zero
            of_score = slope[p] * (z[p, i] - centre)
            log_odds = of_score + middle + of_label
            size = np.exp(-log_odds)
            new = 1.0 / (1.0 + size)
            step = abs(new - r[p, i])
            change[p] = max(change[p], step)
            r[p, i] = new
    return slope, offset, omega01, omega10, change


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
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    rounds : int, default 50
        Rounds of EM, at most; with 0 observed labels are taken for true ones.
    threshold : {"posterior", "midpoint"}, default "posterior"
        "midpoint" leaves the frequencies of the classes out of the decision value, which is then 0
        halfway between the means. EM itself always has that term.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix (n, d)
        The training rows.
    width_ : float
        The width that was used.
    dual_coef_ : ndarray (n,)
        Weights of the training rows.
    intercept_ : float
        Constant of the decision value.
    classes_ : ndarray (2,)
        The classes.
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
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0; None for 1.

        Returns
        -------
        RobustKernelFisherClassifier
            The classifier.
        """
        X, labels, a = self._examples(X, y, sample_weight)
        K = self._kernel(X, a)
        space = basis(K)
        size = None if a is None else a.sum()
        checked = number("mu", self.mu)
        mu = ridges(K, checked, size)
        y = labels[np.newaxis].astype(float)
        model = expectation_maximisation(space, y, mu, self.rounds, self.threshold, a)
        w = space.Q @ model.v[0]
        self.intercept_ = float(model.b[0])
        if a is None:
            self.dual_coef_ = w
        else:
            self.dual_coef_ = np.sqrt(a) * w
        omega01 = float(model.omega01[0])
        omega10 = float(model.omega10[0])
        self.flip_matrix_ = flips.from_rates(omega01, omega10)
        self.converged_ = bool(model.converged[0])
        classes_swapped = bool(model.omega01 + model.omega10 >= 1)
        self._flag(lost_class=bool(model.lost[0]), classes_swapped=classes_swapped)
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
        """Fit one model to each column of labels for each ridge, all on one kernel.

        A column with one class only, or a fit that loses a class, is a constant, flagged. Swapped
        classes and the constants of what is not wanted are flagged, too. Fits that the rounds stop
        are not: EM is slow on wide kernels.

        Parameters
        ----------
        gram : Gram
            Kernel matrices of the training points and of the held-out points.
        labels : ndarray of shape (n, L)
            Columns of 0 and 1.
        grid : array_like of shape (G,)
            Ridges, above 0.
        rounds : int, default 50
            Rounds of EM, at most.
        threshold : {"posterior", "midpoint"}, default "posterior"
            See the class.
        wanted : ndarray of shape (L, G), optional
            Which models are needed; None for all.

        Returns
        -------
        Fits
            Decision values at the held-out points.

        Raises
        ------
        ValueError
            If a parameter is out of range.
        """
        y = np.asarray(labels, dtype=float).T
        mu = ridges(gram.K, grid)
        fits = Fits.constant(y, len(mu), len(gram.K_out))
        numbers_of_models = np.flatnonzero(fits.flagged if wanted is None else wanted)
        column, g = divmod(numbers_of_models, len(mu))
        models = expectation_maximisation(gram.basis, y[column], mu[g], rounds, threshold)
        fits.scores[column, g] = models.v @ gram.Z_out.T + models.b[:, np.newaxis]
        fits.omega01[column, g] = models.omega01
        fits.omega10[column, g] = models.omega10
        fits.flagged[column, g] = models.lost | (models.omega01 + models.omega10 >= 1)
        return fits
