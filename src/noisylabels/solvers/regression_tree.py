"""Small regression trees on columns that are sorted once, for boosting, which grows many on the same rows.

Each split lowers the weighted squared error most, the best leaf is split first, and thresholds lie midway
between neighbours, so that trees are those of scikit-learn's `DecisionTreeRegressor` where no split is tied.

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
"""Values of a feature that differ by less are not told apart, as in scikit-learn."""


class SortedColumns(NamedTuple):
    """The features in single precision by columns, (d, n), and the order of the rows by each, (d, n)."""

    values: Singles
    order: Ints32


class RegressionTree(NamedTuple):
    """Nodes of a tree; node 0 is the root, and children are NO_NODE at a leaf.

    A row goes left where its `feature` is at most `threshold`. `value` is the weighted mean of the targets.
    """

    feature: Ints32
    threshold: Floats
    left: Ints32
    right: Ints32
    value: Floats

    def apply(self, columns: Singles) -> Ints32:
        """The leaf of each row, for features by columns (d, n)."""
        return np.asarray(_descend(columns, self.feature, self.threshold, self.left, self.right))


def sort_columns(X: NDArray[Any]) -> SortedColumns:
    """Sort rows X (n, d) by each feature, in single precision."""
    values = np.ascontiguousarray(X.T, dtype=np.float32)
    order = np.argsort(values, axis=1, kind="stable").astype(np.int32)
    return SortedColumns(values, order)


def grow_tree(
    columns: SortedColumns, signs: Floats, weights: Floats, splits: int, visited: NDArray[np.intp]
) -> RegressionTree:
    """Grow a tree with at most so many splits that fits signs (n,) of -1.0 and +1.0 by weighted squares.

    weights (n,) >= 0.   visited (d,): the order of the features, of which the first wins a tie.
    """
    parts = _grow(columns.values, columns.order, signs, weights, splits, visited.astype(np.int32))
    return RegressionTree(*parts)


@compile_kernel(error_model="numpy")
def _descend(columns: Singles, feature: Ints32, threshold: Floats, left: Ints32, right: Ints32) -> Ints32:
    leaf = np.zeros(columns.shape[1], dtype=np.int32)
    for i in range(len(leaf)):
        node = 0
        while left[node] != NO_NODE:
            goes_left = columns[feature[node], i] <= threshold[node]
            node = left[node] if goes_left else right[node]
        leaf[i] = node
    return leaf


@compile_kernel(error_model="numpy")
def _find_splits(  # type: ignore[no-untyped-def]
    values, order, signs, weights, visited, node_of, first, count, mass, total, pure, gain, feature, threshold
):
    """Write the best split of the nodes first, ..., first + count - 1, count <= 2, and what it gains.

    mass, total: weights of the rows of each node, and the same times their signs.   pure: of one sign.
    """
    n = values.shape[1]
    mass_left, total_left = np.empty(2), np.empty(2)
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
            here = values[j, i]
            before = last[slot]
            mass_right = mass[node] - mass_left[slot]
            if mass_left[slot] > 0.0 and here > before + SAME and mass_right > 0.0:
                rest = total[node] - total_left[slot]
                explained = total_left[slot] ** 2 / mass_left[slot] + rest**2 / mass_right
                if explained - total[node] ** 2 / mass[node] > gain[node]:
                    gain[node] = explained - total[node] ** 2 / mass[node]
                    feature[node] = j
                    middle = np.float64(before) / 2.0 + np.float64(here) / 2.0
                    threshold[node] = np.float64(before) if middle == here else middle
            last[slot] = here
            mass_left[slot] += weights[i]
            total_left[slot] += weights[i] * signs[i]


@compile_kernel(error_model="numpy")
def _grow(  # type: ignore[no-untyped-def]
    values, order, signs, weights, splits, visited
):
    n = values.shape[1]
    most = 2 * splits + 1
    feature = np.zeros(most, dtype=np.int32)
    left, right = np.full(most, NO_NODE, dtype=np.int32), np.full(most, NO_NODE, dtype=np.int32)
    threshold, mass, total, gain = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    positive = np.zeros(most, dtype=np.int64)
    rows = np.zeros(most, dtype=np.int64)
    pure = np.zeros(most, dtype=np.bool_)
    node_of = np.full(n, NO_NODE, dtype=np.int32)  # a row without weight decides nothing
    for i in range(n):
        if weights[i] > 0.0:
            node_of[i] = 0
            mass[0] += weights[i]
            total[0] += weights[i] * signs[i]
            rows[0] += 1
            positive[0] += signs[i] > 0.0
    nodes, first, count = 1, 0, 1
    for _ in range(splits):
        for node in range(first, first + count):
            pure[node] = positive[node] == 0 or positive[node] == rows[node]
        _find_splits(
            values, order, signs, weights, visited, node_of, first, count, mass, total, pure, gain, feature,
            threshold,
        )  # fmt: skip
        best = NO_NODE
        for node in range(nodes):
            better = best == NO_NODE or gain[node] > gain[best]
            if left[node] == NO_NODE and gain[node] > 0.0 and better:
                best = node
        if best == NO_NODE:
            break
        first, count = nodes, 2
        left[best], right[best] = first, first + 1
        nodes += 2
        for i in range(n):
            if node_of[i] == best:
                node = first if values[feature[best], i] <= threshold[best] else first + 1
                node_of[i] = node
                rows[node] += 1
                positive[node] += signs[i] > 0.0
                mass[node] += weights[i]
                total[node] += weights[i] * signs[i]
    mean = np.zeros(nodes)
    for node in range(nodes):
        mean[node] = total[node] / mass[node]
    return feature[:nodes], threshold[:nodes], left[:nodes], right[:nodes], mean
