"""The baseline: gradient descent that takes noisy instances for clean ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import as_array, whole
from noisylabels.noise.features import real
from noisylabels.online.base import LinearLearner, Run
from noisylabels.online.descent import step, whole_run
from noisylabels.online.oracles import Oracle


class NaiveOGD(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 (<w_t, x~_t> - y~_t) x~_t),  x~_t the mean of `copies` copies of x_t.

    Biased by 2 Sigma w_t / copies: it converges to (Sigma_x + Sigma / copies)^-1 Sigma_x w*, not to w*.
    eta: step size, > 0.  B_w: squared radius.  copies: m >= 1.
    Raises ValueError: a parameter out of range; fewer than m copies.
    """

    name = "naive_ogd"

    def __init__(self, eta: float, B_w: float = 1.0, copies: int = 1) -> None:
        super().__init__(eta, B_w)
        self.copies = whole("copies", copies, 1)

    def _learn(self, oracle: Oracle) -> None:
        x = np.mean([self._copy(oracle) for _ in range(self.copies)], axis=0)
        step(self.w, x, oracle.target(), x, 0, self.eta, self.B_w)

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """T rounds at once, the same numbers as `partial_fit` on the same copies.

        X: (T, d) instances to predict, never learnt from.  y: (T,) noisy targets.
        X1: (T, m, d) the copies; or (T, d), one copy each or the mean of several.
         Raises ValueError: wrong shape, not finite, divergence.
        """
        if as_array("X1", X1).ndim == 3:
            X1 = np.mean(real("X1", X1, (None, self.copies, None)), axis=1)
        return whole_run(self, X, X1, X1, y, average_from)
