"""A sample of `wild_tables.py`: a table is understood as it is written, or refused in one line."""

import numpy as np
import pandas as pd
import pytest
from wild_tables import attack, differences

from noisylabels.auditing import tables


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.nightly)])
def test_random_tables_are_read_as_they_are_written_or_refused(tmp_path, count):
    outcomes, examples = attack(count, 7, tmp_path)
    assert examples == {}
    assert outcomes["read"] > count / 4
    assert outcomes["refused"] > count / 4


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        (("a", "0.5"), "values of a"),
        (("b", "red"), "words of b"),
        (("y", "1"), "labels merged or split"),
    ],
)
def test_a_wrong_reading_is_seen(tmp_path, cell, fault):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=60).round(3)
    words = rng.choice(["red", "blue", "green"], 60)
    frame = pd.DataFrame({"a": numbers, "b": words})
    frame["y"] = np.repeat(["1", "2"], 30)
    frame = frame.astype(str)
    frame.to_csv(tmp_path / "table.csv", index=False)
    table = tables.read(tmp_path / "table.csv", "y")
    assert differences(table, frame) == []
    name, text = cell
    assert frame.loc[59, name] != text
    frame.loc[59, name] = text
    assert fault in differences(table, frame)
