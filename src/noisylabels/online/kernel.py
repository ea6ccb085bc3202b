"""Algorithm 3: kernels, Gaussian noise of known covariance, two copies of every instance; and its baseline.

f(x) = scale sum_i a_i k(s_i, x). The global `scale` makes a projection one multiplication; the squared norm
of the surrogate is carried along. Support points are stored entry by entry, (d, capacity), so that every
loop runs over points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order import LARGEST, dot_lanes, exp_of_negative, fma
from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.online.oracles import OnlineLearner, Oracle
from noisylabels.validation import Floats, number, of_class, real

BLOCK = 512  # points whose distances stay in the first-level cache
SMALL = 1e-150  # a smaller scale is multiplied into the coefficients
SCALE, NORM = 0, 1  # places in `state`
NONE = np.empty(0)


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
    pair: kernel and surrogate, `gaussian_pair` or `rational_pair` of `kernels.surrogate`.
    eta: step size, > 0.  ball: squared radius B~ in the space of the surrogate, > 0.
    Raises ValueError: eta or ball not positive and finite; fewer than two copies; instances of another
    dimension.
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
        return self._state[SCALE] * self._a[: self._n]

    @property
    def norm(self) -> float:
        """Squared norm of the surrogate hypothesis, carried along."""
        return float(self._state[NORM])

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
        predictions = np.empty(len(y))
        self._rounds(clean, first, second, y, predictions)
        return KernelRun(predictions, self.support, self.alpha, self.norm)

    def _start(self, d: int) -> None:
        if d != self.pair.d:
            self._d = None
            raise ValueError(f"instance: has {d} entries, the kernel is for {self.pair.d}")
        self._rates = np.repeat(self.pair.rates[:, None], d, axis=1)
        self._S, self._a, self._n = np.empty((d, 64)), np.empty(64), 0
        self._state = np.array([1.0, 0.0])

    def _rounds(self, clean: Floats, first: Floats, second: Floats, y: Floats, predictions: Floats) -> None:
        missing, pair = self._n + len(y) - len(self._a), self.pair
        if missing > 0:
            more = max(missing, len(self._a))
            self._S, self._a = np.pad(self._S, ((0, 0), (0, more))), np.pad(self._a, (0, more))
        _run(
            clean, first, second, second is first, y, self.eta, self.ball, self._S, self._a, self._n,
            pair.weights, self._rates, pair.surrogate_weights, pair.surrogate_rates, self._state, predictions,
        )  # fmt: skip
        self._n += len(y)
        self._check(predictions if len(predictions) else self._state)

    def _values(self, X: Floats) -> Floats:
        return _values(self._S, self._a, self._n, self._state[SCALE], X, self.pair.weights, self._rates)

    def _learn(self, oracle: Oracle) -> None:
        first, second = self._copy(oracle)[None], self._copy(oracle)[None]
        self._rounds(first, first, second, np.array([oracle.target()]), NONE)


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
        x = self._copy(oracle)[None]
        self._rounds(x, x, x, np.array([oracle.target()]), NONE)


@compile_kernel(inline="always")
def _plus_square(total: float, rate: float, difference: float) -> float:
    """total + rate difference^2."""
    return fma(rate * difference, difference, total)


@compile_kernel(error_model="numpy")
def _distances(S: Floats, start: int, z: Floats, rates: Floats, out: Floats) -> None:
    """out[i] = sum_k rates[k] (S[k, start + i] - z[k])^2, two entries at a time."""
    d, stop = len(z), start + len(out)
    last, c, w = S[d - 1, start:stop], z[d - 1], rates[d - 1]
    if d % 2:
        for i in range(len(out)):
            out[i] = w * (last[i] - c) ** 2
    else:
        row, b, v = S[d - 2, start:stop], z[d - 2], rates[d - 2]
        for i in range(len(out)):
            out[i] = _plus_square(v * (row[i] - b) ** 2, w, last[i] - c)
    for k in range(0, d - 2, 2):
        row, b, v = S[k, start:stop], z[k], rates[k]
        other, e, u = S[k + 1, start:stop], z[k + 1], rates[k + 1]
        for i in range(len(out)):
            out[i] = _plus_square(_plus_square(out[i], v, row[i] - b), u, other[i] - e)


@compile_kernel(error_model="numpy")
def _weighted(a: Floats, distances: Floats) -> float:
    """sum_i a[i] exp(-distances[i]); the distances become these exponentials."""
    for i in range(len(a)):
        distances[i] = exp_of_negative(-min(distances[i], LARGEST))
    return dot_lanes(a, 0, distances, 0, len(a))


@compile_kernel(error_model="numpy")
def _value(S: Floats, a: Floats, n: int, z: Floats, weights: Floats, rates: Floats, buffer: Floats) -> float:
    """sum_{i < n} a_i k(s_i, z),  k = sum_q weights[q] exp(-sum_k rates[q, k] (..)_k^2); buffer: (BLOCK,)."""
    total = 0.0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        distances = buffer[: stop - start]
        for q in range(len(weights)):
            _distances(S, start, z, rates[q], distances)
            total += weights[q] * _weighted(a[start:stop], distances)
    return total


@compile_kernel(error_model="numpy")
def _values(S: Floats, a: Floats, n: int, scale: float, Z: Floats, weights: Floats, rates: Floats) -> Floats:
    """scale times `_value` at every row of Z (m, d): (m,)."""
    out, buffer = np.empty(len(Z)), np.empty(BLOCK)
    for j in range(len(Z)):
        out[j] = scale * _value(S, a, n, Z[j], weights, rates, buffer)
    return out


@compile_kernel(error_model="numpy")
def _run(
    clean: Floats, first: Floats, second: Floats, twice: bool, y: Floats, eta: float, ball: float,
    S: Floats, a: Floats, n: int, weights: Floats, rates: Floats, surrogate_weights: Floats,
    surrogate_rates: Floats, state: Floats, predictions: Floats,
) -> None:  # fmt: skip
    """predictions[t] = f_t(clean[t]), if wanted, then one round of Algorithm 3, for every t.

    The new point n is first[t], its coefficient comes from second[t].  twice: `second` is `first`.
    """
    buffer, diagonal = np.empty(BLOCK), surrogate_weights.sum()
    for t in range(len(y)):
        if len(predictions):
            predictions[t] = state[SCALE] * _value(S, a, n, clean[t], weights, rates, buffer)
        value = _value(S, a, n, second[t], surrogate_weights, surrogate_rates, buffer)
        g = 2.0 * (state[SCALE] * value - y[t])
        alpha = -eta * g
        if twice:
            h = 0.5 * g + y[t]
        else:
            h = state[SCALE] * _value(S, a, n, first[t], surrogate_weights, surrogate_rates, buffer)
        for k in range(len(S)):
            S[k, n] = first[t, k]
        a[n] = alpha / state[SCALE]
        n += 1
        norm = state[NORM] + 2.0 * alpha * h + alpha * alpha * diagonal
        state[NORM] = max(norm, 0.0)
        if norm > ball:
            state[SCALE] *= math.sqrt(ball / norm)
            state[NORM] = ball
        if state[SCALE] < SMALL:
            for i in range(n):
                a[i] *= state[SCALE]
            state[SCALE] = 1.0
