"""Every layout of a raw set gives the same arrays; an alien field is refused by its name."""

import json
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from reproduction.data.loaders import uci
from reproduction.data.loaders.formats import fact

Rows = list[list[str]]


def lines_of(rows, separator, end="\n"):
    return "".join(separator.join(row) + end for row in rows)


def blanks(rows):
    return lines_of(rows, " ")


def commas(rows):
    return lines_of(rows, ",", end="\r\n")


def keel(rows):
    header = "@relation x\n@attribute a real [0, 1]\n@data\n"
    return header + lines_of(rows, ", ")


def orange(rows):
    header = "a\tb\nc\td\n\tclass\n"
    return header + lines_of(rows, "\t")


def points(tmp_path, read, name, text):
    """Read a file of that name with a loader, or with a reader of the points of an IDA set."""
    path = tmp_path / name
    path.write_text(text)
    read_or_load = getattr(uci, read)
    loaders = {"parkinsons", *(row[0] for row in NUMERIC)}
    if read in loaders:
        arrays = read_or_load({name: path})
        return arrays["X"], arrays["y"]
    return read_or_load(path)


NUMERIC: list[tuple[str, str, Callable[[Rows], str], int, Sequence[str]]] = [
    # loader, file, layout, columns, labels of our classes -1 and +1
    ("australian", "australian.dat", blanks, 14, "01"),
    ("german_numeric", "german.data-numeric", blanks, 24, "12"),
    ("haberman", "haberman.data", commas, 3, "12"),
    ("haberman", "haberman.dat", keel, 3, ("negative", "positive")),
    ("heart", "heart.dat", blanks, 13, "12"),
    ("ionosphere", "ionosphere.data", commas, 34, "bg"),
    ("ionosphere", "ionosphere.tab", orange, 34, "bg"),
    ("pima", "pima-indians-diabetes.data", commas, 8, "01"),
    ("pima", "pima.dat", keel, 8, ("negative", "positive")),
    ("planning_relax", "plrx.txt", blanks, 12, ("1.0000000e+000", "2.0000000e+000")),
    ("sonar", "sonar.all-data", commas, 60, "RM"),
]


@pytest.mark.parametrize(("loader", "name", "layout", "columns", "labels"), NUMERIC)
def test_numbers_and_labels_arrive_as_they_stand(loader, name, layout, columns, labels, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.integers(-999, 999, (20, columns)) / 8
    code = rng.integers(2, size=20)
    rows = []
    for x, k in zip(X.tolist(), code, strict=True):
        rows.append([*map(str, x), labels[k]])
    X_read, y = points(tmp_path, loader, name, layout(rows))
    assert np.array_equal(X_read, X)
    assert np.array_equal(y, 2 * code - 1)
    assert X_read.dtype == np.float64
    assert y.dtype == np.int8
    first, *remaining = rows
    unknown_label = [[*first[:-1], "other"], *remaining]
    message = r"is not one of|could not convert"
    with pytest.raises(ValueError, match=message):
        points(tmp_path, loader, name, layout(unknown_label))
    missing_field = [first[1:], *remaining]
    message = f"{name}: {columns} fields in .*, expected {columns + 1}"
    with pytest.raises(ValueError, match=message):
        points(tmp_path, loader, name, layout(missing_field))


def test_parkinsons_skips_name_and_header_and_finds_its_label_in_the_middle(tmp_path):
    X = np.arange(44.0).reshape(2, 22)
    rows = []
    for i, x in enumerate(X.tolist()):
        row = [f"phon_{i}", *x[:16], i, *x[16:]]
        rows.append([str(value) for value in row])
    header = [["name", *"abcdefghijklmnop", "status", *"qrstuv"]]
    for text in (commas(header + rows), blanks(rows)):
        X_read, y = points(tmp_path, "parkinsons", "parkinsons.data", text)
        assert np.array_equal(X_read, X)
        assert y.tolist() == [-1, 1]


CREDIT = "b 30.83 0 u g w v 1.25 t f 1 f g 202 0 +"
CREDIT_GAPS = "? ? 0 ? ? ? ? 1.25 t f 1 f s ? 0 -"
GERMAN = "A14 6 A34 A410 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201"
CANCER = "50-59 ge40 30-34 3-5 no 3 right right_up yes"
CODED = [  # reader, file, layout, rows, X, y
    ("australian", "crx.tab", orange, [CREDIT_GAPS, CREDIT],
     [[0, 31.57, 0, 2, 8, 4, 1.25, 1, 0, 1, 0, 1, 184, 1],
      [1, 30.83, 0, 2, 9, 4, 1.25, 1, 0, 1, 0, 2, 202, 1]], [-1, 1]),
    ("german", "german.data", blanks, [f"{GERMAN} 1", f"{GERMAN} 2"],
     [[4, 6, 4, 10, 1169, 5, 5, 4, 3, 1, 4, 1, 67, 3, 2, 2, 3, 1, 2, 1]] * 2, [-1, 1]),
    *[("breast_cancer", f"breast-cancer.{kind}", layout,
       [f"recurrence-events {CANCER}", f"no-recurrence-events {CANCER.replace('no', '?')}"],
       [[3, 1, 6, 1, 1, 2, 1, 2, 0]], [1])  # the incomplete row is left out
      for kind, layout in (("data", commas), ("tab", orange))],
    ("solar_flare", "flare2.tab", orange, [f"H A {spot} 1 3 1 1 1 1 1 0 0 2" for spot in "OXIC"],
     [[7, 4, 1, 3, 1, 1, 1, 1, 1, 0, 0, 2]] * 4, [-1, 1, 1, 1]),
    (
        "splice",
        "splice.dat",
        keel,
        [" ".join([*"AGCTNR" * 10, "EI"])],
        [[1, 2, 3, 4, 0, 0] * 10],
        [1],
    ),
    ("titanic", "titanic.tab", orange, ["crew child female no", "first adult male yes"],
     [[3, 1, 0], [0, 0, 1]], [-1, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("read", "name", "layout", "rows", "X", "y"), CODED)
def test_levels_become_ordinal_codes(read, name, layout, rows, X, y, tmp_path):
    text = layout([row.split(" ") for row in rows])
    X_read, y_read = points(tmp_path, read, name, text)
    assert X_read.tolist() == X
    assert y_read.tolist() == y
    unknown_level = CREDIT.replace("w", "zz").split()
    with pytest.raises(ValueError, match=r"value 'zz' is not one of ff, d"):
        points(tmp_path, "australian", "crx.tab", orange([unknown_level]))


def test_statlog_heart_is_picked_from_cleveland_in_its_order(tmp_path):
    order = json.loads(fact("heart_rows.json"))
    assert len(set(order)) == 270
    middle = "male,non-anginal,145,233,1,ST-T abnormal,150,0,2.3,flat,0,reversable defect"
    rows = [[str(i), *middle.split(","), str(i % 2)] for i in range(303)]
    X, y = points(tmp_path, "heart", "heart_disease.tab", orange(rows))
    assert X[:, 0].tolist() == order
    _, *first_row = X[0].tolist()
    assert first_row == [1, 3, 145, 233, 1, 1, 150, 0, 2.3, 2, 0, 7]
    assert y.tolist() == [1 if i % 2 else -1 for i in order]


def test_a_source_of_several_files_is_refused(tmp_path):
    with pytest.raises(ValueError, match="expected one file, got a, b"):
        uci.haberman({"a": tmp_path, "b": tmp_path})
