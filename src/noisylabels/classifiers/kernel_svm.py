"""The support vector machine with a kernel, for one C or a path of values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import FitFlags, Repeated
from noisylabels.classifiers.kernel import Fits, KernelClassifier
from noisylabels.kernels.gaussian import Gram, Parametrisation
from noisylabels.solvers.svm_path import BLOCK, padded, path
from noisylabels.validation import Floats, number, numbers, whole


@dataclass(eq=False, repr=False)
class KernelSVMClassifier(Repeated, FitFlags, KernelClassifier):
    r"""Support vector machine with a Gaussian kernel.

    Parameters
    ----------
    width : float or "scale", default "scale"
        Width of the Gaussian kernel, see `noisylabels.kernels.gaussian.rbf`. "scale" follows the
        variance of the features, see `noisylabels.kernels.gaussian.width_of`.
    C : float, default 1.0
        Weight of the hinge losses, above 0.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    parametrisation : str, default "sigma2"
        What the width means, see `noisylabels.kernels.gaussian.rbf`.
    tolerance : float, default 1e-3
        Largest violation of the optimality conditions, LIBSVM's default.
    max_steps : int, default 100000
        Most steps of the solver.
    gap : float, default 0.0
        A duality gap of at most ``gap * n * C`` ends the descent as well; 0 means that it does not.
        liquidSVM's rule is 1e-3.

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
    converged_ : bool
        Whether the optimality conditions hold.
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
    >>> from noisylabels import KernelSVMClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelSVMClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True

    Notes
    -----
    The fit minimises :math:`\tfrac12 \lVert f \rVert^2 + C \sum_n \max(0, 1 - y_n (f(x_n) + b))`
    for :math:`f(x) = \sum_n \beta_n \kappa(x, x_n)`. Its solutions are those of scikit-learn's
    ``SVC`` to the same tolerance. `noisylabels.solvers.svm_path` says how a path of C is computed
    faster.

    References
    ----------
    Chang and Lin (2011), LIBSVM: a library for support vector machines, ACM TIST 2.
    """

    name = "kernel_svm"
    LINK: ClassVar[float] = 0.0
    GRID: ClassVar[list[float]] = [2.0**k for k in range(-10, 11, 2)]

    width: float | str = "scale"
    C: float = 1.0
    _: KW_ONLY
    parametrisation: Parametrisation = "sigma2"
    tolerance: float = 1e-3
    max_steps: int = 100_000
    gap: float = 0.0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> KernelSVMClassifier:
        """Fit the classifier to samples and labels.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        KernelSVMClassifier
            The classifier.
        """
        Cs = np.array([number("C", self.C, above=0)])
        X, labels, _ = self._examples(X, y, sample_weight)
        K = self._kernel(X, multiple=BLOCK)
        y = labels.astype(float)
        beta, b, converged = self._path(K, y, Cs, self.tolerance, self.max_steps, self.gap)
        self.dual_coef_ = beta[0]
        self.intercept_ = float(b[0])
        self.converged_ = bool(converged[0])
        self._flag(not_converged=not self.converged_)
        return self

    @classmethod
    def fit_many(
        cls,
        gram: Gram,
        labels: NDArray[Any],
        grid: ArrayLike,
        *,
        tolerance: float = 1e-3,
        max_steps: int = 100_000,
        gap: float = 0.0,
        wanted: NDArray[np.bool_] | None = None,
    ) -> Fits:
        """Fit one model to each column of labels for each C, all on one kernel.

        A column with one class only is that class everywhere, flagged, and so is every C above the
        largest that is wanted. What has not converged is flagged, too.

        Parameters
        ----------
        gram : Gram
            Kernel matrices of the training points and of the held-out points.
        labels : ndarray of shape (n, L)
            Columns of 0 and 1.
        grid : array_like of shape (G,)
            Values of C, above 0.
        tolerance : float, default 1e-3
            Largest violation of the optimality conditions.
        max_steps : int, default 100000
            Most steps of the solver.
        gap : float, default 0.0
            Duality gap that is near enough, relative to n C.
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
        Cs = numbers("C", grid, above=0)
        order = np.argsort(Cs, kind="stable")
        fits = Fits.constant(y, len(Cs), len(gram.K_out))
        K = padded(gram.K)
        for k, column in enumerate(y):
            on_path = order
            if wanted is not None:
                last = np.max(np.flatnonzero(wanted[k, order]), initial=-1)
                on_path = order[: last + 1]
            if len(on_path) and column.min() < column.max():
                beta, b, converged = cls._path(K, column, Cs[on_path], tolerance, max_steps, gap)
                fits.scores[k, on_path] = beta @ gram.K_out.T + b[:, np.newaxis]
                fits.flagged[k, on_path] = ~converged
        return fits

    @staticmethod
    def _path(
        K: Floats, labels: Floats, Cs: Floats, tolerance: float, max_steps: int, gap: float
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        number("tolerance", tolerance, above=0)
        whole("max_steps", max_steps, 1)
        number("gap", gap, least=0)
        return path(K, 2 * labels - 1, Cs, tolerance, max_steps, gap)[:3]
