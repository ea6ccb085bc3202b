"""UCI, Statlog and Delve sets in their raw form: one function per set, y in {-1, +1}.

A function reads every layout in which the same values circulate: the original file, its copy with blanks
for commas, a KEEL ``.dat`` and an Orange ``.tab`` file. Categories become ordinal codes.
Sets of more than two classes keep their class numbers in y.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.checks import supervised
from reproduction.data.files import Files, fact, only
from reproduction.data.matrices import pack
from reproduction.data.readers.streams import MEND
from reproduction.data.readers.text import Table, table

Arrays = dict[str, NDArray[Any]]

_DELVE = {"0": -1, "1": 1}
_OUTCOME = {"1": -1, "2": 1, "negative": -1, "positive": 1, "0": -1}


def _ordinal(*levels: str, start: int = 0) -> dict[str, int]:
    return {level: code for code, level in enumerate(levels, start)}


def _arrays(name: str, X: NDArray[np.float64], y: NDArray[np.int8], classes: dict[int, int]) -> Arrays:
    return pack(*supervised(name, X, y, X.shape[1], classes))


def australian(files: Files) -> Arrays:
    """Statlog Australian credit, 690 x 14; +1 = approved. ``crx.tab``, its raw form, is recoded."""
    path = only(files)
    if path.suffix == ".tab":
        X, y = _australian_from_crx(table(path, 16))
    else:
        rows = table(path, 15)
        X, y = rows.numbers(slice(14)), rows.codes(14, _DELVE)
    return _arrays("australian", X, y, {-1: 383, 1: 307})


def _australian_from_crx(rows: Table) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Statlog's coding of the Credit Approval set: ordinal codes, no column 4, gaps filled."""
    levels: dict[int, dict[str, int]] = {
        0: {"a": 0, "b": 1, "?": 0},
        4: {"p": 1, "g": 2, "gg": 3, "?": 2},
        5: _ordinal("ff", "d", "i", "k", "j", "aa", "m", "c", "w", "e", "q", "r", "cc", "x", start=1)
        | {"?": 8},
        6: {"ff": 1, "dd": 2, "j": 3, "v": 4, "bb": 5, "n": 7, "o": 7, "h": 8, "z": 9, "?": 4},
        8: {"f": 0, "t": 1},
        9: {"f": 0, "t": 1},
        11: {"f": 0, "t": 1},
        12: {"s": 1, "g": 2, "p": 3},
    }
    gaps = {1: "31.57", 13: "184"}
    for i, row in enumerate(rows):
        for column, codes in levels.items():
            if row[column] not in codes:
                raise ValueError(f"{rows.where(i)}: field {column + 1} is {row[column]!r}, no level; {MEND}")
            row[column] = str(codes[row[column]])
        for column, value in gaps.items():
            row[column] = value if row[column] == "?" else row[column]
    X = rows.numbers([0, 1, 2, *range(4, 15)])
    X[:, 13] += 1
    return X, rows.codes(15, {"-": -1, "+": 1})


def breast_cancer(files: Files) -> Arrays:
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
    rows = table(only(files), 10, complete=True)
    X = [rows.codes(column, _ordinal(*names)) for column, names in enumerate(levels, start=1)]
    y = rows.codes(0, {"no-recurrence-events": -1, "recurrence-events": 1})
    return _arrays("breast-cancer", np.column_stack(X).astype(float), y, {-1: 196, 1: 81})


def german(files: Files) -> Arrays:
    """Statlog German credit, 1000 x 20; ``A<attribute><level>`` becomes the level; +1 = bad risk."""
    rows = table(only(files), 21)
    for row in rows:
        for column in range(20):
            attribute = f"A{column + 1}"
            if row[column].startswith(attribute):
                row[column] = row[column].removeprefix(attribute)
    return _arrays("german", rows.numbers(slice(20)), rows.codes(20, {"1": -1, "2": 1}), {-1: 700, 1: 300})


def german_numeric(files: Files) -> Arrays:
    """Statlog German credit in Strathclyde's numeric coding, 1000 x 24; +1 = bad risk (class 2)."""
    rows = table(only(files), 25)
    return _arrays("german-numeric", rows.numbers(slice(24)), rows.codes(24, _OUTCOME), {-1: 700, 1: 300})


def haberman(files: Files) -> Arrays:
    """Haberman's survival, 306 x 3; +1 = died within five years (class 2)."""
    rows = table(only(files), 4)
    return _arrays("haberman", rows.numbers(slice(3)), rows.codes(3, _OUTCOME), {-1: 225, 1: 81})


def heart(files: Files) -> Arrays:
    """Statlog heart, 270 x 13; +1 = disease. Also from Cleveland's ``heart_disease.tab``."""
    path = only(files)
    if path.suffix == ".tab":
        X, y = _heart_from_cleveland(table(path, 14))
    else:
        rows = table(path, 14)
        X, y = rows.numbers(slice(13)), rows.codes(13, {"1": -1, "2": 1})
    return _arrays("heart", X, y, {-1: 150, 1: 120})


def _heart_from_cleveland(rows: Table) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The 270 rows that Statlog took, in its order, with the level names turned back into UCI's numbers."""
    order = json.loads(fact("heart_rows.json"))
    if max(order) >= len(rows):
        raise ValueError(f"{rows.name}: {len(rows)} rows, expected 303; {MEND}")
    levels = {
        1: {"female": 0, "male": 1},
        2: {"typical ang": 1, "atypical ang": 2, "non-anginal": 3, "asymptomatic": 4},
        6: {"normal": 0, "ST-T abnormal": 1, "left vent hypertrophy": 2},
        10: {"upsloping": 1, "flat": 2, "downsloping": 3},
        12: {"normal": 3, "fixed defect": 6, "reversable defect": 7},
    }
    chosen = Table(rows.name, [rows[i] for i in order], [rows.lines[i] for i in order])
    X = np.empty((len(order), 13))
    for column in range(13):
        named = levels.get(column)
        X[:, column] = chosen.codes(column, named) if named else chosen.numbers([column])[:, 0]
    return X, chosen.codes(13, {"0": -1, "1": 1})


def ionosphere(files: Files) -> Arrays:
    """Johns Hopkins ionosphere, 351 x 34; +1 = good radar return."""
    rows = table(only(files), 35)
    y = rows.codes(34, {"b": -1, "g": 1})
    return _arrays("ionosphere", rows.numbers(slice(34)), y, {-1: 126, 1: 225})


def new_thyroid(files: Files) -> Arrays:
    """New thyroid, 215 x 5; y = 1 normal, 2 hyper-, 3 hypothyroid. (KEEL has the class last.)"""
    path = only(files)
    rows = table(path, 6)
    label = 5 if path.suffix == ".dat" else 0
    X = rows.numbers([column for column in range(6) if column != label])
    return _arrays("new-thyroid", X, rows.codes(label, {"1": 1, "2": 2, "3": 3}), {1: 150, 2: 35, 3: 30})


def parkinsons(files: Files) -> Arrays:
    """Oxford Parkinson's voices, 195 x 22; +1 = Parkinson's disease."""
    rows = table(only(files), 24, comments="@n")  # the original opens with a header line "name,..."
    X = rows.numbers([column for column in range(1, 24) if column != 17])
    return _arrays("parkinsons", X, rows.codes(17, _DELVE), {-1: 48, 1: 147})


def pima(files: Files) -> Arrays:
    """Pima Indians diabetes, 768 x 8; +1 = diabetes."""
    rows = table(only(files), 9)
    y = rows.codes(8, {"0": -1, "1": 1, "negative": -1, "positive": 1})
    return _arrays("pima", rows.numbers(slice(8)), y, {-1: 500, 1: 268})


def planning_relax(files: Files) -> Arrays:
    """Planning relax EEG, 182 x 12; +1 = class 2, the rarer one (UCI: "planning" 1, "relaxing" 2)."""
    rows = table(only(files), 13)
    label = rows.numbers([12])[:, 0]
    if not np.isin(label, [1, 2]).all():
        raise ValueError(f"{rows.name}: a class is neither 1 nor 2; {MEND}")
    y = np.where(label == 2, 1, -1).astype(np.int8)
    return _arrays("planning-relax", rows.numbers(slice(12)), y, {-1: 130, 1: 52})


def ringnorm(files: Files) -> Arrays:
    """Delve ringnorm, 7400 x 20; +1 = class 1."""
    return _delve("ringnorm", files, {-1: 3664, 1: 3736})


def twonorm(files: Files) -> Arrays:
    """Delve twonorm, 7400 x 20; +1 = class 1."""
    return _delve("twonorm", files, {-1: 3703, 1: 3697})


def _delve(name: str, files: Files, classes: dict[int, int]) -> Arrays:
    rows = table(only(files), 21)
    return _arrays(name, rows.numbers(slice(20)), rows.codes(20, _DELVE), classes)


def segment(files: Files) -> Arrays:
    """Statlog image segmentation, 2310 x 19; y = 1..7 (brickface sky foliage cement window path grass)."""
    rows = table(only(files), 20)
    y = rows.codes(19, {str(label): label for label in range(1, 8)})
    return _arrays("segment", rows.numbers(slice(19)), y, dict.fromkeys(range(1, 8), 330))


def solar_flare(files: Files) -> Arrays:
    """Solar flares (``flare.data2``), 1066 x 12 ordinal codes; +1 = spot distribution not "O" (open)."""
    rows = table(only(files), 13, comments="@*")
    zurich = rows.codes(0, _ordinal(*"ABCDEFH", start=1))
    size = rows.codes(1, _ordinal(*"XRSAHK", start=1))
    X = np.column_stack([zurich, size, rows.numbers(slice(3, 13))])
    return _arrays("solar-flare", X, rows.codes(2, {"O": -1, "X": 1, "I": 1, "C": 1}), {-1: 477, 1: 589})


def sonar(files: Files) -> Arrays:
    """Sonar, mines against rocks, 208 x 60; +1 = mine."""
    rows = table(only(files), 61)
    return _arrays("sonar", rows.numbers(slice(60)), rows.codes(60, {"R": -1, "M": 1}), {-1: 97, 1: 111})


def splice(files: Files) -> Arrays:
    """Splice junctions, 3190 x 60; A, G, C, T = 1..4, ambiguous letters 0; y = 1 EI, 2 IE, 3 neither."""
    path = only(files)
    if path.suffix == ".dat":
        rows = table(path, 61)
        sequences, label = [row[:60] for row in rows], 60
    else:
        rows = table(path, 3)
        sequences, label = [list(row[2]) for row in rows], 0
    letters = _ordinal(*"AGCT", start=1) | dict.fromkeys("DNSR", 0)
    if len(bases := Table(rows.name, sequences, rows.lines)) and {len(s) for s in sequences} != {60}:
        raise ValueError(f"{rows.name}: a sequence does not have 60 letters; {MEND}")
    X = np.column_stack([bases.codes(column, letters) for column in range(60)]).astype(float)
    y = rows.codes(label, {"EI": 1, "IE": 2, "N": 3})
    return _arrays("splice", X, y, {1: 767, 2: 768, 3: 1655})


def titanic(files: Files) -> Arrays:
    """Delve titanic, 2201 x 3: class (first..third, crew = 0..3), child, male; +1 = survived."""
    rows = table(only(files), 4)
    passage = {"1st": 0, "2nd": 1, "3rd": 2, "crew": 3, "first": 0, "second": 1, "third": 2}
    X = [
        rows.codes(0, passage),
        rows.codes(1, _ordinal("adult", "child")),
        rows.codes(2, _ordinal("female", "male")),
    ]
    y = rows.codes(3, {"no": -1, "yes": 1})
    return _arrays("titanic", np.column_stack(X).astype(float), y, {-1: 1490, 1: 711})


def waveform(files: Files) -> Arrays:
    """Breiman's waveforms, 5000 x 21; y = class 0, 1, 2 of the file."""
    rows = table(only(files), 22)
    y = rows.codes(21, {"0": 0, "1": 1, "2": 2})
    return _arrays("waveform", rows.numbers(slice(21)), y, {0: 1657, 1: 1647, 2: 1696})
