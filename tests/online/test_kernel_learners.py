"""Algorithm 3: one arithmetic on every path, its norm, its noise-free limits; it learns."""

import numpy as np
import pytest

from noisylabels.kernels.surrogate import gaussian_pair, rational_pair
from noisylabels.online.kernel import SurrogateKernel
from noisylabels.online.oracles import ArrayOracle
from noisylabels.online.theory import angle, best_step, regret, surrogate_ball, surrogate_moment

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
    alpha = np.zeros(0)
    predictions = []
    largest = 0.0
    for t in range(len(y)):
        x = X[t : t + 1]
        x2 = X2[t : t + 1]
        points = X1[:t]
        prediction = 0.0
        guess = 0.0
        if t > 0:
            prediction = float(pair.kernel(x, points)[0] @ alpha)
            guess = float(pair.surrogate(x2, points)[0] @ alpha)
        predictions.append(prediction)
        alpha = np.append(alpha, -eta * 2 * (guess - y[t]))
        points = X1[: t + 1]
        S = pair.surrogate(points, points)
        norm = alpha @ S @ alpha
        if norm > ball:
            alpha = alpha * np.sqrt(ball / norm)
        largest = max(largest, alpha @ S @ alpha)
    return np.array(predictions), alpha, largest


def curved_problem():
    """Radius, moment and step of the theorem, four times as large, and a sequence."""
    T = 4096
    K = PAIR.kernel(CENTRES, CENTRES)
    gamma = np.array([1.0, -1.0])
    ball = surrogate_ball(gamma @ K @ gamma, angle(gamma, K), PAIR.domination)
    G = surrogate_moment(ball, PAIR.diagonal, 1.01)
    assert ball == pytest.approx(8.0, abs=0.01)
    assert pytest.approx(200.4, abs=0.1) == G
    return ball, G, 4 * best_step(ball, G, T), sequence(T)


@pytest.mark.parametrize(
    "pair",
    [PAIR, gaussian_pair(1.0, [0.3, 0.05]), rational_pair(3.0, [0.2, 0.2])],
)
@pytest.mark.parametrize("ball", [0.05, 50.0])
def test_every_path_gives_the_same_numbers(pair, ball):
    X, _, copies, y = sequence(150)
    X1 = copies[:, 0].copy()
    X2 = copies[:, 1].copy()
    whole = SurrogateKernel(pair, 0.05, ball)
    stepwise = SurrogateKernel(pair, 0.05, ball)
    run = whole.run(X, X1, X2, y)
    guesses = []
    for x, view in zip(X, ArrayOracle(copies, y), strict=True):
        guesses.append(stepwise.predict(x))
        stepwise.partial_fit(view)
    np.testing.assert_array_equal(guesses, run.predictions)
    np.testing.assert_array_equal(stepwise.alpha, run.alpha)
    pieces = SurrogateKernel(pair, 0.05, ball)
    for part in (slice(0, 60), slice(60, 150)):
        last = pieces.run(X[part], X1[part], X2[part], y[part])
    np.testing.assert_array_equal(last.predictions, run.predictions[60:])
    np.testing.assert_array_equal(last.alpha, run.alpha)
    predictions, alpha, largest = by_hand(pair, X, X1, X2, y, 0.05, ball)
    np.testing.assert_allclose(run.predictions, predictions, atol=1e-11)
    np.testing.assert_allclose(run.alpha, alpha, atol=1e-11)
    assert largest <= ball * (1 + 1e-9)


@pytest.mark.parametrize(
    ("eta", "ball"),
    [(0.1, 0.5), (0.1, 100.0), (50.0, 1e-3)],  # the last one underflows
)
def test_the_norm_that_is_carried_along_is_the_norm(eta, ball):
    X, _, copies, y = sequence(2500)
    run = SurrogateKernel(PAIR, eta, ball).run(X, copies[:, 0], copies[:, 1], y)
    exact = run.alpha @ PAIR.surrogate(run.support, run.support) @ run.alpha
    assert run.norm == pytest.approx(exact, rel=1e-6)


def test_it_learns_and_stays_below_its_bound():
    ball, G, eta, (X, y, copies, noisy) = curved_problem()
    run = SurrogateKernel(PAIR, eta, ball).run(X, copies[:, 0], copies[:, 1], noisy)
    assert np.square(run.predictions - y).sum() < regret(ball, G, len(y), eta)


def test_rotated_data_learn_the_same_function_as_independent_noise():
    """Radial kernels do not change under a rotation of everything."""
    X, _, copies, y = sequence(100)
    U, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 2)))
    a = SurrogateKernel(PAIR, 0.1).run(X, copies[:, 0], copies[:, 1], y)
    b = SurrogateKernel(PAIR, 0.1).run(X @ U, copies[:, 0] @ U, copies[:, 1] @ U, y)
    np.testing.assert_allclose(a.predictions, b.predictions, atol=1e-12)
