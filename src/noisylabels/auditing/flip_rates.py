"""Flip rates and wrong labels from observed labels alone, their bounds, and corrected accuracies.

p (n, K) are out-of-sample probabilities of the observed label, y (n,) its class 0..K-1, and
Q_kj = P(observed k, true j), omega_jk = P(observed k | true j) = Q_kj / sum_k Q_kj.
Omega is not identifiable from observed labels: overlap of the classes and flips look alike. It
becomes so if every class has *anchors*, points where it is certain; the estimates here rest on
that, each in its own way.

Sources: Northcutt, Jiang and Chuang, JAIR 2021, Section 3 (confident joint); Liu and Tao, IEEE
TPAMI 2016, and Patrini et al., CVPR 2017 (anchors and their quantile); Clopper and Pearson,
Biometrika 1934 (trusted labels); Natarajan et al., NIPS 2013 (the inverse flip matrix); Menon et
al., ICML 2015 (the balanced error).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.cross_fitting import Array, Classes, CrossFit, Groups
from noisylabels.statistics import share_interval

if TYPE_CHECKING:
    import pandas as pd

SLACK = 1e-6
"""Distance by which rounding may leave a probability below a threshold that it meets."""
LEAST = 0.005
"""Smallest probability of a label, because models are surer of themselves than they should be."""
QUANTILE = 0.97
"""The quantile of a class's probability that stands for its anchors."""
TOLERATED = 0.02
"""Share of the surest labels that may disagree before they count as evidence of wrong labels."""
LARGEST_CONDITION = 20.0
"""Condition number above which a flip matrix is not inverted."""
NEAR = 0.1
"""Largest distance of nearly equal rows, as a share of the median distance to the nearest row."""
MOST_DIRECTIONS = 40
"""Number of random projections that stand for more columns than this."""
TEXT_DIRECTIONS = 16
"""Random projections of the words of texts."""
SAMPLED = 100
"""Rows whose nearest rows give the median distance."""
SUREST = 0.2
"""Share of a class's rows of which its model is surest."""
FEWEST_SURE = 30
"""Smallest number of these rows."""
LEVEL = 0.95
"""Level of an interval."""
Z = 1.959963984540054
"""Quantile of the normal distribution for this level."""


@dataclass(frozen=True)
class Sureness:
    r"""The labels of the rows of whose class the model is surest.

    Parameters
    ----------
    omega : ndarray of shape (K, K)
        The shares of the observed labels among the rows surest of each class.
    rows : ndarray of int, shape (K,)
        How many rows were taken for each class; a group counts as one.
    disagree : ndarray of shape (K,)
        How many of their labels disagree.
    low : ndarray of shape (K,)
        Lower limits of the shares that disagree, one-sided, at 95 % over all classes together.
    high : ndarray of shape (K,)
        Upper limits, of the same kind.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import surest
    >>> y = np.repeat([1, 0, 1], [5, 45, 50])
    >>> sureness = surest(np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0), y)
    >>> sureness.omega.round(2).tolist()
    [[0.83, 0.17], [0.0, 1.0]]

    Notes
    -----
    :math:`1 - \omega_{jj}` bounds the flips of class j from above, up to chance:
    :math:`P(\text{observed } j \mid x) \le \omega_{jj}` at every x, if :math:`\omega_{jj}` is the
    largest entry of its column. With anchors it is their rate.
    """

    omega: Array
    rows: Classes
    disagree: Array
    low: Array
    high: Array

    @property
    def evidence(self) -> NDArray[np.bool_]:
        """Classes in which more than 2 % of the most confident labels disagree, (K,)."""
        return self.low > TOLERATED

    @property
    def limit(self) -> Array:
        """The flip matrix at the upper limits, (K, K).

        The diagonal is one minus ``high``; the other entries of a row are in proportion to those of
        ``omega``.
        """
        off_diagonal = 1 - np.eye(len(self.omega))
        smallest = 1e-9 * off_diagonal
        rates = self.omega * off_diagonal + smallest
        row_sums = rates.sum(axis=1, keepdims=True)
        flip_shares = self.high[:, None] * rates
        return np.diag(1 - self.high) + flip_shares / row_sums


def thresholds(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Average the probability of each class over the rows that carry its label.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    a : ndarray of shape (n,), optional
        Weights of the rows, by default 1; a row of weight 2 counts as two rows.

    Returns
    -------
    ndarray of shape (K,)
        The thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import thresholds
    >>> p = np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])
    >>> thresholds(p, np.array([0, 0, 1])).tolist()
    [0.5, 0.75]

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021, Section 3.
    """
    averages = []
    for j in range(p.shape[1]):
        members = y == j
        averages.append(np.average(p[members, j], weights=_weights_at(a, members)))
    return np.array(averages)


def counts(p: Array, y: Classes, a: Array | None = None) -> Array:
    r"""Count the rows of each observed class that confidently belong to each class.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    a : ndarray of shape (n,), optional
        Weights of the rows, by default 1; a row of weight 2 counts as two rows.

    Returns
    -------
    ndarray of shape (K, K)
        The counts, rows are observed classes.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import counts
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> counts(p, np.repeat([0, 1], [45, 55])).tolist()
    [[45.0, 0.0], [5.0, 50.0]]

    Notes
    -----
    :math:`C_{kj} = \#\{n: y_n = k, p_{nj} \ge t_j\}`, where j is the most probable class whose
    threshold is met. Diagonal entries are at least 1. A row that meets no threshold is not counted.

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021, Section 3.
    """
    K = p.shape[1]
    limits = thresholds(p, y, a) - SLACK
    meets_threshold = p >= limits
    confident = meets_threshold.any(axis=1)
    most_probable = np.where(meets_threshold, p, -1.0).argmax(axis=1)
    all_cells = y * K + most_probable
    cells = all_cells[confident]
    weights = _weights_at(a, confident)
    sums = np.bincount(cells, weights, K * K)
    C = sums.reshape(K, K).astype(float)
    diagonal = np.maximum(C.diagonal(), 1.0)
    np.fill_diagonal(C, diagonal)
    return C


def joint(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Estimate the joint distribution of observed and true labels.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    a : ndarray of shape (n,), optional
        Weights of the rows, by default 1; a row of weight 2 counts as two rows.

    Returns
    -------
    ndarray of shape (K, K)
        Probabilities that sum to 1; rows are observed and columns true classes.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import joint
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> joint(p, np.repeat([0, 1], [45, 55])).round(2).tolist()
    [[0.45, 0.0], [0.05, 0.5]]

    Notes
    -----
    The rows of `counts` are rescaled to the shares of the observed labels.

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021, Section 3.
    """
    C = counts(p, y, a)
    observed = shares(y, p.shape[1], a)
    row_sums = C.sum(axis=1, keepdims=True)
    return np.asarray(C / row_sums * observed[:, np.newaxis])


def shares(y: Classes, K: int, a: Array | None = None) -> Array:
    """Compute the share of each observed class.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    K : int
        Number of classes.
    a : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    ndarray of shape (K,)
        The shares.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import shares
    >>> shares(np.array([0, 0, 0, 1]), 2).tolist()
    [0.75, 0.25]
    """
    counts = np.bincount(y, a, K)
    return np.asarray(counts / counts.sum())


def weights_of(groups: Groups | None) -> Array | None:
    """Compute weights with which each group counts once.

    Parameters
    ----------
    groups : ndarray of int, shape (n,) or None
        The group of each row, numbers from 0; None if each row is alone.

    Returns
    -------
    ndarray of shape (n,), or None
        The weights; None if each row counts once.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import weights_of
    >>> weights_of(np.array([0, 0, 1])).tolist()
    [0.5, 0.5, 1.0]
    """
    if groups is None:
        return None
    return 1.0 / np.bincount(groups)[groups]


def average_groups(values: Array, groups: Groups | None) -> Array:
    """Average values over each group, in the order of the numbers of the groups.

    Parameters
    ----------
    values : ndarray of shape (n, ...)
        The values of each row.
    groups : ndarray of int, shape (n,) or None
        The group of each row; None if each row is alone.

    Returns
    -------
    ndarray of shape (number of groups, ...)
        The averages.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import average_groups
    >>> average_groups(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1])).tolist()
    [1.5, 5.0]
    """
    if groups is None:
        return values
    names, group = np.unique(groups, return_inverse=True)
    shape = (len(names), *values.shape[1:])
    sums = np.zeros(shape)
    np.add.at(sums, group, values)
    sizes = np.bincount(group)
    return np.asarray((sums.T / sizes).T)


def _weights_at(a: Array | None, rows: Any) -> Array | None:
    if a is None:
        return None
    return a[rows]


def flip_matrix(Q: Array) -> Array:
    r"""Compute the flip matrix from the joint distribution.

    Parameters
    ----------
    Q : ndarray of shape (K, K)
        Joint distribution; rows are observed and columns true classes.

    Returns
    -------
    ndarray of shape (K, K)
        The flip matrix; rows are true classes, and sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import flip_matrix
    >>> flip_matrix(np.array([[0.375, 0.0], [0.125, 0.5]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]

    Notes
    -----
    :math:`\omega_{jk} = Q_{kj} / \sum_k Q_{kj}`.
    """
    return np.asarray((Q / Q.sum(axis=0)).T)


def margins(p: Array, y: Classes) -> Array:
    r"""Compute by how much each label is more probable than all other classes.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.

    Returns
    -------
    ndarray of shape (n,)
        The margins, in [-1, 1]; the lower, the more doubtful the label.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import margins
    >>> margins(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1])).tolist()
    [0.5, -0.5]

    Notes
    -----
    The margin of row n is :math:`p_{n y_n} - \max_{j \ne y_n} p_{nj}`.
    """
    probability_of_label = p[np.arange(len(y)), y]
    probability_of_others = _without_observed(p, y)
    return np.asarray(probability_of_label - probability_of_others.max(axis=1))


def likely_wrong(p: Array, y: Classes, Q: Array, a: Array | None = None) -> NDArray[np.bool_]:
    r"""Find the labels that are likely wrong.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    Q : ndarray of shape (K, K)
        Joint distribution of observed (rows) and true labels.
    a : ndarray of shape (n,), optional
        Weights of the rows, above 0.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether the label is likely wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import joint, likely_wrong
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> y = np.repeat([0, 1], [45, 55])
    >>> np.flatnonzero(likely_wrong(p, y, joint(p, y))).tolist()
    [45, 46, 47, 48, 49]

    Notes
    -----
    For each pair of classes :math:`k \ne j` these are the :math:`\mathrm{round}(n Q_{kj})` rows of
    class k with the largest :math:`p_j - p_k`. Of them only rows count in which another class than
    the observed one is the most probable.

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021, Section 3.
    """
    if a is None:
        a = np.ones(len(y))
    return wrong_parts(p, y, Q, a) > 0


def wrong_parts(p: Array, y: Classes, Q: Array, a: Array) -> Array:
    """Compute which part of the weight of each row `likely_wrong` marks as wrong.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    Q : ndarray of shape (K, K)
        Joint distribution of observed (rows) and true labels.
    a : ndarray of shape (n,)
        Weights of the rows, above 0. Their sum is the number of rows of the rule.

    Returns
    -------
    ndarray of shape (n,)
        The parts, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import wrong_parts
    >>> p = np.array([[0.25, 0.75], [0.75, 0.25], [0.25, 0.75]])
    >>> Q = np.array([[0.5, 0.25], [0.0, 0.25]])
    >>> wrong_parts(p, np.array([0, 0, 1]), Q, np.array([2.0, 1.0, 1.0])).tolist()
    [0.5, 0.0, 0.0]
    """
    K = p.shape[1]
    wrong = np.zeros(len(y))
    for k in range(K):
        members = np.flatnonzero(y == k)
        for j in range(K):
            if j == k:
                continue
            wanted = round(a.sum() * Q[k, j])
            if wanted:
                difference = p[members, k] - p[members, j]
                order = np.argsort(difference, kind="stable")
                ranked = members[order]
                weights = a[ranked]
                weight_before = np.cumsum(weights) - weights
                parts = np.clip((wanted - weight_before) / weights, 0.0, 1.0)
                parts_so_far = wrong[ranked]
                wrong[ranked] = np.maximum(parts_so_far, parts)
    has_larger_class = margins(p, y) < 0
    return wrong * has_larger_class


def suggested(p: Array, y: Classes) -> Classes:
    """Find the most probable class other than the observed one.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.

    Returns
    -------
    ndarray of int, shape (n,)
        The classes.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import suggested
    >>> suggested(np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]]), np.array([0, 2])).tolist()
    [1, 0]
    """
    return np.asarray(_without_observed(p, y).argmax(axis=1))


def _without_observed(p: Array, y: Classes) -> Array:
    """Replace the probabilities of observed classes by minus infinity."""
    remaining = p.copy()
    remaining[np.arange(len(y)), y] = -np.inf
    return remaining


def anchor(p: Array, y: Classes, quantile: float = QUANTILE, a: Array | None = None) -> Array:
    r"""Estimate the flip matrix from the anchors of each class.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    quantile : float, default 0.97
        The quantile of the probability of a class that stands for its anchors.
    a : ndarray of shape (n,), optional
        Weights of the rows, by default 1; a row of weight 2 counts as two rows.

    Returns
    -------
    ndarray of shape (K, K)
        The flip matrix; rows are true classes.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import anchor
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> anchor(p, np.repeat([0, 1], [45, 55])).round(3).tolist()
    [[0.9, 0.1], [0.2, 0.8]]

    Notes
    -----
    :math:`\omega_{jj}` is the quantile of :math:`p_j`. The rest of the row is in proportion to the
    other probabilities of the rows at or above it. If half of the share of a class is less than
    what the quantile leaves above it (with the default: below 6 % of the labels), the quantile is
    one minus half of the share.

    References
    ----------
    Liu and Tao, IEEE TPAMI 2016. Patrini et al., CVPR 2017.
    """
    K = p.shape[1]
    omega = np.empty((K, K))
    for j, share in enumerate(shares(y, K, a)):
        level = quantile
        if share > 0:
            share_of_class = 1.0 - share / 2.0
            level = max(quantile, share_of_class)
        if a is None:
            p_of_class = p[:, j]
            diagonal = float(np.quantile(p_of_class, level))
        else:
            diagonal = _weighted_quantile(p[:, j], level, a)
        anchors = p[:, j] >= diagonal
        weights_of_anchors = _weights_at(a, anchors)
        averages = np.average(p[anchors], axis=0, weights=weights_of_anchors)
        flips = np.delete(averages, j)
        proportions = np.full(K - 1, 1.0 / (K - 1))
        if flips.sum() > 0:
            proportions = flips / flips.sum()
        flipped_share = (1.0 - diagonal) * proportions
        omega[j] = np.insert(flipped_share, j, diagonal)
    return omega


def _weighted_quantile(values: Array, level: float, a: Array) -> float:
    """Find a quantile of values, where a weight is the number of equal rows."""
    order = np.argsort(values, kind="stable")
    end = np.cumsum(a[order])
    # a row of weight w is w equal rows, which are numbered from 0
    start = end - a[order]
    last = np.maximum(end - 1.0, start)
    places = np.column_stack([start, last]).ravel()
    wanted = level * (end[-1] - 1.0)
    values_at_places = np.repeat(values[order], 2)
    return float(np.interp(wanted, places, values_at_places))


def from_joint(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Compute the flip matrix of the confident joint.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    a : ndarray of shape (n,), optional
        Weights of the rows, by default 1; a row of weight 2 counts as two rows.

    Returns
    -------
    ndarray of shape (K, K)
        The flip matrix; rows are true classes.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import from_joint
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> from_joint(p, np.repeat([0, 1], [45, 55])).round(3).tolist()
    [[0.9, 0.1], [0.0, 1.0]]

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021, Section 3.
    """
    return flip_matrix(joint(p, y, a))


def wrong_share_of(omega: Array, y: Classes, a: Array | None = None) -> float:
    r"""Compute the share of wrong labels that a flip matrix implies.

    Parameters
    ----------
    omega : ndarray of shape (K, K)
        The flip matrix; rows are true classes.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    a : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        The share; NaN if the flip matrix gives no class a positive share.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import wrong_share_of
    >>> omega = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> round(wrong_share_of(omega, np.array([0, 1])), 3)
    0.1

    Notes
    -----
    The share is :math:`1 - \sum_j \pi_j \omega_{jj}`, where :math:`\pi` is the shares of the
    observed labels times :math:`\Omega^{-1}`, clipped at 0 from below and scaled to the sum 1.
    """
    observed = shares(y, len(omega), a)
    solution = np.linalg.lstsq(omega.T, observed, rcond=None)[0]
    pi = np.clip(solution, 0.0, None)
    if not pi.sum() > 0:
        return float("nan")
    normalised = pi / pi.sum()
    return float(1.0 - normalised @ omega.diagonal())


def surest(
    p: Array, y: Classes, groups: Groups | None = None, *, with_ties: bool = False
) -> Sureness:
    """Collect the labels of the rows of whose class the model is surest.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    groups : ndarray of int, shape (n,), optional
        The group of each row, numbers from 0. Rows of one group count as one, with the mean of
        their labels.
    with_ties : bool, default False
        Take also all rows that are as probable as the last row taken, so that the order of the rows
        does not matter. Otherwise the first ones of them are taken: of a table that is sorted by
        its labels these can be rows of one label.

    Returns
    -------
    Sureness
        The labels, and limits of the shares that disagree.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import surest
    >>> y = np.repeat([1, 0, 1], [5, 45, 50])
    >>> surest(np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0), y).disagree.tolist()
    [5.0, 0.0]
    >>> surest(np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0), y, with_ties=True).rows.tolist()
    [50, 50]

    Notes
    -----
    For each class these are a fifth of the number of its labels, and at least 30, with the largest
    :math:`p_j`. The models did not see the labels of these rows, so the number that disagrees is
    nearly binomial. Where the classes do not overlap for the model, its share estimates the flip
    rate. Where they overlap, the share includes the overlap.
    """
    K = p.shape[1]
    weights = None
    if groups is None:
        groups = np.arange(len(y))
    else:
        weights = weights_of(groups)
    n_groups = int(groups.max()) + 1
    members = shares(y, K, weights) * n_groups
    omega = np.empty((K, K))
    rows = np.empty(K, dtype=np.intp)
    disagree = np.empty(K)
    limits = []
    # the limits are one-sided, and all classes share the level
    level = 1.0 - 2.0 * (1.0 - LEVEL) / K
    one_hot = np.eye(K)
    for j in range(K):
        order = np.argsort(-p[:, j], kind="stable")
        wanted_share = round(SUREST * members[j])
        groups_wanted = max(FEWEST_SURE, wanted_share)
        ordered_groups = groups[order]
        n_rows = first_groups(ordered_groups, groups_wanted)
        if with_ties:
            lowest = p[order[n_rows - 1], j]
            n_rows = int(np.count_nonzero(p[:, j] >= lowest))
        top = order[:n_rows]
        observed = one_hot[y[top]]
        groups_of_top = groups[top]
        labels = average_groups(observed, groups_of_top)
        omega[j] = labels.mean(axis=0)
        rows[j] = len(labels)
        n_wrong = len(labels) - labels[:, j].sum()
        disagree[j] = round(n_wrong, 9)
        n_disagree = float(disagree[j])
        low_and_high = share_interval(n_disagree, len(labels), level)
        limits.append(low_and_high)
    low, high = np.array(limits).T
    return Sureness(omega, rows, disagree, low, high)


def first_groups(groups: Groups, wanted: int) -> int:
    """Count the first rows that belong to a given number of groups.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The group of each row.
    wanted : int
        How many groups, at least 1.

    Returns
    -------
    int
        The number of rows up to the first row of the last of these groups; all rows if there are
        fewer groups.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import first_groups
    >>> first_groups(np.array([4, 4, 2, 2, 7]), 2)
    3
    """
    first_rows = np.sort(np.unique(groups, return_index=True)[1])
    if len(first_rows) < wanted:
        return len(groups)
    return int(first_rows[wanted - 1]) + 1


def chance(fits: Mapping[str, CrossFit], y: Classes, groups: Groups | None = None) -> float:
    """Test whether any model knows more about the labels than chance, and return the p-value.

    Parameters
    ----------
    fits : mapping of str to noisylabels.auditing.cross_fitting.CrossFit
        The cross-fits by the names of their models.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    groups : ndarray of int, shape (n,), optional
        The group of each row. Rows of one group and class count as one.

    Returns
    -------
    float
        The p-value.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import CrossFit
    >>> from noisylabels.auditing.flip_rates import chance
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 10, axis=0)[np.newaxis]
    >>> chance({"ours": CrossFit(p, p, np.full((1, 2, 2), np.nan))}, np.repeat([0, 1], 10)) < 0.001
    True

    Notes
    -----
    The null hypothesis is that no :math:`p_k` of any model is larger in class k than elsewhere. The
    tests are one-sided ones of Mann and Whitney, with Bonferroni's correction. Probabilities of a
    cross-fitted model without any knowledge lean to the other side: it saw more of the classes that
    are rarer among the rows held out.
    """
    from scipy.stats import mannwhitneyu

    units = None
    labels = y
    if groups is not None:
        pairs = np.column_stack([groups, y])
        units = np.unique(pairs, axis=0, return_inverse=True)[1]
        first_rows = np.unique(units, return_index=True)[1]
        labels = y[first_rows]
    p_values = []
    for fit in fits.values():
        p = average_groups(fit.mean, units)
        classes = p.shape[1]
        for k in range(classes):
            members = labels == k
            inside = p[members, k]
            outside = p[labels != k, k]
            test = mannwhitneyu(inside, outside, alternative="greater")
            p_values.append(float(test.pvalue))
    return min(1.0, len(p_values) * min(p_values))


def log_likelihoods(fit: CrossFit, y: Classes, groups: Groups | None = None) -> Array:
    """Compute log-probabilities of observed labels by models that did not see them.

    Parameters
    ----------
    fit : noisylabels.auditing.cross_fitting.CrossFit
        The probabilities.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    groups : ndarray of int, shape (n,), optional
        The group of each row, over which log-probabilities are averaged.

    Returns
    -------
    ndarray of shape (n,) or (number of groups,)
        Natural logarithms of the probabilities, probabilities below 0.005 count as 0.005.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import CrossFit
    >>> from noisylabels.auditing.flip_rates import log_likelihoods
    >>> p = np.array([[[0.5, 0.5], [1.0, 0.0]]])
    >>> fit = CrossFit(p, p, np.full((1, 2, 2), np.nan))
    >>> log_likelihoods(fit, np.array([0, 1])).round(3).tolist()
    [-0.693, -5.298]
    """
    probability_of_label = fit.mean[np.arange(len(y)), y]
    rows = np.log(np.maximum(probability_of_label, LEAST))
    return np.asarray(average_groups(rows, groups))


def conflicts(X: Array, text: Any, y: Classes) -> tuple[list[Classes], list[Classes]]:
    """Find groups of equal rows with different labels, and pairs of nearly equal rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    text : sparse matrix of shape (n, D) or None
        Words of texts.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.

    Returns
    -------
    equal : list of ndarray of int
        The rows of each group of equal rows with different labels.
    near_pairs : list of ndarray of int, shape (2,)
        The pairs of nearly equal rows with different labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import conflicts
    >>> equal, near_pairs = conflicts(np.array([[1.0], [2.0], [1.0]]), None, np.array([0, 0, 1]))
    >>> equal[0].tolist(), near_pairs
    ([0, 2], [])

    Notes
    -----
    Rows of a pair are not equal to any other row. Their distance is at most a tenth of the median
    distance of 100 rows to the nearest row, and so small that among n rows without copies at most
    one such pair is expected. Columns are standardised. Of more than 40 columns 40 random
    projections are taken, and of the words of texts 16.
    """
    copies = _groups_of_equal_rows(X, text)
    equal = [rows for rows in copies if np.ptp(y[rows])]
    is_repeated = np.zeros(len(X), dtype=bool)
    copied: set[int] = set()
    for rows in copies:
        is_repeated[rows[1:]] = True
        copied.update(rows.tolist())
    distinct = np.flatnonzero(~is_repeated)
    rng = np.random.default_rng(0)
    if text is not None:
        directions = rng.standard_normal((text.shape[1], TEXT_DIRECTIONS))
        X = np.hstack([X, text @ directions])
    standardised = _standardise(X[distinct], rng)
    if len(distinct) < 3:
        return equal, []
    shuffled = rng.permutation(len(distinct))
    sample = shuffled[:SAMPLED]
    largest = _largest_distance_of_a_pair(standardised, sample)
    near_pairs = []
    y_of_distinct = y[distinct]
    pairs = _near_pairs(standardised, y_of_distinct, largest)
    for pair in distinct[pairs]:
        is_different = y[pair[0]] != y[pair[1]]
        if is_different and copied.isdisjoint(pair):
            near_pairs.append(pair)
    return equal, near_pairs


def _groups_of_equal_rows(X: Array, text: Any) -> list[Classes]:
    """Find groups of at least two rows that have the same values and the same words."""
    table = np.ascontiguousarray(X, dtype=float)
    content = table.tobytes()
    width = table.itemsize * table.shape[1]
    sums = table.view(np.int64).sum(axis=1)
    _, code, count = np.unique(sums, return_inverse=True, return_counts=True)
    members: dict[Any, list[int]] = {}
    is_repeated = count[code] > 1
    for i in np.flatnonzero(is_repeated).tolist():  # equal rows have equal hash sums
        start = i * width
        key: Any = content[start : (i + 1) * width]
        if text is not None:
            indices = text[i].indices.tobytes()
            values = text[i].data.tobytes()
            words = indices + values
            if words:
                key = (key, words)
        members.setdefault(key, []).append(i)
    return [np.array(rows) for rows in members.values() if len(rows) > 1]


def _standardise(X: Array, rng: np.random.Generator) -> Array:
    """Standardise the columns that vary; project them at random if there are many."""
    spread = X.std(axis=0)
    varies = spread > 0
    standardised = np.ascontiguousarray(X[:, varies] / spread[varies])
    d = standardised.shape[1]
    if d > MOST_DIRECTIONS:
        directions = rng.standard_normal((d, MOST_DIRECTIONS))
        standardised = standardised @ directions / MOST_DIRECTIONS**0.5
    return standardised


def _largest_distance_of_a_pair(standardised: Array, sample: Classes) -> float:
    """Estimate the distance at which at most one pair of rows is expected by chance."""
    from scipy.spatial.distance import cdist

    nearest = []
    for i in sample:
        distances = cdist(standardised[[i]], standardised)
        nearest.append(np.delete(distances, i).min())
    usual = float(np.median(nearest))
    rows, d = standardised.shape
    return min(NEAR, rows ** (-1 / d)) * usual


def _near_pairs(standardised: Array, y: Classes, largest: float) -> Classes:
    """Find near pairs of rows (pairs, 2); none if no near rows differ in their labels."""
    from scipy.spatial import KDTree

    n = len(standardised)
    for bit in range(int(y.max()).bit_length()):  # two different labels differ in at least one bit
        has_bit = (y >> bit) % 2 == 1
        search = KDTree(standardised[has_bit])
        distances = search.query(standardised[~has_bit], distance_upper_bound=largest)[0]
        if np.isfinite(distances).any():
            break
    else:
        return np.empty((0, 2), dtype=np.intp)
    # The two nearest rows: itself, and another or none, which has the number n.
    search = KDTree(standardised)
    neighbours = np.asarray(search.query(standardised, k=2, distance_upper_bound=largest)[1])
    has_neighbour = (neighbours < n).all(axis=1)
    return np.unique(np.sort(neighbours[has_neighbour]), axis=0)


def counted(
    observed: Classes, true: Classes, K: int, groups: Groups | None = None
) -> tuple[Array, Array, Array]:
    """Count the flip matrix among rows with a trusted label, with Clopper-Pearson limits.

    Parameters
    ----------
    observed : ndarray of int, shape (m,)
        The observed class of each row with a trusted label, 0 to K - 1.
    true : ndarray of int, shape (m,)
        The trusted class.
    K : int
        Number of classes.
    groups : ndarray of int, shape (m,), optional
        The group of each row. Rows of one group count as one.

    Returns
    -------
    omega : ndarray of shape (K, K)
        The flip matrix; rows are true classes. A row of a class without trusted labels is NaN.
    low : ndarray of shape (K, K)
        Lower 95 % limits; 0 for a class without trusted labels.
    high : ndarray of shape (K, K)
        Upper 95 % limits; 1 for a class without trusted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import counted
    >>> omega, low, high = counted(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 0, 0, 1]), 2)
    >>> omega.tolist()
    [[0.75, 0.25], [0.0, 1.0]]

    References
    ----------
    Clopper and Pearson, Biometrika 1934.
    """
    omega = np.full((K, K), np.nan)
    low = np.zeros((K, K))
    high = np.ones((K, K))
    one_hot = np.eye(K)
    for j in range(K):
        of_class = true == j
        groups_of_class = None if groups is None else groups[of_class]
        labels = one_hot[observed[of_class]]
        members = average_groups(labels, groups_of_class)
        if not len(members):
            continue
        for k in range(K):
            hits = float(members[:, k].sum())
            omega[j, k] = hits / len(members)
            low[j, k], high[j, k] = share_interval(hits, len(members))
    return omega, low, high


# The error on true labels of predictions that are judged by noisy ones. With predictions that do
# not depend on the observed label given the true one (made by a model trained on other rows),
# P(predicted, observed) = P(predicted, true) Omega. Hence P(predicted, true) = P(predicted,
# observed) Omega^-1, and the error is 1 - its trace; with two classes and symmetric flips e = (e~ -
# rho) / (1 - 2 rho).


class Corrected(NamedTuple):
    """An error on true labels and its 95 % interval under a flip matrix.

    Attributes
    ----------
    error : float
        The error, from 0 to 1.
    low : float
        Lower limit.
    high : float
        Upper limit.
    clipped : bool
        Whether the error was outside of 0 to 1 and was clipped.
    """

    error: float
    low: float
    high: float
    clipped: bool


def corrected_error(
    predicted: Classes,
    y: Classes,
    omega: Array,
    groups: Groups | None = None,
) -> Corrected:
    r"""Estimate the error on true labels by inverting the flip matrix.

    Parameters
    ----------
    predicted : ndarray of int, shape (n,)
        The class that a model predicts for each row, without training on it.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    omega : ndarray of shape (K, K)
        The flip matrix; rows are true classes. It is taken as known: its own uncertainty is not in
        the interval.
    groups : ndarray of int, shape (n,), optional
        The group of each row. Rows of one group count as one.

    Returns
    -------
    Corrected
        The error with its interval.

    Raises
    ------
    ValueError
        If the condition number of the flip matrix is above 20: its inverse blows up every chance
        deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import corrected_error
    >>> predicted = np.repeat([0, 1], 50)
    >>> y = np.where(np.arange(100) % 5 == 0, 1 - predicted, predicted)
    >>> round(corrected_error(predicted, y, np.array([[0.9, 0.1], [0.1, 0.9]])).error, 3)
    0.125

    Notes
    -----
    The error is :math:`e = 1 - \tfrac1n \sum_n (\Omega^{-1})_{y_n \hat{y}_n}` with the prediction
    :math:`\hat{y}_n`. The interval is normal, with the standard error of the mean.

    References
    ----------
    Natarajan et al., NIPS 2013.
    """
    condition = float(np.linalg.cond(omega))
    if not condition <= LARGEST_CONDITION:
        number = f"condition number {condition:.3g}, above {LARGEST_CONDITION:g}"
        reason = "the observed labels say too little about the true ones to correct an error"
        raise ValueError(f"the flip matrix has the {number}: with flips this frequent {reason}")
    inverse: Array = np.linalg.inv(omega).astype(np.float64, copy=False)
    terms_by_row = inverse[y, predicted]
    terms = average_groups(terms_by_row, groups)
    error = float(1.0 - terms.mean())
    deviation = float(terms.std(ddof=1))
    half = Z * deviation / len(terms) ** 0.5
    limits = np.clip([error, error - half, error + half], 0.0, 1.0)
    in_range, low, high = limits.tolist()
    was_clipped = not 0.0 <= error <= 1.0
    return Corrected(in_range, low, high, was_clipped)


def balanced_error(predicted: Classes, y: Classes, a: Array | None = None) -> float:
    r"""Average the error on observed labels over the observed classes.

    Parameters
    ----------
    predicted : ndarray of int, shape (n,)
        The class that a model predicts for each row.
    y : ndarray of int, shape (n,)
        The observed class of each row.
    a : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        The balanced error.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.flip_rates import balanced_error
    >>> balanced_error(np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1]))
    0.5

    Notes
    -----
    With two classes the order of two classifiers by it is that of their balanced errors on true
    labels, whatever the flip rates with :math:`\omega_{01} + \omega_{10} < 1`.

    References
    ----------
    Menon et al., ICML 2015.
    """
    wrong = predicted != y
    errors = []
    for k in np.unique(y):
        of_class = y == k
        errors.append(np.average(wrong[of_class], weights=_weights_at(a, of_class)))
    return float(np.mean(errors))


def compared(
    fits: Mapping[str, CrossFit], y: Classes, omega: Array, groups: Groups | None = None
) -> pd.DataFrame:
    """Compare classifiers by their accuracies: observed, balanced and corrected, best first.

    Parameters
    ----------
    fits : mapping of str to noisylabels.auditing.cross_fitting.CrossFit
        The cross-fits by the names of the methods. The first repetition of each is judged.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.
    omega : ndarray of shape (K, K)
        The flip matrix; rows are true classes.
    groups : ndarray of int, shape (n,), optional
        The group of each row, numbers from 0. Rows of one group count as one.

    Returns
    -------
    pandas.DataFrame
        A row for each ``method`` with its ``kind`` (robust or plain), ``accuracy`` from ``low`` to
        ``high``, ``balanced`` accuracy, and accuracy ``corrected`` to true labels, from
        ``corrected_low`` to ``corrected_high``, ``clipped`` or not. ``behind`` is how far behind
        the best method the accuracy is, from ``behind_low`` to ``behind_high``. All intervals are
        95 % confidence intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import CrossFit
    >>> from noisylabels.auditing.flip_rates import compared
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)[np.newaxis]
    >>> q = p[:, ::-1]
    >>> unknown = np.full((1, 2, 2), np.nan)
    >>> fits = {"theirs": CrossFit(q, q, unknown), "ours": CrossFit(p, p, unknown)}
    >>> frame = compared(fits, np.repeat([0, 1], [45, 55]), np.eye(2))
    >>> frame[["method", "accuracy"]].to_numpy().tolist()
    [['ours', 0.95], ['theirs', 0.05]]

    Notes
    -----
    The interval of ``behind`` is that of the paired difference. The corrected columns are NaN if
    the flip matrix cannot be inverted safely, see `corrected_error`.
    """
    import pandas as pd

    right = {}
    for name, fit in fits.items():
        correct = fit.predicted[0]
        is_right = correct == y
        right[name] = average_groups(is_right.astype(float), groups)
    best = max(right, key=lambda name: right[name].mean())
    weights = weights_of(groups)
    rows: list[dict[str, object]] = []
    for name, fit in fits.items():
        predicted = fit.predicted[0]
        try:
            corrected = corrected_error(predicted, y, omega, groups)
        except ValueError:
            corrected = Corrected(np.nan, np.nan, np.nan, False)
        row: dict[str, object] = {"method": name}
        if np.array_equal(fit.p, fit.g):
            row["kind"] = "plain"
        else:
            row["kind"] = "robust"
        row |= _mean_and_interval(right[name], 0.0, "accuracy", "low", "high")
        row["balanced"] = 1.0 - balanced_error(predicted, y, weights)
        row["corrected"] = 1.0 - corrected.error
        row["corrected_low"] = 1.0 - corrected.high
        row["corrected_high"] = 1.0 - corrected.low
        row["clipped"] = corrected.clipped
        difference = right[best] - right[name]
        row |= _mean_and_interval(difference, -1.0, "behind", "behind_low", "behind_high")
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def _mean_and_interval(values: Array, lowest: float, *names: str) -> dict[str, float]:
    """Name the mean and its 95 % interval, clipped to ``lowest`` and 1."""
    mean = float(values.mean())
    deviation = float(values.std(ddof=1))
    half = Z * deviation / len(values) ** 0.5
    low = max(mean - half, lowest)
    high = min(mean + half, 1.0)
    interval = [mean, low, high]
    return dict(zip(names, interval, strict=True))
