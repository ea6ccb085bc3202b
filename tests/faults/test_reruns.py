"""A digest is of all code that a job reads, and an edit runs again what it changes (samples of a script)."""

import pytest
from reruns import attack, more_than_listed
from smoke import TARGETS, Smoke

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return Smoke(tmp_path_factory.mktemp("reruns") / "checkout")


def test_a_digest_is_of_all_code_that_a_job_reads(smoke):
    jobs, more = more_than_listed(smoke.folder, ["noisy_online"], list(TARGETS))
    assert jobs
    assert more == []


def test_what_an_edit_changes_runs_again_and_nothing_else(smoke):
    smoke.clear()
    found = attack(smoke, 6, 1)
    assert (found["missed"], found["needless"]) == ([], [])
    assert found["due"]
