"""The batch learners are right without noise, and the corrected ones with it."""

import numpy as np
import pytest

from noisy_online.batch import estimate_moments, raise_eigenvalues

W = np.array([1.0, -1.0, 0.5])
"""Weights of the labels."""


def moments_of(noise, T=200_000):
    """Estimate the moments from two noisy copies of rows with the identity as second moment."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((T, 3))
    first = X + noise * rng.standard_normal(X.shape)
    second = X + noise * rng.standard_normal(X.shape)
    variances = np.full(3, noise**2)
    return estimate_moments(first, second, X @ W, variances)


def test_without_noise_all_three_are_the_same():
    moments = moments_of(0.0, T=500)
    A_of_least_squares, b_of_least_squares = moments["least_squares"]
    for A, b in moments.values():
        np.testing.assert_allclose(A, A_of_least_squares, atol=1e-12)
        np.testing.assert_allclose(b, b_of_least_squares, atol=1e-12)


def test_noise_is_taken_off_the_second_moments_except_by_least_squares():
    moments = moments_of(1.0)
    identity = np.eye(3)
    A_of_least_squares, _ = moments["least_squares"]
    np.testing.assert_allclose(A_of_least_squares, 2 * identity, atol=0.03)
    for name in ("corrected", "two_copies"):
        A, b = moments[name]
        np.testing.assert_allclose(A, identity, atol=0.03)
        np.testing.assert_allclose(np.linalg.solve(A, b), W, atol=0.04)


def test_eigenvalues_that_noise_made_negative_are_raised():
    A = np.diag([1.0, -0.5])
    raised = raise_eigenvalues(A)
    assert np.linalg.eigvalsh(raised).min() > 0
    assert raised[0, 0] == pytest.approx(1.0)
