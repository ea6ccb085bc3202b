"""Aggregated labels of a crowd: known truths, crowd-kit and cleanlab as oracles, and limits."""

import itertools
import json
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cleanlab.multiannotator import get_label_quality_multiannotator
from numpy.testing import assert_allclose
from problems import draw_classes
from sklearn.exceptions import NotFittedError

from noisylabels import GLAD, CrowdLab, DawidSkene, MajorityVote, OneCoin, crowds

METHODS = [MajorityVote, OneCoin, DawidSkene, GLAD]
ORACLE = json.loads((Path(__file__).parent / "crowd_kit.json").read_text(encoding="utf-8"))
"""Posteriors by crowd-kit 1.4.2, run far beyond its stopping rules, on the labels next to them."""


def simulated(n=300, W=20, per_item=5, K=2, seed=0, beta=(6.0, 2.0)):
    """A long table, true classes (n,), and confusions (W, K, K) with errors to all classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    accuracy = rng.beta(*beta, size=W)[:, None, None]
    is_diagonal = np.eye(K, dtype=bool)
    share_of_each_error = (1 - accuracy) / (K - 1)
    confusion = np.where(is_diagonal, accuracy, share_of_each_error)
    item = np.repeat(np.arange(n), per_item)
    annotators = [rng.choice(W, per_item, replace=False) for _ in range(n)]
    annotator = np.concatenate(annotators)
    label = draw_classes(rng, confusion[annotator, truth[item]])
    return {"item": item, "annotator": annotator, "label": label}, truth, confusion


def wide(table):
    """The same labels as an array with gaps."""
    n_items = max(table["item"]) + 1
    n_annotators = max(table["annotator"]) + 1
    array = np.full((n_items, n_annotators), np.nan)
    array[table["item"], table["annotator"]] = table["label"]
    return array


# Oracles


def name_case(case):
    return f"{max(case['label']) + 1} classes"


def select(table, rows):
    """Take rows of a long table."""
    return {name: column[rows] for name, column in table.items()}


def notes_with(model, text):
    return [note for note in model.notes_ if text in note]


TO_THE_LIMIT = {"tol": 1e-13, "max_iter": 20_000, "smoothing": 1e-10}


@pytest.mark.parametrize("case", ORACLE["cases"], ids=name_case)
@pytest.mark.parametrize(
    ("cls", "options", "theirs"),
    [
        (MajorityVote, {}, None),
        (OneCoin, TO_THE_LIMIT, "accuracy"),
        (DawidSkene, TO_THE_LIMIT, "confusion"),
        (GLAD, {"tol": 1e-9}, "ability"),
    ],
)
def test_posteriors_are_those_of_crowd_kit(cls, options, theirs, case):
    table = {name: case[name] for name in crowds.COLUMNS}
    model = cls(**options).fit(table)
    assert_allclose(model.posterior_, case[cls.__name__], rtol=0, atol=1e-6)
    if theirs:
        ours = getattr(model, f"{theirs}_")
        assert_allclose(ours, case[theirs], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("K", "per_item"), [(2, 4), (3, 3), (4, 5)])
def test_consensus_and_its_quality_are_those_of_cleanlab(K, per_item):
    table, truth, _ = simulated(n=120, W=12, per_item=per_item, K=K, seed=K)
    keeps_one_label = np.random.default_rng(1).random(len(truth)) < 0.3
    is_first = np.arange(len(table["item"])) % per_item == 0
    is_used = ~keeps_one_label[table["item"]] | is_first
    labels = wide(select(table, is_used))
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(K), len(truth)) + 2 * np.eye(K)[truth]
    p /= p.sum(axis=1, keepdims=True)
    model = CrowdLab().fit(labels, p)
    theirs = get_label_quality_multiannotator(labels, p, return_weights=True, verbose=False)
    quality = theirs["label_quality"]
    assert model.labels_.tolist() == quality["consensus_label"].tolist()
    assert_allclose(model.confidence_, quality["consensus_quality_score"], atol=1e-9)
    assert_allclose(model.weight_, theirs["annotator_weight"], atol=1e-9)
    rated = theirs["annotator_stats"]["annotator_quality"].sort_index()
    assert_allclose(model.quality_, rated, atol=1e-9)
    assert model.model_weight_ == pytest.approx(theirs["model_weight"], abs=1e-9)


# Forms of tables


NAN = float("nan")
LETTERS = [["a", "b", None], ["a", None, None], ["b", "b", "a"]]


def with_gap(gap):
    """LETTERS with another gap."""
    rows = []
    for row in LETTERS:
        rows.append([gap if letter is None else letter for letter in row])
    return rows


@pytest.mark.parametrize(
    "labels",
    [
        with_gap(NAN),
        with_gap(""),
        with_gap("  "),
        with_gap(pd.NA),
        with_gap(pd.NaT),
        tuple(map(tuple, with_gap(NAN))),
        np.array(with_gap("")),
        np.array(with_gap(NAN), dtype=object),
        pd.DataFrame(with_gap("")),
        pd.DataFrame(with_gap(None)).astype("string"),
        pd.DataFrame(with_gap(None)).astype("category"),
        np.ma.array(with_gap("b"), mask=np.equal(LETTERS, None)),
    ],
)
@pytest.mark.parametrize("long", [False, True])
def test_every_kind_of_gap_is_a_missing_label(labels, long):
    if long:
        item, annotator = np.divmod(np.arange(9), 3)
        if isinstance(labels, np.ma.MaskedArray):
            column = labels.ravel()
        elif isinstance(labels, pd.DataFrame):
            column = list(itertools.chain(*labels.to_numpy()))
        else:
            column = list(itertools.chain(*labels))
        labels = {"item": item.tolist(), "annotator": annotator.tolist(), "label": column}
    vote = MajorityVote().fit(labels)
    expected = MajorityVote().fit(LETTERS)
    assert vote.classes_.tolist() == ["a", "b"]
    assert vote.labels_.tolist() == expected.labels_.tolist()
    assert (vote.posterior_ == expected.posterior_).all()
    assert vote.notes_ == expected.notes_ == []


@pytest.mark.parametrize("convert", [dict, pd.DataFrame])
def test_columns_of_crowd_kit_are_a_long_table(convert):
    table, _, _ = simulated(K=3, n=50)
    renamed = dict(zip(crowds.CROWD_KIT_COLUMNS, table.values(), strict=True))
    vote = MajorityVote().fit(convert(renamed))
    expected = MajorityVote().fit(table)
    assert (vote.posterior_ == expected.posterior_).all()
    assert vote.annotators_.tolist() == expected.annotators_.tolist()
    assert vote.notes_ == []


@pytest.mark.parametrize(
    "names",
    [
        ("item", "worker", "label"),
        ("task", "rater", "answer"),
        ("unit", "judge", "label"),
        ("item_id", "x", "y"),
        ("HITId", "WorkerId", "Answer"),
        ("Item", "Annotator", "Label"),
        ("question", "who", "says"),
        ("item", "ann1", "ann2"),
        ("task", "worker", "label", "item"),
    ],
)
@pytest.mark.parametrize("convert", [dict, pd.DataFrame])
@pytest.mark.parametrize("method", METHODS)
def test_other_names_of_a_long_table_are_refused(names, convert, method):
    table = {name: np.arange(12) % (position + 2) for position, name in enumerate(names)}
    message = r"^labels: a long table needs the columns item, annotator and label"
    with pytest.raises(ValueError, match=message):
        method().fit(convert(table))


def test_annotators_of_a_wide_table_have_any_other_names():
    for names in (
        ["rater 1", "rater 2"],
        ["ann", "bob"],
        ["judge_a", "judge_b"],
        [0, 1],
        [("a", 1), ("a", 2)],
    ):
        columns = pd.Index(names, tupleize_cols=False)
        table = pd.DataFrame([[0, 1], [1, 1]], columns=columns)
        vote = MajorityVote().fit(table)
        assert vote.annotators_.tolist() == names


@pytest.mark.parametrize(
    ("labels", "suspect"),
    [
        ([[0, 1, -1], [-1, -1, 1], [0, 0, -1]], "-1"),
        ([[0.0, 1.0, -1.0], [-1.0, -1.0, 1.0]], "-1"),
        ([["0", "1", "-1"], ["1", "-1", "1"]], "-1"),
        ([[0, -1], [-1, 0]], "-1"),
        ([["a", "b", "NA"], ["NA", "b", "b"]], "NA"),
        (np.array([["a", "b", NAN], [NAN, "b", "b"]]), "nan"),
        ([["a", "?", "a"], ["a", "a", "?"]], "?"),
        ([["a", "Null", "a"], ["a", "a", "Null"]], "Null"),
    ],
)
def test_classes_that_may_be_gaps_are_said_unless_they_are_named(labels, suspect):
    vote = MajorityVote().fit(labels)
    names = [str(name).removesuffix(".0") for name in vote.classes_.tolist()]
    assert suspect in names
    start = f"'{suspect}' is read as a class"
    assert any(note.startswith(start) for note in vote.notes_)
    named = MajorityVote(classes=vote.classes_).fit(labels)
    assert not notes_with(named, "read as a class")
    assert (named.posterior_ == vote.posterior_).all()


@pytest.mark.parametrize(
    "labels", [[[-1, 1], [1, -1]], [[-2, -1, 0], [0, -1, -2]], [["no", "nay"], ["nay", "no"]]]
)
def test_usual_classes_are_not_suspected_to_be_gaps(labels):
    vote = MajorityVote().fit(labels)
    assert not notes_with(vote, "read as a class")


def test_a_column_of_names_in_a_wide_table_is_said():
    frame = pd.DataFrame({"key": [10, 11, 12], "ann1": [0, 1, 0], "ann2": [0, 1, 1]})
    with_key = MajorityVote().fit(frame)
    note = "most values of the columns 'key' occur in no other column"
    assert with_key.notes_[0].startswith(note)
    without_key = MajorityVote().fit(frame[["ann1", "ann2"]])
    assert not notes_with(without_key, "columns")
    table, _, _ = simulated(K=3, n=60)
    long_without_names = np.column_stack([table[name] for name in crowds.COLUMNS])
    vote = MajorityVote().fit(long_without_names)
    assert "occur in no other column" in vote.notes_[0]
    vote = MajorityVote().fit(wide(table))
    assert vote.notes_ == []


@pytest.mark.parametrize("names", [crowds.COLUMNS, crowds.CROWD_KIT_COLUMNS])
def test_a_second_label_of_a_pair_counts_and_is_said(names):
    rows = [("i", "u", 0), ("i", "v", 1), ("i", "v", 1), ("j", "v", 0), ("j", "v", None)]
    vote = MajorityVote().fit(pd.DataFrame(rows, columns=names))
    item, annotator, _ = names
    note = f"1 labels repeat a pair of {item} and {annotator}: each counts"
    assert vote.notes_[0].startswith(note)
    assert_allclose(vote.posterior_[0], [1 / 3, 2 / 3])


def test_large_numbers_stay_the_names_of_their_classes():
    vote = MajorityVote().fit([[1e300, 0.0], [1e300, 1e300]])
    assert vote.classes_.tolist() == [0.0, 1e300]
    ids = [2**60 + 1, 2**60 + 3]
    table = {"item": ids, "annotator": [0, 1], "label": [0, 1]}
    vote = MajorityVote().fit(table)
    assert vote.items_.tolist() == ids


@pytest.mark.parametrize("kind", [np.int8, np.int64])
@pytest.mark.parametrize("spread", [1, 1000])
def test_whole_numbers_are_named_alike_whether_they_are_counted_or_sorted(kind, spread):
    """Numbers with wide gaps are sorted, others are counted."""
    rng = np.random.default_rng(0)
    item = rng.integers(-60, 60, 300)
    if kind is np.int64:
        item = item * spread
    item = item.astype(kind)
    table = {"item": item, "annotator": np.arange(300), "label": rng.integers(0, 2, 300)}
    numbers = MajorityVote().fit(table)
    texts = [f"{value + 10**6:09d}" for value in item.tolist()]
    named = MajorityVote().fit(table | {"item": np.array(texts)})
    assert numbers.items_.dtype == kind
    assert np.array_equal(numbers.items_, np.unique(item))
    assert np.array_equal(numbers.posterior_, named.posterior_)


def test_accuracy_is_the_same_for_all_annotators_at_once_and_for_some_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 3, (80, 7))
    at_once = DawidSkene().fit(wide).accuracy_
    monkeypatch.setattr(crowds, "BLOCK_BYTES", 2 * 8 * 9)
    assert np.array_equal(DawidSkene().fit(wide).accuracy_, at_once)


def test_a_vote_needs_no_confusions_until_they_are_asked_for():
    rng = np.random.default_rng(0)
    sizes = {"item": 5_000, "annotator": 20_000, "label": 77}
    table = {name: rng.integers(size, size=25_000) for name, size in sizes.items()}
    tracemalloc.start()
    vote = MajorityVote().fit(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # the confusions alone have 0.7 GB
    annotators = np.unique(table["annotator"])
    assert vote.accuracy_.shape == (len(annotators),)
    small = MajorityVote().fit(select(table, slice(2000)))
    assert "confusion_" not in vars(small)
    counts = small._data.count_confusions(small.posterior_)
    right = np.trace(counts, axis1=1, axis2=2)
    shares = right / counts.sum(axis=(1, 2))
    assert (small.accuracy_ == shares).all()  # made in parts, equal to the bit
    rows_of_confusions = np.nansum(small.confusion_, axis=2)
    assert_allclose(rows_of_confusions.max(), 1.0)


def test_confusions_belong_to_the_last_fit():
    vote = MajorityVote()
    with pytest.raises(NotFittedError):
        _ = vote.confusion_
    vote.fit([[0, 1], [1, 1]])
    assert vote.confusion_.shape == (2, 2, 2)
    vote.fit([[0, 1, 2], [1, 1, 1]])
    assert vote.confusion_.shape == (3, 3, 3)
    unpickled = pickle.loads(pickle.dumps(vote))
    assert unpickled.confusion_.shape == (3, 3, 3)


# Models


@pytest.mark.parametrize("cls", [OneCoin, DawidSkene])
@pytest.mark.parametrize("K", [2, 3])
def test_em_never_lowers_the_likelihood(cls, K):
    table, _, _ = simulated(K=K, beta=(3.0, 2.0))
    model = cls(max_iter=1000).fit(table)
    objectives = np.array(model.objectives_)
    rounding_error = 1e-9 * np.abs(objectives[1:])
    assert (np.diff(objectives) >= -rounding_error).all()
    assert_allclose(model.confusion_.sum(axis=2), 1.0)
    off_diagonal = ~np.eye(K, dtype=bool)
    wrong = model.confusion_[:, off_diagonal]
    one_rate_each = np.allclose(wrong, wrong[:, :1])
    assert one_rate_each == (cls is OneCoin)
    assert model.converged_
    assert model.notes_ == []
    stopped = cls(max_iter=2).fit(table)
    assert stopped.notes_ == ["not converged: raise max_iter"]


def test_models_beat_the_vote_where_annotators_differ_and_find_their_accuracy_and_hard_items():
    table, truth, confusion = simulated(n=1000, W=40, K=3, beta=(2.0, 1.0))
    models = {cls: cls().fit(table) for cls in METHODS}
    errors = {cls: np.mean(model.labels_ != truth) for cls, model in models.items()}
    to_beat = errors.pop(MajorityVote) - 0.02
    assert max(errors.values()) < to_beat
    accuracy = confusion[:, 0, 0]
    deviations = np.abs(models[OneCoin].accuracy_ - accuracy)
    assert deviations.mean() < 0.05
    ability = models[GLAD].ability_
    assert np.corrcoef(ability, accuracy)[0, 1] > 0.9
    features = np.eye(3)[truth] * 0.5 + 0.5 / 3
    crowdlab = CrowdLab().fit(table, features)
    assert np.mean(crowdlab.labels_ != truth) < to_beat
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(300, 1))
    is_hard = np.arange(300) < 60
    error_rates = np.where(is_hard, 0.45, 0.05)[:, None]
    is_wrong = rng.random((300, 12)) < error_rates
    labels = np.where(is_wrong, 1 - truth, truth)
    glad = GLAD().fit(labels)
    easiness = glad.easiness_
    assert easiness[is_hard].mean() < easiness[~is_hard].mean() - 1
    assert glad.converged_


@pytest.mark.parametrize("cls", METHODS)
def test_names_order_and_form_of_the_labels_change_nothing(cls):
    table, _, _ = simulated(K=3, n=80)
    model = cls().fit(table)
    order = np.random.default_rng(0).permutation(len(table["item"]))
    shuffled = cls().fit(select(table, order))
    frame = pd.DataFrame(table)
    pivoted = cls().fit(frame.pivot(index="item", columns="annotator", values="label"))
    class_names = np.array(["a", "b", "c"])
    annotator_names = np.array([f"w{annotator:02}" for annotator in range(20)])
    frame["label"] = class_names[table["label"]]
    frame["annotator"] = annotator_names[table["annotator"]]
    texts = cls().fit(frame.sample(frac=1, random_state=0))
    array = wide(table)
    with_gaps = cls().fit(array)
    masked = cls().fit(np.ma.masked_invalid(array))
    for of_other_form in (shuffled, with_gaps, pivoted, masked, texts):
        assert_allclose(of_other_form.posterior_, model.posterior_, atol=1e-6)
        assert_allclose(of_other_form.confusion_, model.confusion_, atol=1e-4)
    assert texts.classes_.tolist() == ["a", "b", "c"]
    assert texts.annotators_.tolist() == annotator_names.tolist()
    # whole numbers, although gaps make floats
    assert with_gaps.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("cls", METHODS)
def test_an_item_whose_labels_are_all_missing_stays_in_either_form(cls):
    rows = [[0, 1, 0], [None, None, None], [1, 1, 0]]
    item, annotator = np.divmod(np.arange(9), 3)
    table = {"item": item, "annotator": annotator, "label": np.ravel(rows)}
    for model in (cls().fit(rows), cls().fit(table)):
        assert model.items_.tolist() == [0, 1, 2]
        assert "1 of 3 items have no label" in model.notes_
        prior = getattr(model, "prior_", 0.5)
        assert_allclose(model.posterior_[1], prior)


def test_ties_are_coins_and_the_rarest_votes_win_nothing():
    two_tied = np.tile([-1, 1], (2000, 1))
    tied = MajorityVote().fit(two_tied)
    assert abs(tied.labels_.mean()) < 0.1
    vote = MajorityVote().fit([["x", "y", "z", "y"]] * 5)
    assert vote.labels_.tolist() == ["y"] * 5
    three_tied = np.tile([0, 1, 2], (3000, 1))
    labels = MajorityVote(random_state=1).fit(three_tied).labels_
    assert np.bincount(labels) == pytest.approx([1000] * 3, abs=120)


# What is uncertain


MODELS_AND_CLASSES = [(OneCoin, 2), (OneCoin, 4), (DawidSkene, 2), (DawidSkene, 3)]


@pytest.mark.parametrize(("cls", "K"), MODELS_AND_CLASSES)
def test_intervals_hold_the_rates_as_often_as_they_say(cls, K):
    diagonal = np.eye(K, dtype=bool)
    inside = []
    for seed in range(12):
        table, _, confusion = simulated(n=250, W=15, K=K, seed=seed)
        model = cls().fit(table)
        low, high = model.intervals(0.9, draws=200)
        holds = (low <= confusion) & (confusion <= high)
        inside.append(holds[:, diagonal])
    # the annotators are independent
    standard_error = (0.9 * 0.1 / (12 * 15)) ** 0.5
    assert abs(np.mean(inside) - 0.9) < 3 * standard_error


def mean_width(n):
    """Average the widths of the intervals from n items."""
    table, _, _ = simulated(n=n)
    low, high = DawidSkene().fit(table).intervals()
    return (high - low).mean()


def test_intervals_begin_at_zero_where_nothing_was_seen_and_narrow_with_labels():
    table, _, _ = simulated(n=200, beta=(1e6, 1e-3))  # nobody makes a mistake
    low, high = DawidSkene().fit(table).intervals()
    assert (low[:, 0, 1] == 0).all()
    assert (high[:, 1, 1] == 1).all()
    assert (high[:, 0, 1] > 0.01).all()
    assert mean_width(1600) < 0.4 * mean_width(100)


def test_the_items_to_label_next_are_those_in_doubt():
    labels = [[0, 0, 0, 0], [0, 1, 0, 1], [0, None, None, None], [1, 1, 1, 0], [None] * 4]
    vote = MajorityVote().fit(labels)
    assert vote.relabel_next(3).tolist() == [4, 1, 2]
    table, truth, _ = simulated(n=600, beta=(3.0, 2.0))
    model = DawidSkene().fit(table)
    is_wrong = model.labels_ != truth
    is_wrong_next = is_wrong[model.relabel_next(100)]
    assert is_wrong_next.mean() > 2 * is_wrong.mean()


def vote_of(row):
    """The most frequent label of an item, or none where nobody labelled it."""
    votes = [label for label in row if label is not None]
    return max(set(votes), key=votes.count, default=None)


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
    model = cls().fit(labels)
    assert any(remark.startswith(note) for remark in model.notes_)
    assert np.isfinite(model.posterior_).all()
    votes = [vote_of(row) for row in labels]
    majority = [vote for vote in votes if vote is not None]
    is_arbitrary = notes_with(model, "arbitrary")
    if cls is MajorityVote or not is_arbitrary:
        assert model.labels_[: len(majority)].tolist() == majority


def test_thousands_of_labels_of_an_item_do_not_underflow():
    shares_of_ones = np.array([[0.3], [0.7], [0.3], [0.7]])
    uniform = np.random.default_rng(0).random((4, 2500))
    labels = (uniform < shares_of_ones).astype(int)
    for cls in METHODS:
        model = cls().fit(labels)
        assert model.labels_.tolist() == [0, 1, 0, 1]
        assert np.isfinite(model.posterior_).all()


NO_ITEM = {"item": [0, None], "annotator": [0, 0], "label": [0, 1]}
NO_NAME = {"item": [0, 1], "annotator": [np.nan, 0], "label": [0, 1]}


ITEMS_AS_TUPLES = {"item": [("d", 1), ("d", 2)], "annotator": ["u", "v"], "label": ["a", "b"]}
UNEVEN_LABELS = {"item": [1, 2], "annotator": ["u", "v"], "label": [["a"], ["a", "b"]]}
NAMELESS_WORKER = {"task": [1, 2], "worker": ["u", " "], "label": ["a", "b"]}


@pytest.mark.parametrize(
    ("method", "labels", "message"),
    [
        (MajorityVote(), [0, 1], r"expected an array \(items, annotators\).* the shape \(2,\)"),
        (
            MajorityVote(),
            {"item": [0], "worker": [1], "label": [0]},
            "got 'item', 'worker', 'label'; rename",
        ),
        (MajorityVote(), {"a": [0, 1], "b": [1, 0]}, "expected an array .* got 'a', 'b'"),
        (MajorityVote(), ITEMS_AS_TUPLES, "the column item must have one text or number per row"),
        (MajorityVote(), UNEVEN_LABELS, "the column label must have one text or number per row"),
        (MajorityVote(), NAMELESS_WORKER, "row 1 has no worker; name it, or drop the row"),
        (MajorityVote(), [[0, np.inf]], "label: infinite values are not names"),
        (MajorityVote(), [[0, 1j]], "label: must hold texts or real numbers"),
        (MajorityVote(), [["a", 1]], "label: must hold either text or numbers, not both"),
        (MajorityVote(), {"item": [0], "annotator": [1, 2], "label": [0]}, "the same length"),
        (
            OneCoin(),
            [[0, 1], [1]],
            "row 1 has 1 entries, row 0 has 2; give every row one entry per",
        ),
        (GLAD(), [[0, 1], 1], "row 1 has 1 entries, row 0 has 2"),
        (GLAD(), NO_ITEM, "row 1 has no item; name it, or drop the row"),
        (OneCoin(), NO_NAME, "row 0 has no annotator"),
        (MajorityVote(), [[None, None]], "there are none; two are needed"),
        (MajorityVote(), [["a", "a"]], "one class only, a; two are needed"),
        (MajorityVote(["a", "b"]), [["a", "c"]], r"c is not one of classes = \['a', 'b'\]"),
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


def test_two_columns_of_one_name_and_sparse_tables_are_refused():
    from scipy.sparse import csr_matrix

    twice = pd.DataFrame([["a", "b"], ["a", "a"]], columns=["anna", "anna"])
    message = "labels: several annotators are called 'anna'; rename them"
    with pytest.raises(ValueError, match=message):
        MajorityVote().fit(twice)
    long = pd.DataFrame([[0, 1, "a", "b"]], columns=["item", "annotator", "label", "label"])
    with pytest.raises(ValueError, match="labels: 2 columns are called label; rename one"):
        MajorityVote().fit(long)
    message = "labels: is a sparse matrix, in which 0 and no label look the same"
    with pytest.raises(ValueError, match=message):
        MajorityVote().fit(csr_matrix(np.eye(3)))
