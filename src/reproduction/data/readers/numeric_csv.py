"""Large comma-separated tables of numbers, parsed once, block by block, into one preallocated array."""

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reproduction.data.readers.streams import MEND, open_bytes


def read(
    path: Path, rows: int, columns: int, dtype: DTypeLike = np.float32, block: int = 200_000
) -> NDArray[np.floating]:
    """(rows, columns) values of a headerless CSV file; beside the result only one block is in memory.

    Raises
    ------
    ValueError : another number of rows or columns, or a field that is not a finite number.
    """
    import pandas as pd

    out = np.empty((rows, columns), dtype)
    done = 0
    try:
        with (
            open_bytes(path) as stream,
            pd.read_csv(stream, header=None, chunksize=block, dtype=np.float64) as blocks,
        ):
            for frame in blocks:
                values = frame.to_numpy()
                if values.shape[1] != columns or done + len(values) > rows:
                    found = f"{done + len(values)} or more rows of {values.shape[1]} columns"
                    raise ValueError(f"{found}, expected {rows} of {columns}")
                part = out[done : done + len(values)]
                with np.errstate(over="ignore"):
                    part[:] = values
                if not np.isfinite(part).all():
                    row = done + int(np.flatnonzero(~np.isfinite(part).all(axis=1))[0]) + 1
                    raise ValueError(f"row {row} has a field that is missing or not a finite number")
                done += len(values)
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError, OverflowError) as error:
        raise ValueError(f"{path.name}: {str(error).strip()}; {MEND}") from error
    if done != rows:
        raise ValueError(f"{path.name}: {done} rows, expected {rows}; {MEND}")
    return out
