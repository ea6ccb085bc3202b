"""Locks: those of the dead go, those of the living stay."""

import subprocess
import sys

import pytest

from reproduction.frame import owner

HOLD = """
import sys, time
from pathlib import Path
from reproduction.frame import owner
held = owner.claim(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def locks(tmp_path):
    files = [tmp_path / f"locks/0.{kind}.lock" for kind in ("input", "output")]
    files[0].parent.mkdir()
    for file in files:
        file.write_text("results/table.csv\n")
    return files


def test_locks_that_nobody_holds_are_removed(tmp_path, locks):
    owner.claim(tmp_path).close()
    assert not any(file.exists() for file in locks)


def test_locks_of_a_living_run_stay_until_it_is_killed(tmp_path, locks):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": "src"},
    )
    assert process.stdout.readline() == "held\n"
    for file in locks:
        file.write_text("results/table.csv\n")
    first = owner.claim(tmp_path)
    assert all(file.exists() for file in locks)
    second = owner.claim(tmp_path)  # several dry runs beside it
    process.kill()
    process.communicate()
    owner.claim(tmp_path).close()
    assert all(file.exists() for file in locks)  # the two others are alive
    first.close()
    second.close()
    owner.claim(tmp_path).close()
    assert not any(file.exists() for file in locks)


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    assert owner.claim(tmp_path / "file") is None
