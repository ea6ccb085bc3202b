"""A statistic is one entry: checks accept it, pages word it, and the documentation lists it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from reproduction.judge.check_statistics import STATISTICS
from reproduction.judge.claims import Check
from reproduction.judge.sentences import Sentences

DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs/verdicts.md"
SIDES = {"a": {"method": "ours"}, "b": {"method": "theirs"}, "base": {"method": "plain"}}


def check_of(name):
    formula = "".join(STATISTICS[name].formula("<a>", "<b>", "<base>"))
    sides = {side: selector for side, selector in SIDES.items() if f"<{side}>" in formula}
    return {"statistic": name, "below": 1.0} | sides


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_is_accepted_worded_and_documented(name):
    check = check_of(name)
    assert Check.model_validate(check).statistic == name
    assert "ours" in Sentences().quantity(check)
    assert STATISTICS[name].meaning in DOCUMENTATION.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name, each in STATISTICS.items() if each.is_paired])
def test_equal_sides_have_no_effect(name):
    a = pd.Series([0.1, 2.0, 30.0])
    neutral = {"ratio": 1.0}.get(name, 0.0)
    np.testing.assert_array_equal(STATISTICS[name].compare(a, a * (1 + 1e-12)), neutral)


def test_a_log_ratio_changes_its_sign_with_its_sides():
    a = pd.Series([0.1, 2.0, 30.0])
    b = pd.Series([7.0, 0.3, 1.0])
    compare = STATISTICS["log_ratio"].compare
    np.testing.assert_allclose(compare(a, b), -compare(b, a), rtol=1e-14)


@pytest.mark.parametrize("name", ["ratio", "log_ratio"])
def test_what_a_statistic_needs_of_its_values_is_said(name):
    with pytest.raises(ValueError, match="needs"):
        STATISTICS[name].compare(pd.Series([1.0]), pd.Series([0.0]))


def test_an_unknown_statistic_is_refused():
    with pytest.raises(ValidationError, match="log_ratio"):
        Check.model_validate({"statistic": "quotient", "a": SIDES["a"], "below": 0})
