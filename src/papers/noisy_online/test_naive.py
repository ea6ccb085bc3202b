"""Naive learners are plain descent in the kernel without noise, and do not learn with noise."""

import math

import numpy as np
import pytest

from noisy_online.naive import NaiveFeatureOGD, NaiveKernelOGD
from noisylabels.checks import check_online_learner
from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import gaussian_pair
from noisylabels.losses import analytic
from noisylabels.online.kernel import SurrogateKernel
from noisylabels.online.oracles import ArrayOracle
from noisylabels.online.theory import angle, best_step, surrogate_ball, surrogate_moment

PAIR = gaussian_pair(1.0, [0.25, 0.25])
CENTRES = np.array([[0.5, 0.5], [-0.5, -0.5]])
COEFFICIENTS = np.array([1.0, -1.0])


def sequence(T, sd=0.5):
    """Draw clean rows and labels, two noisy copies of each row, and noisy labels."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (T, 2))
    y = PAIR.kernel(X, CENTRES) @ COEFFICIENTS
    noise_of_copies = sd * rng.standard_normal((T, 2, 2))
    noise_of_labels = 0.1 * rng.standard_normal(T)
    copies = X[:, None] + noise_of_copies
    first = copies[:, 0].copy()
    second = copies[:, 1].copy()
    return X, y, (first, second), y + noise_of_labels


def features_learner():
    return NaiveFeatureOGD(tensor.linear(), analytic.squared(), eta=0.1)


@pytest.mark.parametrize(
    ("learner", "entries"), [(features_learner(), 5), (NaiveKernelOGD(PAIR, 0.1), PAIR.d)]
)
def test_a_naive_learner_keeps_the_contract_of_learners(learner, entries):
    check_online_learner(learner, copies=200, entries=entries)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((4, 2), np.nan), "is not finite"),
        (np.ones((3, 2)), r"expected shape \(4, 2\), got \(3, 2\)"),
    ],
)
@pytest.mark.parametrize("learner", [features_learner(), NaiveKernelOGD(PAIR, 0.1)])
def test_copies_that_cannot_be_used_are_refused(learner, bad, message):
    with pytest.raises(ValueError, match=message):
        learner.run(np.ones((4, 2)), bad, np.ones(4))


def test_a_wrong_highest_degree_is_named():
    with pytest.raises(ValueError, match="highest: must be a whole number >= 0"):
        NaiveFeatureOGD(tensor.linear(), analytic.squared(), eta=0.1, highest=-1)


def test_without_noise_algorithm_3_is_naive_descent_on_every_path():
    X, _, (first, second), y = sequence(200, sd=0.0)
    clean = gaussian_pair(1.0, [0.0, 0.0])
    algorithm_3 = SurrogateKernel(clean, 0.1).run(X, first, second, y)
    naive = NaiveKernelOGD(clean, 0.1).run(X, X, y)
    np.testing.assert_allclose(algorithm_3.predictions, naive.predictions, atol=1e-12)
    oracle = ArrayOracle(X[:, None], y)
    fitted = NaiveKernelOGD(clean, 0.1).fit(oracle)
    np.testing.assert_array_equal(fitted.alpha, naive.alpha)


def squared_loss(run, y):
    errors = run.predictions - y
    return np.sum(errors**2)


def test_algorithm_3_learns_what_naive_descent_does_not():
    T = 4096
    K = PAIR.kernel(CENTRES, CENTRES)
    squared_norm = COEFFICIENTS @ K @ COEFFICIENTS
    angle_of_target = angle(COEFFICIENTS, K)
    ball = surrogate_ball(squared_norm, angle_of_target, PAIR.domination)
    moment = surrogate_moment(ball, PAIR.diagonal, 1.01)
    eta = 4 * best_step(ball, moment, T)
    X, y, (first, second), noisy = sequence(T)
    two_copies = SurrogateKernel(PAIR, eta, ball).run(X, first, second, noisy)
    naive = NaiveKernelOGD(PAIR, eta, ball).run(X, first, noisy)
    assert squared_loss(naive, y) > 1.5 * squared_loss(two_copies, y)


def descend(features, y, loss, eta, B_w):
    """Predict and step round by round, with weights in a ball; return weights and predictions."""
    w = np.zeros(features.shape[1])
    predictions = []
    for x, label in zip(features, y, strict=True):
        prediction = w @ x
        predictions.append(prediction)
        w = w - eta * loss.derivative(prediction, label) * x
        squared_norm = w @ w
        if squared_norm > B_w:
            w *= math.sqrt(B_w / squared_norm)
    return w, predictions


LOSSES = [analytic.squared(), analytic.exponential(), analytic.smoothed_hinge(1.0)]


@pytest.mark.parametrize("loss", LOSSES)
def test_naive_features_without_noise_are_descent_in_the_features(loss):
    kernel = tensor.polynomial(2, scale=0.25)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2)) / math.sqrt(2)
    y = 0.5 * X[:, 0]
    if loss.classification:
        y = np.sign(y)
    features = kernel.features(X, 2)
    w, expected = descend(features, y, loss, eta=0.05, B_w=0.5)
    learner = NaiveFeatureOGD(kernel, loss, 0.05, 0.5)
    predictions = learner.run(X, X, y)
    np.testing.assert_allclose(predictions, expected, atol=1e-12)
    oracle = ArrayOracle(X[:, None], y)
    fitted = NaiveFeatureOGD(kernel, loss, 0.05, 0.5).fit(oracle)
    np.testing.assert_array_equal(fitted.w, learner.w)
    np.testing.assert_allclose(fitted.predict(X), features @ w, atol=1e-12)
