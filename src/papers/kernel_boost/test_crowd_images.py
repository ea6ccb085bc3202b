"""The rows of the experiments on labels by several annotators and on images found by a web search."""

import dataclasses

import numpy as np
import pytest
from running import here, table, two_classes

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
    plain = two_classes("pairs", n=80)
    labels = simulate(plain.arrays["y"], np.random.default_rng(2), workers=20, per_item=3, **crowd)
    more = {"item": labels.item, "worker": labels.worker, "response": labels.response}
    return dataclasses.replace(plain, arrays=plain.arrays | more)


def of_crowd(data, **changes):
    return table("kernel_boost.kernels:annotators", CROWD | changes, data)


@pytest.fixture(scope="module")
def crowd():
    return of_crowd(pairs())


def accuracy(frame, setting):
    rows = frame[(frame["metric"] == "accuracy") & (frame["setting"] == setting)]
    return rows.set_index(["method", "repetition", "x"])["value"].sort_index()


def test_workers_who_are_always_right_leave_nothing_to_aggregate():
    found = accuracy(of_crowd(pairs(beta=(1e9, 1e-9), spammers=0.0)), "labelled items").unstack("x")
    for method in ("majority vote", "one-coin EM", "two-coin EM"):
        assert (found.loc[method, 3] == 1.0).all()
    assert (found.loc["majority vote", 1] == 1.0).all()  # EM with one label per item cannot tell rates


def test_the_gain_is_the_distance_to_the_vote(crowd):
    found = accuracy(crowd, "labelled items")
    gain = crowd[crowd["metric"] == "gain"].set_index(["method", "repetition", "x"])["value"].sort_index()
    assert (gain["majority vote"] == 0).all()
    assert gain["rmklr"].to_numpy() == pytest.approx((found["rmklr"] - found["majority vote"]).to_numpy())


def test_what_was_trained_on_gold_labels_does_not_depend_on_the_annotators(crowd):
    gold = accuracy(crowd, "new items and gold labels").unstack("x")
    assert (gold[1] == gold[3]).all()
    assert set(accuracy(crowd, "new items").index.unique("method")) == {"klr", "rmklr"}


def test_a_flip_matrix_weighs_the_vote_against_the_features():
    scores = np.array([3.0, 0.1, -0.1, -3.0])
    votes = np.array([0, 0, 1, 1], dtype=np.int8)
    known = Outcome(scores, None, 0.2, 0.2, False)
    unknown = Outcome(scores, None, np.nan, np.nan, False)
    assert completed(known, votes).tolist() == [True, False, True, False]
    assert completed(unknown, votes).tolist() == [True, True, False, False]


def test_more_labels_than_an_item_has_are_refused():
    with pytest.raises(ValueError, match="annotators: needs 4 labels per item, but some item has only 3"):
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
    for method in IMAGES["methods"]:
        own = images[images["method"] == method]
        assert (own["metric"] == "error").sum() == 2
        ranked = own[own["metric"] == "positive"]
        assert ranked["x"].tolist() == [*range(1, 11)] * 2
        assert set(ranked["value"]) <= {0.0, 1.0}


def test_training_labels_are_those_of_the_search_or_of_a_set_without_it_as_they_are(images):
    wrong = images.loc[images["metric"] == "noise_share", "value"]
    train = here(0, "bikes").rng("split").permutation(120)[:96]
    arrays = bikes().arrays
    assert wrong.iloc[0] == pytest.approx(100 * np.mean(arrays["y"][train] != arrays["y_noisy"][train]))
    assert (arrays["y_noisy"][arrays["y"] > 0] > 0).all()  # only the other class has wrong labels
    clean = table("kernel_boost.kernels:search", IMAGES, bikes(noisy=False), range(1))
    assert clean.loc[clean["metric"] == "noise_share", "value"].tolist() == [0.0]
