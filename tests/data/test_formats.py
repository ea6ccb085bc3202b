"""A table of one's own becomes X and y, or one line says what is wrong, where, and what to do."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from reproduction.data.fetch import fetch_local
from reproduction.data.loaders.formats import codes, numbers, pack, svmlight, table, unpack
from reproduction.data.loaders.users_table import users_table
from reproduction.data.prepare import prepare
from reproduction.data.registry import Entry

LINES = ["a,b,kind", *(f"{i},{i / 8},{'yes' if i % 3 else 'no'}" for i in range(30))]
CSV = "\n".join(LINES) + "\n"
X = np.array([[i, i / 8] for i in range(30)])
SIGNS = np.where(np.arange(30) % 3, 1, -1)


def read(folder, text, **options):
    path = folder / "beans.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return users_table({path.name: path}, **({"label": "kind", "positive": "yes"} | options))


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\n\n"),
        CSV.replace("a,b", '"a", b ').replace(",", " , "),
        b"\xef\xbb\xbf" + CSV.encode(),
        CSV.rstrip("\n"),
    ],
    ids=[
        "plain",
        "semicolons",
        "tabs",
        "Windows",
        "blank lines",
        "spaces",
        "byte order mark",
        "no last end",
    ],
)
def test_the_usual_ways_to_write_a_table_give_the_same_arrays(text, tmp_path):
    arrays = read(tmp_path, text)
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], SIGNS)
    assert arrays["X"].dtype == np.float64
    assert arrays["y"].dtype == np.int8
    np.testing.assert_array_equal(read(tmp_path, text, columns=["b", "a"])["X"], X[:, ::-1])


@pytest.mark.parametrize(
    ("negative", "other_class", "positive"),
    [
        ("0", "1", None),
        ("-1", "1.0", None),
        ("2", "1", 1),
        ("2", "1e0", "1"),
        ("False", "True", True),
    ],
)
def test_the_positive_class_is_named_or_the_larger_of_two_numbers(
    negative,
    other_class,
    positive,
    tmp_path,
):
    text = CSV.replace("no", negative).replace("yes", other_class)
    arrays = read(tmp_path, text, positive=positive)
    np.testing.assert_array_equal(arrays["y"], SIGNS)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (CSV.replace("no", "yes"), {},
         r"column 'kind' holds one class only \('yes'\); two are needed"),
        (CSV, {"positive": None}, "the classes 'no', 'yes'; say which is the positive one"),
        (CSV, {"positive": "maybe"}, "the classes 'no', 'yes', none of them `positive`: 'maybe'"),
        (CSV, {"positive": True}, "put `positive` in quotes, it was read as True"),
        (CSV.replace("no", "yes", 8), {}, "the class -1 has 2 rows; at least 5 are needed"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_used_is_refused_in_one_line(text, options, message, tmp_path):
    with pytest.raises(ValueError, match=rf"^beans\.csv[:,].*{message}") as caught:
        read(tmp_path, text, **options)
    assert "\n" not in str(caught.value)


def write(folder, **arrays):
    np.savez(folder / "beans.npz", **arrays)
    return {"beans.npz": folder / "beans.npz"}


@pytest.mark.parametrize(
    "y",
    [
        SIGNS,
        SIGNS > 0,
        SIGNS.astype(float),
        np.where(SIGNS > 0, "yes", "no"),
    ],
)
def test_an_npz_gives_the_same_arrays(y, tmp_path):
    files = write(tmp_path, X=X.astype(np.float32), y=y)
    arrays = users_table(files, positive="yes" if y.dtype.kind == "U" else None)
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], SIGNS)
    three_classes = np.where(SIGNS > 0, 2, np.arange(30) % 2)
    arrays = users_table(write(tmp_path, X=X, y=three_classes), positive=2)
    np.testing.assert_array_equal(arrays["y"], SIGNS)


def test_a_gap_of_an_npz_has_the_number_of_its_row(tmp_path):
    files = write(tmp_path, X=np.where(X == 7, np.nan, X), y=SIGNS)
    with pytest.raises(ValueError, match=r"^beans\.npz, row 7: column 'x0' has no value"):
        users_table(files)
    assert users_table(files, gaps="fill")["X"].shape == (30, 3)


def test_an_npz_may_bring_its_own_splits(tmp_path):
    train = np.arange(40).reshape(2, 20) % 30
    test = np.array([np.arange(20, 30), np.arange(10, 20)])
    arrays = users_table(write(tmp_path, X=X, y=SIGNS, train=train, test=test))
    np.testing.assert_array_equal(arrays["train"], train)
    np.testing.assert_array_equal(arrays["test"], test)
    for wrong, message in [
        ({"train": train}, "splits need `train` and `test`"),
        ({"train": train, "test": test + 0.5}, "splits need `train` and `test`, whole numbers"),
        ({"train": train, "test": test[:1]}, "as many lines in both"),
        (
            {"train": train, "test": test + 1},
            "split 0 has a row twice, or one that is not in 0 to 29",
        ),
        ({"train": train, "test": train}, "split 0 has a row twice"),
    ]:
        with pytest.raises(ValueError, match=message):
            users_table(write(tmp_path, X=X, y=SIGNS, **wrong))


def test_arrays_that_cannot_be_used_are_refused(tmp_path):
    for arrays, options, message in (
        ({"X": X.astype(object), "y": SIGNS}, {}, r"^beans\.npz: Object arrays cannot be loaded"),
        ({"X": X, "y": np.where(SIGNS > 0, 1, np.nan)}, {}, "holds one class only"),
        ({"X": X, "y": SIGNS}, {"label": "kind"}, "no column 'kind'; it has: x0, x1, y"),
    ):
        with pytest.raises(ValueError, match=message):
            users_table(write(tmp_path, **arrays), **options)
    with pytest.raises(ValueError, match="expected one file, got none"):
        users_table({})


HEART = Entry(title="t", task="binary", loader="uci:heart", sources=[])


@pytest.mark.parametrize("dataset", ["heart", "mine.packaged"])
def test_a_table_takes_the_place_of_a_set_or_has_a_new_id(dataset, tmp_path):
    (tmp_path / "beans.csv").write_text(CSV)
    spec = {"file": str(tmp_path / "beans.csv"), "label": "kind", "positive": "yes"}
    record = fetch_local(dataset, {"heart": HEART}, tmp_path / "raw" / dataset, spec)
    assert record["source"] == "local"
    assert record["variant"] == "local"
    prepared = prepare(tmp_path / "raw" / dataset)
    assert prepared.id == dataset.partition(".")[0]
    assert prepared.variant == "local"
    np.testing.assert_array_equal(prepared.arrays["y"], SIGNS)


def test_words_gaps_and_dates_are_read_as_in_an_audit_but_a_gap_only_where_it_is_allowed(tmp_path):
    """Words become 0/1 columns, gaps are filled and marked, dates are days.

    Rows without a label are left out.
    """
    rows = []
    for i, line in enumerate(LINES[1:]):
        label = line.rpartition(",")[2]
        colour = ("green", "red")[i % 2]
        rows.append(f"{i},{colour},2026-01-{i + 1:02d},{label}")
    rows[4] = rows[4].replace("4,", ",", 1)
    rows[5] = rows[5].removesuffix("yes")
    text = "\n".join(["a,colour,day,kind", *rows])
    message = r"^beans\.csv, line 6: column 'a' has no value; .*`gaps: fill`$"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)
    with pytest.raises(ValueError, match="`gaps` may be `fill`, got 'mean'"):
        read(tmp_path, text, gaps="mean")
    read(tmp_path, text, columns=["colour", "day"])
    arrays = read(tmp_path, text, gaps="fill")
    assert arrays["X"].shape == (29, 4)
    median = np.median([*range(4), *range(5, 30)])
    first_day = 20454  # since 1970
    assert arrays["X"][4].tolist() == [median, 1, 0, first_day + 4]
    assert arrays["X"][5].tolist() == [6, 0, 0, first_day + 6]
    assert arrays["notes"].tolist() == [
        "1 row without a label was left out",
        "column 'a' lacks 1 of 30 values; the median is put there",
        "column 'day' holds dates and is counted in days",
    ]


# the readers of registered files


def test_a_table_may_be_separated_by_commas_or_blanks_and_carry_a_keel_header(tmp_path):
    for name, text in {
        "comma.data": "1,2.5,a\n3, -4 ,b\n",
        "blank.data": " 1 2.5  a\r\n3 -4 b\r\n\r\n",
        "keel.dat": "@relation x\n@data\n1, 2.5, a\n3, -4, b",
        "orange.tab": "A\tB\tC\nc\tc\td\n\t\tclass\n1\t2.5\ta\n3\t-4\tb\n",
        "named.tsv": "A\tB\tC\n1\t2.5\ta\n3\t-4\tb\n",
    }.items():
        (tmp_path / name).write_text(text)
        rows = table(tmp_path / name, 3)
        assert rows.tolist() == [["1", "2.5", "a"], ["3", "-4", "b"]]
        assert numbers(rows[:, :2]).tolist() == [[1, 2.5], [3, -4]]
        assert codes(rows[:, 2], {"a": 1, "b": -1}).tolist() == [1, -1]
    with pytest.raises(ValueError, match="could not convert string to float: 'a'"):
        numbers(rows)
    with pytest.raises(ValueError, match=r"value '1' is not one of 2, 3"):
        codes(rows[:, 0], {"2": 0, "3": 1})
    (tmp_path / "bad.data").write_text("1,2\n3\n")
    with pytest.raises(ValueError, match=r"bad\.data: 1 fields in \['3'\], expected 2"):
        table(tmp_path / "bad.data", 2)


def test_svmlight_files_are_refused_outside_their_indices_and_labels(tmp_path):
    path = tmp_path / "x.svm"
    path.write_bytes(b"+1 1:2 3:0.5\n-1 2:1\n")
    X, y = svmlight(path, 3, {-1.0: -1, 1.0: 1})
    assert X.toarray().tolist() == [[2, 0, 0.5], [0, 1, 0]]
    assert y.tolist() == [1, -1]
    with pytest.raises(ValueError, match=r"value '-1\.0' is not one of 2\.0, 3\.0"):
        svmlight(path, 3, {2.0: -1, 3.0: 1})
    with pytest.raises(ValueError, match=r"outside 1\.\.2|n_features"):
        svmlight(path, 2, {-1.0: -1, 1.0: 1})


def test_a_design_matrix_survives_packing_dense_and_sparse():
    y = np.array([1, -1, 1], np.int8)
    sparse = csr_matrix(random_array((3, 4), density=0.5, rng=np.random.default_rng(0)))
    for A in (X[:3], sparse):
        arrays = pack(A, y) | pack(A[:2], y[:2], "test")
        for part, n in (("", 3), ("test", 2)):
            unpacked, labels = unpack(arrays, part)
            assert type(unpacked) is type(A)
            assert abs(unpacked - A[:n]).max() == 0
            assert np.array_equal(labels, y[:n])
    with pytest.raises(KeyError, match="no test part"):
        unpack(pack(sparse, y), "test")
