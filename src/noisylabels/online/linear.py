"""Linear learners of instances seen through noise: Algorithms 1 and 2, their baseline and their control."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order import add, dot
from noisylabels.noise.additive import checked_covariance
from noisylabels.online.oracles import OnlineLearner, Oracle
from noisylabels.validation import Floats, as_array, nonnegative, number, real, whole

NONE = np.empty((1, 0))


@compile_kernel()
def project(w: Floats, B_w: float) -> None:
    """w = w min(1, sqrt(B_w) / ||w||), in place."""
    size = dot(w, 0, w)
    if size > B_w:
        scale = math.sqrt(B_w / size)
        for k in range(len(w)):
            w[k] *= scale


@compile_kernel()
def step(w: Floats, x: Floats, y: float, second: Floats, at: int, eta: float, B_w: float) -> None:
    """w = P(w - eta 2 (<w, x~> - y~) x~'), in place; x~ = x[at : at+d], x~' = second[at : at+d]."""
    add(w, -eta * 2.0 * (dot(x, at, w) - y), second, at)
    project(w, B_w)


@compile_kernel()
def _step_known(
    w: Floats, x: Floats, y: float, at: int, Sigma: Floats, start: int, bias: Floats, eta: float, B_w: float
) -> None:
    """w = P(w - eta 2 ((<w, x~> - y~) x~ - Sigma_t w)), in place; Sigma_t is Sigma[start : start + d d]."""
    d = len(w)
    for k in range(d):
        bias[k] = dot(Sigma, start + k * d, w)
    add(w, -eta * 2.0 * (dot(x, at, w) - y), x, at)
    add(w, eta * 2.0, bias, 0)
    project(w, B_w)


@compile_kernel()
def _run(
    clean: Floats, x: Floats, second: Floats, y: Floats, Sigma: Floats, size: int, stride: int,
    eta: float, B_w: float, w: Floats, predictions: Floats, total: Floats, since: int,
) -> None:  # fmt: skip
    """predictions[t] = <w, clean_t>, then one step, for all t; total = sum of w over the rounds t >= since.

    The instances are flat arrays of T d numbers. Sigma_t is Sigma[t stride : t stride + size]: nothing, the d
    numbers of its diagonal, or all d d.
    """
    d = len(w)
    bias = np.empty(d)
    for t in range(len(y)):
        at = t * d
        predictions[t] = dot(clean, at, w)
        if t >= since:
            for k in range(d):
                total[k] += w[k]
        if size == 0:
            step(w, x, y[t], second, at, eta, B_w)
        elif size > d:
            _step_known(w, x, y[t], at, Sigma, t * stride, bias, eta, B_w)
        else:
            slope = eta * 2.0 * (dot(x, at, w) - y[t])
            row, variances = x[at : at + d], Sigma[t * stride : t * stride + d]
            for k in range(d):
                w[k] = (w[k] - slope * row[k]) + eta * 2.0 * (variances[k] * w[k])
            project(w, B_w)


class Run(NamedTuple):
    """A whole run of a linear learner.

    predictions: (T,) <w_t, x_t>, each before its update.  w: (d,) after the last round.
    average: (d,) mean of the w_t over the rounds from `average_from` on.
    """

    predictions: Floats
    w: Floats
    average: Floats


class LinearLearner(OnlineLearner):
    """f(x) = <w, x> in the ball ||w||^2 <= B_w, squared loss, projected gradient steps from w_1 = 0.

    eta: step size, > 0.  B_w: squared radius of the ball, > 0.
    Raises ValueError: eta or B_w not positive and finite.
    """

    w: Floats

    def __init__(self, eta: float, B_w: float = 1.0) -> None:
        self.eta = number("eta", eta, above=0)
        self.B_w = number("B_w", B_w, above=0)

    def _start(self, d: int) -> None:
        self.w = np.zeros(d)

    def _values(self, X: Floats) -> Floats:
        return X @ self.w

    def _step(self, oracle: Oracle, first: Floats, second: Floats) -> None:
        step(self.w, first, oracle.target(), second, 0, self.eta, self.B_w)

    def _run(
        self, X: ArrayLike, X1: ArrayLike, X2: ArrayLike, y: ArrayLike, since: int, Sigma: Floats = NONE
    ) -> Run:
        """All rounds from the present w; X1, X2 (T, d): copies for the residual and for the direction.

        Sigma: of one round after the other, (T, d d), or (T, d), the diagonals; of one row if all are equal.
        """
        clean = real("X", X, (None, None))
        self._ready(clean.shape[1])
        first, targets = real("copy 1", X1, clean.shape), real("y", y, (len(clean),))
        second = first if X2 is X1 else real("copy 2", X2, clean.shape)
        predictions, total = np.empty(len(clean)), np.zeros(clean.shape[1])
        since = whole("average_from", since, 0, len(clean) - 1)
        rounds, size = Sigma.shape
        data = clean.ravel(), first.ravel(), second.ravel(), targets, Sigma.ravel(), size, size * (rounds > 1)
        _run(*data, self.eta, self.B_w, self.w, predictions, total, since)
        self._check(predictions, self.w)
        return Run(predictions, self.w.copy(), total / (len(clean) - since))


class TwoCopy(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 (<w_t, x~_t> - y~_t) x~'_t),  x~_t and x~'_t independent copies of x_t.

    The gradient estimate is unbiased, whatever the noise: its two factors are independent.
    eta: step size, > 0, from `online.theory.best_step`.  B_w: squared radius.
    Raises ValueError: eta or B_w not positive and finite; fewer than two copies.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 1 and Lemma 2.
    """

    name = "two_copy"

    def _learn(self, oracle: Oracle) -> None:
        self._step(oracle, self._copy(oracle), self._copy(oracle))

    def run(self, X: ArrayLike, X1: ArrayLike, X2: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """T rounds at once, the same numbers as `partial_fit` on the same copies.

        X: (T, d) instances to predict, never learnt from.  X1, X2: (T, d) independent copies.  y: (T,) noisy
        targets.  Raises ValueError: wrong shape, not finite, X2 the same array as X1, divergence.
        """
        if X1 is X2:
            raise ValueError("two_copy: X1 and X2 must be independent copies, got one array twice")
        return self._run(X, X1, X2, y, average_from)


class KnownCovariance(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 ((<w_t, x~_t> - y~_t) x~_t - Sigma_t w_t)).

    Sigma_t w_t is what the noise adds to the gradient on average; the noise of y~ needs no correction.
    eta: step size, > 0.  B_w: squared radius.
    covariance: (d, d), if the oracle does not give it in every round.
    Raises ValueError: eta or B_w not positive and finite; covariance missing, of the wrong size,
    not symmetric or not positive semi-definite.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 2 and Lemma 3.
    """

    name = "known_covariance"

    def __init__(self, eta: float, B_w: float = 1.0, covariance: ArrayLike | None = None) -> None:
        super().__init__(eta, B_w)
        self.covariance = None if covariance is None else checked_covariance("covariance", covariance)

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)
        Sigma = self.covariance if self.covariance is not None else oracle.covariance()
        if Sigma.shape != (len(x), len(x)):
            raise ValueError(f"covariance: expected shape ({len(x)}, {len(x)}), got {Sigma.shape}")
        known = Sigma.ravel(), 0, np.empty(len(x))
        _step_known(self.w, x, oracle.target(), 0, *known, self.eta, self.B_w)

    def run(
        self, X: ArrayLike, X1: ArrayLike, y: ArrayLike, *, covariance: ArrayLike | None = None,
        variances: ArrayLike | None = None, average_from: int = 0,
    ) -> Run:  # fmt: skip
        """T rounds at once, the same numbers as `partial_fit` on the same copies.

        X: (T, d) instances to predict, never learnt from.  X1: (T, d) one copy each.  y: (T,) noisy targets.
        covariance: (d, d) or (T, d, d); or variances of independent entries: (d,) or (T, d);
        or neither, if `__init__` got the covariance.
        Raises ValueError: wrong shape, not finite, no covariance or two, divergence.
        """
        T, d = real("X", X, (None, None)).shape
        if variances is not None:
            if covariance is not None:
                raise ValueError("known_covariance: give covariance or variances, not both")
            shape = (d,) if as_array("variances", variances).ndim < 2 else (T, d)
            Sigma = nonnegative("variances", real("variances", variances, shape), shape)
            return self._run(X, X1, X1, y, average_from, np.atleast_2d(Sigma))
        given = self.covariance if covariance is None else covariance
        if given is None:
            raise ValueError("covariance: known_covariance needs the covariance of the noise of every round")
        Sigma = checked_covariance("covariance", given, d)
        if Sigma.ndim == 3 and len(Sigma) != T:
            raise ValueError(f"covariance: has {len(Sigma)} rounds, X has {T}")
        return self._run(X, X1, X1, y, average_from, Sigma.reshape(-1, d * d))


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
        self._step(oracle, x, x)

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """T rounds at once, the same numbers as `partial_fit` on the same copies.

        X: (T, d) instances to predict, never learnt from.  y: (T,) noisy targets.
        X1: (T, m, d) the copies; or (T, d), one copy each or the mean of several.
        Raises ValueError: wrong shape, not finite, divergence.
        """
        if as_array("X1", X1).ndim == 3:
            X1 = np.mean(real("X1", X1, (None, self.copies, None)), axis=1)
        return self._run(X, X1, X1, y, average_from)


class OracleOGD(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 (<w_t, x_t> - y_t) x_t) on the clean x_t.

    eta: step size, > 0.  B_w: squared radius. To be fed by an oracle without noise.
    Raises ValueError: eta or B_w not positive and finite.
    Source: M. Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, ICML 2003.
    """

    name = "oracle_ogd"

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)
        self._step(oracle, x, x)

    def run(self, X: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """T rounds at once on clean X (T, d), y (T,).

        Raises ValueError: wrong shape, not finite, divergence.
        """
        return self._run(X, X, X, y, average_from)
