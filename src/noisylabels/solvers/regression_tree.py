"""Small regression trees on columns that are sorted once, for boosting, which grows many of them.

Each split lowers the weighted squared error most, the best leaf is split first, and thresholds are
midway between neighbours, so that trees are those of scikit-learn's `DecisionTreeRegressor` where
no split is tied.

Source: Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.validation import Floats

Ints32 = NDArray[np.int32]
Singles = NDArray[np.float32]
NO_NODE = -1
SAME = np.float32(1e-7)
"""Difference of feature values below which they count as equal, as in scikit-learn."""


class SortedColumns(NamedTuple):
    """Features by columns, and the order of the rows by each of them.

    Attributes
    ----------
    values : ndarray of shape (d, n)
        Features in single precision.
    order : ndarray of shape (d, n)
        Numbers of the rows, by ascending feature.
    """

    values: Singles
    order: Ints32


class RegressionTree(NamedTuple):
    """The nodes of a tree, of which node 0 is the root.

    A row goes to the left child where its feature is at most the threshold.

    Attributes
    ----------
    feature : ndarray of shape (N,)
        Feature that a node looks at.
    threshold : ndarray of shape (N,)
        Largest value that goes to the left.
    left_child : ndarray of shape (N,)
        Number of a child; `NO_NODE` at a leaf.
    right_child : ndarray of shape (N,)
        Number of the other child.
    value : ndarray of shape (N,)
        Weighted mean of the targets at a node.
    """

    feature: Ints32
    threshold: Floats
    left_child: Ints32
    right_child: Ints32
    value: Floats

    def apply(self, columns: Singles) -> Ints32:
        """Find the leaf of each row, for features by columns (d, n)."""
        leaves = _descend(columns, self.feature, self.threshold, self.left_child, self.right_child)
        return np.asarray(leaves)


def sort_columns(X: NDArray[Any]) -> SortedColumns:
    """Sort rows by each feature, in single precision.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features by rows.

    Returns
    -------
    SortedColumns
        The features by columns, and the orders.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.regression_tree import sort_columns
    >>> sort_columns(np.array([[3.0], [1.0], [2.0]])).order.tolist()
    [[1, 2, 0]]
    """
    values = np.ascontiguousarray(X.T, dtype=np.float32)
    order = np.argsort(values, axis=1, kind="stable").astype(np.int32)
    return SortedColumns(values, order)


def grow_tree(
    columns: SortedColumns, signs: Floats, weights: Floats, splits: int, visited: NDArray[np.intp]
) -> RegressionTree:
    """Grow a tree that fits signs by weighted squares.

    Parameters
    ----------
    columns : SortedColumns
        The features.
    signs : ndarray of shape (n,)
        Targets, -1.0 and +1.0.
    weights : ndarray of shape (n,)
        Weights of the rows, at least 0.
    splits : int
        Largest number of splits.
    visited : ndarray of shape (d,)
        Order of the features, of which the first wins a tie.

    Returns
    -------
    RegressionTree
        The tree.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.regression_tree import grow_tree, sort_columns
    >>> columns = sort_columns(np.array([[0.0], [1.0], [4.0]]))
    >>> tree = grow_tree(columns, np.array([-1.0, -1.0, 1.0]), np.ones(3), 1, np.arange(1))
    >>> float(tree.threshold[0])
    2.5
    """
    visited = visited.astype(np.int32)
    return RegressionTree(*_grow(columns.values, columns.order, signs, weights, splits, visited))


@compile_kernel(error_model="numpy")
def _descend(
    columns: Singles,
    feature: Ints32,
    threshold: Floats,
    left_child: Ints32,
    right_child: Ints32,
) -> Ints32:
    leaf = np.zeros(columns.shape[1], dtype=np.int32)
    for i in range(len(leaf)):
        node = 0
        while left_child[node] != NO_NODE:
            goes_left = columns[feature[node], i] <= threshold[node]
            node = left_child[node] if goes_left else right_child[node]
        leaf[i] = node
    return leaf


@compile_kernel(error_model="numpy")
def _find_splits(  # type: ignore[no-untyped-def]
    values,
    order,
    signs,
    weights,
    visited,
    node_of,
    first,
    count,
    mass,
    total,
    pure,
    gain,
    feature,
    threshold,
):
    """Write the best split of each of the count <= 2 nodes from the first one on, and its gain.

    mass, total: weights of the rows of each node, and the same times their signs.
    pure: whether all signs of a node are equal.
    """
    n = values.shape[1]
    mass_left = np.empty(2)
    total_left = np.empty(2)
    last = np.empty(2, dtype=np.float32)
    for j in visited:
        mass_left[:] = 0.0
        total_left[:] = 0.0
        for k in range(n):
            i = order[j, k]
            slot = node_of[i] - first
            if slot < 0 or slot >= count:
                continue
            node = first + slot
            if pure[node]:
                continue
            value = values[j, i]
            before = last[slot]
            mass_right = mass[node] - mass_left[slot]
            is_new_value = value > before + SAME
            if mass_left[slot] > 0.0 and is_new_value and mass_right > 0.0:
                total_right = total[node] - total_left[slot]
                explained_left = total_left[slot] ** 2 / mass_left[slot]
                explained = explained_left + total_right**2 / mass_right
                gained = explained - total[node] ** 2 / mass[node]
                if gained > gain[node]:
                    gain[node] = gained
                    feature[node] = j
                    middle = np.float64(before) / 2.0 + np.float64(value) / 2.0
                    if middle == value:
                        threshold[node] = np.float64(before)
                    else:
                        threshold[node] = middle
            last[slot] = value
            mass_left[slot] += weights[i]
            total_left[slot] += weights[i] * signs[i]


@compile_kernel(error_model="numpy")
def _best_leaf(left_child: Ints32, gain: Floats, nodes: int) -> int:
    """Find the first leaf whose split gains most; `NO_NODE` if no split gains anything."""
    best = NO_NODE
    for node in range(nodes):
        is_leaf = left_child[node] == NO_NODE
        is_better = best == NO_NODE or gain[node] > gain[best]
        if is_leaf and gain[node] > 0.0 and is_better:
            best = node
    return best


@compile_kernel(error_model="numpy")
def _grow(  # type: ignore[no-untyped-def]
    values, order, signs, weights, splits, visited
):
    n = values.shape[1]
    capacity = 2 * splits + 1
    feature = np.zeros(capacity, dtype=np.int32)
    left_child = np.full(capacity, NO_NODE, dtype=np.int32)
    right_child = np.full(capacity, NO_NODE, dtype=np.int32)
    threshold = np.zeros(capacity)
    mass = np.zeros(capacity)
    total = np.zeros(capacity)
    gain = np.zeros(capacity)
    positive = np.zeros(capacity, dtype=np.int64)
    rows = np.zeros(capacity, dtype=np.int64)
    pure = np.zeros(capacity, dtype=np.bool_)
    node_of = np.full(n, NO_NODE, dtype=np.int32)  # a row without weight does not count
    for i in range(n):
        if weights[i] > 0.0:
            node_of[i] = 0
            mass[0] += weights[i]
            total[0] += weights[i] * signs[i]
            rows[0] += 1
            positive[0] += signs[i] > 0.0
    nodes = 1
    first = 0  # the first node whose best split is not known yet
    count = 1
    for _ in range(splits):
        for node in range(first, first + count):
            pure[node] = positive[node] == 0 or positive[node] == rows[node]
        _find_splits(
            values,
            order,
            signs,
            weights,
            visited,
            node_of,
            first,
            count,
            mass,
            total,
            pure,
            gain,
            feature,
            threshold,
        )
        best = _best_leaf(left_child, gain, nodes)
        if best == NO_NODE:
            break
        first = nodes
        count = 2
        left_child[best] = first
        right_child[best] = first + 1
        nodes += 2
        for i in range(n):
            if node_of[i] == best:
                goes_left = values[feature[best], i] <= threshold[best]
                node = first if goes_left else first + 1
                node_of[i] = node
                rows[node] += 1
                positive[node] += signs[i] > 0.0
                mass[node] += weights[i]
                total[node] += weights[i] * signs[i]
    mean = np.zeros(nodes)
    for node in range(nodes):
        mean[node] = total[node] / mass[node]
    return feature[:nodes], threshold[:nodes], left_child[:nodes], right_child[:nodes], mean
