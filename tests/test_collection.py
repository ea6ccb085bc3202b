"""To collect the tests costs every worker the same, so no module of tests does work when it is imported."""

from opened import OPENED
from project import ROOT

PARSED_IN_TESTS = (
    "results",
    "figures",
    "site",
    "src/papers",
    "src/papers",
    "data/raw",
    "data/prepared",
)
"""Folders whose files are read within a test, not before it."""


def test_no_result_and_no_artifact_is_read_before_the_first_test():
    early = [file.relative_to(ROOT).as_posix() for file in OPENED if file.is_relative_to(ROOT)]
    assert [file for file in early if file.startswith(PARSED_IN_TESTS) and not file.endswith(".py")] == []


def test_the_registry_is_read_at_most_once_before_the_first_test():
    assert OPENED.get(ROOT / "config/datasets.yaml", 0) <= 1
