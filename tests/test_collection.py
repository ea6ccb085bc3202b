"""Every worker collects all tests, so no module of tests does work when it is imported."""

from collections import Counter

from opened import OPENED
from project import ROOT

PARSED_IN_TESTS = (
    "results",
    "figures",
    "site",
    "src/papers",
    "data/raw",
    "data/prepared",
)
"""Folders whose files are read within a test, not before it."""


def test_no_result_and_no_artifact_is_read_before_the_first_test():
    early = [file.relative_to(ROOT).as_posix() for file in OPENED if file.is_relative_to(ROOT)]
    sources = [file for file in early if "__pycache__" not in file]
    parsed = [file for file in sources if file.startswith(PARSED_IN_TESTS)]
    # Commands in pages are cases of tests.
    assert [file for file in parsed if not file.endswith((".py", ".md"))] == []


def test_no_two_test_files_have_one_name():
    """pytest imports them by their names, and would refuse the second one."""
    names = Counter(file.name for file in ROOT.glob("tests/**/test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_registry_is_read_at_most_once_before_the_first_test():
    assert OPENED.get(ROOT / "config/datasets.yaml", 0) <= 1
