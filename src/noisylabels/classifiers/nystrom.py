"""Kernel logistic regression for many rows: Nystrom's features of some landmarks instead of all points."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.classifiers.base import TrueLabelPosterior, features_of, generator
from noisylabels.classifiers.kernel import KernelClassifier
from noisylabels.classifiers.kernel_logistic import SoftmaxModel, check_zeta
from noisylabels.kernels import nystrom
from noisylabels.kernels.gaussian import Parametrisation, rate, width_of
from noisylabels.solvers.flipped_logistic import Bias, Penalty, check_variant
from noisylabels.validation import Floats

LARGEST_CURVATURE = 0.25  # of the logistic loss: ridge = 2 zeta / 0.25


@dataclass(eq=False, repr=False)
class NystromLogisticRegression(SoftmaxModel, KernelClassifier):
    """max_{w, b} sum_n log sigma((2 y_n - 1) f(x_n)) - zeta ||f - b||^2,  f(x) = sum_i w_i kappa(x, z_i) + b.

    z_1, ..., z_m are landmarks, and ||f - b||^2 = w^T K_ZZ w is the norm of the function space. With all rows
    as landmarks it is `KernelLogisticRegression(penalty="rkhs")`, for K > 2 classes as well.
    Time O(n m^2), memory O(n m) and a block of rows.

    width, parametrisation : of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`; or "scale", see
        `noisylabels.kernels.gaussian.width_of`.   zeta : >= 1e-8.
    landmarks : m; all rows if there are no more than that.
    choice : "uniform", "kmeans" or "leverage", see `noisylabels.kernels.nystrom.choose`; the ridge of the
        leverage scores is 8 zeta, where the logistic loss is curved most.
    bias : "none", "free" or "penalised", as in `KernelLogisticRegression`.
    penalty : "rkhs"; zeta ||w||^2 would have as many terms as landmarks and no limit, and is refused.
    random_state : of the landmarks.

    Fitted: X_fit_ (m, d), the landmarks; width_, dual_coef_ = w, (m,) or (m, K), intercept_ = b, () or (K,),
    features_, the directions that are left after those with eigenvalues below 1e-12 of the largest;
    landmarks_, how the landmarks were found: "all rows" or `choice`; classes_ (K,), objective_, converged_,
    flags_ (not_converged) and flagged_.
    Raises ValueError: labels of one class, NaN or infinity, wrong parameters, weights < 0.
    Source: Williams and Seeger, NIPS 2000; Kaban and Bootkrajang, LABELNOISE 2017, eq. (1) with Omega = I.
    """

    name = "nystrom_logistic"
    MULTICLASS: ClassVar[bool] = True
    robust: ClassVar[bool] = False

    width: float | str = "scale"
    zeta: float = 1.0
    _: KW_ONLY
    landmarks: int = 1000
    choice: nystrom.Landmarks = "uniform"
    parametrisation: Parametrisation = "sigma2"
    bias: Bias = "none"
    penalty: Penalty = "rkhs"
    random_state: Any = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NystromLogisticRegression:
        """Fit to X (n, d) and the labels y (n,), with weights a (n,) >= 0 of the examples, 1 if not given."""
        self._check_parameters()
        X, labels, weights = self._examples(X, y, sample_weight)
        self.width_ = width_of(self.width, X, self.parametrisation, weights)
        features = self._features(X)
        Z = features.features(X, bias=self.bias != "none")
        penalty = np.full(Z.shape[1], float(self.zeta))
        if self.bias == "free":
            penalty[-1] = 0.0
        theta = self._softmax(Z, penalty, labels, weights)
        w, b = features.root @ theta[: features.r], theta[features.r :].sum(axis=0)
        self.dual_coef_, self.intercept_ = (w, b) if theta.shape[1] > 1 else (w[:, 0], float(b[0]))
        return self

    def _features(self, X: Floats) -> nystrom.Nystrom:
        """Sets X_fit_, landmarks_ and features_."""
        gamma, ridge = rate(self.width_, self.parametrisation), 2.0 * float(self.zeta) / LARGEST_CURVATURE
        rng = generator(self.random_state)
        self.landmarks_ = "all rows" if self.landmarks >= len(X) else self.choice
        self.X_fit_ = nystrom.choose(X, self.landmarks, self.choice, gamma, ridge, rng)
        features = nystrom.nystrom(self.X_fit_, gamma)
        self.features_ = features.r
        return features

    def _check_parameters(self) -> None:
        check_zeta(self.zeta)
        nystrom.check(self.landmarks, self.choice)
        check_variant(self.bias, self.penalty)
        if self.penalty != "rkhs":
            raise ValueError(
                'penalty: "weights", zeta ||w||^2 over the coefficients of all n points, is not defined for '
                'landmarks: with m of them it is another penalty for every m; take penalty="rkhs"'
            )

    def decision_function(self, X: Any) -> Floats:
        """f(x) per row of X (n, d): (n,), or (n, K) of K > 2 classes; a block of rows at a time.

        Raises ValueError: not fitted, other number of features, NaN or infinity.
        """
        X = features_of(self, X)
        features = nystrom.Nystrom(self.X_fit_, rate(self.width_, self.parametrisation), np.empty((0, 0)))
        return features.times(X, self.dual_coef_) + self.intercept_


class RobustNystromLogisticRegression(TrueLabelPosterior, NystromLogisticRegression):
    """max_{w, b, Omega} sum_n log P~_n - zeta ||f - b||^2,

    P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f),
    f(x) = sum_i w_i kappa(x, z_i) + b with m landmarks z_i, all parameters as in `NystromLogisticRegression`.
    With all rows as landmarks it is `RobustKernelLogisticRegression(penalty="rkhs")`, for K > 2 classes as
    well. The objective is not concave; the fit starts from w = 0, omega_jj = 0.8.

    Fitted: what `NystromLogisticRegression` has, and flip_matrix_ (K, K) with rows = true classes;
    flags_ (not_converged, classes_swapped: Omega was then reset) and flagged_.
    Raises ValueError: labels of one class, NaN or infinity, wrong parameters, weights < 0.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6); Williams and Seeger, NIPS 2000.
    """

    name = "robust_nystrom_logistic"
    robust: ClassVar[bool] = True
