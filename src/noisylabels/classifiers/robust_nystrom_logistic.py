"""Kernel logistic regression for many rows that estimates how often the labels of each class were flipped."""

from __future__ import annotations

from typing import ClassVar

from noisylabels.bases.posterior import TrueLabelPosterior
from noisylabels.classifiers.nystrom_logistic import NystromLogisticRegression


class RobustNystromLogisticRegression(TrueLabelPosterior, NystromLogisticRegression):
    """max_{w, b, Omega} sum_n log P~_n - zeta ||f - b||^2,

    P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f),
    f(x) = sum_i w_i kappa(x, z_i) + b with m landmarks z_i, all parameters as in `NystromLogisticRegression`.
    With all rows as landmarks it is `RobustKernelLogisticRegression(penalty="rkhs")`, for K > 2 classes as
    well. The objective is not concave; the fit starts from w = 0, omega_jj = 0.8.

    Fitted: what `NystromLogisticRegression` has, and flip_matrix_ (K, K) with rows = true classes;
    flags_ (not_converged, classes_swapped: Omega was then reset) and flagged_.
    Raises ValueError : labels of one class, NaN or infinity, wrong parameters, weights < 0.
    Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6); Williams and Seeger, NIPS 2000.
    """

    name = "robust_nystrom_logistic"
    robust: ClassVar[bool] = True
