"""Printed values: known distributions in, known verdicts out."""

import numpy as np
import pytest
from scipy import stats
from synthetic_tables import curve, table
from verdict_inputs import MARGIN, around, below, claim, one_verdict, printed

from noisylabels.verdicts.judge import judge


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
