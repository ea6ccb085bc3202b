"""Aggregated labels of a crowd: known truths, crowd-kit and cleanlab as oracles, and what cannot be told."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cleanlab.multiannotator import get_label_quality_multiannotator

from noisylabels import GLAD, CrowdLab, DawidSkene, MajorityVote, OneCoin, crowds

METHODS = [MajorityVote, OneCoin, DawidSkene, GLAD]
ORACLE = json.loads((Path(__file__).parent / "crowd_kit.json").read_text(encoding="utf-8"))
"""Posteriors by crowd-kit 1.4.2, run far beyond its own stopping rules, on the labels beside them."""


def simulated(n=300, W=20, per_item=5, K=2, seed=0, beta=(6.0, 2.0)):
    """A long table, the true classes (n,), and confusions (W, K, K) whose errors go to all classes alike."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    accuracy = rng.beta(*beta, size=W)
    a = accuracy[:, None, None]
    confusion = np.where(np.eye(K, dtype=bool), a, (1 - a) / (K - 1))
    item = np.repeat(np.arange(n), per_item)
    annotator = np.concatenate([rng.choice(W, per_item, replace=False) for _ in range(n)])
    steps = np.cumsum(confusion[annotator, truth[item]], axis=1)[:, :-1]
    label = (steps < rng.random((len(item), 1))).sum(axis=1)
    return {"item": item, "annotator": annotator, "label": label}, truth, confusion


def wide(table):
    """The same labels as an array with gaps."""
    array = np.full((max(table["item"]) + 1, max(table["annotator"]) + 1), np.nan)
    array[table["item"], table["annotator"]] = table["label"]
    return array


# Oracles


@pytest.mark.parametrize("case", ORACLE["cases"], ids=lambda case: f"{max(case['label']) + 1} classes")
@pytest.mark.parametrize(
    ("cls", "options", "theirs"),
    [
        (MajorityVote, {}, None),
        (OneCoin, {"tol": 1e-13, "max_iter": 20_000, "smoothing": 1e-10}, "accuracy"),
        (DawidSkene, {"tol": 1e-13, "max_iter": 20_000, "smoothing": 1e-10}, "confusion"),
        (GLAD, {"tol": 1e-9}, "ability"),
    ],
)
def test_posteriors_are_those_of_crowd_kit(cls, options, theirs, case):
    found = cls(**options).fit({name: case[name] for name in crowds.COLUMNS})
    np.testing.assert_allclose(found.posterior_, case[cls.__name__], rtol=0, atol=1e-6)
    if theirs:
        np.testing.assert_allclose(getattr(found, f"{theirs}_"), case[theirs], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("K", "per_item"), [(2, 4), (3, 3), (4, 5)])
def test_consensus_and_its_quality_are_those_of_cleanlab(K, per_item):
    table, truth, _ = simulated(n=120, W=12, per_item=per_item, K=K, seed=K)
    few = np.random.default_rng(1).random(len(truth)) < 0.3  # items that keep one label
    keep = ~few[table["item"]] | (np.arange(len(table["item"])) % per_item == 0)
    table = {name: column[keep] for name, column in table.items()}
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(K), len(truth)) + 2 * np.eye(K)[truth]
    p /= p.sum(axis=1, keepdims=True)
    found = CrowdLab().fit(wide(table), p)
    theirs = get_label_quality_multiannotator(wide(table), p, return_weights=True, verbose=False)
    quality = theirs["label_quality"]
    assert found.labels_.tolist() == quality["consensus_label"].tolist()
    np.testing.assert_allclose(found.confidence_, quality["consensus_quality_score"], atol=1e-9)
    np.testing.assert_allclose(found.weight_, theirs["annotator_weight"], atol=1e-9)
    rated = theirs["annotator_stats"]["annotator_quality"].sort_index()
    np.testing.assert_allclose(found.quality_, rated, atol=1e-9)
    assert found.model_weight_ == pytest.approx(theirs["model_weight"], abs=1e-9)


# Models


@pytest.mark.parametrize("cls", [OneCoin, DawidSkene])
@pytest.mark.parametrize("K", [2, 3])
def test_em_never_lowers_the_likelihood(cls, K):
    table, _, _ = simulated(K=K, beta=(3.0, 2.0))
    found = cls(max_iter=1000).fit(table)
    objectives = np.array(found.objectives_)
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:])).all()
    np.testing.assert_allclose(found.confusion_.sum(axis=2), 1.0)
    wrong = found.confusion_[:, ~np.eye(K, dtype=bool)]
    assert np.allclose(wrong, wrong[:, :1]) == (cls is OneCoin)  # one rate each
    assert found.converged_
    assert found.notes_ == []
    assert cls(max_iter=2).fit(table).notes_ == ["not converged: raise max_iter"]


def test_models_beat_the_vote_where_annotators_differ_and_find_their_accuracy_and_hard_items():
    table, truth, confusion = simulated(n=1000, W=40, K=3, beta=(2.0, 1.0))
    found = {cls: cls().fit(table) for cls in METHODS}
    errors = {cls: np.mean(each.labels_ != truth) for cls, each in found.items()}
    assert max(errors[OneCoin], errors[DawidSkene], errors[GLAD]) < errors[MajorityVote] - 0.02
    assert np.abs(found[OneCoin].accuracy_ - confusion[:, 0, 0]).mean() < 0.05
    assert np.corrcoef(found[GLAD].ability_, confusion[:, 0, 0])[0, 1] > 0.9
    features = np.eye(3)[truth] * 0.5 + 0.5 / 3
    assert np.mean(CrowdLab().fit(table, features).labels_ != truth) < errors[MajorityVote] - 0.02
    rng = np.random.default_rng(0)
    truth, hard = rng.integers(2, size=300), np.arange(300) < 60
    wrong = rng.random((300, 12)) < np.where(hard, 0.45, 0.05)[:, None]
    glad = GLAD().fit(np.where(wrong, 1 - truth[:, None], truth[:, None]))
    assert glad.easiness_[hard].mean() < glad.easiness_[~hard].mean() - 1
    assert glad.converged_


@pytest.mark.parametrize("cls", METHODS)
def test_names_order_and_form_of_the_labels_change_nothing(cls):
    table, _, _ = simulated(K=3, n=80)
    same = cls().fit(table)
    order = np.random.default_rng(0).permutation(len(table["item"]))
    shuffled = cls().fit({name: column[order] for name, column in table.items()})
    frame = pd.DataFrame(table).pivot(index="item", columns="annotator", values="label")
    named = pd.DataFrame(table).assign(
        label=np.array(["a", "b", "c"])[table["label"]], annotator=[f"w{a:02}" for a in table["annotator"]]
    )
    masked = np.ma.masked_invalid(wide(table))
    texts = cls().fit(named.sample(frac=1, random_state=0))
    for found in (shuffled, cls().fit(wide(table)), cls().fit(frame), cls().fit(masked), texts):
        np.testing.assert_allclose(found.posterior_, same.posterior_, atol=1e-6)
        np.testing.assert_allclose(found.confusion_, same.confusion_, atol=1e-4)
    assert texts.classes_.tolist() == ["a", "b", "c"]
    assert texts.annotators_.tolist() == [f"w{a:02}" for a in range(20)]
    assert cls().fit(wide(table)).classes_.tolist() == [0, 1, 2]  # whole numbers, although gaps make floats


@pytest.mark.parametrize("cls", METHODS)
def test_an_item_whose_labels_are_all_missing_stays_in_either_form(cls):
    rows = [[0, 1, 0], [None, None, None], [1, 1, 0]]
    item, annotator = np.divmod(np.arange(9), 3)
    table = {"item": item, "annotator": annotator, "label": np.ravel(rows)}
    for found in (cls().fit(rows), cls().fit(table)):
        assert found.items_.tolist() == [0, 1, 2]
        assert "1 of 3 items have no label" in found.notes_
        np.testing.assert_allclose(found.posterior_[1], found.prior_ if hasattr(found, "prior_") else 0.5)


def test_ties_are_coins_and_the_rarest_votes_win_nothing():
    tied = MajorityVote().fit(np.tile([-1, 1], (2000, 1)))
    assert abs(tied.labels_.mean()) < 0.1
    assert MajorityVote().fit([["x", "y", "z", "y"]] * 5).labels_.tolist() == ["y"] * 5
    three = MajorityVote(random_state=1).fit(np.tile([0, 1, 2], (3000, 1))).labels_
    assert np.bincount(three) == pytest.approx([1000] * 3, abs=120)


# What is uncertain


@pytest.mark.parametrize(("cls", "K"), [(OneCoin, 2), (OneCoin, 4), (DawidSkene, 2), (DawidSkene, 3)])
def test_intervals_hold_the_rates_as_often_as_they_say(cls, K):
    inside = []
    for seed in range(12):
        table, _, confusion = simulated(n=250, W=15, K=K, seed=seed)
        low, high = cls().fit(table).intervals(0.9, draws=200)
        inside.append(((low <= confusion) & (confusion <= high))[:, np.eye(K, dtype=bool)])
    chance = 3 * (0.9 * 0.1 / (12 * 15)) ** 0.5  # three standard errors, the annotators being independent
    assert abs(np.mean(inside) - 0.9) < chance


def test_intervals_begin_at_zero_where_nothing_was_seen_and_narrow_with_labels():
    table, _, _ = simulated(n=200, beta=(1e6, 1e-3))  # nobody errs
    low, high = DawidSkene().fit(table).intervals()
    assert (low[:, 0, 1] == 0).all()
    assert (high[:, 1, 1] == 1).all()
    assert (high[:, 0, 1] > 0.01).all()
    widths = [np.subtract(*DawidSkene().fit(simulated(n=n)[0]).intervals()[::-1]).mean() for n in (100, 1600)]
    assert widths[1] < 0.4 * widths[0]


def test_the_items_to_label_next_are_those_in_doubt():
    labels = [[0, 0, 0, 0], [0, 1, 0, 1], [0, None, None, None], [1, 1, 1, 0], [None] * 4]
    assert MajorityVote().fit(labels).relabel_next(3).tolist() == [4, 1, 2]
    table, truth, _ = simulated(n=600, beta=(3.0, 2.0))
    found = DawidSkene().fit(table)
    wrong = found.labels_ != truth
    assert wrong[found.relabel_next(100)].mean() > 2 * wrong.mean()


@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize(
    ("labels", "note"),
    [
        ([[0, None], [None, 1], [1, None]], "no item has two labels"),
        ([[0], [1], [1]], "there is one annotator only"),
        ([[0, 0, 0], [1, 1, None], [1, 1, 1]], "the labels of every item agree"),
        ([[0, 0, 1], [1, 1, 0], [None, None, None]], "1 of 3 items have no label"),
    ],
)
def test_what_labels_cannot_tell_is_said(cls, labels, note):
    found = cls().fit(labels)
    assert any(each.startswith(note) for each in found.notes_)
    assert np.isfinite(found.posterior_).all()
    votes = [[x for x in row if x is not None] for row in labels]
    majority = [max(set(row), key=row.count) for row in votes if row]
    if cls is MajorityVote or "arbitrary" not in " ".join(found.notes_):
        assert found.labels_[: len(majority)].tolist() == majority


def test_thousands_of_labels_of_an_item_do_not_underflow():
    labels = (np.random.default_rng(0).random((4, 5000)) < [[0.3], [0.7], [0.3], [0.7]]).astype(int)
    for cls in METHODS:
        found = cls().fit(labels)
        assert found.labels_.tolist() == [0, 1, 0, 1]
        assert np.isfinite(found.posterior_).all()


NO_ITEM = {"item": [0, None], "annotator": [0, 0], "label": [0, 1]}
NO_NAME = {"item": [0, 1], "annotator": [np.nan, 0], "label": [0, 1]}


@pytest.mark.parametrize(
    ("method", "labels", "message"),
    [
        (MajorityVote(), [0, 1], r"expected an array \(items, annotators\).* the shape \(2,\)"),
        (MajorityVote(), {"item": [0], "worker": [1], "label": [0]}, "got .'item', 'label', 'worker'"),
        (MajorityVote(), {"item": [0], "annotator": [1, 2], "label": [0]}, "the same length"),
        (OneCoin(), [[0, 1], [1]], "row 1 has 1 entries, row 0 has 2; give every row one entry per"),
        (GLAD(), [[0, 1], 1], "row 1 has 1 entries, row 0 has 2"),
        (GLAD(), NO_ITEM, "row 1 has no item; name it, or drop the row"),
        (OneCoin(), NO_NAME, "row 0 has no annotator"),
        (MajorityVote(), [[None, None]], "there are none; two are needed"),
        (MajorityVote(), [["a", "a"]], "one class only, a; two are needed"),
        (MajorityVote(["a", "b"]), [["a", "c"]], r"c is none of classes = \['a', 'b'\]"),
        (MajorityVote(), np.array([["a", 1]], object), "label: must hold either text or numbers"),
        (DawidSkene(max_iter=0), [[0, 1]], "max_iter: must be"),
        (DawidSkene(smoothing=0), [[0, 1]], "smoothing: must be"),
        (CrowdLab(), [[0, 1]], "p: a classifier's probabilities"),
    ],
)
def test_wrong_labels_and_parameters_are_named(method, labels, message):
    with pytest.raises(ValueError, match=message):
        method.fit(labels)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: OneCoin().fit([[0, 1]]).intervals(1.0), "level: must be"),
        (lambda: MajorityVote().fit([[0, 1]]).relabel_next(0), "m: must be"),
        (lambda: CrowdLab().fit([[0, 1]], [[0.5, 0.6]]), "p: rows must be probabilities"),
        (lambda: CrowdLab().fit([[0, 1]], [[0.5]]), "p: expected shape"),
        (lambda: CrowdLab().fit([[0], [1]], [[0.5, 0.5]] * 2), "no item has two labels"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
