"""Make any classifier robust to flipped labels: rows are weighted, relabelled or left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from noisylabels.auditing import flip_rates
from noisylabels.auditing.copies import combine_groups, find_copies_of_numbers, groups_of
from noisylabels.auditing.cross_fitting import (
    Array,
    Classes,
    Groups,
    folds_for,
    normalised,
    numbered,
    split_folds,
)
from noisylabels.classifiers.base import (
    FitFlags,
    Repeated,
    check_complete_labels,
    classes_of,
    refuse_trusted_twice,
    rows_at,
    trusted_rows,
)
from noisylabels.classifiers.logistic import RobustLogisticRegression
from noisylabels.noise import flip_matrix as flips
from noisylabels.seeding import generator
from noisylabels.validation import check_features, choice, refuse_other_index, whole

METHODS = ("prune", "importance", "forward", "backward", "likelihood")
ESTIMATES: dict[str, Callable[..., Array]] = {
    "joint": flip_rates.from_joint,
    "anchor": flip_rates.anchor,
}
LEAST = 1e-3
"""The smallest probability that a weight is divided by."""
SHRINKAGES = np.linspace(0.0, 1.0, 21)
"""Shares of the identity in an estimated flip matrix; the first that makes it usable is taken."""


class CorrectedClassifier(FitFlags, Repeated, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Train any classifier on noisy labels by correcting them with an estimated flip matrix.

    The probabilities of the observed classes are estimated by cross-fitting. With them, each row is
    trained on with a weight for every class it may have.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with ``predict_proba``; `LogisticRegression` by default. One that takes no
        ``sample_weight`` is trained on rows that are drawn in proportion to the weights.
    method : {"prune", "importance", "forward", "backward", "likelihood"}
        How the weights follow from the observed labels, see the notes.
    flips : {"joint", "anchor"} or array of shape (n_classes, n_classes)
        The flip matrix (rows are true classes), or how it is estimated. Trusted rows replace it.
    folds : int, optional
        Folds of the cross-fitting: 5 by default, or 10 below 300 rows. With 1, the probabilities
        are those of the rows that were trained on, for classifiers that cannot learn rows by heart.
    rounds : int
        Rounds of "forward".
    random_state : int or RandomState
        Decides the folds and the drawn rows.
    class_weight : dict or "balanced", optional
        Weights of the observed classes.

    Attributes
    ----------
    estimator_ : classifier
        The classifier that was trained last.
    classes_ : array of shape (n_classes,)
        The classes.
    flip_matrix_ : array of shape (n_classes, n_classes)
        Probability of each observed class (column) given the true class (row).
    weights_ : array of shape (n_samples, n_classes)
        The weights of the rows.
    flags_ : set of str
        Holds ``flips_shrunk`` where an estimated flip matrix was drawn to the identity until it
        named the classes and could be inverted.

    Examples
    --------
    >>> from noisylabels import CorrectedClassifier
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> CorrectedClassifier(method="backward").fit(X, y).predict(X[:3]).shape
    (3,)

    Notes
    -----
    Let p be the probabilities of the observed classes, Omega the flip matrix and g = p Omega^-1,
    clipped and normalised, the probabilities of the true classes. For a row with observed class y,
    the weight of class j is:

    - "prune": 0 for labels that confident learning finds wrong, else 1 / Omega_yy for j = y [1]_;
    - "importance": g_y / p_y for j = y [2]_, eq. 8;
    - "forward": the probability of the true class j given the row and its observed class, with g by
      the classifier of the round before [3]_, theorem 2;
    - "backward": entry (y, j) of the inverse of Omega, partly negative, unbiased for the loss on
      true labels. For `LogisticRegression` the corrected loss stays convex [4]_;
    - "likelihood": 1 for j = y. `RobustLogisticRegression` on log p then takes the flips out of it,
      and keeps learning a flip matrix that is estimated [5]_.

    Weights of the rows count everywhere: a whole weight is as many equal rows, and the flip matrix
    is that of the weighted rows. Weights with a mean below 1 are scaled to 1 for its estimate.
    Copies of rows are in one fold, as are rows of a group; copies are looked for where X holds
    numbers.

    References
    ----------
    .. [1] Northcutt, Jiang and Chuang, JAIR 2021.
    .. [2] Liu and Tao, IEEE TPAMI 2016.
    .. [3] Patrini, Rozza, Menon, Nock and Qu, CVPR 2017.
    .. [4] Natarajan, Dhillon, Ravikumar and Tewari, NIPS 2013.
    .. [5] Bootkrajang and Kaban, ECML PKDD 2012.
    """

    flip_matrix_: Array
    estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        method: str = "prune",
        *,
        flips: Any = "joint",
        folds: int | None = None,
        rounds: int = 5,
        random_state: Any = 0,
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.flips = flips
        self.folds = folds
        self.rounds = rounds
        self.random_state = random_state
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        trusted: ArrayLike | None = None,
        *,
        sample_trusted: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Train on noisy labels.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or whatever the estimator takes
            The samples.
        y : array of shape (n_samples,)
            The observed labels.
        trusted : array of shape (n_samples,), optional
            True labels, with NaN or None where they are not known. The flip matrix is counted on
            these rows, and their true labels are trained on.
        sample_trusted : array of shape (n_samples,), optional
            The same under the name that scikit-learn splits with the samples.
        sample_weight : array of shape (n_samples,), optional
            Weights of at least 0.
        groups : array of shape (n_samples,), optional
            Names of groups of rows, such as patients: a group is in one fold.

        Returns
        -------
        CorrectedClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            Wrong parameters, trusted labels by both names, one class only, a class without a
            trusted row, a flip matrix that permutes the classes or has a condition number above 20,
            weights that leave a class no row.
        """
        choice("method", self.method, METHODS)
        refuse_trusted_twice(trusted, sample_trusted)
        trusted = sample_trusted if trusted is None else trusted
        if hasattr(X, "loc"):
            refuse_other_index(X, y, sample_weight=sample_weight, trusted=trusted, groups=groups)
        X, labels = self._labels(X, y)
        n = len(labels)
        trusted_at = np.zeros(0, np.intp)
        true = np.zeros(0, np.intp)
        if trusted is not None:
            trusted_at, true = trusted_rows(trusted, self.classes_, n)
        a = self._weights(labels, sample_weight)
        self._given = a is not None
        named_groups = None if groups is None else groups_of(groups, n)
        units = combine_groups(find_copies_of_numbers(X), named_groups)
        rows = np.arange(n)
        if a is not None:
            rows = np.flatnonzero(a)
            has_weight = a[trusted_at] > 0
            trusted_at = np.searchsorted(rows, trusted_at[has_weight])
            true = true[has_weight]
            X = rows_at(X, rows)
            labels = labels[rows]
            a = a[rows]
            units = numbered(units, rows)
        if not hasattr(self._base(), "predict_proba"):
            problem = f"{type(self._base()).__name__} has no predict_proba"
            raise ValueError(f"estimator: {problem}; wrap it in sklearn's CalibratedClassifierCV")
        p, W = self._reweighted(X, labels, a, trusted_at, true, units)
        self.weights_ = np.zeros((n, len(self.classes_)))
        self.weights_[rows] = W
        if self.method == "likelihood":
            learn = isinstance(self.flips, str) and trusted is None
            head = RobustLogisticRegression(omega=self.flip_matrix_, learn_omega=learn)
            self.head_ = head.fit(_log(p), self.classes_[labels], a)
            self.flip_matrix_ = self.head_.flip_matrix_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _labels(self, X: Any, y: ArrayLike) -> tuple[Any, Classes]:
        """Check X and y, number the classes and set ``classes_``."""
        X, y = indexable(check_features("X", X), check_complete_labels(y))
        if hasattr(X, "tocsr"):
            X = X.tocsr()
        elif not hasattr(X, "iloc"):
            X = np.asarray(X)
        observed = column_or_1d(y, warn=True)
        assert_all_finite(observed, input_name="y")
        self.classes_ = classes_of(observed)
        return X, np.searchsorted(self.classes_, observed)

    def _reweighted(
        self,
        X: Any,
        labels: Classes,
        a: Array | None,
        trusted_at: NDArray[np.intp],
        true: Classes,
        units: Groups | None,
    ) -> tuple[Array, Array]:
        """Compute probabilities p and weights W (n, K) of rows; set estimator_ and flip_matrix_."""
        rng = generator(self.random_state)
        one_hot = np.eye(len(self.classes_))
        if self.folds is None:
            folds = folds_for(labels, units)
        else:
            folds = whole("folds", self.folds, 1)
        if a is None:
            row_weights = np.ones((len(labels), 1))
            scaled_weights = None
        else:
            row_weights = a[:, np.newaxis]
            scaled_weights = a * max(1.0, len(a) / a.sum())
        p = self._probabilities(X, one_hot[labels] * row_weights, labels, folds, rng, units)
        self.flip_matrix_ = self._flips(p, labels, trusted_at, true, scaled_weights)
        g = normalised(np.clip(p @ np.linalg.inv(self.flip_matrix_), 0.0, None))
        is_iterative = self.method == "forward"
        rounds = whole("rounds", self.rounds, 1) if is_iterative else 1
        for _ in range(rounds):
            W = self._shares(p, g, labels, scaled_weights)
            W[trusted_at] = one_hot[true]
            W *= row_weights
            if is_iterative:
                g = self._probabilities(X, W, labels, folds, rng, units)
        has_rows = np.abs(W).sum(axis=0) > 0
        if not has_rows.all():
            lost = self.classes_[~has_rows][0]
            problem = f"{self.method!r} leaves no row of class {lost!s}"
            raise ValueError(f"method: {problem}; take another method")
        self.estimator_ = self._trained(X, W, rng)
        return p, W

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the true class of each sample.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or whatever the estimator takes
            The samples.

        Returns
        -------
        array of shape (n_samples,)
            The classes.
        """
        check_is_fitted(self)
        if self.method == "likelihood":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        return np.asarray(self.estimator_.predict(X))

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each true class.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or whatever the estimator takes
            The samples.

        Returns
        -------
        array of shape (n_samples, n_classes)
            The probabilities.
        """
        check_is_fitted(self)
        p = np.asarray(self.estimator_.predict_proba(X))
        if self.method != "likelihood":
            return p
        return np.asarray(self.head_.predict_proba(_log(p)))

    def _shares(self, p: Array, g: Array, y: Classes, a: Array | None) -> Array:
        """Compute W (n, K) of the method, without the weights of the rows."""
        omega = self.flip_matrix_
        observed = np.eye(len(omega))[y]
        if self.method == "prune":
            Q = flip_rates.joint(p, y, a)
            if a is None:
                weights = np.ones(len(y))
            else:
                weights = a
            wrong = flip_rates.wrong_parts(p, y, Q, weights)
            right = 1.0 - wrong
            rates = np.maximum(omega[y, y], LEAST)
            factors = right / rates
            return np.asarray(observed * factors[:, np.newaxis])
        if self.method == "importance":
            rows = np.arange(len(y))
            p_of_label = np.maximum(p[rows, y], LEAST)
            factors = g[rows, y] / p_of_label
            return np.asarray(observed * factors[:, np.newaxis])
        if self.method == "forward":
            return np.asarray(normalised(omega.T[y] * g))
        if self.method == "backward":
            inverse = np.linalg.inv(omega)
            return np.asarray(inverse[y])
        return observed

    def _flips(
        self,
        p: Array,
        y: Classes,
        trusted_at: NDArray[np.intp],
        true: Classes,
        a: Array | None,
    ) -> Array:
        """The flip matrix: counted on trusted rows, estimated, or the user's."""
        K = p.shape[1]
        flip_matrix = self.flips
        if len(trusted_at):
            missing = np.setdiff1d(np.arange(K), true)
            if len(missing):
                name = self.classes_[missing[0]]
                raise ValueError(f"trusted: no row with the true class {name!s}")
            weights = None if a is None else a[trusted_at]
            cells = np.bincount(true * K + y[trusted_at], weights, K * K).reshape(K, K)
            flip_matrix = cells / cells.sum(axis=1, keepdims=True)
        if isinstance(flip_matrix, str):
            estimate = ESTIMATES[choice("flips", flip_matrix, ESTIMATES)](p, y, a=a)
            return self._shrink_flips(estimate)
        self._flag()
        omega = flips.checked(flip_matrix, K)
        if not _can_be_inverted(omega):
            limit = f"{flip_rates.LARGEST_CONDITION:g}"
            problem = f"the condition number of Omega is above {limit}: labels say too little"
            raise ValueError(f"flips: {problem}")
        return omega

    def _shrink_flips(self, estimate: Array) -> Array:
        """Mix a flip matrix with the identity until it names the classes and can be inverted."""
        identity = np.eye(len(estimate))
        for share in SHRINKAGES:
            omega = (1 - share) * estimate + share * identity
            if not flips.permuted(omega) and _can_be_inverted(omega):
                break
        self._flag(flips_shrunk=bool(share > 0))
        return np.asarray(omega)

    def _probabilities(
        self,
        X: Any,
        W: Array,
        y: Classes,
        folds: int,
        rng: np.random.Generator,
        units: Groups | None,
    ) -> Array:
        """Cross-fit the probabilities of the classes, (n, K)."""
        if folds == 1:
            return np.asarray(self._trained(X, W, rng).predict_proba(X), dtype=float)
        p = np.zeros(W.shape)
        for train, held in split_folds(y, folds, int(rng.integers(2**31)), units):
            model = self._trained(rows_at(X, train), W[train], rng)
            columns = np.searchsorted(self.classes_, model.classes_)
            p[np.ix_(held, columns)] = model.predict_proba(rows_at(X, held))
        return p

    def _trained(self, X: Any, W: Array, rng: np.random.Generator) -> Any:
        """Fit the estimator to every row as each class j, with weight W_nj."""
        model = clone(self._base())
        rows, columns = np.nonzero(W)
        weights = W[rows, columns]
        y = self.classes_[columns]
        prefix = ""
        classifier = model
        if hasattr(model, "steps"):  # a pipeline
            prefix = f"{model.steps[-1][0]}__"
            classifier = model[-1]
        if self.method == "backward" and not isinstance(classifier, LogisticRegression):
            raise ValueError(
                "method: 'backward' needs LogisticRegression as the classifier; choose another "
                "method, such as 'forward'"
            )
        without_weights = 1.0 if self._given else weights[0]
        if np.allclose(weights, without_weights):
            return model.fit(rows_at(X, rows), y)
        if has_fit_parameter(classifier, "sample_weight"):
            return model.fit(rows_at(X, rows), y, **{f"{prefix}sample_weight": weights})
        # Systematic sampling: each row is drawn as often as its share says, rounded up or down.
        steps = (np.arange(len(W)) + rng.random()) / len(W)
        cumulated = np.cumsum(weights) / weights.sum()
        sample = np.searchsorted(cumulated, steps).clip(max=len(weights) - 1)
        return model.fit(rows_at(X, rows[sample]), y[sample])

    def _base(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self._base())
        tags.input_tags = base.input_tags
        of_classifier = base.classifier_tags
        tags.classifier_tags.multi_class = of_classifier is None or of_classifier.multi_class
        return tags


def _can_be_inverted(omega: Array) -> bool:
    return bool(np.linalg.cond(omega) <= flip_rates.LARGEST_CONDITION)


def _log(p: Array) -> Array:
    """Compute the features of the robust logistic regression: log p less that of the last class."""
    log = np.log(np.maximum(p, LEAST))
    return np.asarray(log[:, :-1] - log[:, -1:])
