"""Small trees: those of scikit-learn where no split is tied; ties and weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeRegressor

from noisylabels.solvers.regression_tree import NO_NODE, grow_tree, sort_columns


def problem(seed, n=400, d=6):
    """Rows, signs and weights without ties: features are continuous, and weights differ."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    target = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n)
    signs = np.where(target > 0, 1.0, -1.0)
    return X, signs, rng.uniform(0.1, 1.0, n)


@pytest.mark.parametrize("splits", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_tree_of_scikit_learn(splits, seed):
    X, signs, weights = problem(seed)
    weights[::7] = 0.0
    model = DecisionTreeRegressor(max_leaf_nodes=splits + 1)
    peer = model.fit(X, signs, sample_weight=weights).tree_
    columns = sort_columns(X)
    tree = grow_tree(columns, signs, weights, splits, np.arange(6))
    assert_array_equal(tree.left_child, peer.children_left)
    assert_array_equal(tree.right_child, peer.children_right)
    inner = tree.left_child != NO_NODE
    assert_array_equal(tree.feature[inner], peer.feature[inner])
    assert_array_equal(tree.threshold[inner], peer.threshold[inner])
    assert_allclose(tree.value, peer.value[:, 0, 0], atol=1e-12)
    leaves = tree.apply(columns.values)
    their_leaves = peer.apply(X.astype(np.float32))
    assert_array_equal(leaves, their_leaves)


def test_the_order_of_the_visits_decides_a_tie_only():
    X, signs, weights = problem(0, d=2)
    twins = sort_columns(X[:, [0, 0, 1]])
    first = grow_tree(twins, signs, weights, 1, np.array([0, 1, 2]))
    second = grow_tree(twins, signs, weights, 1, np.array([2, 1, 0]))
    features = {int(first.feature[0]), int(second.feature[0])}
    assert features in ({0, 1}, {2})
    assert first.threshold[0] == second.threshold[0]


def test_values_that_scikit_learn_does_not_tell_apart_are_one():
    X = np.array([[0.0], [5e-8], [1.0], [1.0]])
    signs = np.array([-1.0, 1.0, 1.0, -1.0])
    columns = sort_columns(X)
    tree = grow_tree(columns, signs, np.ones(4), 3, np.arange(1))
    assert len(tree.value) <= 3  # between 0 and 1 at most
    leaves = tree.apply(columns.values)
    assert leaves[0] == leaves[1]


def test_rows_of_one_sign_are_one_leaf():
    X, _, weights = problem(0)
    tree = grow_tree(sort_columns(X), np.ones(400), weights, 3, np.arange(6))
    assert tree.value.tolist() == pytest.approx([1.0])


def test_equal_rows_are_one_leaf():
    columns = sort_columns(np.ones((4, 2)))
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    tree = grow_tree(columns, signs, np.ones(4), 3, np.arange(2))
    assert tree.value.tolist() == [0.0]


def test_a_row_without_weight_changes_nothing():
    X, signs, weights = problem(3)
    weights[:100] = 0.0
    visits = np.arange(6)
    tree = grow_tree(sort_columns(X), signs, weights, 3, visits)
    fewer = grow_tree(sort_columns(X[100:]), signs[100:], weights[100:], 3, visits)
    for with_rows, without_rows in zip(tree, fewer, strict=True):
        assert_allclose(with_rows, without_rows, atol=1e-12)
