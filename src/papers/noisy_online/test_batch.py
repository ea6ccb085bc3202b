"""The batch learners are right without noise, and the corrected ones with it."""

import numpy as np
import pytest

from noisy_online.batch import estimate_moments, raise_eigenvalues


def moments_of(noise, T=200_000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((T, 3))
    y = X @ np.array([1.0, -1.0, 0.5])
    first = X + noise * rng.standard_normal(X.shape)
    second = X + noise * rng.standard_normal(X.shape)
    return estimate_moments(first, second, y, np.full(3, noise**2))


def test_without_noise_all_three_are_the_same():
    moments = moments_of(0.0, T=500)
    for A, b in moments.values():
        np.testing.assert_allclose(A, moments["least_squares"][0], atol=1e-12)
        np.testing.assert_allclose(b, moments["least_squares"][1], atol=1e-12)


def test_noise_is_taken_off_the_second_moments_except_by_least_squares():
    moments = moments_of(1.0)
    np.testing.assert_allclose(moments["least_squares"][0], 2 * np.eye(3), atol=0.03)
    for name in ("corrected", "two_copies"):
        A, b = moments[name]
        np.testing.assert_allclose(A, np.eye(3), atol=0.03)
        np.testing.assert_allclose(np.linalg.solve(A, b), [1.0, -1.0, 0.5], atol=0.04)


def test_eigenvalues_that_noise_made_negative_are_raised():
    A = np.diag([1.0, -0.5])
    raised = raise_eigenvalues(A)
    assert np.linalg.eigvalsh(raised).min() > 0
    assert raised[0, 0] == pytest.approx(1.0)
