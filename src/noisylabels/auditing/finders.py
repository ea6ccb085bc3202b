"""Finders of wrong labels, to be compared: each is a class with ``find(X, y, seed)``.

`ConfidentLearning` and `EnsembleFilter` judge each row by models that were not trained on it. The
trees of `IterativePartitioning` also vote on the part that they were trained on.

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

    Attributes
    ----------
    doubt : ndarray of shape (n,)
        The larger, the more doubtful the label.
    wrong : ndarray of bool, shape (n,)
        Whether a label is called wrong.
    """

    doubt: Array
    wrong: NDArray[np.bool_]


@dataclass(frozen=True)
class ConfidentLearning:
    r"""Confident learning: as many labels are wrong as the confident joint has off its diagonal.

    Parameters
    ----------
    model : str, default "rmklr"
        A name such as "forest" or "package:Class", see `noisylabels.audit`. With "given" nothing is
        trained: X (n, K) holds the probabilities of the observed classes.
    ranking : {"margin", "self_confidence", "listed_first", "posterior"}, default "margin"
        What doubt is, see the notes.
    folds : int, default 5
        Folds of the cross-fit.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.finders import ConfidentLearning
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> found = ConfidentLearning("given").find(p, np.repeat([0, 1], [45, 55]), seed=0)
    >>> np.flatnonzero(found.wrong).tolist()
    [45, 46, 47, 48, 49]
    >>> found.doubt[[0, 45, 50]].round(2).tolist()
    [-0.8, 0.8, -0.6]

    Notes
    -----
    `noisylabels.auditing.flip_rates.likely_wrong` says which labels are wrong. Let
    :math:`p_{nk}` be the probability of class k for row n. The doubt of the label :math:`y_n` is

    - "margin": :math:`\max_{j \ne y_n} p_{nj} - p_{n y_n}`, minus the margin;
    - "self_confidence": :math:`1 - p_{n y_n}`;
    - "listed_first": minus the margin, plus 2 for labels that are called wrong. So these are more
      doubtful than all others;
    - "posterior": the probability that the label is wrong, see `wrong_given`.

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021, Section 3.
    """

    model: str = "rmklr"
    ranking: Literal["margin", "self_confidence", "listed_first", "posterior"] = "margin"
    folds: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """Find the labels that are likely wrong by the confident joint.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features; for the model "given" probabilities (n, K) of the observed classes.
        y : ndarray of int, shape (n,)
            The observed class of each row, 0 to K - 1.
        seed : int
            Seed of the folds and of the model.

        Returns
        -------
        Found
            Which labels are wrong, and the doubt of each.
        """
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
    r"""Estimate the probability that each label is wrong, by robust logistic regression on log p.

    It corrects overconfident models.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes, by models that did not see the row.
    y : ndarray of int, shape (n,)
        The observed class of each row, 0 to K - 1.

    Returns
    -------
    ndarray of shape (n,)
        The probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.finders import wrong_given
    >>> rising = 0.1 + 0.8 / (1 + np.exp(-np.linspace(-8, 8, 100)))
    >>> p = np.column_stack([1 - rising, rising])
    >>> y = np.repeat([0, 1], 50)
    >>> y[4::10] = 1 - y[4::10]
    >>> wrong_given(p, y)[:6].round(1).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.5, 0.0]

    Notes
    -----
    The probability is :math:`1 - P(\text{true} = y \mid p, y)`. The features of the regression are
    :math:`\log p_k - \log p_K`, with p at least 0.005. It is trained on the rows that it judges.
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
    """Majority filter: a label is wrong if two of three cross-fitted classifiers disagree with it.

    The classifiers are a tree, three nearest neighbours and logistic regression.

    Parameters
    ----------
    folds : int, default 5
        Folds of the cross-fits.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.finders import EnsembleFilter
    >>> X = np.linspace(-1, 1, 40)[:, np.newaxis]
    >>> y = np.repeat([0, 1], 20)
    >>> y[35] = 0
    >>> found = EnsembleFilter().find(X, y, seed=0)
    >>> bool(found.wrong[35]), int(found.doubt.argmax())
    (True, 35)

    Notes
    -----
    Doubt is the number of votes against the label. Among labels with equal votes it grows with
    one minus the probability of the label, averaged over the classifiers.

    References
    ----------
    Brodley and Friedl, JAIR 11, 1999.
    """

    folds: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """Find the labels against which most of the three classifiers vote.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.
        y : ndarray of int, shape (n,)
            The observed class of each row, 0 to K - 1.
        seed : int
            Seed of the folds and of the tree.

        Returns
        -------
        Found
            Which labels are wrong, and the doubt of each.
        """
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

    Parameters
    ----------
    parts : int, default 5
        Number of disjoint parts of the rows, each of which trains a tree.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.finders import IterativePartitioning
    >>> X = np.linspace(-1, 1, 100)[:, np.newaxis]
    >>> y = np.repeat([0, 1], 50)
    >>> y[80] = 0
    >>> found = IterativePartitioning().find(X, y, seed=0)
    >>> bool(found.wrong[80])
    True

    Notes
    -----
    In each round the rows that are left are split into parts at random. All trees vote on all of
    these rows, also on those that they were trained on. Rows are removed if more than half of the
    trees disagree with their labels.

    It ends after three rounds in a row that each removed less than 1 % of all rows, or when at most
    two rows are left for each part. Labels that were removed earlier are more doubtful. Labels
    removed in the same round, and labels that stay, are in the order of the votes against them.

    References
    ----------
    Khoshgoftaar and Rebours, JCST 22, 2007.
    """

    parts: int = 5

    def find(self, X: Array, y: Classes, seed: int) -> Found:
        """Find the labels that are removed in some round.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.
        y : ndarray of int, shape (n,)
            The observed class of each row, 0 to K - 1.
        seed : int
            Seed of the parts and of the trees.

        Returns
        -------
        Found
            Which labels are wrong, and the doubt of each.
        """
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
