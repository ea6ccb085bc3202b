"""The first small job of a paper computes others ahead; whatever fails, each has its result."""

import argparse
import os
import time
from pathlib import Path

import pytest

from reproduction.run import compute_ahead

parser = argparse.ArgumentParser()
parser.add_argument("--data", nargs="*", type=Path)
for file in compute_ahead.FILES:
    parser.add_argument(f"--{file}", type=Path)


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start a job of those offered.

    Returns who computed its table, and how often it was done here.
    """
    (tmp_path / "data").touch()
    os.utime(tmp_path / "data", (0, 0))
    words = {}
    for name in ("p/one", "p/two", "p/bad", "q/one"):
        words[name] = ["--data", str(tmp_path / "data")]
        for file_kind in compute_ahead.FILES:
            words[name] += [f"--{file_kind}", str(tmp_path / f"{name}.{file_kind}")]
    for paper in "pq":
        (tmp_path / paper).mkdir()
    monkeypatch.setenv(compute_ahead.FOLDER, "")
    compute_ahead.offer(tmp_path / "together", words)

    def start(name, crash=None):
        def compute(arguments):
            if arguments.table.parent.name == "bad" and crash:  # computed ahead, below the folder
                crash()
            print(f"{name} says")
            for file_kind in compute_ahead.FILES:
                getattr(arguments, file_kind).write_text(name)

        compute_ahead.run(words[name], parser.parse_args, compute)
        return (tmp_path / f"{name}.table").read_text()

    return start


def test_a_job_computes_others_of_its_paper_which_then_only_take_their_files(
    start,
    tmp_path,
    capfd,
):
    assert start("p/one") == "p/one"
    assert start("p/two") == "p/one"
    assert "p/one says" in capfd.readouterr().out  # what a job prints when computed ahead
    assert (tmp_path / "p/two.points").stat().st_mtime > time.time() - 60
    assert start("q/one") == "q/one"  # of another paper


CRASHES = [lambda: os.kill(os.getpid(), 9), lambda: exec("raise SystemExit(1)")]


@pytest.mark.parametrize("crash", CRASHES)
def test_a_job_that_fails_or_dies_ahead_computes_by_itself_and_harms_no_other(crash, start):
    assert start("p/one", crash) == "p/one"
    assert start("p/two") in ("p/one", "p/two")
    assert start("p/bad") == "p/bad"


def test_what_was_computed_from_older_data_is_not_taken(start, tmp_path):
    start("p/one")
    (tmp_path / "data").touch()
    os.utime(tmp_path / "data", (time.time() + 9,) * 2)
    assert start("p/two") == "p/two"


def test_a_job_that_was_not_offered_or_is_alone_only_computes_itself(start, tmp_path, monkeypatch):
    monkeypatch.setenv(compute_ahead.FOLDER, "")
    assert start("p/one") == "p/one"
    assert start("p/two") == "p/two"
    (tmp_path / "together/99999999").mkdir()  # of a run that was killed
    compute_ahead.offer(tmp_path / "together", {"p/one": []})
    assert os.environ[compute_ahead.FOLDER] == ""
    assert [left.name for left in (tmp_path / "together").iterdir()] == [str(os.getpid())]
