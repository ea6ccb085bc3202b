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
    artifact = read(EXPERIMENTS / f"{name}.yaml")
    small = {"repetitions": 2, "grids": GRID}
    changed = artifact["settings"] | small | changes
    schema = protocol.protocol.settings
    return schema.model_validate(changed)


def tune(protocol, chosen, seeds=SEEDS, data=None):
    loop = Loop(data or {}, seeds)
    return protocol.protocol.tune(chosen, loop)


def rows(protocol, chosen, tuned=None, repetitions=range(2), data=None):
    if tuned is None:
        tuned = tune(protocol, chosen, data=data)
    loop = Loop(data or {}, SEEDS, repetitions, tuned)
    return list(protocol(chosen, loop))


def table(*arguments, **options):
    return frame(rows(*arguments, **options))


# Sequences


def test_regression_is_linear_and_its_labels_have_independent_noise_of_known_variance():
    sequence = LINEAR.draw(PLACE)
    _, residual, *_ = np.linalg.lstsq(sequence.x, sequence.y, rcond=None)
    degrees_of_freedom = 4000 - 5
    process_variance = residual[0] / degrees_of_freedom
    assert process_variance == pytest.approx(0.01, rel=0.1)
    sd = np.sqrt(sequence.v)
    noise = sequence.labels - sequence.y[:, None]
    standardised = noise / sd[:, None]
    assert standardised.std(0) == pytest.approx([1, 1], abs=0.05)
    correlations = np.corrcoef(standardised.T)
    assert abs(correlations[0, 1]) < 0.07


def test_more_labels_and_other_variances_leave_the_inputs_alone():
    two_labels = LINEAR.draw(PLACE)
    four_labels = LINEAR.draw(PLACE, labels=4, model="increasing")
    assert np.array_equal(two_labels.x, four_labels.x)
    assert np.array_equal(two_labels.y, four_labels.y)
    assert not np.array_equal(two_labels.v, four_labels.v)


def test_channel_values():
    printed = [1, 0.6366, 0, -0.2122, 0, 0.1273, 0, -0.0909, 0, 0.0707]
    assert pytest.approx(printed, abs=5e-5) == ors.CHANNEL
    sizes_of_roots = np.abs(np.roots(ors.CHANNEL))
    assert sizes_of_roots.max() == pytest.approx(0.816, abs=1e-3)


def test_the_equaliser_sees_the_filtered_source_newest_first():
    task = ors.Equalizer(kind="equalizer", T=3000, d=20, M=1.0, channel_noise=0.0)
    loop = Loop({}, SEEDS)
    sequence = task.sequence(loop, PLACE)
    newest_first = sequence.y[100:90:-1]
    expected = ors.CHANNEL @ newest_first
    newest_input = sequence.x[100, 0]
    assert newest_input == pytest.approx(expected)
    assert sequence.x[101, 1] == newest_input


def sound(name, signal, rate=8000, variant="local"):
    arrays = {"signal": signal, "rate": np.array(rate)}
    return Dataset(name, "made", variant, arrays, "")


SPEECH = {
    "kind": "speech",
    "d": 32,
    "delay": 5,
    "channel_noise": 0.0,
    "room": "hall",
    "room_taps": 32,
    "tuning_fraction": 0.2,
}


def speech(number=0, signal=None, **changes):
    if signal is None:
        rng = np.random.default_rng(0)
        signal = 3 + 2 * rng.standard_normal(8000)
    impulse = np.zeros(32)
    impulse[5] = 1
    data = {"speech": sound("speech", signal), "hall": sound("hall", impulse)}
    options = SPEECH | changes
    task = ors.Speech(**options)
    loop = Loop(data, SEEDS)
    repetition = Repetition(SEEDS, number, {})
    return task.sequence(loop, repetition)


def test_speech_is_standardised_and_the_delay_aligns_the_direct_path():
    sequence = speech()
    assert sequence.y.mean() == pytest.approx(0)
    assert sequence.y.std() == pytest.approx(1)
    row = sequence.x.rows(1000, 1001)
    assert row[0, 0] == pytest.approx(sequence.y[1000])
    tuning = speech("tuning 0")
    beginning = sequence.y[:1600]
    assert np.array_equal(tuning.y, beginning)


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
    ("speech", "room", "room_name", "source"),
    [
        ("canonical", "canonical", "living_room", "canonical"),
        ("stand-in", "canonical", "living_room", "stand-in"),
        ("canonical", "stand-in", "living_room", "stand-in"),
        ("local", "stand-in", "living_room", "local + stand-in"),
        ("canonical", "local", "simulated", "canonical"),
    ],
)
def test_what_is_not_the_published_data_shows(speech, room, room_name, source):
    data = {
        "speech": sound("speech", [], 1, speech),
        "living_room": sound("living_room", [], 1, room),
    }
    options = {"d": 1, "delay": 0, "channel_noise": 0, "room_taps": 1, "tuning_fraction": 0.5}
    task = ors.Speech(kind="speech", room=room_name, **options)
    loop = Loop(data, SEEDS)
    assert task.source(loop) == {"dataset": "speech", "source": source}


# Learning curves


@pytest.fixture
def curves():
    return settings(ors.filter_curves, "fig2", windows=10, tasks={"M=5": TASK})


def test_curves_hold_every_point_once_and_the_cumulative_error_is_the_mean_of_the_windows(curves):
    result = table(ors.filter_curves, curves)
    points = {"mse": 10, "mse_window": 10, "mse_tail": 1}
    run_columns = ["setting", "method", "repetition"]
    curve_columns = [*run_columns, "metric"]
    counts = result.groupby(curve_columns).size()
    runs = 2 * len(curves.methods) * 2
    assert len(counts) == runs * len(points)
    for (*_, metric), count in counts.items():
        assert count == points[metric]
    is_repeated = result.duplicated([*curve_columns, "x"])
    assert not is_repeated.any()
    is_tail = result["metric"] == "mse_tail"
    index = [*run_columns, "x"]
    wide = result[~is_tail].pivot_table(index=index, columns="metric", values="value")
    for _, group in wide.groupby(level=[0, 1, 2]):
        windows = group["mse_window"]
        expected = windows.expanding().mean().to_numpy()
        assert group["mse"].to_numpy() == pytest.approx(expected, rel=1e-8)


def test_blocks_of_repetitions_give_the_rows_of_one_block(curves):
    three_repetitions = curves.model_copy(update={"repetitions": 3})
    tuned = tune(ors.filter_curves, three_repetitions)
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
    other_seeds = Seeds(2, "other")
    tuned_otherwise = tune(ors.filter_curves, curves, other_seeds)
    changed = tuned | {"0": tuned_otherwise["0"]}
    rows_of_1 = []
    for tuning in (tuned, changed):
        result = rows(ors.filter_curves, curves, tuning)
        rows_of_1.append([row for row in result if row["repetition"] == 1])
    assert rows_of_1[0] == rows_of_1[1]


def test_speech_rows_name_their_data_and_its_source():
    rng = np.random.default_rng(0)
    echo = 0.3 * rng.standard_normal(200)
    room = np.concatenate([[1.0], echo])
    signal = rng.standard_normal(6000)
    data = {
        "speech": sound("speech", signal, 16_000),
        "living_room": sound("living_room", room, 16_000, "canonical"),
    }
    published = read(EXPERIMENTS / "fig5.yaml")["settings"]
    small = {"seconds": 2, "d": 128, "room_taps": 128, "delay": 64}
    tasks = {name: task | small for name, task in published["tasks"].items()}
    chosen = settings(ors.filter_curves, "fig5", windows=4, repetitions=1, tasks=tasks)
    result = table(ors.filter_curves, chosen, repetitions=range(1), data=data)
    assert set(result["dataset"]) == {"speech"}
    assert set(result["source"]) == {"local"}
    assert set(result["noise"]) == set(tasks)


# Budgets of labels


def test_the_budgets_share_r_with_figure_2(curves):
    """Figs. 2, 6 and 7 and our own artifacts agree on r, as their tuning sequences are equal."""
    task = {"T": 500, "d": 5, "M": 5, "process_noise": 0.01}
    fig7 = settings(ors.budget_trace, "fig7", task=task, tuning_rounds=1000)
    traced = tune(ors.budget_trace, fig7)
    tuned_curves = tune(ors.filter_curves, curves)
    for number, tuned in tuned_curves.items():
        shared = tuned["M=5"]["shared_r"]
        parameters = shared["clean"]["parameters"]
        assert traced[number]["r"] == parameters["r"]


def budgets(protocol, name, **changes):
    task = {"T": 3000, "d": 20, "M": 5, "process_noise": 0.01}
    return settings(protocol, name, task=task, tuning_rounds=3000, grids={"r": [10.0]}, **changes)


def test_budgets_are_kept_and_strategies_coincide_at_integers():
    chosen = budgets(ors.label_budget, "fig6", budgets=[1, 1.5, 2], noise=["uniform"])
    tuned = tune(ors.label_budget, chosen)
    first_tuned = tuned["0"]
    assert first_tuned["r"] == 10.0
    scaling = first_tuned["a"]["uniform"]["scaling"]
    assert set(scaling) == {"1.5"}
    result = table(ors.label_budget, chosen, tuned)
    index = ["setting", "repetition", "x", "metric"]
    wide = result.pivot_table(index=index, columns="method", values="value")
    strategies = ["const", "begin", "auto"]
    labels_per_round = wide.xs("labels_per_round", level="metric")[strategies]
    errors = wide.xs("mse", level="metric")
    for B in (1, 2):
        spent = labels_per_round.xs(B, level="x")
        assert (spent == B).all(axis=None)
        errors_of_budget = errors.xs(B, level="x")
        constant = errors_of_budget["const"].to_numpy()
        for strategy in ("begin", "auto"):
            assert constant == pytest.approx(errors_of_budget[strategy].to_numpy())
    spent = labels_per_round.xs(1.5, level="x")
    difference = spent.to_numpy() - 1.5
    assert np.abs(difference).max() < 0.1


# Wrong beliefs


def beliefs(name="wrong_variance", **changes):
    return settings(ors.conditions, name, task=TASK, **changes)


def test_rules_that_use_no_variance_do_not_depend_on_the_given_one():
    result = table(ors.conditions, beliefs())
    errors = result.groupby(["method", "repetition"])["value"]
    spread = errors.max() - errors.min()
    without_variance = spread[["clean", "noisy"]]
    with_variance = spread[["beta", "one"]]
    assert (without_variance == 0).all()
    assert (with_variance > 0).all()


def test_the_true_condition_is_the_undisturbed_sequence():
    one_condition = beliefs(conditions={"one": {"factor": 1.0}})
    result = table(ors.conditions, beliefs(), repetitions=range(1))
    of_one_condition = table(ors.conditions, one_condition, repetitions=range(1))
    is_true = result["setting"] == "true"
    truth = result[is_true].set_index("method")
    alone = of_one_condition.set_index("method")
    assert truth["value"].equals(alone["value"])


def test_other_labels_keep_the_clean_target():
    result = table(ors.conditions, beliefs("other_noise"))
    is_clean = result["method"] == "clean"
    errors = result[is_clean].groupby("repetition")["value"]
    assert (errors.nunique() == 1).all()


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
