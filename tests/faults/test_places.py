"""Samples of `places.py`: after any disturbance one plain run gives the same bytes."""

import re

import pytest
from checkouts import ROOT
from places import CASES, RULES, killed, survive
from places import undisturbed as run_undisturbed
from smoke import Smoke

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A checkout, the files of a plain run, and its seconds."""
    smoke = Smoke(
        tmp_path_factory.mktemp("places"), ("noisy_online_averaging",)
    )  # blocks, and their collection
    seconds, files = run_undisturbed(smoke)
    return smoke, files, seconds


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            "two runs at once",
            "refused: another run in this checkout works on the same files; wait until it",
        ),
        ("no metadata", "worked"),
        ("a temporary folder with a long name", "worked"),
        ("files of 100 bytes", "refused: "),
        ("a full disk for collect", "refused: why: OSError: [Errno 28] No space"),
    ],
)
def test_a_state_that_is_not_as_it_should_be_costs_no_result(undisturbed, case, message):
    smoke, expected, _ = undisturbed
    outcome, wrong = survive(smoke, expected, CASES[case])
    assert wrong == []
    untried = ("worked", "two runs at once"), ("refused: not tried: no right to mount", case)
    # the second run came late, or we may not
    assert message in outcome or (outcome, case) in untried


@pytest.mark.parametrize(("share", "jobs_too"), [(0.5, True), (0.8, False)])
def test_after_a_kill_one_plain_run_gives_the_same_bytes(undisturbed, share, jobs_too):
    smoke, expected, seconds = undisturbed
    assert survive(smoke, expected, killed(share * seconds, jobs_too))[1] == []


def test_every_rule_that_writes_files_meets_a_full_disk_once():
    files = (ROOT / "workflow/rules").glob("*.smk")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    rules = re.findall(r"^rule (\w+):(.*?)(?=^rule |\Z)", text, re.M | re.S)
    writing = {name for name, body in rules if "output:" in body and name != "unknown"}
    assert {*writing, "draw_.*", "page_after_.*"} == set(RULES)  # two are made in loops
