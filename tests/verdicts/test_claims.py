"""Claims hold, are contradicted by swapped curves, or are not shown."""

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import ORS, curve, noisy_mean, table
from verdict_inputs import ORS_CLAIMS, around, below, claim, one_verdict, two_methods

from noisylabels.verdicts.judge import judge


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
