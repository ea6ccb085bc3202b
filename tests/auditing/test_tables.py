"""A table is read as it is meant, or one line says what is wrong with it, where, and what to do."""

import os
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from noisylabels.auditing import tables
from noisylabels.auditing.columns import encode
from noisylabels.safe_text import make_visible

N = 30
COLOURS = ["red", "green", "blue"] * 10
LABELS = ["no", "yes"] * 15
ROWS = [[f"{i}", f"{i / 8}", COLOURS[i], LABELS[i]] for i in range(N)]
HEADER = "a,b,colour,kind"
COLOUR_COLUMNS = ["colour=blue", "colour=green", "colour=red"]


def lines(rows=ROWS, header=HEADER):
    written = [",".join(row) for row in rows]
    return "\n".join([header, *written]) + "\n"


def changed(row, column, value):
    rows = [list(cells) for cells in ROWS]
    rows[row][column] = value
    return lines(rows)


def read(folder, text, label="kind", name="beans.csv", **options):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tables.read(path, label, **options)


def with_first_column(value):
    """The table with one text in all rows of its first column."""
    return lines([[value, *row[1:]] for row in ROWS])


def test_numbers_words_and_labels_are_told_apart(tmp_path):
    table = read(tmp_path, lines())
    assert table.names == ["a", "b", *COLOUR_COLUMNS]
    assert_array_equal(table.X[:, 0], np.arange(N))
    is_red = np.arange(N) % 3 == 0
    assert_array_equal(table.X[:, 4], is_red)
    assert table.labels.tolist() == LABELS
    assert table.lines[:2].tolist() == [2, 3]
    assert table.notes == []
    assert table.trusted == [None] * N


def test_gaps_are_counted_filled_and_marked(tmp_path):
    rows = [list(row) for row in ROWS]
    for i, gap in enumerate(["", "NA", "?"]):
        rows[i][0] = gap
        rows[i][2] = gap
    rows[9][3] = ""
    table = read(tmp_path, lines(rows))
    assert table.names[:2] == ["a", "a missing"]
    assert len(table.X) == N - 1
    assert 9 not in table.rows
    median = np.median(np.arange(3, N))
    assert table.X[:3, 0].tolist() == [median] * 3
    assert table.X[:4, 1].tolist() == [1, 1, 1, 0]
    assert table.notes == [
        "1 row without a label was left out",
        "column 'a' lacks 3 of 30 values; the median is put there",
        "column 'colour' lacks 3 of 30 values; the most frequent text is put there",
    ]


def test_what_says_nothing_is_left_out_and_told(tmp_path):
    rows = [[*row[:2], f"name {i}", "same", "", row[3]] for i, row in enumerate(ROWS * 3)]
    table = read(tmp_path, lines(rows, "a,b,name,place,gone,kind"))
    assert table.names == ["a", "b"]
    assert [note.split("'")[1] for note in table.notes] == ["name", "place", "gone"]
    assert "90 different texts" in table.notes[0]


@pytest.mark.parametrize("name", ["id", "key", "body_mass_index", "customerId"])
def test_only_whole_numbers_number_the_rows(name):
    y = np.array(["no", "yes"] * 30)
    size = np.arange(60.0) % 7
    numbers = np.arange(60)
    days = pd.date_range("2024-01-01", periods=60).astype(str)
    for values in (numbers + 0.5, days):
        frame = pd.DataFrame({"size": size, name: values})
        assert tables.of_arrays(frame, y).names == ["size", name]
    table = tables.of_arrays(pd.DataFrame({"size": size, name: numbers}), y)
    assert table.names == ["size"]
    (note,) = table.notes
    reason = "60 different whole numbers and the name of a row number"
    advice = "is not used to learn from; rename it if it is measured"
    assert note == f"column '{name}' has {reason} and {advice}"
    with_one_gap = np.where(numbers == 3, np.nan, numbers)
    assert tables.of_arrays(pd.DataFrame({"size": size, name: with_one_gap}), y).names == ["size"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("much,0.5", "line 5: column 'no' is 'much', not a number"),
        ("0.5,0.6", r"line 5: \[0.5, 0.6\] are not probabilities that sum to 1"),
        (",0.5", r"line 5: \[nan, 0.5\] are not probabilities that sum to 1"),
        ("-0.5,1.5", r"line 5: \[-0.5, 1.5\] are not probabilities that sum to 1"),
    ],
)
def test_wrong_probabilities_are_named_by_the_line_of_their_file(cells, message, tmp_path):
    rows = [list(row) for row in ROWS]
    rows[0][3] = ""  # the table has a row less than its file
    table = read(tmp_path, lines(rows))
    probabilities = ["no,yes", *["0.5,0.5"] * N]
    probabilities[4] = cells
    path = tmp_path / "p.csv"
    path.write_text("\n".join(probabilities))
    with pytest.raises(ValueError, match=rf"^p\.csv, {message}"):
        tables.probabilities(path, table)


def test_two_words_make_one_column_and_columns_choose(tmp_path):
    by_colour = read(tmp_path, lines(), label="colour")
    assert by_colour.names == ["a", "b", "kind=yes"]
    chosen = read(tmp_path, lines(), columns=["b"])
    assert chosen.names == ["b"]
    with_tabs = read(tmp_path, lines().replace(",", "\t"), name="beans.tsv")
    assert with_tabs.names[0] == "a"


def test_trusted_labels_are_a_column_and_no_feature(tmp_path):
    rows = [[*row, "no" if i < 4 else ""] for i, row in enumerate(ROWS)]
    table = read(tmp_path, lines(rows, HEADER + ",checked"), trusted="checked")
    assert table.trusted == ["no"] * 4 + [None] * (N - 4)
    assert "checked" not in "".join(table.names)


MEASUREMENTS = [[f"{i / 7}", *row[1:]] for i, row in enumerate(ROWS * 3)]
WITHOUT_FEATURES = [["", "", "", label] for label in LABELS]
MANY_COLUMNS = ",".join(f"c{i}" for i in range(10**5))
BAD_TEXTS = {
    "one class": (
        lines().replace("yes", "no"),
        r"column 'kind' holds one class only \(no\)",
    ),
    "label all missing": (
        lines().replace("yes", "").replace("no", ""),
        "holds no label at all",
    ),
    "features all missing": (lines(WITHOUT_FEATURES), "no column other than"),
    "text in a number": (changed(7, 0, "red"), "line 9: column 'a' is 'red', not a number"),
    "too large": (
        changed(7, 0, "1e300"),
        "line 9: column 'a' is 1e.300, beyond 1e.35; scale the column",
    ),
    "infinite": (changed(7, 0, "inf"), "line 9: column 'a' is infinite"),
    "duplicate header": (
        lines(header="a,a,colour,kind"),
        "line 1: columns 1 and 2 are both called 'a'",
    ),
    "unnamed column": (lines(header="a,,colour,kind"), "line 1: column 2 has no name"),
    "no header": ("\n".join(["1,2,0"] * N), "line 1: numbers only; the first line should"),
    "empty file": ("", "the file is empty"),
    "header only": (HEADER + "\n", "0 rows; at least 20 are needed"),
    "too few rows": (lines(ROWS[:15]), "15 rows; at least 20 are needed"),
    "a rare class": (
        changed(3, 3, "maybe"),
        "the class maybe has 1 row; at least 5 are needed: merge",
    ),
    "many columns": (lines([["1"] * 10**5], MANY_COLUMNS), "100000 columns"),
    "wrong encoding": (
        lines().replace("red", "r\xf6d").encode("latin-1"),
        "line 2: not UTF-8 text",
    ),
    "UTF-16": (lines().encode("utf-16"), "line 1: not UTF-8 text"),
    "a ragged line": (lines() + "1,2\n", "line 32: 2 fields, the header has 4"),
    "an open quote": (changed(7, 2, '"red'), "line 9: unexpected end of data"),
    "UTF-16 without a mark": (
        lines().encode("utf-16-le"),
        "line 1: not UTF-8 text but perhaps UTF-16",
    ),
    "a comment line": (
        "# beans of 2024\n" + lines(),
        "line 2: 4 fields.* is its first line a comment",
    ),
    "percent": (with_first_column("5 %"), "line 2: column 'a' is '5 %': write numbers"),
    "dollars": (with_first_column("$5"), "line 2: column 'a' is '.5': write"),
    "thousands": (with_first_column('"1.000,5"'), "'1.000,5': write numbers with"),
    "units": (changed(0, 0, "kg"), "line 2: column 'a' is 'kg', not a number"),
    "a binary file": (b"\x00\xff" * 99, "not UTF-8 text"),
}
BAD_OPTIONS = {
    "no such column": ({"label": "kindd"}, "no column 'kindd'; did you mean 'kind'?"),
    "no such feature": ({"columns": ["z"]}, "no column 'z'; it has: a, b, colour, kind"),
    "label among features": (
        {"columns": ["kind"]},
        "is the label; it cannot be a feature as well",
    ),
    "trusted among features": (
        {"columns": ["a", "b"], "trusted": "b"},
        "column 'b' holds the trusted labels; it cannot be a feature as well",
    ),
    "groups among features": (
        {"columns": ["a", "b"], "groups": "b"},
        "column 'b' names groups; it cannot be a feature or the label as well",
    ),
    "label trusted": ({"trusted": "kind"}, "it cannot be the trusted labels as well"),
    "wrong trusted label": (
        {"trusted": "colour"},
        "trusted label 'red' is not one of no, yes",
    ),
}
BAD = {name: (text, {}, message) for name, (text, message) in BAD_TEXTS.items()}
BAD |= {name: (lines(), *case) for name, case in BAD_OPTIONS.items()}
BAD["a measurement"] = (
    lines(MEASUREMENTS),
    {"label": "a"},
    "holds 90 different values in 90 rows: that is a measurement",
)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_refused_in_one_line(name, tmp_path):
    text, options, message = BAD[name]
    with pytest.raises(ValueError, match=rf"^beans\.csv[:,].*({message})") as caught:
        read(tmp_path, text, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_file_that_is_not_there_or_no_table(tmp_path):
    (tmp_path / "beans.xlsx").touch()
    files = {
        "none.csv": r"none\.csv: no such file",
        "": "a folder, not a table",
        "beans.xlsx": "this kind of file cannot be read",
    }
    for name, message in files.items():
        with pytest.raises(ValueError, match=message):
            tables.read(tmp_path / name, "y")


def test_an_npz_may_have_gaps(tmp_path):
    X = np.arange(60.0).reshape(30, 2)
    X[4, 1] = np.nan
    path = tmp_path / "beans.npz"
    np.savez(path, X=X, y=np.arange(30) % 3)
    table = tables.read(path, "y")
    assert table.names == ["x0", "x1", "x1 missing"]
    assert table.labels.dtype.kind == "i"
    for wrong, message in [
        ({"X": X}, "no array y"),
        ({"X": X[:, 0], "y": X[:, 1]}, r"expected \(n, d\) numbers"),
        ({"X": X, "y": X[:9, 0]}, r"y has shape \(9,\)"),
    ]:
        np.savez(path, **wrong)
        with pytest.raises(ValueError, match=rf"beans\.npz: .*{message}"):
            tables.read(path, "y")


def test_parquet_is_read_where_pyarrow_is_and_else_says_so(tmp_path, monkeypatch):
    path = tmp_path / "beans.parquet"
    path.write_bytes(b"PAR1")
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow.parquet", None)
        message = r"beans\.parquet: reading Parquet needs the package pyarrow"
        with pytest.raises(ValueError, match=message):
            tables.read(path, "kind")
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with pytest.raises(ValueError, match=r"^beans\.parquet: ") as caught:
        tables.read(path, "kind")
    assert "\n" not in str(caught.value)
    columns = {"a": [*range(29), None], "colour": COLOURS, "kind": LABELS}
    parquet.write_table(arrow.table(columns), path)
    table = tables.read(path, "kind")
    assert table.names == ["a", "a missing", *COLOUR_COLUMNS]


def test_a_data_frame_and_arrays_are_tables_too():
    is_on = np.arange(N) < 9
    frame = pd.DataFrame({"a": np.arange(N), "colour": pd.Categorical(COLOURS), "on": is_on})
    frame.loc[3, "a"] = np.nan
    table = tables.of_arrays(frame, pd.Series(LABELS))
    assert table.names == ["a", "a missing", *COLOUR_COLUMNS, "on"]
    words = np.array([["u", 1.5], ["v", None]] * 15, dtype=object)
    last_is_trusted = [None] * 29 + ["yes"]
    table_of_words = tables.of_arrays(words, LABELS, trusted=last_is_trusted)
    assert table_of_words.trusted[-1] == "yes"
    table_of_extension_types = tables.of_arrays(frame.convert_dtypes(), LABELS)
    assert table_of_extension_types.names == table.names


X = np.arange(2.0 * N).reshape(N, 2)
TWO_OF_ONE_NAME = pd.DataFrame({1: np.arange(N), "1": np.arange(N)})
BEYOND_FLOATS = pd.DataFrame({"a": [10**400, *range(N - 1)]})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((np.arange(30), LABELS), r"X must be a table \(n, d\), got shape \(30,\)"),
        ((X, LABELS[:3]), "y has 3 labels, X has 30 rows"),
        ((X, LABELS, ["yes"]), "trusted has 1 labels, X has 30 rows"),
        ((X, LABELS, {"a": 1}), "trusted must have one label for each row"),
        ((TWO_OF_ONE_NAME, LABELS), "X: two columns of one name"),
        ((BEYOND_FLOATS, LABELS), "column 'a' is infinite"),
    ],
)
def test_what_is_no_table_no_list_of_labels_or_no_number_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        tables.of_arrays(*value)


LONG = ["9007199254740992", "9007199254740993"]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["1", "0"], [1, 0]),
        ([True, False], ["True", "False"]),
        ([0.5, 1], [0.5, 1.0]),
        ([2.0, 3], [2, 3]),
        (["1", "x"], ["1", "x"]),
        (LONG, list(map(int, LONG))),
        (["1e300", "2e300"], ["1e300", "2e300"]),
        (["0.1", "0.10000000000000000001"], ["0.1", "0.10000000000000000001"]),
        (["1", "01"], ["1", "01"]),
        (["3E5", "300000"], ["3E5", "300000"]),
        (["a\x1b[31m", "b"], ["a\\x1b[31m", "b"]),
    ],
)
def test_no_two_labels_become_one_class_and_whole_numbers_are_exact(labels, classes):
    table = tables.of_arrays(X, labels * (N // 2))
    assert table.labels[:2].tolist() == classes
    merged = any("one number and two texts" in note for note in table.notes)
    assert merged == (labels in (["1", "01"], ["3E5", "300000"]))


@pytest.mark.parametrize(
    ("labels", "trusted", "labels_known"),
    [
        (["1", "01", "x"], ["1", "01", "x"], ["1", "01", "x"]),
        (["01", "02", "x"], ["1", "2.0", "x"], ["01", "02", "x"]),
        (["2.0", "3.0", "unk"], [2, 3.0, "unk"], ["2.0", "3.0", "unk"]),
        ([0.5, 1.0, 2.0], [0.5, 1, 2], [0.5, 1.0, 2.0]),
        ([True, False, True], [1, 0, 1.0], ["True", "False", "True"]),
        ([1, 0, 1], [True, False, True], "the trusted label 'True' is not one of 0, 1"),
        (["1", "01", "x"], ["1.0", "01", "x"], "the trusted label '(1|1.0)' is not one"),
    ],
)
def test_trusted_labels_are_read_as_the_labels_are(labels, trusted, labels_known):
    if isinstance(labels_known, str):
        with pytest.raises(ValueError, match=labels_known):
            tables.of_arrays(X, labels * 10, trusted * 10)
    else:
        assert tables.of_arrays(X, labels * 10, trusted * 10).trusted[:3] == labels_known


@pytest.mark.parametrize(
    ("n_trusted", "note"),
    [
        (0, "no row with a label has a trusted label"),
        (N, "every row has a trusted label; if the column says which rows were verified, give"),
        (5, ""),
    ],
)
def test_trusted_labels_that_may_be_a_mask_of_rows_are_said(n_trusted, note):
    trusted = [label if i < n_trusted else None for i, label in enumerate(LABELS)]
    notes = tables.of_arrays(X, LABELS, trusted).notes
    assert len(notes) == (note != "")
    assert "".join(notes).startswith(note)


def test_a_column_that_is_the_label_in_another_coding_is_set_aside(tmp_path):
    header = HEADER + ",code"
    codes = ["7" if label == "yes" else "3" for label in LABELS]
    with_gap = ["", *codes[1:]]
    rows = [[*row, code] for row, code in zip(ROWS, with_gap, strict=True)]
    table = read(tmp_path, lines(rows, header))
    assert "code" not in "".join(table.names)
    note = "column 'code' is the label in another coding, value for value, and was set aside"
    assert table.notes == [note]
    message = r"no column other than the label.*'code' is the label in another coding"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, lines(rows, header), columns=["code"])
    nearly_recoded = [list(row) for row in rows[1:]]
    assert nearly_recoded[0][4] == "7"
    nearly_recoded[0][4] = "3"
    assert "code" in read(tmp_path, lines(nearly_recoded, header)).names


def test_masked_values_are_missing():
    y = np.ma.masked_array(np.arange(N) % 2, mask=np.arange(N) == 5)
    for kind in (float, int):
        masked = np.ma.masked_less(X.astype(kind), 3)
        table = tables.of_arrays(masked, y)
        assert table.names == ["x0", "x0 missing", "x1", "x1 missing"]
        assert 5 not in table.rows


def test_an_npz_that_unpacks_to_gigabytes_is_refused_before(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((3000, 50)), y=np.arange(3000) % 2)
    monkeypatch.setattr(tables, "MOST_BYTES", 1 << 20)
    with pytest.raises(ValueError, match=r"^bomb\.npz: it unpacks to 0.0 GB, more than 0.0 GB"):
        tables.read(path, "y")


def test_what_excel_and_shells_hand_over_is_read(tmp_path):
    plain = read(tmp_path, lines())
    with_unicode_minus = changed(3, 0, "\u22123")
    with_semicolons = with_unicode_minus.replace(",", ";")
    of_excel = "sep=;\r\n" + with_semicolons.replace("\n", "\r\n")
    table = read(tmp_path, of_excel)
    assert table.names == plain.names
    assert table.lines[0] == 3
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(lines(),))
    writer.start()
    assert tables.read(pipe, "kind").names == table.names
    writer.join()


ONE_VALUE_AND_GAPS = "has one value and 2 gaps; only where it has"
CODED = {
    "none may be a word": (["none", "some"] * 5, ["x=some"], ""),
    "mostly words, some numbers": (["3"] * 5 + ["many"] * 5, ["x=many"], ""),
    "a comma among words": (["a,b", "a", "1,5", "c"], ["x=1,5", "x=a", "x=a,b", "x=c"], ""),
    "dates": (
        ["2026-01-31", "1970-01-02", ""] * 2,
        ["x", "x missing"],
        "holds dates and is counted in days",
    ),
    "constant": (["1"] * 3, [], "is constant and was left out"),
    "one number and gaps": (["1", ""] * 2, ["x missing"], ONE_VALUE_AND_GAPS),
    "one word and gaps": (["yes", ""] * 2, ["x missing"], ONE_VALUE_AND_GAPS),
}


@pytest.mark.parametrize(("column", "names", "note"), CODED.values(), ids=CODED)
def test_a_column_is_of_numbers_dates_or_words(column, names, note):
    numbers = [str(i) for i in range(len(column))]
    encoded = encode({"x": column, "z": numbers}, "f", str)
    assert encoded.names == [*names, "z"]
    assert note in "".join(encoded.notes)
    if names == ["x missing"]:
        assert_array_equal(encoded.X[:, 0], [0, 1, 0, 1])


def test_numbers_with_a_decimal_comma_are_no_words():
    with pytest.raises(ValueError, match=r"^line 1: column 'x' is '-1,5': write numbers with a"):
        encode({"x": ["", "-1,5", "0,25", "3"]}, "f", lambda i: f"line {i}")


def test_what_nobody_sees_is_shown_and_joiners_stay():
    for text, shown in {
        "cat\u200b": "cat\\u200b",  # else two classes of one look
        "b\u202elue": "b\\u202elue",
        "\x1b[2J": "\\x1b[2J",
        "\u0645\u06cc\u200c\u0634\u0648\u062f": "\u0645\u06cc\u200c\u0634\u0648\u062f",
    }.items():
        assert make_visible(text) == shown


def labelled(labels, other_column=None):
    """A table of the numbers 0.5, 1.5, ... in x, of labels in y, and of a further column z."""
    rows = [[f"{i}.5", label] for i, label in enumerate(labels)]
    if other_column is None:
        return lines(rows, "x,y")
    rows = [[*row, value] for row, value in zip(rows, other_column, strict=True)]
    return lines(rows, "x,y,z")


def numbered(rows):
    """A column of numbers without gaps, which says nothing of the labels."""
    return np.arange(float(rows)).reshape(-1, 1)


@pytest.mark.parametrize("word", ["NA", "N/A", "None", "null"])
def test_a_class_called_like_a_gap_stays_a_class_among_words(word, tmp_path):
    labels = [word, "EU", "AS"] * 20
    table_read = read(tmp_path, labelled(labels), "y")
    assert set(table_read.labels) == {word, "EU", "AS"}
    assert any(f"20 are {word!r} and were read as a class" in note for note in table_read.notes)
    of_arrays = tables.of_arrays(numbered(60), np.array(labels))
    assert word in set(of_arrays.labels)


def test_a_word_for_a_gap_is_one_among_numbers(tmp_path):
    table_read = read(tmp_path, labelled(["NA", "1", "2"] * 20), "y")
    assert set(table_read.labels) == {1, 2}
    assert "20 rows without a label were left out (20 are 'NA')" in table_read.notes


def test_only_none_and_nan_are_gaps_among_labels_of_python():
    labels = np.array(["a", "b", None, "None"] * 20, dtype=object)
    table_read = tables.of_arrays(numbered(80), labels)
    assert set(table_read.labels) == {"a", "b", "None"}
    assert len(table_read.labels) == 60


@pytest.mark.parametrize("mark", [".", "-", "n.a.", "#N/A", "unknown", "?!"])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_mark_for_gaps_makes_no_categories_of_numbers(mark, share, tmp_path):
    n = 100
    ages = [mark if i < share * n else str(i) for i in range(n)]
    text = labelled(["a", "b"] * 50, ages)
    if mark == "?!" and share == 0.1:
        with pytest.raises(ValueError, match=r"column 'z' is '\?!', not a number"):
            read(tmp_path, text, "y")
        return
    table_read = read(tmp_path, text, "y")
    assert table_read.names == ["x", "z", "z missing"]
    assert any("which was read as a gap" in note for note in table_read.notes)


@pytest.mark.parametrize(
    ("first", "second"), [("Yes", "yes"), (">50K", ">50K."), ("a b", "a  b"), ("ﬁt", "fit")]
)
def test_classes_that_look_the_same_are_named(first, second, tmp_path):
    table_read = read(tmp_path, labelled([first, second, "other"] * 20), "y")
    assert any("look the same" in note for note in table_read.notes)


def test_classes_that_are_the_same_text_are_refused(tmp_path):
    with pytest.raises(ValueError, match="the same text; write them in one way"):
        read(tmp_path, labelled(["caf\u00e9", "cafe\u0301", "tea"] * 20), "y")


@pytest.mark.parametrize("first", [0, 1])
def test_many_whole_numbers_that_count_classes_are_refused(first):
    labels = np.arange(1500) % 60 + first
    with pytest.raises(ValueError, match="60 different values in 1500 rows: they look like"):
        tables.of_arrays(numbered(1500), labels, check=tables.check_labels)


def test_whole_numbers_read_as_a_measurement_are_said_to_be():
    labels = 18 + np.arange(1500) % 60
    table_read = tables.of_arrays(numbered(1500), labels, check=tables.check_labels)
    said = "the labels: 1500 whole numbers with 60 different values were read as a measurement"
    assert said in table_read.notes[0]


def test_row_numbers_count_rows_of_empty_fields(tmp_path):
    text = labelled(["a", "b"] * 20).replace("\n3.5,b\n", "\n,\n")
    table_read = read(tmp_path, text, "y")
    assert table_read.rows.tolist() == [i for i in range(40) if i != 3]
    assert "1 row without a label was left out" in table_read.notes


@pytest.mark.parametrize("huge", ["1e999999999", "-1e999999", "1e99999"])
def test_huge_numbers_as_labels_are_answered_at_once(huge, tmp_path):
    table_read = read(tmp_path, labelled([huge, "1"] * 20), "y")
    assert set(table_read.labels) == {huge, "1"}


def test_categories_that_need_gigabytes_are_refused_before_they_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr("noisylabels.auditing.columns.MOST_CELLS", 500)
    words = [f"w{i % 30}" for i in range(60)]
    with pytest.raises(ValueError, match="column 'z' the table has 31 columns of 0/1"):
        read(tmp_path, labelled(["a", "b"] * 30, words), "y")


def test_all_rare_classes_are_named():
    labels = np.repeat(["a", "b", "c", "d"], [30, 30, 3, 2])
    message = r"classes with too few rows: c \(3\), d \(2\); at least 5"
    with pytest.raises(ValueError, match=message):
        tables.of_arrays(numbered(65), labels)


def test_whole_numbers_of_parquet_stay_whole(tmp_path):
    path = tmp_path / "t.parquet"
    first = 2**53
    labels = np.tile([first, first + 1, first + 2], 20)
    frame = pd.DataFrame({"x": np.arange(60.0), "\x1b]0;y": labels})
    frame.to_parquet(path)
    table_read = tables.read(path, "\\x1b]0;y")
    classes = set(table_read.labels.tolist())
    assert sorted(classes) == [first, first + 1, first + 2]


@pytest.mark.parametrize(
    ("form", "days"),
    [
        ("2020/01/05", 18266),
        ("05-01-2020", 18266),
        ("Jan 5 2020", 18266),
        ("2020-01", 18262),
        ("05.01.20", 18266),
        ("2020-01-05T12:00:00", 18266.5),
    ],
)
def test_dates_in_common_forms_are_counted_in_days(form, days):
    later = form.replace("5", "6", 1) if "5" in form else "2020-02"
    encoded = encode({"x": [form, later] * 10}, "f", str)
    assert encoded.X[0, 0] == days
    assert encoded.X[1, 0] > days
    assert encoded.dates == ["x"]


@pytest.mark.parametrize("sentinel", ["-999", "9999"])
def test_a_number_far_from_the_others_that_repeats_is_said(sentinel):
    column = [sentinel if i % 10 == 0 else str(i) for i in range(100)]
    notes = encode({"x": column}, "f", str).notes
    said = f"is {sentinel} in 10 rows, far from its other values"
    assert any(said in note for note in notes)
    without_it = [str(i % 20) for i in range(100)]
    assert encode({"x": without_it}, "f", str).notes == []


@pytest.mark.parametrize(
    ("form", "order"), [("%02d/%02d/2020", "day/month"), ("%02d-%02d-2020", "day/month")]
)
def test_a_date_whose_order_is_a_guess_is_said(form, order):
    dates = [form % (1 + i % 12, 1 + i // 12) for i in range(60)]
    notes = encode({"x": dates}, "f", str).notes
    assert f"read as {order}/year" in notes[0]


def test_rows_between_two_stray_quotation_marks_are_not_lost_in_silence(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[4][2] = '"' + rows[4][2]
    rows[8][2] = rows[8][2] + '"'
    table = read(tmp_path, lines(rows), columns=["b"])
    said = "1 record spans several lines (the first begins in line 6)"
    assert any(said in note for note in table.notes)


def test_a_table_separated_by_blanks_is_refused_with_the_reason(tmp_path):
    message = "separated by a comma, a semicolon, a tab or a bar, not by blanks"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, lines().replace(",", " "))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf_16_is_named_as_such(tmp_path, encoding):
    (tmp_path / "table.csv").write_bytes(lines().encode(encoding))
    with pytest.raises(ValueError, match="perhaps UTF-16; save the CSV in UTF-8"):
        tables.read(tmp_path / "table.csv", "kind")
