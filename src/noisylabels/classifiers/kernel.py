"""What kernel classifiers share: the kernel, and many fits on one kernel.

f(x) = sum_n w_n kappa(x, x_n) + b; class 1 if f(x) > 0. With K > 2 classes f(x), w_n and b have K
entries, and the class is that of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.classifiers.base import DecisionClassifier, Weighted, features_of
from noisylabels.kernels.gaussian import kernel_matrix, width_of
from noisylabels.validation import Floats

NOTHING = 1e-12
"""Largest |f| from which the training points carry no information about the test points."""


@dataclass(frozen=True)
class Fits:
    """Decision values on held-out points for many columns of labels and values of a parameter.

    Parameters
    ----------
    scores : ndarray of shape (L, G, m)
        Decision values of L columns and G values at m points; above 0 means class 1. Where a fit is
        0 at all points, they are 1e-12 or -1e-12 for the class that was observed more often, and
        the fit is flagged.
    omega01 : ndarray of shape (L, G)
        Estimated rates of label 1 where the true class is 0; NaN where the method has none.
    omega10 : ndarray of shape (L, G)
        Estimated rates of label 0 where the true class is 1.
    flagged : ndarray of shape (L, G)
        Whether a fit is a fallback or doubtful: one class only, decision values of 0, not
        converged, classes swapped.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel import Fits
    >>> Fits.constant(np.array([[1.0, 1.0, 0.0]]), 1, 2).scores.tolist()
    [[[1.0, 1.0]]]
    """

    scores: Floats
    omega01: Floats
    omega10: Floats
    flagged: NDArray[np.bool_]

    @classmethod
    def constant(cls, labels: Floats, G: int, m: int) -> Fits:
        """Predict the `majority` of each row of labels at all points, without rates, flagged.

        Parameters
        ----------
        labels : ndarray of shape (L, n)
            Rows of 0 and 1.
        G : int
            Number of values of the parameter.
        m : int
            Number of held-out points.

        Returns
        -------
        Fits
            The decision values.
        """
        shape = (len(labels), G)
        scores = np.tile(majority(labels)[:, np.newaxis, np.newaxis], (1, G, m))
        omega01 = np.full(shape, np.nan)
        omega10 = np.full(shape, np.nan)
        return cls(scores, omega01, omega10, np.ones(shape, bool))


def label_columns(labels: NDArray[Any], n: int) -> Floats:
    """Turn columns of labels into rows.

    Parameters
    ----------
    labels : ndarray of shape (n, L)
        Columns of 0 and 1.
    n : int
        Length that is needed.

    Returns
    -------
    ndarray of shape (L, n)
        The rows.

    Raises
    ------
    ValueError
        If there are other labels, or the length differs.

    Examples
    --------
    >>> from noisylabels.classifiers.kernel import label_columns
    >>> label_columns([[0], [1]], 2).tolist()
    [[0.0, 1.0]]
    """
    y = np.asarray(labels, dtype=float)
    if y.ndim != 2 or len(y) != n:
        raise ValueError(f"labels must be (n, L) with n = {n}, got {np.shape(labels)}")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("labels must be 0 and 1")
    return np.ascontiguousarray(y.T)


def majority(labels: Floats) -> Floats:
    """Find the more frequent label of each row.

    Parameters
    ----------
    labels : ndarray of shape (L, n)
        Rows of 0 and 1.

    Returns
    -------
    ndarray of shape (L,)
        +1.0 if at least half of a row are 1, else -1.0.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel import majority
    >>> majority(np.array([[0, 1], [0, 0]])).tolist()
    [1.0, -1.0]
    """
    return np.where(2.0 * labels.sum(axis=-1) >= labels.shape[-1], 1.0, -1.0)


def silent(f: Floats) -> NDArray[np.bool_]:
    """Decide which models have decision values of 0 at all points, up to 1e-12.

    Parameters
    ----------
    f : ndarray of shape (P, m)
        Decision values of P models at m points.

    Returns
    -------
    ndarray of shape (P,)
        Whether all are 0. Then the majority is predicted, and the model is flagged.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel import silent
    >>> silent(np.array([[0.0, 1e-13], [0.0, 1.0]])).tolist()
    [True, False]
    """
    return np.abs(f).max(axis=1, initial=0.0) <= NOTHING


def with_majority(f: Floats, labels: Floats) -> Floats:
    """Replace the decision values of models that are `silent` by the sign of the `majority`.

    A single 0 among others stays, which is class 0.

    Parameters
    ----------
    f : ndarray of shape (P, m)
        Decision values of P models at m points.
    labels : ndarray of shape (P, n)
        The labels of each model, 0 and 1.

    Returns
    -------
    ndarray of shape (P, m)
        The decision values, with 1e-12 or -1e-12 in the rows that are silent.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.kernel import with_majority
    >>> with_majority(np.zeros((1, 1)), np.array([[0, 0, 1]])).tolist()
    [[-1e-12]]
    """
    constants = majority(labels)[:, np.newaxis] * NOTHING
    return np.where(silent(f)[:, np.newaxis], constants, f)


class KernelClassifier(Weighted, DecisionClassifier):
    """Base class of classifiers with a Gaussian kernel.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.

    Attributes
    ----------
    width : float or "scale"
        Width of the kernel.
    parametrisation : str
        What the width means.
    X_fit_ : ndarray or CSR matrix of shape (n, d)
        The training rows, set by the `fit` of a subclass.
    dual_coef_ : ndarray of shape (n,) or (n, K)
        Weights of the training rows, set by the same.
    width_ : float
        The width, or what "scale" means, see `noisylabels.kernels.gaussian.width_of`.
    intercept_ : float or ndarray of shape (K,)
        Constant of the decision value, 0 where the method has none.

    Examples
    --------
    >>> from noisylabels.classifiers.kernel import KernelClassifier
    >>> from noisylabels import KernelSVMClassifier
    >>> issubclass(KernelSVMClassifier, KernelClassifier)
    True
    """

    SPARSE: ClassVar[bool] = True

    width: float | str
    parametrisation: str
    X_fit_: Any
    dual_coef_: Floats
    width_: float
    intercept_: Any = 0.0

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision values of samples.

        Without a bias they are 0, which is the first class, where no training point is near.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
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
        K = kernel_matrix(X, self.X_fit_, width=self.width_, parametrisation=self.parametrisation)
        return np.asarray(K @ self.dual_coef_ + self.intercept_)

    def _kernel(self, X: Any, weights: Floats | None = None, multiple: int = 1) -> Floats:
        """Compute K (n, n) of the training points; zeros follow up to a multiple of columns.

        Sets X_fit_ and width_. With weights a (n,) it is sqrt(a_i a_j) K_ij, whose eigenvalues
        above 0 are those of K with row i repeated a_i times; the entry i of an eigenvector is then
        spread evenly over a_i rows.
        """
        self.X_fit_ = X
        self.width_ = width_of(self.width, X, self.parametrisation, weights)
        K = kernel_matrix(
            X,
            width=self.width_,
            parametrisation=self.parametrisation,
            multiple=multiple,
        )
        if weights is None:
            return K
        return np.sqrt(np.outer(weights, weights)) * K
