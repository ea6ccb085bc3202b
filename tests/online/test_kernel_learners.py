"""Algorithm 3: one arithmetic on every path, its norm, its noise-free limits, and that it learns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from noisylabels.kernels.radial import (
    exponential_density,
    largest_constants,
    rational,
    rational_pair,
    truncated_rational,
)
from noisylabels.kernels.surrogate import gaussian_pair
from noisylabels.online.kernel import NaiveKernelOGD, SurrogateKernel
from noisylabels.online.oracles import ArrayOracle
from noisylabels.theory.regret_bounds import angle, best_step, regret, surrogate_ball, surrogate_moment
from reproduction.methods import find

PAIR = gaussian_pair(1.0, [0.25, 0.25])
CENTRES = np.array([[0.5, 0.5], [-0.5, -0.5]])


def sequence(T, sd=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (T, 2))
    y = PAIR.kernel(X, CENTRES) @ np.array([1.0, -1.0])
    copies = X[:, None] + sd * rng.standard_normal((T, 2, 2))
    return X, y, copies, y + 0.1 * rng.standard_normal(T)


def by_hand(pair, X, X1, X2, y, eta, ball):
    """Predictions, coefficients and largest norm, in NumPy."""
    alpha, predictions, largest = np.zeros(0), [], 0.0
    for t in range(len(y)):
        predictions.append(float(pair.kernel(X[t : t + 1], X1[:t])[0] @ alpha) if t else 0.0)
        guess = float(pair.surrogate(X2[t : t + 1], X1[:t])[0] @ alpha) if t else 0.0
        alpha = np.append(alpha, -eta * 2 * (guess - y[t]))
        norm = alpha @ pair.surrogate(X1[: t + 1], X1[: t + 1]) @ alpha
        if norm > ball:
            alpha = alpha * np.sqrt(ball / norm)
        largest = max(largest, alpha @ pair.surrogate(X1[: t + 1], X1[: t + 1]) @ alpha)
    return np.array(predictions), alpha, largest


@pytest.mark.parametrize("pair", [PAIR, gaussian_pair(1.0, [0.3, 0.05]), rational_pair(3.0, [0.2, 0.2])])
@pytest.mark.parametrize("ball", [0.05, 50.0])
def test_every_path_gives_the_same_numbers(pair, ball):
    X, _, copies, y = sequence(150)
    X1, X2 = copies[:, 0].copy(), copies[:, 1].copy()
    whole, stepwise = SurrogateKernel(pair, 0.05, ball), SurrogateKernel(pair, 0.05, ball)
    run = whole.run(X, X1, X2, y)
    guesses = []
    for x, view in zip(X, ArrayOracle(copies, y), strict=True):
        guesses.append(stepwise.predict(x))
        stepwise.partial_fit(view)
    np.testing.assert_array_equal(guesses, run.predictions)
    np.testing.assert_array_equal(stepwise.alpha, run.alpha)
    predictions, alpha, largest = by_hand(pair, X, X1, X2, y, 0.05, ball)
    np.testing.assert_allclose(run.predictions, predictions, atol=1e-11)
    np.testing.assert_allclose(run.alpha, alpha, atol=1e-11)
    assert largest <= ball * (1 + 1e-9)


def test_the_norm_that_is_carried_along_is_the_norm():
    X, _, copies, y = sequence(2000)
    for ball in (0.5, 100.0):
        learner = SurrogateKernel(PAIR, 0.1, ball)
        run = learner.run(X, copies[:, 0], copies[:, 1], y)
        exact = run.alpha @ PAIR.surrogate(run.support, run.support) @ run.alpha
        assert learner.norm == pytest.approx(exact, rel=1e-8)


def test_a_run_in_pieces_is_the_same_run():
    X, _, copies, y = sequence(700)
    whole, pieces = SurrogateKernel(PAIR, 0.1), SurrogateKernel(PAIR, 0.1)
    run = whole.run(X, copies[:, 0], copies[:, 1], y)
    for part in (slice(0, 300), slice(300, 700)):
        last = pieces.run(X[part], copies[part, 0], copies[part, 1], y[part])
    np.testing.assert_array_equal(last.predictions, run.predictions[300:])
    np.testing.assert_array_equal(last.alpha, run.alpha)


def test_without_noise_it_is_kernel_descent_on_every_path():
    X, _, copies, y = sequence(200, sd=0.0)
    clean = gaussian_pair(1.0, [0.0, 0.0])
    assert clean.diagonal == 1.0
    run = SurrogateKernel(clean, 0.1).run(X, copies[:, 0], copies[:, 1].copy(), y)
    naive = NaiveKernelOGD(clean, 0.1).run(X, X, y)
    np.testing.assert_allclose(run.predictions, naive.predictions, atol=1e-12)
    fitted = NaiveKernelOGD(clean, 0.1).fit(ArrayOracle(X[:, None], y))
    np.testing.assert_array_equal(fitted.alpha, naive.alpha)


def test_many_small_projections_do_not_underflow():
    X, _, copies, y = sequence(3000)
    run = SurrogateKernel(PAIR, 50.0, 1e-3).run(X, copies[:, 0], copies[:, 1], y)
    exact = run.alpha @ PAIR.surrogate(run.support, run.support) @ run.alpha
    assert exact == pytest.approx(1e-3, rel=1e-6)


def test_it_learns_what_naive_descent_does_not_and_stays_below_its_bound():
    T = 4096
    K = PAIR.kernel(CENTRES, CENTRES)
    gamma = np.array([1.0, -1.0])
    ball = surrogate_ball(gamma @ K @ gamma, angle(gamma, K), PAIR.domination)
    G = surrogate_moment(ball, PAIR.diagonal, 1.01)
    assert (ball, G) == (pytest.approx(8.0, abs=0.01), pytest.approx(200.4, abs=0.1))
    eta = 4 * best_step(ball, G, T)
    X, y, copies, noisy = sequence(T)
    total = {}
    for name, arguments in (
        ("surrogate_kernel", (copies[:, 0], copies[:, 1])),
        ("naive_kernel_ogd", (copies[:, 0],)),
    ):
        run = find(name)(PAIR, eta, ball).run(X, *arguments, noisy)
        total[name] = np.square(run.predictions - y).sum()
    assert total["surrogate_kernel"] < regret(ball, G, T, eta)
    assert total["naive_kernel_ogd"] > 1.5 * total["surrogate_kernel"]


def test_rotated_data_learn_the_same_function_as_independent_noise():
    """Radial kernels do not change under a rotation of everything."""
    X, _, copies, y = sequence(100)
    U, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 2)))
    a = SurrogateKernel(PAIR, 0.1).run(X, copies[:, 0], copies[:, 1], y)
    b = SurrogateKernel(PAIR, 0.1).run(X @ U, copies[:, 0] @ U, copies[:, 1] @ U, y)
    np.testing.assert_allclose(a.predictions, b.predictions, atol=1e-12)


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def blurred(function, x, variances):
    """E function(x + n) in two dimensions, by Gauss-Hermite quadrature."""
    a, b = np.meshgrid(NODES, NODES, indexing="ij")
    noise = np.stack([a.ravel(), b.ravel()], axis=1) * np.sqrt(variances)
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
    x, z = np.array([[0.3, -0.2]]), np.array([[0.1, 0.4], [1.0, -1.0]])
    seen = blurred(lambda X: pair.surrogate(X, z), x, v)
    np.testing.assert_allclose(seen, pair.kernel(x, z)[0], rtol=1e-6)
    np.testing.assert_allclose(
        blurred(lambda X: pair.kernel(X, z), x, v), pair.blurred(x, z, v)[0], rtol=1e-9
    )


def test_facts_about_the_gaussian_surrogate():
    rng = np.random.default_rng(0)
    sigma2, v = 1.0, np.array([0.25, 0.1, 0.0])
    pair = gaussian_pair(sigma2, v)
    C = math.prod(math.sqrt(sigma2 / (sigma2 - 2 * u)) for u in v)
    assert pair.diagonal == pytest.approx(C)
    assert pair.domination == pytest.approx(C)
    assert math.exp(2 * v.sum() / sigma2) >= C  # 4 max v <= sigma2
    X = rng.standard_normal((60, 3))
    K, S = pair.kernel(X, X), pair.surrogate(X, X)
    np.testing.assert_allclose(np.diag(S), C)
    assert (S > 0).all()
    assert (S <= C * K * (1 + 1e-12)).all()
    assert np.linalg.eigvalsh(S)[0] > -1e-10
    distances = np.square(X[:, None] - X[None]).sum(-1)
    np.testing.assert_allclose(K, np.exp(-distances / sigma2))
    np.testing.assert_allclose(gaussian_pair(1.0, [0.25, 0.25]).diagonal, 2.0)


def test_without_noise_the_surrogate_is_the_kernel():
    X = np.random.default_rng(0).standard_normal((9, 2))
    for pair in (gaussian_pair(0.7, [0.0, 0.0]), rational_pair(4.0, [0.0, 0.0])):
        np.testing.assert_allclose(pair.surrogate(X, X), pair.kernel(X, X))
    naive = gaussian_pair(0.7, [0.1, 0.2]).without_noise()
    np.testing.assert_array_equal(naive.surrogate(X, X), naive.kernel(X, X))


@pytest.mark.parametrize("c", [1.0, 2.0, 4.0])
def test_the_truncated_rational_kernel(c):
    z = np.linspace(0, 20, 50)
    k, k_c = rational(z), truncated_rational(z, c)
    assert np.abs(k - k_c).max() == pytest.approx(math.exp(-c), abs=1e-12)
    assert ((k_c / k >= 1 - math.exp(-c) - 1e-12) & (k_c / k <= 1)).all()
    integral = [quad(lambda u, r=r: math.exp(-u * (1 + r)), 0, c)[0] for r in z]
    np.testing.assert_allclose(k_c, integral, rtol=1e-9)
    points = np.stack([np.sqrt(2 * z), 0 * z], axis=1)
    few, many = (
        rational_pair(c, [0.0, 0.0], nodes=n).kernel(points, np.zeros((1, 2)))[:, 0] for n in (10, 40)
    )
    np.testing.assert_allclose(many, k_c, atol=1e-13)
    np.testing.assert_allclose(few[c * (1 + z) <= 16], k_c[c * (1 + z) <= 16], atol=3e-9)


def test_mixing_measures_of_the_power_and_of_the_exponential_kernel():
    z, beta, c = 0.7, 2.5, 1.3
    density = lambda u: u ** (beta - 1) * math.exp(-u * (1 + z)) / math.gamma(beta)  # noqa: E731
    assert truncated_rational(z, c, beta) == pytest.approx(quad(density, 0, c)[0])
    assert rational(z, beta) == pytest.approx(quad(density, 0, np.inf)[0])
    r, a = 0.8, 1.7
    mixture = quad(lambda u: float(exponential_density(u, a)) * math.exp(-u * r * r), 0, np.inf)[0]
    assert mixture == pytest.approx(math.exp(-a * r), rel=1e-6)


def test_constants_of_theorem_5():
    pair, v = rational_pair(3.0, [0.2, 0.2]), np.array([0.2, 0.2])
    D_0, C_max = largest_constants(3.0, v)
    assert C_max == pytest.approx(2.5)
    assert pytest.approx(1.187, abs=1e-3) == D_0
    assert pair.diagonal == pytest.approx(D_0, rel=1e-9)
    assert pair.domination <= C_max
    exact = quad(lambda u: math.exp(-u) / (1 - 0.2 * u), 0, 3.0)[0]
    assert pytest.approx(exact) == D_0
    assert largest_constants(2.4, v)[1] <= math.exp(2 * 2.4 * 0.4 / 2)  # c <= d / (4 max v)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 30), radial=st.booleans())
def test_lemmas_7_and_8_for_random_expansions(seed, n, radial):
    rng = np.random.default_rng(seed)
    v = rng.uniform(0, 0.2, 3)
    pair = rational_pair(3.0, v) if radial else gaussian_pair(rng.uniform(0.5, 3.0), v)
    centres, gamma = rng.standard_normal((n, 3)), rng.standard_normal(n)
    K = pair.kernel(centres, centres)
    B, alpha = float(gamma @ K @ gamma), angle(gamma, K)
    modulus = float(np.abs(gamma) @ K @ np.abs(gamma))
    assert modulus <= 2 * B / (1 - math.cos(alpha)) * (1 + 1e-9)
    surrogate = float(gamma @ pair.surrogate(centres, centres) @ gamma)
    assert surrogate <= surrogate_ball(B, alpha, pair.domination) * (1 + 1e-9)


def test_the_angle():
    K = np.array([[1.0, math.exp(-2.0)], [math.exp(-2.0), 1.0]])
    assert math.cos(angle([1.0, -1.0], K)) == pytest.approx(math.exp(-2.0))
    assert angle([1.0, 2.0], K) == math.pi
    assert angle([1.0, -1.0], np.ones((2, 2))) == 0.0
