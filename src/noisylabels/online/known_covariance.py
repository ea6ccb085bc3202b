"""Algorithm 2: one copy of every instance, and the covariance of its noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, as_array, nonnegative, whole
from noisylabels.compiled.arithmetic import add, dot
from noisylabels.noise.features import checked_covariance, real
from noisylabels.online.base import LinearLearner, Run
from noisylabels.online.descent import arrays, finished, project
from noisylabels.online.oracles import Oracle


class KnownCovariance(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 ((<w_t, x~_t> - y~_t) x~_t - Sigma_t w_t)).

    Sigma_t w_t is what the noise adds to the gradient on average; the noise of y~ needs no correction.
    eta: step size, > 0.  B_w: squared radius.
    covariance: (d, d), told to the learner here instead of by the oracle in every round.
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
        _step_full(self.w, x, 0, oracle.target(), Sigma.ravel(), 0, np.empty(len(x)), self.eta, self.B_w)

    def run(
        self,
        X: ArrayLike,
        X1: ArrayLike,
        y: ArrayLike,
        *,
        covariance: ArrayLike | None = None,
        variances: ArrayLike | None = None,
        average_from: int = 0,
    ) -> Run:
        """T rounds at once, the same numbers as `partial_fit` on the same copies.

        X: (T, d) instances to predict, never learnt from.  X1: (T, d) one copy each.  y: (T,) noisy targets.
        covariance: (d, d) or (T, d, d); or variances of independent entries: (d,) or (T, d);
        or neither, if the learner was told the covariance when it was made.
        Raises ValueError: wrong shape, not finite, no covariance or two, divergence.
        """
        clean, targets, first = arrays(self, X, y, [X1])
        known = _known(self, covariance, variances, *clean.shape)
        predictions, total = np.empty(len(targets)), np.zeros(clean.shape[1])
        since = whole("average_from", average_from, 0, len(targets) - 1)
        run = _run_diagonal if known.diagonal else _run_full
        data = clean.ravel(), first.ravel(), targets, known.flat, known.stride
        run(*data, self.eta, self.B_w, self.w, predictions, total, since)
        return finished(self, predictions, total / (len(targets) - since))


class _Known(NamedTuple):
    """Sigma_t starts at flat[t * stride]; stride 0: all rounds share one."""

    flat: Floats
    stride: int
    diagonal: bool


def _known(
    learner: KnownCovariance, covariance: ArrayLike | None, variances: ArrayLike | None, T: int, d: int
) -> _Known:
    if covariance is not None and variances is not None:
        raise ValueError("known_covariance: give covariance or variances, not both")
    if variances is not None:
        shape = (d,) if as_array("variances", variances).ndim < 2 else (T, d)
        v = nonnegative("variances", real("variances", variances, shape), shape)
        return _Known(v.ravel(), d * (v.ndim - 1), True)
    given = learner.covariance if covariance is None else covariance
    if given is None:
        raise ValueError("covariance: known_covariance needs the covariance of the noise of every round")
    Sigma = checked_covariance("covariance", given, d)
    if Sigma.ndim == 3 and len(Sigma) != T:
        raise ValueError(f"covariance: has {len(Sigma)} rounds, X has {T}")
    return _Known(Sigma.ravel(), d * d * (Sigma.ndim - 2), False)


@njit(cache=True)
def _step_full(
    w: np.ndarray,
    x: np.ndarray,
    at: int,
    y: float,
    Sigma: np.ndarray,
    start: int,
    bias: np.ndarray,
    eta: float,
    B_w: float,
) -> None:
    """One round, w in place; Sigma_t is Sigma[start : start + d d]."""
    d = len(w)
    for k in range(d):
        bias[k] = dot(Sigma, start + k * d, w)
    add(w, -eta * 2.0 * (dot(x, at, w) - y), x, at)
    add(w, eta * 2.0, bias, 0)
    project(w, B_w)


@njit(cache=True)
def _run_full(
    clean: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    Sigma: np.ndarray,
    stride: int,
    eta: float,
    B_w: float,
    w: np.ndarray,
    predictions: np.ndarray,
    total: np.ndarray,
    since: int,
) -> None:
    d = len(w)
    bias = np.empty(d)
    for t in range(len(y)):
        predictions[t] = dot(clean, t * d, w)
        if t >= since:
            for k in range(d):
                total[k] += w[k]
        _step_full(w, x, t * d, y[t], Sigma, t * stride, bias, eta, B_w)


@njit(cache=True)
def _run_diagonal(
    clean: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    v: np.ndarray,
    stride: int,
    eta: float,
    B_w: float,
    w: np.ndarray,
    predictions: np.ndarray,
    total: np.ndarray,
    since: int,
) -> None:
    d = len(w)
    for t in range(len(y)):
        predictions[t] = dot(clean, t * d, w)
        if t >= since:
            for k in range(d):
                total[k] += w[k]
        slope = eta * 2.0 * (dot(x, t * d, w) - y[t])
        row, variances = x[t * d : t * d + d], v[t * stride : t * stride + d]
        for k in range(d):
            w[k] = (w[k] - slope * row[k]) + eta * 2.0 * (variances[k] * w[k])
        project(w, B_w)
