"""Finders of wrong labels, to be compared: each is a class with ``find(X, y, seed)``.

X (n, d), y (n,) classes 0..K-1 -> `Found`. Whatever is trained is judged on rows that it was not
trained on.

Sources: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); Brodley and Friedl, JAIR 11,
1999 (ensemble filter); Khoshgoftaar and Rebours, JCST 22, 2007 (iterative partitioning). C4.5 is
replaced by scikit-learn's trees by entropy, with at least two rows in a leaf and without pruning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import flip_rates
from noisylabels.auditing.cross_fitting import Array, Classes, chosen, cross_fitted


class Found(NamedTuple):
    """The findings about the labels: which are wrong, and how doubtful each is.

    doubt (n,) : the larger, the more doubtful the label.   wrong (n,) : the labels called wrong.
    """

    doubt: Array
    wrong: NDArray[np.bool_]


@dataclass(frozen=True)
class ConfidentLearning:
    """Confident learning: labels off the diagonal of the confident joint are wrong.

    Doubt is minus the margin, or as ``ranking`` says.

    model : a name such as "forest" or "package:Class", see `noisylabels.audit`; "given": X (n, K)
    are the probabilities of the classes.   ranking : "self_confidence", 1 - p_y; "listed_first",
    minus the margin after those not listed; "posterior", `wrong_given`.
    """

    model: str = "rmklr"
    ranking: Literal["margin", "self_confidence", "listed_first", "posterior"] = "margin"
    folds: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """Find the labels off the diagonal of the confident joint."""
        if self.model == "given":
            p = X
        else:
            model = chosen(self.model, seed)[1]
            p = cross_fitted(X, y, model, random_state=seed, repetitions=1, folds=self.folds).mean
        wrong = flip_rates.likely_wrong(p, y, flip_rates.joint(p, y))
        if self.ranking == "posterior":
            doubt = wrong_given(p, y)
        elif self.ranking == "self_confidence":
            doubt = 1.0 - p[np.arange(len(y)), y]
        else:
            doubt = -flip_rates.margins(p, y)
        if self.ranking == "listed_first":
            doubt = doubt + 2.0 * wrong
        return Found(doubt, wrong)


def wrong_given(p: Array, y: Classes) -> Array:
    """Estimate the probability that each label is wrong, by robust logistic regression on log p.

    1 - P(true = y | p, y). It corrects overconfident models.
    """
    from noisylabels.classifiers.logistic import RobustLogisticRegression

    likely = np.maximum(p, flip_rates.LEAST)
    log = np.log(likely)
    features = log[:, :-1] - log[:, -1:]
    model = RobustLogisticRegression(lam=0.5).fit(features, y)
    rates_of_label = model.flip_matrix_[:, y].T
    joint = model.predict_proba(features) * rates_of_label
    rows = np.arange(len(y))
    joint_of_label = joint[rows, y]
    total = joint.sum(axis=1)
    share_of_label = joint_of_label / total
    return np.asarray(1.0 - share_of_label)


@dataclass(frozen=True)
class EnsembleFilter:
    """Majority filter: labels are wrong if most of a tree, neighbours and logistic regression
    disagree.

    Doubt is the votes and, among as many, the mean of 1 - p_y.
    """

    folds: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """Find the labels against which most of the three classifiers vote."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier

        models: list[Any] = [
            _make_tree(seed),
            KNeighborsClassifier(3),
            LogisticRegression(max_iter=1000),
        ]
        votes_against = []
        unsureness = []
        for model in models:
            fit = cross_fitted(X, y, model, random_state=seed, repetitions=1, folds=self.folds)
            votes_against.append(fit.predicted[0] != y)
            unsureness.append(1.0 - fit.mean[np.arange(len(y)), y])
        votes = np.sum(votes_against, axis=0)
        unsure = np.mean(unsureness, axis=0)
        return Found(votes + 0.999 * unsure, votes >= 2)


@dataclass(frozen=True)
class IterativePartitioning:
    """Remove labels against which most trees of disjoint parts vote, and start again.

    It ends after three rounds that each removed less than 1 % of all rows. Doubt: removed early,
    then votes.
    """

    parts: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """Find the labels that are removed in some round."""
        rng = np.random.default_rng(seed)
        n = len(y)
        remaining = np.arange(n)
        doubt = np.zeros(n)
        wrong = np.zeros(n, dtype=bool)
        quiet_rounds = 0
        finished_rounds = 0
        while quiet_rounds < 3 and len(remaining) > 2 * self.parts:
            parts = np.array_split(rng.permutation(remaining), self.parts)
            votes_against = []
            for part in parts:
                tree = _make_tree(seed).fit(X[part], y[part])
                votes_against.append(tree.predict(X[remaining]) != y[remaining])
            votes = np.mean(votes_against, axis=0)
            removed = votes > 0.5
            doubt[remaining] = votes + np.where(removed, n - finished_rounds, 0)
            wrong[remaining] = removed
            if removed.sum() < 0.01 * n:
                quiet_rounds += 1
            else:
                quiet_rounds = 0
            finished_rounds += 1
            remaining = remaining[~removed]
        return Found(doubt, wrong)


def _make_tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)
