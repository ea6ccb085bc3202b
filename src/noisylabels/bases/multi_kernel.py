"""What the multiple-kernel classifiers share: f(x) = sum_i eta_i sum_n w_n kappa_i(x, x_n)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from noisylabels.bases.doubts import Doubts
from noisylabels.bases.features import bounded
from noisylabels.bases.fits import Fits
from noisylabels.bases.kernel import KernelClassifier, majority, settled, silent
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import WIDTHS, squared_distances

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Mixture:
    """What was learned from one label column: w (n,), eta (S,) >= 0.

    omega : (2, 2) flip matrix, NaN without one.
    doubts : words of `noisylabels.bases.doubts.Doubts`, and whether they apply.
    fitted : further attributes of the estimator.
    """

    w: Array
    eta: Array
    doubts: dict[str, bool]
    omega: Array = field(default_factory=lambda: np.full((2, 2), np.nan))
    fitted: dict[str, Any] = field(default_factory=dict)


class MultiKernelClassifier(Doubts, KernelClassifier):
    """A Gaussian kernel of each width; the subclass learns w and eta in `_learn`."""

    widths: ArrayLike | None
    weights_: Array
    eta_: Array

    def fit(self, X: Any, y: ArrayLike) -> MultiKernelClassifier:
        """Fit to X (n, d) and the labels y (n,)."""
        self._bank = self._kernels()
        X, labels = self._checked(X, y)
        mixture = self._learn(self._bank, squared_distances(X)[np.newaxis], labels[:, np.newaxis])[0]
        self.weights_, self.eta_ = mixture.w, mixture.eta
        for name, value in mixture.fitted.items():
            setattr(self, name, value)
        self._doubt(**mixture.doubts)
        return self

    def decision_function(self, X: Any) -> Array:
        """f(x) per row of X (n, d); 0, which is class 0, where no training point is near.

        Raises ValueError : not fitted, other number of features, NaN or infinity.
        """
        check_is_fitted(self)
        X = bounded(validate_data(self, X, reset=False, dtype=np.float64))
        D = squared_distances(X, self.X_fit_)[np.newaxis]
        return self._bank.scores(D, self.weights_[:, np.newaxis], self.eta_[:, np.newaxis])[0]

    @classmethod
    def fit_bank(
        cls, bank: KernelBank, D: Array, D_out: Array, labels: NDArray[Any], **parameters: Any
    ) -> Fits:
        """One model per column of labels (n, L), 0 or 1, with the kernels of ``bank``: `Fits` with G = 1.

        D (G, n, n), D_out (G, m, n): squared distances, one matrix per group of the bank. parameters: of the
        class. A column with one class only gets f = +-1 everywhere, flagged. Also flagged: f = 0 at all
        held-out points (there the more frequent observed class is predicted), what the method itself doubts.
        Raises ValueError : labels other than 0 and 1 or of another length, wrong parameters.
        """
        y = np.asarray(labels, dtype=float)
        if y.ndim != 2 or len(y) != D.shape[1]:
            raise ValueError(f"labels must be (n, L) with n = {D.shape[1]}, got {np.shape(labels)}")
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError("labels must be 0 and 1")
        mixtures = cls(**parameters)._learn(bank, D, y)
        w, eta = (np.stack([getattr(m, name) for m in mixtures], axis=1) for name in ("w", "eta"))
        side = np.array([majority(column) for column in y.T])
        f = bank.scores(D_out, w, eta)
        doubtful = np.array([any(m.doubts.values()) for m in mixtures])
        doubtful |= silent(f)
        constant = y.min(axis=0) == y.max(axis=0)
        scores = np.where(constant[:, np.newaxis], side[:, np.newaxis], settled(f, side))
        rates = np.where(constant, np.nan, np.array([[m.omega[0, 1], m.omega[1, 0]] for m in mixtures]).T)
        return Fits(
            scores[:, np.newaxis], rates[0][:, np.newaxis], rates[1][:, np.newaxis],
            (doubtful | constant)[:, np.newaxis],
        )  # fmt: skip

    @classmethod
    def fit_distances(
        cls,
        D: Array,
        D_out: Array,
        labels: NDArray[Any],
        widths: ArrayLike,
        *,
        parametrisation: str = "sigma2",
        **parameters: Any,
    ) -> Fits:
        """`fit_bank` with a kernel of every width on the squared distances D (n, n), D_out (m, n)."""
        bank = KernelBank.of_widths(widths, parametrisation=parametrisation)
        return cls.fit_bank(bank, D[np.newaxis], D_out[np.newaxis], labels, **parameters)

    def _kernels(self) -> KernelBank:
        widths = WIDTHS if self.widths is None else self.widths
        return KernelBank.of_widths(widths, parametrisation=self.parametrisation)

    def _learn(self, bank: KernelBank, D: Array, labels: Array) -> Sequence[Mixture]:
        """A mixture for each column of labels (n, L) of 0.0 and 1.0."""
        raise NotImplementedError
