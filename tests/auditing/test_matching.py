"""Probabilities are matched to labels by names, in the order of scikit-learn, or refused."""

import numpy as np
import pandas as pd
import pytest

import noisylabels


def labelled(names, n=600, seed=0):
    """Labels, 5 % of them wrong, and probabilities in scikit-learn's order, that of np.unique."""
    rng = np.random.default_rng(seed)
    true = rng.integers(len(names), size=n)
    wrong = rng.random(n) < 0.05
    y = np.array(names)[np.where(wrong, (true + 1) % len(names), true)]
    position = np.searchsorted(np.unique(names), np.array(names))
    p = np.full((n, len(names)), 0.1 / (len(names) - 1))
    p[np.arange(n), position[true]] = 0.9
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
    report = noisylabels.audit(None, y, pred_probs=p)
    assert report.accuracies["accuracy"][0] == pytest.approx(1 - wrong.mean())
    assert wrong[report.suspicious["row"]].mean() > 0.8
    as_list = noisylabels.audit(None, y.tolist(), pred_probs=p)
    pd.testing.assert_frame_equal(report.ranking, as_list.ranking)


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
        report = noisylabels.audit(None, labels, **way)
        np.testing.assert_array_equal(report.probabilities, expected.probabilities)


def test_a_better_order_a_name_that_is_no_class_and_another_index_are_refused():
    y, p, _ = labelled(["no", "maybe", "yes"])
    turned = p[:, [1, 2, 0]]
    with pytest.raises(
        ValueError, match=r"another order .* clearly better: no, yes, maybe \(with that order 9"
    ):
        noisylabels.audit(None, y, pred_probs=turned)
    frame = pd.DataFrame(p, columns=["no", "maybe", "never"])
    message = "column 'never' is not a class; the classes are maybe, no, yes"
    with pytest.raises(ValueError, match=message):
        noisylabels.audit(None, y, pred_probs=frame)
    with pytest.raises(ValueError, match="pred_probs: no column for the class 'yes'"):
        noisylabels.audit(None, y, pred_probs=p, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="classes: names of the columns of pred_probs"):
        noisylabels.audit(p, y, classes=["no", "maybe", "yes"])
    X = pd.DataFrame(p)
    labels = pd.Series(y)
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
    other_class = np.where(y == "yes", "no", "yes")
    columns = {name: np.where(rng.random(200) < 0.8, y, other_class) for name in "abc"}
    labels = pd.DataFrame(columns)
    frame = pd.DataFrame(p, columns=["no", "yes"])
    expected = noisylabels.CrowdLab().fit(labels, p).labels_
    turned = frame[["yes", "no"]].sample(frac=1, random_state=0)
    assert np.array_equal(noisylabels.CrowdLab().fit(labels, turned).labels_, expected)
    message = "p: column 'never' is not a class; the classes are no, yes"
    with pytest.raises(ValueError, match=message):
        noisylabels.CrowdLab().fit(labels, frame.rename(columns={"yes": "never"}))


def test_trusted_labels_and_groups_in_another_order_of_names_are_refused():
    y, _, _ = labelled(["no", "yes"], n=100)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)))
    labels = pd.Series(y, index=X.index)
    turned = labels.sample(frac=1, random_state=0)
    options = {"model": "logistic", "compare": False, "repetitions": 1}
    tables = [(X, labels), (X, y), (X.to_numpy(), labels)]
    for name in ("trusted", "groups"):
        for table, labels_of_rows in tables:
            message = f"(X|y) and {name} have the same index in another order"
            with pytest.raises(ValueError, match=message):
                noisylabels.audit(table, labels_of_rows, **{name: turned}, **options)
        message = f"{name}: the index holds the numbers of the rows in another"
        with pytest.raises(ValueError, match=message):
            noisylabels.audit(X.to_numpy(), y, **{name: turned}, **options)
    order = turned.index
    expected = noisylabels.audit(X, labels, trusted=labels, **options)
    report = noisylabels.audit(X.loc[order], labels.loc[order], trusted=turned, **options)
    assert report.flip_rates["trusted"].tolist() == expected.flip_rates["trusted"].tolist()
    assert noisylabels.audit(X, y, trusted=labels.set_axis(order[::-1].astype(str)), **options)


def test_rows_of_an_array_are_named_by_their_numbers():
    y, p, _ = labelled(["no", "yes"], n=200)
    turned = pd.DataFrame(p).sample(frac=1, random_state=0)
    for labels in (y, pd.Series(y)):
        report = noisylabels.audit(None, labels, pred_probs=turned)
        np.testing.assert_array_equal(report.probabilities, p)


def test_other_names_of_rows_are_refused_and_no_names_are_taken_by_position():
    y, p, _ = labelled(["no", "yes"], n=200)
    labels = pd.Series(y, index=range(500, 700))
    frame = pd.DataFrame(p)
    report = noisylabels.audit(None, labels, pred_probs=frame)
    np.testing.assert_array_equal(report.probabilities, p)
    message = (
        r"pred_probs: the index has other names than y \(row 0 is 'r0', in y it is 500\); give pred_probs"
    )
    named = frame.set_axis([f"r{i}" for i in range(200)])
    with pytest.raises(ValueError, match=message):
        noisylabels.audit(None, labels, pred_probs=named)
    with pytest.raises(ValueError, match="pred_probs: the index has other names than X"):
        noisylabels.audit(pd.DataFrame(p, index=labels.index), y, pred_probs=named)
    with pytest.raises(ValueError, match="pred_probs: the index has other names than y"):
        noisylabels.audit(None, labels, pred_probs=frame.sample(frac=1, random_state=0))
    twice = pd.Series(y, index=np.arange(200) // 2)
    with pytest.raises(ValueError, match="pred_probs: the index has other names than y"):
        noisylabels.audit(None, twice, pred_probs=frame.set_axis(twice.index[::-1]))
    for table_of_names in (named, frame.set_axis(twice.index)):
        labels_of_rows = y if table_of_names is named else twice
        np.testing.assert_array_equal(
            noisylabels.audit(None, labels_of_rows, pred_probs=table_of_names).probabilities, p
        )


def test_crowdlab_refuses_names_of_other_items():
    long = {"item": [1, 1, 2, 2], "annotator": ["a", "b"] * 2, "label": ["no", "no", "yes", "no"]}
    frame = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], columns=["no", "yes"])
    message = r"p: the index has other names than the items \(row 0 is 7, in the items it is 1\); give p the"
    with pytest.raises(ValueError, match=message):
        noisylabels.CrowdLab().fit(long, frame.set_axis([7, 8]))
    expected = noisylabels.CrowdLab().fit(long, frame.to_numpy()).posterior_
    for table_of_names in (frame, frame.set_axis([1, 2]), frame.set_axis([1, 2]).iloc[::-1]):
        posterior = noisylabels.CrowdLab().fit(long, table_of_names).posterior_
        np.testing.assert_array_equal(posterior, expected)
    array = [["no", "no"], ["yes", "no"]]
    assert noisylabels.CrowdLab().fit(array, frame.set_axis([7, 8])).posterior_.shape == (2, 2)
