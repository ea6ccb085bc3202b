"""rKFD: the fast direction is the one of the textbook, and EM finds the flip rates."""

import numpy as np
import pytest
from problems import gram, noisy_columns, two_moons

from noisylabels.classifiers.kernel_fisher import (
    RobustKernelFisherClassifier,
    expectation_maximisation,
    ridges,
)


def textbook_direction(K, r, mu):
    """a = (S_w + mu I)^-1 (m_1 - m_0) with S_w built point by point."""
    m1, m0 = K @ r / r.sum(), K @ (1 - r) / (1 - r).sum()
    S = np.zeros_like(K)
    for n in range(len(r)):
        S += r[n] * np.outer(K[:, n] - m1, K[:, n] - m1)
        S += (1 - r[n]) * np.outer(K[:, n] - m0, K[:, n] - m0)
    return np.linalg.solve(S + mu * np.eye(len(r)), m1 - m0)


def plain_em(K, labels, mu, rounds=50):
    """The algorithm as the slides give it, one model at a time, with the textbook's direction."""
    n = len(labels)
    r = np.where(labels == 1, 0.8, 0.2)
    for _ in range(rounds):
        a = textbook_direction(K, r, mu)
        z = K @ a
        n1, n0 = r.sum(), n - r.sum()
        m1, m0 = (r * z).sum() / n1, ((1 - r) * z).sum() / n0
        v = (r * (z - m1) ** 2 + (1 - r) * (z - m0) ** 2).sum() / n
        omega = np.array([[((1 - r) * (labels == k)).sum() / n0 for k in (0, 1)],
                          [(r * (labels == k)).sum() / n1 for k in (0, 1)]])  # fmt: skip
        p1 = n1 * omega[1, labels] * np.exp(-((z - m1) ** 2) / (2 * v))
        p0 = n0 * omega[0, labels] * np.exp(-((z - m0) ** 2) / (2 * v))
        new = p1 / (p1 + p0)
        change, r = np.abs(new - r).max(), new
        if change < 1e-4:
            break
    return r, omega, (a, (m1 - m0) / v, np.log(n1 / n0) - (m1**2 - m0**2) / (2 * v))


def test_em_is_the_plain_one():
    X, y = two_moons(50, spread=0.5)
    X_out, _ = two_moons(20, 4)
    kernel = gram(X, X_out, 1.0)
    labels = noisy_columns(y)
    grid = [1e-2, 1e-1]
    fits = RobustKernelFisherClassifier.fit_many(kernel, labels, grid)
    for k in range(2):
        for g, mu in enumerate(ridges(kernel.K, grid)):
            r, omega, (a, slope, offset) = plain_em(kernel.K, labels[:, k].astype(int), mu)
            np.testing.assert_allclose(
                fits.scores[k, g], slope * (kernel.K_out @ a) + offset, rtol=1e-4, atol=1e-4
            )
            np.testing.assert_allclose(
                [fits.omega01[k, g], fits.omega10[k, g]], [omega[0, 1], omega[1, 0]], atol=1e-5
            )
            models = expectation_maximisation(kernel.basis, labels[:, [k]].T.astype(float), np.array([mu]))
            np.testing.assert_allclose(models.posterior[0], r, atol=1e-5)


def test_flip_rates_are_found():
    rng = np.random.default_rng(0)
    n = 1200
    y = (rng.random(n) < 0.5).astype(np.int8)
    X = rng.standard_normal((n, 4)) + np.where(y == 1, 1.0, -1.0)[:, np.newaxis]
    labels = np.where(rng.random(n) < np.where(y == 1, 0.1, 0.3), 1 - y, y)
    model = RobustKernelFisherClassifier(4.0, 1e-2).fit(X, labels)
    np.testing.assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.06)
    assert (model.predict(X) == y).mean() > 0.95
    assert (model.converged_, model.flags_, model.flagged_) == (True, (), False)


@pytest.mark.parametrize(("width", "mu"), [(0.1, 1e-4), (0.3, 1e-2), (1.0, 1e-4), (4.0, 1e-2)])
def test_without_rounds_it_is_the_kernel_fisher_discriminant_of_the_observed_labels(width, mu):
    X, y = two_moons(50)
    kernel, labels = gram(X, two_moons(20, 4)[0], width), noisy_columns(y)
    for threshold in ("posterior", "midpoint"):
        fits = RobustKernelFisherClassifier.fit_many(kernel, labels, [mu], rounds=0, threshold=threshold)
        assert not fits.flagged.any()
        for k, column in enumerate(labels.T):
            a = textbook_direction(kernel.K, column.astype(float), float(ridges(kernel.K, mu)[0]))
            z, n1 = kernel.K @ a, column.sum()
            means = z[column == 1].mean(), z[column == 0].mean()
            within = np.concatenate([z[column == 1] - means[0], z[column == 0] - means[1]])
            slope = (means[0] - means[1]) / within.var()
            prior = np.log(n1 / (50 - n1)) if threshold == "posterior" else 0.0
            direct = slope * (kernel.K_out @ a - sum(means) / 2) + prior
            np.testing.assert_allclose(fits.scores[k, 0], direct, rtol=1e-5, atol=1e-5)
            assert (fits.omega01[k, 0], fits.omega10[k, 0]) == (0.0, 0.0)


def test_the_midpoint_is_a_shift_by_the_log_odds_of_the_classes():
    X, y = two_moons(50)
    kernel, labels = gram(X, X, 1.0), noisy_columns(y)
    a, b = (
        RobustKernelFisherClassifier.fit_many(kernel, labels, [1e-2], threshold=threshold)
        for threshold in ("posterior", "midpoint")
    )
    for k in range(2):
        shift = a.scores[k, 0] - b.scores[k, 0]
        models = expectation_maximisation(
            kernel.basis, labels[:, [k]].T.astype(float), ridges(kernel.K, [1e-2])
        )
        share = models.posterior[0].mean()
        np.testing.assert_allclose(shift, np.log(share / (1 - share)), atol=2e-3)
    model = RobustKernelFisherClassifier(1.0, 1e-2, threshold="midpoint").fit(X, labels[:, 0])
    np.testing.assert_allclose(model.decision_function(X), b.scores[0, 0], rtol=1e-6, atol=1e-8)
