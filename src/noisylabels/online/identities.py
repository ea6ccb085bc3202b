"""Every expectation that the algorithms rest on, measured on the library's own functions.

Each function draws n samples whose mean should be `predicted`; `measured` sums up any number of them.
Settings are fixed and tame: small noise, p = 2, so that second moments have a finite variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from noisylabels.arrays import Floats
from noisylabels.kernels.radial import rational_pair
from noisylabels.kernels.surrogate import SurrogatePair, gaussian_pair
from noisylabels.losses.analytic import exponential
from noisylabels.noise.features import SHAPES, FeatureNoise, rotation
from noisylabels.online import feature_identities
from noisylabels.online.descent import step
from noisylabels.online.known_covariance import _step_full
from noisylabels.theory.impossibility import scored_on_noise
from noisylabels.theory.randomised_estimates import estimates, second_moment
from noisylabels.theory.regret_bounds import gaussian_fourth_moment

CHUNK = 50_000  # samples drawn at once
HUGE = 1e300  # a ball that is never left, so that a step shows its gradient

Samples = Iterator[tuple[str, float, Floats]]

X = np.array([0.5, -0.3, 0.4])
W = np.array([0.6, 0.2, -0.5])
Y, TARGET_SD = 0.7, 0.3
SIGMA = np.array([[0.3, 0.1, 0.0], [0.1, 0.2, -0.05], [0.0, -0.05, 0.15]])


class Identity(NamedTuple):
    """quantity; its predicted value; the measured mean and its standard error."""

    quantity: str
    predicted: float
    measured: float
    se: float

    @property
    def z(self) -> float:
        """(measured - predicted) / se; 0 if both agree to 1e-9 without any variation."""
        gap = self.measured - self.predicted
        if self.se <= 1e-12 * max(1.0, abs(self.predicted)):
            return 0.0 if abs(gap) <= 1e-9 * max(1.0, abs(self.predicted)) else math.inf
        return gap / self.se


def measured(rng: np.random.Generator, n: int) -> list[Identity]:
    """All identities with n samples each, drawn in chunks of 50,000."""
    sums: dict[str, tuple[float, Floats]] = {}
    for begin in range(0, n, CHUNK):
        for group in GROUPS:
            for quantity, predicted, samples in group(rng, min(CHUNK, n - begin)):
                gaps = samples - predicted
                new = np.array([len(gaps), gaps.sum(), np.square(gaps).sum()])
                sums[quantity] = (predicted, new + (sums[quantity][1] if quantity in sums else 0.0))
    return [_identity(quantity, predicted, total) for quantity, (predicted, total) in sums.items()]


def _identity(quantity: str, predicted: float, total: Floats) -> Identity:
    n, first, second = (float(value) for value in total)
    variance = max(second / n - (first / n) ** 2, 0.0)
    return Identity(quantity, predicted, predicted + first / n, math.sqrt(variance / n))


@njit(cache=True)
def _two_copy_gradients(w: np.ndarray, first: np.ndarray, second: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of each sample: w minus one step of size 1 of Algorithm 1 (or of the naive learner)."""
    gradients = np.empty(first.shape)
    for i in range(len(y)):
        moved = w.copy()
        step(moved, first[i], y[i], second[i], 0, 1.0, HUGE)
        gradients[i] = w - moved
    return gradients


@njit(cache=True)
def _known_gradients(w: np.ndarray, x: np.ndarray, y: np.ndarray, Sigma: np.ndarray) -> np.ndarray:
    gradients, bias = np.empty(x.shape), np.empty(len(w))
    for i in range(len(y)):
        moved = w.copy()
        _step_full(moved, x[i], 0, y[i], Sigma, 0, bias, 1.0, HUGE)
        gradients[i] = w - moved
    return gradients


def gradients(rng: np.random.Generator, n: int) -> Samples:
    """Lemmas 2 and 3: means for noise of changing shape, second moments, the bias of the naive learner."""
    law = FeatureNoise(covariance=SIGMA, shapes=SHAPES, cycle=1)
    first, second = X + law.draw(rng, n), X + law.draw(rng, n)
    y = Y + TARGET_SD * rng.standard_normal(n)
    clean = 2.0 * (W @ X - Y) * X
    two = _two_copy_gradients(W, first, second, y)
    one = _two_copy_gradients(W, first, first, y)
    known = _known_gradients(W, first, y, SIGMA.ravel())
    for k in range(3):
        yield f"Lemma 2, two copies: gradient, entry {k + 1}", float(clean[k]), two[:, k]
        naive = clean[k] + 2.0 * (SIGMA @ W)[k]
        yield f"one copy used twice: gradient + 2 Sigma w, entry {k + 1}", float(naive), one[:, k]
        yield f"Lemma 3, known covariance: gradient, entry {k + 1}", float(clean[k]), known[:, k]
    size = 4.0 * ((W @ X - Y) ** 2 + W @ SIGMA @ W + TARGET_SD**2) * (X @ X + np.trace(SIGMA))
    yield "Lemma 2: second moment of the gradient", float(size), np.square(two).sum(1)
    gaussian = X + FeatureNoise(covariance=SIGMA).draw(rng, n)
    fourth = float(gaussian_fourth_moment(X[None, :], SIGMA)[0])
    yield "fourth moment of a Gaussian instance", fourth, np.square(np.square(gaussian).sum(1))


def surrogates(rng: np.random.Generator, n: int) -> Samples:
    """Lemma 6 and its kin: Gaussian, rotated and radial kernels; what naive learners see instead."""
    values, U = rotation(SIGMA)
    noise = FeatureNoise(covariance=SIGMA).draw(rng, n)
    Z = np.array([[0.1, 0.4, -0.2]])
    cases = (("Gaussian kernel", gaussian_pair(1.5, values)), ("radial kernel", rational_pair(3.0, values)))
    for name, pair in cases:
        x, z = X[None, :] @ U, Z @ U
        noisy = (X + noise) @ U
        k = float(pair.kernel(x, z)[0, 0])
        yield f"Lemma 6, {name}: E k~(x~, z) = k(x, z)", k, pair.surrogate(noisy, z)[:, 0]
        blurred = float(pair.blurred(x, z, values)[0, 0])
        yield f"{name}: E k(x~, z) is blurred", blurred, pair.kernel(noisy, z)[:, 0]
        yield from _expansion(name, pair, x, noisy, (X + FeatureNoise(covariance=SIGMA).draw(rng, n)) @ U)


def _expansion(name: str, pair: SurrogatePair, x: Floats, first: Floats, second: Floats) -> Samples:
    """Algorithm 3: E <w~, Psi~(x~')> = <w, Psi(x)> and E <gradient~, w~ - u~> = <gradient, w - u>."""
    centres = np.array([[0.2, 0.1, 0.3], [-0.4, 0.5, 0.0], [0.6, -0.2, 0.1], [0.0, 0.3, -0.5]])
    alpha, gamma = np.array([0.5, -0.8, 0.3, 0.0]), np.array([0.0, 0.2, -0.4, 0.7])
    f = float((pair.kernel(x, centres) @ alpha)[0])
    guess = pair.surrogate(second, centres) @ alpha
    yield f"Algorithm 3, {name}: surrogate prediction", f, guess
    gap = float((pair.kernel(x, centres) @ (alpha - gamma))[0])
    along = 2.0 * (guess - Y) * (pair.surrogate(first, centres) @ (alpha - gamma))
    yield f"Algorithm 3, {name}: progress towards u", 2.0 * (f - Y) * gap, along


def lemma1(rng: np.random.Generator, n: int) -> Samples:
    """Lemma 1 for exp, E X = 0.4, E X^2 = 0.5, p = 2: mean, exact second moment, copies."""
    gamma = np.abs(exponential().coefficients(60))
    sd = math.sqrt(0.5 - 0.4**2)
    theta, copies = estimates(gamma, 2.0, lambda g, m: 0.4 + sd * g.standard_normal(m), rng, n)
    yield "Lemma 1: mean of the estimate of exp", math.exp(0.4), theta
    yield "Lemma 1: number of copies", 1.0, copies.astype(float)
    bounded, _ = estimates(gamma, 2.0, lambda g, m: 0.9 * (g.random(m) < 0.5), rng, n)
    exact = second_moment(gamma, 2.0, 0.405)
    yield "Lemma 1: second moment of the estimate of exp", exact, np.square(bounded)


def noisy_scores(rng: np.random.Generator, n: int) -> Samples:
    """Squared loss on noisy inputs of the best fixed predictor, w* / (1 + v)."""
    v, w = 0.25, np.array([0.6, 0.2, -0.5])
    size = float(np.linalg.norm(w))
    noisy = w / size + FeatureNoise(variances=np.full(3, v)).draw(rng, n)
    losses = np.square(noisy @ (w / (1.0 + v)) - size)
    yield "noisy inputs: least possible loss", scored_on_noise(w, v), losses


GROUPS: tuple[Callable[[np.random.Generator, int], Samples], ...] = (
    gradients,
    surrogates,
    lemma1,
    feature_identities.features,
    feature_identities.gradient_lengths,
    feature_identities.queries,
    noisy_scores,
)
