"""Small text tables: comma- or blank-separated, with or without a KEEL header, and Orange ``.tab`` files."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduction.data.readers.streams import MEND, open_bytes


class Table(list[list[str]]):
    """Rows of fields; ``where(i)`` names file and line of row ``i`` for an error message."""

    def __init__(self, name: str, rows: list[list[str]], lines: list[int]):
        super().__init__(rows)
        self.name, self.lines = name, lines

    def where(self, row: int) -> str:
        """File and line of a row, e.g. ``german.data, line 17``."""
        return f"{self.name}, line {self.lines[row]}"

    def numbers(self, columns: slice | list[int] = slice(None)) -> NDArray[np.float64]:
        """(n, len(columns)) finite float64 values of some columns; ValueError names the first bad field."""
        index = range(len(self[0]) if self else 0)[columns] if isinstance(columns, slice) else columns
        values = np.empty((len(self), len(index)))
        for i, row in enumerate(self):
            for j, column in enumerate(index):
                values[i, j] = self._number(i, column, row[column])
        return values

    def _number(self, row: int, column: int, text: str) -> float:
        try:
            value = math.nan if "_" in text else float(text)  # float() alone takes "1_000" for a number
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(
                f"{self.where(row)}: field {column + 1} is {text!r}, expected a finite number; {MEND}"
            )
        return value

    def codes(self, column: int, coding: dict[str, int]) -> NDArray[np.int8]:
        """(n,) int8 codes of one column, e.g. class names to -1 and +1; ValueError names an unknown value."""
        try:
            return np.array([coding[row[column]] for row in self], np.int8)
        except KeyError as unknown:
            row = next(i for i, fields in enumerate(self) if fields[column] not in coding)
            known = ", ".join(coding)
            raise ValueError(f"{self.where(row)}: value {unknown} is none of {known}; {MEND}") from None


def lines(path: Path, encoding: str = "ascii") -> list[str]:
    """Lines of a (compressed) text file without their ends; ValueError if a byte is not ``encoding``."""
    try:
        with open_bytes(path) as stream:
            return stream.read().decode(encoding).split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}: byte {error.start} is not {encoding} text; {MEND}") from None


def table(path: Path, columns: int, *, skip: int = 0, comments: str = "@", complete: bool = False) -> Table:
    """Fields of every line, split at commas (or tabs in ``.tab`` files, else blanks), stripped.

    Parameters
    ----------
    columns : fields a line must have.
    skip : header lines to pass over (an Orange ``.tab`` file always has three).
    comments : characters that open a line without data; "@" is the header of a KEEL file.
    complete : drop rows with a missing value ("?").

    Raises
    ------
    ValueError : a line with another number of fields; the message names the line.
    """
    orange = path.suffix == ".tab"
    rows, numbers = [], []
    for number, line in enumerate(lines(path), start=1):
        text = line.rstrip("\r")
        if number <= (3 if orange else skip) or not text.strip() or text.lstrip()[0] in comments:
            continue
        separator = "\t" if orange else "," if "," in text else None
        fields = [field.strip() for field in text.split(separator)]
        if len(fields) != columns:
            raise ValueError(f"{path.name}, line {number}: {len(fields)} fields, expected {columns}; {MEND}")
        if complete and "?" in fields:
            continue
        rows.append(fields)
        numbers.append(number)
    return Table(path.name, rows, numbers)
