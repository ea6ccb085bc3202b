"""Identities of surrogate kernels: what noise does to them, Gaussian and truncated radial."""

from collections.abc import Iterator

import numpy as np
from reproduction.protocols.noisy_online.sequences import Floats

from noisylabels.kernels.surrogate import gaussian_pair, rational_pair, truncated_rational
from noisylabels.noise.features import rotation

X, Z = np.array([[0.2, -0.4]]), np.array([[-0.1, 0.5]])
V = np.array([0.2, 0.1])
CENTRES = np.array([[0.3, 0.1], [-0.6, 0.2], [0.0, -0.5]])
ALPHA = np.array([0.7, -0.4, 0.9])


def measured(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Floats, float]]:
    """Lemma 6, its blurred counterpart, a full covariance, equation (8), inner products of Algorithm 3."""
    noisy, again = (X + rng.standard_normal((n, 2)) * np.sqrt(V) for _ in range(2))
    gauss = gaussian_pair(1.0, V)
    exact = float(gauss.kernel(X, Z)[0, 0])
    yield "surrogate of the Gaussian kernel", gauss.surrogate(noisy, Z)[:, 0], exact
    blurred = float(gauss.blurred(X, Z, V)[0, 0])
    yield "plain Gaussian kernel: blurred", gauss.kernel(noisy, Z)[:, 0], blurred
    Sigma = np.array([[0.15, 0.08], [0.08, 0.20]])
    values, U = rotation(Sigma)
    full = X + rng.standard_normal((n, 2)) @ np.linalg.cholesky(Sigma).T
    yield "full covariance: rotated", gaussian_pair(1.0, values).surrogate(full @ U, Z @ U)[:, 0], exact
    for c in (1.5, 3.0):
        radial, z = rational_pair(c, V), float(((X - Z) ** 2).sum()) / 2
        name = f"surrogate of the radial kernel cut at {c:g}"
        yield name, radial.surrogate(noisy, Z)[:, 0], float(truncated_rational(z, c))
    inner = float(ALPHA @ gauss.kernel(CENTRES, X)[:, 0])
    found = gauss.surrogate(again, CENTRES) @ ALPHA
    yield "inner product with the second copy", found, inner
    length = 2 * (found - 0.3)
    gain = gauss.surrogate(noisy, CENTRES) @ ALPHA - gauss.surrogate(noisy, Z)[:, 0]
    plain = 2 * (inner - 0.3) * (inner - exact)
    yield "gradient times gap: two copies", length * gain, plain
    same = 2 * (gauss.surrogate(noisy, CENTRES) @ ALPHA - 0.3) * gain
    yield "gradient times gap: one copy twice", same, _same_copy()


def _same_copy() -> float:
    """The biased value that one copy used twice gives, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    a, b = np.meshgrid(nodes, nodes)
    points = X + np.stack([a.ravel(), b.ravel()], axis=1) * np.sqrt(V)
    mass = np.outer(weights, weights).ravel()
    gauss = gaussian_pair(1.0, V)
    value = gauss.surrogate(points, CENTRES) @ ALPHA
    return float(mass @ (2 * (value - 0.3) * (value - gauss.surrogate(points, Z)[:, 0])))
