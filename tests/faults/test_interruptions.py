"""After a kill, a full disk or an edit, one plain run gives the same bytes (samples of scripts here)."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from edits import attack
from full_disk import small_files
from kills import survive
from smoke import TARGETS, Smoke

pytestmark = pytest.mark.workflow


def test_after_kills_and_a_full_disk_one_plain_run_gives_the_same_bytes(tmp_path):
    smoke = Smoke(tmp_path / "checkout")
    status, output = smoke.run()
    assert status == 0, output
    expected, start = smoke.files(), time.monotonic()
    assert small_files(smoke, expected, 100) == []
    seconds = (time.monotonic() - start) / 2  # of one run
    for share, jobs_too in ((0.5, True), (0.8, False)):
        assert survive(smoke, expected, share * seconds, jobs_too)[1] == ""


def test_a_digest_is_of_all_code_that_a_job_reads():
    script = Path(__file__).with_name("reruns.py")
    command = [sys.executable, script, "--papers", "noisy_online", "--targets", *TARGETS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 read more than" in done.stdout


def test_what_an_edit_changes_runs_again_and_nothing_else(tmp_path):
    found = attack(Smoke(tmp_path / "checkout"), 6, 1)
    assert (found["missed"], found["needless"]) == ([], [])
    assert found["due"]
