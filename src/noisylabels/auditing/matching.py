"""Probabilities of classes matched to labels: by the names of columns and rows where there are names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.tables import exact
from noisylabels.validation import shown

Array = NDArray[np.float64]

LEAST = 0.005
"""No probability counts as less than this."""
CLEARLY, CLEARLY_RIGHT = 5.0, 0.1
"""Standard errors of the gain in log-likelihood, and gain in accuracy, by which another order fits better."""


def name_class(value: Any) -> str:
    """A class as a text: 1.0 is "1"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def match_columns(
    p: Any, expected: Sequence[Any] | NDArray[Any], names: Any = None, what: str = "pred_probs"
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
    what : str
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
        if names is not None and list(names) == list(range(len(names))):
            wanted = {name_class(each) for each in expected}
            if {str(name) for name in names} != wanted:
                names = None  # the numbers that pandas gives columns without names
    if names is None or values.ndim != 2:
        return values
    classes = [name_class(each) for each in expected]
    places = []
    for name in names:
        place = find_class(name_class(name), classes)
        if place is None:
            known = ", ".join(classes)
            raise ValueError(f"{what}: column {str(name)!r} is not a class; the classes are {known}")
        places.append(place)
    for place, name in enumerate(classes):
        if place not in places:
            raise ValueError(f"{what}: no column for the class {name!r}")
    if len(places) != len(classes) or values.shape[1] != len(places):
        counts = f"{values.shape[1]} columns and {len(places)} names"
        raise ValueError(f"{what}: {counts} for {len(classes)} classes")
    return values[:, np.argsort(places)]


def find_class(name: str, classes: Sequence[str]) -> int | None:
    """Find a class by its text or, if no class has this text, by the number that it says."""
    if name in classes:
        return classes.index(name)
    number = exact(name)
    same = [place for place, each in enumerate(classes) if number is not None and exact(each) == number]
    return same[0] if len(same) == 1 else None


def match_rows(p: Any, names: Any, what: str = "pred_probs", rows: str = "y") -> Any:
    """Put the rows of a data frame into the order of names, if its index has the same names.

    An index 0, 1, ..., n - 1 in order that has other names is the one that pandas gives rows without names:
    they are taken by position. Without names the rows are called 0, 1, ..., n - 1, like those of an array.

    Parameters
    ----------
    p : data frame or array_like
        Probabilities. An array is returned unchanged, and so is a frame of another length.
    names : index or sequence, optional
        The names of the rows, in the order that is wanted.
    what, rows : str
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
    held, default = list(index), list(range(len(index)))
    wanted = default if names is None else list(names)
    if (
        len(index) != len(wanted)
        or list(index) == wanted
        or (hasattr(names, "equals") and names.equals(index))
    ):
        return p
    if len(set(wanted)) == len(wanted) and set(held) == set(wanted):
        return p.loc[wanted]
    if names is None or held == default:
        return p
    row = next((i for i, name in enumerate(wanted) if held[i] != name), 0)
    differ = f"row {row} is {shown(held[row])}, in {rows} it is {shown(wanted[row])}"
    how = f"give {what} the index of {rows}, or {what}.to_numpy() to take its rows by position"
    raise ValueError(f"{what}: the index has other names than {rows} ({differ}); {how}")


def refuse_other_order(
    p: Array, y: NDArray[np.intp], classes: Sequence[Any], what: str = "pred_probs"
) -> None:
    """Raise a ValueError if another order of the columns fits the labels clearly better.

    p : (n, K) probabilities.   y : (n,) numbers of the observed classes.
    """
    from scipy.optimize import linear_sum_assignment

    K = p.shape[1]
    log = np.log(np.maximum(p, LEAST))
    sums = np.zeros((K, K))
    np.add.at(sums, y, log)
    order = linear_sum_assignment(-sums)[1]  # order[k]: the column that fits class k best
    rows = np.arange(len(y))
    gain = log[rows, order[y]] - log[rows, y]
    if not gain.std() > 0 or gain.mean() <= CLEARLY * gain.std(ddof=1) / len(y) ** 0.5:
        return
    best = p.argmax(axis=1)
    now, then = float(np.mean(best == y)), float(np.mean(best == order[y]))
    if then < now + CLEARLY_RIGHT:
        return
    column_of = np.empty(K, dtype=np.intp)
    column_of[order] = np.arange(K)
    better = ", ".join(str(classes[k]) for k in column_of.tolist())
    shares = (
        f"with that order {100 * then:.0f} % of the labels are the most probable class, "
        f"with yours {100 * now:.0f} %"
    )
    raise ValueError(
        f"{what}: another order of the classes fits the columns clearly better: {better} ({shares}); "
        "name the columns, or give classes="
    )
