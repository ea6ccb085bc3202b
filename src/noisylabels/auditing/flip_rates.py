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
    """The labels of the rows of whose class the model is surest.

    omega (K, K) : the shares of the observed labels among the rows surest of each class. Its
    1 - omega_jj bounds the flips of class j from above, up to chance: P(observed j | x) <= omega_jj
    at every x, if omega_jj is the largest entry of its column. With anchors it is their rate.
    rows, disagree (K,) : how many rows there are, groups counting as one, and how many labels
    disagree.
    low, high (K,) : limits of the share that disagrees, each one-sided, at 95 % over all classes
    together.
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

        It is omega with ``high`` for 1 - omega_jj, the other entries of a row in proportion.
        """
        off_diagonal = 1 - np.eye(len(self.omega))
        smallest = 1e-9 * off_diagonal
        rates = self.omega * off_diagonal + smallest
        row_sums = rates.sum(axis=1, keepdims=True)
        flip_shares = self.high[:, None] * rates
        return np.diag(1 - self.high) + flip_shares / row_sums


def thresholds(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Average the probability of each class over the rows that carry its label, (K,).

    t_j = mean of p_j over the rows with the observed class j.
    """
    averages = []
    for j in range(p.shape[1]):
        members = y == j
        averages.append(np.average(p[members, j], weights=_weights_at(a, members)))
    return np.array(averages)


def counts(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Count the rows of each observed class that confidently belong to each class, (K, K).

    C_kj = #{n: y_n = k, p_nj >= t_j, j the most probable class whose threshold is met}, C_kk >= 1.
    A row that meets no threshold is not counted. Weights a (n,), here and below: a whole one is as
    many rows.
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
    """Estimate the joint distribution Q of observed and true labels, (K, K).

    The rows of `counts` are rescaled to the numbers of the observed labels, then the sum to 1.
    """
    C = counts(p, y, a)
    observed = shares(y, p.shape[1], a)
    row_sums = C.sum(axis=1, keepdims=True)
    return np.asarray(C / row_sums * observed[:, np.newaxis])


def shares(y: Classes, K: int, a: Array | None = None) -> Array:
    """Compute the share of each observed class, (K,)."""
    counts = np.bincount(y, a, K)
    return np.asarray(counts / counts.sum())


def weights_of(groups: Groups | None) -> Array | None:
    """Compute weights (n,) with which each group counts once, None if each row does."""
    if groups is None:
        return None
    return 1.0 / np.bincount(groups)[groups]


def average_groups(values: Array, groups: Groups | None) -> Array:
    """Average values (n, ...) over each group, in the order of the groups' numbers."""
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
    """Compute the flip matrix from the joint distribution.

    Omega (K, K), rows = true classes: omega_jk = Q_kj / sum_k Q_kj.
    """
    return np.asarray((Q / Q.sum(axis=0)).T)


def margins(p: Array, y: Classes) -> Array:
    """Compute by how much each label is more probable than all other classes, in [-1, 1], (n,).

    p_y - max_{j != y} p_j per row; the lower, the more doubtful the label.
    """
    probability_of_label = p[np.arange(len(y)), y]
    probability_of_others = _without_observed(p, y)
    return np.asarray(probability_of_label - probability_of_others.max(axis=1))


def likely_wrong(p: Array, y: Classes, Q: Array, a: Array | None = None) -> NDArray[np.bool_]:
    """Find the labels that are likely wrong, (n,).

    In every cell k != j of Q these are the round(n Q_kj) rows of class k with the largest p_j -
    p_k, and of them only rows in which another class than the observed one is the most probable.
    """
    if a is None:
        a = np.ones(len(y))
    return wrong_parts(p, y, Q, a) > 0


def wrong_parts(p: Array, y: Classes, Q: Array, a: Array) -> Array:
    """Compute the part of each row with weight a_n > 0 that `likely_wrong` finds wrong, (n,).

    The n of the rule is sum_n a_n.
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
    """Find the most probable class other than the observed one, (n,)."""
    return np.asarray(_without_observed(p, y).argmax(axis=1))


def _without_observed(p: Array, y: Classes) -> Array:
    """Replace the probabilities of observed classes by minus infinity."""
    remaining = p.copy()
    remaining[np.arange(len(y)), y] = -np.inf
    return remaining


def anchor(p: Array, y: Classes, quantile: float = QUANTILE, a: Array | None = None) -> Array:
    """Estimate the flip matrix from the anchors of each class, (K, K).

    omega_jj is the 97 % quantile of p_j; the rest of the row is in proportion to the other p there.
    Of a class with fewer than 6 % of the labels the quantile leaves half of its share above it.
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
    """Compute the flip matrix of the confident joint, (K, K)."""
    return flip_matrix(joint(p, y, a))


def wrong_share_of(omega: Array, y: Classes, a: Array | None = None) -> float:
    """Compute the share of wrong labels that a flip matrix implies.

    1 - sum_j pi_j omega_jj with pi = (shares of the observed labels) Omega^-1, clipped to [0, 1].
    """
    observed = shares(y, len(omega), a)
    solution = np.linalg.lstsq(omega.T, observed, rcond=None)[0]
    pi = np.clip(solution, 0.0, None)
    if not pi.sum() > 0:
        return float("nan")
    normalised = pi / pi.sum()
    return float(1.0 - normalised @ omega.diagonal())


def surest(p: Array, y: Classes, groups: Groups | None = None) -> Sureness:
    """Collect the labels of the fifth of each class's rows, at least 30, with the largest p_j.

    p_n does not know y_n, so that the number that disagrees is nearly binomial. Where classes do
    not overlap for the model, it is the flip rate; where they do, it is overlap as well. Rows of
    one group count as one, with the mean of their labels.
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
    """Count the first rows that belong to ``wanted`` groups; all rows if there are fewer groups."""
    first_rows = np.sort(np.unique(groups, return_index=True)[1])
    if len(first_rows) < wanted:
        return len(groups)
    return int(first_rows[wanted - 1]) + 1


def chance(fits: Mapping[str, CrossFit], y: Classes, groups: Groups | None = None) -> float:
    """Test whether any model knows more about the labels than chance, and return the p-value.

    H0: no p_k of any model is larger in class k than elsewhere (Mann-Whitney, Bonferroni),
    one-sided. Cross-fitted probabilities of a model without any knowledge lean to the other side:
    it saw more of the classes that are rarer among the rows held out. Rows of one group and class
    count as one.
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
    """Compute log-probabilities of observed labels by models that did not see them, (n,).

    log max(p_y, 0.005), means of groups.
    """
    probability_of_label = fit.mean[np.arange(len(y)), y]
    rows = np.log(np.maximum(probability_of_label, LEAST))
    return np.asarray(average_groups(rows, groups))


def conflicts(X: Array, text: Any, y: Classes) -> tuple[list[Classes], list[Classes]]:
    """Find groups of equal rows with different labels, and pairs of nearly equal rows.

    Pairs are rows no other of which are equal to them, at a tenth of the median distance to the
    nearest row (of 100) or less: so near that among n rows without copies one such pair is expected
    at most. Columns are standardised, of more than 40 random projections are taken, and of texts
    16.
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

    A row of a class without any is NaN, between 0 and 1. Rows of one group count as one.
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
    """Compute an error and its 95 % interval under a flip matrix, and whether it was clipped."""

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
    """Estimate the error on true labels by inverting the flip matrix.

    e = 1 - mean of (Omega^-1)_{y_n predicted_n}, with the standard error of that mean. Omega is
    taken as known: what is not known of it is not in the interval.

    Raises ValueError : Omega with a condition number above 20, whose inverse blows up every chance
    deviation.
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
    """Average P(predicted != k | observed k) over the observed classes k.

    With two classes the order of two classifiers by it is that of their balanced errors on true
    labels, whatever the flip rates with omega_01 + omega_10 < 1.
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

    Rows of one group count as one.

    behind : how far behind the best method the accuracy is, with the interval of the paired
    difference. Corrected columns are NaN if Omega cannot be inverted safely, see `corrected_error`.
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
