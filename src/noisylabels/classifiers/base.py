"""Shared parts of classifiers: checked input, flags of doubtful fits, posteriors, linear models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from noisylabels.seeding import generator
from noisylabels.validation import (
    Floats,
    check_features,
    check_labels,
    nonnegative,
    number,
    refuse_other_index,
    shown,
    whole,
)

MOST_COPIES = 10  # repeated rows may be this many times the rows of the table
FEWEST_ROWS = 2  # fewest rows of two classes
MOST_ROWS_EACH = 1000.0  # largest mean weight of a row up to which rows are repeated
LARGEST = 1e35
"""Largest feature: trees hold single precision, which ends at 3e38; beyond 1e70 LIBLINEAR never
ends.
"""


NO_LABELS = object()
"""Stands for the labels where a prediction needs none."""


def bounded(X: Any) -> Any:
    """Return X unchanged, or refuse a feature beyond 1e35 in size."""
    with np.errstate(over="ignore"):  # the sum of squares needs one fast pass
        if isinstance(X, np.ndarray):
            square = np.einsum("ij,ij->", X, X)
        else:
            square = np.dot(X.data, X.data)
    if float(square) <= LARGEST**2:
        return X
    rows, columns = (abs(X) > LARGEST).nonzero()
    if len(rows):
        index = f"({rows[0]}, {columns[0]})"
        problem = f"value at index {index} is beyond {LARGEST:g} in size"
        raise ValueError(f"X: {problem}; scale the features")
    return X


def check_rows(estimator: Any, X: Any, y: Any = NO_LABELS, **options: Any) -> Any:
    """Check X, or X and y, by the rules of scikit-learn and ours, for all classifiers.

    options : of `sklearn.utils.validation.validate_data`.
    Raises ValueError: None, masked values, labels as bytes, other features than in `fit`, NaN,
    infinity, a feature beyond 1e35 in size.
    """
    X = check_features("X", X)
    accepted = "csr" if estimator.SPARSE else False
    if y is NO_LABELS:
        return bounded(validate_data(estimator, X, accept_sparse=accepted, **options))
    y = check_labels("y", y)
    if hasattr(X, "loc"):
        refuse_other_index(X, y)
    X, y = validate_data(estimator, X, y, accept_sparse=accepted, **options)
    return bounded(X), y


def features_of(estimator: Any, X: Any) -> Any:
    """Check the rows X (n, d) of a prediction, which needs a fit before."""
    check_is_fitted(estimator)
    return check_rows(estimator, X, reset=False, dtype=np.float64)


def classes_of(y: Any, classes: Any = None, *, multiclass: bool = True) -> NDArray[Any]:
    """Sort the classes of y or of ``classes``, and refuse what cannot be labels."""
    check_classification_targets(y)
    names = np.unique(y if classes is None else np.asarray(classes))
    if len(names) > 2 and not multiclass:
        kind = type_of_target(names, input_name="y")
        rule = "Only binary classification is supported."
        raise ValueError(f"{rule} The type of the target is {kind}.")
    if len(names) < 2:
        raise ValueError(f"the labels must have two classes, got one class only: {names.tolist()}")
    if classes is not None and not np.isin(y, names).all():
        raise ValueError(f"y has labels outside classes = {names.tolist()}")
    return names


def trusted_rows(
    trusted: ArrayLike, classes: NDArray[Any], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows of ``trusted`` (n,) that have a label, and the place of it among the classes.

    Raises ValueError: another length, a label that is not a class.
    """
    values = np.asarray(check_labels("trusted", trusted), dtype=object)
    if values.shape != (n,):
        rule = f"one entry for each of the {n} rows is needed"
        raise ValueError(f"trusted: {rule}, got {values.shape}")
    is_given = [v is not None and v == v for v in values]
    rows = np.flatnonzero(is_given)
    number_of_class = {name: j for j, name in enumerate(classes.tolist())}
    numbers = []
    for value in values[rows].tolist():
        if value not in number_of_class:
            raise ValueError(f"trusted: {value!s} is not a class of y, {classes.tolist()}")
        numbers.append(number_of_class[value])
    return rows, np.array(numbers, dtype=np.intp)


def rows_at(X: Any, rows: NDArray[Any]) -> Any:
    """Select rows of an array, a CSR matrix or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def fold_numbers(s: Floats, folds: int, rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Deal points to folds at random, with both signs of s spread evenly.

    A class with fewer points than folds reduces the number of folds to its size; None if it has one
    point, which cannot be in training and test set at once. Raises ValueError: folds < 2.
    """
    folds = whole("folds", folds, 2)
    members = []
    for is_member in (s < 0, s >= 0):
        rows = np.flatnonzero(is_member)
        members.append(rng.permutation(rows))
    fewest = min(len(rows) for rows in members)
    folds = min(folds, fewest)
    if folds < 2:
        return None
    number = np.empty(len(s), dtype=np.intp)
    for rows in members:
        number[rows] = np.arange(len(rows)) % folds
    return number


class FitFlags:
    """Flags of a fit that is a fallback or doubtful.

    flags_ : why a fit is a fallback or doubtful, in words, else (); flagged_ : whether there are
    any.

    classes_swapped : the classes changed names during the fit (omega_01 + omega_10 >= 1).
    collapsed : f is flat between the training points.   lost_class : one class has less than one
    point left.
    not_converged : stopped before the conditions of an optimum held.   not_finite : a round was
    undone.
    no_folds : a class has one point, so nothing was cross-validated.
    """

    flags_: tuple[str, ...]
    flagged_: bool

    def _flag(self, **reasons: bool) -> None:
        self.flags_ = tuple(word for word, applies in reasons.items() if applies)
        self.flagged_ = bool(self.flags_)


class TrueLabelPosterior(FitFlags):
    """Base of classifiers that estimate how labels are flipped, with ``flip_matrix_`` (K, K).

    converged_ and `FitFlags` say how far the estimate can be trusted.
    """

    classes_: NDArray[Any]
    flip_matrix_: Floats
    converged_: bool
    decision_function: Callable[[Any], Floats]

    def true_label_posterior(self, X: Any, y: ArrayLike) -> Floats:
        """Compute the probability of the true label given the features and the observed label.

        With K > 2 classes q_nj = P(y_n is classes_[j] | x_n, y_n): (n, K).
        Raises ValueError: a label outside the classes of `fit`; see `decision_function`.
        """
        from noisylabels.noise import flip_matrix as flips

        check_is_fitted(self)
        y = np.asarray(y)
        if not np.isin(y, self.classes_).all():
            raise ValueError(f"y has labels outside the classes of fit, {self.classes_.tolist()}")
        if len(self.classes_) > 2:
            labels = np.searchsorted(self.classes_, y)
            scores = self.decision_function(X)
            return flips.posterior(scores, labels, self.flip_matrix_)
        log_odds = self._log_odds(X)
        return flips.posterior(log_odds, y == self.classes_[1], self.flip_matrix_)

    def _log_odds(self, X: Any) -> Floats:
        """Compute the log-odds of the true label of each row of X (n, d)."""
        return self.decision_function(X)


def as_counts(weights: Floats) -> Floats:
    """Keep weights (n,) that can be counts of rows, and divide others by their mean.

    Weights are not counts if they are fewer than two rows together, or more than a thousand rows
    each on average. Only their ratios can be meant, and penalties are made for about n rows.
    """
    largest = weights.max()
    if not largest > 0.0:
        return weights
    share = weights / largest  # divided first, so that no sum overflows
    mean = largest * share.mean()
    if mean * len(weights) >= FEWEST_ROWS and mean <= MOST_ROWS_EACH:
        return weights
    return share / share.mean()


class Labelled:
    """Base of classifiers with sorted ``classes_`` (K,) after `fit`."""

    classes_: NDArray[Any]


@dataclass(eq=False, repr=False)
class Weighted(Labelled):
    """Base of classifiers that take weights of examples.

    Example n counts a_n = sample_weight_n class_weight(y_n) times; a whole a_n is a_n equal rows.

    class_weight : None, 1 for every class; {class: weight >= 0}, 1 for those without; or
    "balanced",
        n / (K n_k) for class k with n_k of the n examples.

    Weights that are together less than two rows, or more than a thousand rows each on average, are
    no counts: they are divided by their mean, so that only their ratios matter.

    Likelihoods and losses that are solved to the end are multiplied by a_n. Where the order of the
    rows or random draws count, as in stochastic gradient descent, rows are repeated, or drawn in
    proportion to a_n where that is not a whole number or means more than ten times the rows (a
    class whose share is less than a row may be left out).
    """

    REPEATS: ClassVar[bool] = False
    SPARSE: ClassVar[bool]
    MULTICLASS: ClassVar[bool]

    _: KW_ONLY
    class_weight: dict[Any, float] | str | None = None

    def _weights(self, labels: NDArray[np.intp], sample_weight: ArrayLike | None) -> Floats | None:
        """Compute the weights (n,) of examples with class numbers; None if nothing is weighted.

        Raises ValueError: weights < 0 or not finite, a class without an example of weight > 0.
        """
        if sample_weight is None and self.class_weight is None:
            return None
        n = len(labels)
        K = len(self.classes_)
        occurs = np.bincount(labels, minlength=K) > 0
        if sample_weight is None:
            a = np.ones(n)
        else:
            a = nonnegative("sample_weight", sample_weight, (n,))
        if not a.any():
            raise ValueError("sample_weight: the weights of all examples are zero")
        a = as_counts(a)
        sums = np.bincount(labels, a, K).astype(float)
        class_weights = self._class_weights(sums)
        a = as_counts(a * class_weights[labels])
        has_weight = np.bincount(labels, a, K) > 0
        if (occurs & ~has_weight).any():
            name = "class_weight" if sample_weight is None else "sample_weight"
            if K == 2:
                problem = "one class only: some example of each"
            else:
                problem = "a class without examples: each"
            raise ValueError(f"{name} leaves {problem} needs a weight > 0")
        return a

    def _class_weights(self, counts: Floats) -> Floats:
        """Compute the weight of each class (K,) from the counts of its examples."""
        weights_of_classes = self.class_weight
        rule = 'must be None, "balanced" or a dict with the weights of classes'
        if isinstance(weights_of_classes, str) and weights_of_classes == "balanced":
            occurring = np.where(counts > 0, counts, np.inf)
            return np.asarray(counts.sum() / (len(counts) * occurring))
        names = self.classes_.tolist()
        if weights_of_classes is None:
            return np.ones(len(names))
        if not (isinstance(weights_of_classes, dict) and weights_of_classes):
            raise ValueError(f"class_weight: {rule}, got {shown(weights_of_classes)}")
        for name in weights_of_classes:
            if name not in names:
                raise ValueError(f"class_weight: {shown(name)} is not a class of y, {names}")
        weights = {}
        for name, value in weights_of_classes.items():
            weights[name] = number("class_weight", value, least=0)
        return np.array([weights.get(name, 1.0) for name in names])

    def _part(self, first: bool) -> bool:
        """Return ``first``, but refuse class weights that need all rows at once."""
        if isinstance(self.class_weight, str):
            raise ValueError(
                'class_weight: "balanced" needs all rows; give partial_fit the weights in a dict'
            )
        return first

    def _examples(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Any, NDArray[np.intp], Floats | None]:
        """Check X and y, and number the classes; the weights are None if all are 1."""
        if hasattr(X, "loc"):
            refuse_other_index(X, y, sample_weight=sample_weight)
        X, y = check_rows(self, X, y, dtype=np.float64)
        self.classes_ = classes_of(y, multiclass=self.MULTICLASS)
        labels = np.searchsorted(self.classes_, y)
        return self._used(X, labels, sample_weight)

    def _used(
        self, X: Any, labels: NDArray[np.intp], sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[np.intp], Floats | None]:
        """Select rows with a weight above 0, or with ``REPEATS`` repeat or draw rows by weight."""
        a = self._weights(labels, sample_weight)
        if a is None:
            return X, labels, None
        if not self.REPEATS:
            is_used = a > 0
            return X[is_used], labels[is_used], a[is_used]
        n = len(labels)
        are_whole = (a == np.rint(a)).all()
        if are_whole and a.sum() <= MOST_COPIES * n:
            rows = np.repeat(np.arange(n), a.astype(np.intp))
        else:  # systematic draws round each share up or down
            rng = generator(getattr(self, "random_state", 0))
            mixed = rng.permutation(n)
            drawn_shares = (np.arange(n) + rng.random()) / n
            cumulated = np.cumsum(a[mixed]) / a.sum()
            drawn = np.searchsorted(cumulated, drawn_shares, side="right").clip(max=n - 1)
            rows = np.sort(mixed[drawn])
        return X[rows], labels[rows], None


class Repeated(Weighted):
    """Base of classifiers that repeat or draw rows by weight, as the order or number of rows
    counts.
    """

    REPEATS: ClassVar[bool] = True


def _has_log_odds(classifier: DecisionClassifier) -> bool:
    """Check that decision values are log-odds up to a factor; the error says how to calibrate."""
    if classifier._link():
        return True
    raise AttributeError(
        f"{type(classifier).__name__} has no predict_proba with this loss: its decision values are "
        "not log-odds; calibrate them, sklearn.calibration.CalibratedClassifierCV(estimator)"
    )


class DecisionClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that decide by the sign of f(x), or by the largest of K values.

    Decision values f(x) (n,): classes_[1] where f > 0; of K > 2 classes (n, K), that of the
    largest.
    """

    SPARSE: ClassVar[bool] = False  # whether X may be a CSR matrix
    MULTICLASS: ClassVar[bool] = False
    ZERO_IS_SECOND: ClassVar[bool] = False  # whether f = 0 belongs to classes_[1]
    # factor from f to log-odds; 0 if f is not log-odds, except with the loss "log"
    LINK: ClassVar[float] = 1.0

    classes_: NDArray[Any]
    decision_function: Callable[[Any], Floats]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row of X (n, d)."""
        f = self.decision_function(X)
        if f.ndim == 2:
            return self.classes_[f.argmax(axis=1)]
        return self.classes_[((f >= 0) if self.ZERO_IS_SECOND else (f > 0)).astype(np.intp)]

    @available_if(_has_log_odds)
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each true class for each row of X (n, d): (n, K).

        The method is there only where decision values f are log-odds, which those of most margin
        losses are not; `sklearn.calibration.CalibratedClassifierCV` calibrates them.

        Notes
        -----
        The logistic function of f for the second of two classes, the softmax of f for more classes.
        """
        log_odds = self._link() * self.decision_function(X)
        if log_odds.ndim == 2:
            return np.asarray(softmax(log_odds, axis=1))
        p = expit(log_odds)
        return np.column_stack([1.0 - p, p])

    def _link(self) -> float:
        """Return `LINK`, or 1 with the loss "log"."""
        loss = getattr(self, "loss", None)
        return 1.0 if getattr(loss, "name", loss) == "log" else self.LINK

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.MULTICLASS
        tags.input_tags.sparse = self.SPARSE
        return tags


class LinearBinaryClassifier(DecisionClassifier):
    """Base of linear classifiers.

    f(x) = x.w + b, w = coef_ (1, d), b = intercept_ (1,), or (K, d), (K,); f = 0 is the second
    class.
    """

    SPARSE: ClassVar[bool] = True
    ZERO_IS_SECOND: ClassVar[bool] = True
    LINK: ClassVar[float] = 0.0

    coef_: Floats
    intercept_: Floats
    n_features_in_: int

    def decision_function(self, X: Any) -> Floats:
        """Compute f(x) of each row of X (n, d)."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        if len(self.coef_) > 1:
            return np.asarray(X @ self.coef_.T + self.intercept_)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def _checked(
        self,
        X: Any,
        y: ArrayLike,
        classes: Any = None,
        first: bool = True,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[Any, Floats, Floats | None]:
        """Check X, code the labels as -1.0 and +1.0, and return the weights of what is `Weighted`.

        Of K > 2 classes the labels are (K, n), +1.0 for class k in row k. Sets classes_ the first
        time.
        """
        if hasattr(X, "loc"):
            refuse_other_index(X, y, sample_weight=sample_weight)
        options: dict[str, Any] = {"order": "C", "accept_large_sparse": False, "reset": first}
        X, y = check_rows(self, X, y, dtype=[np.float64, np.float32], **options)
        if first:
            self.classes_ = classes_of(y, classes, multiclass=self.MULTICLASS)
        elif not np.isin(y, self.classes_).all():
            names = self.classes_.tolist()
            raise ValueError(f"y has labels outside the classes of the first call, {names}")
        labels = np.searchsorted(self.classes_, y)
        weights = None
        if isinstance(self, Weighted):
            X, labels, weights = self._used(X, labels, sample_weight)
        if len(self.classes_) > 2:
            class_numbers = np.arange(len(self.classes_))
            labels = labels == class_numbers[:, np.newaxis]
        return X, np.where(labels, 1.0, -1.0), weights

    def _decide_constants(self, labels: Floats) -> None:
        """Decide f = +-1 for labels (n,) or (K, n) that are all of one class."""
        for k, signs in enumerate(np.atleast_2d(labels)):
            if (signs == signs[0]).all():
                self.coef_[k] = 0.0
                self.intercept_[k] = signs[0]

    def _signed(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[Floats, Floats]:
        """Multiply the rows (x_i, 1) by their labels s_i of -1.0 and +1.0, and return both; sets
        classes_.
        """
        X, s, _ = self._checked(X, y, sample_weight=sample_weight)
        constant = np.ones(len(X))
        columns = np.column_stack([X.astype(np.float64), constant])
        return s[:, np.newaxis] * columns, s
