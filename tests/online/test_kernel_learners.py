"""Algorithm 3: one arithmetic on every path, its norm, its noise-free limits; it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisylabels.kernels.surrogate import gaussian_pair, rational_pair
from noisylabels.online.kernel import SurrogateKernel
from noisylabels.online.oracles import ArrayOracle
from noisylabels.online.theory import angle, best_step, regret, surrogate_ball, surrogate_moment

PAIR = gaussian_pair(1.0, [0.25, 0.25])
CENTRES = np.array([[0.5, 0.5], [-0.5, -0.5]])


GAMMA = np.array([1.0, -1.0])


def sequence(T, sd=0.5, seed=0):
    """Points X (T, 2), targets, and what is seen: two copies of the points, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (T, 2))
    y = PAIR.kernel(X, CENTRES) @ GAMMA
    noise = sd * rng.standard_normal((T, 2, 2))
    labels = y + 0.1 * rng.standard_normal(T)
    return X, y, X + noise[:, 0], X + noise[:, 1], labels


def squared_norm(pair, alpha, points):
    S = pair.surrogate(points, points)
    return alpha @ S @ alpha


def by_hand(pair, X, X1, X2, y, eta, ball):
    """Predictions, coefficients and largest norm, in NumPy."""
    alpha = np.zeros(0)
    predictions = []
    largest = 0.0
    for t, label in enumerate(y):
        x = X[t : t + 1]
        x2 = X2[t : t + 1]
        points = X1[:t]
        prediction = 0.0
        guess = 0.0
        if t > 0:
            prediction = float(pair.kernel(x, points)[0] @ alpha)
            guess = float(pair.surrogate(x2, points)[0] @ alpha)
        predictions.append(prediction)
        alpha = np.append(alpha, -eta * 2 * (guess - label))
        points = X1[: t + 1]
        norm = squared_norm(pair, alpha, points)
        if norm > ball:
            alpha = alpha * np.sqrt(ball / norm)
        largest = max(largest, squared_norm(pair, alpha, points))
    return np.array(predictions), alpha, largest


@pytest.mark.parametrize(
    "pair",
    [PAIR, gaussian_pair(1.0, [0.3, 0.05]), rational_pair(3.0, [0.2, 0.2])],
)
@pytest.mark.parametrize("ball", [0.05, 50.0])
def test_every_path_gives_the_same_numbers(pair, ball):
    X, _, X1, X2, y = sequence(150)
    run = SurrogateKernel(pair, 0.05, ball).run(X, X1, X2, y)
    stepwise = SurrogateKernel(pair, 0.05, ball)
    guesses = []
    copies = np.stack([X1, X2], axis=1)
    for x, view in zip(X, ArrayOracle(copies, y), strict=True):
        guesses.append(stepwise.predict(x))
        stepwise.partial_fit(view)
    assert_array_equal(guesses, run.predictions)
    assert_array_equal(stepwise.alpha, run.alpha)
    pieces = SurrogateKernel(pair, 0.05, ball)
    for part in (slice(0, 60), slice(60, 150)):
        last = pieces.run(X[part], X1[part], X2[part], y[part])
    assert_array_equal(last.predictions, run.predictions[60:])
    assert_array_equal(last.alpha, run.alpha)
    predictions, alpha, largest = by_hand(pair, X, X1, X2, y, 0.05, ball)
    assert_allclose(run.predictions, predictions, atol=1e-11)
    assert_allclose(run.alpha, alpha, atol=1e-11)
    assert largest <= ball * (1 + 1e-9)


@pytest.mark.parametrize(
    ("eta", "ball"),
    [(0.1, 0.5), (0.1, 100.0), (50.0, 1e-3)],  # the last one underflows
)
def test_the_norm_that_is_carried_along_is_the_norm(eta, ball):
    X, _, X1, X2, y = sequence(2500)
    run = SurrogateKernel(PAIR, eta, ball).run(X, X1, X2, y)
    exact = squared_norm(PAIR, run.alpha, run.support)
    assert run.norm == pytest.approx(exact, rel=1e-6)


def test_it_learns_and_stays_below_its_bound():
    T = 4096
    K = PAIR.kernel(CENTRES, CENTRES)
    ball = surrogate_ball(GAMMA @ K @ GAMMA, angle(GAMMA, K), PAIR.domination)
    assert ball == pytest.approx(8.0, abs=0.01)
    moment = surrogate_moment(ball, PAIR.diagonal, 1.01)
    assert moment == pytest.approx(200.4, abs=0.1)
    eta = 4 * best_step(ball, moment, T)
    X, y, X1, X2, labels = sequence(T)
    run = SurrogateKernel(PAIR, eta, ball).run(X, X1, X2, labels)
    squared_errors = np.square(run.predictions - y)
    assert squared_errors.sum() < regret(ball, moment, T, eta)


def test_rotated_data_learn_the_same_function_as_independent_noise():
    """Radial kernels do not change under a rotation of everything."""
    X, _, X1, X2, y = sequence(100)
    matrix = np.random.default_rng(1).standard_normal((2, 2))
    U, _ = np.linalg.qr(matrix)
    plain = SurrogateKernel(PAIR, 0.1).run(X, X1, X2, y)
    rotated = SurrogateKernel(PAIR, 0.1).run(X @ U, X1 @ U, X2 @ U, y)
    assert_allclose(plain.predictions, rotated.predictions, atol=1e-12)
