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


@pytest.fixture(scope="module")
def scaling(benchmark):
    return benchmark("scaling")


def line(method="ors", seconds=(1.0, 2.0, 4.0, 8.0), peer=(2.0, 4.0, 8.0, 16.0), exponent=1.0):
    return {
        "room": "filters",
        "method": method,
        "against": "T",
        "theory": [1.0, 1.0],
        "peer": "another",
        "sizes": [10, 20, 40, 80],
        "seconds": list(seconds),
        "peer_seconds": list(peer),
        "exponent": exponent,
        "mb": 1.0,
        "memory_exponent": 1.0,
    }


MACHINE = {"processor": "x", "load": 1.0, "python": "3", "packages": {}, "read_gb_per_second": 10.0}


def test_every_method_is_measured(benchmark):
    lines = []
    for make_lines in benchmark("scaling_lines").ROOMS.values():
        lines += make_lines()
    assert {line.method for line in lines} == set(METHODS)
    assert {line.against for line in lines} == {"T", "n", "d", "models"}


def record(*lines):
    return {"machine": MACHINE, "lines": list(lines)}


def test_what_moved_is_told_by_ratios_to_the_peer_of_the_same_process(scaling):
    before = {"lines": [line("ors"), line("lms")]}
    slower = line("ors", seconds=(2.0, 4.0, 8.0, 16.0))
    on_a_slower_machine = line("lms", seconds=(3.0, 6.0, 12.0, 24.0), peer=(6.0, 12.0, 24.0, 48.0))
    moved = scaling.blocks(record(slower, on_a_slower_machine), before)["moved"]
    assert "| ors | T | another | 2.00 |" in moved
    assert "lms" not in moved
    unchanged = scaling.blocks(record(line()), before)
    assert unchanged["moved"] == "Nothing by more than a quarter."


def test_an_exponent_is_the_slope_of_the_largest_sizes_and_one_off_the_theory_is_counted(scaling):
    slope = scaling.slope([1, 10, 20, 40, 80], [99.0, 1.0, 4.0, 16.0, 64.0])
    assert slope == pytest.approx(2)
    recorded = record(line(), line("lms", exponent=1.2))
    table = io.StringIO(scaling.format_table(recorded))
    assert [row["agrees"] for row in csv.DictReader(table)] == ["yes", "no"]
    block = scaling.blocks(recorded, {})
    assert block["summary"].startswith("1 of 2 exponents")


def test_the_page_shows_what_is_recorded(benchmark, scaling):
    folder = ROOT / "benchmarks/recorded"
    recorded = json.loads((folder / "scaling.json").read_text(encoding="utf-8"))
    blocks = scaling.blocks(recorded, {})
    blocks.pop("moved")
    text = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
    pages = benchmark("pages")
    for name, block in blocks.items():
        assert pages.replaced(text, name, block) == text
    table = (folder / "scaling.csv").read_text(encoding="utf-8")
    assert table == scaling.format_table(recorded)
    with pytest.raises(ValueError, match="the page has no block <!-- other -->"):
        pages.replaced("text", "other", "x")


def test_a_method_that_fails_is_named_and_the_others_are_measured(scaling, monkeypatch):
    def broken(size):
        raise ValueError("too small")

    def work(size):
        return lambda: sum(range(size))

    def peer(size):
        return work(size), 1.0

    good = scaling.Line("filters", "good", "T", (1.0, 1.0), "sum", 1000, work, peer)
    bad = good._replace(method="bad", make=broken)
    monkeypatch.setitem(scaling.ROOMS, "filters", lambda: iter([bad, good]))
    (measured,), failed = scaling.collected(["filters"], limit=0.001, turns=2)
    assert measured["method"] == "good"
    assert failed[0].endswith("ValueError: too small")
    sizes = measured["sizes"]
    assert len(sizes) == len(measured["seconds"]) == len(measured["peer_seconds"]) >= 3
