r"""Algorithm 3: kernel learning from two copies of every sample.

The hypothesis is :math:`f(x) = scale \sum_i a_i k(s_i, x)`. The global scale makes a projection
one multiplication. The squared norm of the surrogate is carried along. Support points are stored
entry by entry, as an array of shape (d, capacity), so that every loop runs over points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative
from noisylabels.fixed_order.lanes import dot_lanes, fma
from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.online.oracles import OnlineLearner, Oracle
from noisylabels.validation import Floats, number, of_class, real

BLOCK = 512
"""Number of points whose distances stay in the first-level cache."""

SMALL = 1e-150
"""Scale below which the scale is multiplied into the coefficients."""

FIRST_CAPACITY = 64
SCALE, NORM = 0, 1  # positions in the state
NO_PREDICTIONS = np.empty(0)


class KernelRun(NamedTuple):
    """The predictions and support points of a whole run of a kernel learner.

    Attributes
    ----------
    predictions : ndarray of shape (n_rounds,)
        Predictions of the clean samples, each before its update.
    support : ndarray of shape (n, d)
        Support points.
    alpha : ndarray of shape (n,)
        Their coefficients.
    norm : float
        Squared norm of the surrogate hypothesis.
    """

    predictions: Floats
    support: Floats
    alpha: Floats
    norm: float


class SurrogateKernel(OnlineLearner):
    r"""Kernel regression on samples seen through Gaussian noise of known variances.

    It predicts with a kernel and descends with its surrogate, which is the kernel of the clean
    samples on average over the noise. A round needs two copies of its sample.

    Parameters
    ----------
    pair : SurrogatePair
        Kernel and surrogate, from `gaussian_pair` or `rational_pair` of
        `noisylabels.kernels.surrogate`.
    eta : float
        Step size, above 0.
    ball : float, default 1.0
        Squared radius of the ball in the space of the surrogate that holds the hypothesis, above 0.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite, a round has fewer than two copies, or samples
        have another number of entries than the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import SurrogateKernel
    >>> from noisylabels.kernels.surrogate import gaussian_pair
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 1))
    >>> first, second = X + 0.3 * rng.normal(size=(2, 1000, 1))
    >>> learner = SurrogateKernel(gaussian_pair(0.5, [0.09]), eta=0.05, ball=20.0)
    >>> run = learner.run(X, first, second, np.sin(3 * X[:, 0]))
    >>> learner.predict([0.5]) > 0.5
    True

    Notes
    -----
    The hypothesis is :math:`f_t(x) = \sum_{i<t} \alpha_i k(\tilde{x}_i, x)` with
    :math:`\alpha_t = -2 \eta (\tilde{f}_t(\tilde{x}'_t) - \tilde{y}_t)` and
    :math:`\tilde{f}_t(x) = \sum_{i<t} \alpha_i \tilde{k}(\tilde{x}_i, x)`.
    All coefficients are scaled back when
    :math:`\sum_{ij} \alpha_i \alpha_j \tilde{k}(\tilde{x}_i, \tilde{x}_j)` exceeds ``ball``.

    References
    ----------
    Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Algorithm 3.
    """

    name = "surrogate_kernel"

    def __init__(self, pair: SurrogatePair, eta: float, ball: float = 1.0) -> None:
        self.pair = of_class("pair", pair, SurrogatePair)
        self.eta = number("eta", eta, above=0)
        self.ball = number("ball", ball, above=0)

    @property
    def support(self) -> Floats:
        """Support points, of shape (n, d)."""
        return np.ascontiguousarray(self._S[:, : self._n].T)

    @property
    def alpha(self) -> Floats:
        """Coefficients of the support points, of shape (n,)."""
        return self._state[SCALE] * self._a[: self._n]

    @property
    def norm(self) -> float:
        """Squared norm of the surrogate hypothesis, carried along."""
        return float(self._state[NORM])

    def run(self, X: ArrayLike, X1: ArrayLike, X2: ArrayLike, y: ArrayLike) -> KernelRun:
        """Run many rounds at once, with the same numbers as `partial_fit` on the same copies.

        The time grows with the square of the number of rounds.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        X1 : array_like of shape (n_rounds, d)
            Copies that become support points.
        X2 : array_like of shape (n_rounds, d)
            Independent copies for the coefficients. With ``X1`` itself the estimate is biased.
        y : array_like of shape (n_rounds,)
            Noisy targets.

        Returns
        -------
        KernelRun
            The run.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, or the hypothesis diverges.
        """
        clean = real("X", X, (None, self.pair.d))
        first = real("X1", X1, clean.shape)
        y = real("y", y, (len(clean),))
        if X2 is X1:
            second = first
        else:
            second = real("X2", X2, clean.shape)
        self._ready(self.pair.d)
        predictions = np.empty(len(y))
        self._rounds(clean, first, second, y, predictions)
        return KernelRun(predictions, self.support, self.alpha, self.norm)

    def _start(self, d: int) -> None:
        if d != self.pair.d:
            self._d = None
            raise ValueError(f"instance: has {d} entries, the kernel is for {self.pair.d}")
        self._rates = np.repeat(self.pair.rates[:, None], d, axis=1)
        self._S = np.empty((d, FIRST_CAPACITY))
        self._a = np.empty(FIRST_CAPACITY)
        self._n = 0
        self._state = np.array([1.0, 0.0])

    def _reserve(self, n_points: int) -> None:
        """Make room for further support points, at least as many as there is room for now."""
        capacity = len(self._a)
        missing = self._n + n_points - capacity
        if missing > 0:
            extra = max(missing, capacity)
            self._S = np.pad(self._S, ((0, 0), (0, extra)))
            self._a = np.pad(self._a, (0, extra))

    def _rounds(
        self,
        clean: Floats,
        first: Floats,
        second: Floats,
        y: Floats,
        predictions: Floats,
    ) -> None:
        self._reserve(len(y))
        _run(
            clean,
            first,
            second,
            second is first,
            y,
            self.eta,
            self.ball,
            self._S,
            self._a,
            self._n,
            self.pair.weights,
            self._rates,
            self.pair.surrogate_weights,
            self.pair.surrogate_rates,
            self._state,
            predictions,
        )
        self._n += len(y)
        self._check(predictions if len(predictions) else self._state)

    def _values(self, X: Floats) -> Floats:
        scale = self._state[SCALE]
        return _values(self._S, self._a, self._n, scale, X, self.pair.weights, self._rates)

    def _learn(self, oracle: Oracle) -> None:
        first = self._copy(oracle)[None]
        second = self._copy(oracle)[None]
        self._rounds(first, first, second, np.array([oracle.target()]), NO_PREDICTIONS)


@compile_kernel(inline="always")
def _plus_square(total: float, rate: float, difference: float) -> float:
    """Add a weighted square.

    total + rate difference^2.
    """
    return fma(rate * difference, difference, total)


@compile_kernel(error_model="numpy")
def _distances(S: Floats, start: int, z: Floats, rates: Floats, out: Floats) -> None:
    """Compute weighted squared distances from a point to stored points.

    out[i] = sum_k rates[k] (S[k, start + i] - z[k])^2, two entries at a time.
    """
    d = len(z)
    stop = start + len(out)
    row = S[d - 1, start:stop]
    centre = z[d - 1]
    rate = rates[d - 1]
    if d % 2:
        for i in range(len(out)):
            difference = row[i] - centre
            out[i] = rate * difference**2
    else:
        row_0 = S[d - 2, start:stop]
        centre_0 = z[d - 2]
        rate_0 = rates[d - 2]
        for i in range(len(out)):
            first_difference = row_0[i] - centre_0
            first_square = rate_0 * first_difference**2
            out[i] = _plus_square(first_square, rate, row[i] - centre)
    for k in range(0, d - 2, 2):
        row_0 = S[k, start:stop]
        centre_0 = z[k]
        rate_0 = rates[k]
        row_1 = S[k + 1, start:stop]
        centre_1 = z[k + 1]
        rate_1 = rates[k + 1]
        for i in range(len(out)):
            total = _plus_square(out[i], rate_0, row_0[i] - centre_0)
            out[i] = _plus_square(total, rate_1, row_1[i] - centre_1)


@compile_kernel(error_model="numpy")
def _weighted(a: Floats, distances: Floats) -> float:
    """Add up Gaussian kernels, in place of the distances.

    sum_i a[i] exp(-distances[i]); the distances become these exponentials.
    """
    for i in range(len(a)):
        distances[i] = exp_of_negative(-min(distances[i], LARGEST))
    return dot_lanes(a, 0, distances, 0, len(a))


@compile_kernel(error_model="numpy")
def _value(
    S: Floats,
    a: Floats,
    n: int,
    z: Floats,
    weights: Floats,
    rates: Floats,
    buffer: Floats,
) -> float:
    """Compute the value of the hypothesis at a point, without its scale.

    sum_{i < n} a_i k(s_i, z) for the mixture of the weights and rates; buffer: (BLOCK,).
    """
    total = 0.0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        distances = buffer[: stop - start]
        for q in range(len(weights)):
            _distances(S, start, z, rates[q], distances)
            total += weights[q] * _weighted(a[start:stop], distances)
    return total


@compile_kernel(error_model="numpy")
def _values(
    S: Floats,
    a: Floats,
    n: int,
    scale: float,
    Z: Floats,
    weights: Floats,
    rates: Floats,
) -> Floats:
    """Compute the hypothesis at every row of Z (m, d)."""
    out = np.empty(len(Z))
    buffer = np.empty(BLOCK)
    for j in range(len(Z)):
        out[j] = scale * _value(S, a, n, Z[j], weights, rates, buffer)
    return out


@compile_kernel(error_model="numpy")
def _run(
    clean: Floats,
    first: Floats,
    second: Floats,
    is_one_copy: bool,
    y: Floats,
    eta: float,
    ball: float,
    S: Floats,
    a: Floats,
    n: int,
    weights: Floats,
    rates: Floats,
    surrogate_weights: Floats,
    surrogate_rates: Floats,
    state: Floats,
    predictions: Floats,
) -> None:
    """Run rounds of Algorithm 3; predict the clean sample first, if there is one.

    The new point n is first[t], its coefficient comes from second[t].
    """
    buffer = np.empty(BLOCK)
    diagonal = surrogate_weights.sum()
    for t in range(len(y)):
        if len(predictions):
            value = _value(S, a, n, clean[t], weights, rates, buffer)
            predictions[t] = state[SCALE] * value
        value = _value(S, a, n, second[t], surrogate_weights, surrogate_rates, buffer)
        gradient = 2.0 * (state[SCALE] * value - y[t])
        alpha = -eta * gradient
        if is_one_copy:
            value_at_point = 0.5 * gradient + y[t]
        else:
            value = _value(S, a, n, first[t], surrogate_weights, surrogate_rates, buffer)
            value_at_point = state[SCALE] * value
        for k in range(len(S)):
            S[k, n] = first[t, k]
        a[n] = alpha / state[SCALE]
        n += 1
        norm = state[NORM] + 2.0 * alpha * value_at_point + alpha * alpha * diagonal
        state[NORM] = max(norm, 0.0)
        if norm > ball:
            state[SCALE] *= math.sqrt(ball / norm)
            state[NORM] = ball
        if state[SCALE] < SMALL:
            for i in range(n):
                a[i] *= state[SCALE]
            state[SCALE] = 1.0
