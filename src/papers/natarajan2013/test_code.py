"""The unbiased loss, its solver and the weights agree with formulas and other solvers."""

import numpy as np
import pytest
from problems import with_constant
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from natarajan2013 import methods
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances

RATES = [(0.0, 0.0), (0.2, 0.2), (0.3, 0.1), (0.1, 0.4)]
ZETA = 0.1
"""Penalty of the unbiased losses."""


@pytest.fixture(scope="module")
def problem():
    """Make a kernel on 60 points and 40 new ones, and labels with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    new = rng.standard_normal((40, 2))
    noise = 0.5 * rng.standard_normal(60)
    is_positive = X[:, 0] + noise > 0
    y = np.where(is_positive, 1.0, -1.0)
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


WITHOUT_FLIPS, *WITH_FLIPS = RATES
SLOW_RATES = [pytest.param(rates, marks=pytest.mark.nightly) for rates in WITH_FLIPS]


@pytest.mark.parametrize("rates", [WITHOUT_FLIPS, *SLOW_RATES])
def test_the_solver_minimises_the_sum_of_the_unbiased_losses(problem, rates):
    """Solve in the coordinates f = K a + b, with the loss by its definition."""
    gram, y = problem
    K = gram.K

    def objective(v):
        a = v[:-1]
        b = v[-1]
        f = K @ a + b
        losses = methods.unbiased(methods.logistic, f, y, rates)
        squared_norm = a @ K @ a + b**2
        return losses.sum() + ZETA * squared_norm

    start = np.zeros(len(K) + 1)
    minimum = minimize(objective, start, method="BFGS", options={"gtol": 1e-6})
    a = minimum.x[:-1]
    b = minimum.x[-1]
    expected = gram.K_out @ a + b
    scores = methods.UnbiasedLogistic.scores(gram, y, ZETA, rates)
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=2e-3)


def test_without_flips_it_is_kernel_logistic_regression(problem):
    """Fit a plain linear model in the principal components of the kernel."""
    gram, y = problem
    basis = gram.basis
    lengths = np.sqrt(basis.lam)
    components = with_constant(basis.Q * lengths)
    new_components = with_constant(gram.Z_out / lengths)
    C = 1 / (2 * ZETA)
    plain = LogisticRegression(C=C, fit_intercept=False, tol=1e-8, max_iter=10_000)
    plain.fit(components, y)
    expected = plain.decision_function(new_components)
    scores = methods.UnbiasedLogistic.scores(gram, y, ZETA, WITHOUT_FLIPS)
    np.testing.assert_allclose(scores, expected, atol=1e-3)


@pytest.mark.parametrize("rates", RATES)
def test_the_weight_is_the_probability_of_an_observed_label_where_the_true_one_is_open(rates):
    positive, negative = rates
    kept_of_positives = (1 - positive) / 2
    flipped_of_negatives = negative / 2
    expected = kept_of_positives + flipped_of_negatives
    assert methods.weight(rates) == pytest.approx(expected)


def test_the_weighted_svm_leans_to_the_class_that_lost_labels(problem):
    gram, y = problem
    means = []
    for rates in ((0.4, 0.0), (0.0, 0.0), (0.0, 0.4)):
        scores = methods.WeightedSVM.scores(gram, y, 1.0, rates)
        means.append(scores.mean())
    assert means == sorted(means, reverse=True)


def fit_by_distances(problem, **options):
    """Fit the unbiased logistic loss to two columns of the same labels; return the scores."""
    gram, y = problem
    D = -2 * np.log(gram.K)
    D_new = -2 * np.log(gram.K_out)
    observed = (y > 0).astype(int)
    two_columns = np.stack([observed, observed], axis=1)
    fit = methods.UnbiasedLogistic.fit_distances(D, D_new, two_columns, [1.0], **options)
    return fit.scores


def test_rates_that_are_known_are_used(problem):
    scores = fit_by_distances(problem, rates=[(0.0, 0.0), (0.3, 0.0)])
    assert scores.shape == (2, 1, 40)
    without_flips, with_flips = scores
    assert with_flips.mean() > without_flips.mean()


def test_columns_of_equal_labels_have_equal_scores(problem):
    first, second = fit_by_distances(problem)
    np.testing.assert_array_equal(first, second)
