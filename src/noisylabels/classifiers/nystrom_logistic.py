"""Kernel logistic regression for many rows, on Nystrom's features of some landmarks.

Labels are taken as true, or flip rates are estimated; there are K >= 2 classes.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from noisylabels.classifiers.base import TrueLabelPosterior, features_of
from noisylabels.classifiers.kernel import KernelClassifier
from noisylabels.classifiers.kernel_logistic import SMALLEST_ZETA, SoftmaxModel
from noisylabels.kernels.gaussian import Parametrisation, kernel_matrix, rate, width_of
from noisylabels.seeding import LARGEST_SEED, generator
from noisylabels.solvers.flipped_logistic import Bias, Penalty, check_variant
from noisylabels.validation import Floats, choice, number, whole

if TYPE_CHECKING:
    from sklearn.kernel_approximation import Nystroem

ROWS_OF_A_BLOCK = 1024  # rows whose features and kernel values are computed together
Landmarks = Literal["uniform", "kmeans"]


def _move_to_origin(X: Any) -> tuple[Any, Floats | None]:
    """Subtract the mean of dense rows, and return it.

    Distances of scikit-learn lose digits far from 0.
    """
    if issparse(X):
        return X, None
    centre = X.mean(axis=0)
    return X - centre, centre


def _find_cluster_centres(X: Any, n_clusters: int, seed: int) -> Floats:
    from sklearn.cluster import MiniBatchKMeans

    clusters = MiniBatchKMeans(
        n_clusters,
        random_state=seed,
        batch_size=max(1024, 3 * n_clusters),
        n_init=1,
        max_iter=10,
    )
    return np.asarray(clusters.fit(X).cluster_centers_, dtype=float)


@dataclass(eq=False, repr=False)
class NystromLogisticRegression(SoftmaxModel, KernelClassifier):
    r"""Kernel logistic regression for many rows, with as many weights as there are landmarks.

    Parameters
    ----------
    width : float or "scale", default "scale"
        Width of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`. "scale" follows the
        variance of the features, see `noisylabels.kernels.gaussian.width_of`.
    zeta : float, default 1.0
        Penalty, at least 1e-8.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    landmarks : int, default 1000
        Number of landmarks; all rows if there are no more than that.
    choice : {"uniform", "kmeans"}, default "uniform"
        How landmarks are found: rows drawn with equal probabilities, or the centres of clusters
        (`sklearn.cluster.MiniBatchKMeans`), which need not be rows.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    bias : {"none", "free", "penalised"}, default "none"
        No bias, one that is not penalised, or one penalised like a weight.
    penalty : {"rkhs"}, default "rkhs"
        Norm of the function space. That of the weights would have as many terms as landmarks and no
        limit, and is refused.
    random_state : int or numpy.random.Generator, optional
        Seed of the landmarks.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix (m, d)
        The landmarks.
    width_ : float
        The width that was used.
    dual_coef_ : ndarray (m,) or (m, K)
        Weights of the landmarks.
    features_ : int
        Number of features, one for each landmark.
    landmarks_ : str
        How the landmarks were found: "all rows", or ``choice``.
    intercept_ : float or ndarray (K,)
        Constant of the decision value, 0 without a bias.
    classes_ : ndarray (K,)
        The classes.
    objective_ : float
        The maximum that was found.
    zeta_ : float
        The penalty that was used.
    converged_ : bool
        Whether the maximum was reached.
    flags_ : tuple of str
        ``not_converged``.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are of one class, features are NaN or infinite, or a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import NystromLogisticRegression
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = NystromLogisticRegression(landmarks=50, zeta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit maximises :math:`\sum_n \log \sigma((2 y_n - 1) f(x_n)) - \zeta \lVert f - b \rVert^2`
    for :math:`f(x) = \sum_i w_i \kappa(x, z_i) + b` with landmarks :math:`z_i`, where :math:`\lVert
    f - b \rVert^2 = w^T K_{ZZ} w` is the norm of the function space. With all rows as landmarks it
    is `KernelLogisticRegression` with ``penalty="rkhs"``. The features are those of
    `sklearn.kernel_approximation.Nystroem`. The fit takes time :math:`O(n m^2)` and memory
    :math:`O(n m)`.

    References
    ----------
    Williams and Seeger (2000), Using the Nystrom method to speed up kernel machines, NIPS.

    Kabán and Bootkrajang (2017), LABELNOISE, eq. (1).
    """

    name = "nystrom_logistic"
    MULTICLASS: ClassVar[bool] = True
    robust: ClassVar[bool] = False

    width: float | str = "scale"
    zeta: float = 1.0
    _: KW_ONLY
    landmarks: int = 1000
    choice: Landmarks = "uniform"
    parametrisation: Parametrisation = "sigma2"
    bias: Bias = "none"
    penalty: Penalty = "rkhs"
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> NystromLogisticRegression:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        NystromLogisticRegression
            The classifier.

        Raises
        ------
        ValueError
            If ``penalty`` is not "rkhs", another parameter is out of range, labels are of one
            class, or features are NaN or infinite.
        """
        number("zeta", self.zeta, least=SMALLEST_ZETA)
        check_variant(self.bias, self.penalty)
        if self.penalty != "rkhs":
            raise ValueError(
                'penalty: "weights", zeta ||w||^2 over the coefficients of all n points, is not '
                "defined for landmarks: with m of them it is another penalty for every m; take "
                'penalty="rkhs"'
            )
        whole("landmarks", self.landmarks, 1)
        if str(self.choice) == "leverage":
            raise ValueError('choice: "leverage" was removed; take choice="kmeans"')
        choice("choice", self.choice, get_args(Landmarks))
        X, labels, weights = self._examples(X, y, sample_weight)
        self.width_ = width_of(self.width, X, self.parametrisation, weights)
        moved, centre = _move_to_origin(X)
        nystroem = self._fit_features(moved)
        if centre is None:
            self.X_fit_ = nystroem.components_
        else:
            self.X_fit_ = nystroem.components_ + centre
        self.features_ = len(nystroem.normalization_)
        phi = self._compute_features(nystroem, moved)
        penalty = np.full(phi.shape[1], float(self.zeta))
        if self.bias == "free":
            penalty[-1] = 0.0
        theta = self._by_columns(phi, penalty, labels, weights)
        w = nystroem.normalization_.T @ theta[: self.features_]
        b = theta[self.features_ :].sum(axis=0)
        if theta.shape[1] > 1:
            self.dual_coef_ = w
            self.intercept_ = b
        else:
            self.dual_coef_ = w[:, 0]
            self.intercept_ = float(b[0])
        return self

    def _fit_features(self, X: Any) -> Nystroem:
        """Find the landmarks, and the matrix that turns their kernel values into features."""
        from sklearn.kernel_approximation import Nystroem

        n = X.shape[0]
        seed = int(generator(self.random_state).integers(LARGEST_SEED))
        self.landmarks_ = "all rows" if self.landmarks >= n else self.choice
        candidates = X
        if self.landmarks_ == "kmeans":
            candidates = _find_cluster_centres(X, self.landmarks, seed)
        return Nystroem(
            kernel="rbf",
            gamma=rate(self.width_, self.parametrisation),
            n_components=min(self.landmarks, n),
            random_state=seed,
        ).fit(candidates)

    def _compute_features(self, nystroem: Nystroem, X: Any) -> Floats:
        """Compute the features of rows, and a column of ones if there is a bias, in blocks."""
        if self.bias == "none":
            n_columns = self.features_
        else:
            n_columns = self.features_ + 1
        phi = np.ones((X.shape[0], n_columns))
        for rows in gen_batches(len(phi), ROWS_OF_A_BLOCK):
            phi[rows, : self.features_] = nystroem.transform(X[rows])
        return phi

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision values of samples, a block of rows at a time.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The values; of more than two classes one for each class.

        Raises
        ------
        ValueError
            If the classifier is not fitted, the number of features differs, or a value is NaN or
            infinite.
        """
        X = features_of(self, X)
        f = np.empty((X.shape[0], *self.dual_coef_.shape[1:]))
        for rows in gen_batches(len(f), ROWS_OF_A_BLOCK):
            options: dict[str, Any] = {"parametrisation": self.parametrisation}
            K = kernel_matrix(X[rows], self.X_fit_, width=self.width_, **options)
            np.matmul(K, self.dual_coef_, out=f[rows])
        return f + self.intercept_


class RobustNystromLogisticRegression(TrueLabelPosterior, NystromLogisticRegression):
    r"""Kernel logistic regression for many rows that learns the flip rates of the classes.

    Parameters
    ----------
    width : float or "scale", default "scale"
        Width of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`. "scale" follows the
        variance of the features, see `noisylabels.kernels.gaussian.width_of`.
    zeta : float, default 1.0
        Penalty, at least 1e-8.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    landmarks : int, default 1000
        Number of landmarks; all rows if there are no more than that.
    choice : {"uniform", "kmeans"}, default "uniform"
        How landmarks are found: rows drawn with equal probabilities, or the centres of clusters
        (`sklearn.cluster.MiniBatchKMeans`), which need not be rows.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    bias : {"none", "free", "penalised"}, default "none"
        No bias, one that is not penalised, or one penalised like a weight.
    penalty : {"rkhs"}, default "rkhs"
        Norm of the function space. That of the weights would have as many terms as landmarks and no
        limit, and is refused.
    random_state : int or numpy.random.Generator, optional
        Seed of the landmarks.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix (m, d)
        The landmarks.
    width_ : float
        The width that was used.
    dual_coef_ : ndarray (m,) or (m, K)
        Weights of the landmarks.
    features_ : int
        Number of features, one for each landmark.
    landmarks_ : str
        How the landmarks were found: "all rows", or ``choice``.
    intercept_ : float or ndarray (K,)
        Constant of the decision value, 0 without a bias.
    classes_ : ndarray (K,)
        The classes.
    objective_ : float
        The maximum that was found.
    zeta_ : float
        The penalty that was used.
    converged_ : bool
        Whether the maximum was reached.
    flip_matrix_ : ndarray (K, K)
        Probability of each observed class, given the true one (rows).
    flags_ : tuple of str
        ``not_converged``; ``classes_swapped``: the flip matrix was then reset.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are of one class, features are NaN or infinite, or a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import RobustNystromLogisticRegression
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RobustNystromLogisticRegression(landmarks=50, zeta=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit maximises :math:`\sum_n \log \tilde P_n - \zeta \lVert f - b \rVert^2` with
    :math:`\tilde P^k = \omega_{0k} (1 - \sigma(f)) + \omega_{1k} \sigma(f)` and f as in
    `NystromLogisticRegression`. With all rows as landmarks it is `RobustKernelLogisticRegression`
    with ``penalty="rkhs"``. The objective is not concave: the fit starts from :math:`w = 0` and 0.8
    on the diagonal of the flip matrix.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE, eq. (1) to (6).

    Williams and Seeger (2000), Using the Nystrom method to speed up kernel machines, NIPS.
    """

    name = "robust_nystrom_logistic"
    robust: ClassVar[bool] = True
