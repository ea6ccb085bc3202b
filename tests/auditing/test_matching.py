"""Probabilities are matched to labels by names, in the order of scikit-learn, or refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from noisylabels import CrowdLab, audit


def labelled(names, n=600, seed=0):
    """Labels, 5 % of them wrong, and probabilities in scikit-learn's order, that of np.unique."""
    rng = np.random.default_rng(seed)
    true = rng.integers(len(names), size=n)
    wrong = rng.random(n) < 0.05
    observed = np.where(wrong, (true + 1) % len(names), true)
    names = np.array(names)
    position = np.searchsorted(np.unique(names), names)
    p = np.full((n, len(names)), 0.1 / (len(names) - 1))
    p[np.arange(n), position[true]] = 0.9
    return names[observed], p, wrong


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


def shuffled(table):
    return table.sample(frac=1, random_state=0)


@pytest.mark.parametrize("names", NAMES)
def test_columns_are_in_the_order_of_the_labels_as_given(names):
    y, p, wrong = labelled(names)
    report = audit(None, y, pred_probs=p)
    assert report.accuracies["accuracy"][0] == pytest.approx(1 - wrong.mean())
    assert wrong[report.suspicious["row"]].mean() > 0.8
    as_list = audit(None, y.tolist(), pred_probs=p)
    pd.testing.assert_frame_equal(report.ranking, as_list.ranking)


@pytest.mark.parametrize("names", NAMES)
def test_names_of_columns_and_rows_come_before_their_order(names):
    y, p, _ = labelled(names)
    expected = audit(None, y, pred_probs=p)
    turned = np.roll(np.arange(len(names)), 1)
    turned_names = np.unique(y)[turned]
    turned_p = p[:, turned]
    names_of_rows = [f"row {i}" for i in range(len(y))]
    labels = pd.Series(y, index=names_of_rows)
    frame = pd.DataFrame(turned_p, index=names_of_rows, columns=turned_names)
    order = np.random.default_rng(1).permutation(len(y))
    ways = [
        {"pred_probs": frame},
        {"pred_probs": frame.iloc[order]},
        {"pred_probs": turned_p, "classes": turned_names},
    ]
    for way in ways:
        report = audit(None, labels, **way)
        assert_array_equal(report.probabilities, expected.probabilities)


def test_a_better_order_a_name_that_is_no_class_and_another_index_are_refused():
    y, p, _ = labelled(["no", "maybe", "yes"])
    message = r"another order .* clearly better: no, yes, maybe \(with that order 9"
    with pytest.raises(ValueError, match=message):
        audit(None, y, pred_probs=p[:, [1, 2, 0]])
    frame = pd.DataFrame(p, columns=["no", "maybe", "never"])
    message = "column 'never' is not a class; the classes are maybe, no, yes"
    with pytest.raises(ValueError, match=message):
        audit(None, y, pred_probs=frame)
    with pytest.raises(ValueError, match="pred_probs: no column for the class 'yes'"):
        audit(None, y, pred_probs=p, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="classes: names of the columns of pred_probs"):
        audit(p, y, classes=["no", "maybe", "yes"])
    X = pd.DataFrame(p)
    labels = pd.Series(y)
    with pytest.raises(ValueError, match="X and y have the same index in another order"):
        audit(shuffled(X), labels)


def test_probabilities_that_know_nothing_are_not_refused():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    p = rng.dirichlet(np.ones(3), 300)
    report = audit(None, y, pred_probs=p)
    assert not report.informative


def test_crowdlab_matches_by_name():
    y, p, _ = labelled(["no", "yes"], n=200)
    rng = np.random.default_rng(1)
    other_class = np.where(y == "yes", "no", "yes")
    columns = {name: np.where(rng.random(200) < 0.8, y, other_class) for name in "abc"}
    labels = pd.DataFrame(columns)
    frame = pd.DataFrame(p, columns=["no", "yes"])
    by_order = CrowdLab().fit(labels, p)
    by_name = CrowdLab().fit(labels, shuffled(frame[["yes", "no"]]))
    assert np.array_equal(by_name.labels_, by_order.labels_)
    message = "p: column 'never' is not a class; the classes are no, yes"
    with pytest.raises(ValueError, match=message):
        CrowdLab().fit(labels, frame.rename(columns={"yes": "never"}))


def test_trusted_labels_and_groups_in_another_order_of_names_are_refused():
    y, _, _ = labelled(["no", "yes"], n=100)
    array = np.random.default_rng(0).normal(size=(100, 2))
    X = pd.DataFrame(array)
    labels = pd.Series(y)
    turned = shuffled(labels)
    options = {"model": "logistic", "compare": False, "repetitions": 1}
    for name in ("trusted", "groups"):
        message = f"(X|y) and {name} have the same index in another order"
        for table, labels_of_rows in [(X, labels), (X, y), (array, labels)]:
            with pytest.raises(ValueError, match=message):
                audit(table, labels_of_rows, **{name: turned}, **options)
        message = f"{name}: the index holds the numbers of the rows in another"
        with pytest.raises(ValueError, match=message):
            audit(array, y, **{name: turned}, **options)
    order = turned.index
    expected = audit(X, labels, trusted=labels, **options)
    report = audit(X.loc[order], labels.loc[order], trusted=turned, **options)
    assert report.flip_rates["trusted"].tolist() == expected.flip_rates["trusted"].tolist()
    texts = order[::-1].astype(str)
    assert audit(X, y, trusted=labels.set_axis(texts), **options)


def test_rows_of_an_array_are_named_by_their_numbers():
    y, p, _ = labelled(["no", "yes"], n=200)
    turned = shuffled(pd.DataFrame(p))
    for labels in (y, pd.Series(y)):
        report = audit(None, labels, pred_probs=turned)
        assert_array_equal(report.probabilities, p)


def test_other_names_of_rows_are_refused_and_no_names_are_taken_by_position():
    y, p, _ = labelled(["no", "yes"], n=200)
    labels = pd.Series(y, index=range(500, 700))
    numbered = pd.DataFrame(p)
    by_position = audit(None, labels, pred_probs=numbered)
    assert_array_equal(by_position.probabilities, p)
    named = numbered.set_axis([f"r{i}" for i in range(200)])
    other_names = r"pred_probs: the index has other names than"
    message = rf"{other_names} y \(row 0 is 'r0', in y it is 500\); give pred_probs"
    with pytest.raises(ValueError, match=message):
        audit(None, labels, pred_probs=named)
    with pytest.raises(ValueError, match=f"{other_names} X"):
        audit(pd.DataFrame(p, index=labels.index), y, pred_probs=named)
    with pytest.raises(ValueError, match=f"{other_names} y"):
        audit(None, labels, pred_probs=shuffled(numbered))
    each_name_twice = np.arange(200) // 2
    labels_of_twins = pd.Series(y, index=each_name_twice)
    with pytest.raises(ValueError, match=f"{other_names} y"):
        audit(None, labels_of_twins, pred_probs=numbered.set_axis(each_name_twice[::-1]))
    twins = numbered.set_axis(each_name_twice)
    for table, labels_of_rows in [(named, y), (twins, labels_of_twins)]:
        report = audit(None, labels_of_rows, pred_probs=table)
        assert_array_equal(report.probabilities, p)


def test_crowdlab_refuses_names_of_other_items():
    long = {"item": [1, 1, 2, 2], "annotator": ["a", "b"] * 2, "label": ["no", "no", "yes", "no"]}
    frame = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], columns=["no", "yes"])
    of_other_items = frame.set_axis([7, 8])
    named = frame.set_axis([1, 2])
    message = (
        r"p: the index has other names than the items "
        r"\(row 0 is 7, in the items it is 1\); give p the"
    )
    with pytest.raises(ValueError, match=message):
        CrowdLab().fit(long, of_other_items)
    expected = CrowdLab().fit(long, frame.to_numpy())
    for table in (frame, named, named.iloc[::-1]):
        crowdlab = CrowdLab().fit(long, table)
        assert_array_equal(crowdlab.posterior_, expected.posterior_)
    array = [["no", "no"], ["yes", "no"]]
    crowdlab = CrowdLab().fit(array, of_other_items)
    assert crowdlab.posterior_.shape == (2, 2)
