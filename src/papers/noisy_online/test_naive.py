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
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (T, 2))
    y = PAIR.kernel(X, CENTRES) @ COEFFICIENTS
    copies = X[:, None] + sd * rng.standard_normal((T, 2, 2))
    return X, y, copies, y + 0.1 * rng.standard_normal(T)


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
    X, _, copies, y = sequence(200, sd=0.0)
    clean = gaussian_pair(1.0, [0.0, 0.0])
    run = SurrogateKernel(clean, 0.1).run(X, copies[:, 0], copies[:, 1].copy(), y)
    naive = NaiveKernelOGD(clean, 0.1).run(X, X, y)
    np.testing.assert_allclose(run.predictions, naive.predictions, atol=1e-12)
    fitted = NaiveKernelOGD(clean, 0.1).fit(ArrayOracle(X[:, None], y))
    np.testing.assert_array_equal(fitted.alpha, naive.alpha)


def test_algorithm_3_learns_what_naive_descent_does_not():
    T = 4096
    K = PAIR.kernel(CENTRES, CENTRES)
    norm = COEFFICIENTS @ K @ COEFFICIENTS
    ball = surrogate_ball(norm, angle(COEFFICIENTS, K), PAIR.domination)
    eta = 4 * best_step(ball, surrogate_moment(ball, PAIR.diagonal, 1.01), T)
    X, y, copies, noisy = sequence(T)
    two_copies = SurrogateKernel(PAIR, eta, ball).run(X, copies[:, 0], copies[:, 1], noisy)
    naive = NaiveKernelOGD(PAIR, eta, ball).run(X, copies[:, 0], noisy)
    loss = np.square(two_copies.predictions - y).sum()
    assert np.square(naive.predictions - y).sum() > 1.5 * loss


LOSSES = [analytic.squared(), analytic.exponential(), analytic.smoothed_hinge(1.0)]


@pytest.mark.parametrize("loss", LOSSES)
def test_naive_features_without_noise_are_descent_in_the_features(loss):
    kernel = tensor.polynomial(2, scale=0.25)
    eta = 0.05
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2)) / math.sqrt(2)
    y = np.where(X[:, 0] > 0, 1.0, -1.0) if loss.classification else 0.5 * X[:, 0]
    w = np.zeros(7)
    expected = []
    for x, label in zip(kernel.features(X, 2), y, strict=True):
        a = float(w @ x)
        expected.append(a)
        w = w - eta * float(loss.derivative(a, label)) * x
        w *= min(1.0, math.sqrt(0.5 / max(w @ w, 1e-300)))
    learner = NaiveFeatureOGD(kernel, loss, eta, 0.5)
    np.testing.assert_allclose(learner.run(X, X, y), expected, atol=1e-12)
    fitted = NaiveFeatureOGD(kernel, loss, eta, 0.5).fit(ArrayOracle(X[:, None], y))
    np.testing.assert_array_equal(fitted.w, learner.w)
    np.testing.assert_allclose(fitted.predict(X), kernel.features(X, 2) @ w, atol=1e-12)
