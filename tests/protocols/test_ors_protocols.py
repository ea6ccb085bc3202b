"""The ORS protocols return complete, finite, paired rows, and do what the paper's identities demand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisylabels.seeding import Seeds
from reproduction import artifact as artifacts
from reproduction.data.prepare import Dataset
from reproduction.protocols.ors import budget_trace, conditions, filter_curves, label_budget
from reproduction.results import read_table, write_rows

ROOT = Path(__file__).resolve().parents[2]
SEEDS = Seeds(1, "test")
GRID = {"r": [1.0, 10.0, 100.0], "beta": [1.0, 10.0]}


def artifact(name):
    return artifacts.load(ROOT / f"config/experiments/ors/{name}.yaml", "smoke")


def table(protocol, settings, path, data=None, repetitions=range(2)):
    tuned = protocol.tune(settings, data or {}, SEEDS)
    write_rows(protocol.run(settings, data or {}, SEEDS, repetitions, tuned), path / "t.csv")
    return read_table(path / "t.csv"), tuned


@pytest.fixture
def curves():
    settings = artifact("fig2").settings | {"grids": GRID, "windows": 10}
    settings["tasks"] = {"M=5": {"kind": "regression", "T": 1000, "d": 5, "M": 5, "process_noise": 0.01}}
    return settings


def test_curves_hold_every_method_mode_metric_and_point_once(curves, tmp_path):
    frame, _ = table(filter_curves, curves, tmp_path)
    points = {"mse": 10, "mse_window": 10, "mse_tail": 1}
    counts = frame.groupby(["setting", "method", "repetition", "metric"]).size()
    assert len(counts) == 2 * len(curves["methods"]) * 2 * 3
    assert all(count == points[metric] for (*_, metric), count in counts.items())
    assert not frame.duplicated(["setting", "method", "repetition", "metric", "x"]).any()


def test_the_cumulative_error_is_the_running_mean_of_the_windows(curves, tmp_path):
    frame, _ = table(filter_curves, curves, tmp_path)
    wide = frame[frame["metric"] != "mse_tail"].pivot_table(
        index=["setting", "method", "repetition", "x"], columns="metric", values="value"
    )
    for _, group in wide.groupby(level=[0, 1, 2]):
        expected = group["mse_window"].expanding().mean()
        assert group["mse"].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-8)


def test_blocks_of_repetitions_give_the_rows_of_one_block(curves):
    tuned = filter_curves.tune(curves, {}, SEEDS)
    together = filter_curves.run(curves, {}, SEEDS, range(3), tuned)
    apart = [
        row
        for block in (range(0, 1), range(1, 3))
        for row in filter_curves.run(curves, {}, SEEDS, block, tuned)
    ]
    assert together == apart


def test_a_half_step_is_what_one_pred_u_does(curves):
    """g = 1/2: the same predictions as `noisy` only if r' = 2 r + X; at equal r the two differ."""
    tuned = filter_curves.tune(curves, {}, SEEDS)
    shared, per_variant = tuned["0"]["M=5"]["shared_r"], tuned["0"]["M=5"]["per_variant"]
    assert shared["noisy"]["parameters"] == shared["one_pred_u"]["parameters"]
    assert per_variant["noisy"]["parameters"]["r"] >= per_variant["one_pred_u"]["parameters"]["r"]


def test_every_repetition_is_tuned_on_a_sequence_of_its_own_that_is_never_scored(curves, monkeypatch):
    seen = []
    original = filter_curves.sequence
    monkeypatch.setattr(
        filter_curves,
        "sequence",
        lambda task, data, seeds, repetition: (
            seen.append(repetition) or original(task, data, seeds, repetition)
        ),
    )
    tuned = filter_curves.tune(curves | {"repetitions": 2}, {}, SEEDS)
    assert seen == ["tuning 0", "tuning 1"]
    assert tuned["0"] != tuned["1"]
    filter_curves.run(curves, {}, SEEDS, range(2), tuned)
    assert seen[2:] == [0, 1]


def test_a_repetition_depends_on_its_own_tuning_only(curves):
    tuned = filter_curves.tune(curves, {}, SEEDS)
    other = tuned | {"0": filter_curves.tune(curves, {}, Seeds(2, "other"))["0"]}
    rows, same = (filter_curves.run(curves, {}, SEEDS, range(2), t) for t in (tuned, other))
    assert [r for r in rows if r["repetition"] == 1] == [r for r in same if r["repetition"] == 1]


def test_the_budgets_share_r_with_figure_2(curves):
    """Same experiment, same tuning sequences: Figs. 2, 6 and 7 and our own artifacts agree on r."""
    fig2 = filter_curves.tune(curves | {"repetitions": 2}, {}, SEEDS)
    task = {"T": 500, "d": 5, "M": 5, "process_noise": 0.01}
    budgets = {"repetitions": 2, "task": task, "tuning_rounds": 1000, "grids": GRID}
    traced = budget_trace.tune(budgets, {}, SEEDS)
    for repetition, tuned in fig2.items():
        assert traced[repetition]["r"] == tuned["M=5"]["shared_r"]["clean"]["parameters"]["r"]


def test_speech_rows_name_their_data_and_its_source(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"signal": rng.standard_normal(6000), "rate": np.array(16_000)}
    room = {"signal": np.concatenate([[1.0], 0.3 * rng.standard_normal(200)]), "rate": np.array(16_000)}
    data = {
        "speech": Dataset("speech", "local", "local", arrays, ""),
        "living_room": Dataset("living_room", "package", "canonical", room, ""),
    }
    settings = artifact("fig5").settings | {"grids": GRID, "windows": 4, "repetitions": 1}
    frame, _ = table(filter_curves, settings, tmp_path, data, range(1))
    assert set(frame["dataset"]) == {"speech"}
    assert set(frame["source"]) == {"local"}
    assert set(frame["noise"]) == set(settings["tasks"])


def test_budgets_are_kept_and_strategies_coincide_at_integers(tmp_path):
    settings = artifact("fig6").settings | {
        "budgets": [1, 1.5, 2],
        "noise": ["uniform"],
        "grids": {"r": [10.0]},
    }
    frame, tuned = table(label_budget, settings, tmp_path)
    assert tuned["0"]["r"] == 10.0
    assert set(tuned["0"]["a"]["uniform"]["scaling"]) == {"1.5"}
    wide = frame.pivot_table(index=["setting", "repetition", "x", "metric"], columns="method", values="value")
    for B in (1, 2):
        at = wide.xs(B, level="x")
        assert (at.xs("labels_per_round", level="metric")[["const", "begin", "auto"]] == B).all().all()
        errors = at.xs("mse", level="metric")
        assert errors["const"].to_numpy() == pytest.approx(errors["begin"].to_numpy())
        assert errors["const"].to_numpy() == pytest.approx(errors["auto"].to_numpy())
    spent = wide.xs(1.5, level="x").xs("labels_per_round", level="metric")
    assert np.abs(spent[["const", "begin", "auto"]].to_numpy() - 1.5).max() < 0.1


def test_the_threshold_of_the_self_tuned_strategy_moves_by_factors_of_two(tmp_path):
    frame, _ = table(budget_trace, artifact("fig7").settings | {"grids": {"r": [10.0]}}, tmp_path)
    a = frame[(frame["metric"] == "a") & (frame["repetition"] == 0)]["value"].to_numpy()
    assert set(np.unique(a[1:] / a[:-1])) <= {0.5, 2.0}
    spent = frame[frame["metric"] == "labels_per_round"]
    assert spent["value"].between(1, 2).all()
    assert spent["x"].max() == 3000


@pytest.fixture
def beliefs():
    settings = artifact("wrong_variance").settings | {"grids": GRID}
    settings["task"] = {"kind": "regression", "T": 2000, "d": 5, "M": 5, "process_noise": 0.01}
    return settings


def test_rules_that_use_no_variance_do_not_care_what_they_are_told(beliefs, tmp_path):
    frame, _ = table(conditions, beliefs, tmp_path)
    spread = frame.groupby(["method", "repetition"])["value"].agg(lambda v: v.max() - v.min())
    assert (spread[["clean", "noisy"]] == 0).all()
    assert (spread[["beta", "one"]] > 0).all()


def test_the_true_condition_is_the_undisturbed_sequence(beliefs):
    tuned = conditions.tune(beliefs, {}, SEEDS)
    rows = pd.DataFrame(conditions.run(beliefs, {}, SEEDS, range(1), tuned))
    factor_one = beliefs | {"conditions": {"one": {"factor": 1.0}}}
    same = pd.DataFrame(conditions.run(factor_one, {}, SEEDS, range(1), tuned))
    truth = rows[rows["setting"] == "true"].set_index("method")["value"]
    assert truth.equals(same.set_index("method")["value"])


def test_other_labels_keep_the_clean_target(beliefs, tmp_path):
    settings = artifact("other_noise").settings | {"grids": GRID, "task": beliefs["task"]}
    frame, _ = table(conditions, settings, tmp_path)
    clean = frame[frame["method"] == "clean"].groupby("repetition")["value"].nunique()
    assert (clean == 1).all()
