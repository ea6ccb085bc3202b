"""Result tables: exact columns, stable bytes, nothing written when a row is wrong; records."""

import hashlib
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.data.prepare import write_prepared
from reproduction.data.prepared import Dataset, array_digest
from reproduction.judge.claims import VerdictError
from reproduction.judge.verdicts import judge_files
from reproduction.plan.code_digest import digest_bytes
from reproduction.run import records
from reproduction.run.atomic_files import replacing
from reproduction.run.records import verify
from reproduction.run.results import COLUMNS, concatenate, read_table, write_rows
from reproduction.show.panels import RenderError
from reproduction.show.rendering import render

ROW = {"method": "ors", "repetition": 0, "metric": "mse", "x": 1.0, "value": 0.5}
ARTIFACT = Path(__file__).resolve().parents[2] / "src/papers/pnorm/hadamard.yaml"


def test_a_row_takes_the_defaults(tmp_path):
    write_rows([ROW | {"x": math.nan}], tmp_path / "t.csv")
    header = ",".join(COLUMNS)
    assert (tmp_path / "t.csv").read_text() == f"{header}\nsynthetic,synthetic,,,ors,0,mse,,0.5\n"


@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1, max_size=5))
def test_values_survive_to_ten_digits_and_labels_that_look_like_missing_values_stay_text(
    tmp_path_factory, values
):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    write_rows([ROW | {"value": value, "setting": "NA", "noise": ""} for value in values], path)
    frame = read_table(path)
    assert frame["value"].tolist() == pytest.approx(values, rel=1e-9, abs=0)
    assert frame["setting"][0] == "NA"
    assert frame["noise"][0] == ""


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW | {"value": math.nan}, "row 1: the value of mse of method ors .* is nan"),
        (ROW | {"value": math.inf}, "results must be finite"),
        (ROW | {"x": math.inf}, "row 1: x is infinite"),
        (ROW | {"colour": "red"}, r"row 1: unknown columns \['colour'\]"),
        ({"method": "ors"}, "row 1: missing columns"),
        (ROW | {"setting": "a,b"}, "row 1: setting 'a,b' holds a comma"),
    ],
)
def test_a_wrong_row_is_refused_and_nothing_is_written(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        write_rows([ROW, row], tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()


def test_tables_are_joined_in_order_and_a_damaged_one_is_named(tmp_path):
    parts = [tmp_path / f"{i}.csv" for i in range(3)]
    table = tmp_path / "t.csv"
    for i, part in enumerate(parts):
        write_rows([ROW | {"repetition": i}], part)
    concatenate([parts[2], parts[0]], table)
    assert read_table(table)["repetition"].tolist() == [2, 0]
    whole = parts[1].read_text()
    table.unlink()
    for damaged in (whole[:-3], whole.replace("method", "m"), "a,b\n1,2\n"):
        parts[1].write_text(damaged)
        with pytest.raises(ValueError, match=r"1\.csv is not a whole result table"):
            concatenate(parts, table)
        assert not table.exists()
    with pytest.raises(ValueError, match="a result table has"):
        read_table(parts[1])


# Where it comes from


def recorded(folder, data=()):
    """A table with its record, as the workflow leaves them."""
    table, points, record = folder / "table.csv", folder / "points.npz", folder / "record.json"
    write_rows([{"method": "lms", "repetition": 0, "metric": "loss", "x": 1, "value": 2.0}], table)
    points.write_bytes(b"PK")
    inputs = {str(file): digest_bytes(file) for file in data}
    decides = {"asked": {}, "inputs": inputs, "read": {}}
    informs = records.describe_numbers({"settings": {}}, {}, data) | records.where_made()
    records.write(record, decides, [table, points], informs)
    return table, records.facts(record)


def test_every_data_set_is_recorded_with_its_variant(tmp_path):
    files = [tmp_path / "ida_ringnorm.npz", tmp_path / "german.packaged.npz"]
    arrays = {"X": np.zeros((2, 1))}
    for file, variant in zip(files, ("rebuilt", "canonical"), strict=True):
        name = file.name.partition(".")[0]
        write_prepared(Dataset(name, "mirror", variant, arrays, array_digest(arrays)), file)
    _, record = recorded(tmp_path, files)
    assert record["data_variant"] == {"ida_ringnorm": "rebuilt", "german": "canonical"}
    digest = hashlib.sha256(files[1].read_bytes()).hexdigest()
    assert record["data_sha256"]["german.packaged.npz"] == digest
    assert record["points_sha256"] == hashlib.sha256(b"PK").hexdigest()
    assert record["packages"]["numpy"] == np.__version__


def test_the_table_of_its_record_passes_and_one_without_is_not_checked(tmp_path):
    table, _ = recorded(tmp_path)
    verify(table)
    table.with_name("record.json").unlink()
    table.write_text(table.read_text().replace(",2\n", ",1\n"))
    verify(table)


@pytest.mark.parametrize("edit", [(b",2\n", b",1\n"), (b"\n", b"\r\n"), (b"lms", b"nlms")])
def test_an_edit_by_hand_is_neither_drawn_nor_judged(tmp_path, edit):
    table, _ = recorded(tmp_path)
    table.write_bytes(table.read_bytes().replace(*edit))
    message = r"table\.csv is not the file that .*record\.json records .*; run again"
    with pytest.raises(RenderError, match=f"^hadamard: .*{message}"):
        render("stock:curves", "hadamard", {"hadamard": table}, {"hadamard": {}})
    with pytest.raises(VerdictError, match=message) as error:
        judge_files([ARTIFACT], [table], "smoke")
    assert "\n" not in str(error.value)


def test_a_record_that_cannot_be_read_is_named(tmp_path):
    table, _ = recorded(tmp_path)
    for content in ("", "{}", "[]", "\x00", '{"table_sha256"'):
        table.with_name("record.json").write_text(content)
        with pytest.raises(ValueError, match=r"record\.json cannot be read; delete it"):
            verify(table)


# Files that are whole or not there

DEAD = 2**22 + 1
"""No process has this number: it is above the largest one that Linux gives."""


def test_leftovers_of_dead_processes_go_and_those_of_living_ones_stay(tmp_path):
    path = tmp_path / "a.png"
    gone = [tmp_path / f".part.{DEAD}.a.png", tmp_path / f"..part.{DEAD}.a.png.part"]
    remaining = [tmp_path / f"..part.{os.getppid()}.a.png.part", tmp_path / f".part.{DEAD}.b.png"]
    for file in gone + remaining:
        file.write_text("half")
    with replacing(path) as part:
        part.write_text("whole")
    assert path.read_text() == "whole"
    assert not any(file.exists() for file in gone)
    assert all(file.exists() for file in remaining)


def test_after_an_error_the_old_file_is_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as part:
        part.write_text(f"new {1 / 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
