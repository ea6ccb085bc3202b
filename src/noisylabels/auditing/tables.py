"""The one reader of a user's table: a CSV, Parquet or .npz file, a data frame, or arrays.

Every column gets one rule, found from all of its values: numbers, dates (counted in days) or words (a 0/1
column for each). Labels and verified labels share theirs.
"""

from __future__ import annotations

import csv
import difflib
import functools
import io
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.classifiers.base import LARGEST

MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "<NA>")
NOT_PLAIN = re.compile(r"[+-]?[$€£¥]? ?[+-]?([0-9]+|[0-9]{1,3}([.,'][0-9]{3})+)([.,][0-9]+)? ?[%$€£¥]?")
"""A number as people write it: 5 %, $5, 1,5 or 1.000,5."""
JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Indic scripts and emoji are written with."""
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that nobody sees, or that are no Unicode."""
MOST_COLUMNS, MOST_CLASSES, MOST_CATEGORIES = 2000, 50, 50
MOST_BYTES = 1 << 30
"""Bytes of the arrays of an .npz, of which some kilobytes can hold gigabytes."""
FEWEST_ROWS, FEWEST_OF_A_CLASS = 20, 5
"""Below these no split into training and test rows makes sense."""
MOSTLY = 0.8
"""A column with this share of numbers (or dates) is one of numbers; a word in it is a mistake."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Array = NDArray[np.float64]
Column = Array | Sequence[str | None]
"""Numbers with NaN where one is missing, or texts with None or one of `MISSING` there."""
Found = tuple[dict[str, Column], list[int] | None]
"""The columns of a file, and the lines of its rows where it has any."""
Place = Callable[[int], str]
"""Where row i is in the file, such as "beans.csv, line 9"."""


@dataclass(frozen=True)
class Table:
    """A table with its labels.

    X (n, d) with the names of its columns; labels (n,), as they are written; rows (n,), numbers of the rows
    from 0; lines (n,), their lines in the file, 0 without one; trusted (n,), verified labels or None;
    notes, what had to be done to the table; text, None or the hashed words of its texts, sparse (n, 4096);
    contents, all columns and rows as they were read, the label under the name ``label``; dates, columns of
    X that count days since 1970.
    """

    X: Array
    names: list[str]
    labels: NDArray[Any]
    rows: NDArray[np.intp]
    lines: NDArray[np.intp]
    trusted: list[Any]
    notes: list[str] = field(default_factory=list)
    text: Any = None
    contents: Mapping[str, Column] = field(default_factory=dict)
    label: str = "y"
    dates: Sequence[str] = ()

    def places(self, at: Any = slice(None)) -> dict[str, NDArray[Any]]:
        """The columns ``row`` and, where the file has lines, ``line`` of some rows of X."""
        return {"row": self.rows[at]} | ({"line": self.lines[at]} if self.lines.any() else {})


class Encoded(NamedTuple):
    """X (n, d), the names of its columns, and what had to be done, in sentences."""

    X: Array
    names: list[str]
    notes: list[str]
    texts: list[str] | None = None
    """Of a column of texts, in place of X, what it says in each row."""
    dates: Sequence[str] = ()


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Nothing if the labels (n,) can be learnt from and audited; else a ValueError that says why."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(labels) < FEWEST_ROWS:
        raise ValueError(f"{where}: {len(labels)} rows; at least {FEWEST_ROWS} are needed")
    if len(classes) < 2:
        raise ValueError(f"{where} holds one class only ({classes[0]}); two are needed")
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"{where} holds {len(classes)} different values in {len(labels)} rows: that is a measurement or "
            f"a name, not a class; at most {MOST_CLASSES} classes can be audited"
        )
    if counts.min() < FEWEST_OF_A_CLASS:
        few = classes[counts.argmin()]
        raise ValueError(
            f"{where}: the class {few} has {counts.min()} rows; at least {FEWEST_OF_A_CLASS} are needed: "
            "merge it with another class, or delete its rows"
        )


def measured(labels: NDArray[Any]) -> bool:
    """Are they numbers with more than 50 values, such as measurements?"""
    return labels.dtype.kind in "iuf" and len(np.unique(labels)) > MOST_CLASSES


def check_labels(labels: NDArray[Any], where: str) -> None:
    """`check_classes`, where they are not `measured`."""
    if not measured(labels):
        check_classes(labels, where)


def read(
    path: Path,
    label: str,
    *,
    columns: Sequence[str] = (),
    trusted: str | None = None,
    check: Callable[[NDArray[Any], str], None] = check_classes,
    words: bool = True,
    learn: bool = True,
) -> Table:
    """The table of a file: .csv or .tsv with a header line, .parquet, or .npz with the arrays X and y.

    label : the column in doubt; of an .npz always "y".   columns : what to learn from, by default all others.
    trusted : a column with verified labels, empty where there is none.   check : refuses labels.
    words : texts are hashed; False leaves them out.   learn : False where labels come with probabilities.

    Raises ValueError : in one line, the file, the row and the column that are wrong, and what to do.
    """
    file = visible(path.name)
    if path.is_dir() or not path.exists():
        raise ValueError(f"{visible(path)}: {'a folder, not a table' if path.is_dir() else 'no such file'}")
    suffix = path.suffix.lower() if path.is_file() else ".csv"  # /dev/stdin, or a pipe of a shell
    if suffix not in READERS:
        raise ValueError(f"{file}: no table that can be read; save it as one of {', '.join(READERS)}")
    found, lines = READERS[suffix](path, file)
    for name in (label, *columns, *([trusted] if trusted else [])):
        if name not in found:
            raise ValueError(f"{file}: no column {name!r}; {_near(name, list(found))}")
    if label in columns or label == trusted:
        role = "learnt from" if label in columns else "trusted"
        raise ValueError(f"{file}: column {label!r} is the label; it cannot be {role} too")
    used = {name: found[name] for name in columns or found if name not in (label, trusted)}
    verified = list(found[trusted]) if trusted else None
    where = f"column {label!r}"
    table = assembled(used if learn else None, list(found[label]), verified, file, where, lines, check, words)
    return replace(table, contents=found, label=label)


def probabilities(path: Path, table: Table) -> Array:
    """Probabilities (n, K) of the classes in sorted order, from a file with a column named after each.

    Raises ValueError : a class without a column, another number of rows than the table has, a word.
    """
    file = visible(path.name)
    if not path.is_file() or path.suffix.lower() not in (".csv", ".tsv"):
        raise ValueError(f"{file}: probabilities are read from a CSV or TSV file")
    found, lines = _csv(path, file)
    names, rows = [str(value) for value in np.unique(table.labels)], len(table.contents[table.label])
    if missing := [name for name in names if name not in found]:
        raise ValueError(f"{file}: no column for the class {missing[0]!r}; {_near(missing[0], list(found))}")
    if len(lines or ()) != rows:
        raise ValueError(
            f"{file}: {len(lines or ())} rows, the table has {rows}; give one for each, in its order"
        )
    columns = [_numbers(name, list(found[name]), lambda i: f"{file}, row {i}")[0] for name in names]
    if wrong := [name for name, column in zip(names, columns, strict=True) if column is None]:
        raise ValueError(f"{file}: the column {wrong[0]!r} does not hold numbers")
    return np.column_stack([column for column in columns if column is not None])[table.rows]


def of_arrays(
    X: Any, y: Any, trusted: Any = None, check: Callable[[NDArray[Any], str], None] = check_classes
) -> Table:
    """The table of a data frame or array X (n, d), labels y (n,) and verified labels, None or NaN elsewhere.

    Raises ValueError : X or y of another shape, or what `assembled` refuses.
    """
    X, y, trusted = (_unmasked(values) for values in (X, y, trusted))
    if hasattr(X, "toarray"):
        raise ValueError("X is sparse; an audit needs it dense: X.toarray()")
    frame = hasattr(X, "columns") and hasattr(X, "iloc")
    if not frame:
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind == "c":
            kind = " of complex numbers" if X.dtype.kind == "c" else ""
            raise ValueError(f"X must be a table (n, d), got shape {X.shape}{kind}")
    n, d = X.shape
    _check_width(d, "X")
    columns: dict[str, Column]
    if frame:
        gone = X.isna().to_numpy()
        columns = {
            visible(name): _texts_or_numbers(np.where(gone[:, j], None, X.iloc[:, j].astype(object)))
            for j, name in enumerate(X.columns)
        }
        if len(columns) < d:
            raise ValueError("X: two columns of one name; rename one")
    else:
        number = X.dtype.kind in "fiub"
        columns = {f"x{j}": X[:, j].astype(float) if number else list(X[:, j]) for j in range(d)}
    for name, given in (("y", y), ("trusted", y if trusted is None else trusted)):
        if np.ndim(given) != 1:
            shape = f"one label for each row, shape (n,), got shape {np.shape(given)}"
            raise ValueError(f"{name} must have {shape}")
        if len(given) != n:
            raise ValueError(f"{name} has {len(given)} labels, X has {n} rows; give one label a row")
    verified = None if trusted is None else list(np.asarray(trusted, dtype=object))
    labels = np.asarray(y).tolist()
    table = assembled(columns, labels, verified, "X", "y", None, check)
    name = "y" if "y" not in columns else "y observed"
    return replace(table, contents={**columns, name: [str(label) for label in labels]}, label=name)


def assembled(
    columns: Mapping[str, Column] | None,
    labels: list[Any],
    trusted: list[Any] | None,
    file: str,
    where: str,
    lines: list[int] | None,
    check: Callable[[NDArray[Any], str], None] = check_classes,
    words: bool = True,
) -> Table:
    """The `Table` of columns and labels; rows without a label are left out, and the notes say how many.

    Raises ValueError : labels that ``check`` refuses, trusted labels that are no class; see also `encode`.
    """
    kept = np.array([i for i, value in enumerate(labels) if not is_missing(value)], dtype=np.intp)
    if len(labels) and not len(kept):
        raise ValueError(f"{file}: {where} holds no label at all; fill it in or name another column")
    texts = [_text(labels[i]) for i in kept]
    values, note = class_values(texts)
    check(values, f"{file}: {where}")

    def place(i: int) -> str:
        return f"{file}, line {lines[i]}" if lines else f"{file}, row {i}"

    notes = [f"the labels: {note}"] if note else []
    if left := len(labels) - len(kept):
        notes = [f"{left} rows without a label were left out", *notes]
    leaks = [name for name, column in (columns or {}).items() if _is_label((column[i] for i in kept), texts)]
    if columns and measured(values):  # every column without equal values would be one
        leaks = [name for name in leaks if [_text(columns[name][i]) for i in kept] == texts]
    aside = "is the label in another coding, value for value, and was set aside"
    notes += [f"column {name!r} {aside}" for name in leaks]
    others = {name: column for name, column in (columns or {}).items() if name not in leaks}
    nothing = Encoded(np.empty((len(labels), 0)), [], notes)
    found = nothing if columns is None else encode(others, file, place, notes, words)
    X, said = found.X, found.texts
    known = dict(zip(texts, values.tolist(), strict=True))

    def verified(i: int, given: Any) -> Any:
        if is_missing(given):
            return None
        text = _text(given)
        number = exact(text)
        same = [text] if text in known else [each for each in known if number == exact(each) is not None]
        if len(same) != 1:
            classes = ", ".join(map(str, np.unique(values)))
            raise ValueError(f"{place(i)}: the trusted label {text!r} is none of {classes}")
        return known[same[0]]

    sure = [None] * len(kept) if trusted is None else [verified(i, trusted[i]) for i in kept.tolist()]
    numbers = np.array(lines, dtype=np.intp)[kept] if lines else np.zeros(len(kept), dtype=np.intp)
    text = None if said is None else hashed([said[i] for i in kept])
    return Table(X[kept], found.names, values, kept, numbers, sure, found.notes, text, dates=found.dates)


def hashed(texts: list[str]) -> Any:
    """Words of each text and pairs of them in 4096 columns, sparse, rows of length 1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=4096, ngram_range=(1, 2)).transform(texts)


def class_values(texts: Sequence[str]) -> tuple[NDArray[Any], str]:
    """Labels (n,): whole numbers if all are and fit 64 bits, numbers if all are, else the texts; and a note.

    Texts of which two are one number, such as 01 and 1, stay texts, and the note says so.
    """
    different = dict.fromkeys(texts)
    read = {text: exact(text) for text in different if text not in TRUTH}
    numbers = {text: number for text, number in read.items() if number is not None}
    if different.keys() - numbers.keys():
        return np.array(texts), ""
    found = {number: text for text, number in numbers.items()}
    if one := next((text for text in numbers if text not in found.values()), None):
        both = f"{one!r} and {found[numbers[one]]!r}"
        return np.array(texts), f"{both} are one number and two texts; all were read as texts"
    kind: type = int if all(number == int(number) for number in found) else float
    values = {text: kind(number) for text, number in numbers.items()}
    exactly = len(set(values.values())) == len(values) and all(
        abs(value) < 2**63 for value in values.values()
    )
    return np.array([values[text] for text in texts] if exactly else texts), ""


TRUTH = {"False": Decimal(0), "True": Decimal(1)}


def exact(text: str) -> Decimal | None:
    """The number that a text says, to its last digit; False is 0, True is 1; None if it says none."""
    if text in TRUTH:
        return TRUTH[text]
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in text else None


def _text(value: Any) -> str:
    """A label as a text: 1.0 in a column of numbers is "1"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else visible(str(value).strip())


def _is_label(column: Iterable[Any], labels: Sequence[str]) -> bool:
    """Does each value of the column go with one label, and each label with one value?"""
    classes, value_of = set(labels), dict[str, str]()
    for value, label in zip(column, labels, strict=True):
        if not is_missing(value) and value_of.setdefault(label, _text(value)) != _text(value):
            return False
    return len(set(value_of.values())) == len(value_of) == len(classes)


def visible(text: Any) -> str:
    """The text with control characters, and what is no Unicode, as escapes: fit for terminals and pages.

    So are marks that nobody sees, such as one that turns the direction of writing, but for the two joiners.
    """
    text = str(text)
    if text.isprintable():  # nothing to hide, and ten times as fast
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in HIDDEN and c not in JOINERS else c
        for c in text
    )


def _unmasked(values: Any) -> Any:
    """None in place of what a NumPy mask hides."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    found = values.data.astype(object)
    found[np.ma.getmaskarray(values)] = None
    return found


def is_missing(value: Any) -> bool:
    """Is it None, NaN, or a word for "not known"?"""
    return str(value).strip() in MISSING


def is_number(text: str) -> bool:
    """Is it a number as a table has it: "3", "1e-3", "nan", but not "1_000"?"""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # float() takes it


DATES = ("ISO", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
DURATION = re.compile(r"(?:(-?[0-9]+) days?,? ?)?(?:([0-9]+):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?))?")
NAMED_ID = re.compile(r"(^|[ _.-])(id|uuid|guid|key|index)$|[a-z]I[Dd]$", re.IGNORECASE)
"""Names of columns whose whole numbers, all different, name the rows."""


def _days(text: str, form: str) -> float | None:
    """Days from 1970-01-01 to a date in this form, with or without a time; None if it is no date."""
    try:
        date = datetime.fromisoformat(text) if form == "ISO" else datetime.strptime(text, form)
    except ValueError:
        return None
    return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - EPOCH) / timedelta(days=1)


def _lasting(text: str) -> float | None:
    """Days of a duration such as 12:30:00 or 3 days 12:30:00; None if it is none."""
    found = DURATION.fullmatch(text)
    if not found or not text:
        return None
    days, *clock = (float(part or 0) for part in found.groups())
    return days + clock[0] / 24 + clock[1] / 1440 + clock[2] / 86400


def _dated(texts: Mapping[int, str], words: Sequence[int]) -> tuple[dict[int, float], str]:
    """Days by row, in the form that reads the most of ``words``, and which form that is."""
    best: tuple[dict[int, float], str] = {}, ""
    sample = words[: 1 + len(words) // 10]
    for form in (*DATES, "duration"):
        read = _lasting if form == "duration" else functools.partial(_days, form=form)
        if any(read(texts[i]) is not None for i in sample):
            found = {i: day for i in words if (day := read(texts[i])) is not None}
            best = (found, form) if len(found) > len(best[0]) else best
    return best


def encode(
    columns: Mapping[str, Column], file: str, place: Place, notes: Sequence[str] = (), words: bool = True
) -> Encoded:
    """X of the columns of a table: numbers as they are, dates as days, words as one 0/1 column per category.

    Missing numbers become the median, missing words the most frequent one, and a 0/1 column says where.
    Columns of more than 50 categories are texts, joined row by row, or left out if not ``words``. Constant
    columns (but for their gaps) and names of the rows are left out. Notes say so.

    Raises ValueError : a word among numbers, a number that is not finite, nothing left to learn from.
    """
    parts = [_encoded(name, column, place, words) for name, column in columns.items()]
    names = [name for part in parts for name in part.names]
    notes = [*notes, *(note for part in parts for note in part.notes)]
    texts = [part.texts for part in parts if part.texts is not None]
    if not names and not texts:
        why = f" ({'; '.join(notes[:2])})" if notes else ""
        raise ValueError(f"{file}: no column to learn from beside the label{why}")
    joined = [" ".join(row) for row in zip(*texts, strict=True)] if texts else None
    dates = [name for part in parts for name in part.dates if name in names]
    return Encoded(np.hstack([part.X for part in parts]), names, notes, joined, dates)


def _texts(name: str, words: list[str], different: int, hashing: bool) -> Encoded:
    """A column of more than 50 texts: the names of the rows, or texts to learn from."""
    nothing, n = np.empty((len(words), 0)), len(words)
    if different == n and sum(word.count(" ") for word in words) < n:
        return Encoded(
            nothing, [], [f"column {name!r} names the rows ({n} different texts) and is not learnt from"]
        )
    why = f"column {name!r} has {different} different texts, more than {MOST_CATEGORIES}"
    if not hashing:
        return Encoded(nothing, [], [f"{why}, and was left out"])
    note = f"{why}; a linear model learns from their words"
    prefix = re.sub(r"\W", "", name)
    alone = all(" " not in word for word in words)  # names of places, for instance: one word with its column
    said = ["" if word in MISSING else prefix + re.sub(r"\W", "_", word) if alone else word for word in words]
    return Encoded(nothing, [], [note], said)


def _encoded(name: str, column: Column, place: Place, hashing: bool) -> Encoded:
    """One column: its numbers, or a 0/1 column for each word (one for two); then one that marks its gaps."""
    numbers, note = (column, "") if isinstance(column, np.ndarray) else _numbers(name, column, place)
    notes, n, dates = [note] * bool(note), len(column), [name] * ("holds dates" in note)
    nothing = np.empty((n, 0))
    if numbers is None:
        words = [str(value).strip() for value in column]
        missing = np.array([word in MISSING for word in words])
        often = Counter(word for word in words if word not in MISSING).most_common()
        if len(often) > MOST_CATEGORIES:
            return _texts(name, words, len(often), hashing)
        levels = sorted(word for word, _ in often)[len(often) == 2 :]
        filled = np.where(missing, often[0][0] if often else "", words)
        X, names = (filled[:, np.newaxis] == np.array(levels)).astype(float), [f"{name}={w}" for w in levels]
        constant, stand_in = len(often) < 2, "the most frequent text"
    else:
        _check_numbers(name, numbers, place)
        missing = np.isnan(numbers)
        if n > MOST_CATEGORIES and NAMED_ID.search(name) and len(np.unique(numbers)) == n:
            return Encoded(nothing, [], [f"column {name!r} numbers the rows and is not learnt from"])
        if missing.all():
            return Encoded(nothing, [], [*notes, f"column {name!r} is empty and was left out"])
        filled = np.where(missing, np.median(numbers[~missing]), numbers)
        X, names = filled[:, np.newaxis], [name]
        constant, stand_in = filled.min() == filled.max(), "the median"
    gaps, marked = int(missing.sum()), missing[:, np.newaxis].astype(float)
    if constant and gaps:  # where the gaps are is all that varies
        notes.append(f"column {name!r} has one value and {gaps} gaps; only where it has gaps is used")
        return Encoded(marked, [f"{name} missing"], notes)
    if constant:
        return Encoded(nothing, [], [*notes, f"column {name!r} is constant and was left out"])
    if gaps:
        notes.append(f"column {name!r} lacks {gaps} of {n} values; {stand_in} stands in for them")
        return Encoded(np.hstack([X, marked]), [*names, f"{name} missing"], notes, None, dates)
    return Encoded(X, names, notes, None, dates)


def _numbers(name: str, column: Sequence[str | None], place: Place) -> tuple[Array | None, str]:
    """The column as floats with NaN where a value is missing, and a note; None if it is one of words."""
    texts = {
        i: str(value).replace("\u2212", "-").strip()
        for i, value in enumerate(column)
        if not is_missing(value)
    }
    words = [i for i, text in texts.items() if not is_number(text)]
    written = [i for i in words if NOT_PLAIN.fullmatch(texts[i])]
    if written and len(written) >= MOSTLY * len(words):
        i, how = written[0], "a decimal point, without a comma, a unit or a sign such as % or $"
        raise ValueError(f"{place(i)}: column {name!r} is {texts[i]!r}: write numbers with {how}")
    values, form = _dated(texts, words)
    note = f"column {name!r} holds {'durations' if form == 'duration' else 'dates'} and is counted in days"
    if form[:3] in ("%d/", "%m/"):
        note += f", read as {'day/month' if form[1] == 'd' else 'month/day'}/year"
    kind = "a duration (such as 12:30:00)" if form == "duration" else "a date (such as 2026-01-31)"
    if not values or len(values) < MOSTLY * len(texts):
        if len(texts) - len(words) < MOSTLY * len(texts):
            return None, ""
        values = {i: float(texts[i]) for i in texts.keys() - set(words)}
        kind, note = "a number (with a decimal point)", ""
    if wrong := [i for i in texts if i not in values]:
        raise ValueError(
            f"{place(wrong[0])}: column {name!r} is {texts[wrong[0]]!r}, not {kind} as the others in it; "
            "correct it, or leave it empty if it is not known"
        )
    return np.array([values.get(i, np.nan) for i in range(len(column))]), note


def _check_numbers(name: str, numbers: Array, place: Place) -> None:
    for wrong, what in (
        (np.isinf(numbers), "infinite; leave it empty"),
        (np.abs(numbers) > LARGEST, "{:g}, beyond {:g}; scale the column"),
    ):
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(f"{place(i)}: column {name!r} is {what.format(numbers[i], LARGEST)}")


def _csv(path: Path, file: str) -> Found:
    """Columns of texts, and the line of every row; separated by what the header has most of: , ; or a tab.

    A first line such as ``sep=;``, by which Excel names the separator, is obeyed.
    """
    content = path.read_bytes()
    declared = re.match(rb"(?:\xef\xbb\xbf)?sep=(.)\r?\n", content)
    marks = declared[1].decode("latin-1") if declared else ",;\t"
    first = content[declared.end() if declared else 0 :].lstrip(b"\r\n").partition(b"\n")[0]
    _check_width(1 + max(first.count(mark.encode("latin-1")) for mark in marks), file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{file}, line {line}: not UTF-8 text; save the CSV in UTF-8") from None
    if "\0" in text:
        raise ValueError(f"{file}, line 1: not UTF-8 text but perhaps UTF-16; save the CSV in UTF-8")
    separator = max(marks, key=first.decode("utf-8-sig", "replace").count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows: dict[int, list[str]] = {}
    try:
        for raw in reader:
            fields = [field.strip() for field in raw]
            if any(fields) and not (declared and reader.line_num == 1):
                rows[reader.line_num] = fields
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: not a CSV line ({error})") from None
    header = [visible(name) for name in rows.pop(next(iter(rows), 0), [])]
    for line, fields in rows.items():
        if len(fields) != len(header):
            comment = "; is its first line a comment? remove it" * header[0].startswith("#")
            counts = f"{len(fields)} fields, the header has {len(header)}{comment}"
            raise ValueError(f"{file}, line {line}: {counts}")
    _check_header(header, file)
    columns = zip(*rows.values(), strict=True) if rows else [()] * len(header)
    return dict(zip(header, map(list, columns), strict=True)), list(rows)


def _check_header(header: list[str], name: str) -> None:
    if not header:
        raise ValueError(f"{name}: the file is empty; the first line should name the columns")
    if all(map(is_number, header)):
        raise ValueError(f"{name}, line 1: numbers only; the first line should name the columns")
    if "" in header:
        raise ValueError(f"{name}, line 1: column {header.index('') + 1} has no name; name it or remove it")
    if twice := [column for column, count in Counter(header).items() if count > 1]:
        places = " and ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise ValueError(f"{name}, line 1: columns {places} are both called {twice[0]!r}; rename one")


def npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """X (n, d), y (n,) and, where the file has them, train and test, as they are stored.

    Raises ValueError : no archive of arrays, no X or no y, or shapes that do not fit.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            if (size := sum(each.file_size for each in archive.zip.infolist())) > MOST_BYTES:
                raise ValueError(f"it unpacks to {size / 1e9:.1f} GB, more than {MOST_BYTES / 1e9:.1f} GB")
            if missing := [name for name in ("X", "y") if name not in archive.files]:
                found = ", ".join(archive.files) or "none"
                raise ValueError(f"no array {' and '.join(missing)}; it has: {found}")
            arrays = {name: archive[name] for name in ("X", "y", "train", "test") if name in archive.files}
            if strange := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"{', '.join(strange)} is no array")  # NumPy hands out the bytes
    except Exception as error:  # a damaged archive makes NumPy raise nearly anything
        raise ValueError(f"{visible(path.name)}: {error}; save it with np.savez(file, X=X, y=y)") from None
    X, y, wrong = arrays["X"], arrays["y"], ""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        wrong = f"X has type {X.dtype} and shape {X.shape}; expected (n, d) numbers"
    elif y.shape != X.shape[:1]:
        wrong = f"y has shape {y.shape}; expected {X.shape[:1]}, as X has {X.shape}"
    if wrong:
        raise ValueError(f"{visible(path.name)}: {wrong}")
    return arrays


def _npz_columns(path: Path, file: str) -> Found:
    found = npz_arrays(path)
    X = found["X"].astype(float)
    _check_width(X.shape[1], file)
    return {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": found["y"].tolist()}, None


def _parquet(path: Path, file: str) -> Found:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        how = "reading Parquet needs the package pyarrow; install it, or save it as CSV"
        raise ValueError(f"{file}: {how}") from None
    try:
        table = parquet.read_table(path)
    except Exception as error:  # a damaged file makes Arrow raise nearly anything
        raise ValueError(f"{file}: {' '.join(str(error).split())}") from None
    _check_width(table.num_columns, file)
    if len(set(table.column_names)) < table.num_columns:
        raise ValueError(f"{file}: two columns of one name; rename one")
    return {name: _texts_or_numbers(table.column(name).to_pylist()) for name in table.column_names}, None


READERS: dict[str, Callable[[Path, str], Found]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".npz": _npz_columns,
}


def _texts_or_numbers(values: Sequence[Any] | NDArray[Any]) -> Column:
    if all(value is None or isinstance(value, int | float | np.number | np.bool_) for value in values):
        return np.array([np.nan if value is None else _float(value) for value in values])
    return [None if value is None else str(value) for value in values]


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return math.inf


def _check_width(columns: int, file: str) -> None:
    if columns > MOST_COLUMNS:
        how = "keep those that matter, or give a few principal components of them"
        raise ValueError(f"{file}: {columns} columns; at most {MOST_COLUMNS} can be audited: {how}")


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=2)
    some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has: {some}"
