"""Claims are reproduced, are refuted by swapped curves, or stay inconclusive."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_tables import curve, noisy_mean, table
from verdict_inputs import around, claim, difference_check, one_verdict, two_methods

from noisylabels.statistics import holm, holm_factor
from reproduction.judge.claims import VerdictError
from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge
from reproduction.spec.verdict_words import leans

SAY = Sentences().evidence


def verdict(frame, *checks):
    """Judge a claim of these checks, and give its verdict alone."""
    return one_verdict(claim(*checks), frame)["verdict"]


def ours_and_theirs(ours, theirs):
    """Make a table of one curve of each method."""
    return table(curve(ours), curve(theirs, method="theirs"))


def test_pairing_finds_a_small_difference_under_large_common_noise():
    frame = two_methods(np.random.default_rng(3), 0.3)
    row = one_verdict(claim(difference_check()), frame)
    assert row["verdict"] == "reproduced"
    assert row["ci_high"] - row["ci_low"] < 0.3
    unpaired = frame.copy()
    theirs = unpaired["method"] == "theirs"
    repetitions = unpaired.loc[theirs, "repetition"]
    unpaired.loc[theirs, "repetition"] = np.roll(repetitions, 3)
    assert verdict(unpaired, difference_check()) == "inconclusive"


def test_swapped_methods_are_not_reproduced():
    frame = two_methods(np.random.default_rng(3), 1)
    other_method = {"ours": "theirs", "theirs": "ours"}
    swapped = frame.assign(method=frame["method"].map(other_method))
    assert verdict(frame, difference_check()) == "reproduced"
    row = one_verdict(claim(difference_check()), swapped)
    assert row["verdict"] == "not_reproduced"
    assert row["estimate"] == pytest.approx(1, abs=0.2)


def test_a_ratio_off_by_five_percent_contradicts_the_claim_of_two_percent():
    frame = two_methods(np.random.default_rng(3), 0)
    frame["value"] = 10 + 0.001 * frame["value"]
    check = difference_check(
        statistic="ratio",
        within=[0.98, 1.02],
        below=None,
        for_each=["metric"],
    )
    assert verdict(frame, check) == "reproduced"
    ours = frame["method"] == "ours"
    frame.loc[ours, "value"] *= 1.05
    assert verdict(frame, check) == "not_reproduced"


def test_large_error_bars_contradict_the_claim_that_they_are_tiny():
    check = {"statistic": "relative_se", "where": {"method": "ours"}, "below": 0.08}
    wide = one_verdict(claim(check), table(curve(around(1, sd=0.5))))
    assert wide["verdict"] == "not_reproduced"
    assert wide["estimate"] == pytest.approx(0.5 / np.sqrt(30))
    narrow = table(curve(around(1, sd=0.2)))
    assert verdict(narrow, check) == "reproduced"
    single = table(curve([1.0]))
    assert verdict(single, check) == "inconclusive"


def test_one_violating_row_contradicts_a_bound_for_every_row_and_is_named():
    ratios = np.linspace(0.1, 0.9, 20)
    check = {
        "statistic": "value",
        "where": {"metric": "loss_over_bound"},
        "rows": "every",
        "below": 1.000000001,
    }
    lms = curve(ratios, metric="loss_over_bound", method="lms")
    p_norm = curve(ratios, metric="loss_over_bound", method="p_norm")
    frame = table(lms, p_norm)
    assert verdict(frame, check) == "reproduced"
    frame.loc[27, "value"] = 1.01
    row = one_verdict(claim(check), frame)
    assert row["verdict"] == "not_reproduced"
    assert row["estimate"] == 1.01
    assert row["violating"] == 1
    assert row["rows"] == 40
    assert row["side"] == "above"
    assert json.loads(row["worst"]) == {"method": "p_norm", "repetition": 7}
    assert "1 of 40 rows violate it, worst at method p_norm, repetition 7" in SAY(row)


def test_one_realisation_shows_nothing_but_its_sign():
    for theirs, sign, side in ((12, "agrees", "in favour"), (8, "disagrees", "against")):
        frame = ours_and_theirs([10], [theirs])
        row = one_verdict(claim(difference_check()), frame)
        assert row["verdict"] == "inconclusive"
        assert leans(row) == side
        assert f"one realisation, no test; it {sign}" in SAY(row)


def test_methods_that_are_equal_do_not_differ():
    values = around(10)
    for theirs in (values, values * (1 + 1e-11)):
        frame = ours_and_theirs(values, theirs)
        row = one_verdict(claim(difference_check()), frame)
        assert row["verdict"] == "inconclusive"
        assert row["estimate"] == 0


def test_a_trend_needs_every_step():
    rng = np.random.default_rng(5)
    sizes = ("n=16", "n=64", "n=256")

    def frame(ratios):
        curves = []
        for ratio, size in zip(ratios, sizes, strict=True):
            curves.append(curve(noisy_mean(rng, ratio), method="lms", setting=size))
        for size in sizes:
            curves.append(curve(noisy_mean(rng, 1), method="p_norm", setting=size))
        return table(*curves)

    check = difference_check(
        statistic="log_ratio",
        a={"method": "lms"},
        b={"method": "p_norm"},
        below=None,
    )
    grows = check | {"increasing": {"setting": list(sizes)}}
    falls = check | {"decreasing": {"setting": list(sizes)}}
    assert verdict(frame((2.5, 6.6, 17.6)), grows) == "reproduced"
    assert verdict(frame((17.6, 6.6, 2.5)), falls) == "reproduced"
    assert verdict(frame((2.5, 6.6, 6.6)), grows) == "inconclusive"
    row = one_verdict(claim(grows), frame((2.5, 17.6, 6.6)))
    assert row["verdict"] == "not_reproduced"
    assert json.loads(row["at"]) == {"setting": ["n=64", "n=256"]}
    assert "setting n=64 → n=256" in SAY(row)


def test_a_trend_along_numbers():
    rng = np.random.default_rng(5)
    curves = [curve(noisy_mean(rng, 1 / x), x=x) for x in (4, 8.0, 16)]
    check = {
        "statistic": "value",
        "where": {"method": "ours"},
        "decreasing": {"x": [4, 8, 16]},
    }
    assert verdict(table(*curves), check) == "reproduced"


def test_deviation_compares_spreads():
    narrow = around(10, sd=0.1, n=20)
    wide = around(10, sd=2, n=20, seed=1)
    frame = ours_and_theirs(narrow, wide)
    assert verdict(frame, difference_check()) == "inconclusive"
    assert verdict(frame, difference_check(of="deviation")) == "reproduced"


def test_last_is_the_end_of_each_curve():
    rng = np.random.default_rng(0)
    frame = table(
        *(curve(noisy_mean(rng, 5), x=x) for x in (1, 10)),
        curve(noisy_mean(rng, 1), x=100),
        curve(noisy_mean(rng, 2), method="theirs", x=70),
        curve(noisy_mean(rng, 0.1), method="theirs", x=1),
    )
    at_the_end = difference_check(where={"x": "last"})
    assert verdict(frame, at_the_end) == "reproduced"
    at_the_start = difference_check(where={"x": "first"})
    assert verdict(frame, at_the_start) == "not_reproduced"


def test_the_most_of_the_groups():
    rng = np.random.default_rng(2)
    gaps = {"a": 1, "b": 1, "c": 1, "d": -1}
    frame = pd.concat(two_methods(rng, gap).assign(dataset=name) for name, gap in gaps.items())
    all_sets = difference_check(for_each=["dataset"])
    assert verdict(frame, all_sets | {"at_least": 2}) == "reproduced"
    assert verdict(frame, all_sets | {"at_least": 3}) == "reproduced"
    assert verdict(frame, all_sets | {"at_least": 4}) == "not_reproduced"
    assert verdict(frame, all_sets) == "not_reproduced"


def test_all_checks_must_hold():
    frame = two_methods(np.random.default_rng(3), 1)
    assert verdict(frame, difference_check(), difference_check(below=-0.5)) == "reproduced"
    row = one_verdict(claim(difference_check(), difference_check(below=-2)), frame)
    assert row["verdict"] == "not_reproduced"
    assert row["number"] == 2
    assert row["checks"] == 2
    assert "check 2 of 2" in SAY(row)


def three_levels(rng, gains, n=30):
    """Clean errors 10 with a common part, and two kinds of noise that raise them by ``gains``."""
    common = rng.standard_normal(n)
    first_gain, second_gain = gains
    curves = []
    for noise, gain in (("clean", 0.0), ("one", first_gain), ("other", second_gain)):
        errors = 10 + gain + common + 0.1 * rng.standard_normal(n)
        curves.append(curve(errors, noise=noise))
    return table(*curves)


INCREASES = {
    "statistic": "ratio_of_differences",
    "a": {"noise": "one"},
    "b": {"noise": "other"},
    "base": {"noise": "clean"},
    "within": [0.5, 2],
}


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ((3, 2.5), "reproduced"),
        ((3, 1.5), "inconclusive"),
        ((3, 0.5), "not_reproduced"),
        ((1, 4), "not_reproduced"),
    ],
)
def test_a_ratio_of_increases(gains, expected):
    row = one_verdict(claim(INCREASES), three_levels(np.random.default_rng(5), gains))
    assert row["verdict"] == expected
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    assert row["estimate"] == pytest.approx(gains[0] / gains[1], rel=0.2)
    assert SAY(row).startswith("(one − clean) / (other − clean) = ")


def test_a_ratio_whose_divisor_is_nothing_shows_nothing():
    row = one_verdict(claim(INCREASES), three_levels(np.random.default_rng(5), (3, 0)))
    assert row["verdict"] == "inconclusive"
    assert row["remark"] == "divisor"
    assert "the divisor may be 0: its interval reaches below" in SAY(row)


def test_a_ratio_of_increases_is_grouped_and_counted_like_any_other():
    rng = np.random.default_rng(5)
    gains = {"a": (3, 3), "b": (2, 2), "c": (6, 1)}
    frame = pd.concat(three_levels(rng, g).assign(dataset=name) for name, g in gains.items())
    check = INCREASES | {"for_each": ["dataset"]}
    assert verdict(frame, check | {"at_least": 2}) == "reproduced"
    assert verdict(frame, check | {"at_least": 3}) == "not_reproduced"


def test_a_theorem_is_exact_and_one_row_refutes_it():
    check = {"statistic": "value", "where": {"metric": "error"}, "below": 1, "rows": "every"}
    frame = table(curve(np.linspace(0, 0.9, 10)))
    exact = one_verdict(claim(check, theorem=True), frame)
    assert exact["verdict"] == "reproduced"
    assert exact["flags"] == "exact"
    assert one_verdict(claim(check), frame)["flags"] == ""
    frame.loc[3, "value"] = 1.5
    row = one_verdict(claim(check, theorem=True), frame)
    assert row["verdict"] == "not_reproduced"
    assert row["violating"] == 1
    assert row["rows"] == 10


@given(
    st.lists(st.floats(0, 0.2), min_size=1, max_size=8),
    st.floats(0, 0.2),
    st.floats(0.001, 0.2),
)
def test_the_factor_of_holm_is_what_the_decision_rests_on(other_ps, p, alpha):
    ps = [p, *other_ps]
    is_rejected = holm(ps)[0] < alpha
    corrected = holm_factor(ps, 0, alpha) * p
    assert (corrected < alpha) == is_rejected


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(1, 6), st.integers(0, 3), st.integers(0, 10**6))
def test_as_many_groups_pass_as_are_asked_exactly_if_the_claim_is_reproduced(
    groups,
    needed,
    rivals,
    seed,
):
    """The count uses the p-values, and their corrections, that decide."""
    rng = np.random.default_rng(seed)
    gaps = enumerate(rng.uniform(0, 0.3, groups))
    frame = pd.concat(two_methods(rng, gap, n=6).assign(dataset=f"d{i}") for i, gap in gaps)
    needed = min(needed, groups)
    claims = [claim(difference_check(for_each=["dataset"], at_least=needed), id="c")]
    for number in range(rivals):
        check = difference_check(where={"dataset": f"d{number % groups}"})
        claims.append(claim(check, id=f"r{number}"))
    row = judge({"claims": claims}, frame, "full").iloc[0]
    assert (row["passing"] >= needed) == (row["verdict"] == "reproduced")


def test_a_place_names_only_what_a_row_has():
    assert Sentences().describe_place({"method": "lms", "x": 2.5}) == "method lms, x = 2.5"
    assert Sentences(x="epoch").describe_place({"x": [2, 5]}) == "epoch 2 → 5"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "error: ours is 2 below theirs (the same in every run)."),
        (
            {"statistic": "ratio", "below": 1},
            "error: ours is 20 % lower than theirs (95 % CI of the ratio 0.798 to 0.802, n = 30).",
        ),
        (
            {"statistic": "log_ratio", "below": -0.2},
            "error: ours is 20 % lower than theirs (95 % CI of the ratio 0.798 to 0.802, n = 30).",
        ),
        (
            {"below": None, "within": [-1, 1], "for_each": ["dataset"]},
            "error: ours is 2 below theirs (the same in every run). Case: synthetic.",
        ),
        ({"statistic": "value", "b": None}, "error: ours is 8 (95 % CI 7.89 to 8.11, n = 30)."),
        (
            {"of": "deviation"},
            "error: absolute deviation of ours − theirs is 0 (the same in every run).",
        ),
        (
            {
                "statistic": "value",
                "a": None,
                "b": None,
                "below": None,
                "decreasing": {"method": ["theirs", "ours"]},
            },
            "error falls by 2 from theirs to ours (the same in every run).",
        ),
        (
            {"statistic": "value", "b": None, "below": 8 + 1e-9, "rows": "every"},
            "error: ours is 8.542 in the worst of 30 rows. Worst row: repetition 21.",
        ),
    ],
)
def test_what_was_measured_is_said_in_words(changes, says):
    frame = ours_and_theirs(around(8), around(10))
    check = difference_check(where={"metric": "error"}, **changes)
    row = one_verdict(claim(check), frame)
    assert Sentences().measured(row) == says


def test_a_measurement_names_the_deciding_case_and_how_many_pass():
    """Ours wins by 2 on the first set, by 1 on the second and loses on the third."""
    curves = []
    for number, level in enumerate([8, 9, 12]):
        dataset = f"set{number}"
        curves.append(curve(around(level), dataset=dataset))
        curves.append(curve(around(10, seed=number), method="theirs", dataset=dataset))
    check = difference_check(where={"metric": "error"}, for_each=["dataset"], at_least=2)
    measured = Sentences().measured(one_verdict(claim(check), table(*curves)))
    assert measured.startswith("error: ours is ")
    assert measured.endswith(" The deciding one of 3 cases: set1. 2 of 3 cases pass; 2 are needed.")
    pooled = difference_check(where={"metric": "error", "dataset": ["set0", "set1", "set2"]})
    measured = Sentences().measured(one_verdict(claim(pooled), table(*curves)))
    assert measured.endswith(" Averaged over 3 data sets.")


WEAK_AND_STRONG = {"method": ["weak", "strong"]}


def ours_against_two(levels_of_strong):
    """Make a table of data sets: ours has errors of 1, "weak" of 3 and "strong" of its level."""
    curves = []
    for number, level in enumerate(levels_of_strong):
        dataset = f"set{number}"
        curves.append(curve(around(1.0, seed=number), dataset=dataset))
        curves.append(curve(around(3.0, seed=10 + number), method="weak", dataset=dataset))
        curves.append(curve(around(level, seed=20 + number), method="strong", dataset=dataset))
    return table(*curves)


def test_a_case_counts_only_if_all_its_comparisons_pass():
    """Ours beats one of two rivals on all of five sets, and both on two of them."""
    frame = ours_against_two([3.0, 3.0, 0.2, 0.2, 0.2])
    both = difference_check(b=WEAK_AND_STRONG, for_each=["dataset"], all_of=["method"])
    row = one_verdict(claim(both | {"at_least": 2}), frame)
    assert row["verdict"] == "reproduced"
    assert row["groups"] == 5
    assert verdict(frame, both | {"at_least": 3}) == "not_reproduced"
    separate = difference_check(b=WEAK_AND_STRONG, for_each=["dataset", "method"], at_least=7)
    assert verdict(frame, separate) == "reproduced"


def test_groups_that_are_left_out_do_not_count():
    """Ours loses against one of two methods on one of three sets; the paper lacks that cell."""
    frame = ours_against_two([0.2, 3.0, 3.0])
    check = difference_check(b=WEAK_AND_STRONG, for_each=["dataset", "method"])
    assert verdict(frame, check) == "not_reproduced"
    lost = {"dataset": "set0", "method": "strong"}
    row = one_verdict(claim(check | {"without": [lost]}), frame)
    assert row["verdict"] == "reproduced"
    assert row["groups"] == 5
    several = [{"dataset": ["set0", "set1"], "method": "strong"}, {"dataset": "set2"}]
    assert one_verdict(claim(check | {"without": several}), frame)["groups"] == 2
    for left_out in ({"dataset": "set3"}, {"dataset": ["set0", "set1", "set2"]}):
        wrong = claim(check | {"without": [left_out]})
        with pytest.raises(VerdictError, match=r"without: (no row agrees|leaves out every row)"):
            one_verdict(wrong, frame)


def test_a_method_that_a_group_lacks_is_left_out_of_all_methods():
    """Ours is lowest in two of two sets if the method that one of them lacks does not count."""
    frame = ours_against_two([0.2, 3.0])
    check = difference_check(
        b=WEAK_AND_STRONG,
        for_each=["dataset"],
        all_of=["method"],
        at_least=2,
    )
    assert verdict(frame, check) == "not_reproduced"
    lacked = {"dataset": "set0", "method": "strong"}
    row = one_verdict(claim(check | {"without": [lacked]}), frame)
    assert row["verdict"] == "reproduced"
    assert row["groups"] == 2
    assert row["passing"] == 2
