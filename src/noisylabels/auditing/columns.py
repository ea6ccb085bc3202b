"""Columns of a table as numbers that a model can learn from.

Every column gets one rule, found from all of its values: numbers, dates (counted in days),
categories (a 0/1 column for each) or texts (whose words are hashed).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.wording import write_number
from noisylabels.classifiers.base import LARGEST
from noisylabels.csv_text import is_number

Array = NDArray[np.float64]
Column = Array | Sequence[str | None]
"""Numbers with NaN where one is missing, or texts with None or one of `MISSING` there."""
Place = Callable[[int], str]
"""Type of a function that says where row i is in the file, such as "beans.csv, line 9"."""

MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "<NA>")
"""Texts that stand for an unknown value among the features."""
GAP_MARKS = (
    "#N/A",
    "#DIV/0!",
    "#VALUE!",
    "NaT",
    "N.A.",
    "n.a.",
    "na",
    "none",
    "unknown",
    ".",
    "-",
    "--",
    "*",
)
"""Texts that stand for an unknown value in a column of numbers or dates."""
NOT_PLAIN = re.compile(
    r"[+-]?[$€£¥]? ?"
    r"[+-]?([0-9]+|[0-9]{1,3}([.,'][0-9]{3})+)([.,][0-9]+)?"
    r" ?[%$€£¥]?"
)
"""Pattern of numbers as people write them: 5 %, $5, 1,5 or 1.000,5."""
ROW_NAME = re.compile(r"(^|[ _.-])(id|uuid|guid|key|index)$|[a-z]I[Dd]$", re.IGNORECASE)
"""Pattern of names of columns whose whole numbers, all different, number the rows."""
MOSTLY = 0.8
"""Share of numbers or dates from which a column is one of numbers; its words are then mistakes."""
MARKED = 0.2
"""Share of numbers from which the one text that fills all other cells is a mark for a gap."""
FEWEST_NUMBERS = 5
"""Different numbers that a column with marks has at least; with fewer they are categories."""
LONGEST_SHOWN = 40
SENTINEL_SHARE = 0.01
"""Share of rows from which a number may mean "not known"."""
SENTINEL_DISTANCE = 1.0
"""Distance of such a number from the other values, in units of their range."""
MOST_CATEGORIES = 50
MOST_CELLS = 1 << 27
"""Largest number of cells of the encoded columns; they need 1 GiB."""
LONGEST_SAMPLE = 100
"""Number of different texts by which the forms of dates are chosen."""

ISO = "ISO8601"
DURATION = "duration"
DURATION_FORM = re.compile(r"(-?[0-9]+ days?,? ?)?([0-9]+:[0-9]{2}:[0-9]{2}(\.[0-9]+)?)?")
"""Pattern of durations, such as 3 days 12:30:00. Pandas would also read 5m and 2w, which are sizes
or names.
"""
SHORT_YEARS = ("%d.%m.%y", "%d.%m.%y %H:%M")
"""Forms of dates that pandas does not try by itself."""


class Encoded(NamedTuple):
    """The encoded columns of a table.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The columns as numbers, without gaps.
    names : list of str
        Names of the columns of X.
    notes : list of str
        What had to be done to the columns.
    texts : list of str, optional
        Texts of each row, which are to be hashed; None if no column holds texts.
    dates : sequence of str
        Names of the columns that count days since 1970. Durations are not among them.
    """

    X: Array
    names: list[str]
    notes: list[str]
    texts: list[str] | None = None
    dates: Sequence[str] = ()


@dataclass
class NumericColumn:
    """A column that was read as numbers.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The numbers, or days for dates and durations, with NaN in gaps.
    form : str, default ""
        The form of the dates: "ISO8601", one of ``strftime``, or "duration"; empty for numbers.
    notes : list of str, optional
        How the column was read, where a user may not expect it.

    Examples
    --------
    >>> from noisylabels.auditing.columns import read_numbers
    >>> column = read_numbers("size", ["5", "na", "7"], str)
    >>> column.values.tolist()
    [5.0, nan, 7.0]
    >>> column.notes
    ["column 'size' holds numbers, and once 'na', which was read as a gap"]
    """

    values: Array
    form: str = ""
    notes: list[str] = field(default_factory=list)


def is_missing(value: Any) -> bool:
    """Decide whether a value is None, NaN, or a text for "not known".

    Parameters
    ----------
    value : object
        A cell of a table.

    Returns
    -------
    bool
        Whether it is one of `MISSING`, without the blanks around it.

    Examples
    --------
    >>> from noisylabels.auditing.columns import is_missing
    >>> is_missing(None), is_missing(" NA "), is_missing("0")
    (True, True, False)
    """
    return str(value).strip() in MISSING


def encode(
    columns: Mapping[str, Column],
    file: str,
    locate: Place,
    notes: Sequence[str] = (),
    words: bool = True,
) -> Encoded:
    """Turn the columns of a table into numbers.

    Parameters
    ----------
    columns : mapping of str to ndarray or sequence of str
        The columns by name: numbers with NaN in gaps, or texts with None or one of `MISSING` there.
    file : str
        How messages name the file.
    locate : callable
        Says where row i is in the file, for messages. Rows are numbered from 0.
    notes : sequence of str, optional
        Notes on the table; those on its columns follow them.
    words : bool, default True
        Keep columns of texts for hashing; False leaves them out.

    Returns
    -------
    Encoded
        The columns as numbers, and the texts.

    Raises
    ------
    ValueError
        If a column has a word among numbers, an infinite number or one beyond 1e35; if the columns
        need more than 1 GiB; or if no column is left to learn from.

    Examples
    --------
    >>> from noisylabels.auditing.columns import encode
    >>> columns = {"length": ["1.5", "", "2.5", "4"], "colour": ["red", "green", "red", "blue"]}
    >>> encoded = encode(columns, "beans.csv", lambda i: f"beans.csv, row {i}")
    >>> encoded.names
    ['length', 'length missing', 'colour=blue', 'colour=green', 'colour=red']
    >>> encoded.X[1].tolist()
    [2.5, 1.0, 0.0, 1.0, 0.0]
    >>> encoded.notes
    ["column 'length' lacks 1 of 4 values; the median is put there"]

    Notes
    -----
    Numbers do not change, dates become days, and each category becomes a 0/1 column. One column is
    enough for two categories. Missing numbers become the median and missing words the most
    frequent one; a further 0/1 column marks them.

    A column with more than 50 different words holds texts, which are joined row by row. Constant
    columns are left out, or give only the 0/1 column of their gaps. Columns that name or number the
    rows are left out: texts without blanks that are all different, or whole numbers that are all
    different in a column called like ``id``, ``key`` or ``index``. A note says so.
    """
    parts: list[Encoded] = []
    width = 0
    for name, column in columns.items():
        part = _encode_column(name, column, locate, words, file, width)
        width += len(part.names)
        parts.append(part)
    names: list[str] = []
    collected_notes = list(notes)
    texts: list[list[str]] = []
    dates: list[str] = []
    for part in parts:
        names += part.names
        collected_notes += part.notes
        dates += [name for name in part.dates if name in part.names]
        if part.texts is not None:
            texts.append(part.texts)
    if not names and not texts:
        problem = "no column other than the label is left to learn from"
        raise ValueError(f"{file}: {problem}{_summarise_notes(collected_notes)}")
    joined = None
    if texts:
        joined = [" ".join(row) for row in zip(*texts, strict=True)]
    return Encoded(np.hstack([part.X for part in parts]), names, collected_notes, joined, dates)


def _summarise_notes(notes: Sequence[str]) -> str:
    """Join the first two notes in brackets, and say how many more there are."""
    if not notes:
        return ""
    summary = "; ".join(notes[:2])
    if len(notes) > 2:
        summary += f"; and {len(notes) - 2} more"
    return f" ({summary})"


def hash_words(texts: list[str]) -> Any:
    """Count the words of each text, and pairs of neighbouring words, in sparse columns.

    Parameters
    ----------
    texts : list of str
        The texts of n rows.

    Returns
    -------
    sparse matrix of shape (n, 4096)
        The counts, scaled to rows of length 1. The row of a text without words is 0.

    Examples
    --------
    >>> from noisylabels.auditing.columns import hash_words
    >>> hash_words(["a red bean", "bean"]).shape
    (2, 4096)

    Notes
    -----
    Words have at least two letters or digits; upper case does not matter. A hash of a word or pair
    gives its column and the sign with which it is counted.
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=4096, ngram_range=(1, 2)).transform(texts)


def _encode_column(
    name: str,
    column: Column,
    locate: Place,
    words: bool,
    file: str,
    width: int,
) -> Encoded:
    if isinstance(column, np.ndarray):
        return _encode_numbers(name, NumericColumn(column), locate)
    numeric = read_numbers(name, column, locate)
    if numeric is None:
        texts = [str(value).strip() for value in column]
        return _encode_words(name, texts, words, file, width)
    return _encode_numbers(name, numeric, locate)


def _encode_numbers(name: str, column: NumericColumn, locate: Place) -> Encoded:
    values = column.values
    n = len(values)
    _check_size(name, values, locate)
    nothing = np.empty((n, 0))
    missing = np.isnan(values)
    if not column.form and _numbers_rows(name, values, missing):
        reason = f"{n} different whole numbers and the name of a row number"
        advice = "rename it if it is measured"
        note = f"column {name!r} has {reason} and is not used to learn from; {advice}"
        return Encoded(nothing, [], [*column.notes, note])
    if missing.all():
        return Encoded(nothing, [], [*column.notes, f"column {name!r} is empty and was left out"])
    present = values[~missing]
    notes = [*column.notes, *_explain_sentinel(name, present)]
    filled = np.where(missing, np.median(present), values)
    X = filled[:, np.newaxis]
    is_constant = bool(filled.min() == filled.max())
    if column.form and column.form != DURATION:
        dates = [name]
    else:
        dates = []
    return _with_gaps(name, X, [name], missing, is_constant, "the median", notes, dates)


def _numbers_rows(name: str, values: Array, missing: NDArray[np.bool_]) -> bool:
    """Decide whether a column has numbers of rows, which decimals are not."""
    n = len(values)
    if n <= MOST_CATEGORIES or not ROW_NAME.search(name):
        return False
    present = values[~missing]
    are_whole = bool((present == np.floor(present)).all())
    return are_whole and len(np.unique(values)) == n


def _encode_words(name: str, words: list[str], hashing: bool, file: str, width: int) -> Encoded:
    n = len(words)
    counts: dict[str, int] = {}
    for word in words:
        if word not in MISSING:
            counts[word] = counts.get(word, 0) + 1
    if len(counts) > MOST_CATEGORIES:
        return _encode_texts(name, words, len(counts), hashing)
    levels = sorted(counts)
    if len(levels) == 2:
        levels = levels[1:]  # one 0/1 column is enough for two words
    _check_cells(name, n, width + len(levels), file)
    missing = np.array([word in MISSING for word in words])
    most_frequent = ""
    if counts:
        most_frequent = max(counts, key=lambda word: counts[word])
    filled = np.where(missing, most_frequent, words)
    level_names = np.array(levels)
    X = (filled[:, np.newaxis] == level_names).astype(float)
    names = [f"{name}={level}" for level in levels]
    is_constant = len(counts) < 2
    return _with_gaps(name, X, names, missing, is_constant, "the most frequent text", [], [])


def _with_gaps(
    name: str,
    X: Array,
    names: list[str],
    missing: NDArray[np.bool_],
    is_constant: bool,
    stand_in: str,
    notes: list[str],
    dates: list[str],
) -> Encoded:
    """Add a 0/1 column that marks gaps, and leave out a column that is constant."""
    n = len(missing)
    gaps = int(missing.sum())
    marked = missing[:, np.newaxis].astype(float)
    if is_constant and gaps:  # the column varies only by its gaps
        counted_gaps = write_number(gaps, "gap", "gaps")
        note = f"column {name!r} has one value and {counted_gaps}; only where it has gaps is used"
        return Encoded(marked, [f"{name} missing"], [*notes, note])
    if is_constant:
        note = f"column {name!r} is constant and was left out"
        return Encoded(np.empty((n, 0)), [], [*notes, note])
    if gaps:
        note = f"column {name!r} lacks {gaps} of {n} values; {stand_in} is put there"
        names = [*names, f"{name} missing"]
        return Encoded(np.hstack([X, marked]), names, [*notes, note], None, dates)
    return Encoded(X, names, notes, None, dates)


def _encode_texts(name: str, words: list[str], different: int, hashing: bool) -> Encoded:
    """Keep a column of more than 50 texts for hashing, unless it names the rows."""
    n = len(words)
    nothing = np.empty((n, 0))
    blanks = sum(word.count(" ") for word in words)
    if different == n and blanks < n:
        note = f"column {name!r} names the rows ({n} different texts) and is not used to learn from"
        return Encoded(nothing, [], [note])
    reason = f"column {name!r} has {different} different texts, more than {MOST_CATEGORIES}"
    if not hashing:
        return Encoded(nothing, [], [f"{reason}, and was left out"])
    note = f"{reason}; a linear model learns from their words"
    single_words = all(" " not in word for word in words)
    prefix = re.sub(r"\W", "", name)
    texts = []
    for word in words:
        if word in MISSING:
            texts.append("")
        # single words, such as names of places, mean more together with their column
        elif single_words:
            texts.append(prefix + re.sub(r"\W", "_", word))
        else:
            texts.append(word)
    return Encoded(nothing, [], [note], texts)


def _explain_sentinel(name: str, values: Array) -> list[str]:
    """Warn that a number such as -999 is repeated far from all others, as if it meant "unknown"."""
    different, counts = np.unique(values, return_counts=True)
    if len(different) < FEWEST_NUMBERS:
        return []
    ends = ((0, different[1], different[1:]), (-1, different[-2], different[:-1]))
    for i, nearest, remaining in ends:
        fewest = max(FEWEST_NUMBERS, SENTINEL_SHARE * len(values))
        is_frequent = counts[i] >= fewest
        spread = remaining[-1] - remaining[0]
        distance = abs(different[i] - nearest)
        is_far = distance > SENTINEL_DISTANCE * spread
        if is_frequent and is_far:
            value = f"{different[i]:g} in {counts[i]} rows, far from its other values"
            return [f"column {name!r} is {value}; leave it empty if that means not known"]
    return []


def _check_size(name: str, values: Array, locate: Place) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        i = int(infinite.argmax())
        raise ValueError(f"{locate(i)}: column {name!r} is infinite; leave it empty")
    too_large = np.abs(values) > LARGEST
    if too_large.any():
        i = int(too_large.argmax())
        problem = f"{values[i]:g}, beyond {LARGEST:g}"
        raise ValueError(f"{locate(i)}: column {name!r} is {problem}; scale the column")


def _check_cells(name: str, rows: int, width: int, file: str) -> None:
    """Refuse categories that would need more than 1 GiB, before they are encoded."""
    cells = rows * width
    if cells > MOST_CELLS:
        size = rows * width * 8 / 1e9
        limit = MOST_CELLS * 8 / 1e9
        columns = f"the table has {width} columns of 0/1, {size:.1f} GB; at most {limit:.1f} GB"
        advice = "leave out columns of words, or merge rare words"
        raise ValueError(f"{file}: with the words of column {name!r} {columns}: {advice}")


def read_numbers(name: str, column: Sequence[str | None], locate: Place) -> NumericColumn | None:
    """Read a column of texts as numbers or days, unless it holds words.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : sequence of str
        The texts, with None or one of `MISSING` in gaps.
    locate : callable
        Says where row i is in the file, for messages. Rows are numbered from 0.

    Returns
    -------
    NumericColumn or None
        The numbers, with NaN in gaps; None if the column holds words.

    Raises
    ------
    ValueError
        If there is a word among numbers or dates, or numbers are written with a comma, a unit or a
        sign such as %.

    Examples
    --------
    >>> from noisylabels.auditing.columns import read_numbers
    >>> column = read_numbers("day", ["1970-01-02", "", "1970-01-11"], str)
    >>> column.values.tolist(), column.form
    ([1.0, nan, 10.0], 'ISO8601')
    >>> read_numbers("colour", ["red", "green"], str) is None
    True

    Notes
    -----
    A column is one of numbers or dates if at least 80 % of its known values are. A word is then a
    mistake, unless all of them mark gaps, see `GAP_MARKS`. With such marks 20 % are enough. They
    are also enough if one text fills all other cells of a column with five different numbers.

    Only different texts are looked at, so that a million rows take seconds.
    """
    import pandas as pd

    cells = np.array(column, dtype=object)
    codes, different = pd.factorize(cells, use_na_sentinel=False)
    texts = [str(value).replace("\u2212", "-").strip() for value in different]
    counts = np.bincount(codes, minlength=len(texts))
    missing = np.array([text in MISSING for text in texts], dtype=bool)
    is_number_text = np.array([is_number(text) for text in texts], dtype=bool)
    numeric = is_number_text & ~missing
    words = ~missing & ~numeric

    def first_row(chosen: NDArray[np.bool_]) -> int:
        return int(chosen[codes].argmax())

    is_decorated = np.array([bool(NOT_PLAIN.fullmatch(text)) for text in texts], dtype=bool)
    decorated = words & is_decorated
    if decorated.any() and counts[decorated].sum() >= MOSTLY * counts[words].sum():
        i = first_row(decorated)
        marks_to_remove = "a comma, a unit or a sign such as % or $"
        advice = f"write numbers with a decimal point, without {marks_to_remove}"
        raise ValueError(f"{locate(i)}: column {name!r} is {texts[codes[i]]!r}: {advice}")

    values = np.full(len(texts), np.nan)
    texts_of_words = list(compress(texts, words))
    days, form = _read_dates(texts_of_words)
    dated = np.zeros(len(texts), dtype=bool)
    dated[words] = np.isfinite(days)
    n_dated = counts[dated].sum()
    n_numeric = counts[numeric].sum()
    if n_dated > n_numeric:
        readable = dated
        values[words] = days
    else:
        readable = numeric
        form = ""
        values[numeric] = [float(text) for text in compress(texts, numeric)]

    present = ~missing
    marks = present & ~readable
    note, is_mark = _explain_marks(name, texts, counts, readable, marks)
    if not is_mark:
        n_readable = counts[readable].sum()
        n_present = counts[present].sum()
        share = n_readable / max(n_present, 1)
        if present.any() and (share < MOSTLY or not readable.any()):
            return None
        if marks.any():
            i = first_row(marks)
            value = _shorten(texts[codes[i]])
            problem = f"is {value!r}, not {_kind(form)} like the other values of this column"
            advice = "correct it, or leave it empty if it is not known"
            raise ValueError(f"{locate(i)}: column {name!r} {problem}; {advice}")
    notes = [part for part in (_explain_dates(name, form), note) if part]
    return NumericColumn(values[codes], form, notes)


def _shorten(text: str) -> str:
    """Shorten a text to 40 characters for a message."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[: LONGEST_SHOWN - 3]}..."


def _kind(form: str) -> str:
    if form == DURATION:
        return "a duration (such as 12:30:00)"
    if form:
        return "a date (such as 2026-01-31)"
    return "a number (with a decimal point)"


def _explain_dates(name: str, form: str) -> str:
    if not form:
        return ""
    kind = "durations" if form == DURATION else "dates"
    note = f"column {name!r} holds {kind} and is counted in days"
    if form == DURATION or "." in form:
        return note
    if form.startswith("%d"):
        return f"{note}, read as day/month/year"
    if form.startswith("%m"):
        return f"{note}, read as month/day/year"
    return note


def _explain_marks(
    name: str,
    texts: Sequence[str],
    counts: NDArray[np.intp],
    readable: NDArray[np.bool_],
    marks: NDArray[np.bool_],
) -> tuple[str, bool]:
    """Say which texts among numbers stand for gaps; "" and False if they do not."""
    marks_written = list(compress(texts, marks))
    n_readable = counts[readable].sum()
    n_marks = counts[marks].sum()
    share = n_readable / max(n_readable + n_marks, 1)
    if not marks_written or share < MARKED:
        return "", False
    all_known = all(text in GAP_MARKS for text in marks_written) and readable.sum() > 1
    one_text = len(marks_written) == 1 and share < MOSTLY and readable.sum() >= FEWEST_NUMBERS
    if not all_known and not one_text:
        return "", False
    written = ", ".join(repr(text) for text in marks_written)
    times = "once" if n_marks == 1 else f"{n_marks} times"
    return (
        f"column {name!r} holds numbers, and {times} {written}, which was read as a gap",
        True,
    )


def _read_dates(texts: list[str]) -> tuple[Array, str]:
    """Read texts as days since 1970 in the form that reads most; NaN where a text is not a date."""
    import pandas as pd

    best = np.full(len(texts), np.nan)
    best_form = ""
    if not texts:
        return best, best_form
    series = pd.Series(texts, dtype=object)
    day = pd.Timedelta(days=1)
    epoch = pd.Timestamp(0, tz="UTC")
    for form in _date_forms(texts[:LONGEST_SAMPLE]):
        dates = pd.to_datetime(series, format=form, errors="coerce", utc=True)
        if dates.notna().sum() > np.isfinite(best).sum():
            best = ((dates - epoch) / day).to_numpy(float)
            best_form = form
    if best_form:
        return best, best_form
    durations = series.where(series.str.fullmatch(DURATION_FORM))
    lengths = np.asarray(pd.to_timedelta(durations, errors="coerce") / day, dtype=np.float64)
    if np.isfinite(lengths).any():
        return lengths, DURATION
    return best, ""


def _date_forms(texts: Sequence[str]) -> list[str]:
    """List the forms of dates in which the texts may be written, with the day first if in doubt."""
    from pandas.tseries.api import guess_datetime_format

    forms = [ISO]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns that it guesses the order of day and month
        for day_first in (True, False):
            forms += [guess_datetime_format(text, dayfirst=day_first) or "" for text in texts]
    forms += SHORT_YEARS
    return [form for form in dict.fromkeys(forms) if _has_year_or_hour(form)]


def _has_year_or_hour(form: str) -> bool:
    """Decide whether a form has more than names of months or days, which may be plain words."""
    return form == ISO or any(part in form for part in ("%Y", "%y", "%H", "%I"))
