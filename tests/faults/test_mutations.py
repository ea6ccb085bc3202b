"""A sample of `mutate.py`: no mutated file gets past a reader or a hash, or ends the process."""

import pytest
from changes import CHECKS, silent_changes
from mutate import attack, mutated
from seeds import CASES


@pytest.mark.parametrize("count", [8, pytest.param(24, marks=pytest.mark.nightly)])
def test_a_mutated_file_is_read_or_refused_and_nothing_else(count: int) -> None:
    for reader, outcomes in attack([*CASES], count).items():
        assert outcomes["files"] == count, reader
        assert outcomes["escaped"] == [], reader
        assert set(outcomes["found"]) <= {"read", "refused", "too large"}, reader
        assert outcomes["seconds"] < 20, reader
        assert outcomes["megabytes"] < 1024, reader


@pytest.mark.parametrize("kind", CHECKS)
def test_mutated_data_are_refused_or_the_same(kind: str) -> None:
    outcomes = silent_changes(kind, 150)
    assert outcomes["silent"] == 0
    assert outcomes["other errors"] == []
    assert outcomes["refused"] > 75


def test_mutations_are_the_same_in_every_run_and_differ_from_each_other() -> None:
    for case in CASES.values():
        files = [mutated(case, number) for number in range(40)]
        assert files == [mutated(case, number) for number in range(40)]
        assert len(set(files)) > 30
