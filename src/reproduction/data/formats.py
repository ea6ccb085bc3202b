"""Readers of file formats, and the form in which loaders hand over what they read.

A loader is called with {name in the registry: path} and returns arrays:

=========  ===========  ============================================  ========
part       dense        sparse (CSR)                                  labels
=========  ===========  ============================================  ========
training   ``X``        ``data, indices, indptr, shape``              ``y``
test       ``X_test``   ``data_test, indices_test, ...``              ``y_test``
=========  ===========  ============================================  ========
"""

import bz2
import gzip
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files as resources
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix, issparse

Arrays = dict[str, NDArray[Any]]
Files = Mapping[str, Path]
Matrix = NDArray[np.floating[Any]] | csr_matrix[Any]
Labelled = tuple["csr_matrix[Any]", NDArray[np.int8]]
PIECES = ("data", "indices", "indptr", "shape")


def only(files: Files) -> Path:
    """The path of a source of one file; ValueError lists the names if there are none or several."""
    if len(files) != 1:
        raise ValueError(f"expected one file, got {', '.join(sorted(files)) or 'none'}")
    return next(iter(files.values()))


def fact(name: str) -> bytes:
    """Bytes of a small file that is shipped with the library, such as the row mask of a7a."""
    return (resources("reproduction.data") / "facts" / name).read_bytes()


def supervised(
    name: str,
    X: Matrix,
    y: NDArray[Any],
    columns: int,
    classes: Mapping[int, int | None],
    rows: int | None = None,
    part: str = "",
) -> Arrays:
    """Named arrays of (X, y), if X is finite and of the expected shape, and y has the expected classes.

    Parameters
    ----------
    classes : class -> number of its rows, None where only the number of all rows is known for certain.
    rows : number of rows; by default the sum of the class counts.
    part : "" or, for an official test set, "test".

    Raises
    ------
    ValueError : anything else; the message has the name, what was found and what was expected.
    """
    rows = sum(count or 0 for count in classes.values()) if rows is None else rows
    if X.shape != (rows, columns) or y.shape != (rows,):
        found = f"{'x'.join(map(str, X.shape))} values and {len(y)} labels"
        raise ValueError(f"{name}: {found}, expected {rows}x{columns} and {rows}")
    if not np.isfinite(X.data if issparse(X) else X).all():
        raise ValueError(f"{name}: a value is not finite")
    counts = {int(label): int(n) for label, n in zip(*np.unique(y, return_counts=True), strict=True)}
    if counts != {label: counts.get(label) if n is None else n for label, n in classes.items()}:
        raise ValueError(f"{name}: rows per class {counts}, expected {dict(sorted(classes.items()))}")
    return pack(X, y.astype(np.int8), part)


def pack(X: Matrix, y: NDArray[np.int8], part: str = "") -> Arrays:
    """Named arrays of (X, y); ``part`` is "" or, for an official test set, "test"."""
    suffix = f"_{part}" if part else ""
    if isinstance(X, np.ndarray):
        arrays: Arrays = {"X": np.ascontiguousarray(X)}
    else:
        values = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), np.array(X.shape, np.int64))
        arrays = dict(zip(PIECES, values, strict=True))
    return {f"{name}{suffix}": array for name, array in (arrays | {"y": y}).items()}


def unpack(arrays: Mapping[str, NDArray[Any]], part: str = "") -> tuple[Matrix, NDArray[np.int8]]:
    """(X, y) of one part of a prepared data set, X dense or CSR, as it was packed.

    Raises
    ------
    KeyError : the data set has no such part.
    """
    suffix = f"_{part}" if part else ""
    if f"X{suffix}" in arrays:
        return arrays[f"X{suffix}"], arrays[f"y{suffix}"]
    if f"data{suffix}" not in arrays:
        raise KeyError(f"no {part or 'training'} part among the arrays {', '.join(sorted(arrays))}")
    data, indices, indptr, shape = (arrays[f"{name}{suffix}"] for name in PIECES)
    rows, columns = (int(n) for n in shape)
    return csr_matrix((data, indices, indptr), shape=(rows, columns)), arrays[f"y{suffix}"]


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Binary stream of ``path``; ``.gz``, ``.bz2`` and ``.zip`` (its first file) are unpacked on the way."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
            yield member
    else:
        opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
        with opener(path, "rb") as stream:
            yield stream


class Table(list[list[str]]):
    """Rows of fields; ``where(i)`` names file and line of row ``i`` for an error message."""

    def __init__(self, name: str, rows: list[list[str]], lines: list[int]) -> None:
        super().__init__(rows)
        self.name, self.lines = name, lines

    def where(self, row: int) -> str:
        """File and line of a row, e.g. ``heart.dat, line 17``."""
        return f"{self.name}, line {self.lines[row]}"

    def numbers(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """(n, len(columns)) finite values of some columns; ValueError names the first bad field."""
        values = np.empty((len(self), len(columns)))
        for i, row in enumerate(self):
            for j, column in enumerate(columns):
                try:
                    value = math.nan if "_" in row[column] else float(row[column])  # float() takes "1_000"
                except ValueError:
                    value = math.nan
                if not math.isfinite(value):
                    what = f"field {column + 1} is {row[column]!r}, expected a finite number"
                    raise ValueError(f"{self.where(i)}: {what}")
                values[i, j] = value
        return values

    def codes(self, column: int, coding: Mapping[str, int]) -> NDArray[np.int8]:
        """(n,) int8 codes of one column, e.g. class names to -1 and +1; ValueError names an unknown value."""
        for i, row in enumerate(self):
            if row[column] not in coding:
                raise ValueError(f"{self.where(i)}: value {row[column]!r} is none of {', '.join(coding)}")
        return np.array([coding[row[column]] for row in self], np.int8)


def table(path: Path, columns: int, *, comments: str = "@", complete: bool = False) -> Table:
    """Fields of every line, split at commas (or tabs in ``.tab`` files, else blanks), stripped.

    Parameters
    ----------
    columns : fields a line must have.
    comments : characters that open a line without data; "@" is the header of a KEEL file.
    complete : drop rows with a missing value ("?").

    Raises
    ------
    ValueError : a line with another number of fields, naming the line; a byte that is not ASCII.
    """
    orange = path.suffix == ".tab"  # has three lines of header
    rows, numbers = [], []
    for number, line in enumerate(path.read_text(encoding="ascii").split("\n"), start=1):
        if number <= 3 * orange or not line.strip() or line.lstrip()[0] in comments:
            continue
        separator = "\t" if orange else "," if "," in line else None
        fields = [field.strip() for field in line.rstrip("\r").split(separator)]
        if len(fields) != columns:
            raise ValueError(f"{path.name}, line {number}: {len(fields)} fields, expected {columns}")
        if complete and "?" in fields:
            continue
        rows.append(fields)
        numbers.append(number)
    return Table(path.name, rows, numbers)


def svmlight(
    source: Path | IO[bytes], features: int, classes: Mapping[float, int], dtype: DTypeLike = np.float64
) -> Labelled:
    """(n, features) sparse matrix and (n,) int8 labels of ``label index:value ...``, one-based indices.

    classes : the file's labels -> ours.

    Raises
    ------
    ValueError : an index outside 1..features, a label that is not in ``classes``, or another format.
    """
    from sklearn.datasets import load_svmlight_file

    if isinstance(source, Path):
        with open_bytes(source) as stream:
            return svmlight(stream, features, classes, dtype)
    X, labels = load_svmlight_file(source, n_features=features, dtype=dtype, zero_based=False)
    if X.nnz and (X.indices.min() < 0 or X.indices.max() >= features):
        raise ValueError(f"a feature index is outside 1..{features}")
    y = np.zeros(len(labels), np.int8)
    for label, code in classes.items():
        y[labels == label] = code
    if (y == 0).any():
        row = int(np.flatnonzero(y == 0)[0])
        known = ", ".join(f"{label:g}" for label in classes)
        raise ValueError(f"row {row + 1}: label {labels[row]:g} is none of {known}")
    return X, y


def numeric_csv(path: Path, rows: int, columns: int, block: int = 200_000) -> NDArray[np.float32]:
    """(rows, columns) values of a headerless CSV file; beside the result only one block is in memory.

    Raises
    ------
    ValueError : another number of rows or columns, or a field that is not a number.
    """
    import pandas as pd

    out, done = np.empty((rows, columns), np.float32), 0
    with (
        open_bytes(path) as stream,
        pd.read_csv(stream, header=None, chunksize=block, dtype=np.float64) as frames,
    ):
        for frame in frames:
            values = frame.to_numpy()
            if values.shape[1] != columns or done + len(values) > rows:
                found = f"{done + len(values)} or more rows of {values.shape[1]} columns"
                raise ValueError(f"{path.name}: {found}, expected {rows} of {columns}")
            out[done : done + len(values)] = values
            done += len(values)
    if done != rows:
        raise ValueError(f"{path.name}: {done} rows, expected {rows}")
    return out


def mat(path: Path) -> dict[str, Any]:
    """Variables of a MATLAB file up to version 7, without MATLAB's own entries."""
    from scipy.io import loadmat

    return {name: value for name, value in loadmat(path).items() if not name.startswith("__")}


def matrix(variables: Mapping[str, Any], name: str, where: str) -> NDArray[Any]:
    """Two-dimensional numeric variable ``name``, a sparse matrix made dense.

    Raises
    ------
    ValueError : no such variable, or one that is not numeric; the message lists those there are.
    """
    value: Any = variables.get(name)
    value = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if value.ndim != 2 or value.dtype.kind not in "biuf":
        raise ValueError(f"{where}: no numeric matrix {name!r}, found {contents(variables)}")
    return value


def contents(variables: Mapping[str, Any]) -> str:
    """Names and shapes, e.g. ``x (2000x2), y (2000x1)``."""
    shapes = {name: "x".join(map(str, np.shape(value))) for name, value in sorted(variables.items())}
    return ", ".join(f"{name} ({shape})" for name, shape in shapes.items()) or "nothing"


def users_table(
    files: Files, *, label: str = "y", positive: str | float | None = None, columns: Sequence[str] = ()
) -> Arrays:
    """``X`` (n, d) float64 and ``y`` (n,) of a user's table: +1 the positive class, -1 the others.

    Read as the audit reads it: words become 0/1 columns, gaps are filled and marked, dates are counted in
    days; ``notes`` says what was done, if anything. An .npz may have splits, ``train`` and ``test``.

    Parameters
    ----------
    label : the column with the labels.
    positive : the class that becomes +1; without it, the larger of two numbers.
    columns : the columns to learn from; all but the label by default.

    Raises
    ------
    ValueError : in one line, the file, the row and the column that are wrong, and what to do.
    """
    from noisylabels.auditing import tables

    path = only(files)
    where = f"{path.name}: column {label!r}"
    found = tables.read(path, label, columns=columns, check=lambda *_: None)
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
    shapes = {part: rows.shape for part, rows in splits.items()}
    if n < len(arrays["y"]):
        raise ValueError(f"{name}: a row without a label; with splits every row needs one")
    if len(splits) < 2 or any(rows.ndim != 2 or rows.dtype.kind not in "iu" for rows in splits.values()):
        raise ValueError(f"{name}: splits need `train` and `test`, whole numbers in lines; found {shapes}")
    if shapes["train"][0] != shapes["test"][0]:
        raise ValueError(f"{name}: as many lines in `train` as in `test` are needed; found {shapes}")
    for number, rows in enumerate(np.hstack([splits["train"], splits["test"]]).tolist()):
        if min(rows) < 0 or max(rows) >= n or len(set(rows)) < len(rows):
            raise ValueError(f"{name}: split {number} has a row twice, or one that is not in 0 to {n - 1}")
    return splits


def _positive(classes: list[Any], positive: str | float | None, where: str) -> Any:
    some = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
    if len(classes) < 2:
        raise ValueError(f"{where} holds one class only ({some or 'no value'}); two are needed")
    numbers = not isinstance(classes[0], str)
    if positive is None:
        if len(classes) == 2 and (numbers or classes == ["False", "True"]):
            return classes[1]
        raise ValueError(f"{where} holds the classes {some}; say which is the positive one: `positive`")
    if isinstance(positive, bool) and str(positive) not in classes:
        raise ValueError(
            f"{where} holds the classes {some}; put `positive` in quotes, it was read as {positive}"
        )
    for value in classes:
        if str(value) == str(positive) or (numbers and _number(positive) == value):
            return value
    raise ValueError(f"{where} holds the classes {some}, none of them `positive`: {positive!r}")


def _number(text: str | float) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
