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
    """Refuse values that a NumPy mask hides, in an array or in the rows of a list.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : object
        The argument.

    Raises
    ------
    ValueError
        If a mask hides a value.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.validation import refuse_masked
    >>> refuse_masked("y", np.ma.array([0, 1], mask=[False, True]))
    Traceback (most recent call last):
    ...
    ValueError: y: value at index 1 is masked; fill it or leave the row out
    """
    if isinstance(values, list | tuple):
        if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in values):
            raise ValueError(f"{name}: some values are masked; fill them or leave the rows out")
        return
    if np.ma.is_masked(values):
        mask = np.ma.getmaskarray(values)
        index = first_index(mask)
        raise ValueError(f"{name}: value at index {index} is masked; fill it or leave the row out")


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Convert to an array; refuse None, sparse matrices and rows of different lengths.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like
        The argument.

    Returns
    -------
    ndarray
        The array, of any type and shape. A masked array stays masked.

    Raises
    ------
    ValueError
        If the argument is a sparse matrix, or cannot become an array.

    Examples
    --------
    >>> from noisylabels.validation import as_array
    >>> as_array("X", [[1, 2], [3, 4]]).shape
    (2, 2)
    >>> as_array("X", [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    ValueError: X: expected an array of real numbers, got [[1, 2], [3]]
    """
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
    """Decide whether two indexes have the same names in another order.

    Parameters
    ----------
    index : pandas.Index
        Names of rows.
    reference : pandas.Index or range
        Names of other rows.

    Returns
    -------
    bool
        Whether only the order differs. Equal indexes have one order.

    Examples
    --------
    >>> import pandas as pd
    >>> from noisylabels.validation import have_other_order
    >>> have_other_order(pd.Index([1, 0]), range(2)), have_other_order(pd.Index([0, 2]), range(2))
    (True, False)
    """
    if len(index) != len(reference) or index.equals(reference) or list(index) == list(reference):
        return False
    return set(index) == set(reference)


def finite(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Convert to a contiguous array of finite numbers in double precision.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like
        The argument: real numbers, or objects that are numbers.
    shape : tuple of int or None
        The shape that the array must have; None stands for any length.

    Returns
    -------
    ndarray of float64
        The array, of this shape.

    Raises
    ------
    ValueError
        If a value is not a finite real number or is masked, or the array has another shape.

    Examples
    --------
    >>> from noisylabels.validation import finite
    >>> finite("X", [[1, 2], [3, 4]], (None, 2))
    array([[1., 2.],
           [3., 4.]])
    >>> finite("y", [1, float("nan")], (None,))
    Traceback (most recent call last):
    ...
    ValueError: y: value at index 1 is not finite
    """
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
    """Convert as `finite` does, but refuse objects, and an empty array unless ``empty``.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like
        The argument: real numbers.
    shape : tuple of int or None
        The shape that the array must have; None stands for any length.
    empty : bool, default False
        Accept an array without values.

    Returns
    -------
    ndarray of float64
        The array, of this shape.

    Raises
    ------
    ValueError
        If the values are not numbers, the array is empty, or `finite` refuses them.

    Examples
    --------
    >>> from noisylabels.validation import real
    >>> real("x", [1, 2], (None,))
    array([1., 2.])
    >>> real("x", [], (None,))
    Traceback (most recent call last):
    ...
    ValueError: x: is empty
    """
    array_like = as_array(name, values)
    if array_like.dtype.kind not in "biuf":
        raise ValueError(f"{name}: needs real numbers, got an array of {array_like.dtype}")
    array = finite(name, array_like, shape)
    if array.size == 0 and not empty:
        raise ValueError(f"{name}: is empty")
    return array


def nonnegative(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Convert as `finite` does, but refuse a value below 0.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like
        The argument.
    shape : tuple of int or None
        The shape that the array must have; None stands for any length.

    Returns
    -------
    ndarray of float64
        The array, of this shape.

    Raises
    ------
    ValueError
        If a value is below 0, or `finite` refuses the values.

    Examples
    --------
    >>> from noisylabels.validation import nonnegative
    >>> nonnegative("v", [0, 1], (None,))
    array([0., 1.])
    >>> nonnegative("v", [0, -1], (None,))
    Traceback (most recent call last):
    ...
    ValueError: v: value at index 1 is negative
    """
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
    """Convert to a finite float within limits.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : float
        The argument.
    above : float, optional
        The value must be larger than this.
    least : float, optional
        The value must be at least this.
    below : float, optional
        The value must be smaller than this.
    most : float, optional
        The value must be at most this.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        If the value is a text, a bool or an array, is not finite, or is beyond a limit.

    Examples
    --------
    >>> from noisylabels.validation import number
    >>> number("r", 2, above=0)
    2.0
    >>> number("r", 0, above=0)
    Traceback (most recent call last):
    ...
    ValueError: r: must be a finite number > 0, got 0
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
    """Convert one or several numbers within limits to an array.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : float or array_like of shape (n,)
        The argument.
    **limits : float
        Limits of each number, those of `number`.

    Returns
    -------
    ndarray of float64, shape (n,)
        The numbers; one number has n = 1.

    Raises
    ------
    ValueError
        If there are no numbers, or `finite` or `number` refuses one.

    Examples
    --------
    >>> from noisylabels.validation import numbers
    >>> numbers("zeta", 0.5, above=0), numbers("zeta", [1, 2], above=0)
    (array([0.5]), array([1., 2.]))
    """
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
    """Convert a whole number within limits to an int.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : int
        The argument.
    least : int, optional
        The smallest value that is accepted.
    most : int, optional
        The largest value that is accepted.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If the value is not a whole number of 64 bits, or is beyond a limit; 2.0 and True are
        refused.

    Examples
    --------
    >>> from noisylabels.validation import whole
    >>> whole("rounds", 2, least=1)
    2
    >>> whole("rounds", 2.0, least=1)
    Traceback (most recent call last):
    ...
    ValueError: rounds: must be a whole number >= 1, got 2.0
    """
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
    """Return a value that is one of the allowed words, or refuse it.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : str
        The argument.
    allowed : iterable of str
        The words.

    Returns
    -------
    str
        The word.

    Raises
    ------
    ValueError
        If the value is none of the words, which the message lists.

    Examples
    --------
    >>> from noisylabels.validation import choice
    >>> choice("solver", "lbfgs", ("lbfgs", "newton"))
    'lbfgs'
    >>> choice("solver", "bfgs", ("lbfgs", "newton"))
    Traceback (most recent call last):
    ...
    ValueError: solver: 'bfgs' is unknown; known: lbfgs, newton
    """
    words = list(allowed)
    if not (isinstance(value, str) and value in words):
        raise ValueError(f"{name}: {shown(value)} is unknown; known: {', '.join(words)}")
    return value


def flag(name: str, value: Any) -> bool:
    """Convert to a bool, but refuse 1 or "yes".

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : bool
        The argument, of Python or NumPy.

    Returns
    -------
    bool
        The value.

    Raises
    ------
    ValueError
        If the value is not a bool.

    Examples
    --------
    >>> from noisylabels.validation import flag
    >>> flag("robust", True)
    True
    >>> flag("robust", 1)
    Traceback (most recent call last):
    ...
    ValueError: robust: must be True or False, got 1
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}: must be True or False, got {shown(value)}")
    return bool(value)


def of_class(name: str, value: Any, kind: type[T]) -> T:
    """Return a value of a class, or refuse it.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : object
        The argument.
    kind : type
        The class.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If the value is not of the class.

    Examples
    --------
    >>> from noisylabels.validation import of_class
    >>> of_class("groups", "a", str)
    'a'
    >>> of_class("groups", 1, str)
    Traceback (most recent call last):
    ...
    ValueError: groups: must be of the class str, got 1
    """
    if not isinstance(value, kind):
        raise ValueError(f"{name}: must be of the class {kind.__name__}, got {shown(value)}")
    return value


def shown(value: Any) -> str:
    """Write a value for a message, in one line of at most 60 characters.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    str
        Its representation, with one blank for each run of blanks and line breaks. The end of a
        longer one is three dots.

    Examples
    --------
    >>> from noisylabels.validation import shown
    >>> shown("beans")
    "'beans'"
    >>> shown(list(range(100)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16...'
    """
    text = " ".join(repr(value).split())
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."


def first_index(bad: NDArray[np.bool_]) -> str:
    """Find the first True, as text: ``3``, or ``(3, 1)`` in a matrix.

    Parameters
    ----------
    bad : ndarray of bool
        An array with at least one True.

    Returns
    -------
    str
        The index, in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.validation import first_index
    >>> first_index(np.array([False, True])), first_index(np.eye(2, dtype=bool))
    ('1', '(0, 0)')
    """
    index = np.argwhere(bad)[0]
    if index.size == 1:
        return str(int(index[0]))
    return str(tuple(int(i) for i in index))
