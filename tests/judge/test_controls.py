"""The power of a claim and the other methods that pass, against cases that are known."""

import numpy as np
import pytest
from synthetic_tables import curve, table
from verdict_inputs import claim, difference_check, printed

from reproduction.judge.controls import replace_method
from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge
from reproduction.spec.verdict_words import describe


def run_of(gap, sd=1.0, n=20, seed=0, methods=("ours", "theirs")):
    """A table in which ours is lower than theirs by a gap, with independent errors."""
    rng = np.random.default_rng(seed)
    ours, *others = methods
    curves = [curve(10 - gap + sd * rng.standard_normal(n), method=ours)]
    for other in others:
        curves.append(curve(10 + sd * rng.standard_normal(n), method=other))
    return table(*curves)


def published_gap(gap):
    """Make published values of both methods that differ by so much."""
    ours = {"method": "ours", "metric": "error"}
    theirs = {"method": "theirs", "metric": "error"}
    return [
        printed(id="v", value=10.0 - gap, where=ours),
        printed(id="w", value=10.0, where=theirs),
    ]


def judged(frame, published, *claims):
    artifact = {"published": published, "claims": list(claims)}
    return judge(artifact, frame, "full").set_index("id")


def test_the_power_is_that_of_the_test_at_the_published_values():
    """For a difference of two standard errors the paired t-test rejects in 0.64 of the runs."""
    frame = run_of(gap=5.0, n=400)
    values = frame.pivot(index="repetition", columns="method", values="value")
    differences = values["ours"] - values["theirs"]
    two_errors = 2 * differences.std(ddof=1) / np.sqrt(400)

    def power(frame, gap):
        verdicts = judged(frame, published_gap(gap), claim(difference_check()))
        return verdicts.loc["c", "power"]

    assert power(frame, two_errors) == pytest.approx(0.638, abs=0.06)
    assert power(frame, 5.0) == 1
    in_another_order = frame.sample(frac=1, random_state=1)
    assert power(in_another_order, two_errors) == power(frame, two_errors)


def test_a_claim_that_exact_values_would_not_pass_is_never_reproduced():
    frame = run_of(gap=5.0)
    weaker_form = claim(difference_check(), id="f", form_of="c")
    verdicts = judged(frame, published_gap(0.01), claim(difference_check()), weaker_form)
    strict = verdicts.loc["c"]
    assert strict["verdict"] == "inconclusive"
    assert strict["flags"] == "too_strict"
    assert strict["otherwise"] == "reproduced"
    opposite = judged(run_of(gap=-5.0), published_gap(0.01), claim(difference_check()))
    assert opposite.loc["c", "verdict"] == "not_reproduced"
    assert opposite.loc["c", "flags"] == "too_strict"


def test_a_claim_about_unpublished_rows_has_no_power():
    frame = run_of(gap=5.0)
    ours, _ = published_gap(1.0)
    for published in ([], [ours]):
        verdicts = judged(frame, published, claim(difference_check()))
        assert np.isnan(verdicts.loc["c", "power"])
        assert verdicts.loc["c", "verdict"] == "reproduced"
        assert verdicts.loc["c", "flags"] == ""


def test_methods_that_pass_as_well_are_counted():
    frame = run_of(gap=5.0, methods=("ours", "theirs", "third"))
    third = frame["method"] == "third"
    frame.loc[third, "value"] -= 4.0
    row = judged(frame, [], claim(difference_check())).loc["c"]
    assert row["others_passing"] == 1
    assert row["others"] == 1
    sentence = Sentences.describe_controls(row)
    assert sentence == "The other method passes the same checks."
    frame.loc[third, "value"] += 8.0
    row = judged(frame, [], claim(difference_check())).loc["c"]
    assert row["others_passing"] == 0


def test_an_order_of_methods_and_a_claim_without_methods_have_no_others():
    order = {"statistic": "value", "increasing": {"method": ["ours", "theirs"]}}
    without_methods = {"statistic": "value", "where": {"metric": "error"}, "below": 0}
    quantities = claim(difference_check(), no_others=True)
    methods = ["ours", "theirs", "third"]
    for entry in (claim(order), claim(without_methods), quantities):
        assert replace_method(entry, methods) == []
    (variant,) = replace_method(claim(difference_check()), methods)
    (check,) = variant["checks"]
    assert check["a"]["method"] == "third"


def test_a_claim_on_other_data_says_so_next_to_its_verdict():
    elsewhere = claim(difference_check(), data_differ=True, expected="on set a")
    frame = run_of(gap=5.0)
    verdicts = judged(frame, [], elsewhere, claim(difference_check(), id="other"))
    assert describe(verdicts.loc["c"]) == "reproduced (data differ)"
    assert describe(verdicts.loc["other"]) == "reproduced"
    strict = judged(frame, published_gap(0.01), elsewhere).loc["c"]
    assert strict["flags"] == "too_strict data_differ"
    stand_in = judged(frame.assign(source="stand-in"), [], elsewhere).loc["c"]
    assert stand_in["verdict"] == "not_comparable"
    assert stand_in["flags"] == ""
    smoke = judge({"claims": [elsewhere]}, frame, "smoke").iloc[0]
    assert smoke["flags"] == ""
