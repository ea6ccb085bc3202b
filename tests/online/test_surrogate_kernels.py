"""Kernels and surrogates: noise blurs one into the other; Lemmas 7 and 8; the radial case study."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad

from noisylabels.kernels.surrogate import gaussian_pair, rational, rational_pair, truncated_rational
from noisylabels.online.theory import angle, surrogate_ball

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def integrate(function, low, high):
    value, _ = quad(function, low, high)
    return value


def blurred(function, x, variances):
    """E function(x + n) in two dimensions, by Gauss-Hermite quadrature."""
    a, b = np.meshgrid(NODES, NODES, indexing="ij")
    standard_noise = np.column_stack([a.ravel(), b.ravel()])
    noise = standard_noise * np.sqrt(variances)
    weights = np.outer(WEIGHTS, WEIGHTS).ravel() / (2 * math.pi)
    return weights @ function(x + noise)


@pytest.mark.parametrize(
    "pair",
    [
        gaussian_pair(1.5, [0.2, 0.05]),
        rational_pair(3.0, [0.2, 0.05]),
        rational_pair(1.0, [0.2, 0.05], beta=2.5),
    ],
    ids=["gaussian", "radial", "radial, beta 2.5"],
)
def test_the_noise_blurs_the_surrogate_into_the_kernel(pair):
    v = np.array([0.2, 0.05])
    x = np.array([[0.3, -0.2]])
    z = np.array([[0.1, 0.4], [1.0, -1.0]])
    blurred_surrogate = blurred(lambda X: pair.surrogate(X, z), x, v)
    assert_allclose(blurred_surrogate, pair.kernel(x, z)[0], rtol=1e-6)
    twice = blurred(lambda X: pair.kernel(X, z), x, v)
    assert_allclose(twice, pair.blurred(x, z, v)[0], rtol=1e-9)


def test_facts_about_the_gaussian_surrogate():
    rng = np.random.default_rng(0)
    sigma2 = 1.0
    v = np.array([0.25, 0.1, 0.0])
    pair = gaussian_pair(sigma2, v)
    factors = np.sqrt(sigma2 / (sigma2 - 2 * v))
    C = factors.prod()
    assert pair.diagonal == pytest.approx(C)
    assert pair.domination == pytest.approx(C)
    assert math.exp(2 * v.sum() / sigma2) >= C  # 4 max v <= sigma2
    X = rng.standard_normal((60, 3))
    K = pair.kernel(X, X)
    S = pair.surrogate(X, X)
    assert_allclose(np.diag(S), C)
    assert (S > 0).all()
    assert (S <= C * K * (1 + 1e-12)).all()
    eigenvalues = np.linalg.eigvalsh(S)
    assert eigenvalues[0] > -1e-10
    differences = X[:, None] - X[None]
    distances = np.square(differences).sum(-1)
    assert_allclose(K, np.exp(-distances / sigma2))
    no_noise = [0.0] * 3
    pairs = [gaussian_pair(0.7, no_noise), rational_pair(4.0, no_noise), pair.without_noise()]
    for plain in pairs:
        assert_allclose(plain.surrogate(X, X), plain.kernel(X, X))


@pytest.mark.parametrize("c", [1.0, 2.0, 4.0])
def test_the_truncated_rational_kernel(c):
    z = np.linspace(0, 20, 50)
    k = rational(z)
    k_c = truncated_rational(z, c)
    largest_error = np.abs(k - k_c).max()
    assert largest_error == pytest.approx(math.exp(-c), abs=1e-12)
    ratio = k_c / k
    assert (ratio >= 1 - math.exp(-c) - 1e-12).all()
    assert (ratio <= 1).all()
    integrals = [integrate(lambda u, r=r: math.exp(-u * (1 + r)), 0, c) for r in z]
    assert_allclose(k_c, integrals, rtol=1e-9)
    points = np.stack([np.sqrt(2 * z), 0 * z], axis=1)
    origin = np.zeros((1, 2))
    many_nodes = rational_pair(c, [0.0, 0.0], nodes=40).kernel(points, origin)
    assert_allclose(many_nodes[:, 0], k_c, atol=1e-13)
    few_nodes = rational_pair(c, [0.0, 0.0], nodes=10).kernel(points, origin)
    suffice = c * (1 + z) <= 16
    assert_allclose(few_nodes[suffice, 0], k_c[suffice], atol=3e-9)
    noisy = rational_pair(c, [0.2, 0.2])
    D_0 = integrate(lambda u: math.exp(-u) / (1 - 0.2 * u), 0, c)
    assert noisy.diagonal == pytest.approx(D_0, rel=1e-9)
    assert noisy.domination <= 1 / (1 - 0.2 * c)  # C_max = prod_i (1 - 2 c v_i / d)^(-1/2)


def test_the_mixing_measure_of_the_power_kernel():
    z = 0.7
    beta = 2.5
    c = 1.3

    def density(u):
        return u ** (beta - 1) * math.exp(-u * (1 + z)) / math.gamma(beta)

    up_to_c = integrate(density, 0, c)
    assert truncated_rational(z, c, beta) == pytest.approx(up_to_c)
    whole = integrate(density, 0, np.inf)
    assert rational(z, beta) == pytest.approx(whole)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 30), radial=st.booleans())
def test_lemmas_7_and_8_for_random_expansions(seed, n, radial):
    rng = np.random.default_rng(seed)
    v = rng.uniform(0, 0.2, 3)
    if radial:
        pair = rational_pair(3.0, v)
    else:
        pair = gaussian_pair(rng.uniform(0.5, 3.0), v)
    centres = rng.standard_normal((n, 3))
    gamma = rng.standard_normal(n)
    K = pair.kernel(centres, centres)
    S = pair.surrogate(centres, centres)
    B = float(gamma @ K @ gamma)
    alpha = angle(gamma, K)
    sizes = np.abs(gamma)
    modulus = float(sizes @ K @ sizes)
    largest_modulus = 2 * B / (1 - math.cos(alpha))
    assert modulus <= largest_modulus * (1 + 1e-9)
    surrogate = float(gamma @ S @ gamma)
    ball = surrogate_ball(B, alpha, pair.domination)
    assert surrogate <= ball * (1 + 1e-9)


def test_the_angle():
    off_diagonal = math.exp(-2.0)
    K = np.array([[1.0, off_diagonal], [off_diagonal, 1.0]])
    of_opposite_signs = angle([1.0, -1.0], K)
    assert math.cos(of_opposite_signs) == pytest.approx(off_diagonal)
    assert angle([1.0, 2.0], K) == math.pi
    assert angle([1.0, -1.0], np.ones((2, 2))) == 0.0
