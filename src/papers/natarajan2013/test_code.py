"""The unbiased loss, its solver and the weights agree with formulas and other solvers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from natarajan2013 import methods
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances

RATES = [(0.0, 0.0), (0.2, 0.2), (0.3, 0.1), (0.1, 0.4)]


@pytest.fixture(scope="module")
def problem():
    """Make a kernel on 60 points and 40 new ones, and labels with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    new = rng.standard_normal((40, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    K = rbf(squared_distances(X), 1.0)
    K_new = rbf(squared_distances(new, X), 1.0)
    return Gram(K, K_new), y


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("loss", [methods.logistic, methods.hinge, methods.zero_one])
def test_the_mean_of_the_estimator_over_the_flips_is_the_loss(loss, rates):
    t = np.linspace(-5, 5, 101)
    for y, rate in zip((1, -1), rates, strict=True):
        if_correct = methods.unbiased(loss, t, y, rates)
        if_flipped = methods.unbiased(loss, t, -y, rates)
        mean = (1 - rate) * if_correct + rate * if_flipped
        np.testing.assert_allclose(mean, loss(t, y), atol=1e-12)


@pytest.mark.parametrize(
    "rates", [RATES[0], *(pytest.param(rates, marks=pytest.mark.nightly) for rates in RATES[1:])]
)
def test_the_solver_minimises_the_sum_of_the_unbiased_losses(problem, rates):
    """Solve in the coordinates f = K a + b, with the loss by its definition."""
    gram, y = problem
    K = gram.K
    zeta = 0.1

    def objective(v):
        a = v[:-1]
        b = v[-1]
        f = K @ a + b
        losses = methods.unbiased(methods.logistic, f, y, rates)
        squared_norm = a @ K @ a + b**2
        return losses.sum() + zeta * squared_norm

    start = np.zeros(len(K) + 1)
    minimum = minimize(objective, start, method="BFGS", options={"gtol": 1e-6})
    a = minimum.x[:-1]
    b = minimum.x[-1]
    expected = gram.K_out @ a + b
    scores = methods.UnbiasedLogistic.scores(gram, y, zeta, rates)
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=2e-3)


def test_without_flips_it_is_kernel_logistic_regression(problem):
    gram, y = problem
    basis = gram.basis
    Z = np.column_stack([basis.Q * np.sqrt(basis.lam), np.ones(len(y))])
    new = gram.Z_out / np.sqrt(basis.lam)
    Z_new = np.column_stack([new, np.ones(len(new))])
    plain = LogisticRegression(C=1 / (2 * 0.1), fit_intercept=False, tol=1e-8, max_iter=10_000)
    plain.fit(Z, y)
    scores = methods.UnbiasedLogistic.scores(gram, y, 0.1, (0.0, 0.0))
    np.testing.assert_allclose(scores, plain.decision_function(Z_new), atol=1e-3)


@pytest.mark.parametrize("rates", RATES)
def test_the_weight_is_the_probability_of_an_observed_label_where_the_true_one_is_open(rates):
    positive, negative = rates
    assert methods.weight(rates) == pytest.approx((1 - positive) / 2 + negative / 2)


def test_the_weighted_svm_leans_to_the_class_that_lost_labels(problem):
    gram, y = problem
    means = []
    for rates in ((0.4, 0.0), (0.0, 0.0), (0.0, 0.4)):
        means.append(methods.WeightedSVM.scores(gram, y, 1.0, rates).mean())
    assert means == sorted(means, reverse=True)


def test_rates_that_are_known_are_used_and_unknown_ones_chosen(problem):
    gram, y = problem
    D = -2 * np.log(gram.K)
    D_new = -2 * np.log(gram.K_out)
    labels = np.stack([y > 0, y > 0], axis=1).astype(int)
    fit = methods.UnbiasedLogistic.fit_distances
    rates = [(0.0, 0.0), (0.3, 0.0)]
    with_rates = fit(D, D_new, labels, [1.0], rates=rates)
    assert with_rates.scores.shape == (2, 1, len(D_new))
    assert (with_rates.scores[1] - with_rates.scores[0]).mean() > 0
    chosen = fit(D, D_new, labels, [1.0])
    np.testing.assert_array_equal(chosen.scores[0], chosen.scores[1])
