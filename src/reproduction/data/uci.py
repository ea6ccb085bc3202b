"""UCI, Statlog and Delve sets: one function per set, y in {-1, +1}; categories become ordinal codes.

A function reads every layout in which the registry has the same values: the original file, its copy with
blanks for commas, a KEEL ``.dat`` and an Orange ``.tab`` file. Those below `raw` are points of IDA sets
(`reproduction.data.ida`), in which classes may keep their numbers.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduction.data.formats import Arrays, Files, Table, fact, only, supervised, table

Raw = tuple[NDArray[np.float64], NDArray[np.int8]]

_ZERO_ONE = {"0": -1, "1": 1}
_ONE_TWO = {"1": -1, "2": 1, "negative": -1, "positive": 1}


def _ordinal(*levels: str, start: int = 0) -> dict[str, int]:
    return {level: code for code, level in enumerate(levels, start)}


def _last_is_class(
    files: Files, name: str, columns: int, coding: Mapping[str, int], negative: int, positive: int
) -> Arrays:
    """Numbers, then the class."""
    rows = table(only(files), columns + 1)
    X, y = rows.numbers(range(columns)), rows.codes(columns, coding)
    return supervised(name, X, y, columns, {-1: negative, 1: positive})


def australian(files: Files) -> Arrays:
    """Statlog Australian credit, 690 x 14; +1 = approved. ``crx.tab``, its raw form, is recoded."""
    path = only(files)
    if path.suffix != ".tab":
        return _last_is_class(files, "australian", 14, _ZERO_ONE, 383, 307)
    return supervised("australian", *_australian_from_crx(table(path, 16)), 14, {-1: 383, 1: 307})


def _australian_from_crx(rows: Table) -> Raw:
    """Statlog's coding of the Credit Approval set: ordinal codes, no column 4, gaps filled."""
    names = ("ff", "d", "i", "k", "j", "aa", "m", "c", "w", "e", "q", "r", "cc", "x")
    levels: dict[int, dict[str, int]] = {
        0: {"a": 0, "b": 1, "?": 0},
        4: {"p": 1, "g": 2, "gg": 3, "?": 2},
        5: _ordinal(*names, start=1) | {"?": 8},
        6: {"ff": 1, "dd": 2, "j": 3, "v": 4, "bb": 5, "n": 7, "o": 7, "h": 8, "z": 9, "?": 4},
        8: {"f": 0, "t": 1},
        9: {"f": 0, "t": 1},
        11: {"f": 0, "t": 1},
        12: {"s": 1, "g": 2, "p": 3},
    }
    gaps = {1: "31.57", 13: "184"}
    X = np.empty((len(rows), 14))
    for j, column in enumerate([0, 1, 2, *range(4, 15)]):
        for row in rows:
            row[column] = gaps.get(column, "?") if row[column] == "?" else row[column]
        X[:, j] = rows.codes(column, levels[column]) if column in levels else rows.numbers([column])[:, 0]
    X[:, 13] += 1
    return X, rows.codes(15, {"-": -1, "+": 1})


def german_numeric(files: Files) -> Arrays:
    """Statlog German credit in Strathclyde's numeric coding, 1000 x 24; +1 = bad risk (class 2)."""
    return _last_is_class(files, "german-numeric", 24, _ONE_TWO, 700, 300)


def haberman(files: Files) -> Arrays:
    """Haberman's survival, 306 x 3; +1 = died within five years (class 2)."""
    return _last_is_class(files, "haberman", 3, _ONE_TWO, 225, 81)


def heart(files: Files) -> Arrays:
    """Statlog heart, 270 x 13; +1 = disease. Also from Cleveland's ``heart_disease.tab``."""
    path = only(files)
    if path.suffix != ".tab":
        return _last_is_class(files, "heart", 13, {"1": -1, "2": 1}, 150, 120)
    return supervised("heart", *_heart_from_cleveland(table(path, 14)), 13, {-1: 150, 1: 120})


def _heart_from_cleveland(rows: Table) -> Raw:
    """The 270 rows that Statlog took, in its order, with the level names turned back into UCI's numbers."""
    levels = {
        1: {"female": 0, "male": 1},
        2: {"typical ang": 1, "atypical ang": 2, "non-anginal": 3, "asymptomatic": 4},
        6: {"normal": 0, "ST-T abnormal": 1, "left vent hypertrophy": 2},
        10: {"upsloping": 1, "flat": 2, "downsloping": 3},
        12: {"normal": 3, "fixed defect": 6, "reversable defect": 7},
    }
    order = json.loads(fact("heart_rows.json"))
    chosen = Table(rows.name, [rows[i] for i in order], [rows.lines[i] for i in order])
    columns = [chosen.codes(j, levels[j]) if j in levels else chosen.numbers([j])[:, 0] for j in range(13)]
    return np.column_stack(columns), chosen.codes(13, _ZERO_ONE)


def ionosphere(files: Files) -> Arrays:
    """Johns Hopkins ionosphere, 351 x 34; +1 = good radar return."""
    return _last_is_class(files, "ionosphere", 34, {"b": -1, "g": 1}, 126, 225)


def parkinsons(files: Files) -> Arrays:
    """Oxford Parkinson's voices, 195 x 22; +1 = Parkinson's disease."""
    rows = table(only(files), 24, comments="@n")  # the original opens with a header line "name,..."
    X = rows.numbers([column for column in range(1, 24) if column != 17])
    return supervised("parkinsons", X, rows.codes(17, _ZERO_ONE), 22, {-1: 48, 1: 147})


def pima(files: Files) -> Arrays:
    """Pima Indians diabetes, 768 x 8; +1 = diabetes."""
    return _last_is_class(files, "pima", 8, {"0": -1, "1": 1, "negative": -1, "positive": 1}, 500, 268)


def planning_relax(files: Files) -> Arrays:
    """Planning relax EEG, 182 x 12; +1 = class 2, the rarer one (UCI: "planning" 1, "relaxing" 2)."""
    rows = table(only(files), 13)
    y = np.where(rows.numbers([12])[:, 0] == 2, 1, -1)
    return supervised("planning-relax", rows.numbers(range(12)), y, 12, {-1: 130, 1: 52})


def sonar(files: Files) -> Arrays:
    """Sonar, mines against rocks, 208 x 60; +1 = mine."""
    return _last_is_class(files, "sonar", 60, {"R": -1, "M": 1}, 97, 111)


# raw


def breast_cancer(path: Path) -> Raw:
    """Ljubljana breast cancer, the 277 complete rows of 286 x 9 ordinal codes; +1 = recurrence."""
    levels = [
        [f"{low}-{low + 9}" for low in range(20, 80, 10)],
        ["lt40", "ge40", "premeno"],
        [f"{low}-{low + 4}" for low in range(0, 60, 5)],
        [f"{low}-{low + 2}" for low in range(0, 39, 3)],
        ["yes", "no"],
        ["1", "2", "3"],
        ["left", "right"],
        ["left_up", "left_low", "right_up", "right_low", "central"],
        ["yes", "no"],
    ]
    rows = table(path, 10, complete=True)
    X = [rows.codes(column, _ordinal(*names)) for column, names in enumerate(levels, start=1)]
    y = rows.codes(0, {"no-recurrence-events": -1, "recurrence-events": 1})
    return np.column_stack(X).astype(float), y


def german(path: Path) -> Raw:
    """Statlog German credit, 1000 x 20; ``A<attribute><level>`` becomes the level; +1 = bad risk."""
    rows = table(path, 21)
    for row in rows:
        row[:20] = [field.removeprefix(f"A{j}") for j, field in enumerate(row[:20], start=1)]
    return rows.numbers(range(20)), rows.codes(20, _ONE_TWO)


def new_thyroid(path: Path) -> Raw:
    """New thyroid, 215 x 5; y = 1 normal, 2 hyper-, 3 hypothyroid."""
    rows = table(path, 6)
    return rows.numbers(range(5)), rows.codes(5, _ordinal("1", "2", "3", start=1))


def norm(path: Path) -> Raw:
    """Delve ringnorm or twonorm, 7400 x 20; +1 = class 1."""
    rows = table(path, 21)
    return rows.numbers(range(20)), rows.codes(20, _ZERO_ONE)


def segment(path: Path) -> Raw:
    """Statlog image segmentation, 2310 x 19; y = 1..7 (brickface sky foliage cement window path grass)."""
    rows = table(path, 20)
    return rows.numbers(range(19)), rows.codes(19, _ordinal(*"1234567", start=1))


def solar_flare(path: Path) -> Raw:
    """Solar flares (``flare.data2``), 1066 x 12 ordinal codes; +1 = spot distribution not "O" (open)."""
    rows = table(path, 13)
    zurich = rows.codes(0, _ordinal(*"ABCDEFH", start=1))
    size = rows.codes(1, _ordinal(*"XRSAHK", start=1))
    X = np.column_stack([zurich, size, rows.numbers(range(3, 13))])
    return X, rows.codes(2, {"O": -1, "X": 1, "I": 1, "C": 1})


def splice(path: Path) -> Raw:
    """Splice junctions, 3190 x 60; A, G, C, T = 1..4, ambiguous letters 0; y = 1 EI, 2 IE, 3 neither."""
    rows = table(path, 61)
    letters = _ordinal(*"AGCT", start=1) | dict.fromkeys("DNSR", 0)
    X = np.column_stack([rows.codes(column, letters) for column in range(60)]).astype(float)
    return X, rows.codes(60, _ordinal("EI", "IE", "N", start=1))


def titanic(path: Path) -> Raw:
    """Delve titanic, 2201 x 3: class (first..third, crew = 0..3), child, male; +1 = survived."""
    rows = table(path, 4)
    levels = [("first", "second", "third", "crew"), ("adult", "child"), ("female", "male")]
    X = [rows.codes(column, _ordinal(*names)) for column, names in enumerate(levels)]
    return np.column_stack(X).astype(float), rows.codes(3, {"no": -1, "yes": 1})


def waveform(path: Path) -> Raw:
    """Breiman's waveforms, 5000 x 21; y = class 0, 1, 2 of the file."""
    rows = table(path, 22)
    return rows.numbers(range(21)), rows.codes(21, _ordinal(*"012"))
