"""Two-class problems from KEEL's copies of UCI sets, for use beside or instead of the larger LIBSVM sets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.checks import supervised
from reproduction.data.files import Files, only
from reproduction.data.matrices import pack
from reproduction.data.readers.text import table

Arrays = dict[str, NDArray[Any]]


def chess(files: Files) -> Arrays:
    """Rook against pawn endgame, 3196 rows, 36 attributes one-hot in 73 columns; +1 = white wins."""
    rows = table(only(files), 37)
    columns = [
        rows.codes(column, {name: int(name == level) for name in levels})
        for column in range(36)
        for levels in [sorted({row[column] for row in rows})]
        for level in levels
    ]
    y = rows.codes(36, {"nowin": -1, "won": 1})
    return pack(*supervised("chess", np.column_stack(columns).astype(float), y, 73, {-1: 1527, 1: 1669}))


def magic(files: Files) -> Arrays:
    """MAGIC gamma telescope, 19020 x 10; +1 = gamma."""
    rows = table(only(files), 11)
    y = rows.codes(10, {"h": -1, "g": 1})
    return pack(*supervised("magic", rows.numbers(slice(10)), y, 10, {-1: 6688, 1: 12332}))


def optdigits38(files: Files) -> Arrays:
    """Optical digits 3 (+1) against 8 (-1), 1126 x 64 counts 0..16."""
    X, digit = _digits(files, 65)
    chosen = np.isin(digit, [3, 8])
    y = np.where(digit[chosen] == 3, 1, -1)
    return pack(*supervised("optdigits38", X[chosen], y, 64, {-1: 554, 1: 572}))


def penbased8(files: Files) -> Arrays:
    """Pen-drawn digits, 8 (+1) against the others, 10992 x 16."""
    X, digit = _digits(files, 17)
    return pack(*supervised("penbased8", X, np.where(digit == 8, 1, -1), 16, {-1: 9937, 1: 1055}))


def satimage(files: Files) -> Arrays:
    """Landsat, 6435 x 36; +1 = grey soils (3, 4, 7) against red soil, cotton and stubble (1, 2, 5)."""
    rows = table(only(files), 37)
    soil = rows.codes(36, {str(code): code for code in (1, 2, 3, 4, 5, 7)})
    y = np.where(np.isin(soil, [3, 4, 7]), 1, -1)
    return pack(*supervised("satimage", rows.numbers(slice(36)), y, 36, {-1: 2943, 1: 3492}))


def _digits(files: Files, columns: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    rows = table(only(files), columns)
    return rows.numbers(slice(columns - 1)), rows.codes(
        columns - 1, {str(digit): digit for digit in range(10)}
    )
