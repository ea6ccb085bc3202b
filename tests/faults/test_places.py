"""Samples of `places.py`: a run survives the states that runs of the past leave behind."""

import pytest
from places import changed, plain, survive
from smoke import Smoke

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    smoke = Smoke(tmp_path_factory.mktemp("places"))
    smoke.display = ["--logger", "console"]
    assert plain(smoke) == ""
    return smoke, smoke.files()


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (
            "two runs at once",
            "refused: another run in this checkout works on the same files; wait until it has ended",
        ),
        ("damaged metadata", "worked"),
        (
            "little memory",
            "refused: run: a process may take 400 MB here (ulimit -v); a run needs 1024",
        ),
    ],
)
def test_a_state_that_is_not_as_it_should_be_costs_no_result(undisturbed, case, told):
    smoke, expected = undisturbed
    found, wrong = survive(smoke, expected, case)
    assert wrong == []
    assert found == told or (found, case) == ("worked", "two runs at once")  # if the second came too late


def test_an_output_whose_record_is_damaged_is_made_again(undisturbed):
    smoke, expected = undisturbed
    smoke.clear()
    assert plain(smoke) == ""
    table = smoke.folder / "results/smoke/noisy_online/noisy_scoring/table.csv"
    before = table.stat().st_mtime_ns
    for record in (smoke.folder / ".snakemake/metadata").rglob("*"):
        if record.is_file() and b"noisy_scoring/table.csv" in record.read_bytes():
            record.write_bytes(b"\xff\xfe")
    assert plain(smoke) == ""
    assert table.stat().st_mtime_ns > before
    assert changed(smoke, expected) == []
