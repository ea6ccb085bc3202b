"""Copies of rows are found by their columns, are not both learned from and judged, count as one."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import noisylabels
from noisylabels.auditing import flip_rates
from noisylabels.auditing.copies import combine_groups, find_copies
from noisylabels.auditing.cross_fitting import cross_fitted, folds_for, split_folds

NEAREST = KNeighborsClassifier(5)
"""Knows a row from its copies, and fits a hundred times as fast as a forest."""
QUICK = {"compare": False, "repetitions": 1}


def with_copies(share, noise, rows=300, columns=5, copies=1, categories=False, seed=0):
    """Distinct rows, noisy copies of a share of them, and the number of each one's source."""
    rng = np.random.default_rng([seed, columns])
    X = rng.normal(size=(rows, columns))
    copied = rng.choice(rows, round(share * rows), replace=False)
    source = np.concatenate([np.arange(rows), *[copied] * copies])
    table = X[source]
    table[rows:] += noise * rng.normal(size=(len(source) - rows, columns))
    if categories:
        category = rng.integers(4, size=rows)[source]
        table = np.hstack([table, np.eye(4)[category]])
    order = rng.permutation(len(source))
    return table[order], source[order]


@pytest.mark.parametrize("columns", [5, 20, 50])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
@pytest.mark.parametrize(("share", "copies"), [(0.1, 1), (0.5, 1), (1.0, 1), (1.0, 4)])
@pytest.mark.parametrize("categories", [False, True])
def test_copies_are_found_whatever_their_share(columns, noise, share, copies, categories):
    X, source = with_copies(share, noise, columns=columns, copies=copies, categories=categories)
    groups = find_copies(X).groups
    order = np.argsort(source, kind="stable")
    is_copy = np.diff(source[order]) == 0
    is_grouped = np.diff(groups[order]) == 0
    assert is_grouped[is_copy].mean() > 0.95
    number_of_groups = groups.max() + 1
    distinct_rows = source.max() + 1
    assert number_of_groups > 0.75 * distinct_rows  # rows that are not copies are seldom joined


def draw_categories(rng, number, rows=600):
    """A column of 0 and 1 for each of a number of categories."""
    category = rng.integers(number, size=rows)
    return np.eye(number)[category]


def tables_of_distinct_rows():
    rng = np.random.default_rng(0)
    yield "numbers", rng.normal(size=(400, 3))
    yield "few columns", rng.uniform(size=(1000, 2))
    yield "heavy tails", rng.standard_cauchy((500, 4))
    centres = 10 * rng.normal(size=(20, 6))
    cluster = rng.integers(20, size=500)
    yield "clusters", centres[cluster] + rng.normal(size=(500, 6))
    grid = np.arange(30.0)
    yield "grid", np.column_stack([np.repeat(grid, 30), np.tile(grid, 30)])
    yield "ages", rng.integers(18, 80, (600, 1)).astype(float)
    yield "walk", np.cumsum(rng.normal(size=(500, 3)), axis=0)
    for columns in (2, 5, 10):
        yield f"{columns} binary", rng.integers(0, 2, (600, columns)).astype(float)
    mean_opinion = rng.normal(3, 1, (600, 1))
    opinions = mean_opinion + rng.normal(0, 0.7, (600, 6))
    yield "scales", np.clip(opinions, 1, 5).round()
    yield "categories", np.hstack([draw_categories(rng, 10) for _ in range(2)])
    yield "mixed", np.column_stack([draw_categories(rng, 4), rng.normal(size=600).round(1)])


@pytest.mark.parametrize(("name", "X"), list(tables_of_distinct_rows()))
def test_rows_that_chance_makes_equal_or_near_are_no_copies(name, X):
    copies = find_copies(X)
    assert copies.copied == 0
    assert not copies.nearly_equal
    distinct_rows = np.unique(X, axis=0)
    assert (copies.coincident > 0) == (len(distinct_rows) < len(X))


def test_copies_do_not_depend_on_the_order_of_the_rows():
    X, _ = with_copies(0.5, 0.0)
    order = np.random.default_rng(1).permutation(len(X))
    groups = find_copies(X).groups
    reordered = find_copies(X[order]).groups
    pairs = set(zip(groups[order].tolist(), reordered.tolist(), strict=True))
    assert len(pairs) == groups.max() + 1 == reordered.max() + 1


def test_groups_of_two_kinds_are_combined():
    first_kind = np.array([0, 0, 1, 2, 3])
    second_kind = np.array([0, 1, 1, 2, 3])
    each_row_alone = np.arange(5)
    assert combine_groups(first_kind, second_kind).tolist() == [0, 0, 0, 1, 2]
    assert combine_groups(each_row_alone, None) is None
    assert combine_groups(each_row_alone, second_kind).tolist() == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("number", [60, 900])
def test_no_group_is_on_both_sides_of_a_split_and_classes_keep_their_share(number):
    rng = np.random.default_rng(0)
    drawn_groups = np.sort(rng.integers(number, size=3 * number))
    _, groups = np.unique(drawn_groups, return_inverse=True)
    y = (rng.random(len(groups)) < 0.2).astype(int)
    held_out = []
    for train, held in split_folds(y, 5, 0, groups):
        groups_of_train = set(groups[train])
        groups_held = set(groups[held])
        assert not groups_of_train & groups_held
        assert len(train) + len(held) == len(y)
        assert y[held].mean() == pytest.approx(0.2, abs=0.1)
        held_out.append(held)
    all_held_out = np.sort(np.concatenate(held_out))
    assert np.array_equal(all_held_out, np.arange(len(y)))


def test_without_groups_the_folds_are_those_of_scikit_learn():
    y = np.arange(100) % 3
    ours = [held.tolist() for _, held in split_folds(y, 5, 7)]
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    theirs = [held.tolist() for _, held in folds.split(np.zeros(100), y)]
    assert ours == theirs


def test_a_class_in_one_group_is_refused():
    y = np.repeat([0, 1], 20)
    groups = np.r_[np.arange(20), np.full(20, 20)]
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert folds_for(y, groups) == 1
    with pytest.raises(ValueError, match="a class with rows of a single group"):
        cross_fitted(X, y, LogisticRegression(), groups=groups)
    message = "a class occurs in so few groups that some folds have none of it"
    with pytest.raises(ValueError, match=message):
        list(split_folds(y, 2, 0, groups))


def test_each_row_twice_gives_the_counts_of_each_row_once():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    p = rng.dirichlet(np.ones(3), 200)
    groups = np.repeat(np.arange(200), 2)
    y_twice = y[groups]
    p_twice = p[groups]
    once = flip_rates.surest(p, y)
    twice = flip_rates.surest(p_twice, y_twice, groups)
    for name in ("omega", "rows", "disagree", "low", "high"):
        assert_allclose(getattr(twice, name), getattr(once, name))
    weights = flip_rates.weights_of(groups)
    joint_once = flip_rates.joint(p, y)
    joint_twice = flip_rates.joint(p_twice, y_twice, weights)
    assert_allclose(joint_twice, joint_once)
    no_flips = np.eye(3)
    predicted = p.argmax(axis=1)
    error_once = flip_rates.corrected_error(predicted, y, no_flips)
    error_twice = flip_rates.corrected_error(predicted[groups], y_twice, no_flips, groups)
    assert error_twice == pytest.approx(error_once)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_upper_limit_of_copied_coins_covers(noise):
    X, source = with_copies(1.0, noise, rows=200)
    coins = np.random.default_rng(3).integers(2, size=200)
    report = noisylabels.audit(X, coins[source], model=NEAREST, **QUICK)
    assert report.bounds[1] >= 0.5
    assert any("of 400 rows are" in note and "counts as one row" in note for note in report.notes)


def test_named_groups_count_as_one_like_copies():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(100), 4)
    of_patients = rng.normal(size=(100, 4))
    X = of_patients[patient] + 0.5 * rng.normal(size=(400, 4))
    coins = rng.integers(2, size=100)
    y = coins[patient]  # nothing is to be learned but who it is
    alone = noisylabels.audit(X, y, model=NEAREST, **QUICK)
    assert alone.informative
    names = [f"patient {i}" for i in patient]
    report = noisylabels.audit(X, y, groups=names, model=NEAREST, **QUICK)
    assert not report.informative
    assert "rows of one group count as one: 100 groups" in report.notes
    first_has_no_name = np.where(patient == 0, None, patient.astype(object))
    named = noisylabels.audit(X, y, groups=first_has_no_name, model="logistic", **QUICK)
    assert "rows of one group count as one: 103 groups" in named.notes
    message = r"groups must have one name for each of 400 rows, got shape \(3,\)"
    with pytest.raises(ValueError, match=message):
        noisylabels.audit(X, y, groups=[1, 2, 3])


def test_a_table_without_copies_has_the_same_audit_with_a_group_for_each_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    noisy_target = X[:, 0] + rng.normal(size=200)
    y = (noisy_target > 0).astype(int)
    plain = noisylabels.audit(X, y, model="logistic", **QUICK)
    grouped = noisylabels.audit(X, y, groups=range(200), model="logistic", **QUICK)
    pd.testing.assert_frame_equal(plain.ranking, grouped.ranking)
    assert plain.bounds == grouped.bounds
    assert plain.guess == grouped.guess


@pytest.mark.parametrize("order", ["rate", "doubt", "chance"])
@pytest.mark.parametrize(("share", "noise"), [(1.0, 0.0), (0.5, 0.0), (0.5, 0.02)])
def test_an_answer_repairs_equal_rows(order, share, noise, tmp_path):
    X, source = with_copies(share, noise, rows=200)
    rng = np.random.default_rng(0)
    by_source = np.argsort(source, kind="stable")
    _, first_places = np.unique(source[by_source], return_index=True)
    distinct = X[by_source[first_places]]
    is_positive = distinct[:, 0] > 0
    is_flipped = rng.random(200) < 0.2
    true = is_positive.astype(int)[source]
    labels = (is_positive ^ is_flipped).astype(int)[source]
    report = noisylabels.audit(X, labels, model="logistic", **QUICK)
    path = tmp_path / "review.csv"
    noisylabels.review(report, path, 60, by=order)
    sheet = pd.read_csv(path)
    rows = sheet["row"]
    sheet.assign(true=true[rows]).to_csv(path, index=False)
    reviewed = noisylabels.review(report, path, 60, by=order)
    repaired = reviewed.repaired["y repaired"].astype(int).to_numpy()
    is_repaired = np.isin(source, source[rows])
    if noise:  # rows that are only nearly equal may be different rows
        is_repaired = np.isin(np.arange(len(source)), rows)
    assert (repaired == true)[is_repaired].all()
    assert reviewed.copies == is_repaired.sum() - len(sheet)
    assert (repaired == labels)[~is_repaired].all()


def test_copies_are_in_one_fold_of_a_corrected_classifier():
    X, source = with_copies(1.0, 0.0)
    coins = np.random.default_rng(0).integers(2, size=300)
    y = coins[source]  # which a model can only look up
    forest = RandomForestClassifier(30, random_state=0)
    model = noisylabels.CorrectedClassifier(forest, "importance")
    moved = X + 0.5 * np.sin(99 * X)
    for table, groups in ((X, None), (moved, source), (pd.DataFrame(X), None)):
        model.fit(table, y, groups=groups)
        assert model.flip_matrix_[0, 1] > 0.25
        assert model.flip_matrix_[1, 0] > 0.25
    pruned = noisylabels.CorrectedClassifier(method="prune")
    pruned.fit(csr_matrix(X), y)
    assert pruned.weights_.shape == (600, 2)


def test_groups_too_large_to_judge_a_class_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.repeat(["x", "z"], [20, 40])
    p = np.full((60, 2), 0.5)
    message = (
        "groups: all rows of the class 'x' are in one group; "
        "a group is judged by models that did not see"  # the rest is in the message
    )
    one_group_of_x = np.r_[np.zeros(20), np.arange(1, 41)]
    with pytest.raises(ValueError, match=message):
        noisylabels.audit(X, y, groups=one_group_of_x, model="logistic")
    nothing_is_trained = noisylabels.audit(X, y, groups=one_group_of_x, pred_probs=p)
    assert len(nothing_is_trained.ranking) == 60
    message = "groups: all rows are in one group; give smaller groups, or none"
    for options in ({"model": "logistic"}, {"pred_probs": p}):
        with pytest.raises(ValueError, match=message):
            noisylabels.audit(X, y, groups=["ward"] * 60, **options)


@pytest.mark.parametrize(("columns", "crowded"), [(2, True), (8, False)])
def test_a_note_says_where_near_copies_cannot_be_detected(columns, crowded):
    X = np.random.default_rng(0).normal(size=(400, columns))
    notes = find_copies(X).describe()
    assert any("cannot be detected" in note for note in notes) == crowded
