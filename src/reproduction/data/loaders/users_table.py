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
    location = f"{path.name}: column {label!r}"
    table = tables.read(path, label, columns=columns, check=lambda *_: None, words=False)
    if gaps not in ("", "fill"):
        raise ValueError(f"`gaps` may be `fill`, got {gaps!r}")
    for name, values in table.contents.items() if not gaps else ():
        missing = [k for k, row in enumerate(table.rows) if is_missing(values[row])]
        if missing and f"{name} missing" in table.names:
            gap = missing[0]
            position = f"line {table.lines[gap]}" if table.lines[gap] else f"row {table.rows[gap]}"
            rule = f"column {name!r} has no value; fill it in, or say `gaps: fill`"
            raise ValueError(f"{path.name}, {position}: {rule}")
    classes = np.unique(table.labels).tolist()
    chosen = _positive(classes, positive, location)
    y = np.where(table.labels == chosen, 1, -1).astype(np.int8)
    tables.check_classes(y, location)
    arrays: Arrays = {"X": table.X, "y": y}
    if path.suffix.lower() == ".npz":
        arrays |= _splits(tables.npz_arrays(path), len(y), path.name)
    notes = [*table.notes]
    if len(classes) > 2:
        negative = [str(value) for value in classes if value != chosen]
        notes.append(f"{label}: {chosen} is set against all others: {', '.join(negative)}")
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


def _positive(classes: list[Any], positive: str | float | None, location: str) -> Any:
    """Choose the class, a number or a word, that becomes +1."""
    listed = ", ".join(map(repr, classes[:10]))
    if len(classes) > 10:
        listed += ", ..."
    if len(classes) < 2:
        listed = listed or "no value"
        raise ValueError(f"{location} holds one class only ({listed}); two are needed")
    has_order = classes[0] == "False" or not isinstance(classes[0], str)
    if positive is None and len(classes) == 2 and has_order:
        return classes[1]
    number = None if isinstance(positive, bool | None) else tables.exact(str(positive))
    for value in classes if positive is not None else ():
        if str(value) == str(positive) or (number is not None and value == float(number)):
            return value
    if positive is None:
        hint = "; say which is the positive one: `positive`"
    elif isinstance(positive, bool):
        hint = f"; put `positive` in quotes, it was read as {positive}"
    else:
        hint = f", none of them `positive`: {positive!r}"
    raise ValueError(f"{location} holds the classes {listed}{hint}")
