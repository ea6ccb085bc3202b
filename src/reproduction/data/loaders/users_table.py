"""Loader of tables of users, in CSV, TSV, Parquet or .npz, read in the same way as by the audit.

It is apart from the other loaders so that an edit of the audit's reader runs again only what uses a
user's table.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from noisylabels.auditing import tables
from noisylabels.auditing.columns import is_missing
from reproduction.data.loaders.formats import Arrays, Files, only


def users_table(
    files: Files,
    *,
    label: str = "y",
    positive: str | float | None = None,
    columns: Sequence[str] = (),
    gaps: str = "",
) -> Arrays:
    """Read a user's table as the audit does: words become 0/1 columns, and dates counts of days.

    Parameters
    ----------
    files : mapping
        The file: name -> path.
    label : str, default "y"
        Column with the labels.
    positive : str, float or bool, optional
        Class that becomes +1; by default the larger of two numbers.
    columns : sequence of str
        Columns to learn from; all but the label by default.
    gaps : {"", "fill"}
        "fill" puts the median or the most frequent word where a value is missing, and a 0/1 column
        says where. Without it a missing value is refused.

    Returns
    -------
    dict
        ``X`` (n, d), float64; ``y`` (n,), +1 for the positive class, -1 for the others; ``notes``
        of what was done, if anything; of an .npz the splits ``train`` and ``test``, if it has them.

    Raises
    ------
    ValueError
        If something is wrong: in one line the file, the row and the column, and what to do.
    """
    path = only(files)
    where = f"{path.name}: column {label!r}"
    found = tables.read(path, label, columns=columns, check=lambda *_: None, words=False)
    if gaps not in ("", "fill"):
        raise ValueError(f"`gaps` may be `fill`, got {gaps!r}")
    for name, values in found.contents.items() if not gaps else ():
        missing = [k for k, row in enumerate(found.rows) if is_missing(values[row])]
        if missing and f"{name} missing" in found.names:
            gap = missing[0]
            place = f"line {found.lines[gap]}" if found.lines[gap] else f"row {found.rows[gap]}"
            rule = f"column {name!r} has no value; fill it in, or say `gaps: fill`"
            raise ValueError(f"{path.name}, {place}: {rule}")
    classes = np.unique(found.labels).tolist()
    chosen = _positive(classes, positive, where)
    y = np.where(found.labels == chosen, 1, -1).astype(np.int8)
    tables.check_classes(y, where)
    arrays: Arrays = {"X": found.X, "y": y}
    if path.suffix.lower() == ".npz":
        arrays |= _splits(tables.npz_arrays(path), len(y), path.name)
    notes = [*found.notes]
    if len(classes) > 2:
        others = ", ".join(str(each) for each in classes if each != chosen)
        notes.append(f"{label}: {chosen} is set against all others: {others}")
    if notes:
        arrays["notes"] = np.array(notes)
    return arrays


def _splits(arrays: Arrays, n: int, name: str) -> Arrays:
    """Take the official splits ``train`` and ``test``, if any, and refuse a row on both sides."""
    splits: Arrays = {part: rows for part, rows in arrays.items() if part in ("train", "test")}
    if not splits:
        return {}
    if n < len(arrays["y"]):
        raise ValueError(f"{name}: a row without a label; with splits every row needs one")
    good = all(rows.ndim == 2 and rows.dtype.kind in "iu" for rows in splits.values())
    if not good or len({len(rows) for rows in splits.values()}) != 1 or len(splits) != 2:
        shapes = {part: rows.shape for part, rows in splits.items()}
        need = "splits need `train` and `test`, whole numbers, as many lines in both"
        raise ValueError(f"{name}: {need}; found {shapes}")
    for number, rows in enumerate(np.hstack([splits["train"], splits["test"]]).tolist()):
        if min(rows) < 0 or max(rows) >= n or len(set(rows)) < len(rows):
            rule = f"has a row twice, or one that is not in 0 to {n - 1}"
            raise ValueError(f"{name}: split {number} {rule}")
    return splits


def _positive(classes: list[Any], positive: str | float | None, where: str) -> Any:
    """Choose the class, a number or a word, that becomes +1."""
    some = ", ".join(map(repr, classes[:10]))
    if len(classes) > 10:
        some += ", ..."
    if len(classes) < 2:
        raise ValueError(f"{where} holds one class only ({some or 'no value'}); two are needed")
    has_order = classes[0] == "False" or not isinstance(classes[0], str)
    if positive is None and len(classes) == 2 and has_order:
        return classes[1]
    number = None if isinstance(positive, bool | None) else tables.exact(str(positive))
    for value in classes if positive is not None else ():
        if str(value) == str(positive) or (number is not None and value == float(number)):
            return value
    if positive is None:
        how = "; say which is the positive one: `positive`"
    elif isinstance(positive, bool):
        how = f"; put `positive` in quotes, it was read as {positive}"
    else:
        how = f", none of them `positive`: {positive!r}"
    raise ValueError(f"{where} holds the classes {some}{how}")
