"""The rows of the experiment on labels by several annotators."""

import numpy as np
import pandas as pd
import pytest

from noisylabels.noise.crowd import simulate
from noisylabels.seeding import Seeds
from reproduction.data.crowd_standins import rte
from reproduction.data.prepare import Dataset
from reproduction.protocols.crowd import annotators
from reproduction.protocols.kernels.training import Outcome
from reproduction.results import COLUMNS, DEFAULTS

SETTINGS = {
    "datasets": ["pairs"], "train": 0.75, "annotators": [1, 3], "widths": [0, 2], "parametrisation": "sigma2",
    "folds": 2,
    "methods": {
        "klr": {"method": "kernel_logistic", "selection": "cv", "grid": [0]},
        "rmklr": {"method": "robust_multi_kernel", "parameters": {"T": 2}},
    },
}  # fmt: skip


def pairs(n=80, per_item=3, **crowd):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    labels = simulate(y, rng, workers=20, per_item=per_item, **crowd)
    arrays = {"X": rng.normal(y[:, None], 1.0, (n, 2)), "y": y}
    arrays |= {"item": labels.item, "worker": labels.worker, "response": labels.response}
    return {"pairs": Dataset(id="pairs", source="test", variant="made", arrays=arrays, digest="")}


def run(data, **changes):
    rows = annotators.run(SETTINGS | changes, data, Seeds(1, "test"), range(2), {})
    return pd.DataFrame([DEFAULTS | row for row in rows])[COLUMNS]


@pytest.fixture(scope="module")
def table():
    return run(pairs())


def accuracy(table, setting):
    rows = table[(table["metric"] == "accuracy") & (table["setting"] == setting)]
    return rows.set_index(["method", "repetition", "x"])["value"].sort_index()


def test_workers_who_are_always_right_leave_nothing_to_aggregate():
    found = accuracy(run(pairs(beta=(1e9, 1e-9), spammers=0.0)), "labelled items").unstack("x")
    for method in ("majority vote", "one-coin EM", "two-coin EM"):
        assert (found.loc[method, 3] == 1.0).all()
    assert (found.loc["majority vote", 1] == 1.0).all()  # EM with one label per item cannot tell rates


def test_the_gain_is_the_distance_to_the_vote(table):
    found = accuracy(table, "labelled items")
    gain = table[table["metric"] == "gain"].set_index(["method", "repetition", "x"])["value"].sort_index()
    assert (gain["majority vote"] == 0).all()
    assert gain["rmklr"].to_numpy() == pytest.approx((found["rmklr"] - found["majority vote"]).to_numpy())


def test_what_was_trained_on_gold_labels_does_not_depend_on_the_annotators(table):
    gold = accuracy(table, "new items and gold labels").unstack("x")
    assert (gold[1] == gold[3]).all()
    assert set(accuracy(table, "new items").index.unique("method")) == {"klr", "rmklr"}


def test_a_flip_matrix_weighs_the_vote_against_the_features():
    scores = np.array([3.0, 0.1, -0.1, -3.0])
    votes = np.array([0, 0, 1, 1], dtype=np.int8)
    known = Outcome(scores, None, 0.2, 0.2, False)
    unknown = Outcome(scores, None, np.nan, np.nan, False)
    assert annotators.completed(known, votes).tolist() == [True, False, True, False]
    assert annotators.completed(unknown, votes).tolist() == [True, True, False, False]


def test_more_labels_than_an_item_has_are_refused():
    with pytest.raises(ValueError, match="annotators: 4 labels per item asked, but some item has only 3"):
        run(pairs(), annotators=[4])


def test_the_stand_in_has_the_form_of_the_real_set():
    arrays = rte({})
    assert arrays["X"].shape == (800, 9)
    assert np.bincount(arrays["item"]).tolist() == [10] * 800
    right = np.mean(arrays["response"] == arrays["y"][arrays["item"]])
    assert 0.65 < right < 0.8
