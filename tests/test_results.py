"""Result tables: exact columns, stable bytes, nothing written when a row is wrong."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.results import COLUMNS, concatenate, read_table, write_rows

ROW = {"method": "ors", "repetition": 0, "metric": "mse", "x": 1.0, "value": 0.5}


def test_a_row_takes_the_defaults(tmp_path):
    write_rows([ROW | {"x": math.nan}], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == ",".join(COLUMNS) + "\nsynthetic,synthetic,,,ors,0,mse,,0.5\n"


@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1, max_size=5))
def test_values_survive_to_ten_digits(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    write_rows([ROW | {"value": value} for value in values], path)
    assert read_table(path)["value"].tolist() == pytest.approx(values, rel=1e-9, abs=0)


def test_labels_that_look_like_missing_values_stay_text(tmp_path):
    write_rows([ROW | {"setting": "NA", "noise": ""}], tmp_path / "t.csv")
    frame = read_table(tmp_path / "t.csv")
    assert frame["setting"].tolist() == ["NA"]
    assert frame["noise"].tolist() == [""]


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


def test_concatenation_keeps_order_and_header(tmp_path):
    for i in range(3):
        write_rows([ROW | {"repetition": i}], tmp_path / f"{i}.csv")
    concatenate([tmp_path / "2.csv", tmp_path / "0.csv"], tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["repetition"].tolist() == [2, 0]


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-3], lambda text: text.replace("method", "m"), lambda _: ""]
)
def test_a_damaged_part_is_named(tmp_path, damage):
    part = tmp_path / "part.csv"
    write_rows([ROW], part)
    part.write_text(damage(part.read_text()))
    with pytest.raises(ValueError, match=r"part\.csv is not a whole result table"):
        concatenate([part], tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()


def test_a_foreign_table_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="a result table has"):
        read_table(tmp_path / "t.csv")
