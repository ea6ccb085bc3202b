"""Flip rates and wrong labels from observed labels alone, what bounds them, and accuracies corrected by them.

p (n, K) are out-of-sample probabilities of the observed label, y (n,) its class 0..K-1, and
Q_kj = P(observed k, true j), omega_jk = P(observed k | true j) = Q_kj / sum_k Q_kj.
Omega is not identifiable from observed labels: overlap of the classes and flips look alike. It becomes so if
every class has *anchors*, points where it is certain; the estimates here rest on that, each in its own way.

Sources: Northcutt, Jiang and Chuang, JAIR 2021, Section 3 (confident joint); Liu and Tao, IEEE TPAMI 2016,
and Patrini et al., CVPR 2017 (anchors and their quantile); Clopper and Pearson, Biometrika 1934 (trusted
labels); Natarajan et al., NIPS 2013 (the inverse flip matrix); Menon et al., ICML 2015 (the balanced error).
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

SLACK = 1e-6  # a probability this far below a threshold meets it
LEAST = 0.005  # no label is less probable: models are surer of themselves than they should be
QUANTILE, TOLERATED, LARGEST_CONDITION = 0.97, 0.02, 20.0
NEAR, MOST_DIRECTIONS, SUREST, FEWEST_SURE = 0.1, 40, 0.2, 30
LEVEL, Z = 0.95, 1.959963984540054


@dataclass(frozen=True)
class Sureness:
    """The labels of the rows whose class the model is most confident of.

    omega (K, K) : the shares of the observed labels among the rows surest of each class. Its 1 - omega_jj
    bounds the flips of class j from above, up to chance: P(observed j | x) <= omega_jj at every x, if
    omega_jj is the largest entry of its column. With anchors it is their rate.
    rows, disagree (K,) : how many rows there are, groups counting as one, and how many labels disagree.
    low, high (K,) : limits of the share that disagrees, each one-sided, at 95 % over all classes together.
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
        """omega with ``high`` for 1 - omega_jj, the other entries of a row in proportion: (K, K)."""
        other = 1 - np.eye(len(self.omega))
        off = self.omega * other + 1e-9 * other
        return np.diag(1 - self.high) + self.high[:, None] * off / off.sum(axis=1, keepdims=True)


def thresholds(p: Array, y: Classes, a: Array | None = None) -> Array:
    """t_j = mean of p_j over the rows with the observed class j: (K,)."""
    rows = [y == j for j in range(p.shape[1])]
    return np.array([np.average(p[at, j], weights=_of(a, at)) for j, at in enumerate(rows)])


def counts(p: Array, y: Classes, a: Array | None = None) -> Array:
    """C_kj = #{n: y_n = k, p_nj >= t_j, j the most probable class whose threshold is met}, C_kk >= 1: (K, K).

    A row that meets no threshold is not counted. Weights a (n,), here and below: a whole one is as many rows.
    """
    K = p.shape[1]
    confident = p >= thresholds(p, y, a) - SLACK
    found, sure = np.where(confident, p, -1.0).argmax(axis=1), confident.any(axis=1)
    C = np.bincount((y * K + found)[sure], _of(a, sure), K * K).reshape(K, K).astype(float)
    np.fill_diagonal(C, np.maximum(C.diagonal(), 1.0))
    return C


def joint(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Q (K, K): the rows of `counts` rescaled to the numbers of the observed labels, then the sum to 1."""
    C, observed = counts(p, y, a), shares(y, p.shape[1], a)
    return np.asarray(C / C.sum(axis=1, keepdims=True) * observed[:, np.newaxis])


def shares(y: Classes, K: int, a: Array | None = None) -> Array:
    """The share of each observed class, (K,)."""
    counts = np.bincount(y, a, K)
    return np.asarray(counts / counts.sum())


def weights_of(groups: Groups | None) -> Array | None:
    """Weights a (n,) with which each group counts once, None if each row does."""
    return None if groups is None else 1.0 / np.bincount(groups)[groups]


def average_groups(values: Array, groups: Groups | None) -> Array:
    """The mean of the values (n, ...) over each group, in the order of their numbers."""
    if groups is None:
        return values
    names, group = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), *values.shape[1:]))
    np.add.at(sums, group, values)
    return np.asarray((sums.T / np.bincount(group)).T)


def _of(a: Array | None, at: Any) -> Array | None:
    return None if a is None else a[at]


def flip_matrix(Q: Array) -> Array:
    """Omega (K, K), rows = true classes: omega_jk = Q_kj / sum_k Q_kj."""
    return np.asarray((Q / Q.sum(axis=0)).T)


def margins(p: Array, y: Classes) -> Array:
    """p_y - max_{j != y} p_j per row, in [-1, 1]; the lower, the more doubtful the label: (n,)."""
    return np.asarray(p[np.arange(len(y)), y] - _others(p, y).max(axis=1))


def likely_wrong(p: Array, y: Classes, Q: Array, a: Array | None = None) -> NDArray[np.bool_]:
    """In every cell k != j of Q, the round(n Q_kj) rows of class k with the largest p_j - p_k: (n,).

    Of these only rows in which another class than the observed one is the most probable.
    """
    return wrong_parts(p, y, Q, np.ones(len(y)) if a is None else a) > 0


def wrong_parts(p: Array, y: Classes, Q: Array, a: Array) -> Array:
    """The part of each row with the weight a_n > 0 that `likely_wrong` finds wrong, n = sum_n a_n: (n,)."""
    K, wrong = p.shape[1], np.zeros(len(y))
    for k in range(K):
        members = np.flatnonzero(y == k)
        for j in range(K):
            wanted = round(a.sum() * Q[k, j]) if j != k else 0
            if wanted:
                ranked = members[np.argsort(p[members, k] - p[members, j], kind="stable")]
                before = np.cumsum(a[ranked]) - a[ranked]
                wrong[ranked] = np.maximum(wrong[ranked], np.clip((wanted - before) / a[ranked], 0.0, 1.0))
    return wrong * (margins(p, y) < 0)


def suggested(p: Array, y: Classes) -> Classes:
    """The most probable class other than the observed one: (n,)."""
    return np.asarray(_others(p, y).argmax(axis=1))


def _others(p: Array, y: Classes) -> Array:
    others = p.copy()
    others[np.arange(len(y)), y] = -np.inf
    return others


def anchor(p: Array, y: Classes, quantile: float = QUANTILE, a: Array | None = None) -> Array:
    """omega_jj = the 97 % quantile of p_j; the rest of the row in proportion to the other p there: (K, K).

    Of a class with fewer than 6 % of the labels the quantile leaves half of its share above it.
    """
    K = p.shape[1]
    omega = np.empty((K, K))
    for j, share in enumerate(shares(y, K, a)):
        level = max(quantile, 1.0 - share / 2.0) if share > 0 else quantile
        at = np.quantile(p[:, j], level) if a is None else _quantile(p[:, j], level, a)
        top = p[:, j] >= at
        others = np.delete(np.average(p[top], axis=0, weights=_of(a, top)), j)
        rest = others / others.sum() if others.sum() > 0 else np.full(K - 1, 1.0 / (K - 1))
        omega[j] = np.insert((1.0 - at) * rest, j, at)
    return omega


def _quantile(values: Array, level: float, a: Array) -> float:
    order = np.argsort(values, kind="stable")
    last = np.cumsum(a[order])
    first = last - a[order]  # numbers, from 0, of the equal rows that a weight stands for
    places = np.column_stack([first, np.maximum(last - 1.0, first)]).ravel()
    return float(np.interp(level * (last[-1] - 1.0), places, np.repeat(values[order], 2)))


def from_joint(p: Array, y: Classes, a: Array | None = None) -> Array:
    """Omega (K, K) of the confident joint."""
    return flip_matrix(joint(p, y, a))


def wrong_share_of(omega: Array, y: Classes, a: Array | None = None) -> float:
    """1 - sum_j pi_j omega_jj with pi = (shares of the observed labels) Omega^-1, clipped to [0, 1]."""
    observed = shares(y, len(omega), a)
    pi = np.clip(np.linalg.lstsq(omega.T, observed, rcond=None)[0], 0.0, None)
    return float(1.0 - (pi / pi.sum()) @ omega.diagonal()) if pi.sum() > 0 else float("nan")


def surest(p: Array, y: Classes, groups: Groups | None = None) -> Sureness:
    """Labels of the fifth of each class's rows (at least 30) with the largest p_j.

    p_n does not know y_n, so that the number that disagrees is nearly binomial. Where classes do not overlap
    for the model, it is the flip rate; where they do, it is overlap as well. Rows of one group count as one,
    with the mean of their labels.
    """
    K = p.shape[1]
    alone = np.arange(len(y)) if groups is None else groups
    members = shares(y, K, weights_of(groups)) * (int(alone.max()) + 1)
    omega = np.empty((K, K))
    rows = np.empty(K, dtype=np.intp)
    disagree = np.empty(K)
    limits = []
    level = 1.0 - 2.0 * (1.0 - LEVEL) / K
    for j in range(K):
        order = np.argsort(-p[:, j], kind="stable")
        top = first_groups(alone[order], max(FEWEST_SURE, round(SUREST * members[j])))
        labels = average_groups(np.eye(K)[y[order[:top]]], alone[order[:top]])
        omega[j], rows[j] = labels.mean(axis=0), len(labels)
        disagree[j] = round(len(labels) - labels[:, j].sum(), 9)
        limits.append(share_interval(float(disagree[j]), len(labels), level))
    return Sureness(omega, rows, disagree, *np.array(limits).T)


def first_groups(groups: Groups, wanted: int) -> int:
    """How many of the first rows belong to ``wanted`` groups; all if there are fewer groups."""
    first = np.sort(np.unique(groups, return_index=True)[1])
    return int(first[wanted - 1]) + 1 if len(first) >= wanted else len(groups)


def chance(fits: Mapping[str, CrossFit], y: Classes, groups: Groups | None = None) -> float:
    """p-value of H0: no p_k of any model is larger in class k than elsewhere (Mann-Whitney, Bonferroni).

    One-sided. Cross-fitted probabilities of a model without any knowledge lean to the other side: it saw more
    of the classes that are rarer among the rows held out. Rows of one group and class count as one.
    """
    from scipy.stats import mannwhitneyu

    units = (
        None if groups is None else np.unique(np.column_stack([groups, y]), axis=0, return_inverse=True)[1]
    )
    labels = y if units is None else y[np.unique(units, return_index=True)[1]]
    tests = []
    for fit in fits.values():
        p = average_groups(fit.mean, units)
        tests += [(p[labels == k, k], p[labels != k, k]) for k in range(p.shape[1])]
    least = min(float(mannwhitneyu(*pair, alternative="greater").pvalue) for pair in tests)
    return min(1.0, len(tests) * least)


def log_likelihoods(fit: CrossFit, y: Classes, groups: Groups | None = None) -> Array:
    """log max(p_y, 0.005) of the observed labels, by models that did not see them, means of groups: (n,)."""
    rows = np.log(np.maximum(fit.mean[np.arange(len(y)), y], LEAST))
    return np.asarray(average_groups(rows, groups))


def conflicts(X: Array, text: Any, y: Classes) -> tuple[list[Classes], list[Classes]]:
    """Groups of rows with at least two different labels that are equal otherwise, and pairs nearly equal.

    Pairs are rows no other of which are equal to them, at a tenth of the median distance to the nearest row
    (of 100) or less: so near that among n rows without copies one such pair is expected at most. Columns are
    standardised, of more than 40 random projections are taken, and of texts 16.
    """
    from scipy.spatial import KDTree
    from scipy.spatial.distance import cdist

    groups: dict[Any, list[int]] = {}
    rows = np.ascontiguousarray(X, dtype=float)
    said, wide = rows.tobytes(), rows.itemsize * rows.shape[1]
    _, place, count = np.unique(rows.view(np.int64).sum(axis=1), return_inverse=True, return_counts=True)
    for i in np.flatnonzero(count[place] > 1).tolist():  # equal rows have equal sums
        row = said[i * wide : (i + 1) * wide]
        words = b"" if text is None else text[i].indices.tobytes() + text[i].data.tobytes()
        groups.setdefault((row, words) if words else row, []).append(i)
    copies = [np.array(rows) for rows in groups.values() if len(rows) > 1]
    equal = [rows for rows in copies if np.ptp(y[rows])]
    rng = np.random.default_rng(0)
    if text is not None:
        X = np.hstack([X, text @ rng.standard_normal((text.shape[1], 16))])
    one = np.delete(np.arange(len(X)), [i for rows in copies for i in rows[1:]])
    spread = X[one].std(axis=0)
    Z = np.ascontiguousarray(X[one][:, spread > 0] / spread[spread > 0])
    if Z.shape[1] > MOST_DIRECTIONS:
        Z = Z @ rng.standard_normal((Z.shape[1], MOST_DIRECTIONS)) / MOST_DIRECTIONS**0.5
    if len(one) < 3:
        return equal, []
    some = rng.permutation(len(one))[:100]
    usual = float(np.median([np.delete(cdist(Z[[i]], Z), i).min() for i in some]))
    near = min(NEAR, len(one) ** (-1 / Z.shape[1])) * usual
    bits = [(y[one] >> bit) % 2 == 1 for bit in range(int(y.max()).bit_length())]
    apart = [KDTree(Z[each]).query(Z[~each], distance_upper_bound=near)[0] for each in bits]
    if not any(np.isfinite(distances).any() for distances in apart):  # labels that differ do so in a bit
        return equal, []
    beside = np.asarray(KDTree(Z).query(Z, k=2, distance_upper_bound=near)[1])  # itself, nearest or none
    beside = np.unique(np.sort(beside[(beside < len(one)).all(axis=1)]), axis=0)
    copied = {int(i) for rows in copies for i in rows}
    return equal, [pair for pair in one[beside] if y[pair[0]] != y[pair[1]] and copied.isdisjoint(pair)]


def counted(
    observed: Classes, true: Classes, K: int, groups: Groups | None = None
) -> tuple[Array, Array, Array]:
    """Omega by counting among rows with a trusted label, and its Clopper-Pearson limits: (K, K) each.

    A row of a class without any is NaN, between 0 and 1. Rows of one group count as one.
    """
    omega, low, high = np.full((K, K), np.nan), np.zeros((K, K)), np.ones((K, K))
    for j in range(K):
        of_class = true == j
        labels = np.eye(K)[observed[of_class]]
        members = average_groups(labels, None if groups is None else groups[of_class])
        for k in range(K if len(members) else 0):
            hits = float(members[:, k].sum())
            omega[j, k] = hits / len(members)
            low[j, k], high[j, k] = share_interval(hits, len(members))
    return omega, low, high


# The error on true labels of predictions that are judged by noisy ones. With predictions that do not depend
# on the observed label given the true one (made by a model trained on other rows), P(predicted, observed) =
# P(predicted, true) Omega. Hence P(predicted, true) = P(predicted, observed) Omega^-1, and the error is 1 -
# its trace; with two classes and symmetric flips e = (e~ - rho) / (1 - 2 rho).


class Corrected(NamedTuple):
    """Error and its 95 % interval for this Omega, in [0, 1]; clipped: whether the error had to be."""

    error: float
    low: float
    high: float
    clipped: bool


def corrected_error(predicted: Classes, y: Classes, omega: Array, groups: Groups | None = None) -> Corrected:
    """e = 1 - mean of (Omega^-1)_{y_n predicted_n}, with the standard error of that mean.

    Omega is taken as known: what is not known of it is not in the interval.

    Raises ValueError : Omega with a condition number above 20, whose inverse blows up every chance deviation.
    """
    condition = float(np.linalg.cond(omega))
    if not condition <= LARGEST_CONDITION:
        number = f"condition number {condition:.3g}, above {LARGEST_CONDITION:g}: with flips this frequent"
        why = "the observed labels say too little about the true ones to correct an error"
        raise ValueError(f"the flip matrix has the {number} {why}")
    inverse: Array = np.linalg.inv(omega).astype(np.float64, copy=False)
    terms = average_groups(inverse[y, predicted], groups)
    error = float(1.0 - terms.mean())
    half = Z * float(terms.std(ddof=1)) / len(terms) ** 0.5
    at, low, high = np.clip([error, error - half, error + half], 0.0, 1.0).tolist()
    return Corrected(at, low, high, not 0.0 <= error <= 1.0)


def balanced_error(predicted: Classes, y: Classes, a: Array | None = None) -> float:
    """Mean over the observed classes k of P(predicted != k | observed k).

    With two classes the order of two classifiers by it is that of their balanced errors on true labels,
    whatever the flip rates with omega_01 + omega_10 < 1.
    """
    wrong = predicted != y
    return float(np.mean([np.average(wrong[y == k], weights=_of(a, y == k)) for k in np.unique(y)]))


def compared(
    fits: Mapping[str, CrossFit], y: Classes, omega: Array, groups: Groups | None = None
) -> pd.DataFrame:
    """Data frame, best first: accuracy on the observed labels, balanced accuracy, accuracy after correction.

    Rows of one group count as one.

    behind : how far behind the best method the accuracy is, with the interval of the paired difference.
    Corrected columns are NaN if Omega cannot be inverted safely, see `corrected_error`.
    """
    import pandas as pd

    right = {}
    for name, fit in fits.items():
        right[name] = average_groups((fit.predicted[0] == y).astype(float), groups)
    best = max(right, key=lambda name: right[name].mean())
    rows: list[dict[str, object]] = []
    for name, fit in fits.items():
        found = fit.predicted[0]
        row: dict[str, object]
        try:
            error, low, high, clipped = corrected_error(found, y, omega, groups)
        except ValueError:
            error, low, high, clipped = np.nan, np.nan, np.nan, False
        row = {"method": name, "kind": "plain" if np.array_equal(fit.p, fit.g) else "robust"}
        row |= _mean(right[name], "accuracy", "low", "high") | {
            "balanced": 1.0 - balanced_error(found, y, weights_of(groups))
        }
        row |= {"corrected": 1.0 - error, "corrected_low": 1.0 - high, "corrected_high": 1.0 - low}
        row |= {"clipped": clipped}
        rows.append(row | _mean(right[best] - right[name], "behind", "behind_low", "behind_high"))
    frame = pd.DataFrame(rows)
    return frame.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def _mean(values: Array, *names: str) -> dict[str, float]:
    """The mean of shares or of differences of shares, and its 95 % interval, clipped to what it can be."""
    mean, half = float(values.mean()), Z * float(values.std(ddof=1)) / len(values) ** 0.5
    lowest = 0.0 if names[0] == "accuracy" else -1.0
    return dict(zip(names, [mean, max(mean - half, lowest), min(mean + half, 1.0)], strict=True))
