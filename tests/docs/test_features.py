"""The examples of the library's guides run, and its table of features has a row for every public class."""

import re
import sys

import pytest
from recipes import ROOT

import noisylabels

PAGES = ("library", "crowds", "tutorials/flips", "tutorials/filter")
TEXTS = [(ROOT / f"docs/{page}.md").read_text(encoding="utf-8") for page in PAGES]
BLOCKS = re.findall(r"```python\n(.*?)```", "".join(TEXTS), re.S)
ALONE = [code for code in BLOCKS if "assert " in code]
"""Blocks that check what they compute; each runs without the blocks before it."""


def test_every_guide_of_the_library_has_examples_that_check_themselves():
    assert len(ALONE) >= 5
    assert all("assert " in text for text in TEXTS[1:])


@pytest.mark.parametrize("code", ALONE)
def test_the_examples_hold_what_they_assert(code):
    exec(compile(code, "docs", "exec"), {})


def test_the_table_says_what_each_class_can(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs/_ext"), *sys.path])
    import api

    assert api.FEATURES in TEXTS[0]
    head, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in api.features().split("\n")
    )
    found = {
        row[0].strip("`"): {name for name, mark in zip(head, row, strict=True) if mark == "yes"}
        for row in rows
    }
    assert set(found) == {
        name for name in noisylabels.__all__ if isinstance(getattr(noisylabels, name), type)
    }
    flips, several = "learns flips", "more than two classes"
    weights = {"`sample_weight`", "`class_weight`"}
    assert weights | {"`predict_proba`", flips, several} <= found["RobustLogisticRegression"]
    assert weights | {"`predict_proba`"} <= found["AdaBoostClassifier"]
    assert not weights & found["BoundMinimiser"]
    assert weights | {"`predict_proba`", flips, several} <= found["CorrectedClassifier"]
    assert "`predict_proba`" not in found["KernelSVMClassifier"]
    assert {flips, several} == found["DawidSkene"]
    assert found["NLMS"] == {"`partial_fit`"}
