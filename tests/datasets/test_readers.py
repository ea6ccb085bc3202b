"""A reader gives correct data or a ValueError that names the file: never another shape, never NaN."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from reproduction.data.readers import idx, mat, numeric_csv, svmlight
from reproduction.data.readers.streams import open_bytes
from reproduction.data.readers.text import table

T = TypeVar("T")
FUZZ = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def damaged(draw, content: bytes) -> bytes:
    """``content`` cut short, with some bytes replaced, or with every delimiter exchanged."""
    kind = draw(st.sampled_from(["cut", "bytes", "delimiter", "insert"]))
    if kind == "cut":
        return content[: draw(st.integers(0, len(content) - 1))]
    if kind == "delimiter":
        return content.replace(
            draw(st.sampled_from([b",", b" ", b"\n", b":"])), draw(st.sampled_from([b";", b"|", b"\t"]))
        )
    mutable = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(mutable) - 1))
        if kind == "insert":
            mutable[place:place] = draw(
                st.sampled_from([b"nan", b"inf", b"1e999", b"?", b",", b" ", b"\n", b"\0", b"_"])
            )
        else:
            mutable[place] = draw(st.integers(0, 255))
    return bytes(mutable)


def attempt(read: Callable[[], T], name: str) -> T | None:
    """What ``read`` gives, or None if it refuses with an error that starts with the file's name."""
    try:
        return read()
    except ValueError as error:
        if not str(error).startswith(name):
            raise
        return None


def test_a_table_may_be_separated_by_commas_or_blanks_and_carry_a_keel_header(tmp_path: Path) -> None:
    expected = [["1", "2.5", "a"], ["3", "-4", "b"]]
    for name, text in {
        "comma.data": "1,2.5,a\n3, -4 ,b\n",
        "blank.data": " 1 2.5  a\r\n3 -4 b\r\n\r\n",
        "keel.dat": "@relation x\n@data\n1, 2.5, a\n3, -4, b",
        "orange.tab": "A\tB\tC\nc\tc\td\n\t\tclass\n1\t2.5\ta\n3\t-4\tb\n",
    }.items():
        (tmp_path / name).write_text(text)
        assert list(table(tmp_path / name, 3)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3\n", r"x\.data, line 2: 1 fields, expected 2"),
        ("1,2\n3,4,5\n", r"x\.data, line 2: 3 fields"),
        ("1,2\n\n3,x\n", r"x\.data, line 3: field 2 is 'x', expected a finite number"),
        ("1,nan\n", "expected a finite number"),
        ("1,1e999\n", "expected a finite number"),
        ("1,1_0\n", "expected a finite number"),
        ("1,\n", "expected a finite number"),
        ("1;2\n", "1 fields"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.data").write_text(text)
    with pytest.raises(ValueError, match=message):
        table(tmp_path / "x.data", 2).numbers()


def test_an_unknown_class_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.data").write_text("1,yes\n2,maybe\n")
    with pytest.raises(ValueError, match=r"x\.data, line 2: value 'maybe' is none of no, yes"):
        table(tmp_path / "x.data", 2).codes(1, {"no": -1, "yes": 1})


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.data").write_bytes(b"1,\xff\n")
    with pytest.raises(ValueError, match="not ascii text"):
        table(tmp_path / "x.data", 2)


def test_rows_with_missing_values_can_be_dropped(tmp_path: Path) -> None:
    (tmp_path / "x.data").write_text("1,2\n?,3\n4,5\n")
    rows = table(tmp_path / "x.data", 2, complete=True)
    assert rows.numbers().tolist() == [[1, 2], [4, 5]]
    assert rows.where(1) == "x.data, line 3"


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_files_are_read_and_a_damaged_one_is_named(tmp_path: Path, suffix: str, pack) -> None:
    content = b"".join(b"%d,2\n" % i for i in range(2000))
    path = tmp_path / f"x.data.{suffix}"
    path.write_bytes(pack(content))
    with open_bytes(path) as stream:
        assert stream.read() == content
    path.write_bytes(pack(content)[:-20])
    with pytest.raises(ValueError, match=rf"x\.data\.{suffix}: damaged"), open_bytes(path) as stream:
        stream.read()
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match=rf"x\.data\.{suffix}: damaged"), open_bytes(path) as stream:
        stream.read()


def test_a_zip_archive_must_hold_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    for names, allowed in ((["a", "__MACOSX/._a"], True), (["a", "b"], False), ([], False)):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"content")
        if allowed:
            with open_bytes(path) as stream:
                assert stream.read() == b"content"
        else:
            with pytest.raises(ValueError, match="expected one file in the archive"), open_bytes(path):
                pass
    path.write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(ValueError, match=r"x\.zip: damaged"), open_bytes(path):
        pass


TABLE = b"".join(b"%.3f,%d,%s\n" % (i / 7, i, b"ab"[i % 2 : i % 2 + 1]) for i in range(12))


@FUZZ
@given(content=damaged(TABLE))
@example(content=TABLE)
def test_fuzzed_tables(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.data"
    path.write_bytes(content)

    def read() -> tuple[np.ndarray, np.ndarray]:
        rows = table(path, 3)
        return rows.numbers([0, 1]), rows.codes(2, {"a": -1, "b": 1})

    found = attempt(read, "x.data")
    if found is None:
        return
    X, y = found
    assert X.shape == (len(y), 2)
    assert len(y) <= 15
    assert np.isfinite(X).all()
    assert set(y.tolist()) <= {-1, 1}


def _svm(text: str, features: int = 5):
    return svmlight.parse(io.BytesIO(text.encode()), "x", features, {-1.0: -1, 1.0: 1})


def test_svmlight_indices_are_one_based_and_labels_mapped() -> None:
    X, y = _svm("+1 1:0.5 5:2\n-1 \n1 3:-1 # comment\n")
    assert X.toarray().tolist() == [[0.5, 0, 0, 0, 2], [0, 0, 0, 0, 0], [0, 0, -1, 0, 0]]
    assert y.tolist() == [1, -1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "+1 3:1 2:1\n",  # not sorted
        "+1 2:1 2:1\n",  # repeated
        "+1 6:1\n",  # beyond the last feature
        "+1 0:1\n",  # indices start at one
        "+1 1:nan\n",
        "+1 1:inf\n",
        "+1 1:1e999\n",
        "2 1:1\n",  # no class
        "nan 1:1\n",
        "+1 1,1\n",
        "+1 1:1 2\n",
        "a 1:1\n",
        "<html>",
    ],
)
def test_a_bad_svmlight_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^x[:,]"):
        _svm("-1 1:1\n" + text)


SVM = b"".join(
    b"%s %d:%.2f %d:1\n" % (b"+1" if i % 3 else b"-1", i % 3 + 1, i / 3, i % 4 + 5) for i in range(12)
)


@FUZZ
@given(content=damaged(SVM))
@example(content=SVM)
def test_fuzzed_svmlight(content: bytes) -> None:
    found = attempt(lambda: svmlight.parse(io.BytesIO(content), "x", 8, {-1.0: -1, 1.0: 1}), "x")
    if found is None:
        return
    X, y = found
    assert X.shape == (len(y), 8)
    assert len(y) <= 15
    assert np.isfinite(X.data).all()
    assert set(y.tolist()) <= {-1, 1}
    assert X.has_canonical_format


def _idx(array: np.ndarray) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def test_idx_round_trip(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(_idx(IMAGES))
    assert np.array_equal(idx.read(tmp_path / "x"), IMAGES)


@FUZZ
@given(content=damaged(_idx(IMAGES)))
def test_fuzzed_idx(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    found = attempt(lambda: idx.read(tmp_path / "x"), "x:")
    if found is not None:
        assert found.size == 24
        assert found.dtype == np.uint8


def test_mat_variables_must_be_there_and_numeric(tmp_path: Path) -> None:
    savemat(tmp_path / "x.mat", {"x": np.eye(2), "name": "text"})
    variables = mat.read(tmp_path / "x.mat")
    assert np.array_equal(mat.numeric(variables, "x", "x.mat"), np.eye(2))
    with pytest.raises(ValueError, match=r"x\.mat: no variable 'y', found name .*, x \(2x2\)"):
        mat.numeric(variables, "y", "x.mat")
    with pytest.raises(ValueError, match="not a numeric matrix"):
        mat.numeric(variables, "name", "x.mat")


@settings(FUZZ, max_examples=60)
@given(data=st.data())
def test_fuzzed_mat(tmp_path: Path, data: st.DataObject) -> None:
    buffer = io.BytesIO()
    savemat(buffer, {"x": np.arange(6.0).reshape(2, 3)})
    (tmp_path / "x.mat").write_bytes(data.draw(damaged(buffer.getvalue())))
    found = attempt(lambda: mat.numeric(mat.read(tmp_path / "x.mat"), "x", "x.mat"), "x.mat")
    assert found is None or found.ndim == 2


def _csv(path: Path, content: bytes, rows: int = 12, columns: int = 3) -> np.ndarray:
    path.write_bytes(content)
    return numeric_csv.read(path, rows, columns, block=5)


NUMBERS = b"".join(b"%d,%.3f,1.5e-3\n" % (i, i / 7) for i in range(12))


def test_a_large_table_is_read_block_by_block(tmp_path: Path) -> None:
    found = _csv(tmp_path / "x.csv", NUMBERS)
    assert found.dtype == np.float32
    assert found[:, 0].tolist() == list(range(12))
    assert np.array_equal(_csv(tmp_path / "x.csv.gz", gzip.compress(NUMBERS)), found)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (NUMBERS + b"1,2,3\n", "13 or more rows"),
        (NUMBERS[: NUMBERS.index(b"11,")], "11 rows, expected 12"),
        (b"1,2\n" * 12, "of 2 columns"),
        (NUMBERS.replace(b"6,0.857,1.5e-3", b"6,0.857"), "row 7 has a field that is missing"),
        (NUMBERS.replace(b"6,0.857,1.5e-3", b"6,0.857,1,2"), "Expected 3 fields in line 7"),
        (NUMBERS.replace(b"6,0.857", b"6,nan"), "row 7"),
        (NUMBERS.replace(b"6,0.857", b"6,1e999"), "row 7"),
        (NUMBERS.replace(b"6,0.857", b"6,x"), "x"),
        (NUMBERS.replace(b",", b";"), r"x\.csv"),
        (b"", "No columns"),
    ],
)
def test_a_bad_large_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        _csv(tmp_path / "x.csv", content)
    assert str(caught.value).startswith("x.csv:")


@FUZZ
@given(content=damaged(NUMBERS))
def test_fuzzed_large_tables(tmp_path: Path, content: bytes) -> None:
    found = attempt(lambda: _csv(tmp_path / "x.csv", content), "x.csv:")
    if found is not None:
        assert found.shape == (12, 3)
        assert np.isfinite(found).all()
