"""The benchmark of scaling: every method has lines, exponents are slopes, pages show records."""

import csv
import importlib
import io
import json
import sys
from pathlib import Path

import pytest

from noisylabels import METHODS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield lambda name: importlib.import_module(name)
    sys.path.remove(str(ROOT / "benchmarks"))


def line(method="ors", seconds=(1.0, 2.0, 4.0, 8.0), peer=(2.0, 4.0, 8.0, 16.0), exponent=1.0):
    block = {"room": "filters", "method": method, "against": "T", "theory": [1.0, 1.0]}
    block["peer"] = "another"
    measured = {"sizes": [10, 20, 40, 80], "seconds": list(seconds), "peer_seconds": list(peer)}
    return block | measured | {"exponent": exponent, "mb": 1.0, "memory_exponent": 1.0}


MACHINE = {"processor": "x", "load": 1.0, "python": "3", "packages": {}, "read_gb_per_second": 10.0}


def test_every_method_is_measured(benchmark):
    lines = []
    for make_lines in benchmark("scaling_lines").ROOMS.values():
        lines += make_lines()
    assert {line.method for line in lines} == set(METHODS)
    assert {line.against for line in lines} == {"T", "n", "d", "models"}


def test_what_moved_is_told_by_ratios_to_the_peer_of_the_same_process(benchmark):
    blocks = benchmark("scaling").blocks
    before = {"lines": [line("ors"), line("lms")]}
    slower = line("ors", seconds=(2.0, 4.0, 8.0, 16.0))
    on_a_slower_machine = line("lms", seconds=(3.0, 6.0, 12.0, 24.0), peer=(6.0, 12.0, 24.0, 48.0))
    moved = blocks({"machine": MACHINE, "lines": [slower, on_a_slower_machine]}, before)["moved"]
    assert "| ors | T | another | 2.00 |" in moved
    assert "lms" not in moved
    base = {"machine": MACHINE, "lines": [line()]}
    assert blocks(base, before)["moved"] == "Nothing by more than a quarter."


def test_an_exponent_is_the_slope_of_the_largest_sizes_and_one_off_the_theory_is_counted(benchmark):
    slope = benchmark("scaling").slope([1, 10, 20, 40, 80], [99.0, 1.0, 4.0, 16.0, 64.0])
    assert slope == pytest.approx(2)
    lines = [line(), line("lms", exponent=1.2)]
    block = benchmark("scaling").blocks({"machine": MACHINE, "lines": lines}, {})
    table = benchmark("scaling").format_table({"machine": MACHINE, "lines": lines})
    assert [row["agrees"] for row in csv.DictReader(io.StringIO(table))] == ["yes", "no"]
    assert block["summary"].startswith("1 of 2 exponents")


def test_the_page_shows_what_is_recorded(benchmark):
    recorded = json.loads((ROOT / "benchmarks/recorded/scaling.json").read_text(encoding="utf-8"))
    blocks = benchmark("scaling").blocks(recorded, {})
    blocks.pop("moved")
    text = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
    for name, block in blocks.items():
        assert benchmark("pages").replaced(text, name, block) == text
    table = (ROOT / "benchmarks/recorded/scaling.csv").read_text(encoding="utf-8")
    assert table == benchmark("scaling").format_table(recorded)
    with pytest.raises(ValueError, match="the page has no block <!-- other -->"):
        benchmark("pages").replaced("text", "other", "x")


def test_a_method_that_fails_is_named_and_the_others_are_measured(benchmark, monkeypatch):
    scaling = benchmark("scaling")

    def broken(size):
        raise ValueError("too small")

    work = lambda size: lambda: sum(range(size))  # noqa: E731
    peer = lambda size: (work(size), 1.0)  # noqa: E731
    line = scaling.Line("filters", "good", "T", (1.0, 1.0), "sum", 1000, work, peer)
    two_lines = [line._replace(method="bad", make=broken), line]
    monkeypatch.setitem(scaling.ROOMS, "filters", lambda: iter(two_lines))
    lines, failed = scaling.collected(["filters"], limit=0.001, turns=2)
    assert [line_of_table["method"] for line_of_table in lines] == ["good"]
    assert failed[0].endswith("ValueError: too small")
    assert len(lines[0]["sizes"]) == len(lines[0]["seconds"]) == len(lines[0]["peer_seconds"]) >= 3
