"""Agreement of whole tables with the paper, on tables with known truth."""

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
    """Write an artifact with a printed value per data set and method, and a table of our means."""
    artifact = folder / "paper/table.yaml"
    artifact.parent.mkdir(parents=True, exist_ok=True)
    artifact.write_text(f"published: {{margin: {margin}, reason: r}}\n", encoding="utf-8")
    lines = ["id,dataset,method,metric,value,se"]
    for (dataset, method), value in PRINTED.items():
        lines.append(f"{dataset}_{method},{dataset},{method},error,{value},0.01")
    published = artifact.with_suffix(".published.csv")
    published.write_text("\n".join(lines) + "\n", encoding="utf-8")
    noise = 0.01 * np.array([-1, 0, 1, 2, -2])
    curves = []
    for (dataset, method), mean in ours.items():
        source = "stand-in" if dataset in stand_in else "official"
        keys = {"dataset": dataset, "method": method, "source": source}
        curves.append(curve(mean + noise, **keys))
    rows = table(*curves).to_dict("records")
    write_rows(rows, folder / "table.csv")
    return [artifact], [folder / "table.csv"]


def agreed(folder, ours, scale="full", labels=(), **changes):
    artifacts, tables = files(folder, ours, **changes)
    verdicts = judge_files(artifacts, tables, scale, labels)
    frame = agreement(verdicts, scale)
    assert list(frame.columns) == COLUMNS
    is_quantity = frame["control"] == ""
    controls = frame["control"] + ": " + frame["verdict"]
    frame["quantity"] = frame["quantity"].where(is_quantity, controls)
    return frame.drop_duplicates(["metric", "noise", "method", "quantity"])


def whole(frame, method=""):
    return frame[frame["method"] == method].set_index("quantity")


def interval(row):
    return [row["estimate"], row["low"], row["high"]]


def shifted(difference):
    return {key: value + difference(*key) for key, value in PRINTED.items()}


def test_equal_tables_agree(tmp_path):
    verdicts = whole(agreed(tmp_path, PRINTED))
    assert interval(verdicts.loc["mean difference"]) == pytest.approx([0, 0, 0])
    assert verdicts.loc["mean ratio", "estimate"] == pytest.approx(1)
    for quantity, cells in (("same winner", 8), ("same order", 24)):
        row = verdicts.loc[quantity]
        assert row["estimate"] == 1
        assert row["high"] == 1
        assert row["sets"] == 8
        assert row["cells"] == cells
        eight_sets_that_agree = 0.025 ** (1 / 8)  # they do not prove all
        assert row["low"] == pytest.approx(eight_sets_that_agree)
    reproduced = verdicts.loc["ours: reproduced"]
    assert reproduced["estimate"] == 24
    assert reproduced["cells"] == 24


def test_the_mean_difference_and_its_interval_are_over_data_sets(tmp_path):
    shifts = np.random.default_rng(0).normal(1, 0.5, 8)
    of_set = dict(zip(SETS, shifts, strict=True))
    ours = shifted(lambda dataset, method: of_set[dataset] + (method == "m1"))
    frame = agreed(tmp_path, ours)
    expected = mean_se(shifts + 1 / 3)
    row = whole(frame).loc["mean difference"]
    assert interval(row) == pytest.approx([expected.mean, *t_interval(expected)])
    single = whole(frame, "m1").loc["mean difference", "estimate"]
    assert single == pytest.approx(expected.mean + 2 / 3)


def test_limits_of_agreement_are_two_standard_deviations_of_the_differences(tmp_path):
    gaps = np.random.default_rng(1).normal(0, 1, 24)
    gap_of_cell = dict(zip(PRINTED, gaps, strict=True))
    ours = shifted(lambda *cell: gap_of_cell[cell])
    row = whole(agreed(tmp_path, ours)).loc["limits of agreement"]
    spread = 1.96 * np.std(gaps, ddof=1)
    assert row["high"] - row["low"] == pytest.approx(2 * spread)


def test_another_winner_and_the_reverse_order_are_counted(tmp_path):
    to_reverse_order = {"m0": 2, "m1": 0, "m2": -2}

    def shift(dataset, method):
        return to_reverse_order[method] if dataset in SETS[:4] else 0

    verdicts = whole(agreed(tmp_path, shifted(shift)))
    assert verdicts.loc["same winner", "estimate"] == 0.5
    same_order = verdicts.loc["same order"]
    assert same_order["estimate"] == 0.5
    assert 0 < same_order["low"] < 0.5 < same_order["high"] < 1


def test_controls_tell_what_a_margin_can_tell(tmp_path):
    """Methods are a point apart: a margin of half a point tells them apart, one of five not."""
    labels = tmp_path / "d0.official.npz"
    np.savez(labels, y=np.repeat([1, -1], [90, 10]))
    narrow = whole(agreed(tmp_path, PRINTED, labels=[labels]))
    assert narrow.loc["neighbouring method: not_reproduced", "estimate"] == 24
    constant = narrow.loc["constant classifier: reproduced"]
    assert constant["estimate"] == 1, "10 % of d0 are of the smaller class"
    assert constant["cells"] == 3
    wide = whole(agreed(tmp_path, PRINTED, margin=5))
    assert wide.loc["neighbouring method: reproduced", "estimate"] == 24
    mean_of_the_column = wide.loc["mean of the column: reproduced"]
    assert mean_of_the_column["estimate"] == 4 * 3, "sets within 5 points of the middle"
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
    runs = 1000
    covered_over_sets = 0
    covered_over_cells = 0
    covered_share = 0
    method = np.tile(range(3), 10)
    cells = pd.DataFrame({"dataset": np.repeat(range(10), 3), "printed": 20 + method})
    for _ in range(runs):
        deviation = rng.normal(0.3, 1, 10)
        direction = np.where(rng.random(10) < 0.3, -1, 1)
        cells["ours"] = 20 + method * direction.repeat(3)
        gap = deviation.repeat(3) + 0.2 * rng.standard_normal(30)
        _, (low, high) = over_sets(cells, pd.Series(gap))
        covered_over_sets += low <= 0.3 <= high
        low, high = t_interval(mean_se(gap))
        covered_over_cells += low <= 0.3 <= high
        lines = [line for _, line in cells.groupby("dataset")]
        _, (low, high) = share(orders(lines))
        covered_share += low <= 0.7 <= high
    assert covered_over_sets / runs == pytest.approx(0.95, abs=0.025)
    assert covered_over_cells / runs < 0.8
    assert covered_share / runs > 0.9
