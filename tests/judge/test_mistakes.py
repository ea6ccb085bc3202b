"""Every mistake in an artifact's file is named."""

import pandas as pd
import pytest
from synthetic_tables import curve, table
from verdict_inputs import around, claim, difference_check, one_verdict, printed

from reproduction.judge.claims import MissingRows, VerdictError

GOOD = table(
    curve(around(10), setting="s"),
    curve(around(12), method="theirs", setting="s"),
    curve(around(3), setting="t"),
)
HERE = {"setting": "s"}
MISTAKES = [
    (
        claim(difference_check(where=HERE, a={"method": "our"})),
        r"claim c: check 1: no row has method = our .*did you mean ours",
    ),
    (
        claim(difference_check(where={"setting": "u"})),
        r"claim c: check 1: no row has setting = u; available: s, t",
    ),
    (
        claim(difference_check(where={**HERE, "methd": "ours"})),
        r"where: there is no key 'methd'; did you mean method",
    ),
    (
        claim(difference_check(where=HERE, statistic="mean")),
        r"statistic: should be 'value', 'difference'.*got 'mean'",
    ),
    (claim(difference_check(where=HERE, below=None)), r"needs exactly one of below, above, within"),
    (claim(difference_check(where=HERE, above=1)), r"needs exactly one of .*got below, above"),
    (claim(difference_check(where=HERE, b=None)), r"difference compares the selectors a and b"),
    (claim(difference_check(where=HERE, statistic="value")), r"value has no b"),
    (
        claim(difference_check(where=HERE, foreach=["x"])),
        r"there is no key 'foreach'; did you mean for_each",
    ),
    (
        claim(difference_check(where=HERE, for_each=["sets"])),
        r"for_each.0: should be 'dataset'.*got 'sets'",
    ),
    (
        claim(difference_check(where=HERE, for_each=["method"])),
        r"for_each: method is fixed by a and b",
    ),
    (claim(difference_check(where=HERE, at_least=2)), r"at_least counts groups"),
    (claim(difference_check(where=HERE, without=[{"dataset": "s"}])), r"without leaves out groups"),
    (
        claim(difference_check(where=HERE, for_each=["noise"], at_least=2)),
        r"at_least: needs 2 groups, but there are only 1",
    ),
    (
        claim(difference_check(where=HERE, rows="all")),
        r"rows: should be 'mean' or 'every', got 'all'",
    ),
    (
        claim(difference_check(where=HERE, below=None, increasing={"noise": ["a"]})),
        r"increasing: names one column and at least two",
    ),
    (
        claim(difference_check(where=HERE, below=None, increasing={"method": ["a", "b"]})),
        r"method is also fixed by a",
    ),
    (
        claim(difference_check(a={"method": "ours", "setting": "t"}, b={"method": "ours"})),
        r"b: the rows differ in setting \(s, t\), which the other side names",
    ),
    (
        claim({"statistic": "value", "where": {"method": "ours"}, "above": 0}),
        r"the rows differ in setting \(s, t\)",
    ),
    (claim(difference_check()), r"30 rows have no partner; the first is in a and b lacks it"),
    (
        claim(difference_check(where=HERE), difference_check(where={"x": 3})),
        r"claim c: check 2: no row has x = 3",
    ),
    (claim(), r"claim c: checks: .*at least 1 item"),
    (
        claim(difference_check(), id="d", sttement="s"),
        r"claim d: there is no key 'sttement'; did you mean statement",
    ),
    ({"id": "c", "kind": "ours", "checks": []}, r"claim c: statement: this key is required"),
    (
        {"id": "c", "statement": "s", "checks": [difference_check()]},
        r"claim c: kind: this key is required",
    ),
    (
        claim(difference_check(), kind="sentence"),
        r"claim c: place: name the section, figure or table that the claim is from",
    ),
    (
        claim(difference_check(), place="Table 1"),
        r"claim c: place: a claim of kind ours has no place in a paper; remove it",
    ),
    (claim(difference_check(), kind="paper"), r"claim c: kind: .*got 'paper'"),
    (
        claim(difference_check(), origin="ours"),
        r"claim c: origin: was replaced; write kind: sentence, pattern or ours",
    ),
    (printed(), r"published v: the rows differ in setting \(s, t\), which is not named"),
    (
        printed(where={"method": "theirz"}),
        r"published v: no row has method = theirz; available: ours, theirs",
    ),
    (printed(margin=0), r"published v: margin: should be greater than 0, got 0"),
    (
        printed(margin=float("inf")),
        r"published v: margin: should be a finite number, got (inf|nan)",
    ),
    (
        printed(margin=float("nan")),
        r"published v: margin: should be a finite number, got (inf|nan)",
    ),
    (printed(value=float("nan")), r"published v: value: should be a finite number, got nan"),
    (
        claim(difference_check(where=HERE, below=float("inf"))),
        r"claim c: checks.0.below: should be a finite number, got inf",
    ),
    (
        claim(difference_check(where=HERE, below="0")),
        r"checks.0.below: should be a valid number, got '0'",
    ),
    (
        claim(difference_check(where=HERE, below=None, within=[2, 1])),
        r"within: give \[low, high\] with low <=",
    ),
    (
        claim(difference_check(where=HERE, below=None, within=[0, float("nan")])),
        r"within.1: should be a finite number, got nan",
    ),
    (printed(sd=1.0), r"published v: sd needs n"),
    (
        claim(difference_check(where=HERE, base={"method": "ours"})),
        r"base and ratio_of_differences go together: \(a - base\) / \(b - base\)",
    ),
    (
        claim(difference_check(where=HERE, statistic="ratio_of_differences")),
        r"base and ratio_of_differences go together",
    ),
    (
        claim(
            difference_check(
                where=HERE, statistic="ratio_of_differences", base={"method": "ours"}, rows="every"
            )
        ),
        r"ratio_of_differences takes a selector b and below, above or within",
    ),
    (
        claim(
            difference_check(where=HERE, rows="every"),
            difference_check(where=HERE),
            theorem=True,
        ),
        r"claim c: theorem: check 2 is a test; a theorem holds in every row: give it rows: every",
    ),
    (printed(sd=1.0, se=1.0, n=4), r"sd needs n, and excludes se"),
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
            one_verdict(claim(difference_check(statistic=statistic)), zero)
