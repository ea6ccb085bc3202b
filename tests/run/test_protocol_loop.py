"""The loop: splits, folds, points, and protocols by their names."""

from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import SETTINGS, dataset
from running import SGD, make_repetition, rows, two_classes

from noisylabels.seeding import Seeds
from reproduction.run import protocol_loop, splits
from reproduction.run.points import KEY, Points
from reproduction.run.protocol_loop import noisy_labels, split_of
from reproduction.run.splits import random_folds, random_split, stratified_folds
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import Drawn, Noise

BOOSTERS = {
    "ada": {"method": "adaboost", "parameters": {"rounds": 4}},
    "learns": {"method": "rboost", "parameters": {"rounds": 4}},
}
COMMON = {key: SETTINGS[key] for key in ("repetitions", "datasets", "noise")}
KERNELS = SETTINGS | {"methods": {"svm": SETTINGS["methods"]["svm"]}}
BOOSTING = COMMON | {"methods": BOOSTERS}
DRAWN = {"noise": ["independent 0"], "methods": ["ada"]}
HINGE = {"method": "robust_sgd", "losses": [{"loss": "hinge"}]}
LINEAR = SGD | {
    "noise": ["symmetric 0.2"],
    "methods": {"hinge": HINGE, "svm": {"method": "liblinear"}},
}


def draw(y, test=0.3, stratified=True, seed=0):
    return random_split(np.asarray(y), test, stratified, np.random.default_rng(seed))


LABELS = st.lists(st.sampled_from([-1, 1]), min_size=4)


@given(LABELS, st.floats(0.01, 0.99), st.booleans())
def test_every_row_is_on_one_side_or_the_split_is_refused(y, test, stratified):
    smallest = len(y)
    if stratified:
        _, counts = np.unique(y, return_counts=True)
        smallest = min(counts)
    number_of_test_rows = max(1, round(test * smallest))
    if number_of_test_rows == smallest:
        with pytest.raises(ValueError, match="none would be left"):
            draw(y, test, stratified)
        return
    train, held = draw(y, test, stratified)
    assert len(train) > 0
    assert len(held) > 0
    both_sides = np.sort(np.concatenate([train, held]))
    np.testing.assert_array_equal(both_sides, np.arange(len(y)))


def test_classes_keep_their_shares_if_stratified_and_only_then():
    y = np.array([1] * 30 + [-1] * 170)

    def count_positive(stratified, seed):
        _, test = draw(y, 0.2, stratified, seed)
        return (y[test] > 0).sum()

    assert {count_positive(True, seed) for seed in range(20)} == {6}
    assert len({count_positive(False, seed) for seed in range(20)}) > 3


def test_a_set_is_split_as_the_settings_say_unless_it_has_official_splits():
    mine = two_classes("mine", n=50)
    drawn = Drawn(test=0.4, stratified=True)
    split = split_of(mine, make_repetition(), drawn)
    positive = (mine.arrays["y"] > 0).sum()
    assert len(split.truth) == 20
    assert split.truth.sum() == round(0.4 * positive)
    np.testing.assert_allclose(split.X.mean(axis=0), 0, atol=1e-12)
    same_split = split_of(mine, make_repetition(), drawn)
    np.testing.assert_array_equal(split.X, same_split.X)
    other_split = split_of(mine, make_repetition(1), drawn)
    assert not np.array_equal(split.X, other_split.X)
    message = r"mine has no official splits .*settings\.splits, such as"
    with pytest.raises(ValueError, match=message):
        split_of(mine, make_repetition())
    official = two_classes(n=10, train=4, splits=1)
    assert len(split_of(official, make_repetition(), drawn).clean) == 4
    assert split_of(official, make_repetition(1), drawn) is None


def test_standardised_features_use_training_rows_only():
    rows_to_train = np.array([[0.0, 0.1], [2.0, 0.1]])
    row_to_test = np.array([[3.0, 7.0]])
    train, test = splits.standardised(rows_to_train, row_to_test)
    np.testing.assert_array_equal(train, [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(test, [[2, 0]])


def test_flipped_labels_are_drawn_without_the_other_conditions():
    clean = split_of(dataset(), make_repetition()).clean
    noise = [Noise.parse(label) for label in SETTINGS["noise"]]
    noisy = noisy_labels(clean, noise, make_repetition())
    np.testing.assert_array_equal(noisy[:, 0], clean)
    negative_only = noisy[:, 2]
    alone = noisy_labels(clean, noise[2:], make_repetition())
    np.testing.assert_array_equal(alone[:, 0], negative_only)
    assert (negative_only[clean == 1] == 1).all()
    assert (negative_only[clean == 0] == 1).any()
    of_another_repetition = noisy_labels(clean, noise, make_repetition(1))
    assert (of_another_repetition != noisy).any()


def test_too_few_rows_for_folds_or_parts_are_refused():
    y = np.array([1, -1, -1, -1])
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="class 1 has 1 rows only"):
        splits.stratified_mask(y, 0.5, rng)
    with pytest.raises(ValueError, match="class 1 has 1 rows, fewer than the 2 folds"):
        stratified_folds(y, 2, rng)
    with pytest.raises(ValueError, match="3 rows cannot make 5 folds; lower the setting folds"):
        random_folds(3, 5, rng)


def test_data_sets_that_the_artifact_does_not_list_are_refused():
    handed = protocol_loop.Loop({"other.or_stand_in": dataset("other")}, Seeds(1, "test"))
    assert [name for name, _, _ in handed.data_sets(["other"])] == ["other"]
    with pytest.raises(ValueError, match="'toy' is not among the artifact's datasets: other"):
        list(handed.on_data_sets(["toy"]))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kernel_boost.kernels:timng", "declares no function 'timng'; close names: timing"),
        ("stock:eror", "no protocol 'stock:eror'; module stock has errors"),
        ("kernel:errors", "no module 'kernel'"),
    ],
)
def test_protocols_are_found_by_name(name, message):
    assert find_protocol("stock:errors").name == "stock:errors"
    with pytest.raises(ValueError, match=message):
        find_protocol(name)


# Points tested


@pytest.mark.parametrize(
    ("protocol", "settings", "metric"),
    [
        ("stock:errors", KERNELS, "error"),
        ("kernel_boost.boosting:errors", BOOSTING, "error"),
        ("kernel_boost.boosting:calibration", BOOSTING | {"trusted": [0, 20]}, "error"),
        ("kernel_boost.boosting:curves", BOOSTING | {"drawn": DRAWN}, "test_error"),
        ("robust_sgd.code:errors", LINEAR, "error"),
    ],
)
def test_the_points_of_a_row_have_its_error(protocol, settings, metric):
    result_rows = rows(protocol, settings, dataset(splits=3), range(3))
    scored = [row for row in result_rows if KEY in row]
    assert {row["metric"] for row in scored} == {metric}
    key_of_row = itemgetter("method", "noise", "repetition")
    assert len({(*key_of_row(row), row.get("x")) for row in scored}) == len(scored)
    keys = {key_of_row(row) for row in result_rows if row["metric"] == metric}
    assert {key_of_row(row) for row in scored} == keys
    for row in scored:
        assert row["value"] == 100 * np.mean(row[KEY].wrong)


def test_points_are_the_test_rows_of_the_splits():
    points = Points()
    toy = dataset(splits=3)
    points.take(rows("stock:errors", KERNELS, toy, range(3)))
    assert len(points.curves) == 3  # noise levels of one method
    tests = np.bincount(toy.arrays["test"].ravel(), minlength=120)
    for curve in points.curves.values():
        counted = len(curve.tests)
        np.testing.assert_array_equal(curve.tests, tests[:counted])
        assert tests[counted:].sum() == 0
        assert (curve.errors <= curve.tests).all()
        assert curve.pool == 120


@pytest.mark.parametrize(
    ("predicted", "named"),
    [
        ([0.0, np.nan], "nan"),
        ([1, -1], "-1"),
        (["0", "1"], "0"),
    ],
)
def test_what_a_method_predicts_must_be_labels(predicted, named):
    arrays = {"X": np.arange(4.0)[:, None], "y": np.array([0, 1, 0, 1])}
    train = np.arange(2)
    test = np.arange(2, 4)
    split = splits.Split.of(arrays, train, test)
    with pytest.raises(ValueError, match=f"the method predicts {named}; the labels are 0, 1"):
        split.scored(np.array(predicted))
    assert not split.scored(np.array([False, True])).wrong.any()


def test_names_of_version_1_are_refused_with_those_of_today():
    handed = protocol_loop.Loop({}, Seeds(1, "test"))
    (first,) = handed
    message = r"Loop\.trials is now called `for repetition in loop`"
    with pytest.raises(AttributeError, match=message):
        handed.trials()
    with pytest.raises(AttributeError, match=r"Repetition\.on is now called `with_columns`"):
        first.on(x=1)
    with pytest.raises(ImportError, match="Walk is now called Loop"):
        from reproduction.run.protocol_loop import Walk  # noqa: F401
    with pytest.raises(AttributeError, match="'Loop' object has no attribute 'nothing'"):
        handed.nothing  # noqa: B018
