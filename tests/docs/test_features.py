"""The page of features: its examples run, and its table has a row for every public class."""

import re
import sys

import pytest
from recipes import ROOT

import noisylabels

PAGE = (ROOT / "docs/features.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE, re.S))
def test_the_examples_hold_what_they_assert(code):
    assert "assert" in code
    exec(compile(code, "docs/features.md", "exec"), {})


def test_the_table_says_what_each_class_can(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs/_ext"), *sys.path])
    import api

    assert api.FEATURES in PAGE
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
