"""A table of one's own becomes X and y, or one line says what is wrong, where, and what to do."""

import json
from pathlib import Path

import numpy as np
import pytest

from noisylabels.auditing import headed_csv
from noisylabels.auditing.encodings import table
from noisylabels.classifiers import base as features
from reproduction.data.fetch import fetch_local
from reproduction.data.own import as_option, own_file, own_loader, with_own
from reproduction.data.prepare import prepare
from reproduction.data.registry import OWN, find, loaders, sources, with_source

LINES = ["a,b,kind", *(f"{i},{i / 8},{'yes' if i % 3 else 'no'}" for i in range(30))]
CSV = "\n".join(LINES) + "\n"
X = np.array([[i, i / 8] for i in range(30)])
SIGNS = np.where(np.arange(30) % 3, 1, -1)


def read(folder: Path, text: str | bytes, **options):
    path = folder / "beans.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return table({path.name: path}, **({"label": "kind", "positive": "yes"} | options))


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
    ids=["plain", "semicolons", "tabs", "Windows", "blank lines", "spaces", "byte order mark", "no last end"],
)
def test_the_usual_ways_to_write_a_table_give_the_same_arrays(text, tmp_path):
    arrays = read(tmp_path, text)
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], SIGNS)
    assert (arrays["X"].dtype, arrays["y"].dtype) == (np.float64, np.int8)


def test_columns_choose_and_order_the_features(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, CSV, columns=["b"])["X"], X[:, 1:])
    np.testing.assert_array_equal(read(tmp_path, CSV, columns=["b", "a"])["X"], X[:, ::-1])


@pytest.mark.parametrize(
    ("no", "yes", "positive"),
    [
        ("0", "1", None),
        ("-1", "1.0", None),
        ("2", "1", 1),
        ("2", "1e0", "1"),
        ("no", "yes", "yes"),
        ("False", "True", True),
    ],
)
def test_the_positive_class_is_named_or_the_larger_of_two_numbers(no, yes, positive, tmp_path):
    arrays = read(tmp_path, CSV.replace("no", no).replace("yes", yes), positive=positive)
    np.testing.assert_array_equal(arrays["y"], SIGNS)


def test_with_several_classes_the_positive_one_stands_against_the_rest(tmp_path):
    arrays = read(tmp_path, CSV.replace("no", "maybe", 4))
    np.testing.assert_array_equal(arrays["y"], SIGNS)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (CSV, {"label": "y"}, "no column 'y'; name one of a, b, kind as `label`"),
        (CSV, {"columns": ["a", "z"]}, "no column 'z'; name one of a, b, kind as `columns`"),
        (CSV, {"columns": ["kind"]}, "column 'kind' is the label; take it off `columns`"),
        ("kind\n" + "yes\nno\n" * 15, {}, "no column beside the label 'kind' to learn from"),
        (CSV.replace("no", "yes"), {}, r"column 'kind' holds one class only \('yes'\); two are needed"),
        ("a,kind\n", {}, r"one class only \(no value\)"),
        (CSV, {"positive": None}, "the classes 'no', 'yes'; say which is the positive one"),
        (CSV, {"positive": "maybe"}, "the classes 'no', 'yes', none of them `positive`: 'maybe'"),
        (CSV, {"positive": True}, "put `positive` in quotes, it was read as True"),
        (CSV.replace("\n7,", "\nred,"), {}, "line 9: column 'a' is 'red', not a number"),
        (CSV.replace("\n7,", "\n1_0,"), {}, "line 9: column 'a' is '1_0', not a number"),
        (CSV.replace("\n7,", "\n,"), {}, "line 9: column 'a' is '', not a finite number; fill it in or"),
        (CSV.replace("\n7,", "\nnan,"), {}, "line 9: column 'a' is 'nan', not a finite number"),
        (CSV.replace("\n7,", "\n1e999,"), {}, "line 9: column 'a' is '1e999', not a finite number"),
        (CSV.replace("\n7,", "\n-1e300,"), {}, "line 9: column 'a' is -1e300, beyond 1e\\+35; scale"),
        (CSV.replace("0.875,yes", "0.875,"), {}, "line 9: column 'kind' holds no label"),
        (CSV.replace("a,b", "b,b"), {}, "line 1: columns 1 and 2 are both called 'b'; rename one"),
        (CSV.replace("a,b", "a,"), {}, "line 1: column 2 has no name"),
        ("\n".join("1,2,0" for _ in range(30)), {}, "line 1: numbers only; the first line should"),
        ("", {}, "the file is empty; the first line should name the columns"),
        (CSV + "1,2\n", {}, "line 32: 2 fields, the header has 3"),
        (CSV.replace("7,0.875,yes", '7,"0.875,yes'), {}, "line 31: 2 fields"),
        ("\n".join(LINES[:16]), {}, "15 rows; at least 20 are needed"),
        (CSV.replace("no", "yes", 8), {}, "a class with 2 rows; at least 5 are needed"),
        (CSV.replace("no", "n\xf6").encode("latin-1"), {}, "line 2: not UTF-8 text; save the CSV in UTF-8"),
        (CSV.encode("utf-16"), {}, "line 1: not UTF-8 text"),
        (CSV + "a" * 200_000 + ",1,yes", {}, "line 32: not a CSV line"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_used_is_refused_in_one_line(text, options, message, tmp_path):
    with pytest.raises(ValueError, match=rf"^beans\.csv[:,].*{message}") as caught:
        read(tmp_path, text, **options)
    assert "\n" not in str(caught.value)


def write(folder: Path, **arrays) -> dict[str, Path]:
    np.savez(folder / "beans.npz", **arrays)
    return {"beans.npz": folder / "beans.npz"}


@pytest.mark.parametrize("y", [SIGNS, SIGNS > 0, SIGNS.astype(float), np.where(SIGNS > 0, "yes", "no")])
def test_an_npz_gives_the_same_arrays(y, tmp_path):
    arrays = table(
        write(tmp_path, X=X.astype(np.float32), y=y), positive="yes" if y.dtype.kind == "U" else None
    )
    np.testing.assert_array_equal(arrays["X"], X)
    np.testing.assert_array_equal(arrays["y"], SIGNS)


HOLE = X.copy()
HOLE[4, 1] = np.nan


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, "no array y; it has: X; save it with"),
        ({"X": X[:, 0], "y": SIGNS}, r"X has type float64 and shape \(30,\); expected \(n, d\) numbers"),
        ({"X": X.astype(str), "y": SIGNS}, r"expected \(n, d\) numbers"),
        ({"X": X, "y": SIGNS[:9]}, r"y has shape \(9,\); expected \(30,\)"),
        ({"X": 1e36 * X, "y": SIGNS}, r"X\[\d, \d\] is .*e\+36, beyond 1e\+35; scale column \d"),
        ({"X": HOLE, "y": SIGNS}, r"X\[4, 1\] is nan, not finite"),
        ({"X": X, "y": np.where(SIGNS > 0, 1, np.nan)}, "y holds a label that is not finite"),
        ({"X": X.astype(object), "y": SIGNS}, "Object arrays cannot be loaded"),
    ],
)
def test_arrays_that_cannot_be_used_are_refused(arrays, message, tmp_path):
    with pytest.raises(ValueError, match=rf"^beans\.npz: .*{message}"):
        table(write(tmp_path, **arrays))


def test_an_npz_may_bring_its_own_splits(tmp_path):
    train, test = np.arange(40).reshape(2, 20) % 30, np.array([np.arange(20, 30), np.arange(10, 20)])
    arrays = table(write(tmp_path, X=X, y=SIGNS, train=train, test=test))
    np.testing.assert_array_equal(arrays["train"], train)
    np.testing.assert_array_equal(arrays["test"], test)
    for wrong, message in [
        ({"train": train}, "splits need `train` and `test`"),
        ({"train": train, "test": test + 0.5}, "splits need `train` and `test`, whole numbers"),
        ({"train": train, "test": test[:1]}, "as many lines in `train` as in `test`"),
        ({"train": train, "test": test + 1}, "split 0 has a row twice, or one that is not in 0 to 29"),
        ({"train": train, "test": train}, "split 0 has a row twice"),
    ]:
        with pytest.raises(ValueError, match=message):
            table(write(tmp_path, X=X, y=SIGNS, **wrong))


def test_a_file_that_is_no_npz_is_named(tmp_path):
    (tmp_path / "beans.npz").write_text("no zip")
    with pytest.raises(ValueError, match=r"^beans\.npz: .*save it with np\.savez"):
        table({"beans.npz": tmp_path / "beans.npz"})
    with pytest.raises(ValueError, match="`label` and `columns` are for CSV"):
        table(write(tmp_path, X=X, y=SIGNS), label="kind")
    with pytest.raises(ValueError, match="expected one table, got none"):
        table({})


REGISTRY = {
    "heart": {"title": "t", "task": "binary", "loader": "uci:heart", "sources": []},
    "speech": {"title": "t", "task": "audio", "loader": "audio:speech", "sources": []},
    "rte": {"title": "t", "task": "crowd", "loader": "crowd:rte", "sources": []},
}


@pytest.mark.parametrize("dataset", ["heart", "mine", "mine.packaged"])
def test_a_table_stands_in_the_place_of_a_set_or_under_a_new_id(dataset, tmp_path):
    (tmp_path / "beans.csv").write_text(CSV)
    spec = {"file": str(tmp_path / "beans.csv"), "label": "kind", "positive": "yes"}
    record = fetch_local(dataset, REGISTRY, tmp_path / "raw" / dataset, spec)
    assert (record["source"], record["variant"], record["loader"]) == ("local", "local", "table:table")
    found = prepare(tmp_path / "raw" / dataset)
    assert (found.id, found.variant) == (dataset.partition(".")[0], "local")
    np.testing.assert_array_equal(found.arrays["y"], SIGNS)


def test_every_id_of_the_configuration_gets_an_entry_and_its_loader():
    found = with_own(REGISTRY, {"mine": "a.csv", "heart": {"file": "b.NPZ"}, "speech": "talk.wav"})
    assert found["mine"]["task"] == "binary"
    assert loaders(found["mine"]) == ["table:table"]
    assert loaders(found["heart"]) == ["table:table", "uci:heart"]
    assert loaders(found["speech"]) == ["audio:recording", "audio:speech"]
    assert "local" not in REGISTRY["heart"]
    assert with_own(REGISTRY, {}) == REGISTRY


def test_a_set_of_one_s_own_needs_no_registry_but_a_file():
    assert find(REGISTRY, "mine.local") == ("mine", "local", OWN)
    assert with_source("mine.local", "packaged") == "mine.local"
    assert find(REGISTRY, "heart.local")[2] is REGISTRY["heart"]
    with pytest.raises(ValueError, match=r"mine\.local is a file of your own, and .*local: \{mine: FILE\}"):
        sources("mine", OWN, "local")
    with pytest.raises(ValueError, match=r"'mine' is not in the registry .*would be 'mine\.local'"):
        find(REGISTRY, "mine")


def test_an_entry_of_the_configuration_reaches_the_script_as_one_word():
    assert as_option("talk.wav") == "talk.wav"
    assert json.loads(as_option({"file": "a b.csv", "label": "kind"})) == {"file": "a b.csv", "label": "kind"}


@pytest.mark.parametrize(
    ("dataset", "spec", "message"),
    [
        (
            "rte",
            "a.csv",
            r"no file can take the place of rte \(task crowd\); give your table an id of its own",
        ),
        ("speach", "talk.wav", r"talk\.wav is no table .* \(speach is not in the registry\)"),
        ("heart", "a.xlsx", r"heart: a\.xlsx is no table \(\.csv, \.tsv, \.npz\)$"),
        ("speech", {"file": "a.wav", "label": "y"}, "speech is no table, so label mean nothing"),
    ],
)
def test_a_file_that_cannot_stand_there_is_refused(dataset, spec, message):
    with pytest.raises(ValueError, match=rf"^data\.local: .*{message}"):
        own_loader(dataset, REGISTRY, spec)


def test_the_home_folder_may_be_written_as_a_tilde(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert own_file("~/mine/a.csv") == own_file({"file": "~/mine/a.csv"}) == Path("/home/me/mine/a.csv")


def test_a_table_and_the_classifiers_have_one_limit():
    assert headed_csv.LARGEST == features.LARGEST
