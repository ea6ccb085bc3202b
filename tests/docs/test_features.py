"""The examples of the library's guides run; its table of features has a row for every class."""

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


def split_cells(line):
    """Split a line of a table into its cells."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_says_what_each_class_can(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs/_ext"), *sys.path])
    import api

    assert api.FEATURES in TEXTS[0]
    head, _, *rows = map(split_cells, api.features().split("\n"))
    abilities = {}
    for row in rows:
        name = row[0].strip("`")
        abilities[name] = {title for title, mark in zip(head, row, strict=True) if mark == "yes"}
    public = {name: getattr(noisylabels, name) for name in noisylabels.__all__}
    classes = [name for name, member in public.items() if isinstance(member, type)]
    assert set(abilities) == set(classes)
    flips, several = "learns flips", "more than two classes"
    weights = {"`sample_weight`", "`class_weight`"}
    assert weights | {"`predict_proba`", flips, several} <= abilities["RobustLogisticRegression"]
    assert weights | {"`predict_proba`"} <= abilities["AdaBoostClassifier"]
    assert not weights & abilities["BoundMinimiser"]
    assert weights | {"`predict_proba`", flips, several} <= abilities["CorrectedClassifier"]
    assert "`predict_proba`" not in abilities["KernelSVMClassifier"]
    assert {flips, several} == abilities["DawidSkene"]
    assert abilities["NLMS"] == {"`partial_fit`"}
