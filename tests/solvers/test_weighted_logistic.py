"""The compiled base classifiers and the calibration against plain references."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from noisylabels.classifiers.logistic import RobustLogisticRegression
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.weighted_logistic import decisions, draws, fit, platt


def problem(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    target = X @ np.arange(1, d + 1) + 0.5
    noisy_target = target + 2 * rng.standard_normal(n)
    s = np.where(noisy_target > 0, 1.0, -1.0)
    Z = np.column_stack([np.ones(n), X])
    weights = rng.uniform(0, 2, n)
    return X, s, np.ascontiguousarray(Z.T), weights


def fit_without_flips(ZT, s, a, lam, steps):
    """The coefficients of the compiled classifier, the intercept first."""
    theta = np.zeros(len(ZT))
    fit(ZT, s, a, theta, lam, np.zeros(2), False, steps)
    return theta


def coefficients_of(model):
    return np.append(model.intercept_, model.coef_[0])


def test_without_flips_it_is_logistic_regression():
    X, s, ZT, a = problem()
    a[:20] = 0.0
    theta = fit_without_flips(ZT, s, a, 0.5, 30)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000)
    theirs.fit(X, s, sample_weight=a)
    assert_allclose(theta, coefficients_of(theirs), atol=1e-5)


def test_with_flips_it_reaches_the_plain_solver():
    X, s, ZT, a = problem(600)
    uniform = np.random.default_rng(1).random(600)
    is_flipped = (s < 0) & (uniform < 0.3)
    s[is_flipped] = 1.0
    theta = np.zeros(4)
    omega = np.array([0.2, 0.2])
    fit(ZT, s, a, theta, 1.0, omega, True, 2000)
    theirs = RobustLogisticRegression(lam=1.0, max_iter=2000)
    theirs.fit(X, s, sample_weight=a)
    largest = np.abs(theta).max()
    assert_allclose(theta, coefficients_of(theirs), atol=0.02 * largest)
    assert flips.from_rates(*omega) == pytest.approx(theirs.flip_matrix_, abs=0.01)


def test_every_step_raises_the_likelihood():
    _, s, ZT, a = problem()
    penalised_likelihoods = []
    for steps in range(1, 15):
        theta = np.full(4, 3.0)
        rates = np.array([0.2, 0.2])
        fit(ZT, s, a, theta, 0.1, rates, True, steps)
        omega = flips.from_rates(*rates)
        log_likelihoods = flips.log_likelihood(theta @ ZT, s > 0, omega)
        penalty = 0.1 * np.square(theta[1:]).sum()
        penalised_likelihoods.append(a @ log_likelihoods - penalty)
    rises = np.diff(penalised_likelihoods)
    assert (rises >= -1e-9).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_single_class_is_a_constant(sign):
    _, s, ZT, _ = problem()
    theta = np.ones(4)
    weight_of_class = (s == sign).astype(float)
    fit(ZT, s, weight_of_class, theta, 1e-3, np.zeros(2), False, 15)
    assert (decisions(ZT, theta) == sign).all()


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e100])
def test_a_constant_feature_and_any_scale_are_harmless(scale):
    _, s, ZT, a = problem()
    ZT[2] = 0.0
    ZT[3] *= scale
    theta = fit_without_flips(ZT, s, a, 1e-3, 15)
    assert np.isfinite(theta).all()


def test_draws_follow_the_weights():
    rng = np.random.default_rng(0)
    weights = np.array([0.0, 1.0, 0.0, 3.0, 6.0, 0.0])
    counts = np.array([draws(weights, rng.standard_exponential(7)) for _ in range(20_000)])
    assert (counts.sum(axis=1) == 6).all()
    assert (counts[:, weights == 0] == 0).all()
    p = weights / weights.sum()
    expected = 6 * p
    variances = 6 * p * (1 - p)
    standard_errors = np.sqrt(variances / 20_000 + 1e-300)
    z = (counts.mean(axis=0) - expected) / standard_errors
    assert np.abs(z).max() < 4.5
    covariance_of_multinomial = 6 * (np.diag(p) - np.outer(p, p))
    covariance = np.cov(counts.T)
    assert np.allclose(covariance, covariance_of_multinomial, atol=0.05)


def test_platt_minimises_its_likelihood():
    rng = np.random.default_rng(0)
    s = rng.choice([-1.0, 1.0], 150)
    H = s + 1.5 * rng.standard_normal(150)
    positives = (s > 0).sum()
    negatives = (s < 0).sum()
    target_of_positives = (positives + 1) / (positives + 2)
    target_of_negatives = 1 / (negatives + 2)
    t = np.where(s > 0, target_of_positives, target_of_negatives)

    def loss(parameters):
        A, B = parameters
        p = expit(-(A * H + B))
        cross_entropies = -t * np.log(p) - (1 - t) * np.log(1 - p)
        return cross_entropies.sum()

    A, B = platt(H, s)
    minimum = minimize(loss, [0, 0], tol=1e-12)
    assert np.allclose([A, B], minimum.x, atol=1e-5)
    assert A < 0


def test_platt_of_scores_that_say_nothing_or_everything():
    s = np.array([1.0, 1.0, -1.0])
    A, B = platt(np.zeros(3), s)
    mean_target = (2 * 3 / 4 + 1 / 3) / 3
    assert expit(-B) == pytest.approx(mean_target, abs=1e-6)
    assert np.isfinite([A, B]).all()
    of_huge_scores = platt(1e3 * s, s)
    assert np.isfinite(of_huge_scores).all()
    of_one_class = platt(np.arange(3.0), np.ones(3))
    assert of_one_class == (-1.0, 0.0)
