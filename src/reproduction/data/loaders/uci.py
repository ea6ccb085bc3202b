"""Data sets of UCI, Statlog and Delve, a function for each; categories are ordinal codes.

A function reads every layout in which the registry has the same values: the original file, its copy
with blanks for commas, a KEEL ``.dat`` and an Orange ``.tab`` file. Those below `points of IDA
sets` are read by `reproduction.data.loaders.ida`; in them classes may keep their numbers.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.loaders.formats import (
    Arrays,
    Fields,
    Files,
    codes,
    fact,
    numbers,
    only,
    pack,
    table,
)

Points = tuple[NDArray[np.float64], NDArray[np.int8]]
Levels = Mapping[int, Mapping[str, int]]
"""Column -> its levels and their codes; other columns hold numbers."""

_LEVELS: dict[str, dict[str, dict[str, int]]] = json.loads(fact("levels.json"))
ZERO_ONE = {"0": -1, "1": 1, "-": -1, "+": 1}
ONE_TWO = {"1": -1, "2": 1, "negative": -1, "positive": 1}


def _ordinal(*levels: str, start: int = 0) -> dict[str, int]:
    return {level: code for code, level in enumerate(levels, start)}


def _points(rows: Fields, classes: Mapping[str, int], levels: str | Levels = "none") -> Points:
    """Read all columns but the last as numbers or codes, and the classes in the last.

    levels : a set, for the codes that UCI's documentation gives its levels; or these codes.
    """
    if isinstance(levels, str):
        levels = {int(column): coding for column, coding in _LEVELS.get(levels, {}).items()}
    X: list[NDArray[Any]] = []
    for j, fields in enumerate(rows.T[:-1]):
        X.append(codes(fields, levels[j]) if j in levels else numbers(fields))
    return np.column_stack(X).astype(np.float64), codes(rows[:, -1], classes)


def _numeric(columns: int, classes: Mapping[str, int]) -> Callable[[Path], Points]:
    """Make the reader of a file with numbers, followed by the class."""
    return lambda path: _points(table(path, columns + 1), classes)


def _australian(path: Path) -> Points:
    """Read numbers, or code the Credit Approval set in the same way as Statlog.

    That has ordinal codes, no column 4, and no gaps.
    """
    if path.suffix != ".tab":
        return _numeric(14, ZERO_ONE)(path)
    rows = np.delete(table(path, 16), 3, axis=1)
    for column, filler in ((1, "31.57"), (12, "184")):
        rows[rows[:, column] == "?", column] = filler
    X, y = _points(rows, ZERO_ONE, "australian")
    X[:, 13] += 1
    return X, y


def heart_points(path: Path) -> Points:
    """Read numbers, or choose Statlog's 270 of the 303 rows of Cleveland, in its order."""
    if path.suffix != ".tab":
        return _numeric(13, ONE_TWO)(path)
    chosen = json.loads(fact("heart_rows.json"))
    return _points(table(path, 14)[chosen], ZERO_ONE, "heart")


def _parkinsons(path: Path) -> Points:
    """Read lines with a name, 16 numbers, the class and 6 numbers, after an optional header."""
    rows = table(path, 24)
    rows = rows[rows[:, 0] != "name"]
    order = [*range(1, 17), *range(18, 24), 17]
    return _points(rows[:, order], ZERO_ONE)


def _planning_relax(path: Path) -> Points:
    values = numbers(table(path, 13))
    return values[:, :12], codes(values[:, 12], {1.0: -1, 2.0: 1})


def _loader(read: Callable[[Path], Points]) -> Callable[[Files], Arrays]:
    return lambda files: pack(*read(only(files)))


pima_points = _numeric(8, ZERO_ONE | {"negative": -1, "positive": 1})

australian = _loader(_australian)  # Statlog credit approval, 690 x 14; +1 = approved
# Statlog credit by Strathclyde, 1000 x 24; +1 = bad risk
german_numeric = _loader(_numeric(24, ONE_TWO))
haberman = _loader(_numeric(3, ONE_TWO))  # survival, 306 x 3; +1 = died within five years
heart = _loader(heart_points)  # Statlog, 270 x 13; +1 = disease
# Johns Hopkins, 351 x 34; +1 = good radar return
ionosphere = _loader(_numeric(34, {"b": -1, "g": 1}))
parkinsons = _loader(_parkinsons)  # Oxford, voices, 195 x 22; +1 = Parkinson's disease
pima = _loader(pima_points)  # Pima Indians, 768 x 8; +1 = diabetes
planning_relax = _loader(_planning_relax)  # EEG, 182 x 12; +1 = class 2, the rarer one
sonar = _loader(_numeric(60, {"R": -1, "M": 1}))  # mines against rocks, 208 x 60; +1 = mine


# points of IDA sets
# 215 x 5; y = 1 normal, 2 hyper-, 3 hypothyroid
new_thyroid = _numeric(5, _ordinal(*"123", start=1))
norm = _numeric(20, ZERO_ONE)  # Delve ringnorm or twonorm, 7400 x 20; +1 = class 1
# 2310 x 19; brickface sky foliage cement window path grass
segment = _numeric(19, _ordinal(*"1234567", start=1))
waveform = _numeric(21, _ordinal(*"012"))  # Breiman's, 5000 x 21; y = class 0, 1, 2


def breast_cancer(path: Path) -> Points:
    """Read breast cancer of Ljubljana: the 277 complete rows with 9 codes; +1 = recurrence."""
    rows = np.roll(table(path, 10), -1, axis=1)
    classes = {"no-recurrence-events": -1, "recurrence-events": 1}
    is_complete = (rows != "?").all(axis=1)
    return _points(rows[is_complete], classes, "breast_cancer")


def german(path: Path) -> Points:
    """Read Statlog German credit, 1000 x 20, with ``A<attribute><level>`` for levels."""
    rows = table(path, 21)
    for j, column in enumerate(rows.T[:20], start=1):
        column[:] = [field.removeprefix(f"A{j}") for field in column]
    return _points(rows, ONE_TWO)


def solar_flare(path: Path) -> Points:
    """Read solar flares (``flare.data2``), 1066 x 12 codes; +1 = spot distribution not "O"."""
    rows = table(path, 13)[:, [0, 1, *range(3, 13), 2]]
    return _points(rows, {"O": -1, "X": 1, "I": 1, "C": 1}, "solar_flare")


def splice(path: Path) -> Points:
    """Read splice junctions, 3190 x 60; A, G, C, T = 1..4, ambiguous letters 0.

    The classes are 1 for EI, 2 for IE and 3 for neither.
    """
    letters = _ordinal(*"AGCT", start=1) | dict.fromkeys("DNSR", 0)
    classes = _ordinal("EI", "IE", "N", start=1)
    return _points(table(path, 61), classes, dict.fromkeys(range(60), letters))


def titanic(path: Path) -> Points:
    """Read Delve titanic, 2201 x 3: class (0..3, crew last), child, male; +1 = survived."""
    return _points(table(path, 4), {"no": -1, "yes": 1}, "titanic")
