"""Items that several annotators label: their true classes, and how far each annotator can be
trusted.

Labels come as an array (items, annotators) with gaps, or as a long table with one row per label.
Classes, items and annotators have any names. `read_crowd_labels` has the rules.

All models assume that, given the true class of an item, its labels are independent. They also
assume that annotators are right more often than wrong, which is what gives the classes their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, log_expit, logsumexp, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from noisylabels.auditing.matching import match_columns, match_rows
from noisylabels.seeding import generator
from noisylabels.validation import Floats, finite, number, whole

Codes = NDArray[np.intp]
COLUMNS = ("item", "annotator", "label")
CROWD_KIT_COLUMNS = ("task", "worker", "label")
USUAL_NAMES = re.compile(
    r"(item|task|unit|instance|example|sample|question|document|doc|image|object|record|hit|subject"
    r"|annotator|worker|rater|judge|coder|labell?er|grader|reviewer|observer|performer|user"
    r"|label|answer|response|vote|annotation|class|category|rating|score|judge?ment|value)"
    r"s?[ _-]?(id|idx|index|name|no|nr|number|key|code)?s?"
)
"""Usual names of the three columns of a long table."""
GAP_SIGNS = {"?", "-", "n/a", "#n/a", "<na>"}
GAP_WORDS = frozenset(GAP_SIGNS | {"na", "nan", "nat", "null", "none", "nil", "missing"})
LARGEST_EXACT = 2.0**53  # the largest number up to which a float holds every whole number
LEAST_WEIGHT = 1e-6  # smallest weight of an annotator or a model in `CrowdLab`
LEAST_PROBABILITY = 1e-300
BLOCK_BYTES = 2**24  # bytes of the counts that `measure_accuracy` holds at a time
MOST_NAMES_SHOWN = 8
DENSE = 4  # largest range of whole numbers that are counted rather than sorted, times their count


class _LabelTable(NamedTuple):
    """Labels as the user gave them: place and value of each, and names of the places."""

    item: Codes
    annotator: Codes
    values: NDArray[Any]
    items: NDArray[Any]
    annotators: NDArray[Any]
    notes: list[str]


@dataclass(frozen=True)
class _CrowdLabels:
    """The labels of a crowd as numbers 0, 1, ..., the names of these, and notes."""

    item: Codes
    annotator: Codes
    label: Codes
    items: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]
    notes: list[str]

    def sum_by_item(self, values: Floats) -> Floats:
        """Add up values over the labels of each item: (L,) gives (n,), and (L, K) gives (n, K)."""
        if values.ndim == 1:
            return np.asarray(np.bincount(self.item, values, len(self.items)), dtype=float)
        return np.column_stack([self.sum_by_item(column) for column in values.T])

    def sum_by_annotator(self, values: Floats) -> Floats:
        """Add up values (L,) over the labels of each annotator, (W,)."""
        return np.asarray(np.bincount(self.annotator, values, len(self.annotators)), dtype=float)

    @cached_property
    def votes(self) -> Floats:
        """Count the labels of each class for each item, (n, K)."""
        n = len(self.items)
        K = len(self.classes)
        cells = self.item * K + self.label
        return np.bincount(cells, minlength=n * K).reshape(n, K).astype(float)

    @property
    def shares(self) -> Floats:
        """Divide `votes` by their sums; items without votes get equal shares."""
        total = self.votes.sum(axis=1, keepdims=True)
        equal_share = 1.0 / len(self.classes)
        positive_total = np.maximum(total, 1.0)
        return np.where(total > 0, self.votes / positive_total, equal_share)

    def count_confusions(self, posterior: Floats) -> Floats:
        """Count labels by annotator, true class and label, as expected under a posterior (n, K)."""
        from noisylabels.solvers.dawid_skene import count_labels

        W = len(self.annotators)
        K = len(self.classes)
        counts_by_label = np.zeros((W, K, K))
        count_labels(*self.codes, np.ascontiguousarray(posterior), counts_by_label)
        return np.ascontiguousarray(counts_by_label.transpose(0, 2, 1))

    @cached_property
    def codes(self) -> tuple[Codes, Codes, Codes]:
        """Return item, annotator and label in the form that compiled loops take."""
        item = np.ascontiguousarray(self.item, dtype=np.int64)
        annotator = np.ascontiguousarray(self.annotator, dtype=np.int64)
        label = np.ascontiguousarray(self.label, dtype=np.int64)
        return item, annotator, label

    def measure_accuracy(self, posterior: Floats) -> Floats:
        """Measure the expected share of right labels of each annotator (W,), NaN for one without
        labels.

        The counts (W, K, K) are made for some annotators at a time: all of them can need gigabytes.
        """
        W = len(self.annotators)
        K = len(self.classes)
        at_a_time = max(BLOCK_BYTES // (8 * K**2), 1)
        if at_a_time >= W:
            counts = self.count_confusions(posterior)
            with np.errstate(invalid="ignore"):  # 0 / 0
                labels_of = counts.sum(axis=(1, 2))
                return np.asarray(_count_right(counts) / labels_of)
        order = np.argsort(self.annotator, kind="stable")
        annotators = self.annotator[order]
        starts = np.searchsorted(annotators, np.arange(W + 1))
        accuracy = np.empty(W)
        for first in range(0, W, at_a_time):
            last = min(first + at_a_time, W)
            entries = order[starts[first] : starts[last]]
            counts = self._count_entries(posterior, entries, first, last)
            with np.errstate(invalid="ignore"):  # 0 / 0
                accuracy[first:last] = _count_right(counts) / counts.sum(axis=(1, 2))
        return accuracy

    def _count_entries(self, posterior: Floats, entries: Codes, first: int, last: int) -> Floats:
        """Count as `count_confusions` does for the annotators from first to last - 1 and their
        entries.
        """
        W = last - first
        K = len(self.classes)
        of_annotator = self.annotator[entries] - first
        cells = of_annotator * K + self.label[entries]
        item = self.item[entries]
        counts = np.empty((W, K, K))
        for true_class, column in enumerate(posterior.T):
            sums = np.bincount(cells, column[item], W * K)
            counts[:, true_class] = sums.reshape(W, K)
        return counts


def read_crowd_labels(labels: Any, classes: Any = None) -> _CrowdLabels:
    """Read labels from an array, a data frame or a mapping.

    Parameters
    ----------
    labels : array_like of shape (n, W), data frame or mapping
        A wide table has a row for each item and a column for each annotator. A long table is a
        mapping or a data frame with the columns item, annotator and label, or task, worker and
        label.
    classes : array_like, optional
        All classes, if some of them never occur.

    Returns
    -------
    object
        The labels that are there as numbers ``item``, ``annotator`` and ``label`` (L,), their names
        ``items``, ``annotators`` and ``classes``, and ``notes``. An item or an annotator without
        any label stays in the lists of names.

    Raises
    ------
    ValueError
        If the shape or the names of the columns are wrong, an item or an annotator has no name, a
        label is not one of ``classes``, or there are fewer than two classes.

    Examples
    --------
    >>> from noisylabels.crowds import read_crowd_labels
    >>> table = {"task": ["a", "a", "b"], "worker": [1, 2, 1], "label": ["yes", "no", ""]}
    >>> read_crowd_labels(table).items.tolist()
    ['a', 'b']

    Notes
    -----
    * Gaps are NaN, None, the NA and NaT of pandas, masked entries, and empty or blank texts.
    * The words for gaps (such as "NA", "null" and "?") stay classes, with a note.
    * -1 as the only negative label stays a class, with a note, because some programs mark gaps by
      it. There is no note if the classes are -1 and 1, which are usual names for two classes.
    * Neither gets a note if it is one of ``classes``.
    * A table is refused if it has some of the usual names of a long table, but not the right three.
    * A wide table gets a note for a column most of whose values occur in no other column: it may
      hold names of items.
    * If an annotator has labelled an item more than once, each of the labels counts, with a note.
    """
    columns = _list_columns(labels)
    names = _find_long_columns(columns)
    table = _read_long(labels, names) if names else _read_wide(labels, columns)
    values, label = _number_values("label", table.values)
    notes = table.notes
    if not names:
        notes = notes + _describe_lonely_columns(table.annotators, table.annotator, label)
    if classes is None:
        notes = notes + _describe_possible_gaps(values)
    else:
        named = np.unique(_convert_to_array(classes))
        is_outside = ~np.isin(values, named)
        outside = values[is_outside]
        if len(outside):
            raise ValueError(f"labels: {outside[0]!s} is not one of classes = {named.tolist()}")
        label = np.searchsorted(named, values)[label]
        values = named
    if len(values) < 2:
        problem = f"one class only, {values[0]!s}" if len(values) else "there are none"
        advice = "name those that never occur: classes=[...]"
        raise ValueError(f"labels: {problem}; two are needed, {advice}")
    names_of_all = (table.items, table.annotators, values)
    return _CrowdLabels(table.item, table.annotator, label, *names_of_all, notes)


def _count_right(counts: Floats) -> Floats:
    return np.asarray(np.trace(counts, axis1=1, axis2=2))


def _list_columns(labels: Any) -> list[Any]:
    """Return the names of the columns of a data frame or a mapping, none for an array."""
    if isinstance(labels, Mapping):
        return list(labels)
    return list(getattr(labels, "columns", ()))


def _find_long_columns(columns: list[Any]) -> tuple[str, ...]:
    """Find the names of item, annotator and label in a long table, none in a wide one."""
    if set(COLUMNS) <= set(columns):
        return COLUMNS
    if set(CROWD_KIT_COLUMNS) <= set(columns) and not {"item", "annotator"} & set(columns):
        return CROWD_KIT_COLUMNS
    if any(USUAL_NAMES.fullmatch(str(name).strip().lower()) for name in columns):
        raise ValueError(
            "labels: a long table needs the columns item, annotator and label (or task, worker and "
            f"label), got {_list_names(columns)}; rename them, or in a wide table all but those of "
            "annotators"
        )
    return ()


def _list_names(names: Iterable[Any]) -> str:
    """List the first names in quotation marks, with commas."""
    texts = [repr(str(name)) for name in names]
    if len(texts) > MOST_NAMES_SHOWN:
        texts = [*texts[:MOST_NAMES_SHOWN], f"... ({len(texts)} in all)"]
    return ", ".join(texts)


def _read_long(labels: Any, names: tuple[str, ...]) -> _LabelTable:
    item_names, annotator_names, values = (_read_column(labels, name) for name in names)
    if not len(item_names) == len(annotator_names) == len(values):
        raise ValueError(f"labels: the columns {' and '.join(names)} must have the same length")
    for name, column in zip(names[:2], (item_names, annotator_names), strict=True):
        missing = _find_gaps(column)
        if missing.any():
            problem = f"row {missing.argmax()} has no {name}"
            raise ValueError(f"labels: {problem}; name it, or drop the row")
    items, item = _number_values(names[0], item_names)
    annotators, annotator = _number_values(names[1], annotator_names)
    present = ~_find_gaps(values)
    item = item[present]
    annotator = annotator[present]
    notes = []
    pairs = np.sort(item * len(annotators) + annotator)  # NumPy's unique takes ten times as long
    is_repeated = pairs[1:] == pairs[:-1]
    repeated = np.count_nonzero(is_repeated)
    if repeated:
        notes.append(
            f"{repeated} labels repeat a pair of {names[0]} and {names[1]}: "
            "each counts as a separate label; if they are copies, drop them"
        )
    values_present = np.asarray(values)[present]
    return _LabelTable(item, annotator, values_present, items, annotators, notes)


def _read_column(labels: Any, name: str) -> NDArray[Any]:
    """Read a column of a long table as an array (rows,)."""
    n_columns = 1
    if hasattr(labels, "columns"):
        n_columns = list(labels.columns).count(name)
    if n_columns > 1:
        raise ValueError(f"labels: {n_columns} columns are called {name}; rename one")
    try:
        column = _convert_to_array(labels[name])
    except ValueError:  # entries have different lengths
        column = np.empty((0, 0))
    if column.ndim != 1:
        raise ValueError(
            f"labels: the column {name} must have one text or number per row, not a list or a "
            "tuple; join several names into one text"
        )
    return column


def _read_wide(labels: Any, columns: list[Any]) -> _LabelTable:
    if hasattr(labels, "toarray"):
        raise ValueError(
            "labels: is a sparse matrix, in which 0 and no label look the same; give the columns "
            "item, annotator and label"
        )
    repeated = sorted({str(name) for name in columns if columns.count(name) > 1})
    if repeated:
        names = _list_names(repeated)
        raise ValueError(f"labels: several annotators are called {names}; rename them")
    try:
        table = _convert_to_array(labels)
    except ValueError:  # NumPy's message names neither the row nor the remedy
        raise ValueError(_describe_uneven_rows(labels)) from None
    if table.ndim != 2:
        found = _list_names(columns) if columns else f"the shape {table.shape}"
        if labels is None:
            found = "None"
        rule = "expected an array (items, annotators) or the columns item, annotator and label"
        raise ValueError(f"labels: {rule}, got {found}")
    items = np.arange(len(table))
    annotators = np.arange(table.shape[1])
    if hasattr(labels, "columns"):
        items = np.asarray(getattr(labels, "index", items))
        annotators = np.asarray(labels.columns)
    present = ~_find_gaps(table)
    item, annotator = np.nonzero(present)
    values = np.asarray(table)[present]
    return _LabelTable(item, annotator, values, items, annotators, [])


def _describe_uneven_rows(rows: Any) -> str:
    lengths = [len(row) if isinstance(row, Sized) else 1 for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
    return (
        f"labels: row {odd} has {lengths[odd]} entries, row 0 has {lengths[0]}; "
        "give every row one entry per annotator, None where there is no label"
    )


def _describe_lonely_columns(annotators: NDArray[Any], annotator: Codes, label: Codes) -> list[str]:
    """Note that most values of some columns of a wide table occur in no other column."""
    different_values = label.max(initial=0) + 1
    pairs = np.unique(annotator * different_values + label)
    column, value = np.divmod(pairs, different_values)
    is_alone = np.bincount(value)[value] == 1
    values_of_column = np.bincount(column, minlength=len(annotators))
    values_alone = np.bincount(column[is_alone], minlength=len(annotators))
    lonely = values_alone > values_of_column / 2
    if not lonely.any() or np.count_nonzero(values_of_column) < 2:
        return []
    return [
        f"most values of the columns {_list_names(annotators[lonely])} occur in no other column: "
        "if they are names and not labels, leave the columns out"
    ]


def _describe_possible_gaps(values: NDArray[Any]) -> list[str]:
    """Note each class that may stand for a missing label."""
    names = [str(name).strip() for name in values.tolist()]
    suspects = [name for name in names if name.lower() in GAP_WORDS]
    numbers = [name.removesuffix(".0") for name in names]
    negative = [name for name in numbers if re.fullmatch(r"-[0-9.]+", name)]
    if negative == ["-1"] and set(numbers) not in ({"-1", "1"}, {"-1", "+1"}):
        suspects.append("-1")
    return [
        f"{name!r} is read as a class; if it stands for a missing label, write None in its place, "
        "else name all classes: classes=[...]"
        for name in suspects
    ]


def _convert_to_array(values: Any) -> NDArray[Any]:
    """Make an array of values, in which NaN and numbers do not become texts."""
    array = np.asanyarray(values)
    if array.dtype.kind not in "US" or hasattr(values, "dtype"):
        return array
    entries = np.array(values, dtype=object)
    for kind in (str, bytes):
        if all(isinstance(entry, kind) for entry in entries.ravel()):
            return array
    return entries


def _find_gaps(values: NDArray[Any]) -> NDArray[np.bool_]:
    if np.ma.isMaskedArray(values):
        unmasked = np.asarray(values)
        return np.asarray(np.ma.getmaskarray(values) | _find_gaps(unmasked))
    if values.dtype.kind in "US":
        lengths = np.char.str_len(np.char.strip(values))
        return np.asarray(lengths == 0)
    if values.dtype.kind == "O":
        missing = [_is_gap(value) for value in values.ravel()]
        return np.array(missing, dtype=bool).reshape(values.shape)
    return np.asarray(values != values)


def _is_gap(value: Any) -> bool:
    # pandas' NA is neither equal to itself nor different
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, str | bytes):
        return not value.strip()
    return bool(value != value)


def _number_values(name: str, values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Number the sorted different values, and find the place of each value among them."""
    if values.dtype.kind == "c":
        raise ValueError(f"{name}: must hold texts or real numbers, got complex numbers")
    if values.dtype.kind == "i" and len(values):
        lowest = int(np.min(values))
        extent = int(np.max(values)) - lowest + 1
        if extent <= DENSE * len(values):
            return _number_whole_numbers(np.asarray(values), lowest, extent)
    try:
        different, codes = np.unique(np.asarray(values), return_inverse=True)
    except TypeError:
        raise ValueError(f"{name}: must hold either text or numbers, not both") from None
    if different.dtype.kind != "f":
        return different, codes
    if np.isinf(different).any():
        raise ValueError(f"{name}: infinite values are not names; replace them, or leave them out")
    is_integer = different == np.floor(different)
    is_exact = np.abs(different) <= LARGEST_EXACT
    are_whole = is_integer & is_exact
    return different.astype(np.int64) if are_whole.all() else different, codes


def _number_whole_numbers(
    values: NDArray[Any],
    lowest: int,
    extent: int,
) -> tuple[NDArray[Any], Codes]:
    """Number whole numbers with few gaps by counting, which is faster than sorting."""
    offsets = values.astype(np.int64) - lowest
    is_present = np.zeros(extent, dtype=bool)
    is_present[offsets] = True
    present = np.flatnonzero(is_present)
    code_of_offset = np.cumsum(is_present) - 1
    numbers = (present + lowest).astype(values.dtype)
    return numbers, code_of_offset[offsets]


def _choose_largest(scores: Floats, rng: np.random.Generator) -> Codes:
    """Choose the class with the largest score in each row, with ties broken at random."""
    largest = scores == scores.max(axis=1, keepdims=True)
    # a coin from 1 to the number of ties
    ties = largest.sum(axis=1)
    draws = 1.0 - rng.random(len(scores))
    coin = np.ceil(draws * ties)
    is_reached = largest.cumsum(axis=1) >= coin[:, np.newaxis]
    return np.asarray(is_reached.argmax(axis=1))


class MajorityVote(BaseEstimator):
    """Take the most frequent label of each item.

    Ties, and items without a label, are decided by coins.

    Parameters
    ----------
    classes : array_like, optional
        All classes, if some of them never occur in the labels.
    random_state : int or Generator, default 0
        Seed of the coins.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Names of the classes.
    items_ : ndarray of shape (n,)
        Names of the items.
    annotators_ : ndarray of shape (W,)
        Names of the annotators.
    labels_ : ndarray of shape (n,)
        The class of each item.
    posterior_ : ndarray of shape (n, K)
        Probability of each class. A majority vote has the shares of an item's labels here.
    confidence_ : ndarray of shape (n,)
        Probability that ``labels_`` is right. For a majority vote it is (votes + 1) / (labels + K).
    confusion_ : ndarray of shape (W, K, K)
        Share of the label k among an annotator's labels of items of class j, NaN if there are none.
        A majority vote computes it on first use, because it needs 8 W K^2 bytes.
    accuracy_ : ndarray of shape (W,)
        Share of right labels of each annotator, NaN for one without labels.
    notes_ : list of str
        What the labels cannot tell, and what to check in them.

    Examples
    --------
    >>> from noisylabels import MajorityVote
    >>> votes = [["cat", "cat", "dog"], ["dog", None, "dog"], ["cat", "cat", None]]
    >>> vote = MajorityVote().fit(votes)
    >>> vote.labels_.tolist()
    ['cat', 'dog', 'cat']
    >>> vote.accuracy_.round(2).tolist()
    [0.89, 0.83, 0.67]
    """

    _confusion: Floats | None  # computed when first needed
    posterior_: Floats

    def __init__(self, classes: Any = None, random_state: Any = 0) -> None:
        self.classes = classes
        self.random_state = random_state

    def fit(self, labels: Any) -> Self:
        """Find the most frequent label of each item.

        Parameters
        ----------
        labels : array_like of shape (n, W), data frame or mapping
            A wide or a long table of labels, see `read_crowd_labels`.

        Returns
        -------
        MajorityVote
            The fitted vote.

        Raises
        ------
        ValueError
            If the table cannot be read, or has fewer than two classes.

        Examples
        --------
        >>> from noisylabels import MajorityVote
        >>> labels = {"item": [7, 7, 7], "annotator": [1, 2, 3], "label": [0, 1, 1]}
        >>> MajorityVote().fit(labels).labels_
        array([1])
        """
        data = read_crowd_labels(labels, self.classes)
        self._set_results(data, data.shares)
        self.confidence_ = (data.votes.max(axis=1) + 1) / (data.votes + 1).sum(axis=1)
        return self

    @property
    def confusion_(self) -> Floats:
        """Compute the share of each label (W, K, K) by annotator and true class."""
        check_is_fitted(self)
        if self._confusion is None:
            counts = self._data.count_confusions(self.posterior_)
            with np.errstate(invalid="ignore"):  # 0 / 0
                self._confusion = counts / counts.sum(axis=2, keepdims=True)
        return self._confusion

    def relabel_next(self, m: int) -> NDArray[Any]:
        """List the items that most need another label.

        Parameters
        ----------
        m : int
            Number of items.

        Returns
        -------
        ndarray of shape (m,)
            Names of the items with the least confidence, and among equals those with the fewest
            labels first.

        Raises
        ------
        ValueError
            If m is not a whole number from 1 on, or the model is not fitted.

        Examples
        --------
        >>> from noisylabels import MajorityVote
        >>> MajorityVote().fit([[0, 0, 0], [0, 1, 1], [1, None, None]]).relabel_next(2).tolist()
        [1, 2]
        """
        check_is_fitted(self)
        n_votes = self._data.votes.sum(axis=1)
        rounded = self.confidence_.round(12)
        order = np.lexsort([n_votes, rounded])
        n_chosen = whole("m", m, 1)
        return np.asarray(self.items_[order[:n_chosen]])

    def _set_results(
        self,
        data: _CrowdLabels,
        posterior: Floats,
        chosen: Codes | None = None,
        confusion: Floats | None = None,
    ) -> None:
        """Set the attributes that all models have."""
        if chosen is None:
            chosen = _choose_largest(posterior, generator(self.random_state))
        self._data = data
        self._confusion = confusion
        self.posterior_ = posterior
        self.items_ = data.items
        self.annotators_ = data.annotators
        self.classes_ = data.classes
        self.labels_ = data.classes[chosen]
        self.confidence_ = posterior[np.arange(len(posterior)), chosen]
        self.accuracy_ = data.measure_accuracy(posterior)
        self.notes_ = data.notes + self._describe_limits()

    def _describe_limits(self) -> list[str]:
        """List notes on what the labels cannot show."""
        votes = self._data.votes
        total = votes.sum(axis=1)
        empty = np.count_nonzero(total == 0)
        notes = []
        if empty:
            notes.append(f"{empty} of {len(total)} items have no label")
        if len(self.annotators_) == 1:
            notes.append("there is one annotator only, whom nobody contradicts")
        if total.max() < 2:
            notes.append(
                "no item has two labels: nothing is known of errors, and what a model finds is "
                "arbitrary; MajorityVote returns the labels unchanged"
            )
        elif (votes.max(axis=1) == total).all():
            notes.append("the labels of every item agree: errors are rare, or shared")
        if not getattr(self, "converged_", True):
            notes.append("not converged: raise max_iter")
        return notes


class DawidSkene(MajorityVote):
    """Learn a confusion matrix for each annotator, and weigh their labels by it.

    The model is fitted by expectation maximisation (EM). It needs dozens of labels per annotator
    and class.

    Parameters
    ----------
    classes : array_like, optional
        All classes, if some of them never occur in the labels.
    tol : float, default 1e-6
        EM ends when no posterior probability moves by more than this.
    max_iter : int, default 200
        Largest number of rounds.
    smoothing : float, default 1e-6
        Labels of each kind that every annotator is given beforehand, above 0, so that no rate is 0
        or 1.
    random_state : int or Generator, default 0
        Seed of the coins that decide ties.

    Attributes
    ----------
    classes_, items_, annotators_, labels_, confidence_, accuracy_, notes_
        As in `MajorityVote`.
    posterior_ : ndarray of shape (n, K)
        Probability of each class, given the labels of the item.
    confusion_ : ndarray of shape (W, K, K)
        Probability that annotator w says k if the true class is j.
    prior_ : ndarray of shape (K,)
        Share of each class.
    objectives_ : list of float
        Log-likelihood, with its smoothing, before each round. It never falls.
    converged_ : bool
        Whether EM ended before ``max_iter`` rounds were used up.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=2000)
    >>> wrong = rng.random((2000, 5)) < [0.1, 0.1, 0.2, 0.3, 0.4]
    >>> crowd = DawidSkene().fit(np.where(wrong, 1 - truth[:, None], truth[:, None]))
    >>> crowd.accuracy_.round(2).tolist()
    [0.89, 0.9, 0.78, 0.69, 0.63]

    Notes
    -----
    The model maximises :math:`\\prod_i \\sum_j \\pi_j \\prod_l C_{w(l),j,k(l)}` over items i, true
    classes j and the labels l of item i, each of them k(l) by annotator w(l). The rows of C are any
    that sum to 1. EM starts at the shares of an item's labels: the majority of the annotators is
    taken to be right.

    References
    ----------
    Dawid and Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM
    Algorithm, Applied Statistics 28.
    """

    def __init__(
        self,
        classes: Any = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        smoothing: float = 1e-6,
        random_state: Any = 0,
    ) -> None:
        super().__init__(classes, random_state)
        self.tol = tol
        self.max_iter = max_iter
        self.smoothing = smoothing

    def fit(self, labels: Any) -> Self:
        """Fit the model by EM.

        Parameters
        ----------
        labels : array_like of shape (n, W), data frame or mapping
            A wide or a long table of labels, see `read_crowd_labels`.

        Returns
        -------
        DawidSkene
            The fitted model.

        Raises
        ------
        ValueError
            If the table cannot be read, has fewer than two classes, or a parameter is out of range.

        Examples
        --------
        >>> from noisylabels import DawidSkene
        >>> DawidSkene().fit([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"]]).labels_.tolist()
        ['a', 'b', 'a']
        """
        # Numba is loaded here, because it takes a second
        from noisylabels.solvers import dawid_skene

        most_rounds = whole("max_iter", self.max_iter, 1)
        tolerance = number("tol", self.tol, least=0)
        smoothing = number("smoothing", self.smoothing, above=0)
        data = read_crowd_labels(labels, self.classes)
        self._data = data
        posterior = data.shares
        n, K = posterior.shape
        evidence = np.empty(n)
        self.objectives_: list[float] = []
        for _ in range(most_rounds):
            prior = (posterior.sum(axis=0) + smoothing) / (n + K * smoothing)
            confusion = self._estimate_confusion(data.count_confusions(posterior) + smoothing)
            joint = self._join(prior, confusion)
            penalty = smoothing * (np.log(confusion).sum() + np.log(prior).sum())
            change = dawid_skene.normalise(joint, posterior, evidence)
            self.objectives_.append(float(evidence.sum() + penalty))
            self.converged_ = bool(change <= tolerance)
            if self.converged_:
                break
        self.prior_ = prior
        self._set_results(data, posterior, confusion=confusion)
        return self

    def intervals(
        self, level: float = 0.95, draws: int = 400, random_state: Any = 0
    ) -> tuple[Floats, Floats]:
        """Compute credible intervals of the rates in ``confusion_``.

        Parameters
        ----------
        level : float, default 0.95
            Probability that an interval holds the rate.
        draws : int, default 400
            Rounds of the sampler that count. A quarter as many are made before and dropped.
        random_state : int or Generator, default 0
            Seed of the sampler.

        Returns
        -------
        low, high : ndarray of shape (W, K, K)
            Limits of each rate. A rate that less than half a label supports begins at 0, and one
            that less than half a label contradicts ends at 1.

        Raises
        ------
        ValueError
            If the model is not fitted, level is outside (0, 1), or draws is below 1.

        Examples
        --------
        >>> import numpy as np
        >>> from noisylabels import DawidSkene
        >>> truth = np.arange(200) % 2
        >>> wrong = np.random.default_rng(0).random((200, 3)) < [0.05, 0.2, 0.4]
        >>> crowd = DawidSkene().fit(np.where(wrong, 1 - truth[:, None], truth[:, None]))
        >>> low, high = crowd.intervals()
        >>> bool((low <= crowd.confusion_).all() and (crowd.confusion_ <= high).all())
        True

        Notes
        -----
        The limits are quantiles of a Gibbs sampler, which draws true classes given rates and rates
        given true classes. It starts at the estimate. Each row of a confusion matrix has Jeffreys'
        prior, Dirichlet(1/2). The memory is 8 draws W K^2 bytes.
        """
        check_is_fitted(self)
        tail = (1.0 - number("level", level, above=0, below=1)) / 2
        rng = generator(random_state)
        draws = whole("draws", draws, 1)
        posterior = self.posterior_
        n, K = posterior.shape
        sampled = []
        for draw in range(-(draws // 4), draws):
            cumulated = posterior.cumsum(axis=1)[:, :-1]
            uniforms = rng.random((n, 1))
            is_passed = cumulated < uniforms
            drawn_class = is_passed.sum(axis=1)
            truth = np.eye(K)[drawn_class]
            counts = self._data.count_confusions(truth)
            rates = self._draw_confusion(counts, rng).clip(LEAST_PROBABILITY)
            counts_of_classes = truth.sum(axis=0)
            prior = rng.dirichlet(counts_of_classes + 0.5).clip(LEAST_PROBABILITY)
            log_joint = self._join(prior, rates)
            posterior = softmax(log_joint, axis=1)
            if draw >= 0:
                sampled.append(rates)
        quantiles = [tail, 1.0 - tail]
        low, high = np.quantile(sampled, quantiles, axis=0)
        expected_counts = self._data.count_confusions(self.posterior_)
        labels = self._count_evidence(expected_counts)
        n_right = labels * self.confusion_
        low[n_right < 0.5] = 0.0
        complement = 1.0 - self.confusion_
        n_wrong = labels * complement
        high[n_wrong < 0.5] = 1.0
        return low, high

    def _join(self, prior: Floats, confusion: Floats) -> Floats:
        """Compute log P(true class, labels) of each item, (n, K)."""
        from noisylabels.solvers.dawid_skene import add_log_rates

        log_likelihood = np.zeros((len(self._data.items), len(prior)))
        log_rates = np.log(confusion).transpose(0, 2, 1)
        rates_by_label = np.ascontiguousarray(log_rates)
        add_log_rates(*self._data.codes, rates_by_label, log_likelihood)
        log_prior = np.log(prior)
        return np.asarray(log_prior + log_likelihood)

    def _estimate_confusion(self, counts: Floats) -> Floats:
        """Find the most probable confusions at counts (W, K, K)."""
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    def _draw_confusion(self, counts: Floats, rng: np.random.Generator) -> Floats:
        """Draw confusions from their posterior at counts (W, K, K), with Jeffreys' prior."""
        gamma = rng.standard_gamma(counts + 0.5)
        return self._estimate_confusion(gamma.clip(LEAST_PROBABILITY))

    def _count_evidence(self, counts: Floats) -> Floats:
        """Count the labels that each rate is a share of, to be broadcast to (W, K, K)."""
        return np.asarray(counts.sum(axis=2, keepdims=True))


class OneCoin(DawidSkene):
    """Learn one accuracy for each annotator, and weigh their labels by it.

    All errors of an annotator are equally probable. Choose this model for annotators with few
    labels each.

    Parameters
    ----------
    classes : array_like, optional
        All classes, if some of them never occur in the labels.
    tol : float, default 1e-6
        EM ends when no posterior probability moves by more than this.
    max_iter : int, default 200
        Largest number of rounds.
    smoothing : float, default 1e-6
        Labels of each kind that every annotator is given beforehand, above 0, so that no rate is 0
        or 1.
    random_state : int or Generator, default 0
        Seed of the coins that decide ties.

    Attributes
    ----------
    classes_, items_, annotators_, labels_, confidence_, accuracy_, notes_
        As in `MajorityVote`.
    posterior_, confusion_, prior_, objectives_, converged_
        As in `DawidSkene`.

    Examples
    --------
    >>> from noisylabels import OneCoin
    >>> votes = {"task": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": [0, 0, 1, 1, 1, 1]}
    >>> OneCoin().fit(votes).labels_.tolist()
    [0, 1]

    Notes
    -----
    The confusions are :math:`C_{wjj} = a_w` and :math:`C_{wjk} = (1 - a_w) / (K - 1)`. The prior of
    the intervals is Beta(1/2, 1/2) on :math:`a_w`.

    References
    ----------
    Zhang, Chen, Zhou and Jordan (2016), Spectral Methods Meet EM: A Provably Optimal Algorithm for
    Crowdsourcing, JMLR 17, Section 2.
    """

    def _estimate_confusion(self, counts: Floats) -> Floats:
        accuracy = _count_right(counts) / counts.sum(axis=(1, 2))
        return self._spread_errors(accuracy, counts.shape[1])

    def _draw_confusion(self, counts: Floats, rng: np.random.Generator) -> Floats:
        right = _count_right(counts)
        wrong = counts.sum(axis=(1, 2)) - right
        accuracy = rng.beta(right + 0.5, wrong + 0.5)
        return self._spread_errors(accuracy, counts.shape[1])

    def _count_evidence(self, counts: Floats) -> Floats:
        K = counts.shape[1]
        is_diagonal = np.eye(K, dtype=bool)
        rates_that_share = np.where(is_diagonal, 1, K - 1)
        total = counts.sum(axis=(1, 2), keepdims=True)
        return np.asarray(total * rates_that_share)

    @staticmethod
    def _spread_errors(accuracy: Floats, K: int) -> Floats:
        """Make confusions (W, K, K) whose errors go to all other classes alike."""
        a = accuracy[:, np.newaxis, np.newaxis]
        is_diagonal = np.eye(K, dtype=bool)
        of_each_error = (1.0 - a) / (K - 1)
        return np.where(is_diagonal, a, of_each_error)


class GLAD(MajorityVote):
    """Learn an ability for each annotator and an easiness for each item.

    Choose this model where some items are harder than others.

    Parameters
    ----------
    classes : array_like, optional
        All classes, if some of them never occur in the labels.
    tol : float, default 1e-5
        The search ends when no entry of the gradient is larger than this.
    max_iter : int, default 1000
        Largest number of rounds.
    random_state : int or Generator, default 0
        Seed of the coins that decide ties.

    Attributes
    ----------
    classes_, items_, annotators_, labels_, confidence_, confusion_, accuracy_, notes_
        As in `MajorityVote`.
    posterior_ : ndarray of shape (n, K)
        Probability of each class, given the labels of the item.
    ability_ : ndarray of shape (W,)
        Ability of each annotator, negative for one who is mostly wrong.
    easiness_ : ndarray of shape (n,)
        Easiness of each item, as a logarithm.
    converged_ : bool
        Whether the gradient has reached the tolerance.

    Examples
    --------
    >>> from noisylabels import GLAD
    >>> crowd = GLAD().fit([[0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]])
    >>> crowd.labels_.tolist(), int(crowd.ability_.argmin())
    ([0, 1, 0, 1], 3)

    Notes
    -----
    A label is right with probability :math:`\\sigma(a_w e^{b_i})`, and all other classes are
    equally probable. The priors of a and b are N(1, 1), and all classes are equally frequent. The
    maximum of the posterior of (a, b), true classes summed out, is found by L-BFGS from a = b = 1.

    References
    ----------
    Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), Whose Vote Should Count More: Optimal
    Integration of Labels from Labelers of Unknown Expertise, NIPS. The priors are those of the
    authors' program.
    """

    def __init__(
        self, classes: Any = None, tol: float = 1e-5, max_iter: int = 1000, random_state: Any = 0
    ) -> None:
        super().__init__(classes, random_state)
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, labels: Any) -> Self:
        """Fit the model by L-BFGS.

        Parameters
        ----------
        labels : array_like of shape (n, W), data frame or mapping
            A wide or a long table of labels, see `read_crowd_labels`.

        Returns
        -------
        GLAD
            The fitted model.

        Raises
        ------
        ValueError
            If the table cannot be read, has fewer than two classes, or a parameter is out of range.

        Examples
        --------
        >>> from noisylabels import GLAD
        >>> GLAD().fit([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"]]).labels_.tolist()
        ['a', 'b', 'a']
        """
        data = read_crowd_labels(labels, self.classes)
        n = len(data.items)
        W = len(data.annotators)
        K = len(data.classes)
        is_label = np.eye(K)[data.label]

        def join(parameters: Floats) -> tuple[Floats, Floats, Floats]:
            """Compute ability and ease behind each label, and log P(true class, labels)."""
            ability = parameters[:W][data.annotator]
            ease = np.exp(parameters[W:])[data.item]
            log_right = log_expit(-ability * ease)
            log_wrong = log_right - np.log(K - 1)
            product = ability * ease
            boost = (product + np.log(K - 1))[:, np.newaxis]
            gain_if_right = is_label * boost
            wrong_by_item = data.sum_by_item(log_wrong)[:, np.newaxis]
            gain_by_item = data.sum_by_item(gain_if_right)
            by_item = wrong_by_item + gain_by_item
            return ability, ease, by_item

        def compute_loss(parameters: Floats) -> tuple[float, Floats]:
            """Compute the negative log-posterior and its gradient."""
            ability, ease, joint = join(parameters)
            posterior = softmax(joint, axis=1)
            posterior_of_label = posterior[data.item, data.label]
            share_right = expit(ability * ease)
            slope = posterior_of_label - share_right
            by_annotator = data.sum_by_annotator(slope * ease)
            weighted_ability = slope * ability * ease
            by_item = data.sum_by_item(weighted_ability)
            distance = parameters - 1.0
            slopes = np.r_[by_annotator, by_item]
            ascent = slopes - distance
            penalty = ((parameters - 1.0) ** 2).sum() / 2
            log_likelihood = logsumexp(joint, axis=1).sum()
            return float(penalty - log_likelihood), -ascent

        most_rounds = whole("max_iter", self.max_iter, 1)
        tolerance = number("tol", self.tol, least=0)
        solution, _, _ = fmin_l_bfgs_b(
            compute_loss,
            np.ones(W + n),
            pgtol=tolerance,
            factr=0.0,
            maxiter=most_rounds,
            maxfun=10**9,
            maxls=50,
        )
        _, gradient = compute_loss(solution)
        _, _, joint = join(solution)
        self.ability_ = solution[:W]
        self.easiness_ = solution[W:]
        largest_slope = np.abs(gradient).max()
        self.converged_ = bool(largest_slope <= tolerance)
        self._set_results(data, softmax(joint, axis=1))
        return self


class CrowdLab(MajorityVote):
    """Combine the labels of a crowd with a classifier's probabilities.

    Annotators and classifier are weighed by how often they agree with the consensus. Choose this
    method for few labels per item.

    Parameters
    ----------
    classes : array_like, optional
        All classes, if some of them never occur in the labels.
    random_state : int or Generator, default 0
        Seed of the coins that decide ties.

    Attributes
    ----------
    classes_, items_, annotators_, labels_, confidence_, confusion_, accuracy_, notes_
        As in `MajorityVote`.
    posterior_ : ndarray of shape (n, K)
        Probability of each class, given the labels of the item and the classifier.
    weight_ : ndarray of shape (W,)
        Weight of each annotator.
    model_weight_ : float
        Weight of the classifier.
    quality_ : ndarray of shape (W,)
        Rating of each annotator from 0 to 1, NaN for one without labels on items with several.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import CrowdLab
    >>> votes = [["cat", "cat"], ["dog", "cat"], ["dog", "dog"], ["cat", None]]
    >>> probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.7, 0.3]])  # of cat, dog
    >>> CrowdLab().fit(votes, probabilities).labels_.tolist()
    ['cat', 'dog', 'dog', 'cat']

    Notes
    -----
    The posterior is proportional to :math:`v p_i + \\sum_l u_{w(l)} h(k(l))` over the labels l of
    item i. The vector h(k) has P at class k and (1 - P) / (K - 1) elsewhere.

    * P is the share of labels that agree with the consensus, as a mean over the items with several
      labels.
    * The weight of an annotator is u = 1 - (share of other annotators' labels that disagree with
      hers) / e, at least 1e-6.
    * The weight of the classifier is v = 1 - (share of the consensus that its best class misses) /
      e, at least 1e-6, times the root of the mean number of labels.
    * e is the share of the consensus that the most frequent class misses. All shares are those on
      items with several labels.

    There are two rounds. The first consensus is the vote, ties by p. The second is the best class
    of the first round. A rating is r accuracy + (1 - r) agreement, with r = v / (v + mean of u
    times mean number of labels). Agreement is the share of an annotator's labels on items with
    several that are the consensus.

    References
    ----------
    Goh, Tkachenko and Mueller (2022), CROWDLAB: Supervised learning to infer consensus labels and
    quality scores for data with multiple annotators, arXiv 2210.06812, Section 3.
    """

    def fit(self, labels: Any, p: Any = None) -> Self:
        """Combine labels with a classifier's probabilities.

        Parameters
        ----------
        labels : array_like of shape (n, W), data frame or mapping
            A wide or a long table of labels, see `read_crowd_labels`.
        p : array_like of shape (n, K)
            The classifier's probabilities, rows in the order of ``items_`` and columns in that of
            ``classes_``; a data frame is matched by its names. They must be made without the
            labels of their row (cross-fitted).

        Returns
        -------
        CrowdLab
            The fitted combination.

        Raises
        ------
        ValueError
            If the table cannot be read, has fewer than two classes or no item with two labels, or
            if p has another shape, names of other items, or rows that are not probabilities.

        Examples
        --------
        >>> from noisylabels import CrowdLab
        >>> p = [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]
        >>> CrowdLab().fit([[0, 0], [1, 0], [1, 1]], p).labels_.tolist()
        [0, 1, 1]
        """
        data = read_crowd_labels(labels, self.classes)
        # an array has no names of items
        names = data.items.tolist() if _list_columns(labels) else None
        p = self._check_probabilities(p, data, names)
        votes = data.votes
        K = votes.shape[1]
        total = votes.sum(axis=1)
        several = total > 1
        if not several.any():
            problem = "no item has two labels, so nobody can be weighed"
            raise ValueError(f"labels: {problem}; use MajorityVote")
        agreement = self._measure_agreement(data)
        favourites = votes == votes.max(axis=1, keepdims=True)
        scores = np.where(favourites, 1.0 + p, 0.0)
        rng = generator(self.random_state)
        vote = _choose_largest(scores, rng)
        first_posterior = self._combine(data, p, several, agreement, vote)
        # Where the first round ends in a tie with the vote, the vote wins.
        preference = 1e-12 * np.eye(K)[vote]
        consensus = (first_posterior + preference).argmax(axis=1)
        posterior = self._combine(data, p, several, agreement, consensus)
        self._set_results(data, posterior, chosen=consensus)
        counted = several[data.item].astype(float)
        is_right = data.label == consensus[data.item]
        right = is_right.astype(float)
        with np.errstate(invalid="ignore"):  # 0 / 0
            n_right = data.sum_by_annotator(counted * right)
            n_counted = data.sum_by_annotator(counted)
            share_right = n_right / n_counted
        weight_of_annotators = self.weight_.mean() * total.mean()
        total_of_weights = self.model_weight_ + weight_of_annotators
        r = self.model_weight_ / total_of_weights
        weight_of_votes = 1.0 - r
        self.quality_ = r * self.accuracy_ + weight_of_votes * share_right
        return self

    @staticmethod
    def _check_probabilities(p: Any, data: _CrowdLabels, names: list[Any] | None) -> Floats:
        if p is None:
            rule = "a classifier's probabilities are needed, (items, classes)"
            raise ValueError(f"p: {rule}; else use OneCoin")
        p = match_rows(p, names, argument="p", rows="the items")
        p = match_columns(p, data.classes.tolist(), argument="p")
        shape = (len(data.items), len(data.classes))
        p = finite("p", p, shape)
        if p.min() < 0 or not np.allclose(p.sum(axis=1), 1.0):
            raise ValueError("p: rows must be probabilities that sum to 1")
        return p

    @staticmethod
    def _measure_agreement(data: _CrowdLabels) -> Floats:
        """Compute how often the labels of each annotator agree with those of others, (W,)."""
        n_votes = data.votes.sum(axis=1)
        votes_of_others = (n_votes - 1)[data.item]
        votes_alike = data.votes[data.item, data.label] - 1
        alike = data.sum_by_annotator(votes_alike)
        possible = data.sum_by_annotator(votes_of_others)
        shares = alike / np.maximum(possible, 1)
        agreement = np.where(possible > 0, shares, np.nan)
        # an annotator who shares no item gets the mean
        return np.where(possible > 0, agreement, np.nanmean(agreement))

    def _combine(
        self,
        data: _CrowdLabels,
        p: Floats,
        several: NDArray[np.bool_],
        agreement: Floats,
        consensus: Codes,
    ) -> Floats:
        """Weigh annotators and model by a consensus (n,): the posterior (n, K)."""
        n, K = data.votes.shape
        total = data.votes.sum(axis=1)
        votes_for_consensus = data.votes[np.arange(n), consensus]
        share_alike = votes_for_consensus[several] / total[several]
        hit = float(share_alike.mean())
        frequencies = np.bincount(consensus[several])
        most_frequent = frequencies.max() / several.sum()
        e = max(1.0 - most_frequent, LEAST_WEIGHT)
        error = 1.0 - agreement
        self.weight_ = np.maximum(1.0 - error / e, LEAST_WEIGHT)
        favourites = p.argmax(axis=1)[several]
        missed = float(np.mean(favourites != consensus[several]))
        skill = max(1.0 - missed / e, LEAST_WEIGHT)
        self.model_weight_ = skill * float(total.mean()) ** 0.5
        u = self.weight_[data.annotator]
        is_label = np.eye(K)[data.label] > 0
        share_of_rest = (1.0 - hit) / (K - 1)
        h = np.where(is_label, hit, share_of_rest)
        weighted_hits = u[:, np.newaxis] * h
        votes = data.sum_by_item(weighted_hits)
        mixed = self.model_weight_ * p + votes
        weight_by_item = data.sum_by_item(u)
        total_weight = (self.model_weight_ + weight_by_item)[:, np.newaxis]
        return np.asarray(mixed / total_weight)
