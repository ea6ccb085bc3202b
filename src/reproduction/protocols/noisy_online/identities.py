"""Every identity that the algorithms rest on, measured with the package's own functions.

An identity is a predicted number and samples whose mean it should be; an inequality a number and its bound.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from noisylabels.theory.estimates import degrees, estimates, second_moment, second_moment_bound
from reproduction.protocols.noisy_online import identities_kernels, identities_lists
from reproduction.protocols.noisy_online.regret import Row
from reproduction.protocols.noisy_online.sequences import Floats

X = np.array([0.5, -0.3, 0.6])
W = np.array([0.4, 0.7, -0.2])
SIGMA = np.array([[0.30, 0.10, 0.00], [0.10, 0.25, -0.05], [0.00, -0.05, 0.20]])
Y, NOISE_Y = 0.8, 0.3


Found = tuple[str, Floats, float] | tuple[str, Floats, float, float]
"""Name, samples (n,), their predicted mean, and a bound of it where there is one."""


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = group, method = name; predicted, measured, se and z = (measured - predicted) / se.

    Where a bound is known: bound and bound_ratio.
    """
    groups = {
        "gradients": lambda rng: gradients(settings["samples"], rng),
        "lemma 1": lambda rng: lemma1(settings["samples"], rng),
        "surrogate kernels": lambda rng: identities_kernels.measured(settings["samples"], rng),
        "features": lambda rng: identities_lists.measured(settings["list_samples"], rng),
    }
    rows = []
    for repetition in repetitions:
        for group in settings["groups"]:
            for found in groups[group](seeds.generator(repetition, group)):
                at = {"setting": group, "method": found[0], "repetition": repetition}
                rows += [at | {"metric": metric, "value": value} for metric, value in _values(*found[1:])]
    return rows


def _values(samples: Floats, predicted: float, bound: float | None = None) -> Iterator[tuple[str, float]]:
    mean = float(samples.mean())
    se = float(samples.std(ddof=1)) / np.sqrt(len(samples))
    yield from {"predicted": predicted, "measured": mean, "se": se, "z": (mean - predicted) / se}.items()
    if bound is not None:
        yield from {"bound": bound, "bound_ratio": predicted / bound}.items()


def gradients(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemmas 2 and 3: gradient estimates of the squared loss from noisy copies, and their second moments."""
    root = np.linalg.cholesky(SIGMA)
    first, second = (X + rng.standard_normal((n, 3)) @ root.T for _ in range(2))
    y = Y + NOISE_Y * rng.standard_normal(n)
    gradient = 2 * (W @ X - Y) * X
    residual = first @ W - y
    one, two = 2 * residual[:, None] * first, 2 * residual[:, None] * second
    known = one - 2 * SIGMA @ W
    for i in range(3):
        yield f"two copies: gradient {i + 1}", two[:, i], float(gradient[i])
        yield f"one copy: gradient {i + 1} + 2 (Sigma w)", one[:, i], float(gradient[i] + 2 * (SIGMA @ W)[i])
        yield f"known covariance: gradient {i + 1}", known[:, i], float(gradient[i])
    B_w, B_x, B_y = float(W @ W), float(X @ X + np.trace(SIGMA)), Y**2 + NOISE_Y**2
    product = 4 * ((W @ X - Y) ** 2 + W @ SIGMA @ W + NOISE_Y**2) * B_x
    G_1 = regret_bounds.two_copy_moment(B_w, B_x, B_y)
    yield "two copies: squared length", (two**2).sum(axis=1), float(product), G_1
    M_4 = float(regret_bounds.gaussian_fourth_moment(X[None, :], SIGMA)[0])
    yield "fourth moment of a copy", (first**2).sum(axis=1) ** 2, M_4
    G_2 = regret_bounds.known_covariance_moment(B_w, M_4, B_x, B_y, float(np.linalg.eigvalsh(SIGMA)[-1]))
    exact = _known_covariance_moment()
    yield "known covariance: squared length", (known**2).sum(axis=1), exact, G_2


def _known_covariance_moment() -> float:
    """E ||2 (<w, x~> - y~) x~ - 2 Sigma w||^2 for Gaussian noise, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)  # exact up to degree 11; here it is 4
    weights = weights / weights.sum()
    z = np.stack([a.ravel() for a in np.meshgrid(nodes, nodes, nodes)], axis=1)
    mass = np.prod(np.stack([a.ravel() for a in np.meshgrid(weights, weights, weights)]), axis=0)
    x = X + z @ np.linalg.cholesky(SIGMA).T
    lengths = ((2 * (x @ W - Y)[:, None] * x - 2 * SIGMA @ W) ** 2).sum(axis=1)
    return float(mass @ (lengths + 4 * NOISE_Y**2 * (x**2).sum(axis=1)))


def lemma1(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemma 1 for f = exp, X ~ N(0.5, 0.5), p = 2: mean, second moment, number of copies, its tail."""
    p, gamma = 2.0, 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 61.0)]))
    theta, copies = estimates(gamma, p, lambda g, m: 0.5 + np.sqrt(0.5) * g.standard_normal(m), rng, n)
    yield "estimate of exp(E X)", theta, float(np.exp(0.5))
    bound = second_moment_bound(gamma, p, 0.75)
    yield "its second moment", theta**2, second_moment(gamma, p, 0.75), bound
    yield "number of copies", copies.astype(float), 1 / (p - 1)
    for z in (2, 5):
        yield f"P(copies >= {z})", (degrees(rng, p, n) >= z).astype(float), p**-z
