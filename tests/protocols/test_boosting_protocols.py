"""The rows of the boosting experiments: errors, curves by rounds, calibration, the loss."""

import numpy as np
import pandas as pd
import pytest

from noisylabels.seeding import Seeds
from reproduction.data.prepare import Dataset
from reproduction.protocols.boosting import calibration, curves, errors, loss
from reproduction.protocols.boosting.members import boosters, build, flip_rates
from reproduction.results import COLUMNS, DEFAULTS

ROUNDS = 6
METHODS = {
    "ada": {"method": "adaboost", "parameters": {"rounds": ROUNDS}},
    "told": {"method": "rboost", "parameters": {"rounds": ROUNDS}, "gamma": "known"},
    "learns": {"method": "rboost", "parameters": {"rounds": ROUNDS}},
    "stump": {"method": "sklearn.tree:DecisionTreeClassifier", "parameters": {"max_depth": 1}},
}
SETTINGS = {"datasets": ["toy"], "noise": ["independent 0", "negative_only 0.3"], "methods": METHODS}
BOOSTERS = {name: METHODS[name] for name in ("ada", "told", "learns")}


def toy(n=90, train=60, splits=2):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    rows = np.array([rng.permutation(n) for _ in range(splits)], dtype=np.int32)
    arrays = {
        "X": rng.normal(y[:, None], 1.2, (n, 2)), "y": y, "train": rows[:, :train], "test": rows[:, train:],
    }  # fmt: skip
    return {"toy": Dataset(id="toy", source="test", variant="made", arrays=arrays, digest="")}


def run(protocol, repetitions=2, **changes):
    rows = protocol.run(SETTINGS | changes, toy(), Seeds(1, "test"), range(repetitions), {})
    return pd.DataFrame([DEFAULTS | row for row in rows])[COLUMNS]


@pytest.fixture(scope="module")
def table():
    return run(errors)


def values(table, **where):
    for column, value in where.items():
        table = table[table[column] == value]
    return table["value"].to_numpy()


@pytest.mark.parametrize(
    ("noise", "rates"),
    [
        ("independent 0.3", (0.3, 0.3)),
        ("negative_only 0.2", (0.2, 0.0)),
        ("positive_only 0.1", (0.0, 0.1)),
    ],
)
def test_the_rates_that_a_method_is_told_are_those_of_the_noise(noise, rates):
    assert flip_rates(noise) == rates
    model = build(boosters(SETTINGS)["told"], noise, np.random.default_rng(0))
    assert (model.gamma, model.learn_gamma, model.rounds) == (rates, False, ROUNDS)


def test_who_takes_no_rates_cannot_be_told_them():
    methods = {"ada": {"method": "adaboost", "gamma": "known"}}
    with pytest.raises(ValueError, match="method ada: no parameter 'gamma'"):
        run(errors, methods=methods)


def test_noise_without_two_rates_cannot_be_told():
    with pytest.raises(ValueError, match=r"'uniform 0\.2': boosters are told two flip rates"):
        flip_rates("uniform 0.2")


def test_on_clean_labels_a_booster_that_is_told_so_is_adaboost(table):
    same = [values(table, noise="independent 0", metric="error", method=m) for m in ("ada", "told")]
    assert np.array_equal(*same)


def test_only_methods_that_learn_rates_have_rows_of_them(table):
    learned = table[table["metric"].isin(["gamma01", "gamma10"])]
    assert set(learned["method"]) == {"learns"}
    assert learned["value"].between(0, 0.5).all()
    assert set(table["method"]) == set(METHODS)


def test_rows_do_not_depend_on_how_the_repetitions_are_cut(table):
    parts = [errors.run(SETTINGS, toy(), Seeds(1, "test"), range(r, r + 1), {}) for r in (0, 1)]
    again = pd.DataFrame([DEFAULTS | row for part in parts for row in part])[COLUMNS]
    pd.testing.assert_frame_equal(again, table)


def test_the_last_round_of_a_curve_is_the_error(table):
    rounds = run(curves, methods=BOOSTERS)
    for method in BOOSTERS:
        for noise in SETTINGS["noise"]:
            where = {"method": method, "noise": noise}
            last = values(rounds, metric="test_error", x=ROUNDS, **where)
            assert np.array_equal(last, values(table, metric="error", **where))
            assert len(values(rounds, metric="train_error", **where)) == 2 * ROUNDS
    learned = values(rounds, metric="gamma01", x=ROUNDS, method="learns")
    assert np.array_equal(np.sort(learned), np.sort(values(table, metric="gamma01")))


@pytest.mark.parametrize(
    ("path", "first"), [([50, 30, 11, 10, 10], 3), ([20, 20, 20], 1), ([20, 25, 10], 3), ([7], 1)]
)
def test_the_fall_of_the_training_error_is_done_in_the_first_round_within_a_twentieth(path, first):
    assert curves.rounds_to_drop(np.array(path, dtype=float)) == first


def test_without_trusted_labels_the_calibration_is_that_of_the_table(table):
    counts = run(calibration, methods=BOOSTERS, trusted=[0, 20])
    for method in BOOSTERS:
        where = {"metric": "error", "method": method, "noise": "negative_only 0.3"}
        assert np.array_equal(values(counts, x=0, **where), values(table, **where))
    for method in ("ada", "told"):
        assert np.array_equal(*(values(counts, metric="error", method=method, x=x) for x in (0, 20)))
    assert set(counts.loc[counts["metric"] == "gamma_error", "method"]) == {"learns"}


def test_the_distance_of_the_rates_is_their_mean_absolute_error():
    counts = run(
        calibration, methods={"learns": METHODS["learns"]}, trusted=[10], noise=["negative_only 0.3"]
    )
    rates = [values(counts, metric=metric) for metric in ("gamma01", "gamma10", "gamma_error")]
    assert rates[2] == pytest.approx((np.abs(rates[0] - 0.3) + rates[1]) / 2)


def test_the_loss_is_a_mixture_of_two_exponentials():
    settings = {"largest": 1.0, "points": 5, "gammas": {"rBoost": [0.3, 0]}}
    rows = pd.DataFrame(loss.run(settings, {}, Seeds(1, "test"), range(1), {}))
    for setting, expected in (
        ("label +1", lambda H: 0.7 * np.exp(-H) + 0.3 * np.exp(H)),
        ("label -1", np.exp),
    ):
        own = rows[rows["setting"] == setting]
        assert own["value"].to_numpy() == pytest.approx(expected(own["x"].to_numpy()))
