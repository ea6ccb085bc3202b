"""Tables larger than memory, read some rows at a time for `partial_fit`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from noisylabels.csv_text import check_header, is_number, read_header

Chunk = tuple[Any, NDArray[np.float64]]

PACKED = (".gz", ".bz2", ".xz", ".zip")
FORMATS = {".csv": "csv", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight"}


def chunks(
    path: str | Path,
    rows: int = 100_000,
    *,
    label: int | str = 0,
    features: int | None = None,
    kind: str | None = None,
    dtype: DTypeLike = np.float64,
) -> Iterator[Chunk]:
    """Read a table that is larger than memory, some rows at a time.

    Rows come in the order of the file; the last chunk has what is left. Memory is that of one
    chunk: 24 bytes a field while a CSV file is parsed. Read the file again for every epoch.

    Parameters
    ----------
    path : str or Path
        CSV or svmlight file, also packed (.gz, .bz2, .xz, or one file in .zip).
    rows : int
        Rows of a chunk.
    label : int or str
        Column of the labels of a CSV file: its name in the header, or its number from 0. A first
        line with numbers only is not a header.
    features : int, optional
        Number of features of an svmlight file, which a chunk alone does not know.
    kind : {"csv", "svmlight"}, optional
        Kind of the file; by default by the end of its name: .csv, .svm, .svmlight or .libsvm.
    dtype : data type
        Type of the features.

    Returns
    -------
    iterator of (X, y)
        Samples of shape (rows, n_features) and labels of shape (rows,).

    Raises
    ------
    ValueError
        What cannot be read, with file and row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from noisylabels import chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("label,width\\n0,1.5\\n1,2.5\\n0,1.0\\n")
    ...     [len(y) for X, y in chunks(file, rows=2, label="label")]
    [2, 1]
    """
    path = Path(path)
    if rows < 1:
        raise ValueError(f"rows of a chunk must be at least 1, got {rows}")
    if path.suffix in PACKED:
        suffix = Path(path.stem).suffix
    else:
        suffix = path.suffix
    kind = kind or FORMATS.get(suffix)
    if kind == "csv":
        return _csv(path, rows, label, dtype)
    if kind == "svmlight":
        if features is None:
            advice = "say how many features the rows of an svmlight file have"
            raise ValueError(f"{path.name}: {advice}")
        return _svmlight(path, rows, features, dtype)
    problem = f"kind must be csv or svmlight, got {kind!r}; the name does not say"
    raise ValueError(f"{path.name}: {problem}")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Read the bytes of a file, unpacked by its suffix, and refuse a damaged file."""
    import bz2
    import gzip
    import lzma
    import zipfile
    import zlib

    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    openers[".zip"] = zipfile.ZipFile
    try:
        with openers.get(path.suffix, open)(path, "r" if path.suffix == ".zip" else "rb") as stream:
            if isinstance(stream, zipfile.ZipFile):
                names = [name for name in stream.namelist() if not name.startswith("__MACOSX/")]
                if len(names) != 1:
                    listed = ", ".join(names) or "none"
                    problem = f"expected one file in the archive, found {listed}"
                    raise ValueError(f"{path.name}: {problem}")
                with stream.open(names[0]) as member:
                    yield member
            else:
                yield stream
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise ValueError(f"{path.name}: damaged {path.suffix} file ({error})") from error


def _csv(path: Path, rows: int, label: int | str, dtype: DTypeLike) -> Iterator[Chunk]:
    import pandas as pd

    names, headed = _first_line(path)
    column = label
    if isinstance(column, str):
        if not headed or column not in names:
            hint = "there is no header: give its number"
            if headed:
                hint = f"name one of {', '.join(names)}"
            raise ValueError(f"{path.name}: no column {column!r}; {hint}")
        column = names.index(column)
    if not 0 <= column < len(names):
        raise ValueError(f"{path.name}: no column {label}: columns are 0 to {len(names) - 1}")
    done = 0
    options: dict[str, Any] = {"dtype": np.float64, "index_col": False}
    options["header"] = 0 if headed else None
    try:
        with _opened(path) as stream, pd.read_csv(stream, chunksize=rows, **options) as frames:
            for frame in frames:
                values = frame.to_numpy()
                is_finite = np.isfinite(values).all(axis=1)
                if len(lacking := np.flatnonzero(~is_finite)):
                    row = f"row {done + lacking[0] + 1}"
                    problem = "has a field that is missing or not a finite number"
                    raise ValueError(f"{path.name}: {row} {problem}")
                done += len(values)
                features = np.delete(values, column, axis=1).astype(dtype, copy=False)
                labels = values[:, column].copy()
                yield features, labels
    except ValueError as error:
        if str(error).startswith(f"{path.name}: "):
            raise
        raise ValueError(f"{path.name}: after row {done}: {str(error).strip()}") from error


def _first_line(path: Path) -> tuple[list[str], bool]:
    """Split a line into fields, and decide whether it is a header or has numbers only."""
    with _opened(path) as stream:
        lines = (line.decode("utf-8-sig", errors="replace") for line in stream)
        names = read_header(lines, path.name)
    is_headed = not all(is_number(name) for name in names)
    if is_headed:
        check_header(names, path.name)
    return names, is_headed


def _svmlight(path: Path, rows: int, features: int, dtype: DTypeLike) -> Iterator[Chunk]:
    from sklearn.datasets import load_svmlight_file

    options: dict[str, Any] = {"n_features": features, "dtype": dtype}
    done = 0
    with _opened(path) as stream:
        filled = (line for line in stream if line.partition(b"#")[0].strip())
        examples = (line.rstrip(b"\n") + b"\n" for line in filled)
        while lines := list(islice(examples, rows)):
            try:
                content = io.BytesIO(b"".join(lines))
                X, y = load_svmlight_file(content, zero_based=False, **options)
            except (ValueError, OverflowError, IndexError) as error:
                rows_read = f"rows {done + 1} to {done + len(lines)}"
                raise ValueError(f"{path.name}, {rows_read}: {error}") from error
            is_finite = np.isfinite(X.data)
            if not is_finite.all():
                first_entry = np.flatnonzero(~is_finite)[0]
                row = int(np.searchsorted(X.indptr, first_entry, side="right"))
                raise ValueError(f"{path.name}, row {done + row}: a value is not finite")
            done += len(lines)
            # estimators need indices of 32 bits
            X.indices = X.indices.astype(np.int32)
            X.indptr = X.indptr.astype(np.int32)
            yield X, y
