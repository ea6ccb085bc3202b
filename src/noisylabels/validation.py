"""Checks of arguments, whose errors name the argument and the place, and types of arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")


def check_features(name: str, values: Any) -> Any:
    """Accept features in any form, and sum the repeated entries of a sparse matrix.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like or sparse matrix
        Features (n, d); what else is wrong with them is left to the checks that follow.

    Returns
    -------
    array_like or sparse matrix
        `values`, or a copy of a sparse matrix in which an entry has one place.

    Raises
    ------
    ValueError
        If there are no features (None), or a NumPy mask hides some of them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from noisylabels.validation import check_features
    >>> halves = csr_array(([0.5, 0.5], [0, 0], [0, 2]), shape=(1, 1))
    >>> check_features("X", halves).data
    array([1.])
    """
    if values is None:
        raise ValueError(f"{name}: features (n, d) are needed, got None")
    if issparse(values):
        matrix: Any = values
        if matrix.format in ("csr", "csc") and not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix
    refuse_masked(name, values)
    return values


def check_labels(name: str, values: Any) -> Any:
    """Accept labels in any form, but refuse masked ones, lists and texts that are bytes.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like
        Labels (n,); None is left to the checks that follow.

    Returns
    -------
    array_like
        `values`.

    Raises
    ------
    ValueError
        If a NumPy mask hides a label, if labels are bytes, or if rows have lists of different
        lengths.

    Examples
    --------
    >>> from noisylabels.validation import check_labels
    >>> check_labels("y", ["no", "yes"])
    ['no', 'yes']
    """
    refuse_masked(name, values)
    try:
        labels = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name}: one label for each row is needed, got {shown(values)}") from None
    if labels.dtype.kind == "S":
        undecoded = labels.ravel().tolist()
    elif labels.dtype.kind == "O":
        undecoded = [label for label in labels.ravel().tolist() if isinstance(label, bytes)]
    else:
        undecoded = []
    if undecoded:
        how = 'decode them, for example [label.decode("utf-8") for label in y]'
        raise ValueError(f"{name}: labels are bytes, such as {shown(undecoded[0])}; {how}")
    return values


def refuse_masked(name: str, values: Any) -> None:
    """Raise ValueError where a NumPy mask hides values, in an array or in the rows of a list."""
    if isinstance(values, list | tuple):
        if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in values):
            raise ValueError(f"{name}: some values are masked; fill them or leave the rows out")
        return
    if np.ma.is_masked(values):
        mask = np.ma.getmaskarray(values)
        index = first_index(mask)
        raise ValueError(f"{name}: value at index {index} is masked; fill it or leave the row out")


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Convert to an array; refuse None, sparse matrices and rows of different lengths."""
    if hasattr(values, "toarray"):
        raise ValueError(f"{name}: is a sparse matrix; give {name}.toarray()")
    try:
        array = np.asanyarray(values)
    except (TypeError, ValueError):
        problem = f"expected an array of real numbers, got {shown(values)}"
        raise ValueError(f"{name}: {problem}") from None
    if array.dtype.kind == "O" and array.ndim == 0:  # None or any other single object
        raise ValueError(f"{name}: expected an array of real numbers, got {shown(values)}")
    return array


def refuse_other_index(X: Any, y: Any, **further: Any) -> None:
    """Refuse labels, weights or groups whose rows have the names of X's rows in another order.

    Parameters
    ----------
    X, y : array-like
        Rows and labels. Rows have names where they are a data frame or a series. Where neither has
        any, the rows are called 0, 1, ..., n - 1.
    **further : array-like or None
        What else has an entry for each row, by the name of the argument.

    Raises
    ------
    ValueError
        If one has the names of another in another order.

    Examples
    --------
    >>> import pandas as pd
    >>> from noisylabels.validation import refuse_other_index
    >>> rows = pd.DataFrame({"a": [1.0, 2.0]})
    >>> refuse_other_index(rows, pd.Series(["no", "yes"], index=[1, 0]))
    Traceback (most recent call last):
    ...
    ValueError: X and y have the same index in another order; bring them into one order, ...
    """
    named = {}
    for name, values in (("X", X), ("y", y)):
        if hasattr(values, "loc"):
            named[name] = values.index
    for name, values in {"y": y, **further}.items():
        if not hasattr(values, "loc"):
            continue
        for holder, index in named.items():
            if holder != name and have_other_order(values.index, index):
                advice = f"bring them into one order, as with {name}.loc[{holder}.index]"
                problem = f"{holder} and {name} have the same index in another order"
                raise ValueError(f"{problem}; {advice}")
        if not named and have_other_order(values.index, range(len(values))):
            advice = f"give {name}.sort_index(), or {name}.to_numpy() to take it by position"
            problem = "the index holds the numbers of the rows in another order"
            raise ValueError(f"{name}: {problem}; {advice}")


def have_other_order(index: Any, reference: Any) -> bool:
    """Decide whether two indexes have the same names in another order."""
    if len(index) != len(reference) or index.equals(reference) or list(index) == list(reference):
        return False
    return set(index) == set(reference)


def finite(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Convert to a contiguous float64 array of ``shape``, where None stands for any length."""
    array_like = as_array(name, values)
    if array_like.dtype.kind not in "biufO":
        raise ValueError(f"{name}: expected real numbers, got {array_like.dtype}")
    refuse_masked(name, values)
    try:
        array = np.ascontiguousarray(array_like, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # objects of any kind
        values_shown = shown(array_like.tolist())
        raise ValueError(f"{name}: expected real numbers, got {values_shown}") from None
    has_shape = array.ndim == len(shape)
    if has_shape:
        has_shape = all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not has_shape:
        sizes = ["*" if n is None else str(n) for n in shape]
        expected = f"({', '.join(sizes)})"
        hint = ""
        if array.ndim == 1 and len(shape) == 2:
            hint = "; reshape one row to (1, n), one column to (n, 1)"
        raise ValueError(f"{name}: expected shape {expected}, got {array.shape}{hint}")
    is_finite = np.isfinite(array)
    if not is_finite.all():
        index = first_index(~is_finite)
        raise ValueError(f"{name}: value at index {index} is not finite")
    return array


def real(
    name: str,
    values: ArrayLike,
    shape: tuple[int | None, ...],
    *,
    empty: bool = False,
) -> Floats:
    """Convert as `finite` does, but refuse objects, and an empty array unless ``empty``."""
    array_like = as_array(name, values)
    if array_like.dtype.kind not in "biuf":
        raise ValueError(f"{name}: needs real numbers, got an array of {array_like.dtype}")
    array = finite(name, array_like, shape)
    if array.size == 0 and not empty:
        raise ValueError(f"{name}: is empty")
    return array


def nonnegative(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Convert as `finite` does, but refuse a value below 0."""
    array = finite(name, values, shape)
    if array.size and array.min() < 0:
        index = first_index(array < 0)
        raise ValueError(f"{name}: value at index {index} is negative")
    return array


def number(
    name: str,
    value: Any,
    *,
    above: float = -np.inf,
    least: float = -np.inf,
    below: float = np.inf,
    most: float = np.inf,
) -> float:
    """Convert to a finite float within limits, above < value < below and least <= value <= most.

    Text, a bool or an array is refused.
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    try:
        checked = float(value) if real else math.nan
    except OverflowError:  # an integer of hundreds of digits
        checked = math.inf
    if not (math.isfinite(checked) and above < checked < below and least <= checked <= most):
        limits = []
        for sign, limit in {">": above, ">=": least, "<": below, "<=": most}.items():
            if math.isfinite(limit):
                limits.append(f"{sign} {limit:g}")
        rule = f"must be a finite number {' and '.join(limits)}".strip()
        written = f"{checked:g}" if real else shown(value)
        raise ValueError(f"{name}: {rule}, got {written}")
    return checked


def numbers(name: str, values: ArrayLike, **limits: float) -> Floats:
    """Convert one or several numbers to an array (n,), each within the limits of `number`."""
    given = as_array(name, values)
    if given.ndim:
        array = finite(name, given, (None,))
    else:
        array = np.array([number(name, values, **limits)])
    if not len(array):
        raise ValueError(f"{name}: at least one number is needed, got none")
    for value in array:
        number(name, value, **limits)
    return array


def whole(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """Convert to an int, least <= value <= most; 2.0 and True are refused."""
    fits = not isinstance(value, bool) and isinstance(value, Integral) and abs(int(value)) < 2**63
    limits = []
    if least is not None:
        limits.append(f">= {least}")
        fits = fits and value >= least
    if most is not None:
        limits.append(f"<= {most}")
        fits = fits and value <= most
    if not fits:
        rule = f"must be a whole number {' and '.join(limits)}".strip()
        raise ValueError(f"{name}: {rule}, got {shown(value)}")
    return int(value)


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return a value that is one of the words ``allowed``, or refuse it."""
    words = list(allowed)
    if not (isinstance(value, str) and value in words):
        raise ValueError(f"{name}: {shown(value)} is unknown; known: {', '.join(words)}")
    return value


def flag(name: str, value: Any) -> bool:
    """Convert to a bool, but refuse 1 or "yes"."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}: must be True or False, got {shown(value)}")
    return bool(value)


def of_class(name: str, value: Any, kind: type[T]) -> T:
    """Return a value of the class ``kind``, or refuse it."""
    if not isinstance(value, kind):
        raise ValueError(f"{name}: must be of the class {kind.__name__}, got {shown(value)}")
    return value


def shown(value: Any) -> str:
    """Write a value for a message, in one line of at most 60 characters."""
    text = " ".join(repr(value).split())
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."


def first_index(bad: NDArray[np.bool_]) -> str:
    """Find the first True, as text: ``3``, or ``(3, 1)`` in a matrix."""
    index = np.argwhere(bad)[0]
    if index.size == 1:
        return str(int(index[0]))
    return str(tuple(int(i) for i in index))
