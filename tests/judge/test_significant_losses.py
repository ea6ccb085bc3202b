"""A check that counts significant losses finds those that a paired t-test finds, and no others."""

import json

import numpy as np
import pytest
from scipy import stats
from synthetic_tables import curve, table
from verdict_inputs import around, claim, difference_check, one_verdict, printed

from reproduction.judge.claims import VerdictError
from reproduction.judge.controls import POWER, can_find_losses
from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge

RIVALS = ("weak", "equal", "strong")


def losses(**changes):
    check = {
        "statistic": "significant_losses",
        "a": {"method": "ours"},
        "b": {"method": ["weak", "equal"]},
        "for_each": ["method"],
        "level": 0.05,
        "at_most": 0,
    }
    return check | changes


def three_rivals(n=30):
    """Ours is significantly better than weak, as good as equal, and worse than strong."""
    ours = around(10.0, n=n)
    return table(
        curve(ours),
        curve(ours + around(1.0, n=n, seed=1), method="weak"),
        curve(ours + around(0.01, n=n, seed=2), method="equal"),
        curve(ours + around(-1.0, n=n, seed=3), method="strong"),
    )


def one_pair(t, n=30):
    """Ours is above theirs by so many standard errors of the paired difference."""
    theirs = around(10.0, n=n)
    differences = around(t / np.sqrt(n), sd=1.0, n=n, seed=1)
    return table(curve(theirs + differences), curve(theirs, method="theirs"))


def verdict_of_pair(frame, **changes):
    check = losses(b={"method": ["theirs"]}, **changes)
    return one_verdict(claim(check), frame)


@pytest.mark.parametrize(
    ("rivals", "allowed", "verdict", "passing"),
    [
        (["weak", "equal"], 0, "reproduced", 2),
        (["weak", "equal", "strong"], 0, "not_reproduced", 2),
        (["weak", "equal", "strong"], 1, "reproduced", 2),
        (["equal", "strong"], 0, "not_reproduced", 1),
    ],
)
def test_no_more_losses_than_declared_are_reproduced(rivals, allowed, verdict, passing):
    check = losses(b={"method": rivals}, at_most=allowed)
    row = one_verdict(claim(check), three_rivals())
    assert row["verdict"] == verdict
    assert row["passing"] == passing
    assert row["groups"] == len(rivals)
    assert row["needed"] == len(rivals) - allowed
    if verdict == "not_reproduced":
        assert json.loads(row["at"]) == {"method": "strong"}
        assert row["side"] == "above"
        assert row["estimate"] == pytest.approx(1.0)


def test_the_evidence_names_the_criterion_and_counts_the_pairs():
    row = one_verdict(claim(losses(b={"method": list(RIVALS)})), three_rivals())
    evidence = Sentences().evidence(row)
    assert "criterion not significantly above 0 at the 5 % level" in evidence
    assert "this group decides, 2 of 3 pass, 3 needed" in evidence
    assert "ours is 1 above strong (95 % CI of the difference" in Sentences().measured(row)


@pytest.mark.parametrize(("t", "level"), [(2.5, 0.05), (2.5, 0.01), (-2.5, 0.05), (1.9, 0.05)])
def test_a_loss_is_what_a_two_sided_t_test_at_the_level_finds(t, level):
    frame = one_pair(t)
    is_loss = t > 0 and 2 * stats.t.sf(abs(t), 29) < level
    expected = "not_reproduced" if is_loss else "reproduced"
    assert verdict_of_pair(frame, level=level)["verdict"] == expected


@pytest.mark.parametrize("seed", range(5))
def test_losses_of_random_tables_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    ours = rng.standard_normal(12)
    rivals = [f"rival{number}" for number in range(6)]
    curves = [curve(ours)]
    number_of_losses = 0
    for rival in rivals:
        theirs = ours + rng.normal(0, 1, 12) - 0.4
        curves.append(curve(theirs, method=rival))
        test = stats.ttest_rel(ours, theirs)
        if test.statistic > 0 and test.pvalue < 0.05:
            number_of_losses += 1
    row = one_verdict(claim(losses(b={"method": rivals})), table(*curves))
    assert row["passing"] == len(rivals) - number_of_losses
    assert row["verdict"] == ("not_reproduced" if number_of_losses else "reproduced")


def test_too_few_repetitions_refute_but_never_confirm():
    """Ten repetitions find a loss of one standard deviation in 80 % of the runs, nine do not."""
    assert verdict_of_pair(one_pair(0.0, n=10))["verdict"] == "reproduced"
    of_few_runs = verdict_of_pair(one_pair(0.0, n=9))
    assert of_few_runs["verdict"] == "inconclusive"
    assert of_few_runs["side"] == "inside"
    assert "9 repetitions are too few to find a loss" in Sentences().evidence(of_few_runs)
    assert verdict_of_pair(one_pair(5.0, n=4))["verdict"] == "not_reproduced"
    assert verdict_of_pair(one_pair(0.0, n=10), level=0.01)["verdict"] == "inconclusive"
    single = table(curve([10.0]), curve([9.0], method="theirs"))
    assert verdict_of_pair(single)["verdict"] == "inconclusive"


@pytest.mark.parametrize("level", [0.05, 0.01])
def test_enough_repetitions_find_a_loss_as_often_as_declared(level):
    n = next(n for n in range(2, 100) if can_find_losses(np.arange(n), level))
    rng = np.random.default_rng(0)

    def share_of_losses(size):
        values = 1.0 + rng.standard_normal((20_000, size))
        tests = stats.ttest_1samp(values, 0.0, axis=1)
        return np.mean((tests.statistic > 0) & (tests.pvalue < level))

    assert share_of_losses(n - 1) < POWER
    assert share_of_losses(n) > POWER - 0.01


def test_equal_repetitions_leave_nothing_to_chance():
    for gap, verdict in ((0.0, "reproduced"), (-1.0, "reproduced"), (1.0, "not_reproduced")):
        theirs = around(10.0, n=3)
        frame = table(curve(theirs + gap), curve(theirs, method="theirs"))
        assert verdict_of_pair(frame)["verdict"] == verdict


def test_a_count_and_the_other_claims_do_not_correct_each_other():
    frame = one_pair(2.1)
    mean = {"statistic": "value", "where": {"method": "ours"}, "above": 9.9}
    count = claim(losses(b={"method": ["theirs"]}))
    alone = judge({"claims": [claim(mean, id="m")]}, frame, "full").set_index("id")
    claims = [claim(mean, id="m"), claim(difference_check(), id="b"), count]
    together = judge({"claims": claims}, frame, "full").set_index("id")
    assert alone.loc["m", "family"] == 1
    assert together.loc["m", "family"] == 2
    assert together.loc["c", "verdict"] == "not_reproduced"
    assert np.isnan(together.loc["c", "family"])


@pytest.mark.parametrize(
    ("gap_in_errors", "power"),
    [(-5.0, 1.0), (0.0, 0.975), (2.0, 0.5), (5.0, 0.0)],
)
def test_the_power_is_the_chance_that_published_values_show_no_loss(gap_in_errors, power):
    """At the critical value of the test, two standard errors, every second run has a loss."""
    n = 200
    frame = one_pair(3.0, n=n)
    keys = {"metric": "error"}
    gap = gap_in_errors / np.sqrt(n)
    published = [
        printed(id="v", value=10.0 + gap, where={"method": "ours"} | keys),
        printed(id="w", value=10.0, where={"method": "theirs"} | keys),
    ]
    claims = [claim(losses(b={"method": ["theirs"]})), claim(difference_check(), id="b")]
    rows = judge({"published": published, "claims": claims}, frame, "full").set_index("id")
    assert rows.loc["c", "power"] == pytest.approx(power, abs=0.06)
    assert ("too_strict" in rows.loc["c", "flags"]) == (rows.loc["c", "power"] < 0.5)


def test_methods_without_a_loss_are_counted():
    check = losses(b={"method": ["equal", "strong"]})
    row = one_verdict(claim(check), three_rivals())
    assert row["others"] == 3
    assert row["others_passing"] == 1, "strong alone loses against none of the others"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": None}, r"significant_losses needs for_each, level and at_most; give all three"),
        ({"at_most": None, "below": 1}, r"significant_losses needs for_each, level and at_most"),
        ({"for_each": None}, r"significant_losses needs for_each, level and at_most"),
        ({"below": 1}, r"needs exactly one of .*, at_most .*got below, at_most"),
        ({"at_most": -1}, r"at_most: should be greater than or equal to 0, got -1"),
        ({"level": 1.5}, r"level: should be less than 1, got 1.5"),
        ({"at_least": 1}, r"significant_losses takes no at_least, all_of, rows: every or b: x"),
        ({"rows": "every"}, r"significant_losses takes no at_least, all_of, rows: every or b: x"),
        ({"statistic": "difference"}, r"at_most and level go with significant_losses; remove them"),
        ({"at_most": 2}, r"check 1: at_most: allows 2 losses in 2 groups; give a smaller number"),
    ],
)
def test_mistakes_are_named_in_one_line(changes, message):
    check = {key: value for key, value in losses(**changes).items() if value is not None}
    with pytest.raises(VerdictError, match=message) as caught:
        one_verdict(claim(check), three_rivals())
    assert "\n" not in str(caught.value)
