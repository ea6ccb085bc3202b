"""Kernels, the widths worth trying, and the basis that all methods share."""

import itertools
from typing import get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose
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
    expected = np.exp(-D / 8.0)
    assert_allclose(rbf(D, 2.0), expected)
    assert_allclose(rbf(D, 2.0 * np.sqrt(2.0), "sigma1"), expected)
    assert_allclose(rbf(D, 1 / 8, "gamma"), expected)


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf, 1e308, 1e-308])
def test_a_wrong_width_or_parametrisation_is_named(width):
    with pytest.raises(ValueError, match="width"):
        rbf(np.zeros((2, 2)), width)
    with pytest.raises(ValueError, match="sigma3"):
        rbf(np.zeros((2, 2)), 1.0, "sigma3")


def test_distances_are_exact_for_equal_points():
    X = points()
    assert (np.diag(squared_distances(X)) == 0).all()
    differences = X[:, None] - X[None, :5]
    direct = (differences**2).sum(-1)
    assert_allclose(squared_distances(X, X[:5]), direct, atol=1e-12)


@pytest.mark.parametrize("parametrisation", ["sigma2", "gamma"])
def test_useful_widths_drop_identity_and_repeated_kernels(parametrisation):
    D = squared_distances(points())
    useful = set(useful_widths(D, WIDTHS, parametrisation))
    off_diagonal = ~np.eye(len(D), dtype=bool)
    kernels = {width: rbf(D, width, parametrisation) for width in WIDTHS}
    identity = {width for width, K in kernels.items() if K[off_diagonal].max() < 1e-6}
    constant = {width for width, K in kernels.items() if K.min() > 1 - 1e-6}
    assert not useful & identity
    useful_constant = useful & constant
    assert len(useful_constant) == min(1, len(constant))
    for width in constant:
        for narrowest in useful_constant:
            assert kernels[width].min() >= kernels[narrowest].min()
    # Every other kernel has a copy among these.
    for width in set(WIDTHS) - identity - useful:
        K = kernels[width]
        differences = [abs(K - kernels[copy]).max() for copy in useful]
        assert min(differences) <= 2e-6
    assert len(useful) + len(identity) >= 11


def test_repeated_points_have_few_useful_widths_but_one_is_always_left():
    repeated = np.random.default_rng(0).integers(0, 3, (80, 2)).astype(float)
    D = squared_distances(repeated)
    useful = useful_widths(D, WIDTHS)
    kernels = [rbf(D, width) for width in useful]
    assert useful.min() >= 0.125  # narrower ones only see equal points
    for first, second in itertools.combinations(kernels, 2):
        assert abs(first - second).max() > 1e-7
    far_apart = squared_distances(1e9 * np.arange(4.0)[:, None])
    assert useful_widths(far_apart, WIDTHS).tolist() == [WIDTHS.max()]
    for n_rows in (1, 5):
        no_distances = np.zeros((n_rows, n_rows))
        assert useful_widths(no_distances, WIDTHS).size == 1


@pytest.mark.parametrize("width", [2**-8, 0.05, 0.2, 0.5, 2.0, 8.0, 100.0, 1024.0])
def test_the_basis_is_that_of_a_full_eigendecomposition(width):
    K = rbf(squared_distances(points(150, 2)), width)
    space = basis(K)
    rank = len(space.lam)
    ascending, vectors = eigh(K)
    lam = ascending[::-1]
    Q = vectors[:, ::-1]
    largest = lam[0]
    rank_of_K = np.count_nonzero(lam > 1e-10 * largest)
    big = np.count_nonzero(lam > 1e-8 * largest)
    assert_allclose(space.lam[:big], lam[:big], rtol=1e-4)
    assert abs(rank - rank_of_K) <= 2
    assert (np.diff(space.lam) <= 0).all()
    products = space.Q.T @ space.Q
    assert_allclose(products, np.eye(rank), atol=1e-12)
    rebuilt = (space.Q * space.lam) @ space.Q.T
    assert_allclose(rebuilt, K, atol=3e-10 * largest)
    leading = Q[:, :big]
    our_leading = space.Q[:, :big]
    projected = leading @ leading.T @ our_leading
    assert_allclose(projected, our_leading, atol=1e-4)


def test_pivoted_cholesky_reaches_its_tolerance_or_says_no():
    D = squared_distances(points(120, 2))
    smooth = rbf(D, 3.0)
    narrow = rbf(D, 0.05)
    rows, reached = gaussian.pivoted_cholesky(smooth, 1e-10, 60)
    assert reached
    assert len(rows) < 60
    remainder = smooth - rows.T @ rows
    diagonal = np.diag(remainder)
    assert np.abs(diagonal).max() <= 1e-10 + 1e-13
    eigenvalues = np.linalg.eigvalsh(remainder)
    assert eigenvalues.min() > -1e-12
    _, reached = gaussian.pivoted_cholesky(narrow, 1e-10, 60)
    assert not reached
    _, reached = gaussian.pivoted_cholesky(smooth, 1e-10, 5)
    assert not reached


def test_held_out_decision_values_go_through_the_basis():
    X = points(50)
    X_out = points(7, seed=1)
    K = rbf(squared_distances(X), 2.0)
    K_out = rbf(squared_distances(X_out, X), 2.0)
    gram = gaussian.Gram(K, K_out)
    basis = gram.basis
    v = np.random.default_rng(2).standard_normal(len(basis.lam))
    weights = basis.Q @ v
    assert_allclose(gram.Z_out @ v, gram.K_out @ weights)
    assert_allclose(gram.K @ weights, basis.Q @ (basis.lam * v), atol=1e-8)


# Widths by rule


@pytest.mark.parametrize("parametrisation", get_args(gaussian.Parametrisation))
def test_scale_is_scikit_learns_gamma(parametrisation):
    X = points() * [1.0, 2.0, 5.0] + 3.0
    labels = np.arange(60) % 2
    svc = SVC(gamma="scale").fit(X, labels)
    width = width_of("scale", X, parametrisation)
    assert rate(width, parametrisation) == pytest.approx(svc._gamma)
    assert width_of(0.5, X, parametrisation) == 0.5
    for unknown in ("auto", "median"):
        with pytest.raises(ValueError, match=f"must be a number or 'scale', got '{unknown}'"):
            width_of(unknown, X)


def test_scale_of_standardised_features_is_the_root_of_half_their_number():
    X = points()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    width = width_of("scale", X)
    assert width == pytest.approx(np.sqrt(1.5))
    K = np.exp(-rate(width) * squared_distances(X))
    their_kernel = RBF(width)
    assert their_kernel(X) == pytest.approx(K)
    assert width_of("scale", np.ones((4, 8))) == pytest.approx(2.0)
    assert width_of("scale", X, weights=np.ones(60)) == pytest.approx(width)
    repeated = np.vstack([X, X[:5]])
    weights = np.where(np.arange(60) < 5, 2.0, 1.0)
    of_weights = width_of("scale", X, weights=weights)
    assert of_weights == pytest.approx(width_of("scale", repeated))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (33, 700), (700, 333)])
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_a_kernel_matrix_in_blocks_is_that_of_its_distances(n, m, storage):
    """To the last bit, with and without columns of zeros behind it."""
    rng = np.random.default_rng(n)
    A = storage(rng.normal(size=(n, 4)))
    B = storage(rng.normal(size=(m, 4)))
    for second in (None, B):
        wanted = rbf(squared_distances(A, second), 0.7)
        K = kernel_matrix(A, second, width=0.7)
        assert np.array_equal(K, wanted)
        wide = kernel_matrix(A, second, width=0.7, multiple=32)
        columns = wanted.shape[1]
        assert wide.shape[1] % 32 == 0
        assert np.array_equal(wide[:, :columns], wanted)
        assert not wide[:, columns:].any()
    if storage is np.asarray:
        between = squared_distances(A, B)
        assert np.array_equal(between, cdist(A, B, "sqeuclidean"))
        own_distances = squared_distances(A)
        assert np.array_equal(own_distances, cdist(A, A, "sqeuclidean"))
