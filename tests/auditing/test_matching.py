"""Probabilities are matched to labels by names, in the order of scikit-learn, or refused."""

import numpy as np
import pandas as pd
import pytest

import noisylabels


def labelled(names, n=600, seed=0):
    """Labels of which 5 % are wrong, and probabilities as scikit-learn orders them, by np.unique."""
    rng = np.random.default_rng(seed)
    true = rng.integers(len(names), size=n)
    wrong = rng.random(n) < 0.05
    y = np.array(names)[np.where(wrong, (true + 1) % len(names), true)]
    place = np.searchsorted(np.unique(names), np.array(names))
    p = np.full((n, len(names)), 0.1 / (len(names) - 1))
    p[np.arange(n), place[true]] = 0.9
    return y, p, wrong


NAMES = [
    ["a", "b", "c"],
    [str(i) for i in range(12)],
    ["-1", "+1"],
    ["9", "10"],
    ["-2", "-1", "0"],
    ["1e1", "2"],
    [9, 10],
    [-1.0, 1.0],
    [True, False],
]


@pytest.mark.parametrize("names", NAMES)
def test_columns_are_in_the_order_of_the_labels_as_given(names):
    y, p, wrong = labelled(names)
    found = noisylabels.audit(None, y, pred_probs=p)
    assert found.accuracies["accuracy"][0] == pytest.approx(1 - wrong.mean())
    assert wrong[found.suspicious["row"]].mean() > 0.8
    as_list = noisylabels.audit(None, y.tolist(), pred_probs=p)
    pd.testing.assert_frame_equal(found.ranking, as_list.ranking)


@pytest.mark.parametrize("names", NAMES)
def test_names_of_columns_and_rows_come_before_their_order(names):
    y, p, _ = labelled(names)
    expected = noisylabels.audit(None, y, pred_probs=p)
    sorted_names = np.unique(y)
    turned = np.roll(np.arange(len(names)), 1)
    frame = pd.DataFrame(p[:, turned], columns=sorted_names[turned])
    rows = np.random.default_rng(1).permutation(len(y))
    labels = pd.Series(y, index=[f"row {i}" for i in range(len(y))])
    frame.index = labels.index
    ways = [
        {"pred_probs": frame},
        {"pred_probs": frame.iloc[rows]},
        {"pred_probs": p[:, turned], "classes": sorted_names[turned]},
    ]
    for way in ways:
        found = noisylabels.audit(None, labels, **way)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_a_better_order_a_name_that_is_no_class_and_another_index_are_refused():
    y, p, _ = labelled(["no", "maybe", "yes"])
    turned = p[:, [1, 2, 0]]
    with pytest.raises(ValueError, match=r"another order .* clearly better: no, yes, maybe \(9"):
        noisylabels.audit(None, y, pred_probs=turned)
    frame = pd.DataFrame(p, columns=["no", "maybe", "never"])
    with pytest.raises(ValueError, match="column 'never' is not a class; the classes are maybe, no, yes"):
        noisylabels.audit(None, y, pred_probs=frame)
    with pytest.raises(ValueError, match="pred_probs: no column for the class 'yes'"):
        noisylabels.audit(None, y, pred_probs=p, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="classes: names of the columns of pred_probs"):
        noisylabels.audit(p, y, classes=["no", "maybe", "yes"])
    X, labels = pd.DataFrame(p), pd.Series(y)
    with pytest.raises(ValueError, match="X and y have the same index in another order"):
        noisylabels.audit(X.sample(frac=1, random_state=0), labels)


def test_probabilities_that_know_nothing_are_not_refused():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    p = rng.dirichlet(np.ones(3), 300)
    assert not noisylabels.audit(None, y, pred_probs=p).informative


def test_crowdlab_matches_by_name():
    y, p, _ = labelled(["no", "yes"], n=200)
    rng = np.random.default_rng(1)
    other = np.where(y == "yes", "no", "yes")
    labels = pd.DataFrame({who: np.where(rng.random(200) < 0.8, y, other) for who in "abc"})
    frame = pd.DataFrame(p, columns=["no", "yes"])
    expected = noisylabels.CrowdLab().fit(labels, p).labels_
    turned = frame[["yes", "no"]].sample(frac=1, random_state=0)
    assert np.array_equal(noisylabels.CrowdLab().fit(labels, turned).labels_, expected)
    with pytest.raises(ValueError, match="p: column 'never' is not a class; the classes are no, yes"):
        noisylabels.CrowdLab().fit(labels, frame.rename(columns={"yes": "never"}))
