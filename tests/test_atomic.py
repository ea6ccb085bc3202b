"""Files are whole or not there, and what killed processes left goes with the next write."""

import os

import pytest

from reproduction.results import replacing

DEAD = 2**22 + 1
"""No process has this number: it is above the largest one that Linux gives."""


def test_leftovers_of_dead_processes_go_and_those_of_living_ones_stay(tmp_path):
    path = tmp_path / "a.png"
    gone = [tmp_path / f".part.{DEAD}.a.png", tmp_path / f"..part.{DEAD}.a.png.part"]
    kept = [tmp_path / f"..part.{os.getppid()}.a.png.part", tmp_path / f".part.{DEAD}.b.png"]
    for file in gone + kept:
        file.write_text("half")
    with replacing(path) as part:
        part.write_text("whole")
    assert path.read_text() == "whole"
    assert not any(file.exists() for file in gone)
    assert all(file.exists() for file in kept)


def write_and_fail(path):
    with replacing(path) as part:
        part.write_text("new")
        raise ValueError("refused")


def test_after_an_error_the_old_file_is_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(ValueError, match="refused"):
        write_and_fail(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
