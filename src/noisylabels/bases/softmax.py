"""What logistic models of K >= 2 classes share, with a flip matrix or without: a call of a softmax solver."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from noisylabels.bases.doubts import Doubts
from noisylabels.bases.features import bounded
from noisylabels.bases.labels import classes_of, example_weights
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_softmax.em_newton import em_newton
from noisylabels.solvers.flipped_softmax.fits import SoftmaxFit
from noisylabels.solvers.flipped_softmax.lbfgs import lbfgs
from noisylabels.validation import choice

Array = NDArray[np.float64]

SOLVERS = ("lbfgs", "em_newton")


def check_solver(solver: str) -> None:
    """ValueError: an unknown solver."""
    choice("solver", solver, SOLVERS)


class SoftmaxModel(Doubts):
    """robust : whether flip_matrix_ is learned; else it is the identity, and not an attribute."""

    robust: ClassVar[bool]
    classes_: NDArray[Any]
    flip_matrix_: Array
    objective_: float
    converged_: bool

    def _examples(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Array, NDArray[np.intp], Array | None]:
        """Checked X (n, d), class numbers (n,) and weights (n,) > 0, or None for 1; sets classes_."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = classes_of(y)
        bounded(X)
        labels = np.searchsorted(self.classes_, y)
        weights = example_weights(X, y, sample_weight)
        if weights is None:
            return X, labels, None
        used = weights > 0
        return X[used], labels[used], weights[used]

    def _softmax(
        self,
        Z: Array,
        penalty: Array,
        labels: NDArray[np.intp],
        weights: Array | None,
        solver: str = "lbfgs",
    ) -> Array:
        """The weights (r, C) of the columns of Z (n, r): C = 1 for two classes, the log-odds; else C = K.

        penalty (r,) : of each column.   labels (n,) : 0..K-1.   weights (n,) : of the examples.
        Sets flip_matrix_, objective_, converged_ and the flags.
        """
        K = len(self.classes_)
        omega = flip_matrix.start(K) if self.robust else np.eye(K)
        method = lbfgs if solver == "lbfgs" else em_newton
        fit: SoftmaxFit = method(Z, labels, penalty, omega, learn_omega=self.robust, weights=weights)
        self.objective_, self.converged_ = fit.objectives[-1], fit.converged
        if self.robust:
            self.flip_matrix_ = fit.omega
            self._doubt(not_converged=not fit.converged, classes_swapped=fit.permuted)
        else:
            self._doubt(not_converged=not fit.converged)
        return fit.W if K > 2 else fit.W[:, 1:] - fit.W[:, :1]
