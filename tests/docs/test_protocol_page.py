"""The examples of the page on protocols are a paper that is right, and run as they are written."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from reproduction.judge import paper_check
from reproduction.run import protocol_loop
from reproduction.spec import settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\w+\n# ~/mine/(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROWS = {
    "impulses": 80,
    "robust_regression": 4,
    "three_classes": 12,
    "two_classes": 8,
}
"""Example -> rows of one repetition: methods x noise x metrics, or windows."""


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """The paper of the page, written as the page says."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in BLOCK.findall(PAGE):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    yield tmp_path / "examples"
    for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        del sys.modules[name]


def test_every_example_is_read_and_runs(examples):
    report = paper_check.read_paper(examples)
    assert report.faults == []
    paper_check.run_paper(examples, report)
    assert report.faults == []
    results = {}
    for remark in report.remarks:
        name, rows = re.search(r"(\w+)\.yaml: (\d+) rows of one repetition", remark).groups()
        results[name] = int(rows)
    assert results == ROWS


def test_the_page_names_what_a_repetition_the_loop_and_the_settings_have():
    context = PAGE.partition("## The context of a repetition")[2].partition("\n## ")[0]
    repetition = protocol_loop.Repetition(np.random, 0, {})
    for name in re.findall(r"^\| `(\w+)", context, re.MULTILINE):
        assert hasattr(repetition, name), name
    loop = PAGE.partition("## The loop")[2].partition("\n## ")[0]
    for name in re.findall(r"loop\.(\w+)\(", loop):
        assert hasattr(protocol_loop.Loop, name), name
    types = PAGE.partition("## Field types")[2].partition("\n## ")[0]
    for name in re.findall(r"`([A-Z]\w+)", types):
        if name not in ("MyClass", "Field"):
            assert hasattr(settings, name), name
