"""Known distributions in, known verdicts out; a wrong result must be caught."""

import copy
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from synthetic_tables import ORS, curve, noisy_mean, table

from noisylabels.results import write_rows
from noisylabels.verdicts.judge import judge, judge_files
from noisylabels.verdicts.page import markdown, page
from noisylabels.verdicts.selection import MissingRows, VerdictError

ROOT = Path(__file__).resolve().parent.parent
ORS_CLAIMS = yaml.safe_load((ROOT / "tests/data/ors_claims_example.yaml").read_text(encoding="utf-8"))
MARGIN = 0.5


def printed(**changes):
    entry = {"id": "v", "value": 10.0, "where": {"method": "ours", "metric": "error"}, "margin": MARGIN}
    return entry | {"reason": "half a point"} | changes


def claim(*checks, **changes):
    return {"id": "c", "statement": "as said", "checks": list(checks)} | changes


def below(**changes):
    check = {"statistic": "difference", "a": {"method": "ours"}, "b": {"method": "theirs"}, "below": 0}
    return {key: value for key, value in (check | changes).items() if value is not None}


def one_verdict(entry, frame, scale="full"):
    kind = "claims" if "checks" in entry else "published"
    return judge({kind: [entry]}, frame, scale).iloc[0]


def around(mean, sd=0.3, n=10, seed=0):
    """n values whose mean and standard deviation are exactly as asked."""
    z = np.random.default_rng(seed).standard_normal(n)
    return mean + sd * (z - z.mean()) / z.std(ddof=1)


# Published values


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (10.0, "reproduced"),
        (10.1, "reproduced"),
        (10.45, "consistent"),
        (9.5, "consistent"),
        (11.5, "differs"),
        (8.5, "differs"),
    ],
)
def test_published_value(ours, verdict):
    row = one_verdict(printed(), table(curve(around(ours))))
    assert row["verdict"] == verdict
    assert (row["estimate"], row["published"], row["margin"], row["n"]) == pytest.approx(
        (ours, 10, MARGIN, 10)
    )


def test_a_result_three_margins_off_differs():
    frame = table(curve(around(10.0)))
    assert one_verdict(printed(), frame)["verdict"] == "reproduced"
    assert one_verdict(printed(), frame.assign(value=frame["value"] + 3 * MARGIN))["verdict"] == "differs"


def test_p_values_are_those_of_scipy():
    values = around(10.3, n=12)
    row = one_verdict(printed(), table(curve(values)))
    p = max(
        stats.ttest_1samp(values, 10 - MARGIN, alternative="greater").pvalue,
        stats.ttest_1samp(values, 10 + MARGIN, alternative="less").pvalue,
    )
    assert row["p_adjusted"] == pytest.approx(p)
    low, high = stats.ttest_1samp(values, 0).confidence_interval()
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))


def test_the_printed_error_widens_the_comparison():
    frame = table(curve(around(10.0, sd=0.1)))
    assert one_verdict(printed(se=0.01, n=10), frame)["verdict"] == "reproduced"
    assert one_verdict(printed(se=0.4, n=10), frame)["verdict"] == "consistent"
    by_sd = one_verdict(printed(sd=0.4 * np.sqrt(10), n=10), frame)
    assert by_sd["p_adjusted"] == pytest.approx(one_verdict(printed(se=0.4, n=10), frame)["p_adjusted"])


def test_holm_over_the_published_values():
    frame = table(*(curve(around(10.27, seed=i), noise=f"n{i}") for i in range(8)))
    entries = [printed(id=f"v{i}", where={"method": "ours", "noise": f"n{i}"}) for i in range(8)]
    alone = one_verdict(entries[0], frame)
    together = judge({"published": entries}, frame, "full")
    assert alone["verdict"] == "reproduced"
    assert together["p_adjusted"].to_list() == pytest.approx([8 * alone["p_adjusted"]] * 8)
    assert "after Holm over 8" in together["evidence"][0]


def test_one_realisation_is_compared_but_not_tested():
    near, far = (one_verdict(printed(), table(curve([value]))) for value in (10.2, 12))
    assert (near["verdict"], far["verdict"]) == ("consistent", "differs")
    assert "one realisation, no test" in near["evidence"]
    assert np.isnan(near["p_adjusted"])


def test_no_variation_is_compared_exactly():
    near, far = (one_verdict(printed(), table(curve([value] * 5))) for value in (10.2, 12))
    assert (near["verdict"], far["verdict"]) == ("reproduced", "differs")
    assert "no variation" in near["evidence"]


def test_a_listed_selector_is_averaged_within_the_repetition():
    frame = table(curve(around(9), dataset="a"), curve(around(11), dataset="b"))
    row = one_verdict(printed(where={"method": "ours", "dataset": ["a", "b"]}), frame)
    assert (row["estimate"], row["n"]) == (pytest.approx(10), 10)


def test_unequal_repetitions_use_the_common_ones_and_say_so():
    frame = table(curve(around(9), dataset="a"), curve(around(11, n=30), dataset="b"))
    row = one_verdict(printed(where={"method": "ours", "dataset": ["a", "b"]}), frame)
    assert row["n"] == 10
    assert "20 incomplete repetitions left out" in row["evidence"]


@pytest.mark.parametrize("entry", [printed(), claim(below())])
def test_stand_in_data_is_not_comparable(entry):
    frame = table(
        curve(around(10), source="stand-in (magic)", dataset="susy"),
        curve(around(12), source="stand-in (magic)", dataset="susy", method="theirs"),
    )
    row = one_verdict(entry, frame)
    assert row["verdict"] == "not comparable"
    assert "stand-in data for susy" in row["evidence"]
    assert row["evidence"].endswith(("on these rows: reproduced", "on these rows: holds"))
    assert np.isnan(row["p_adjusted"])


def test_only_the_selected_rows_count_as_stand_in():
    frame = table(curve(around(10), dataset="a"), curve(around(10), dataset="b", source="stand-in"))
    assert one_verdict(printed(where={"method": "ours", "dataset": "a"}), frame)["verdict"] == "reproduced"


def test_declared_not_comparable_needs_no_rows():
    absent = printed(where={"method": "libsvm"}, not_comparable="the reference program is closed")
    row = one_verdict(absent, table(curve(around(10))))
    assert row["verdict"] == "not comparable"
    assert row["evidence"].startswith("the reference program is closed: no rows for it")


@pytest.mark.parametrize(
    "entry", [printed(), claim(below()), printed(value=99), printed(where={"method": "left_out"})]
)
def test_reduced_runs_only_ran(entry):
    row = one_verdict(entry, table(curve(around(10)), curve(around(12), method="theirs")), "quick")
    assert row["verdict"] == "ran"
    assert row["evidence"].startswith("reduced run (quick): ")
    assert np.isnan(row["p_adjusted"])
    assert ("no rows for it" in row["evidence"]) == np.isnan(row["estimate"])


# Error rates


def rates(entries, make, runs=200):
    """Share of simulated artifacts in which each verdict occurs at least once."""
    rng = np.random.default_rng(11)
    seen = Counter()
    for _ in range(runs):
        seen.update(set(judge(entries, make(rng), "full")["verdict"]))
    return {verdict: count / runs for verdict, count in seen.items()}


def limit(runs):
    """Largest share of wrong verdicts at a true rate of 5 %, three standard errors up."""
    return 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


FIVE = {"published": [printed(id=f"v{i}", where={"noise": f"n{i}"}, se=0.1, n=10) for i in range(5)]}


def five_values(rng, truth):
    """Printed value 10 with standard error 0.1; ours from the same truth plus an offset."""
    shift = truth + 0.1 * rng.standard_normal(5)
    return table(
        *(
            curve(10 + s + 0.1 * np.sqrt(10) * rng.standard_normal(10), noise=f"n{i}")
            for i, s in enumerate(shift)
        )
    )


@pytest.mark.slow
def test_family_wise_error_on_the_border_of_the_margin():
    found = rates(FIVE, lambda rng: five_values(rng, MARGIN))
    assert found.get("differs", 0) <= limit(200)
    assert found.get("reproduced", 0) <= limit(200)


@pytest.mark.slow
def test_equal_truths_never_differ_and_are_reproduced():
    found = rates(FIVE, lambda rng: five_values(rng, 0.0), 200)
    assert found.get("differs", 0) <= limit(200)
    assert found["reproduced"] > 0.9
    assert rates(FIVE, lambda rng: five_values(rng, 3 * MARGIN), 20)["differs"] > 0.9


def two_methods(rng, gap, n=10):
    common = 5 * rng.standard_normal(n)
    return table(
        curve(common + 0.1 * rng.standard_normal(n), method="ours"),
        curve(common + gap + 0.1 * rng.standard_normal(n), method="theirs"),
    )


@pytest.mark.slow
def test_error_of_claims_between_equal_methods():
    found = rates({"claims": [claim(below())]}, lambda rng: two_methods(rng, 0))
    assert found.get("holds", 0) <= limit(200)
    assert found.get("contradicted", 0) <= limit(200)


@pytest.mark.slow
def test_at_least_keeps_its_level():
    """Two of four groups truly differ: "at least three" rarely holds, "at least two" nearly always."""

    def four_groups(rng):
        parts = [two_methods(rng, gap).assign(noise=f"n{i}") for i, gap in enumerate((1, 1, 0, 0))]
        return pd.concat(parts)

    three, two = ({"claims": [claim(below(for_each=["noise"], at_least=k))]} for k in (3, 2))
    assert rates(three, four_groups, 150).get("holds", 0) <= limit(150)
    assert rates(two, four_groups, 20)["holds"] > 0.9


# Claims


def test_pairing_finds_a_small_difference_under_large_common_noise():
    frame = two_methods(np.random.default_rng(3), 0.3)
    row = one_verdict(claim(below()), frame)
    assert row["verdict"] == "holds"
    assert row["ci_high"] - row["ci_low"] < 0.3
    shuffled = frame.copy()
    theirs = shuffled["method"] == "theirs"
    shuffled.loc[theirs, "repetition"] = np.roll(shuffled.loc[theirs, "repetition"], 3)
    assert one_verdict(claim(below()), shuffled)["verdict"] == "not shown"


def test_swapped_methods_are_contradicted():
    frame = two_methods(np.random.default_rng(3), 1)
    swapped = frame.assign(method=frame["method"].map({"ours": "theirs", "theirs": "ours"}))
    assert one_verdict(claim(below()), frame)["verdict"] == "holds"
    row = one_verdict(claim(below()), swapped)
    assert row["verdict"] == "contradicted"
    assert row["estimate"] == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("figure", list(ORS))
def test_every_ors_claim_can_be_written_down_and_holds(figure):
    verdicts = judge({"claims": ORS_CLAIMS[figure]}, ORS[figure](np.random.default_rng(1)), "full")
    assert set(verdicts["verdict"]) == {"holds"}, verdicts["evidence"].to_list()


SWAPS = [
    ("fig2", "ORS-1", "method", "beta", "one"),
    ("fig2", "ORS-2", "method", "one_pred", "one"),
    ("fig2", "ORS-3", "method", "one_pred_u", "noisy"),
    ("fig2", "ORS-4", "method", "one_pred_u", "noisy"),
    ("fig4", "ORS-5", "noise", "uniform[0;0.5]", "uniform[0;5]"),
    ("fig5", "ORS-6", "method", "beta", "noisy"),
    ("fig6", "ORS-7", "setting", "scaling", "no scaling"),
    ("fig6", "ORS-8", "method", "auto", "const"),
    ("fig6", "ORS-10", "noise", "increasing", "decreasing"),
    ("fig6", "ORS-11", "method", "self_tuned", "const"),
]


@pytest.mark.parametrize(("figure", "name", "column", "one", "other"), SWAPS)
def test_every_ors_claim_is_contradicted_by_swapped_curves(figure, name, column, one, other):
    frame = ORS[figure](np.random.default_rng(1))
    frame[column] = frame[column].replace({one: other, other: one})
    verdicts = judge({"claims": ORS_CLAIMS[figure]}, frame, "full").set_index("id")["verdict"]
    assert verdicts[name] == "contradicted"


def test_begin_off_by_five_percent_contradicts_the_two_percent_claim():
    frame = ORS["fig6"](np.random.default_rng(1))
    frame.loc[(frame["method"] == "begin") & (frame["metric"] == "mse"), "value"] *= 1.05
    assert (
        judge({"claims": ORS_CLAIMS["fig6"]}, frame, "full").set_index("id")["verdict"]["ORS-9"]
        == "contradicted"
    )


def test_large_error_bars_contradict_the_claim_that_they_are_tiny():
    check = {"statistic": "relative_se", "where": {"method": "ours"}, "below": 0.08}
    row = one_verdict(claim(check), table(curve(around(1, sd=0.5))))
    assert (row["verdict"], row["estimate"]) == ("contradicted", pytest.approx(0.5 / np.sqrt(10)))
    assert one_verdict(claim(check), table(curve(around(1, sd=0.2))))["verdict"] == "holds"
    assert one_verdict(claim(check), table(curve([1.0])))["verdict"] == "not shown"


def test_one_violating_row_contradicts_a_bound_for_every_row_and_is_named():
    ratios = np.linspace(0.1, 0.9, 20)
    check = {
        "statistic": "value",
        "where": {"metric": "loss_over_bound"},
        "rows": "every",
        "below": 1.000000001,
    }
    frame = table(*(curve(ratios, metric="loss_over_bound", method=m) for m in ("lms", "p_norm")))
    assert one_verdict(claim(check), frame)["verdict"] == "holds"
    frame.loc[27, "value"] = 1.01
    row = one_verdict(claim(check), frame)
    assert (row["verdict"], row["estimate"]) == ("contradicted", 1.01)
    assert "1 of 40 rows violate it, worst at method p_norm, repetition 7" in row["evidence"]


def test_one_realisation_shows_nothing_but_its_sign():
    for theirs, sign in ((12, "agrees"), (8, "disagrees")):
        row = one_verdict(claim(below()), table(curve([10]), curve([theirs], method="theirs")))
        assert row["verdict"] == "not shown"
        assert f"one realisation, no test; it {sign}" in row["evidence"]


def test_methods_that_are_equal_do_not_differ():
    values = around(10)
    for theirs in (values, values * (1 + 1e-11)):
        row = one_verdict(claim(below()), table(curve(values), curve(theirs, method="theirs")))
        assert (row["verdict"], row["estimate"]) == ("not shown", 0)


def test_a_trend_needs_every_step():
    rng = np.random.default_rng(5)
    sizes = ("n=16", "n=64", "n=256")

    def frame(ratios):
        return table(
            *(curve(noisy_mean(rng, r), method="lms", setting=s) for r, s in zip(ratios, sizes, strict=True)),
            *(curve(noisy_mean(rng, 1), method="p_norm", setting=s) for s in sizes),
        )

    check = below(statistic="log_ratio", a={"method": "lms"}, b={"method": "p_norm"}, below=None)
    grows = claim(check | {"increasing": {"setting": list(sizes)}})
    falls = claim(check | {"decreasing": {"setting": list(sizes)}})
    assert one_verdict(grows, frame((2.5, 6.6, 17.6)))["verdict"] == "holds"
    assert one_verdict(falls, frame((17.6, 6.6, 2.5)))["verdict"] == "holds"
    assert one_verdict(grows, frame((2.5, 6.6, 6.6)))["verdict"] == "not shown"
    row = one_verdict(grows, frame((2.5, 17.6, 6.6)))
    assert row["verdict"] == "contradicted"
    assert "setting n=64 → n=256" in row["evidence"]


def test_a_trend_along_numbers():
    rng = np.random.default_rng(5)
    frame = table(*(curve(noisy_mean(rng, 1 / k), x=k) for k in (4, 8.0, 16)))
    check = {"statistic": "value", "where": {"method": "ours"}, "decreasing": {"x": [4, 8, 16]}}
    assert one_verdict(claim(check), frame)["verdict"] == "holds"


def test_deviation_compares_spreads():
    frame = table(curve(around(10, sd=0.1, n=20)), curve(around(10, sd=2, n=20, seed=1), method="theirs"))
    assert one_verdict(claim(below()), frame)["verdict"] == "not shown"
    assert one_verdict(claim(below(of="deviation")), frame)["verdict"] == "holds"


def test_last_is_the_end_of_each_curve():
    rng = np.random.default_rng(0)
    frame = table(
        *(curve(noisy_mean(rng, 5), x=x) for x in (1, 10)),
        curve(noisy_mean(rng, 1), x=100),
        curve(noisy_mean(rng, 2), method="theirs", x=70),
        curve(noisy_mean(rng, 0.1), method="theirs", x=1),
    )
    assert one_verdict(claim(below(where={"x": "last"})), frame)["verdict"] == "holds"
    assert one_verdict(claim(below(where={"x": "first"})), frame)["verdict"] == "contradicted"


def test_the_most_of_the_groups():
    rng = np.random.default_rng(2)
    gaps = {"a": 1, "b": 1, "c": 1, "d": -1}
    frame = pd.concat(two_methods(rng, gap).assign(dataset=name) for name, gap in gaps.items())
    verdicts = [
        one_verdict(claim(below(for_each=["dataset"], at_least=k)), frame)["verdict"] for k in (2, 3, 4)
    ]
    assert verdicts == ["holds", "holds", "contradicted"]
    assert one_verdict(claim(below(for_each=["dataset"])), frame)["verdict"] == "contradicted"


def test_all_checks_must_hold():
    frame = two_methods(np.random.default_rng(3), 1)
    assert one_verdict(claim(below(), below(below=-0.5)), frame)["verdict"] == "holds"
    row = one_verdict(claim(below(), below(below=-2)), frame)
    assert row["verdict"] == "contradicted"
    assert "check 2 of 2" in row["evidence"]


# Invariances


def everything(rng):
    frame = two_methods(rng, 0.5)
    return {
        "published": [printed(value=float(frame.loc[frame["method"] == "ours", "value"].mean()))],
        "claims": [claim(below())],
    }, frame


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_row_order_does_not_matter(random):
    entries, frame = everything(np.random.default_rng(0))
    order = list(range(len(frame)))
    random.shuffle(order)
    pd.testing.assert_frame_equal(
        judge(entries, frame, "full"), judge(entries, frame.iloc[order], "full"), check_exact=True
    )


@given(
    st.floats(-1e6, 1e6), st.text("abcxyz_", min_size=1).filter(lambda name: name not in ("ours", "theirs"))
)
@settings(max_examples=15, deadline=None)
def test_another_method_changes_nothing(value, name):
    entries, frame = everything(np.random.default_rng(0))
    more = pd.concat([table(curve([value] * 10, method=name)), frame])
    pd.testing.assert_frame_equal(
        judge(entries, frame, "full"), judge(entries, more, "full"), check_exact=True
    )


@given(st.lists(st.floats(0, 4), min_size=2, max_size=6), st.sampled_from([-1, 1]))
@settings(max_examples=25, deadline=None)
def test_verdicts_are_monotone_in_the_shift(shifts, sign):
    rank = {"reproduced": 0, "consistent": 1, "differs": 2}
    claim_rank = {"holds": 0, "not shown": 1, "contradicted": 2}
    ours = around(10)
    found = [one_verdict(printed(), table(curve(ours + sign * s)))["verdict"] for s in sorted(shifts)]
    assert [rank[v] for v in found] == sorted(rank[v] for v in found)
    theirs = curve(around(11, seed=4), method="theirs")
    found = [one_verdict(claim(below()), table(curve(ours + s), theirs))["verdict"] for s in sorted(shifts)]
    assert [claim_rank[v] for v in found] == sorted(claim_rank[v] for v in found)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9))
@settings(max_examples=25, deadline=None)
def test_the_interval_contains_the_estimate(values):
    row = one_verdict(printed(), table(curve(values)))
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]


# Mistakes in the YAML

GOOD = table(
    curve(around(10), setting="s"),
    curve(around(12), method="theirs", setting="s"),
    curve(around(3), setting="t"),
)
HERE = {"setting": "s"}
MISTAKES = [
    (
        claim(below(where=HERE, a={"method": "our"})),
        r"claim c: check 1: no row has method = our .*did you mean ours",
    ),
    (claim(below(where={"setting": "u"})), r"claim c: check 1: no row has setting = u; available: s, t"),
    (claim(below(where={**HERE, "methd": "ours"})), r"unknown column 'methd'; columns are dataset"),
    (claim(below(where=HERE, statistic="mean")), r"unknown statistic 'mean'; statistics are value"),
    (claim(below(where=HERE, below=None)), r"needs exactly one of below, above, within"),
    (claim(below(where=HERE, above=1)), r"needs exactly one of .*got \['below', 'above'\]"),
    (claim(below(where=HERE, b=None)), r"difference compares the selectors a and b"),
    (claim(below(where=HERE, statistic="value")), r"value has no b"),
    (claim(below(where=HERE, foreach=["x"])), r"unknown key 'foreach'; a check has"),
    (claim(below(where=HERE, for_each=["sets"])), r"for_each: unknown column 'sets'"),
    (claim(below(where=HERE, for_each=["method"])), r"for_each: method is fixed by a and b"),
    (claim(below(where=HERE, at_least=2)), r"at_least counts groups"),
    (
        claim(below(where=HERE, for_each=["noise"], at_least=2)),
        r"at_least: 2 asked, but there are only 1 groups",
    ),
    (claim(below(where=HERE, rows="all")), r"unknown rows: 'all'; use mean or every"),
    (
        claim(below(where=HERE, below=None, increasing={"noise": ["a"]})),
        r"increasing: names one column and at least two",
    ),
    (claim(below(where=HERE, below=None, increasing={"method": ["a", "b"]})), r"method is also fixed by a"),
    (
        claim(below(a={"method": "ours", "setting": "t"}, b={"method": "ours"})),
        r"b: the rows differ in setting \(s, t\), which the other side names",
    ),
    (
        claim({"statistic": "value", "where": {"method": "ours"}, "above": 0}),
        r"the rows differ in setting \(s, t\)",
    ),
    (claim(below()), r"1[0-9]? rows have no partner; the first is in a and b lacks it"),
    (claim(below(where=HERE), below(where={"x": 3})), r"claim c: check 2: no row has x = 3"),
    (claim(), r"claim c: has no checks"),
    (claim(below(), id="d", sttement="s"), r"claim d: unknown key 'sttement'"),
    ({"id": "c", "checks": []}, r"claim c: the key 'statement' is missing"),
    (printed(), r"published v: the rows differ in setting \(s, t\), which is not named"),
    (
        printed(where={"method": "theirz"}),
        r"published v: no row has method = theirz; available: ours, theirs",
    ),
    (printed(margin=0), r"published v: margin must be > 0"),
    (printed(sd=1.0), r"published v: sd without n"),
    (printed(sd=1.0, se=1.0, n=4), r"give se or sd, not both"),
]


@pytest.mark.parametrize(("entry", "message"), MISTAKES)
def test_mistakes_are_named(entry, message):
    with pytest.raises(VerdictError, match=message) as caught:
        one_verdict(entry, GOOD)
    assert "\n" not in str(caught.value)


def test_missing_rows_are_a_kind_of_error_of_their_own():
    with pytest.raises(MissingRows):
        one_verdict(printed(where={"method": "libsvm"}), GOOD)


def test_a_table_with_double_rows_or_missing_columns_is_rejected():
    with pytest.raises(VerdictError, match="two rows for"):
        one_verdict(printed(), pd.concat([GOOD, GOOD.head(1)]))
    with pytest.raises(VerdictError, match="lacks the columns"):
        one_verdict(printed(), GOOD.drop(columns="noise"))


def test_ratio_of_zero_and_logarithm_of_a_negative_are_errors():
    zero = table(curve([1.0, 2.0]), curve([0.0, -1.0], method="theirs"))
    for statistic in ("ratio", "log_ratio"):
        with pytest.raises(VerdictError, match=f"{statistic} needs"):
            one_verdict(claim(below(statistic=statistic)), zero)


# Schema, files, page


def schema_errors(content):
    from jsonschema import Draft202012Validator

    schema = yaml.safe_load((ROOT / "workflow/schemas/verdicts.schema.yaml").read_text(encoding="utf-8"))
    keys = {"published": {"$ref": "#/$defs/published"}, "claims": {"$ref": "#/$defs/claims"}}
    whole = {"$defs": schema["$defs"], "additionalProperties": False, "properties": keys}
    Draft202012Validator.check_schema(whole)
    return [error.message for error in Draft202012Validator(whole).iter_errors(content)]


@pytest.mark.parametrize("figure", list(ORS))
def test_the_schema_accepts_the_example(figure):
    assert schema_errors({"published": [printed(se=0.1, n=10)], "claims": ORS_CLAIMS[figure]}) == []


BAD_YAML = [
    {"claims": [claim(below(below=None))]},
    {"claims": [claim(below(above=1))]},
    {"claims": [claim(below(at_least=2))]},
    {"claims": [claim(below(statistic="mean"))]},
    {"claims": [claim(below(where={"methd": "a"}))]},
    {"claims": [claim(below(where={"x": "lst"}))]},
    {"claims": [claim(below(where={"setting": 5}))]},
    {"claims": [claim(below(foreach=["x"]))]},
    {"claims": [claim()]},
    {"published": [printed(reason="")]},
    {"published": [printed(sd=1.0)]},
    {"published": [printed(sd=1.0, se=1.0, n=4)]},
    {"published": [printed(margin=0)]},
    {"published": [printed(tolerance=1)]},
]


@pytest.mark.parametrize("content", BAD_YAML)
def test_the_schema_rejects_typos(content):
    assert schema_errors(copy.deepcopy(content))


def run(script, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "src/scripts" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def write_inputs(folder, content=None):
    entries, frame = everything(np.random.default_rng(0))
    artifact = folder / "ors/fig2.yaml"
    artifact.parent.mkdir(exist_ok=True)
    artifact.write_text(yaml.safe_dump(content or {"title": "t", **entries}), encoding="utf-8")
    write_rows(frame.to_dict("records"), folder / "table.csv")
    return artifact, folder / "table.csv"


def test_the_script_writes_the_same_bytes_twice(tmp_path):
    artifact, table = write_inputs(tmp_path)
    made = []
    for name in ("1", "2"):
        csv, html = tmp_path / f"{name}.csv", tmp_path / f"{name}.html"
        inputs = ["--artifacts", artifact, artifact, "--tables", table, table, "--scale", "full"]
        done = run("verdict.py", *inputs, "--csv", csv, "--html", html)
        assert done.returncode == 0, done.stderr
        made.append([csv.read_bytes(), html.read_bytes()])
    assert made[0] == made[1]
    assert made[0][0].startswith(b"paper,artifact,id,kind,statement,expected,verdict,")
    assert b"\nors,fig2," in made[0][0]
    assert b"\r" not in made[0][0]


def test_the_script_names_artifact_and_claim_and_writes_nothing(tmp_path):
    artifact, table = write_inputs(tmp_path, {"claims": [claim(below(a={"method": "our"}))]})
    csv = tmp_path / "out.csv"
    done = run("verdict.py", "--artifacts", artifact, "--tables", table, "--scale", "full", "--csv", csv)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{artifact}: claim c: check 1: no row has method = our")
    assert done.stderr.count("\n") == 1
    assert not csv.exists()


def test_page_shows_every_verdict_in_words_and_escapes_text(tmp_path):
    nasty = claim(below(), id="<b>", statement="a < b & <script>alert(1)</script>")
    artifact, table = write_inputs(tmp_path, {"published": [printed()], "claims": [nasty]})
    write_rows(GOOD.query("setting == 's'").to_dict("records"), table)
    html = page(judge_files([artifact], [table], "full"))
    assert "a &lt; b &amp; &lt;script&gt;" in html
    assert "<script>" not in html
    assert "http" not in html
    for word in ("reproduced", "holds", "ors · fig2"):
        assert word in html


def test_the_markdown_page_has_a_row_per_verdict_and_escapes_bars(tmp_path):
    artifact, table = write_inputs(tmp_path, {"claims": [claim(below(), statement="|a| < b")]})
    write_rows(GOOD.query("setting == 's'").to_dict("records"), table)
    text = markdown(judge_files([artifact], [table], "full"))
    assert "## ors, fig2" in text
    assert "| c | **holds** | \\|a\\| < b |" in text


def test_page_without_verdicts_is_still_a_page():
    assert "<h1>Verdicts</h1>" in page(judge_files([], [], "full"))
