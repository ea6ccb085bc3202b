"""A Slurm on one machine for all tests of this folder; without one they are skipped."""

import fcntl

import pytest
from one_machine import LOCK, Slurm, lacking


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if reason := lacking():
        pytest.skip(reason)
    with LOCK.open("w") as lock:
        # Tests that run side by side take turns: the ports are the same.
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = Slurm(tmp_path_factory.mktemp("slurm") / "state")
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
