"""Agreement of whole tables with the paper, on tables with known truth."""

import csv

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import curve, table

from noisylabels.statistics import mean_se, t_interval
from reproduction.judge.agreement import COLUMNS, agreement, orders, over_sets, share
from reproduction.judge.verdicts import judge_files
from reproduction.run.results import write_rows

SETS = [f"d{i}" for i in range(8)]
METHODS = ("m0", "m1", "m2")
PRINTED = {}
for set_number, set_name in enumerate(SETS):
    for method_number, method_name in enumerate(METHODS):
        PRINTED[set_name, method_name] = 10.0 + 2 * set_number + method_number


def files(folder, ours, stand_in=(), margin=0.5):
    """An artifact with a printed value per data set and method, and a table with the means ``ours``."""
    artifact = folder / "paper/table.yaml"
    artifact.parent.mkdir(parents=True, exist_ok=True)
    artifact.write_text(f"published: {{margin: {margin}, reason: r}}\n", encoding="utf-8")
    with artifact.with_suffix(".published.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["id", "dataset", "method", "metric", "value", "se"])
        writer.writerows([f"{d}_{m}", d, m, "error", value, 0.01] for (d, m), value in PRINTED.items())
    noise = 0.01 * np.array([-1, 0, 1, 2, -2])
    rows = [
        curve(mean + noise, dataset=d, method=m, source="stand-in" if d in stand_in else "official")
        for (d, m), mean in ours.items()
    ]
    write_rows(table(*rows).to_dict("records"), folder / "table.csv")
    return [artifact], [folder / "table.csv"]


def agreed(folder, ours, scale="full", labels=(), **changes):
    artifacts, tables = files(folder, ours, **changes)
    frame = agreement(judge_files(artifacts, tables, scale, labels), scale)
    assert list(frame.columns) == COLUMNS
    controls = frame["control"] + ": " + frame["verdict"]
    frame["quantity"] = frame["quantity"].where(frame["control"] == "", controls)
    return frame.drop_duplicates(["metric", "noise", "method", "quantity"])


def whole(frame, method=""):
    return frame[frame["method"] == method].set_index("quantity")


def shifted(difference):
    return {key: value + difference(*key) for key, value in PRINTED.items()}


def test_equal_tables_agree(tmp_path):
    verdicts = whole(agreed(tmp_path, PRINTED))
    assert verdicts.loc["mean difference", ["estimate", "low", "high"]].to_list() == pytest.approx([0, 0, 0])
    assert verdicts.loc["mean ratio", "estimate"] == pytest.approx(1)
    for quantity, cells in (("same winner", 8), ("same order", 24)):
        row = verdicts.loc[quantity]
        assert row["estimate"] == 1
        assert row["high"] == 1
        assert row["sets"] == 8
        assert row["cells"] == cells
        assert row["low"] == pytest.approx(0.025 ** (1 / 8)), "eight sets that agree do not prove all"
    assert verdicts.loc["ours: reproduced", "estimate"] == verdicts.loc["ours: reproduced", "cells"] == 24


def test_the_mean_difference_and_its_interval_are_over_data_sets(tmp_path):
    by_set = dict(zip(SETS, np.random.default_rng(0).normal(1, 0.5, 8), strict=True))
    frame = agreed(tmp_path, shifted(lambda d, m: by_set[d] + (m == "m1")))
    expected = mean_se(np.array(list(by_set.values())) + 1 / 3)
    row = whole(frame).loc["mean difference"]
    assert [row["estimate"], row["low"], row["high"]] == pytest.approx([expected.mean, *t_interval(expected)])
    single = whole(frame, "m1").loc["mean difference", "estimate"]
    assert single == pytest.approx(expected.mean + 2 / 3)


def test_limits_of_agreement_are_two_standard_deviations_of_the_differences(tmp_path):
    gaps = dict(zip(PRINTED, np.random.default_rng(1).normal(0, 1, 24), strict=True))
    row = whole(agreed(tmp_path, shifted(lambda *key: gaps[key]))).loc["limits of agreement"]
    spread = 1.96 * np.std(list(gaps.values()), ddof=1)
    assert row["high"] - row["low"] == pytest.approx(2 * spread)


def test_another_winner_and_the_reverse_order_are_counted(tmp_path):
    swapped = {"m0": 2, "m1": 1, "m2": 0}
    half = shifted(lambda d, m: 2 * (swapped[m] - 1) if d in SETS[:4] else 0)
    verdicts = whole(agreed(tmp_path, half))
    assert verdicts.loc["same winner", "estimate"] == 0.5
    assert verdicts.loc["same order", "estimate"] == 0.5
    assert 0 < verdicts.loc["same order", "low"] < 0.5 < verdicts.loc["same order", "high"] < 1


def test_controls_tell_what_a_margin_can_tell(tmp_path):
    """A margin of half a point tells methods apart that are a point apart; one of five points does not."""
    labels = tmp_path / "d0.official.npz"
    np.savez(labels, y=np.repeat([1, -1], [90, 10]))
    narrow = whole(agreed(tmp_path, PRINTED, labels=[labels]))
    assert narrow.loc["neighbouring method: not_reproduced", "estimate"] == 24
    assert narrow.loc["constant classifier: reproduced", "estimate"] == 1, (
        "10 % of d0 are of the smaller class"
    )
    assert narrow.loc["constant classifier: reproduced", "cells"] == 3
    wide = whole(agreed(tmp_path, PRINTED, margin=5))
    assert wide.loc["neighbouring method: reproduced", "estimate"] == 24
    assert wide.loc["mean of the column: reproduced", "estimate"] == 4 * 3, (
        "sets within 5 points of the middle"
    )
    assert "constant classifier: reproduced" not in wide.index


def test_stand_ins_are_left_out_and_one_set_has_no_interval(tmp_path):
    row = whole(agreed(tmp_path, PRINTED, stand_in=SETS[1:])).loc["mean difference"]
    assert row["sets"] == 1
    assert row["cells"] == 3
    assert np.isnan(row["low"])


def test_a_reduced_run_measures_and_judges_nothing(tmp_path):
    frame = agreed(tmp_path, PRINTED, scale="smoke")
    assert set(frame["status"]) == {"ran"}
    assert not frame["quantity"].str.startswith("ours").any()
    assert whole(frame).loc["mean difference", "estimate"] == pytest.approx(0)


def test_artifacts_without_printed_values_have_no_rows(tmp_path):
    artifacts, tables = files(tmp_path, PRINTED)
    artifacts[0].write_text("claims: []\n", encoding="utf-8")
    assert agreement(judge_files(artifacts, tables, "full")).empty


@pytest.mark.nightly
def test_intervals_over_sets_cover_at_their_level():
    """Three cells of a set share its deviation: the naive interval over cells covers far less."""
    rng = np.random.default_rng(7)
    runs, hits, naive, shares = 1000, 0, 0, 0
    method = np.tile(range(3), 10)
    cells = pd.DataFrame({"dataset": np.repeat(range(10), 3)})
    for _ in range(runs):
        deviation = rng.normal(0.3, 1, 10)
        flipped = rng.random(10) < 0.3
        cells["ours"] = 20 + method * np.where(flipped, -1, 1).repeat(3)
        gap = deviation.repeat(3) + 0.2 * rng.standard_normal(30)
        low, high = over_sets(cells, pd.Series(gap))[1]
        hits += low <= 0.3 <= high
        low, high = t_interval(mean_se(gap))
        naive += low <= 0.3 <= high
        lines = [line for _, line in cells.assign(printed=20 + method).groupby("dataset")]
        low, high = share(orders(lines))[1]
        shares += low <= 0.7 <= high
    assert hits / runs == pytest.approx(0.95, abs=0.025)
    assert naive / runs < 0.8
    assert shares / runs > 0.9
