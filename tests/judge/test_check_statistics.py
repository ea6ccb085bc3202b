"""A statistic is one entry: checks accept it, pages word it, and the documentation lists it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from synthetic_tables import curve, table
from verdict_inputs import around, claim, difference_check, one_verdict, printed

from reproduction.judge.check_statistics import STATISTICS, Reduction, Statistic
from reproduction.judge.claims import Check
from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge

DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs/verdicts.md"
SIDES = {"a": {"method": "ours"}, "b": {"method": "theirs"}, "base": {"method": "plain"}}


def spread_of(values):
    return float(np.std(values, ddof=1)) if values.size > 1 else float("nan")


SPREAD = Statistic(
    meaning="`spread`, the standard deviation over the repetitions",
    formula=lambda a, b, base: ["standard deviation of ", a],
    reduction=Reduction(spread_of, "one realisation has no spread", "the spread is not defined"),
)
"""A statistic that is not a mean, in place of an entry."""


def check_of(name):
    formula = "".join(STATISTICS[name].formula("<a>", "<b>", "<base>"))
    sides = {side: selector for side, selector in SIDES.items() if f"<{side}>" in formula}
    bound = {"below": 1.0}
    if STATISTICS[name].counts_losses:
        bound = {"at_most": 0, "level": 0.05, "for_each": ["dataset"]}
    return {"statistic": name} | bound | sides


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_is_accepted_worded_and_documented(name):
    check = check_of(name)
    assert Check.model_validate(check).statistic == name
    assert "ours" in Sentences().quantity(check)
    assert STATISTICS[name].meaning in DOCUMENTATION.read_text(encoding="utf-8")


PAIRED = [name for name, statistic in STATISTICS.items() if statistic.is_paired]


@pytest.mark.parametrize("name", PAIRED)
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


def test_an_entry_without_a_reduction_is_refused():
    with pytest.raises(TypeError, match="reduction"):
        Statistic(meaning="`spread`", formula=lambda a, b, base: ["spread of ", a])


def test_one_entry_is_enough_for_a_statistic_that_is_not_a_mean(monkeypatch):
    """Its number is judged, and not the mean, which is far above the bound."""
    monkeypatch.setitem(STATISTICS, "value", SPREAD)
    check = {"statistic": "value", "where": {"method": "ours"}, "below": 0.6}
    entry = claim(check)
    row = one_verdict(entry, table(curve(around(10, sd=0.5))))
    assert row["verdict"] == "reproduced"
    assert row["estimate"] == pytest.approx(0.5)
    wider = table(curve(around(10, sd=0.7)))
    assert one_verdict(entry, wider)["verdict"] == "not_reproduced"
    single = one_verdict(entry, table(curve([10.0])))
    assert single["verdict"] == "inconclusive"
    assert "one realisation has no spread" in Sentences().evidence(single)


def test_the_power_of_a_claim_has_a_statistic_that_is_not_a_mean(monkeypatch):
    monkeypatch.setitem(STATISTICS, "value", SPREAD)
    check = {"statistic": "value", "where": {"method": "ours"}, "below": 1.0}
    theirs = printed(id="w", value=12.0, where={"method": "theirs", "metric": "error"})
    artifact = {"published": [printed(), theirs], "claims": [claim(check, difference_check())]}
    frame = table(curve(around(10, sd=0.5)), curve(around(12, seed=1), method="theirs"))
    assert judge(artifact, frame, "full").set_index("id").loc["c", "power"] > 0.9


def test_a_statistic_that_is_not_a_mean_has_no_trend(monkeypatch):
    check = {"statistic": "value", "a": SIDES["a"], "increasing": {"noise": ["low", "high"]}}
    assert Check.model_validate(check).trend
    monkeypatch.setitem(STATISTICS, "value", SPREAD)
    with pytest.raises(ValidationError, match="value cannot be increasing; give it a bound"):
        Check.model_validate(check)


def test_the_relative_error_of_a_mean_of_zero_is_not_defined():
    check = {"statistic": "relative_se", "where": {"method": "ours"}, "below": 0.05}
    row = one_verdict(claim(check), table(curve([-1.0, 1.0])))
    assert row["verdict"] == "inconclusive"
    assert "the mean is 0" in Sentences().evidence(row)
