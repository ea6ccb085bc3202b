"""A digest is of all code that a job reads, and an edit runs again what it changes (samples of a script)."""

import pytest
from reruns import PAPERS, attack, more_than_listed, traced
from smoke import TARGETS, Smoke

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return Smoke(tmp_path_factory.mktemp("reruns") / "checkout")


@pytest.fixture(scope="module")
def jobs(smoke):
    """Every job of a run, with what it read."""
    return traced(smoke.folder, PAPERS, list(TARGETS))


def test_a_digest_is_of_all_code_that_a_job_reads(smoke, jobs):
    assert jobs
    assert more_than_listed(smoke.folder, jobs) == []


def test_what_an_edit_changes_runs_again_and_nothing_else(smoke, jobs):
    found = attack(smoke, jobs, 6, 1)
    assert (found["missed"], found["needless"]) == ([], [])
    assert found["due"]
