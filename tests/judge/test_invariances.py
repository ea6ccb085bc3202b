"""Verdicts do not depend on the order of rows, on other methods, and move with the shift."""

from functools import cache

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_tables import curve, table
from verdict_inputs import around, claim, difference_check, everything, one_verdict, printed

from reproduction.judge.verdicts import judge
from reproduction.spec.verdict_words import leans


@cache
def judged_once():
    """Make claims of every kind, a table, and its verdicts, once for all examples."""
    entries, frame = everything(np.random.default_rng(0))
    return entries, frame, judge(entries, frame, "full")


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_row_order_does_not_matter(random):
    entries, frame, verdicts = judged_once()
    order = list(range(len(frame)))
    random.shuffle(order)
    shuffled = judge(entries, frame.iloc[order], "full")
    pd.testing.assert_frame_equal(verdicts, shuffled, check_exact=True)


names_of_methods = st.text("abcxyz_", min_size=1)


@given(
    st.floats(-1e6, 1e6),
    names_of_methods.filter(lambda name: name not in ("ours", "theirs")),
)
@settings(max_examples=15, deadline=None)
def test_another_method_changes_nothing(value, name):
    entries, frame, verdicts = judged_once()
    with_another_method = pd.concat([table(curve([value] * 10, method=name)), frame])
    counted = ["others", "others_passing"]
    before = verdicts.drop(columns=counted)
    after = judge(entries, with_another_method, "full").drop(columns=counted)
    pd.testing.assert_frame_equal(before, after, check_exact=True)


@given(st.lists(st.floats(0, 4), min_size=2, max_size=4), st.sampled_from([-1, 1]))
@settings(max_examples=15, deadline=None)
def test_verdicts_are_monotone_in_the_shift(shifts, sign):
    rank = {"reproduced": 0, "inconclusive": 1, "not_reproduced": 2}
    ours = around(10)
    ranks = []
    for shift in sorted(shifts):
        verdict = one_verdict(printed(), table(curve(ours + sign * shift)))
        ranks.append(rank[verdict["verdict"]])
    assert ranks == sorted(ranks)
    theirs = curve(around(11, seed=4), method="theirs")
    rows = []
    for shift in sorted(shifts):
        frame = table(curve(ours + shift), theirs)
        rows.append(one_verdict(claim(difference_check()), frame))
    order = [(rank[row["verdict"]], leans(row) == "against") for row in rows]
    assert order == sorted(order)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9))
@settings(max_examples=25, deadline=None)
def test_the_interval_contains_the_estimate(values):
    row = one_verdict(printed(), table(curve(values)))
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
