"""Printed values: known distributions in, known verdicts out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from synthetic_tables import curve, table
from verdict_inputs import MARGIN, around, claim, difference_check, one_verdict, printed

from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge

SAY = Sentences().evidence
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (10.0, "reproduced"),
        (10.1, "reproduced"),
        (10.45, "inconclusive"),
        (9.5, "inconclusive"),
        (11.5, "not_reproduced"),
        (8.5, "not_reproduced"),
    ],
)
def test_published_value(ours, verdict):
    row = one_verdict(printed(), table(curve(around(ours))))
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(ours)
    assert row["published"] == pytest.approx(10)
    assert row["margin"] == pytest.approx(MARGIN)
    assert row["n"] == 30


def test_a_result_three_margins_off_differs():
    frame = table(curve(around(10.0)))
    assert one_verdict(printed(), frame)["verdict"] == "reproduced"
    shifted = frame.assign(value=frame["value"] + 3 * MARGIN)
    assert one_verdict(printed(), shifted)["verdict"] == "not_reproduced"


def test_p_values_are_those_of_scipy():
    values = around(10.4, n=32)
    row = one_verdict(printed(), table(curve(values)))
    above_low_end = stats.ttest_1samp(values, 10 - MARGIN, alternative="greater")
    below_high_end = stats.ttest_1samp(values, 10 + MARGIN, alternative="less")
    p = max(above_low_end.pvalue, below_high_end.pvalue)
    assert row["p_adjusted"] == pytest.approx(p)
    low, high = stats.ttest_1samp(values, 0).confidence_interval()
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))


def test_the_printed_error_widens_the_comparison():
    frame = table(curve(around(10.0, sd=0.1)))
    assert one_verdict(printed(se=0.01, n=10), frame)["verdict"] == "reproduced"
    assert one_verdict(printed(se=0.4, n=10), frame)["verdict"] == "inconclusive"
    by_sd = one_verdict(printed(sd=0.4 * np.sqrt(10), n=10), frame)
    by_se = one_verdict(printed(se=0.4, n=10), frame)
    assert by_sd["p_adjusted"] == pytest.approx(by_se["p_adjusted"])


def test_each_value_is_judged_by_its_own_interval_and_the_corrections_are_marks_beside_it():
    curves = []
    entries = []
    for i in range(8):
        curves.append(curve(around(10.4, seed=i), noise=f"n{i}"))
        entries.append(printed(id=f"v{i}", where={"method": "ours", "noise": f"n{i}"}))
    frame = table(*curves)
    alone = one_verdict(entries[0], frame)
    together = judge({"published": entries}, frame, "full")
    assert alone["verdict"] == "reproduced"
    assert set(together["verdict"]) == {"reproduced"}
    assert together["p_agree"].to_list() == pytest.approx([alone["p_agree"]] * 8)
    assert together["p_adjusted"].to_list() == pytest.approx([8 * alone["p_agree"]] * 8)
    assert (together["holm"] == "").all(), "8 times the p-value is above 5 %"
    assert (together["bh"] == "reproduced").all(), "equal p-values stay what they are"
    assert SAY(together.iloc[0]).endswith("; the verdict survives Benjamini-Hochberg over 8 values")
    assert alone["holm"] == "reproduced"
    assert alone["bh"] == "reproduced"


@pytest.mark.parametrize("seed", range(5))
def test_reproduced_is_a_90_percent_interval_within_the_margin(seed):
    ours = around(10.0 + 0.1 * seed, sd=0.5, n=35, seed=seed)
    row = one_verdict(printed(se=0.1, n=10), table(curve(ours)))
    low, high = _welch_interval(ours)
    is_within = low > -MARGIN and high < MARGIN
    assert (row["verdict"] == "reproduced") == is_within
    assert (row["p_agree"] < 0.05) == is_within


def _welch_interval(ours):
    """The 90 % interval of the difference by Welch's formula, written out."""
    squares = np.array([ours.var(ddof=1) / 35, 0.1**2])
    df = squares.sum() ** 2 / (squares**2 / [34, 9]).sum()
    half = stats.t.ppf(0.95, df) * np.sqrt(squares.sum())
    difference = ours.mean() - 10
    return difference - half, difference + half


def test_one_realisation_is_compared_but_shows_nothing():
    close_value = one_verdict(printed(), table(curve([10.2])))
    far_value = one_verdict(printed(), table(curve([12])))
    assert close_value["verdict"] == "inconclusive"
    assert far_value["verdict"] == "inconclusive"
    assert SAY(close_value).endswith("one realisation, no test; it lies within the tolerance")
    assert SAY(far_value).endswith("one realisation, no test; it lies beyond the tolerance")
    for column in ("p_adjusted", "p_agree", "p_contra"):
        assert np.isnan(close_value[column])


def test_equal_repetitions_count_as_one_and_are_compared_exactly():
    close_value = one_verdict(printed(), table(curve([10.2] * 5)))
    far_value = one_verdict(printed(), table(curve([12] * 5)))
    assert close_value["verdict"] == "reproduced"
    assert far_value["verdict"] == "not_reproduced"
    assert close_value["n"] == 1
    assert close_value["holm"] == "reproduced"
    assert far_value["bh"] == "not_reproduced"
    sentence = SAY(close_value)
    assert "all 5 repetitions are equal: they count as one; compared without a test" in sentence


def test_equal_repetitions_are_tested_against_a_printed_mean_with_an_error():
    theirs = around(9.8, sd=0.2 * np.sqrt(10), n=10)
    expected = stats.ttest_1samp(theirs, 10 - MARGIN, alternative="greater").pvalue
    for repetitions in (2, 10):
        frame = table(curve([10.2] * repetitions))
        row = one_verdict(printed(se=0.2, n=10), frame)
        assert row["p_agree"] == pytest.approx(expected)
        assert row["n"] == 1


BOTH_SETS = {"method": "ours", "dataset": ["a", "b"]}


def test_a_listed_selector_is_averaged_within_the_repetition():
    frame = table(curve(around(9), dataset="a"), curve(around(11), dataset="b"))
    row = one_verdict(printed(where=BOTH_SETS), frame)
    assert row["estimate"] == pytest.approx(10)
    assert row["n"] == 30


def test_unequal_repetitions_use_the_common_ones_and_say_so():
    frame = table(curve(around(9), dataset="a"), curve(around(11, n=50), dataset="b"))
    row = one_verdict(printed(where=BOTH_SETS), frame)
    assert row["n"] == 30
    assert "20 incomplete repetitions left out" in SAY(row)


@pytest.mark.parametrize("entry", [printed(), claim(difference_check())])
def test_stand_in_data_is_not_comparable(entry):
    frame = table(
        curve(around(10), source="stand-in (magic)", dataset="susy"),
        curve(around(12), source="stand-in (magic)", dataset="susy", method="theirs"),
    )
    row = one_verdict(entry, frame)
    assert row["verdict"] == "not_comparable"
    assert "substitute data for susy" in SAY(row)
    assert SAY(row).endswith(("on these rows: reproduced", "on these rows: reproduced"))
    assert np.isnan(row["p_adjusted"])


def test_only_the_selected_rows_count_as_stand_in():
    frame = table(curve(around(10), dataset="a"), curve(around(10), dataset="b", source="stand-in"))
    of_one_set = printed(where={"method": "ours", "dataset": "a"})
    assert one_verdict(of_one_set, frame)["verdict"] == "reproduced"


def test_declared_not_comparable_needs_no_rows():
    absent = printed(where={"method": "libsvm"}, not_comparable="the reference program is closed")
    row = one_verdict(absent, table(curve(around(10))))
    assert row["verdict"] == "not_comparable"
    assert SAY(row).startswith("the reference program is closed: no rows for it")


@pytest.mark.parametrize(
    "entry",
    [
        printed(),
        claim(difference_check()),
        printed(value=99),
        printed(where={"method": "left_out"}),
    ],
)
def test_reduced_runs_only_ran(entry):
    frame = table(curve(around(10)), curve(around(12), method="theirs"))
    row = one_verdict(entry, frame, "smoke")
    assert row["verdict"] == "ran"
    assert np.isnan(row["p_adjusted"])
    assert ("no rows for it" in SAY(row)) == np.isnan(row["estimate"])


@pytest.mark.parametrize(("dataset", "test_points"), [("ida_heart", 100), ("ida_diabetes", 300)])
def test_the_printed_boosting_means_are_those_of_ten_runs(dataset, test_points):
    """A mean of R errors on n points is a multiple of 100 / (R n); the paper has two decimals."""
    table = pd.read_csv(ROOT / "src/papers/kernel_boost/boosters.published.csv")
    rows = table[table["dataset"] == dataset]
    means = rows["value"]
    assert (rows["n"] == 10).all()
    possible = []
    for runs in range(1, 20):
        n_errors = (means * runs * test_points / 100).round()
        nearest = n_errors * 100 / (runs * test_points)
        if ((means - nearest).abs() <= 0.0051).all():
            possible.append(runs)
    assert possible == [10]
