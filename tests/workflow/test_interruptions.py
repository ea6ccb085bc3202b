"""After a kill, a full disk or an edit, one plain run gives the same bytes (samples of tests/faults)."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow
FAULTS = Path(__file__).resolve().parents[1] / "faults"


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        ("kills", ["--count", "2"], "0 failures"),
        ("full_disk", ["--sizes", "100"], "0 failures"),
        ("reruns", ["--papers", "pnorm", "--every", "60"], "0 missed"),
    ],
)
def test_a_sample_of(script, options, message):
    done = subprocess.run(
        [sys.executable, FAULTS / f"{script}.py", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert message in done.stdout
