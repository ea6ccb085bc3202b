"""The baseline: kernel gradient descent that takes noisy instances for clean ones."""

from __future__ import annotations

from numpy.typing import ArrayLike

from noisylabels.arrays import of_class
from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.online.oracles import Oracle
from noisylabels.online.surrogate_kernel import KernelRun, SurrogateKernel


class NaiveKernelOGD(SurrogateKernel):
    """f_{t+1} = P(f_t - 2 eta (f_t(x~_t) - y~_t) k(x~_t, .)), one copy, no surrogate.

    It learns a function that fits the blurred instances. On clean instances it is the noise-free control.
    pair: its kernel is taken, its surrogate is not.  eta: step size, > 0.  ball: squared radius, > 0.
    Raises ValueError: eta or ball not positive and finite; instances of another dimension.
    """

    name = "naive_kernel_ogd"

    def __init__(self, pair: SurrogatePair, eta: float, ball: float = 1.0) -> None:
        super().__init__(of_class("pair", pair, SurrogatePair).without_noise(), eta, ball)

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike) -> KernelRun:  # type: ignore[override]
        """T rounds at once: X (T, d) instances to predict, X1 (T, d) one copy each, y (T,) noisy targets."""
        return super().run(X, X1, X1, y)

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)
        self._add(x, x, True, oracle.target())
