"""The baseline of Algorithm 4: descent in explicit features of noisy instances, taken for clean ones."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, of_class, whole
from noisylabels.compiled.arithmetic import add, dot
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE, AnalyticLoss, compiled_slope
from noisylabels.noise.features import real
from noisylabels.online.base import LinearLearner
from noisylabels.online.descent import project
from noisylabels.online.oracles import Oracle

BLOCK = 16_384  # rows whose features are in memory at once


class NaiveFeatureOGD(LinearLearner):
    """w_{t+1} = P(w_t - eta l'(<w_t, Psi(x~_t)>, y_t) Psi(x~_t)),  one copy, Psi up to the degree `highest`.

    On clean instances it is the noise-free control.
    kernel: `kernels.tensor`.  loss: `losses.analytic`.  eta: step size, > 0.  B_w: squared radius, > 0.
    highest: degree at which the features of an infinite kernel are cut off.
    Raises ValueError: eta or B_w not positive and finite; a label that is not -1 or 1 (classification).
    """

    name = "naive_feature_ogd"

    def __init__(
        self, kernel: TensorKernel, loss: AnalyticLoss, eta: float, B_w: float = 1.0, highest: int = 30
    ) -> None:
        super().__init__(eta, B_w)
        self.kernel = of_class("kernel", kernel, TensorKernel)
        self.loss = of_class("loss", loss, AnalyticLoss)
        highest = whole("highest", highest, 0)
        self.highest = highest if kernel.degree is None else kernel.degree

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike) -> Floats:
        """Predictions <w_t, Psi(x_t)> (T,), each before its update, from the present w.

        X: (T, d) instances to predict, never learnt from.  X1: (T, d) one copy each.  y: (T,) targets.
        Raises ValueError: wrong shape, not finite, a label that is not -1 or 1 (classification), divergence.
        """
        clean = real("X", X, (None, None))
        noisy, targets = real("X1", X1, clean.shape), real("y", y, (len(clean),))
        self.loss.check_labels(targets)
        self._ready(clean.shape[1])
        predictions = np.empty(len(targets))
        for begin in range(0, len(targets), BLOCK):
            rows = slice(begin, begin + BLOCK)
            self._steps(clean[rows], noisy[rows], targets[rows], predictions[rows])
        return predictions

    def _start(self, d: int) -> None:
        self.w = np.zeros(sum(d**n for n in range(self.highest + 1)))

    def _values(self, X: Floats) -> Floats:
        return self.kernel.features(X, self.highest) @ self.w

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)[None, :]
        y = np.array([oracle.target()])
        self.loss.check_labels(y)
        self._steps(x, x, y, np.empty(1))

    def _steps(self, clean: Floats, noisy: Floats, y: Floats, predictions: Floats) -> None:
        Psi = self.kernel.features(clean, self.highest).ravel()
        noisy_Psi = Psi if noisy is clean else self.kernel.features(noisy, self.highest).ravel()
        loss = self.loss.kind, self.loss.code, self.loss.s
        _steps(Psi, noisy_Psi, y, *loss, self.eta, self.B_w, self.w, predictions)
        if not (np.isfinite(predictions).all() and np.isfinite(self.w).all()):
            raise ValueError(f"{self.name}: diverged; take a smaller step eta or scale the instances")


@njit(cache=True)
def _steps(
    clean: np.ndarray,
    noisy: np.ndarray,
    y: np.ndarray,
    kind: int,
    code: int,
    s: float,
    eta: float,
    B_w: float,
    w: np.ndarray,
    predictions: np.ndarray,
) -> None:
    d = len(w)
    for t in range(len(y)):
        predictions[t] = dot(clean, t * d, w)
        a = dot(noisy, t * d, w)
        if kind == DIFFERENCE:
            g = compiled_slope(code, s, a - y[t])
        else:
            g = y[t] * compiled_slope(code, s, y[t] * a - (kind == MARGIN_LESS_ONE))
        add(w, -eta * g, noisy, t * d)
        project(w, B_w)
