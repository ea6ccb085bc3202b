"""Matching of the columns of probabilities with classes, and of their rows with the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.tables import exact
from noisylabels.validation import shown

Array = NDArray[np.float64]

LEAST = 0.005
"""Smallest probability that counts; smaller ones are raised to it."""
CLEARLY = 5.0
"""Standard errors of the log-likelihood by which another order must fit better."""
CLEARLY_RIGHT = 0.1
"""Accuracy by which another order must fit better."""


def name_class(value: Any) -> str:
    """Write a class as a text.

    Parameters
    ----------
    value : object
        A class, as a table has it.

    Returns
    -------
    str
        The text without blanks around it; a whole number has no decimal point.

    Examples
    --------
    >>> from noisylabels.auditing.matching import name_class
    >>> name_class(1.0)
    '1'
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def match_columns(
    p: Any, expected: Sequence[Any] | NDArray[Any], names: Any = None, argument: str = "pred_probs"
) -> Array:
    """Put the columns of probabilities into the order of classes.

    Parameters
    ----------
    p : array_like or data frame of shape (n, K)
        Probabilities. Columns without names are in the order of ``expected``.
    expected : sequence of K classes
        The order that is wanted.
    names : sequence of K classes, optional
        The names of the columns, in place of those of a data frame.
    argument : str
        How an error calls ``p``.

    Returns
    -------
    ndarray of shape (n, K)
        The probabilities.

    Raises
    ------
    ValueError
        If a column is named after something that is not a class.

    Examples
    --------
    >>> from noisylabels.auditing.matching import match_columns
    >>> match_columns([[0.1, 0.9]], ["no", "yes"], names=["yes", "no"]).tolist()
    [[0.9, 0.1]]
    """
    values = np.asarray(p, dtype=float)
    if names is None:
        names = getattr(p, "columns", None)
        if _are_default_names(names, expected):
            names = None
    if names is None or values.ndim != 2:
        return values
    classes = [name_class(value) for value in expected]
    class_numbers = []
    for name in names:
        number = find_class(name_class(name), classes)
        if number is None:
            known_classes = ", ".join(classes)
            problem = f"column {str(name)!r} is not a class; the classes are {known_classes}"
            raise ValueError(f"{argument}: {problem}")
        class_numbers.append(number)
    for number, name in enumerate(classes):
        if number not in class_numbers:
            raise ValueError(f"{argument}: no column for the class {name!r}")
    d = values.shape[1]
    if len(class_numbers) != len(classes) or d != len(class_numbers):
        counts = f"{d} columns and {len(class_numbers)} names"
        raise ValueError(f"{argument}: {counts} for {len(classes)} classes")
    return values[:, np.argsort(class_numbers)]


def _are_default_names(names: Any, classes: Sequence[Any] | NDArray[Any]) -> bool:
    """Decide whether names are the numbers that pandas gives columns without names."""
    if names is None or list(names) != list(range(len(names))):
        return False
    names_of_classes = {name_class(value) for value in classes}
    return {str(name) for name in names} != names_of_classes


def find_class(name: str, classes: Sequence[str]) -> int | None:
    """Find a class by its text or, if no class has this text, by its number.

    Parameters
    ----------
    name : str
        The text.
    classes : sequence of str
        The classes.

    Returns
    -------
    int or None
        The index of the class; None if no class fits, or several.

    Examples
    --------
    >>> from noisylabels.auditing.matching import find_class
    >>> find_class("1.0", ["0", "1"])
    1
    """
    if name in classes:
        return classes.index(name)
    number = exact(name)
    if number is None:
        return None
    matches = [index for index, text in enumerate(classes) if exact(text) == number]
    if len(matches) != 1:
        return None
    return matches[0]


def match_rows(p: Any, names: Any, argument: str = "pred_probs", rows: str = "y") -> Any:
    """Put the rows of a data frame into the order of names, if its index has the same names.

    An index 0, 1, ..., n - 1 in order that has other names is the one that pandas gives rows
    without names: they are taken by position. Without names the rows are called 0, 1, ..., n - 1,
    like those of an array.

    Parameters
    ----------
    p : data frame or array_like
        Probabilities. An array is returned unchanged, and so is a frame of another length.
    names : index or sequence, optional
        The names of the rows, in the order that is wanted.
    argument, rows : str
        How an error calls ``p``, and what has the names.

    Returns
    -------
    data frame or array_like
        The rows of ``p`` in the order of the names.

    Raises
    ------
    ValueError
        If there are names, and the index has others or has one of them twice.

    Examples
    --------
    >>> import pandas as pd
    >>> from noisylabels.auditing.matching import match_rows
    >>> frame = pd.DataFrame([[0.1, 0.9], [0.8, 0.2]], index=["b", "a"])
    >>> match_rows(frame, ["a", "b"]).index.tolist()
    ['a', 'b']
    """
    index = getattr(p, "index", None)
    if index is None or not hasattr(p, "loc"):
        return p
    names_of_p = list(index)
    default = list(range(len(index)))
    wanted = default if names is None else list(names)
    if len(names_of_p) != len(wanted) or names_of_p == wanted:
        return p
    if hasattr(names, "equals") and names.equals(index):
        return p
    has_no_doubles = len(set(wanted)) == len(wanted)
    if has_no_doubles and set(names_of_p) == set(wanted):
        return p.loc[wanted]
    if names is None or names_of_p == default:
        return p
    row = 0
    for i, name in enumerate(wanted):
        if names_of_p[i] != name:
            row = i
            break
    difference = f"row {row} is {shown(names_of_p[row])}, in {rows} it is {shown(wanted[row])}"
    advice = f"give {argument} the index of {rows}"
    other_advice = f"{argument}.to_numpy() to take its rows by position"
    problem = f"the index has other names than {rows} ({difference})"
    raise ValueError(f"{argument}: {problem}; {advice}, or {other_advice}")


def refuse_other_order(
    p: Array,
    y: NDArray[np.intp],
    classes: Sequence[Any],
    argument: str = "pred_probs",
) -> None:
    """Refuse probabilities whose columns fit the labels clearly better in another order.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Probabilities.
    y : ndarray of shape (n,)
        Numbers of the observed classes.
    classes : sequence of K classes
        The classes, in the order of the columns.
    argument : str
        How an error calls ``p``.

    Raises
    ------
    ValueError
        If another order gives the labels a clearly larger likelihood and a larger accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.matching import refuse_other_order
    >>> y = np.arange(100) % 2
    >>> p = 0.1 + 0.8 * np.eye(2)[y]
    >>> p[:10] = p[:10, ::-1]
    >>> refuse_other_order(p, y, ["no", "yes"])
    >>> refuse_other_order(p[:, ::-1], y, ["no", "yes"])
    Traceback (most recent call last):
    ...
    ValueError: pred_probs: another order of the classes fits the columns clearly better: yes, no
    ...
    """
    from scipy.optimize import linear_sum_assignment

    K = p.shape[1]
    likely = np.maximum(p, LEAST)
    log = np.log(likely)
    sums = np.zeros((K, K))
    np.add.at(sums, y, log)
    order = linear_sum_assignment(-sums)[1]  # order[k]: the column that fits class k best
    rows = np.arange(len(y))
    likely_order = log[rows, order[y]]
    gain = likely_order - log[rows, y]
    if not gain.std() > 0 or gain.mean() <= CLEARLY * gain.std(ddof=1) / len(y) ** 0.5:
        return
    most_probable = p.argmax(axis=1)
    accuracy = float(np.mean(most_probable == y))
    other_accuracy = float(np.mean(most_probable == order[y]))
    if other_accuracy < accuracy + CLEARLY_RIGHT:
        return
    class_of_column = np.empty(K, dtype=np.intp)
    class_of_column[order] = np.arange(K)
    better = ", ".join(str(classes[k]) for k in class_of_column.tolist())
    percent = f"{100 * other_accuracy:.0f} %"
    share = f"with that order {percent} of the labels are the most probable class"
    yours = f"with yours {100 * accuracy:.0f} %"
    raise ValueError(
        f"{argument}: another order of the classes fits the columns clearly better: {better} "
        f"({share}, {yours}); name the columns, or give classes="
    )
