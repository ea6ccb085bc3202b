"""Kernels, the widths worth trying, and the basis that all methods share."""

import numpy as np
import pytest
from scipy.linalg import eigh

from noisylabels.kernels.gaussian import (
    WIDTHS,
    Gram,
    basis,
    pivoted_cholesky,
    rbf,
    squared_distances,
    useful_widths,
)


def points(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_parametrisations_agree_at_matching_widths():
    D = squared_distances(points())
    np.testing.assert_allclose(rbf(D, 2.0), rbf(D, 2.0 * np.sqrt(2.0), "sigma1"))
    np.testing.assert_allclose(rbf(D, 2.0), rbf(D, 1 / 8, "gamma"))
    np.testing.assert_allclose(rbf(D, 2.0), np.exp(-D / 8.0))


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf, 1e308, 1e-308])
def test_a_wrong_width_or_parametrisation_is_named(width):
    with pytest.raises(ValueError, match="width"):
        rbf(np.zeros((2, 2)), width)
    with pytest.raises(ValueError, match="sigma3"):
        rbf(np.zeros((2, 2)), 1.0, "sigma3")


def test_distances_are_exact_for_equal_points():
    X = points()
    assert (np.diag(squared_distances(X)) == 0).all()
    direct = ((X[:, None] - X[None, :5]) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distances(X, X[:5]), direct, atol=1e-12)


@pytest.mark.parametrize("parametrisation", ["sigma2", "gamma"])
def test_useful_widths_drop_identity_and_repeated_kernels(parametrisation):
    D = squared_distances(points())
    kept = useful_widths(D, WIDTHS, parametrisation)
    off = ~np.eye(len(D), dtype=bool)
    kernels = {width: rbf(D, width, parametrisation) for width in WIDTHS}
    identity = [w for w in WIDTHS if kernels[w][off].max() < 1e-6]
    constant = [w for w in WIDTHS if kernels[w].min() > 1 - 1e-6]
    assert not set(kept) & set(identity)
    assert len(set(kept) & set(constant)) == min(1, len(constant))
    for width in constant:  # the narrowest of them
        assert all(kernels[width].min() >= kernels[k].min() for k in set(kept) & set(constant))
    for width in set(WIDTHS) - set(identity) - set(kept):  # every other kernel has a twin that was kept
        assert min(abs(kernels[width] - kernels[k]).max() for k in kept) <= 2e-6
    assert len(kept) + len(identity) >= 11


def test_repeated_points_have_few_useful_widths():
    X = np.random.default_rng(0).integers(0, 3, (80, 2)).astype(float)
    kept = useful_widths(squared_distances(X), WIDTHS)
    kernels = [rbf(squared_distances(X), w) for w in kept]
    assert kept.min() >= 0.125  # narrower ones only see equal points
    assert min(abs(a - b).max() for i, a in enumerate(kernels) for b in kernels[:i]) > 1e-7


def test_some_width_is_always_left():
    assert useful_widths(np.zeros((1, 1)), WIDTHS).size == 1
    far = squared_distances(1e9 * np.arange(4.0)[:, None])
    assert useful_widths(far, WIDTHS).tolist() == [WIDTHS.max()]
    assert useful_widths(np.zeros((5, 5)), WIDTHS).size == 1


@pytest.mark.parametrize("width", [2**-8, 0.05, 0.2, 0.5, 2.0, 8.0, 100.0, 1024.0])
def test_the_basis_is_that_of_a_full_eigendecomposition(width):
    K = rbf(squared_distances(points(150, 2)), width)
    found = basis(K)
    lam, Q = eigh(K)
    keep = lam > 1e-10 * lam[-1]
    big = int((lam > 1e-8 * lam[-1]).sum())
    np.testing.assert_allclose(found.lam[:big], lam[::-1][:big], rtol=1e-4)
    assert abs(len(found.lam) - keep.sum()) <= 2
    assert (np.diff(found.lam) <= 0).all()
    np.testing.assert_allclose(found.Q.T @ found.Q, np.eye(len(found.lam)), atol=1e-12)
    np.testing.assert_allclose((found.Q * found.lam) @ found.Q.T, K, atol=3e-10 * lam[-1])
    projector = Q[:, -big:] @ Q[:, -big:].T
    np.testing.assert_allclose(projector @ found.Q[:, :big], found.Q[:, :big], atol=1e-4)


def test_pivoted_cholesky_reaches_its_tolerance_or_says_no():
    smooth, narrow = (rbf(squared_distances(points(120, 2)), width) for width in (3.0, 0.05))
    rows, low = pivoted_cholesky(smooth, 1e-10, 60)
    assert low
    assert len(rows) < 60
    left = smooth - rows.T @ rows
    assert np.abs(np.diag(left)).max() <= 1e-10 + 1e-13
    assert np.linalg.eigvalsh(left).min() > -1e-12
    assert not pivoted_cholesky(narrow, 1e-10, 60)[1]
    assert not pivoted_cholesky(smooth, 1e-10, 5)[1]


def test_held_out_decision_values_go_through_the_basis():
    X, out = points(50), points(7, seed=1)
    gram = Gram(rbf(squared_distances(X), 2.0), rbf(squared_distances(out, X), 2.0))
    v = np.random.default_rng(2).standard_normal(len(gram.basis.lam))
    np.testing.assert_allclose(gram.Z_out @ v, gram.K_out @ (gram.basis.Q @ v))
    np.testing.assert_allclose(gram.K @ (gram.basis.Q @ v), gram.basis.Q @ (gram.basis.lam * v), atol=1e-8)
