"""The loader of users' own tables: CSV, TSV, Parquet or .npz files, read as the audit reads them.

It is apart from the other loaders so that an edit of the audit's reader runs only what uses a user's table.
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
    """``X`` (n, d) float64 and ``y`` (n,) of a user's table: +1 the positive class, -1 the others.

    Read as the audit reads it: words become 0/1 columns, dates are counted in days; ``notes`` says what was
    done, if anything. An .npz may have splits, ``train`` and ``test``.
    label : the column with the labels.   positive : the class that becomes +1; without it, the larger of two
    numbers.   columns : to learn from; all but the label by default.   gaps : "fill" puts the median or the
    most frequent word there, and a 0/1 column says where; without it, a missing value is refused.

    Raises ValueError : in one line, the file, the row and the column that are wrong, and what to do.
    """
    path = only(files)
    where = f"{path.name}: column {label!r}"
    found = tables.read(path, label, columns=columns, check=lambda *_: None, words=False)
    if gaps not in ("", "fill"):
        raise ValueError(f"`gaps` may be `fill`, got {gaps!r}")
    for name, values in found.contents.items() if not gaps else ():
        gap = next((k for k, row in enumerate(found.rows) if is_missing(values[row])), None)
        if gap is not None and f"{name} missing" in found.names:
            place = f"line {found.lines[gap]}" if found.lines[gap] else f"row {found.rows[gap]}"
            how = f"column {name!r} has no value; fill it in, or say `gaps: fill`"
            raise ValueError(f"{path.name}, {place}: {how}")
    chosen = _positive(np.unique(found.labels).tolist(), positive, where)
    y = np.where(found.labels == chosen, 1, -1).astype(np.int8)
    tables.check_classes(y, where)
    arrays: Arrays = {"X": found.X, "y": y}
    if path.suffix.lower() == ".npz":
        arrays |= _splits(tables.npz_arrays(path), len(y), path.name)
    return arrays | ({"notes": np.array(found.notes)} if found.notes else {})


def _splits(arrays: Arrays, n: int, name: str) -> Arrays:
    """``train`` and ``test`` (splits, rows), if there are any and no row is on both sides of a split."""
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
            raise ValueError(f"{name}: split {number} has a row twice, or one that is not in 0 to {n - 1}")
    return splits


def _positive(classes: list[Any], positive: str | float | None, where: str) -> Any:
    """The one of the classes, all numbers or all words, that becomes +1."""
    some = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
    if len(classes) < 2:
        raise ValueError(f"{where} holds one class only ({some or 'no value'}); two are needed")
    if positive is None and len(classes) == 2 and (classes[0] == "False" or not isinstance(classes[0], str)):
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
