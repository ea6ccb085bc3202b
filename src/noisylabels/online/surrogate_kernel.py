"""Algorithm 3: kernels and Gaussian noise of known covariance; two copies of every instance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, number, of_class
from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.noise.features import real
from noisylabels.online import expansion
from noisylabels.online.base import OnlineLearner
from noisylabels.online.oracles import Oracle


class KernelRun(NamedTuple):
    """predictions: (T,) f_t(x_t), each before its update.  support: (n, d) points.  alpha: (n,) coefficients.

    norm: squared norm of the surrogate hypothesis.
    """

    predictions: Floats
    support: Floats
    alpha: Floats
    norm: float


class SurrogateKernel(OnlineLearner):
    """f_t(x) = sum_{i<t} alpha_i k(x~_i, x),  alpha_t = -2 eta (sum_{i<t} alpha_i k~(x~_i, x~'_t) - y~_t).

    Predicts with the kernel k and descends with its surrogate k~, E k~(x~, .) = k(x, .); all alpha are scaled
    back when sum_ij alpha_i alpha_j k~(x~_i, x~_j) exceeds `ball`.
    pair: kernel and surrogate, `kernels.surrogate.gaussian_pair` or `kernels.radial.rational_pair`.
    eta: step size, > 0.  ball: squared radius B~ in the space of the surrogate, > 0.
    Raises ValueError: eta or ball not positive and finite; fewer than two copies;
    instances of another dimension.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 3.
    """

    name = "surrogate_kernel"

    def __init__(self, pair: SurrogatePair, eta: float, ball: float = 1.0) -> None:
        self.pair = of_class("pair", pair, SurrogatePair)
        self.eta = number("eta", eta, above=0)
        self.ball = number("ball", ball, above=0)

    @property
    def support(self) -> Floats:
        """The support points (n, d)."""
        return np.ascontiguousarray(self._S[:, : self._n].T)

    @property
    def alpha(self) -> Floats:
        """Their coefficients (n,)."""
        return self._state[expansion.SCALE] * self._a[: self._n]

    @property
    def norm(self) -> float:
        """Squared norm of the surrogate hypothesis, carried along."""
        return float(self._state[expansion.NORM])

    def run(self, X: ArrayLike, X1: ArrayLike, X2: ArrayLike, y: ArrayLike) -> KernelRun:
        """T rounds at once, the same numbers as `partial_fit` on the same copies; O(T^2 d).

        X: (T, d) instances to predict, never learnt from.  X1: (T, d) copies that become support points.
        X2: (T, d) independent copies for the coefficients (X1 itself only to show what goes wrong).  y: (T,).
        Raises ValueError: wrong shape, not finite, divergence.
        """
        clean = real("X", X, (None, self.pair.d))
        first, y = real("X1", X1, clean.shape), real("y", y, (len(clean),))
        second = first if X2 is X1 else real("X2", X2, clean.shape)
        self._ready(self.pair.d)
        self._reserve(len(y))
        predictions, pair = np.empty(len(y)), self.pair
        expansion.run(
            clean, first, second, second is first, y, self.eta, self.ball, self._S, self._a, self._n,
            pair.weights, self._rates, pair.surrogate_weights, pair.surrogate_rates, self._state, predictions,
        )  # fmt: skip
        self._n += len(y)
        self._check(predictions)
        return KernelRun(predictions, self.support, self.alpha, self.norm)

    def _start(self, d: int) -> None:
        if d != self.pair.d:
            self._d = None
            raise ValueError(f"instance: has {d} entries, the kernel is for {self.pair.d}")
        self._rates = np.repeat(self.pair.rates[:, None], d, axis=1)
        self._S, self._a, self._n = np.empty((d, 64)), np.empty(64), 0
        self._state = np.array([1.0, 0.0])
        self._buffer = np.empty(expansion.BLOCK)

    def _reserve(self, more: int) -> None:
        if self._n + more > len(self._a):
            capacity = max(self._n + more, 2 * len(self._a))
            S, a = np.empty((self.pair.d, capacity)), np.empty(capacity)
            S[:, : self._n], a[: self._n] = self._S[:, : self._n], self._a[: self._n]
            self._S, self._a = S, a

    def _values(self, X: Floats) -> Floats:
        data = self._S, self._a, self._n, self._state[expansion.SCALE]
        return expansion.values(*data, X, self.pair.weights, self._rates)

    def _learn(self, oracle: Oracle) -> None:
        first, second = self._copy(oracle), self._copy(oracle)
        self._add(first, second, False, oracle.target())

    def _add(self, first: Floats, second: Floats, twice: bool, y: float) -> None:
        self._reserve(1)
        expansion.learn(
            self._S, self._a, self._n, first, second, twice, y, self.eta, self.ball,
            self.pair.surrogate_weights, self.pair.surrogate_rates, self._state, self._buffer,
        )  # fmt: skip
        self._n += 1
        self._check(self._state)

    def _check(self, values: Floats) -> None:
        if not np.isfinite(values).all():
            raise ValueError(f"{self.name}: diverged; take a smaller step eta")
