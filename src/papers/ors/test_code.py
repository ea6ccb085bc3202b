"""Sequences are what the ORS paper describes; protocols return complete, finite, paired rows."""

from pathlib import Path

import numpy as np
import pytest
from running import frame

from noisylabels.seeding import Seeds
from ors import code as ors
from reproduction.data.prepared import Dataset
from reproduction.run.protocol_loop import Loop, Repetition
from reproduction.spec.strict_yaml import read

EXPERIMENTS = Path(__file__).parent
SEEDS = Seeds(1, "test")
GRID = {"r": [1.0, 10.0, 100.0], "beta": [1.0, 10.0]}
TASK = {"kind": "regression", "T": 1000, "d": 5, "M": 5, "process_noise": 0.01}
PLACE = Repetition(SEEDS, 0, {})
LINEAR = ors.Linear(T=4000, d=5, M=5.0, process_noise=0.01)


def settings(protocol, name, **changes):
    """Change the settings of an artifact, and make the tasks of a regression small."""
    written = read(EXPERIMENTS / f"{name}.yaml")["settings"]
    small = {"repetitions": 2, "grids": GRID}
    return protocol.protocol.settings.model_validate(written | small | changes)


def tune(protocol, chosen, seeds=SEEDS, data=None):
    return protocol.protocol.tune(chosen, Loop(data or {}, seeds))


def rows(protocol, chosen, tuned=None, repetitions=range(2), data=None):
    tuned = tune(protocol, chosen, data=data) if tuned is None else tuned
    return list(protocol(chosen, Loop(data or {}, SEEDS, repetitions, tuned)))


def table(*arguments, **options):
    return frame(rows(*arguments, **options))


# Sequences


def test_regression_is_linear_and_its_labels_have_independent_noise_of_known_variance():
    sequence = LINEAR.draw(PLACE)
    _, residual, *_ = np.linalg.lstsq(sequence.x, sequence.y, rcond=None)
    assert residual[0] / (4000 - 5) == pytest.approx(0.01, rel=0.1)
    g = (sequence.labels - sequence.y[:, None]) / np.sqrt(sequence.v)[:, None]
    assert g.std(0) == pytest.approx([1, 1], abs=0.05)
    assert abs(np.corrcoef(g.T)[0, 1]) < 0.07


def test_more_labels_and_other_variances_leave_the_inputs_alone():
    two_labels = LINEAR.draw(PLACE)
    four_labels = LINEAR.draw(PLACE, labels=4, model="increasing")
    assert np.array_equal(two_labels.x, four_labels.x)
    assert np.array_equal(two_labels.y, four_labels.y)
    assert not np.array_equal(two_labels.v, four_labels.v)


def test_channel_values():
    printed = [1, 0.6366, 0, -0.2122, 0, 0.1273, 0, -0.0909, 0, 0.0707]
    assert pytest.approx(printed, abs=5e-5) == ors.CHANNEL
    assert np.abs(np.roots(ors.CHANNEL)).max() == pytest.approx(0.816, abs=1e-3)


def test_the_equaliser_sees_the_filtered_source_newest_first():
    task = ors.Equalizer(kind="equalizer", T=3000, d=20, M=1.0, channel_noise=0.0)
    sequence = task.sequence(Loop({}, SEEDS), PLACE)
    expected = sum(ors.CHANNEL[k] * sequence.y[100 - k] for k in range(10))
    assert sequence.x[100, 0] == pytest.approx(expected)
    assert sequence.x[101, 1] == sequence.x[100, 0]


def sound(name, signal, rate=8000, variant="local"):
    return Dataset(name, "made", variant, {"signal": signal, "rate": np.array(rate)}, "")


def speech(number=0, signal=None, **changes):
    signal = 3 + 2 * np.random.default_rng(0).standard_normal(8000) if signal is None else signal
    data = {"speech": sound("speech", signal), "hall": sound("hall", np.eye(32)[5])}
    options = {"kind": "speech", "d": 32, "delay": 5, "channel_noise": 0.0}
    options |= {"room": "hall", "room_taps": 32}
    task = ors.Speech(**(options | {"tuning_fraction": 0.2} | changes))
    return task.sequence(Loop(data, SEEDS), Repetition(SEEDS, number, {}))


def test_speech_is_standardised_and_the_delay_aligns_the_direct_path():
    sequence = speech()
    assert (sequence.y.mean(), sequence.y.std()) == pytest.approx((0, 1))
    assert sequence.x.rows(1000, 1001)[0, 0] == pytest.approx(sequence.y[1000])
    assert np.array_equal(speech("tuning 0").y, sequence.y[:1600])  # the beginning of the signal


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"signal": np.ones(100)}, "speech: the signal is silent"),
        ({"tuning_fraction": 0.0}, "tuning_fraction"),
        ({"d": 9000}, "signal: 8000 samples are fewer than the filter's d = 9000 taps"),
    ],
)
def test_unusable_speech_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        speech(**changes)


@pytest.mark.parametrize(
    ("speech", "room", "used", "source"),
    [
        ("canonical", "canonical", "living_room", "canonical"),
        ("stand-in", "canonical", "living_room", "stand-in"),
        ("canonical", "stand-in", "living_room", "stand-in"),
        ("local", "stand-in", "living_room", "local + stand-in"),
        ("canonical", "local", "simulated", "canonical"),
    ],
)
def test_what_is_not_the_published_data_shows(speech, room, used, source):
    data = {
        "speech": sound("speech", [], 1, speech),
        "living_room": sound("living_room", [], 1, room),
    }
    options = {"d": 1, "delay": 0, "channel_noise": 0, "room_taps": 1, "tuning_fraction": 0.5}
    task = ors.Speech(kind="speech", room=used, **options)
    assert task.source(Loop(data, SEEDS)) == {"dataset": "speech", "source": source}


# Learning curves


@pytest.fixture
def curves():
    return settings(ors.filter_curves, "fig2", windows=10, tasks={"M=5": TASK})


def test_curves_hold_every_point_once_and_the_cumulative_error_is_the_mean_of_the_windows(curves):
    result = table(ors.filter_curves, curves)
    points = {"mse": 10, "mse_window": 10, "mse_tail": 1}
    counts = result.groupby(["setting", "method", "repetition", "metric"]).size()
    assert len(counts) == 2 * len(curves.methods) * 2 * 3
    assert all(count == points[metric] for (*_, metric), count in counts.items())
    assert not result.duplicated(["setting", "method", "repetition", "metric", "x"]).any()
    index = ["setting", "method", "repetition", "x"]
    curve_rows = result[result["metric"] != "mse_tail"]
    wide = curve_rows.pivot_table(index=index, columns="metric", values="value")
    for _, group in wide.groupby(level=[0, 1, 2]):
        expected = group["mse_window"].expanding().mean()
        assert group["mse"].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-8)


def test_blocks_of_repetitions_give_the_rows_of_one_block(curves):
    tuned = tune(ors.filter_curves, curves.model_copy(update={"repetitions": 3}))
    together = rows(ors.filter_curves, curves, tuned, range(3))
    separate = rows(ors.filter_curves, curves, tuned, range(1))
    separate += rows(ors.filter_curves, curves, tuned, range(1, 3))
    assert sorted(together, key=str) == sorted(separate, key=str)


def test_every_repetition_is_tuned_on_another_sequence_that_is_never_scored(curves, monkeypatch):
    received = []
    original = ors.Regression.sequence

    def watched(task, loop, repetition):
        received.append(repetition.number)
        return original(task, loop, repetition)

    monkeypatch.setattr(ors.Regression, "sequence", watched)
    tuned = tune(ors.filter_curves, curves)
    assert received == ["tuning 0", "tuning 1"]
    assert tuned["0"] != tuned["1"]
    rows(ors.filter_curves, curves, tuned)
    assert received[2:] == [0, 1]


def test_a_repetition_depends_on_its_own_tuning_only(curves):
    tuned = tune(ors.filter_curves, curves)
    changed = tuned | {"0": tune(ors.filter_curves, curves, Seeds(2, "other"))["0"]}
    result, of_changed = (rows(ors.filter_curves, curves, t) for t in (tuned, changed))
    unchanged = [row for row in result if row["repetition"] == 1]
    assert unchanged == [row for row in of_changed if row["repetition"] == 1]


def test_speech_rows_name_their_data_and_its_source():
    rng = np.random.default_rng(0)
    room = np.concatenate([[1.0], 0.3 * rng.standard_normal(200)])
    data = {
        "speech": sound("speech", rng.standard_normal(6000), 16_000),
        "living_room": sound("living_room", room, 16_000, "canonical"),
    }
    tasks = {
        name: task | {"seconds": 2, "d": 128, "room_taps": 128, "delay": 64}
        for name, task in read(EXPERIMENTS / "fig5.yaml")["settings"]["tasks"].items()
    }
    chosen = settings(ors.filter_curves, "fig5", windows=4, repetitions=1, tasks=tasks)
    result = table(ors.filter_curves, chosen, repetitions=range(1), data=data)
    assert (set(result["dataset"]), set(result["source"])) == ({"speech"}, {"local"})
    assert set(result["noise"]) == set(tasks)


# Budgets of labels


def test_the_budgets_share_r_with_figure_2(curves):
    """Figs. 2, 6 and 7 and our own artifacts agree on r, as their tuning sequences are equal."""
    task = {"T": 500, "d": 5, "M": 5, "process_noise": 0.01}
    fig7 = settings(ors.budget_trace, "fig7", task=task, tuning_rounds=1000)
    traced = tune(ors.budget_trace, fig7)
    for number, tuned in tune(ors.filter_curves, curves).items():
        assert traced[number]["r"] == tuned["M=5"]["shared_r"]["clean"]["parameters"]["r"]


def budgets(protocol, name, **changes):
    task = {"T": 3000, "d": 20, "M": 5, "process_noise": 0.01}
    return settings(protocol, name, task=task, tuning_rounds=3000, grids={"r": [10.0]}, **changes)


def test_budgets_are_kept_and_strategies_coincide_at_integers():
    chosen = budgets(ors.label_budget, "fig6", budgets=[1, 1.5, 2], noise=["uniform"])
    tuned = tune(ors.label_budget, chosen)
    assert tuned["0"]["r"] == 10.0
    assert set(tuned["0"]["a"]["uniform"]["scaling"]) == {"1.5"}
    result = table(ors.label_budget, chosen, tuned)
    index = ["setting", "repetition", "x", "metric"]
    wide = result.pivot_table(index=index, columns="method", values="value")
    for B in (1, 2):
        last = wide.xs(B, level="x")
        spent = last.xs("labels_per_round", level="metric")[["const", "begin", "auto"]]
        assert (spent == B).all(axis=None)
        errors = last.xs("mse", level="metric")
        for key in ("begin", "auto"):
            assert errors["const"].to_numpy() == pytest.approx(errors[key].to_numpy())
    spent = wide.xs(1.5, level="x").xs("labels_per_round", level="metric")
    assert np.abs(spent[["const", "begin", "auto"]].to_numpy() - 1.5).max() < 0.1


# Wrong beliefs


def beliefs(name="wrong_variance", **changes):
    return settings(ors.conditions, name, task=TASK, **changes)


def test_rules_that_use_no_variance_do_not_depend_on_the_given_one():
    result = table(ors.conditions, beliefs())
    spread = result.groupby(["method", "repetition"])["value"].agg(lambda v: v.max() - v.min())
    assert (spread[["clean", "noisy"]] == 0).all()
    assert (spread[["beta", "one"]] > 0).all()


def test_the_true_condition_is_the_undisturbed_sequence():
    one_condition = beliefs(conditions={"one": {"factor": 1.0}})
    result = table(ors.conditions, beliefs(), repetitions=range(1))
    of_one_condition = table(ors.conditions, one_condition, repetitions=range(1))
    truth = result[result["setting"] == "true"].set_index("method")["value"]
    assert truth.equals(of_one_condition.set_index("method")["value"])


def test_other_labels_keep_the_clean_target():
    result = table(ors.conditions, beliefs("other_noise"))
    clean = result[result["method"] == "clean"].groupby("repetition")["value"].nunique()
    assert (clean == 1).all()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"factor": 1, "constant": 2}, "constant and factor: a condition changes one thing"),
        ({"labels": "clip"}, "'clip' is unknown here; did you mean clipped"),
    ],
)
def test_a_condition_changes_one_known_thing(condition, message):
    with pytest.raises(ValueError, match=message):
        beliefs(conditions={"bad": condition})
