"""Finders of wrong labels, to be compared with each other: a class with ``find(X, y, seed)`` each.

X (n, d), y (n,) classes 0..K-1 -> `Found`. Whatever is trained is judged on rows that it was not trained on.

Sources: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); Brodley and Friedl, JAIR 11, 1999
(ensemble filter); Khoshgoftaar and Rebours, JCST 22, 2007 (iterative partitioning). C4.5 is replaced by
scikit-learn's trees by entropy, with at least two rows in a leaf and without pruning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import flip_rates
from noisylabels.auditing.cross_fitting import Array, Classes, chosen, cross_fitted


class Found(NamedTuple):
    """doubt (n,) : the larger, the more doubtful the label.   wrong (n,) : the labels called wrong."""

    doubt: Array
    wrong: NDArray[np.bool_]


@dataclass(frozen=True)
class ConfidentLearning:
    """Rows off the diagonal of the confident joint; doubt is minus the margin, or as ``ranking`` says.

    model : a name such as "forest" or "package:Class", see `noisylabels.audit`; "given": X (n, K) are the
    probabilities of the classes.   ranking : "self_confidence", 1 - p_y; "listed_first", minus the margin
    after those not listed; "posterior", `wrong_given`.
    """

    model: str = "rmklr"
    ranking: Literal["margin", "self_confidence", "listed_first", "posterior"] = "margin"
    folds: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """See the module."""
        if self.model == "given":
            p = X
        else:
            model = chosen(self.model, seed)[1]
            p = cross_fitted(X, y, model, random_state=seed, repetitions=1, folds=self.folds).mean
        own, margins = p[np.arange(len(y)), y], flip_rates.margins(p, y)
        wrong = flip_rates.likely_wrong(p, y, flip_rates.joint(p, y))
        if self.ranking == "posterior":
            return Found(wrong_given(p, y), wrong)
        doubt = 1.0 - own if self.ranking == "self_confidence" else -margins
        return Found(doubt + 2.0 * wrong if self.ranking == "listed_first" else doubt, wrong)


def wrong_given(p: Array, y: Classes) -> Array:
    """1 - P(true = y | p, y), (n,), by a robust logistic regression on log p.

    It corrects overconfident models.
    """
    from noisylabels.classifiers.logistic import RobustLogisticRegression

    log = np.log(np.maximum(p, flip_rates.LEAST))
    features = log[:, :-1] - log[:, -1:]
    model = RobustLogisticRegression(lam=0.5).fit(features, y)
    joint = model.predict_proba(features) * model.flip_matrix_[:, y].T
    return np.asarray(1.0 - joint[np.arange(len(y)), y] / joint.sum(axis=1))


@dataclass(frozen=True)
class EnsembleFilter:
    """Labels against which most of a tree, three neighbours and logistic regression vote.

    Doubt is the votes and, among as many, the mean of 1 - p_y.
    """

    folds: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """See the module."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier

        models: list[Any] = [_tree(seed), KNeighborsClassifier(3), LogisticRegression(max_iter=1000)]
        fits = [cross_fitted(X, y, m, random_state=seed, repetitions=1, folds=self.folds) for m in models]
        votes = np.sum([fit.predicted[0] != y for fit in fits], axis=0)
        unsure = np.mean([1.0 - fit.mean[np.arange(len(y)), y] for fit in fits], axis=0)
        return Found(votes + 0.999 * unsure, votes >= 2)


@dataclass(frozen=True)
class IterativePartitioning:
    """Labels are removed, and the search starts again, where most trees of disjoint parts vote against them.

    It ends after three rounds that each removed less than 1 % of all rows. Doubt: removed early, then votes.
    """

    parts: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """See the module."""
        rng, n = np.random.default_rng(seed), len(y)
        left, doubt, wrong = np.arange(n), np.zeros(n), np.zeros(n, dtype=bool)
        quiet, turn = 0, 0
        while quiet < 3 and len(left) > 2 * self.parts:
            parts = np.array_split(rng.permutation(left), self.parts)
            trees = [_tree(seed).fit(X[part], y[part]) for part in parts]
            votes = np.mean([tree.predict(X[left]) != y[left] for tree in trees], axis=0)
            removed = votes > 0.5
            doubt[left] = votes + np.where(removed, n - turn, 0)
            wrong[left] = removed
            quiet, turn = (quiet + 1 if removed.sum() < 0.01 * n else 0), turn + 1
            left = left[~removed]
        return Found(doubt, wrong)


def _tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)
