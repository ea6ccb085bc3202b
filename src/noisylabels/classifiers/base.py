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
    """Return features unchanged, or refuse one that is beyond 1e35 in size.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Samples, all finite.

    Returns
    -------
    ndarray or CSR matrix of shape (n, d)
        ``X`` itself.

    Raises
    ------
    ValueError
        If a feature is beyond 1e35 in size.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.base import bounded
    >>> bounded(np.array([[1.0, 1e36]]))
    Traceback (most recent call last):
    ...
    ValueError: X: value at index (0, 1) is beyond 1e+35 in size; scale the features
    """
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
    """Check features, or features and labels, by the rules of scikit-learn and ours.

    All classifiers check their input with it.

    Parameters
    ----------
    estimator : estimator
        The classifier. Its ``SPARSE`` says whether it takes a CSR matrix.
    X : array_like or sparse matrix of shape (n, d)
        Samples.
    y : array_like of shape (n,), optional
        Labels. They are left out where a prediction needs none.
    **options
        Options of `sklearn.utils.validation.validate_data`, such as ``dtype``.

    Returns
    -------
    ndarray or CSR matrix, or a pair with the ndarray of the labels
        The samples, or the samples and the labels.

    Raises
    ------
    ValueError
        If features are None, masked, NaN, infinite or beyond 1e35 in size, labels are masked,
        missing or bytes, a prediction has other features than `fit` had, or rows and labels have
        the same index in another order.

    Examples
    --------
    >>> from noisylabels import RobustSGDClassifier
    >>> from noisylabels.classifiers.base import check_rows
    >>> X, y = check_rows(RobustSGDClassifier(), [[1.0, 2.0], [3.0, 4.0]], ["no", "yes"])
    >>> X.shape, y.tolist()
    ((2, 2), ['no', 'yes'])
    """
    X = check_features("X", X)
    accepted = "csr" if estimator.SPARSE else False
    if y is NO_LABELS:
        return bounded(validate_data(estimator, X, accept_sparse=accepted, **options))
    y = check_complete_labels(y)
    if hasattr(X, "loc"):
        refuse_other_index(X, y)
    X, y = validate_data(estimator, X, y, accept_sparse=accepted, **options)
    return bounded(X), y


def check_complete_labels(y: Any) -> Any:
    """Check labels, of which none may be missing, and return them unchanged.

    Parameters
    ----------
    y : array_like of shape (n,)
        Labels. NaN among numbers is left to scikit-learn.

    Returns
    -------
    array_like
        ``y`` itself.

    Raises
    ------
    ValueError
        If a label is missing, or `noisylabels.validation.check_labels` refuses the labels.

    Examples
    --------
    >>> from noisylabels.classifiers.base import check_complete_labels
    >>> check_complete_labels(["no", None, "yes"])
    Traceback (most recent call last):
    ...
    ValueError: y: the label at index 1 is missing; leave the row out
    """
    y = check_labels("y", y)
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and labels.ndim == 1:
        for i, label in enumerate(labels):
            if _is_gap(label):
                raise ValueError(f"y: the label at index {i} is missing; leave the row out")
    return y


def features_of(estimator: Any, X: Any) -> Any:
    """Check the features of a prediction, for which the estimator must be fitted.

    Parameters
    ----------
    estimator : estimator
        The fitted classifier.
    X : array_like or sparse matrix of shape (n, d)
        Samples.

    Returns
    -------
    ndarray or CSR matrix of shape (n, d)
        The samples in double precision.

    Raises
    ------
    ValueError
        If the classifier is not fitted, the number of features differs, or a value is NaN, infinite
        or beyond 1e35 in size.

    Examples
    --------
    >>> from noisylabels import KernelLogisticRegression
    >>> from noisylabels.classifiers.base import features_of
    >>> model = KernelLogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> features_of(model, [[2]]).tolist()
    [[2.0]]
    """
    check_is_fitted(estimator)
    return check_rows(estimator, X, reset=False, dtype=np.float64)


def classes_of(y: Any, classes: Any = None, *, multiclass: bool = True) -> NDArray[Any]:
    """Sort the classes that labels have, and refuse what cannot be labels.

    Parameters
    ----------
    y : array_like of shape (n,)
        Labels.
    classes : array_like of shape (K,), optional
        All classes, by default those that occur in ``y``.
    multiclass : bool, default True
        Whether more than two classes are allowed.

    Returns
    -------
    ndarray of shape (K,)
        The classes.

    Raises
    ------
    ValueError
        If labels are not discrete, there is one class only, there are more than two without
        ``multiclass``, a class is an empty text, two classes differ only in blanks at the ends, or
        a label is not one of ``classes``.

    Examples
    --------
    >>> from noisylabels.classifiers.base import classes_of
    >>> classes_of(["yes", "no", "yes"]).tolist()
    ['no', 'yes']
    """
    check_classification_targets(y)
    names = np.unique(y if classes is None else np.asarray(classes))
    _refuse_blanks(names)
    if len(names) > 2 and not multiclass:
        kind = type_of_target(names, input_name="y")
        rule = "Only binary classification is supported."
        raise ValueError(f"{rule} The type of the target is {kind}.")
    if len(names) < 2:
        raise ValueError(f"the labels must have two classes, got one class only: {names.tolist()}")
    if classes is not None and not np.isin(y, names).all():
        raise ValueError(f"y has labels outside classes = {names.tolist()}")
    return names


def _refuse_blanks(names: NDArray[Any]) -> None:
    """Refuse classes that are empty texts or differ only in blanks, which nobody sees."""
    stripped: dict[str, str] = {}
    for name in names.tolist():
        if not isinstance(name, str):
            continue
        text = name.strip()
        if not text:
            raise ValueError(f"y: a label is an empty text, {name!r}; leave its rows out")
        first = stripped.setdefault(text, name)
        if first != name:
            problem = f"the classes {first!r} and {name!r} differ only in blanks"
            raise ValueError(f"y: {problem}; remove them, as with str.strip")


def trusted_rows(
    trusted: ArrayLike, classes: NDArray[Any], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows with a trusted label, and the number of its class.

    Parameters
    ----------
    trusted : array_like of shape (n,)
        Trusted labels. None, NaN or a missing value of pandas stands for a row without one.
    classes : ndarray of shape (K,)
        The classes.
    n : int
        Number of rows.

    Returns
    -------
    rows : ndarray of int, shape (m,)
        Numbers of the rows with a trusted label.
    numbers : ndarray of int, shape (m,)
        Where the trusted label of each of these rows is in ``classes``.

    Raises
    ------
    ValueError
        If there is not one entry for each row, a label is not one of the classes, or entries are
        True or False and the classes are not.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.base import trusted_rows
    >>> rows, numbers = trusted_rows([None, "yes", None], np.array(["no", "yes"]), 3)
    >>> rows.tolist(), numbers.tolist()
    ([1], [1])
    """
    values = np.asarray(check_labels("trusted", trusted), dtype=object)
    if values.shape != (n,):
        rule = f"one entry for each of the {n} rows is needed"
        raise ValueError(f"trusted: {rule}, got {values.shape}")
    is_given = [not _is_gap(value) for value in values]
    rows = np.flatnonzero(is_given)
    number_of_class = {name: j for j, name in enumerate(classes.tolist())}
    has_truth_values = any(isinstance(name, bool) for name in number_of_class)
    numbers = []
    for value in values[rows].tolist():
        # True is equal to 1: a mask of verified rows would be taken for labels 0 and 1
        is_mask = isinstance(value, bool | np.bool_) and not has_truth_values
        if is_mask or value not in number_of_class:
            names = classes.tolist()
            raise ValueError(
                f"trusted: {shown(value)} is not a class of y, {names}; give the label of each "
                "verified row, and None elsewhere"
            )
        numbers.append(number_of_class[value])
    return rows, np.array(numbers, dtype=np.intp)


def _is_gap(label: Any) -> bool:
    """Decide whether a trusted label is not known."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # a comparison with NA of pandas is neither true nor false
        return True


def refuse_trusted_twice(trusted: Any, sample_trusted: Any) -> None:
    """Refuse trusted labels that come by two arguments at once.

    Parameters
    ----------
    trusted : object
        Trusted labels; None for none.
    sample_trusted : object
        Trusted labels by the other argument; None for none.

    Raises
    ------
    ValueError
        If neither is None.

    Examples
    --------
    >>> from noisylabels.classifiers.base import refuse_trusted_twice
    >>> refuse_trusted_twice(["yes", None], None)
    """
    if trusted is not None and sample_trusted is not None:
        problem = "both hold trusted labels"
        raise ValueError(f"trusted and sample_trusted: {problem}; give one of the two")


def rows_at(X: Any, rows: NDArray[Any]) -> Any:
    """Select rows of an array, a CSR matrix or a data frame.

    Parameters
    ----------
    X : ndarray, CSR matrix or pandas.DataFrame, n rows
        The table.
    rows : ndarray of int, shape (m,)
        Numbers of the rows.

    Returns
    -------
    ndarray, CSR matrix or pandas.DataFrame, m rows
        The rows, in the order of ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.base import rows_at
    >>> rows_at(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0])).tolist()
    [[3.0], [1.0]]
    """
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def fold_numbers(s: Floats, folds: int, rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Assign points to folds at random, with both classes spread evenly.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Labels of two classes, below 0 for the first one.
    folds : int
        Number of folds, at least 2. A class with fewer points reduces it to its size.
    rng : numpy.random.Generator
        Source of the random order.

    Returns
    -------
    ndarray of int, shape (n,), or None
        The number of the fold of each point. None if a class has fewer than two points, because one
        point cannot be in the training and the test set at once.

    Raises
    ------
    ValueError
        If ``folds`` is below 2.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.base import fold_numbers
    >>> numbers = fold_numbers(np.array([-1.0, -1.0, 1.0, 1.0]), 2, np.random.default_rng(0))
    >>> sorted(numbers[:2].tolist()), sorted(numbers[2:].tolist())
    ([0, 1], [0, 1])
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
    r"""Flags of a fit that is a fallback or doubtful.

    Attributes
    ----------
    flags_ : tuple of str
        Words that say why a fit is a fallback or doubtful; empty if it is neither.

        - ``classes_swapped``: the classes changed names during the fit.
        - ``collapsed``: the decision value is flat between the training points.
        - ``lost_class``: one class has less than one point left.
        - ``not_converged``: the fit stopped before the conditions of an optimum were met.
        - ``not_finite``: a round was undone.
        - ``no_folds``: a class has one point, so nothing was cross-validated.

        `noisylabels.RBoostClassifier` and `noisylabels.CorrectedClassifier` have further words.
    flagged_ : bool
        Whether there is a flag.

    Examples
    --------
    >>> from noisylabels import KernelSVMClassifier
    >>> model = KernelSVMClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> model.flags_, model.flagged_
    ((), False)

    Notes
    -----
    Two classes have changed names where :math:`\omega_{01} + \omega_{10} \ge 1`; for more
    classes see `noisylabels.noise.flip_matrix`.
    """

    flags_: tuple[str, ...]
    flagged_: bool

    def _flag(self, **reasons: bool) -> None:
        self.flags_ = tuple(word for word, applies in reasons.items() if applies)
        self.flagged_ = bool(self.flags_)


class TrueLabelPosterior(FitFlags):
    """Base of classifiers that estimate how often the labels of each class are flipped.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes.
    flip_matrix_ : ndarray of shape (K, K)
        Probability of each observed class, given the true one (rows).
    converged_ : bool
        Whether the estimate came to rest. This and the `FitFlags` say how far it can be trusted.
    flags_ : tuple of str
        See `FitFlags`.
    flagged_ : bool
        Whether there is a flag.

    Examples
    --------
    >>> from noisylabels import RobustKernelLogisticRegression
    >>> from noisylabels.classifiers.base import TrueLabelPosterior
    >>> issubclass(RobustKernelLogisticRegression, TrueLabelPosterior)
    True
    """

    classes_: NDArray[Any]
    flip_matrix_: Floats
    converged_: bool
    decision_function: Callable[[Any], Floats]

    def true_label_posterior(self, X: Any, y: ArrayLike) -> Floats:
        r"""Compute the probability of the true label, given the features and the observed label.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Their observed labels.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The probability that the true label is the second of two classes; of more than two
            classes the probability of each.

        Raises
        ------
        ValueError
            If the classifier is not fitted, a label is not one of the classes of `fit`, the number
            of features differs, or a value is NaN or infinite.

        Notes
        -----
        For more than two classes it is :math:`q_{nj} = P(y_n = j \mid x_n, \tilde y_n)` with the
        true label :math:`y_n` and the observed label :math:`\tilde y_n`.
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
    """Keep weights that can be counts of rows, and divide others by their mean.

    Weights are not counts if they are fewer than two rows together, or more than a thousand rows
    each on average. Only their ratios can be meant, and penalties are made for about n rows.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Weights of rows, at least 0.

    Returns
    -------
    ndarray of shape (n,)
        ``weights`` itself if they can be counts or all are 0, else weights with the mean 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.base import as_counts
    >>> as_counts(np.array([1.0, 3.0])).tolist(), as_counts(np.array([1e6, 3e6])).tolist()
    ([1.0, 3.0], [0.5, 1.5])
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
    """Base of classifiers with sorted classes.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes in sorted order, set by `fit`.

    Examples
    --------
    >>> from noisylabels import KernelSVMClassifier
    >>> KernelSVMClassifier().fit([[0.0], [1.0]], ["yes", "no"]).classes_.tolist()
    ['no', 'yes']
    """

    classes_: NDArray[Any]


@dataclass(eq=False, repr=False)
class Weighted(Labelled):
    r"""Base of classifiers that take weights of examples.

    An example counts as often as its weight says; one with a whole weight is that many equal rows.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weight of each class, at least 0; 1 for a class that the dict lacks, and by default for
        every class. "balanced" makes the weights of all classes equal in sum.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes.

    Examples
    --------
    >>> from noisylabels import KernelSVMClassifier
    >>> model = KernelSVMClassifier(class_weight={"yes": 2.0})
    >>> model.fit([[0.0], [1.0]], ["no", "yes"], sample_weight=[3.0, 1.0]).classes_.tolist()
    ['no', 'yes']

    Notes
    -----
    Example n has the weight :math:`a_n = s_n c_{y_n}` with its sample weight :math:`s_n` and the
    class weight :math:`c`. "balanced" stands for :math:`c_k = n / (K n_k)`, where the sample
    weights of class k sum to :math:`n_k`, and all of them to :math:`n`.

    Weights that are together less than two rows, or more than a thousand rows each on average, are
    not counts. They are divided by their mean, so that only their ratios matter, see `as_counts`.

    Likelihoods and losses that are solved to the end are multiplied by :math:`a_n`. Elsewhere the
    order of the rows or random draws count, as in stochastic gradient descent. There a row is
    repeated :math:`a_n` times. If a weight is not whole, or this would make more than ten times the
    rows, n rows are drawn in proportion to :math:`a_n` instead. A class whose share is less than a
    row may then be left out.
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
    """Base of classifiers that repeat or draw rows by their weights.

    They do so because the order or the number of their rows counts.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes, see `Weighted`.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes.

    Examples
    --------
    >>> from noisylabels import KernelLogisticRegression, RobustSGDClassifier
    >>> from noisylabels.classifiers.base import Repeated
    >>> issubclass(RobustSGDClassifier, Repeated), issubclass(KernelLogisticRegression, Repeated)
    (True, False)
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
    """Base of classifiers that decide by the sign of a value, or by the largest of K values.

    A decision value above 0 stands for the second of two classes. Of more than two classes each has
    a value, and the largest one decides.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes.

    Examples
    --------
    >>> from noisylabels import KernelSVMClassifier
    >>> model = KernelSVMClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> bool(model.decision_function([[1.0]])[0] > 0), model.predict([[1.0]]).tolist()
    (True, ['yes'])
    """

    SPARSE: ClassVar[bool] = False  # whether X may be a CSR matrix
    MULTICLASS: ClassVar[bool] = False
    ZERO_IS_SECOND: ClassVar[bool] = False  # whether f = 0 belongs to classes_[1]
    # factor from f to log-odds; 0 if f is not log-odds, except with the loss "log"
    LINK: ClassVar[float] = 1.0

    classes_: NDArray[Any]
    decision_function: Callable[[Any], Floats]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            The classes. A decision value of 0 belongs to the first of two classes, in linear
            classifiers to the second.
        """
        f = self.decision_function(X)
        if f.ndim == 2:
            return self.classes_[f.argmax(axis=1)]
        return self.classes_[((f >= 0) if self.ZERO_IS_SECOND else (f > 0)).astype(np.intp)]

    @available_if(_has_log_odds)
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each true class for each sample.

        The method exists only where decision values are log-odds. Those of most margin losses are
        not; `sklearn.calibration.CalibratedClassifierCV` calibrates them.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n, K)
            The probabilities.

        Notes
        -----
        They are the logistic function of the decision value for the second of two classes, and the
        softmax of the decision values for more classes. Some classifiers multiply the values by a
        factor first.
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
    r"""Base of linear classifiers.

    A decision value of 0 belongs to the second of two classes.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d), or (K, d) for more than two classes
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (K,)
        Constants of the decision values.
    n_features_in_ : int
        Number of features d.
    classes_ : ndarray of shape (K,)
        The classes.

    Examples
    --------
    >>> from noisylabels import PegasosClassifier
    >>> from noisylabels.classifiers.base import LinearBinaryClassifier
    >>> issubclass(PegasosClassifier, LinearBinaryClassifier)
    True

    Notes
    -----
    The decision value is :math:`f(x) = x \cdot w + b`.
    """

    SPARSE: ClassVar[bool] = True
    ZERO_IS_SECOND: ClassVar[bool] = True
    LINK: ClassVar[float] = 0.0

    coef_: Floats
    intercept_: Floats
    n_features_in_: int

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision values of samples.

        Parameters
        ----------
        X : array_like or CSR matrix of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The values; of more than two classes one for each class.

        Raises
        ------
        ValueError
            If the classifier is not fitted, the number of features differs, or a value is NaN or
            infinite.
        """
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
        """Check X, code the labels as -1.0 and +1.0, and return the weights if it is `Weighted`.

        Of K > 2 classes the labels are (K, n), +1.0 for class k in row k. The first call sets
        classes_.
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
        """Multiply the rows (x_i, 1) by their labels s_i of -1.0 and +1.0, and return both.

        Sets classes_.
        """
        X, s, _ = self._checked(X, y, sample_weight=sample_weight)
        constant = np.ones(len(X))
        columns = np.column_stack([X.astype(np.float64), constant])
        return s[:, np.newaxis] * columns, s
