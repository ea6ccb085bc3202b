"""One call that audits the labels of a table, and what it finds in plain words.

Of labels that are numbers: f(x) and s(x), cross-fitted, are the label, and the size |y - f(x)| of
what is left, both predicted by models that did not see the row. z = |y - f(x)| / s(x), scaled to
the median 0.6745 that it has for normal errors, so that wrong labels do not hide behind the spread
that they cause themselves.

Sources: Iglewicz and Hoaglin, How to detect and handle outliers, 1993 (0.6745 and 3.5); Lei et al.,
JASA 113, 2018, Section 5.2 (residuals with a local scale).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.auditing import cross_fitting, flip_rates, tables
from noisylabels.auditing.copies import (
    Copies,
    combine_groups,
    find_copies,
    groups_of,
    number_groups,
)
from noisylabels.auditing.cross_fitting import (
    LARGEST,
    MANY,
    Array,
    Classes,
    CrossFit,
    Groups,
    cross_fitted,
    numbered,
    split_folds,
)
from noisylabels.auditing.flip_rates import Sureness
from noisylabels.auditing.matching import (
    match_columns,
    match_rows,
    refuse_other_order,
)
from noisylabels.auditing.wording import write_number
from noisylabels.validation import check_labels, refuse_other_index, shown, whole

if TYPE_CHECKING:
    import pandas as pd

LARGEST_SEED = 2**32 - 1
"""The largest seed that scikit-learn accepts."""
TELLING = 0.01
"""Share of labels that a column may miss if the report names it as one that predicts them alone."""
SURE = 3.0
"""Standard errors by which a part of a date must improve the likelihood of held-out labels."""
FAR = 3.5
MEDIAN = 0.6745
SIGNIFICANT = 0.05
FEW = 200
"""Number of rows below which the report warns."""
RARE = 0.1
"""Share of a class below which the report warns."""
NEAR_HALF = 0.4
"""Flip rate above which the report warns."""
BIAS = (
    "The flip rates are biased, and no interval shows it. The confident joint counts overlap of "
    "the classes as flips: where they overlap its rates are too high. The model's own rates are "
    "too low, often 0: a flexible model fits wrong labels as if they were right."
)
WHAT_SETTLES_IT = (
    "Reviewed rows settle it (`--review 100`, in Python `noisylabels.review`), and so does a "
    "column of verified labels (`--trusted`)."
)


@dataclass(frozen=True)
class Audit:
    r"""The findings of an audit of classes.

    Below, n is the number of rows and K the number of classes.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        The classes, sorted.
    counts : ndarray of shape (K,)
        How many labels are of each class.
    suspicious : pandas.DataFrame
        The labels that are likely wrong, the most doubtful first: a part of ``ranking``. Empty if
        the audit is not informative.
    ranking : pandas.DataFrame
        All labels, the most doubtful first: ``row``, ``line`` if the table has lines, ``label``,
        ``suggested`` (the most probable other class) and ``score`` in [-1, 1].
    conflicts : pandas.DataFrame
        Rows that are equal to others but for the label, then pairs of rows that are nearly equal:
        ``row``, ``line`` if the table has lines, ``label``, ``like`` (the first row of the group)
        and ``nearly``.
    flip_rates : pandas.DataFrame
        A row for each pair of a ``true`` and an ``observed`` class: ``estimate`` (confident joint),
        ``anchor``, ``own`` (of the model, or NaN) and ``limit`` (the largest rate that labels alone
        allow, at 95 %). With trusted labels also ``trusted``, ``trusted_low`` and ``trusted_high``.
    bounds : tuple of float
        0 and the largest share of wrong labels that labels alone allow, at 95 %. The second is 1 if
        the audit is not informative.
    guess : float
        The share of wrong labels by the anchor estimate.
    informative : bool
        Whether some model knows anything of the labels.
    sureness : noisylabels.auditing.flip_rates.Sureness
        The labels of the rows of whose class the model is most confident.
    accuracies : pandas.DataFrame
        The methods by their accuracies, see `noisylabels.auditing.flip_rates.compared`.
    model : str
        Name of the model that decides which labels are suspicious.
    notes : list of str
        Remarks on the table, its copies and groups, and the training of the models, as clauses
        without a full stop.
    table : noisylabels.auditing.tables.Table
        The table that was audited.
    probabilities : ndarray of shape (n, K)
        Probabilities of the observed class, by models that did not see the row.
    predictions : dict of str to ndarray of shape (n,)
        For each method the numbers of the classes that its first cross-fit predicts.
    copies : noisylabels.auditing.copies.Copies
        Which rows are copies of each other.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import audit
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> result.suspicious["row"].tolist()
    [0, 1, 2, 3, 4]

    Notes
    -----
    The score of row n is :math:`p_{n y_n} - \max_{j \ne y_n} p_{nj}`.
    """

    classes: NDArray[Any]
    counts: NDArray[np.intp]
    suspicious: pd.DataFrame
    ranking: pd.DataFrame
    conflicts: pd.DataFrame
    flip_rates: pd.DataFrame
    bounds: tuple[float, float]
    guess: float
    informative: bool
    sureness: Sureness
    accuracies: pd.DataFrame
    model: str
    notes: list[str]
    table: tables.Table = field(repr=False)
    probabilities: Array = field(repr=False)
    predictions: dict[str, Classes] = field(repr=False)
    copies: Copies = field(repr=False)

    @property
    def evidence(self) -> NDArray[np.bool_]:
        """Classes in which labels disagree where the model is most confident, (K,)."""
        return self.sureness.evidence

    @property
    def observed(self) -> Classes:
        """The class of each label, (n,)."""
        return np.asarray(np.searchsorted(self.classes, self.table.labels))

    @property
    def doubt(self) -> Array:
        """Doubt about each label: one minus its probability, (n,)."""
        return np.asarray(
            1.0 - self.probabilities[np.arange(len(self.probabilities)), self.observed]
        )

    @property
    def doubted(self) -> NDArray[np.bool_]:
        """Whether another class is more probable, (n,)."""
        return flip_rates.margins(self.probabilities, self.observed) < 0

    @property
    def expected(self) -> NDArray[Any]:
        """The most probable other class, (n,)."""
        return np.asarray(self.classes[flip_rates.suggested(self.probabilities, self.observed)])

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join(describe(self))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class NumericAudit:
    """The findings of an audit of labels that are numbers.

    Below, n is the number of rows.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        The table that was audited.
    model : str
        Name of the class of the regressor.
    ranking : pandas.DataFrame
        All labels, the most doubtful first: ``row``, ``line`` if the table has lines, ``label``,
        ``suggested`` (the prediction) and ``score``.
    suspicious : pandas.DataFrame
        The part of ``ranking`` with scores below -3.5. Empty if the audit is not informative.
    informative : bool
        Whether predictions and labels are rank-correlated, with a p-value below 0.05.
    error : float
        Median of the absolute errors of prediction, in the unit of the labels.
    doubt : ndarray of shape (n,)
        Doubt about each label, from 0 to 1.
    doubted : ndarray of bool, shape (n,)
        Whether the score is below -3.5.
    expected : ndarray of shape (n,)
        Predictions of models that did not see the row, to six significant digits.
    notes : list of str
        Remarks on the table, its copies and groups, and the training of the models, as clauses
        without a full stop.
    copies : noisylabels.auditing.copies.Copies
        Which rows are copies of each other.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import audit
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.linspace(0, 1, 100)[:, np.newaxis]
    >>> y = np.where(np.arange(100) == 50, 9.0, X[:, 0])
    >>> audit(X, y, model=LinearRegression()).suspicious["row"].tolist()
    [50]

    Notes
    -----
    The score is :math:`-z`, and the doubt is :math:`z / (z + 3.5)`. Here :math:`z = |y - f(x)| /
    s(x)`, with the prediction f(x) and the expected size s(x) of its error, scaled to the median
    0.6745.

    References
    ----------
    Iglewicz and Hoaglin, How to detect and handle outliers, 1993. Lei et al., JASA 113, 2018,
    Section 5.2.
    """

    table: tables.Table = field(repr=False)
    model: str
    ranking: pd.DataFrame
    suspicious: pd.DataFrame
    informative: bool
    error: float
    doubt: Array = field(repr=False)
    doubted: NDArray[np.bool_] = field(repr=False)
    expected: Array = field(repr=False)
    notes: list[str]
    copies: Copies = field(repr=False)

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join(describe(self))

    def __str__(self) -> str:
        return self.text


def audit(
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    pred_probs: Any = None,
    classes: ArrayLike | None = None,
    model: Any = None,
    trusted: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    repetitions: int | None = None,
    most_rows: int | None = None,
    compare: bool | None = None,
) -> Audit | NumericAudit:
    """Estimate how many labels are wrong, rank suspicious ones and compare methods.

    Labels that are numbers with more than 50 values are audited as measurements. Two cases are
    refused instead, as at most 50 classes can be audited. One is whole numbers from 0 or 1 without
    a gap, with at least five rows each on average: they look like class numbers. The other is any
    such labels with ``pred_probs``.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features), optional
        Numbers or words; values may be missing. It may be left out where ``pred_probs`` is given.
    y : array of shape (n_samples,)
        The observed labels, of at least two classes.
    pred_probs : data frame or array of shape (n_samples, n_classes), optional
        Probabilities of the classes, of each row by a model that did not see it, in place of a
        model. Columns and rows of a data frame are matched by their names; an index 0, 1, 2 in
        order stands for no names where y has others. Columns without names are in the order of
        ``classes``, or sorted.
    classes : array of shape (n_classes,), optional
        Names of the columns of ``pred_probs``.
    model : classifier or str, optional
        Any scikit-learn classifier with ``predict_proba`` (a regressor for measurements), a name
        ("forest", "gradient_boosting", "logistic", "robust_logistic", "rmklr"), "package:Class", or
        "best": of these five, the one whose cross-fitted probabilities give the observed labels the
        largest likelihood. By default rMKLR, and above 5000 rows gradient boosting. For
        measurements by default a forest, and above 5000 rows gradient boosting of absolute errors.
    trusted : array of shape (n_samples,), optional
        Verified labels, None or NaN where there is none.
    groups : array of shape (n_samples,), optional
        Names of groups of rows, such as patients: a group is in one fold.
    random_state : int, default 0
        Decides every random choice, from 0 to 2**32 - 1. With ``pred_probs`` there is none, and
        another value than 0 is refused.
    repetitions : int, optional
        Repetitions of the cross-fitting: 3 by default, 1 above 5000 rows. Measurements are
        cross-fitted once, and more than 1 is refused.
    most_rows : int, optional
        Largest number of rows that a model is trained on, approximately; not below 20. From more
        rows, a stratified sample is drawn. By default all rows, but 2000 for rMKLR. A model of
        measurements is trained on all rows, and fewer are refused.
    compare : bool, optional
        Whether to compare with other methods; by default up to 5000 rows. For measurements and with
        ``pred_probs`` there are no other methods, and True is refused.

    Returns
    -------
    Audit or NumericAudit
        For classes the flip rates, the ranking of the labels and the comparison of methods. For
        measurements the ranking. Flip rates have confidence intervals only with trusted labels.

    Raises
    ------
    ValueError
        If the table cannot be audited, or an argument is wrong or would have no effect. The message
        is one line.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import audit
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> found = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> found.suspicious[["label", "suggested"]].iloc[0].tolist()
    ['dog', 'cat']

    Notes
    -----
    With ``pred_probs`` no model is trained: ``model``, ``random_state``, ``repetitions``,
    ``most_rows`` and ``compare=True`` are refused.

    References
    ----------
    Northcutt, Jiang and Chuang, JAIR 2021. Kaban and Bootkrajang, LABELNOISE 2017.
    """
    if most_rows is not None:
        whole("most_rows", most_rows, tables.FEWEST_ROWS)
    if repetitions is not None:
        whole("repetitions", repetitions, 1)
    whole("random_state", random_state, 0, LARGEST_SEED)
    if y is None or (X is None and pred_probs is None):
        raise ValueError(
            "audit needs the observed labels y, and the table X or probabilities pred_probs"
        )
    if pred_probs is not None:
        refuse_unused(
            "with pred_probs, as no model is trained",
            {
                "model": model is not None,
                "random_state": random_state != 0,
                "repetitions": repetitions is not None,
                "most_rows": most_rows is not None,
                "compare": bool(compare),
            },
        )
    if classes is not None and pred_probs is None:
        raise ValueError("classes: names of the columns of pred_probs, which are not given")
    # a mask marks rows without a label, which are dropped below
    check_labels("y", np.ma.getdata(y) if np.ma.isMaskedArray(y) else y)
    refuse_other_index(X, y, trusted=trusted, groups=groups)
    if X is None:
        features = np.arange(len(np.asarray(y)))[:, np.newaxis]
    else:
        features = X
    check = tables.check_labels if pred_probs is None else tables.check_classes
    table = tables.of_arrays(features, y, trusted, check)
    if groups is None:
        named = None
    else:
        named = groups_of(groups, len(np.asarray(y)))[table.rows]
    if pred_probs is not None:
        if len(table.rows) < len(np.asarray(y)):
            raise ValueError("y: a row without a label; leave it out, and its probabilities too")
        if X is None:  # without a table, there are only row numbers, which are not features
            table = replace(table, X=np.empty((len(table.rows), 0)), names=[])
        if hasattr(y, "loc") or not hasattr(X, "loc"):
            source = "y"
            rows = y
        else:
            source = "X"
            rows = X
        p = match_rows(
            pred_probs, getattr(rows, "index", None) if hasattr(rows, "loc") else None, rows=source
        )
        if classes is not None and len(np.unique(np.asarray(classes))) != np.size(classes):
            raise ValueError("classes: a class is named twice")
        order = order_of_classes(y, table.labels)
        p = match_columns(p, order, classes)
        if p.shape == (len(table.labels), len(order)):
            p = p[:, np.argsort(np.searchsorted(np.unique(table.labels), order))]
        return of_probabilities(table, p, groups=named)
    return of_table(
        table,
        model,
        groups=named,
        random_state=random_state,
        repetitions=repetitions,
        most_rows=most_rows,
        compare=compare,
    )


def refuse_unused(reason: str, is_set: Mapping[str, bool]) -> None:
    """Refuse arguments that were set and would have no effect.

    Parameters
    ----------
    reason : str
        When they have no effect; the message continues with it.
    is_set : mapping of str to bool
        Whether each argument, by its name, asks for something that would not be done.

    Raises
    ------
    ValueError
        If an argument does; the message names it.

    Examples
    --------
    >>> from noisylabels.auditing.audit import refuse_unused
    >>> refuse_unused("for measurements", {"compare": True})
    Traceback (most recent call last):
    ...
    ValueError: compare: has no effect for measurements; leave it out
    """
    for name, applies in is_set.items():
        if applies:
            raise ValueError(f"{name}: has no effect {reason}; leave it out")


def order_of_classes(y: ArrayLike, labels: NDArray[Any]) -> NDArray[Any]:
    """List the classes in the order in which ``np.unique`` sorts the labels as given.

    Parameters
    ----------
    y : array_like of shape (n,)
        The labels as the user gave them.
    labels : ndarray of shape (n,)
        The same labels as the table has them.

    Returns
    -------
    ndarray of shape (K,)
        The classes as the table has them. They are sorted if y cannot be sorted, or has another
        number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import order_of_classes
    >>> order_of_classes([10, 9, 10], np.array(["10", "9", "10"])).tolist()
    ['9', '10']
    """
    classes = np.unique(labels)
    try:
        first = np.unique(np.asarray(y), return_index=True)[1]
    except TypeError:  # texts and numbers together have no order
        return classes
    ordered = labels[first]
    return ordered if len(ordered) == len(classes) else classes


def find_units(
    table: tables.Table, groups: Groups | None
) -> tuple[Copies, Groups | None, list[str]]:
    """Find the copies of a table, and number the units: copies, or the rows of a group.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows. Without columns and texts none of its rows are copies.
    groups : ndarray of int, shape (n,), optional
        The group of each row; numbers may be missing.

    Returns
    -------
    copies : noisylabels.auditing.copies.Copies
        The copies.
    units : ndarray of shape (n,) or None
        The unit of each row, numbers from 0; None if each row is alone.
    notes : list of str
        Remarks on copies and groups.

    Raises
    ------
    ValueError
        If all rows are in one group.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> X = np.arange(40.0)[:, np.newaxis] ** 2
    >>> table = tables.of_arrays(X, np.repeat(["cat", "dog"], 20))
    >>> audit.find_units(table, np.arange(40) // 2)[2][-1]
    'rows of one group count as one: 20 groups'
    """
    n = len(table.labels)
    alone = np.arange(n)
    copies = Copies(alone, alone)
    if table.X.shape[1] or table.text is not None:
        copies = find_copies(table.X, table.text)
    notes = copies.describe()
    if groups is not None:
        # rows without a label are dropped, so that some numbers of groups may be missing
        groups = number_groups(groups)
        if len(groups) and groups.max() == 0:
            raise ValueError("groups: all rows are in one group; give smaller groups, or none")
        notes.append(f"rows of one group count as one: {int(groups.max()) + 1} groups")
    return copies, combine_groups(copies.groups, groups), notes


def refuse_large_groups(classes: NDArray[Any], y: Classes, groups: Groups) -> None:
    """Refuse a class whose rows are all in one group: no fold could learn it without that group.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        The classes.
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    groups : ndarray of int, shape (n,)
        The group of each row.

    Raises
    ------
    ValueError
        If a class occurs in fewer than two groups.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import refuse_large_groups
    >>> y = np.array([0, 0, 1, 1])
    >>> refuse_large_groups(np.array(["cat", "dog"]), y, np.array([0, 1, 2, 2]))
    Traceback (most recent call last):
        ...
    ValueError: groups: all rows of the class ... are in one group; ...
    """
    alone = cross_fitting.groups_of_classes(y, number_groups(groups)) < 2
    if alone.any():
        name = shown(classes[alone][0].item())
        advice = "a group is judged by models that did not see it; give smaller groups, or none"
        raise ValueError(f"groups: all rows of the class {name} are in one group; {advice}")


def of_probabilities(
    table: tables.Table, pred_probs: ArrayLike, *, groups: Groups | None = None
) -> Audit:
    """Audit labels with probabilities from elsewhere.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows with labels of K classes.
    pred_probs : array_like of shape (n, K)
        Probabilities of the classes in sorted order, of each row by a model that did not see it.
    groups : ndarray of int, shape (n,), optional
        The group of each row.

    Returns
    -------
    Audit
        The findings. The model is called ``your model``.

    Raises
    ------
    ValueError
        If the shape is another, a row is negative or does not sum to 1 within 0.01, another order
        of the columns fits the labels clearly better, or all rows are in one group.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> y = np.repeat(["cat", "dog"], [45, 55])
    >>> table = tables.of_arrays(np.arange(100.0)[:, np.newaxis], y)
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> len(audit.of_probabilities(table, p).suspicious)
    5
    """
    p = np.asarray(pred_probs, dtype=float)
    K = len(np.unique(table.labels))
    shape = (len(table.labels), K)
    if p.shape != shape:
        expected = (
            f"a row for each label and a column for each of {K} classes, {(len(table.labels), K)}"
        )
        raise ValueError(f"pred_probs must have {expected}; got shape {p.shape}")
    tables.check_probabilities(p, lambda i: f"pred_probs, row {i}")
    classes, y = np.unique(table.labels, return_inverse=True)
    refuse_other_order(p, y, classes.tolist())
    repetitions = p[np.newaxis]
    unknown = np.full((1, K, K), np.nan)
    fit = CrossFit(repetitions, repetitions, unknown)
    copies, units, notes = find_units(table, groups)
    return of_cross_fits(table, {"your model": fit}, [*table.notes, *notes], copies, units)


def of_table(
    table: tables.Table,
    model: Any = None,
    *,
    groups: Groups | None = None,
    random_state: int = 0,
    repetitions: int | None = None,
    most_rows: int | None = None,
    compare: bool | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> Audit | NumericAudit:
    """Audit a table that was read.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows.
    model : classifier, regressor or str, optional
        The model, as in `audit`.
    groups : ndarray of int, shape (n,), optional
        The group of each row.
    random_state : int, default 0
        Seed of every random choice.
    repetitions : int, optional
        Repetitions of the cross-fitting, as in `audit`.
    most_rows : int, optional
        Largest number of rows that a model is trained on, as in `audit`.
    compare : bool, optional
        Whether to compare with other methods, as in `audit`.
    say : callable, optional
        Gets a sentence about each step.

    Returns
    -------
    Audit or NumericAudit
        The findings.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed.
    ValueError
        If all rows of a class or of the table are in one group, the model cannot be used, or an
        argument would have no effect, as in `audit`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> table = tables.of_arrays(X, np.where(X[:, 0] > 0, "cat", "dog"))
    >>> audit.of_table(table, "logistic", repetitions=1, compare=False).model
    'logistic'
    """
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError as missing:
        advice = "an audit answers with data frames, which need pandas: pip install pandas"
        raise ModuleNotFoundError(advice, name="pandas") from missing
    is_measurement = tables.measured(table.labels)
    if is_measurement:
        refuse_unused(
            "for measurements",
            {
                "repetitions": repetitions is not None and repetitions > 1,
                "most_rows": most_rows is not None and most_rows < len(table.labels),
                "compare": bool(compare),
            },
        )
    copies, units, notes_on_units = find_units(table, groups)
    table = replace(table, notes=[*table.notes, *notes_on_units])
    if is_measurement:
        return of_numbers(
            table, model, copies=copies, units=units, random_state=random_state, say=say
        )
    classes, y = np.unique(table.labels, return_inverse=True)
    if groups is not None:
        refuse_large_groups(classes, y, groups)
    is_large = len(y) > MANY
    ours = (*cross_fitting.ROBUST, *cross_fitting.PLAIN)
    repetitions = repetitions or (1 if is_large else 3)
    alone = telling(table, y, units)
    table = with_calendar(table, y, random_state, units)
    doubtful = (
        "alone predicts nearly every label; if it is known only because of the label, leave it out"
    )
    notes = [*table.notes, *(f"column {name!r} {doubtful}" for name in alone)]

    def fitted(wanted: Any, times: int) -> CrossFit:
        name, built = cross_fitting.chosen(wanted, random_state)
        rows = most_rows or (LARGEST if name == cross_fitting.DEFAULT else len(y))
        say(f"cross-fitting {name} on {len(y)} rows, {'once' if times == 1 else f'{times} times'}")
        if len(y) > rows:
            notes.append(
                f"{name} was trained on {rows} of the {len(y)} rows, drawn class by class; all "
                "were judged"
            )
        options = {"random_state": random_state, "most_rows": rows, "text": table.text, "say": say}
        options["groups"] = units
        return cross_fitted(table.X, y, built, repetitions=times, **options)

    fits: dict[str, CrossFit] = {}
    if model == "best":
        fits = {name: fitted(name, 1) for name in ours}
        model = max(fits, key=lambda name: flip_rates.log_likelihoods(fits[name], y, units).mean())
        notes.append(
            f"of {len(fits)} models {model} gives the labels of rows it did not see the largest "
            "likelihood"
        )
    if model is not None:
        wanted = model
    elif is_large:
        wanted = "gradient boosting"
    else:
        wanted = cross_fitting.DEFAULT
    name = cross_fitting.chosen(wanted)[0]
    if name in fits and repetitions == 1:
        first = fits[name]
    else:
        first = fitted(wanted, repetitions)
    compared: tuple[str, ...] = ()
    if compare or (compare is None and not is_large):
        compared = ours
    fits |= {other: fitted(other, 1) for other in compared if other not in (*fits, name)}
    fits = {name: first} | fits | {name: first}
    return of_cross_fits(table, fits, list(dict.fromkeys(notes)), copies, units)


def of_numbers(
    table: tables.Table,
    model: Any = None,
    *,
    copies: Copies,
    units: Groups | None = None,
    random_state: int = 0,
    say: Callable[[str], None] = lambda sentence: None,
) -> NumericAudit:
    """Audit a table whose labels are numbers.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows.
    model : regressor, optional
        A regressor of scikit-learn. By default a forest, above 5000 rows gradient boosting of
        absolute errors.
    copies : noisylabels.auditing.copies.Copies
        Which rows are copies of each other.
    units : ndarray of int, shape (n,), optional
        The unit of each row, numbers from 0. Rows of one unit share a fold and count as one where
        the audit tests whether it is informative.
    random_state : int, default 0
        Seed of the folds and of the default models.
    say : callable, optional
        Gets a sentence about the cross-fitting.

    Returns
    -------
    NumericAudit
        The findings.

    Raises
    ------
    ValueError
        If the model has no ``predict``, or there are fewer than five units.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.linspace(0, 1, 100)[:, np.newaxis]
    >>> y = np.where(np.arange(100) == 50, 9.0, X[:, 0])
    >>> table = tables.of_arrays(X, y, check=tables.check_labels)
    >>> copies, units, _ = audit.find_units(table, None)
    >>> result = audit.of_numbers(table, LinearRegression(), copies=copies, units=units)
    >>> result.suspicious["row"].tolist()
    [50]

    Notes
    -----
    Five folds are cross-fitted twice: for the labels, and for the sizes of their errors. The
    expected size of an error is at least half of the median size. Words of texts enter by 20
    components of a singular value decomposition. The formula is in `NumericAudit`.
    """
    import pandas as pd
    from scipy.stats import spearmanr
    from sklearn.base import clone
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

    if model is not None and (isinstance(model, str | type) or not hasattr(model, "predict")):
        advice = "the labels are numbers; give a regressor such as Ridge(), or none"
        raise ValueError(f"model: {model!r} cannot predict them: {advice}")
    notes = list(table.notes)
    if table.labels.dtype.kind in "iu":
        values = (
            f"the labels are whole numbers with {len(np.unique(table.labels))} different values"
        )
        advice = (
            f"if they are classes, write them as words; at most {tables.MOST_CLASSES} classes can "
            "be audited"
        )
        notes.insert(0, f"{values}, and were audited as measurements; {advice}")
    y = table.labels.astype(float)
    boosting = HistGradientBoostingRegressor(loss="absolute_error", random_state=random_state)
    forest = RandomForestRegressor(min_samples_leaf=3, random_state=random_state)
    model = model or (boosting if len(y) > MANY else forest)
    # the components come from X alone, without the labels
    words = TruncatedSVD(20, random_state=random_state)
    if table.text is None:
        X = table.X
    else:
        X = np.hstack([table.X, words.fit_transform(table.text)])
    folds = KFold(5, shuffle=True, random_state=random_state)
    if units is not None:
        if units.max() < 4:
            raise ValueError("groups: labels that are numbers need at least 5 groups")
        folds = GroupKFold(5, shuffle=True, random_state=random_state)
    say(f"cross-fitting {type(model).__name__} on {len(y)} rows, twice")
    expected = cross_val_predict(clone(model), X, y, cv=folds, groups=units)
    size = np.abs(y - expected)
    magnitudes = np.abs(y)
    floor = max(float(np.median(size)), 1e-12 * float(magnitudes.max()), 1e-300) / 2
    guess_of_size = cross_val_predict(clone(model), X, size, cv=folds, groups=units)
    z = size / np.maximum(guess_of_size, floor)
    z *= MEDIAN / max(float(np.median(z)), 1e-12)
    p_value = 1.0
    if expected.std() > 0:
        guesses = flip_rates.average_groups(expected, units)
        labels = flip_rates.average_groups(y, units)
        p_value = float(spearmanr(guesses, labels, alternative="greater").pvalue)
    expected = np.array([float(f"{value:.6g}") for value in expected])
    columns = table.places() | {"label": table.labels, "suggested": expected, "score": -z}
    frame = pd.DataFrame(columns).sort_values("score", kind="stable", ignore_index=True)
    informative = bool(p_value < SIGNIFICANT)
    return NumericAudit(
        table=table,
        model=type(model).__name__,
        ranking=frame,
        suspicious=frame[(frame["score"] < -FAR) & informative],
        informative=informative,
        error=float(np.median(size)),
        doubt=z / (z + FAR),
        doubted=z > FAR,
        expected=expected,
        notes=notes,
        copies=copies,
    )


def of_cross_fits(
    table: tables.Table,
    fits: dict[str, CrossFit],
    notes: list[str],
    copies: Copies,
    units: Groups | None = None,
) -> Audit:
    """Audit labels by the probabilities of cross-fitted models.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows.
    fits : dict of str to noisylabels.auditing.cross_fitting.CrossFit
        The cross-fits by the names of their models. The first decides which labels are suspicious;
        the others are compared with it.
    notes : list of str
        Remarks on the table, its copies and groups, and the training of the models, as clauses
        without a full stop.
    copies : noisylabels.auditing.copies.Copies
        Which rows are copies of each other.
    units : ndarray of int, shape (n,), optional
        The unit of each row, numbers from 0. Rows of one unit count as one.

    Returns
    -------
    Audit
        The findings.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> from noisylabels.auditing.cross_fitting import CrossFit
    >>> y = np.repeat(["cat", "dog"], [45, 55])
    >>> table = tables.of_arrays(np.arange(100.0)[:, np.newaxis], y)
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)[np.newaxis]
    >>> fits = {"my model": CrossFit(p, p, np.full((1, 2, 2), np.nan))}
    >>> len(audit.of_cross_fits(table, fits, [], audit.find_units(table, None)[0]).suspicious)
    5
    """
    import pandas as pd

    classes, y = np.unique(table.labels, return_inverse=True)
    name, cross = next(iter(fits.items()))
    p = cross.mean
    a = flip_rates.weights_of(units)
    Q = flip_rates.joint(p, y, a)
    sureness = flip_rates.surest(p, y, units, with_ties=True)
    informative = flip_rates.chance(fits, y, units) < SIGNIFICANT
    columns = table.places() | {
        "label": classes[y],
        "suggested": classes[flip_rates.suggested(p, y)],
    }
    columns |= {"score": flip_rates.margins(p, y), "wrong": flip_rates.likely_wrong(p, y, Q, a)}
    ranking = pd.DataFrame(columns).sort_values("score", kind="stable", ignore_index=True)
    if informative:
        highest = float(flip_rates.wrong_share_of(sureness.limit, y, a))
    else:
        highest = 1.0
    return Audit(
        classes=classes,
        counts=np.bincount(y),
        suspicious=ranking[ranking.pop("wrong") & informative].reset_index(drop=True),
        ranking=ranking,
        conflicts=_conflicts(table, y, classes),
        flip_rates=_rates(cross, y, classes, table.trusted, sureness.limit, units),
        bounds=(0.0, highest),
        guess=flip_rates.wrong_share_of(flip_rates.anchor(p, y, a=a), y, a),
        informative=informative,
        sureness=sureness,
        accuracies=flip_rates.compared(fits, y, flip_rates.flip_matrix(Q), units),
        model=name,
        notes=notes,
        table=table,
        probabilities=p,
        predictions={each: fit.predicted[0] for each, fit in fits.items()},
        copies=copies,
    )


def _conflicts(table: tables.Table, y: Classes, classes: NDArray[Any]) -> pd.DataFrame:
    import pandas as pd

    equal: list[Any] = []
    nearly_equal: list[Any] = []
    if table.X.shape[1] or table.text is not None:
        equal, nearly_equal = flip_rates.conflicts(table.X, table.text, y)
    groups = [*equal, *nearly_equal]
    rows = np.concatenate([*groups, np.empty(0, dtype=np.intp)])
    first_rows = []
    for group in groups:
        first_rows += [table.rows[group[0]]] * len(group)
    n_equal = sum(map(len, equal))
    columns = table.places(rows)
    columns["label"] = classes[y[rows]]
    frame = pd.DataFrame(columns)
    frame["like"] = first_rows
    frame["nearly"] = np.arange(len(rows)) >= n_equal
    return frame


def _rates(
    cross: CrossFit,
    y: Classes,
    classes: NDArray[Any],
    trusted: list[Any],
    limit: Array,
    units: Groups | None,
) -> pd.DataFrame:
    """Make a row for each pair of a true and an observed class."""
    import pandas as pd

    K = len(classes)
    p = cross.mean
    a = flip_rates.weights_of(units)
    matrices = {"estimate": flip_rates.from_joint(p, y, a), "anchor": flip_rates.anchor(p, y, a=a)}
    matrices |= {"own": cross.omega.mean(axis=0), "limit": limit}
    if places := [i for i, value in enumerate(trusted) if value is not None]:
        true = np.searchsorted(classes, np.array([trusted[i] for i in places]))
        counted = flip_rates.counted(y[places], true, K, numbered(units, np.array(places)))
        matrices |= dict(zip(("trusted", "trusted_low", "trusted_high"), counted, strict=True))
    pairs = {"true": np.repeat(classes, K), "observed": np.tile(classes, K)}
    return pd.DataFrame(pairs | {key: matrix.ravel() for key, matrix in matrices.items()})


def telling(table: tables.Table, y: Classes, units: Groups | None = None) -> list[str]:
    """Find columns that alone predict nearly every label.

    If more than 1 % of the labels are wrong, only a column that was made from the label can predict
    it so well.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows.
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    units : ndarray of int, shape (n,), optional
        The unit of each row, numbers from 0. Rows of one unit are in one fold.

    Returns
    -------
    list of str
        The names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> y = np.arange(100) % 2
    >>> X = np.column_stack([100 * y + np.arange(100), np.arange(100) // 2])
    >>> audit.telling(tables.of_arrays(X, np.where(y == 1, "cat", "dog")), y)
    ['x0']

    Notes
    -----
    Small trees are cross-fitted in two folds, on at most 2000 rows in all. A column is named if at
    most 1 % of their predictions are wrong, and at most a tenth as many as if the largest class
    were always predicted.
    """
    from sklearn.model_selection import cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    part = rng.permutation(len(y))[:LARGEST]
    K = int(y.max()) + 1
    y = y[part]
    units = numbered(units, part)
    if units is None:
        counts = np.bincount(y)
    else:
        counts = cross_fitting.groups_of_classes(y, units)
    largest_share = np.bincount(y).max() / len(y)
    most_errors = min(TELLING, 0.1 * (1 - largest_share))
    if most_errors <= 0 or counts.min() <= 1:
        return []
    tree = DecisionTreeClassifier(max_leaf_nodes=8 * K, min_samples_leaf=2, random_state=0)
    names = []
    for name in table.contents:
        encoded = []
        for j, feature in enumerate(table.names):
            if feature == name or feature.startswith(f"{name}="):
                encoded.append(j)
        if not encoded:
            continue
        X = table.X[part][:, encoded]
        # A tree that has already seen the rows is too optimistic: it rules out most columns
        # without a cross-fit.
        errors = tree.fit(X, y).predict(X) != y
        if np.mean(errors) > most_errors:
            continue
        folds: Any = 2
        if units is not None:
            folds = list(split_folds(y, 2, 0, units))
        held_out = cross_val_predict(tree, X, y, cv=folds)
        if np.mean(held_out != y) <= most_errors:
            names.append(name)
    return names


def with_calendar(
    table: tables.Table, y: Classes, random_state: int = 0, units: Groups | None = None
) -> tables.Table:
    r"""Add cosine and sine of the parts of dates that help to predict, and note each of them.

    The parts are the time of the year, of the week and of the day, each of all dates together.

    Parameters
    ----------
    table : noisylabels.auditing.tables.Table
        A table of n rows.
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    random_state : int, default 0
        Seed of the folds, the forests and the shuffling.
    units : ndarray of int, shape (n,), optional
        The unit of each row, numbers from 0. Rows of one unit are in one fold and count as one.

    Returns
    -------
    noisylabels.auditing.tables.Table
        The table with the added columns. A table without dates is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> import pandas as pd
    >>> days = pd.date_range("2024-01-01", periods=400)
    >>> y = np.where(days.day_of_week < 5, 1, 0)
    >>> labels = np.where(y == 1, "work", "rest")
    >>> table = tables.of_arrays(pd.DataFrame({"date": days}), labels)
    >>> audit.with_calendar(table, y).names[1:]
    ['date weekday cos', 'date weekday sin']

    Notes
    -----
    A part stays if it makes the labels of rows that a random forest did not see likelier. The mean
    gain in :math:`\log p_y` has to exceed three standard errors, both over the table without the
    part and over the table with the parts of other rows, shuffled. Forests are trained on about
    2000 rows at most.
    """
    if not table.dates:
        return table
    forest = cross_fitting.model_of("forest", random_state)

    def likely(X: Array) -> Array:
        options: dict[str, Any] = {
            "random_state": random_state,
            "repetitions": 1,
            "most_rows": LARGEST,
        }
        fit = cross_fitted(X, y, forest, groups=units, **options)
        return flip_rates.log_likelihoods(fit, y, units)

    def is_clear(gain: Array) -> bool:
        error = gain.std(ddof=1) / len(gain) ** 0.5
        return bool(gain.mean() > SURE * error)

    parts: dict[str, dict[str, Array]] = {}
    for name in table.dates:  # dates are days since 1970; tried are the year, the week and the day
        column = table.names.index(name)
        days = table.X[:, column]
        turns = {"month": days / 365.2425, "weekday": np.floor(days) / 7, "hour": days}
        for part, turn in turns.items():
            angle = 2 * np.pi * (turn % 1)
            wave = np.column_stack([np.cos(angle), np.sin(angle)])
            if np.ptp(wave) > 0:
                parts.setdefault(part, {})[name] = wave
    plain = likely(table.X)
    rng = np.random.default_rng(random_state)
    shuffled = rng.permutation(len(y))
    X = table.X
    names = list(table.names)
    notes = list(table.notes)
    for part, waves in parts.items():
        wave = np.hstack(list(waves.values()))
        with_wave = likely(np.hstack([table.X, wave]))
        with_shuffled = likely(np.hstack([table.X, wave[shuffled]]))
        if is_clear(with_wave - plain) and is_clear(with_wave - with_shuffled):
            X = np.hstack([X, wave])
            for name in waves:
                names += [f"{name} {part} cos", f"{name} {part} sin"]
            notes.append(
                f"the {part} of {', '.join(waves)} makes unseen labels likelier and was added"
            )
    return replace(table, X=X, names=names, notes=notes)


# The report has one paragraph per line.
def describe(result: Audit | NumericAudit, reviewed: str = "") -> list[str]:
    """Write the findings in plain words, one paragraph per line.

    Parameters
    ----------
    result : Audit or NumericAudit
        The findings.
    reviewed : str, default ""
        What reviewed rows show, in place of the estimate from labels alone.

    Returns
    -------
    list of str
        The paragraphs.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, describe
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> describe(result)[-1]
    'Only 100 rows: all estimates are uncertain.'
    """
    notes = [f"The table: {note}." for note in result.notes]
    sentences = [headline(result, reviewed)]
    if isinstance(result, NumericAudit):
        if result.informative:
            sentences.append(ranking(result))
        return [*sentences, *notes]
    if not result.informative:
        return [*sentences, *same(result), *notes]
    sentences += [certainty(result), *same(result)]
    if not reviewed:  # a share that was measured replaces the estimate
        sentences.append(likeliest_flip(result))
    bias = BIAS if reviewed else f"{BIAS} {WHAT_SETTLES_IT}"
    sentences += [*trusted_rates(result), bias, ranking(result)]
    return [*sentences, *methods(result), *doubts(result), *notes]


def headline(result: Audit | NumericAudit, reviewed: str = "") -> str:
    """Say what labels alone show about the number of wrong ones, or what reviewed rows show.

    Parameters
    ----------
    result : Audit or NumericAudit
        The findings.
    reviewed : str, default ""
        What reviewed rows show, in place of the estimate from labels alone.

    Returns
    -------
    str
        The paragraph.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, headline
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> headline(result)
    '100 labels of 2 classes. There is evidence of wrong labels. ...'
    """
    if isinstance(result, NumericAudit):
        begin = f"{len(result.doubt)} labels that are numbers."
        if not result.informative:
            nothing = "These columns say nothing about the label, nor about which labels are wrong."
            return f"{begin} {nothing}"
        remedy = ": no share of wrong ones is known without review"
        if reviewed:
            begin = f"{begin} {reviewed}"
            remedy = ""
        n_far = int(result.doubted.sum())
        far_labels = write_number(n_far, "label is", "labels are")
        pronoun = "it is" if n_far == 1 else "they are"
        return (
            f"{begin} The median error of {result.model} on rows that it was not trained on is "
            f"{result.error:.3g}; {far_labels} more than {FAR} times the typical error nearby away "
            f"from its prediction. Labels alone cannot show whether {pronoun} wrong or "
            f"rare{remedy}."
        )
    count = result.counts.sum()
    best = result.accuracies.iloc[0]
    begin = f"{count} labels of {len(result.classes)} classes."
    if not result.informative:
        return (
            f"{begin} These columns say nothing about the label: no model orders the labels "
            "better than chance (the best is right for "
            f"{percent(best['accuracy'])} of them, always saying "
            f"{result.classes[result.counts.argmax()]} for "
            f"{percent(result.counts.max() / count)}). "
            "So which labels are wrong cannot be known from these columns."
        )
    first = (
        "There is evidence of wrong labels."
        if result.evidence.any()
        else "No evidence of wrong labels."
    )
    if reviewed:
        return f"{begin} {reviewed}"
    top = result.bounds[1]
    guess = min(result.guess, result.bounds[1])
    return (
        f"{begin} {first} The labels by themselves allow any share of wrong ones from 0 % to "
        f"{percent(top)} (the upper end at 95 % confidence, if flips depend on the class alone). "
        "Our estimate is "
        f"{percent(guess)}. It has no confidence interval until you review rows."
    )


def same(result: Audit) -> Iterator[str]:
    """Describe the rows that contradict each other.

    Parameters
    ----------
    result : Audit
        The findings.

    Yields
    ------
    str
        A sentence on pairs of nearly equal rows, then one on equal rows, if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, same
    >>> X = np.r_[:50, :50][:, np.newaxis]
    >>> y = np.repeat(["cat", "dog"], 50)
    >>> p = np.full((100, 2), 0.5)
    >>> next(same(audit(X, y, pred_probs=p)))
    '100 rows have the contents of another row and a different label (50 groups). ...'
    """
    is_nearly_equal = result.conflicts["nearly"].astype(bool)
    if pairs := int(is_nearly_equal.sum()) // 2:
        singular = "pair of rows is nearly equal and has different labels"
        plural = "pairs of rows are nearly equal and have different labels"
        yield f"{write_number(pairs, singular, plural)}."
    if rows := int((~is_nearly_equal).sum()):
        groups = result.conflicts["like"][~is_nearly_equal].nunique()
        sentence = (
            f"{rows} rows have the contents of another row and a different label "
            f"({write_number(groups, 'group', 'groups')})."
        )
        if rows > int(result.counts.sum()) / 5:
            sentence += " So many that the columns lack something the labels depend on."
        yield sentence


def certainty(result: Audit) -> str:
    """Say whether there is evidence of flips.

    Parameters
    ----------
    result : Audit
        The findings.

    Returns
    -------
    str
        The paragraph.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, certainty
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> certainty(result)
    'Evidence of wrong labels: ... labels disagree (5 of 50 rows of class cat). ...'
    """
    surest = result.sureness
    if not result.evidence.any():
        n_disagree = round(surest.disagree.sum(), 1)
        return (
            f"No evidence of flips: where {result.model} is most confident, "
            f"{n_disagree:g} of {surest.rows.sum()} labels disagree with it. "
            "What looks wrong elsewhere may be overlap of the classes."
        )
    disagreements = []
    for j in np.flatnonzero(result.evidence):
        n_disagree = round(surest.disagree[j], 1)
        disagreements.append(
            f"{n_disagree:g} of {surest.rows[j]} rows of class {result.classes[j]}"
        )
    return (
        f"Evidence of wrong labels: even where {result.model} is most confident of a class, labels "
        f"disagree ({', '.join(disagreements)}). Wrong labels cause this, or classes that overlap "
        "everywhere."
    )


def likeliest_flip(result: Audit) -> str:
    """Say which class probably carries the label of another most often.

    Parameters
    ----------
    result : Audit
        The findings.

    Returns
    -------
    str
        The paragraph.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, likeliest_flip
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> likeliest_flip(result)
    'The most frequent flip is probably dog labelled as cat: 20 % of class dog, by the anchor ...'
    """
    likeliest = max(off_diagonal(result), key=lambda row: float(row["anchor"]))
    return (
        f"The most frequent flip is probably {likeliest['true']} labelled as "
        f"{likeliest['observed']}: "
        f"{percent(likeliest['anchor'])} of class {likeliest['true']}, by the anchor estimate."
    )


def trusted_rates(result: Audit) -> Iterator[str]:
    """Say how often, by the trusted labels, a class carries the label of another.

    Parameters
    ----------
    result : Audit
        The findings.

    Yields
    ------
    str
        A sentence for each pair of different classes, the true one with trusted labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, trusted_rates
    >>> y = np.repeat(["cat", "dog"], [45, 55])
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)
    >>> true = np.repeat(["cat", "dog"], 50)
    >>> next(trusted_rates(audit(y=y, pred_probs=p, trusted=true)))
    'By trusted labels: cat labelled dog, 10 % of class cat (3.3 % to 22 %).'
    """
    for row in off_diagonal(result):
        if not np.isnan(row.get("trusted", np.nan)):
            low = percent(row["trusted_low"])
            high = percent(row["trusted_high"])
            between = f"{low} to {high}"
            share = f"{percent(row['trusted'])} of class {row['true']} ({between})"
            yield f"By trusted labels: {row['true']} labelled {row['observed']}, {share}."


def ranking(result: Audit | NumericAudit) -> str:
    """Say what to do with the ranked list.

    Parameters
    ----------
    result : Audit or NumericAudit
        The findings.

    Returns
    -------
    str
        The paragraph.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, ranking
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> ranking(result)
    '5 labels are listed as suspicious. Look at them from the top; ...'
    """
    if not len(result.suspicious):
        return "No label is listed as suspicious."
    advice = "trust the order more than the number of rows"
    if isinstance(result, NumericAudit):
        advice = "the suggestion is what the model expects"
    listed = write_number(len(result.suspicious), "label is", "labels are")
    return f"{listed} listed as suspicious. Look at them from the top; {advice}."


def methods(result: Audit) -> Iterator[str]:
    """Say which method is the most accurate, and whether the difference means anything.

    Parameters
    ----------
    result : Audit
        The findings.

    Yields
    ------
    str
        A sentence on accuracies on the observed labels, and one on corrected accuracies that are
        missing or were clipped. Nothing if there is one method only.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing import audit, tables
    >>> from noisylabels.auditing.cross_fitting import CrossFit
    >>> y = np.repeat(["cat", "dog"], [45, 55])
    >>> table = tables.of_arrays(np.arange(100.0)[:, np.newaxis], y)
    >>> p = np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0)[np.newaxis]
    >>> q = p[:, ::-1]
    >>> unknown = np.full((1, 2, 2), np.nan)
    >>> fits = {"mine": CrossFit(p, p, unknown), "theirs": CrossFit(q, q, unknown)}
    >>> result = audit.of_cross_fits(table, fits, [], audit.find_units(table, None)[0])
    >>> next(audit.methods(result))
    'On the observed labels mine is the most accurate (95 %); not ... from it (95 %): none.'
    """
    table = result.accuracies
    if len(table) < 2:
        return
    best = table.iloc[0]
    tied = ", ".join(table["method"][1:][table["behind_low"][1:] <= 0]) or "none"
    yield (
        f"On the observed labels {best['method']} is the most accurate "
        f"({percent(best['accuracy'])}); not significantly different from it (95 %): {tied}."
    )
    if table["corrected"].isna().any():
        yield (
            "Accuracies on the true labels cannot be estimated: with this many wrong labels the "
            "correction is unstable."
        )
    elif table["clipped"].any():
        yield (
            "Some corrected accuracies lay above 100 % and were clipped: the flip rates are then "
            "too high."
        )


def doubts(result: Audit) -> Iterator[str]:
    """List the reasons why these data show little.

    Parameters
    ----------
    result : Audit
        The findings.

    Yields
    ------
    str
        A sentence for each reason: fewer than 200 rows, a class with less than 10 % of the labels,
        and a flip rate of the confident joint above 40 %.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, doubts
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> list(doubts(result))
    ['Only 100 rows: all estimates are uncertain.']
    """
    shares = result.counts / result.counts.sum()
    if result.counts.sum() < FEW:
        yield f"Only {result.counts.sum()} rows: all estimates are uncertain."
    if shares.min() < RARE:
        rare = result.classes[shares.argmin()]
        yield (
            f"Class {rare} is rare ({percent(shares.min())}): estimates for this class rest on few "
            "rows."
        )
    if max(row["estimate"] for row in off_diagonal(result)) > NEAR_HALF:
        yield (
            "A flip rate is near one half. Above one half two classes swap names, which no method "
            "can detect from the labels alone."
        )


def percent(share: float) -> str:
    """Write a share in percent, below ten with one decimal.

    Parameters
    ----------
    share : float
        The share, from 0 to 1.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from noisylabels.auditing.audit import percent
    >>> percent(0.123), percent(0.0123)
    ('12 %', '1.2 %')
    """
    value = 100.0 * float(share)
    if value >= 10 or value == 0:
        return f"{value:.0f} %"
    return f"{value:.1f} %"


def off_diagonal(result: Audit) -> list[dict[Any, Any]]:
    """Select the flip rates of pairs of different classes.

    Parameters
    ----------
    result : Audit
        The findings.

    Returns
    -------
    list of dict
        The rows of ``result.flip_rates`` in which the observed class is not the true one.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.audit import audit, off_diagonal
    >>> y = np.repeat(["dog", "cat", "dog"], [5, 45, 50])
    >>> result = audit(y=y, pred_probs=np.repeat([[0.9, 0.1], [0.2, 0.8]], 50, axis=0))
    >>> [(row["true"], row["observed"]) for row in off_diagonal(result)]
    [('cat', 'dog'), ('dog', 'cat')]
    """
    return [row for row in result.flip_rates.to_dict("records") if row["true"] != row["observed"]]
