"""Kernels, the widths worth trying, and the basis that all methods share."""

import itertools
from typing import get_args

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

from noisylabels.kernels import gaussian
from noisylabels.kernels.gaussian import (
    WIDTHS,
    basis,
    kernel_matrix,
    rate,
    rbf,
    squared_distances,
    useful_widths,
    width_of,
)

GAMMA = 0.3


def points(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def kernel(A, B=None):
    return np.exp(-GAMMA * squared_distances(A, B))


def test_parametrisations_agree_at_matching_widths():
    D = squared_distances(points())
    for found in (rbf(D, 2.0), rbf(D, 2.0 * np.sqrt(2.0), "sigma1"), rbf(D, 1 / 8, "gamma")):
        np.testing.assert_allclose(found, np.exp(-D / 8.0))


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
    # Every other kernel has a copy among these.
    for width in set(WIDTHS) - set(identity) - set(kept):
        assert min(abs(kernels[width] - kernels[k]).max() for k in kept) <= 2e-6
    assert len(kept) + len(identity) >= 11


def test_repeated_points_have_few_useful_widths_but_one_is_always_left():
    D = squared_distances(np.random.default_rng(0).integers(0, 3, (80, 2)).astype(float))
    kept = useful_widths(D, WIDTHS)
    kernels = [rbf(D, w) for w in kept]
    assert kept.min() >= 0.125  # narrower ones only see equal points
    for first, second in itertools.combinations(kernels, 2):
        assert abs(first - second).max() > 1e-7
    far = squared_distances(1e9 * np.arange(4.0)[:, None])
    assert useful_widths(far, WIDTHS).tolist() == [WIDTHS.max()]
    for n_rows in (1, 5):
        assert useful_widths(np.zeros((n_rows, n_rows)), WIDTHS).size == 1


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
    rows, low = gaussian.pivoted_cholesky(smooth, 1e-10, 60)
    left = smooth - rows.T @ rows
    assert low
    assert len(rows) < 60
    assert np.abs(np.diag(left)).max() <= 1e-10 + 1e-13
    assert np.linalg.eigvalsh(left).min() > -1e-12
    assert not gaussian.pivoted_cholesky(narrow, 1e-10, 60)[1]
    assert not gaussian.pivoted_cholesky(smooth, 1e-10, 5)[1]


def test_held_out_decision_values_go_through_the_basis():
    X = points(50)
    out = points(7, seed=1)
    gram = gaussian.Gram(rbf(squared_distances(X), 2.0), rbf(squared_distances(out, X), 2.0))
    v = np.random.default_rng(2).standard_normal(len(gram.basis.lam))
    np.testing.assert_allclose(gram.Z_out @ v, gram.K_out @ (gram.basis.Q @ v))
    basis = gram.basis
    np.testing.assert_allclose(gram.K @ (basis.Q @ v), basis.Q @ (basis.lam * v), atol=1e-8)


# Widths by rule


@pytest.mark.parametrize("parametrisation", get_args(gaussian.Parametrisation))
def test_scale_is_scikit_learns_gamma(parametrisation):
    X = points() * [1.0, 2.0, 5.0] + 3.0
    theirs = SVC(gamma="scale").fit(X, np.arange(60) % 2)._gamma
    assert rate(width_of("scale", X, parametrisation), parametrisation) == pytest.approx(theirs)
    assert width_of(0.5, X, parametrisation) == 0.5
    for width in ("auto", "median"):
        with pytest.raises(ValueError, match=f"must be a number or 'scale', got '{width}'"):
            width_of(width, X)


def test_scale_of_standardised_features_is_the_root_of_half_their_number():
    X = points()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    width = width_of("scale", X)
    assert width == pytest.approx(np.sqrt(1.5))
    assert np.exp(-rate(width) * squared_distances(X)) == pytest.approx(RBF(width)(X))
    assert width_of("scale", np.ones((4, 8))) == pytest.approx(2.0)
    assert width_of("scale", X, weights=np.ones(60)) == pytest.approx(width)
    doubled = width_of("scale", np.vstack([X, X[:5]]))
    assert width_of("scale", X, weights=1.0 + (np.arange(60) < 5)) == pytest.approx(doubled)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (33, 700), (700, 333)])
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_a_kernel_matrix_in_blocks_is_that_of_its_distances(n, m, storage):
    """To the last bit, with and without columns of zeros behind it."""
    rng = np.random.default_rng(n)
    A = storage(rng.normal(size=(n, 4)))
    B = storage(rng.normal(size=(m, 4)))
    for second in (None, B):
        wanted = rbf(squared_distances(A, second), 0.7)
        assert np.array_equal(kernel_matrix(A, second, width=0.7), wanted)
        wide = kernel_matrix(A, second, width=0.7, multiple=32)
        assert wide.shape[1] % 32 == 0
        assert np.array_equal(wide[:, : wanted.shape[1]], wanted)
        assert not wide[:, wanted.shape[1] :].any()
    if storage is np.asarray:
        assert np.array_equal(squared_distances(A, B), cdist(A, B, "sqeuclidean"))
        assert np.array_equal(squared_distances(A), cdist(A, A, "sqeuclidean"))
