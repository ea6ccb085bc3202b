"""Rows of the experiments on labels by several annotators and on images of a web search."""

import dataclasses

import numpy as np
import pytest
from running import make_repetition, table, two_classes, values

from kernel_boost.kernels import Outcome, completed
from noisylabels.noise.simulated_crowd import simulate
from reproduction.data.loaders.crowd import websearch_stand_in as websearch
from reproduction.data.prepared import Dataset

TRAINING = {"widths": [0, 2], "parametrisation": "sigma2", "folds": 2}
KLR = {"method": "kernel_logistic", "selection": "cv", "grid": [0]}
CROWD = TRAINING | {
    "datasets": ["pairs"], "train": 0.75, "annotators": [1, 3],
    "methods": {"klr": KLR, "rmklr": {"method": "robust_multi_kernel", "parameters": {"T": 2}}},
}  # fmt: skip
IMAGES = TRAINING | {
    "datasets": ["bikes"], "train": 0.8, "ranks": 10, "widths": [0],
    "methods": {
        "rlr": {"method": "robust_logistic"},
        "klr": KLR,
        "forest": {"method": "sklearn.linear_model:LogisticRegression"},
    },
}  # fmt: skip


def pairs(**crowd):
    """Let three of 20 people label each row of two classes."""
    plain = two_classes("pairs", n=80)
    rng = np.random.default_rng(2)
    labels = simulate(plain.arrays["y"], rng, workers=20, per_item=3, **crowd)
    columns = {"item": labels.item, "worker": labels.worker, "response": labels.response}
    return dataclasses.replace(plain, arrays=plain.arrays | columns)


def of_crowd(data, **changes):
    return table("kernel_boost.kernels:annotators", CROWD | changes, data)


@pytest.fixture(scope="module")
def crowd():
    return of_crowd(pairs())


def by_method(rows):
    return rows.set_index(["method", "repetition", "x"])["value"].sort_index()


def accuracy(frame, setting):
    is_accuracy = frame["metric"] == "accuracy"
    is_of_setting = frame["setting"] == setting
    return by_method(frame[is_accuracy & is_of_setting])


def test_workers_who_are_always_right_leave_nothing_to_aggregate():
    always_right = pairs(beta=(1e9, 1e-9), spammers=0.0)
    shares = accuracy(of_crowd(always_right), "labelled items").unstack("x")
    for method in ("majority vote", "one-coin EM", "two-coin EM"):
        assert (shares.loc[method, 3] == 1.0).all()
    # With one label per item, EM cannot estimate rates.
    assert (shares.loc["majority vote", 1] == 1.0).all()


def test_the_gain_is_the_distance_to_the_vote(crowd):
    shares = accuracy(crowd, "labelled items")
    gain = by_method(crowd[crowd["metric"] == "gain"])
    assert (gain["majority vote"] == 0).all()
    distance = shares["rmklr"] - shares["majority vote"]
    np.testing.assert_allclose(gain["rmklr"], distance, rtol=1e-6, atol=1e-12)


def test_what_was_trained_on_gold_labels_does_not_depend_on_the_annotators(crowd):
    gold = accuracy(crowd, "new items and gold labels").unstack("x")
    assert (gold[1] == gold[3]).all()


def test_only_classifiers_label_new_items(crowd):
    of_new_items = accuracy(crowd, "new items")
    assert set(of_new_items.index.unique("method")) == {"klr", "rmklr"}


def test_a_flip_matrix_weighs_the_vote_against_the_features():
    scores = np.array([3.0, 0.1, -0.1, -3.0])
    votes = np.array([0, 0, 1, 1], dtype=np.int8)
    with_rates = Outcome(scores, None, 0.2, 0.2, False)
    without_rates = Outcome(scores, None, np.nan, np.nan, False)
    assert completed(with_rates, votes).tolist() == [True, False, True, False]
    assert completed(without_rates, votes).tolist() == [True, True, False, False]


def test_more_labels_than_an_item_has_are_refused():
    message = "annotators: needs 4 labels per item, but some item has only 3"
    with pytest.raises(ValueError, match=message):
        of_crowd(pairs(), annotators=[4])


def bikes(noisy=True):
    arrays = dict(websearch({}, n=120))
    if not noisy:
        del arrays["y_noisy"]
    return Dataset(id="bikes", source="test", variant="made", arrays=arrays, digest="")


@pytest.fixture(scope="module")
def images():
    return table("kernel_boost.kernels:search", IMAGES, bikes())


def test_every_method_has_an_error_and_a_ranked_list_per_split(images):
    ranks_of_a_split = list(range(1, 11))
    for method in IMAGES["methods"]:
        rows = images[images["method"] == method]
        is_error = rows["metric"] == "error"
        assert is_error.sum() == 2
        ranked = rows[rows["metric"] == "positive"]
        assert ranked["x"].tolist() == ranks_of_a_split * 2
        assert set(ranked["value"]) <= {0.0, 1.0}


def test_training_labels_are_those_of_the_search_if_there_was_one(images):
    arrays = bikes().arrays
    is_wrong = arrays["y"] != arrays["y_noisy"]
    rng = make_repetition(0, "bikes").rng("split")
    train = rng.permutation(120)[:96]
    share = 100 * np.mean(is_wrong[train])
    assert values(images, metric="noise_share")[0] == pytest.approx(share)
    assert not is_wrong[arrays["y"] > 0].any()  # only the other class has wrong labels


def test_without_a_search_the_training_labels_are_right():
    clean = table("kernel_boost.kernels:search", IMAGES, bikes(noisy=False), range(1))
    assert values(clean, metric="noise_share").tolist() == [0.0]
