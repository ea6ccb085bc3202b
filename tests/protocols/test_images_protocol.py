"""The rows of the experiment on images found by a web search."""

import numpy as np
import pandas as pd
import pytest

from noisylabels.seeding import Seeds
from reproduction.data.crowd_standins import websearch
from reproduction.data.prepare import Dataset
from reproduction.protocols.images import search
from reproduction.results import COLUMNS, DEFAULTS

SETTINGS = {
    "datasets": ["bikes"], "train": 0.8, "ranks": 10, "widths": [0], "parametrisation": "sigma2", "folds": 2,
    "methods": {
        "rlr": {"method": "robust_logistic"},
        "klr": {"method": "kernel_logistic", "selection": "cv", "grid": [0]},
        "forest": {"method": "sklearn.linear_model:LogisticRegression"},
    },
}  # fmt: skip


def bikes(noisy=True):
    arrays = dict(websearch({}, n=120))
    if not noisy:
        del arrays["y_noisy"]
    return Dataset(id="bikes", source="test", variant="made", arrays=arrays, digest="")


@pytest.fixture(scope="module")
def table():
    rows = search.run(SETTINGS, {"bikes": bikes()}, Seeds(1, "test"), range(2), {})
    return pd.DataFrame([DEFAULTS | row for row in rows])[COLUMNS]


def test_every_method_has_an_error_and_a_ranked_list_per_split(table):
    for method in SETTINGS["methods"]:
        own = table[table["method"] == method]
        assert (own["metric"] == "error").sum() == 2
        ranked = own[own["metric"] == "positive"]
        assert ranked["x"].tolist() == [*range(1, 11)] * 2
        assert set(ranked["value"]) <= {0.0, 1.0}


def test_only_the_other_class_has_wrong_labels():
    split, observed = search.found_images(bikes(), 0.8, Seeds(1, "test"), 0)
    assert (observed[split.clean == 1] == 1).all()
    assert observed[split.clean == 0].any()
    assert len(split.truth) == 24


def test_a_set_without_noisy_labels_is_trained_on_its_own():
    split, observed = search.found_images(bikes(noisy=False), 0.8, Seeds(1, "test"), 0)
    assert np.array_equal(observed, split.clean)


def test_a_share_that_leaves_no_test_rows_is_refused():
    with pytest.raises(ValueError, match=r"a share of 0\.999 of the 120 rows of bikes leaves no row"):
        search.found_images(bikes(), 0.999, Seeds(1, "test"), 0)
