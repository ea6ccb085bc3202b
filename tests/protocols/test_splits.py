"""Random splits: every row on one side, classes in proportion where asked, the same for all methods."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisylabels.seeding import Seeds
from reproduction.data.prepare import Dataset
from reproduction.protocols.kernels.data import split_of
from reproduction.protocols.splits import random_split


def draw(y, test=0.3, stratified=True, seed=0):
    return random_split(np.asarray(y), test, stratified, np.random.default_rng(seed))


@given(st.lists(st.sampled_from([-1, 1]), min_size=4), st.floats(0.01, 0.99), st.booleans())
def test_every_row_is_on_one_side_or_the_split_is_refused(y, test, stratified):
    smallest = min(np.unique(y, return_counts=True)[1]) if stratified else len(y)
    if max(1, round(test * smallest)) == smallest:
        with pytest.raises(ValueError, match="none would be left"):
            draw(y, test, stratified)
        return
    train, held = draw(y, test, stratified)
    assert len(train) > 0
    assert len(held) > 0
    np.testing.assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(len(y)))


def test_classes_keep_their_shares_if_stratified_and_only_then():
    y = np.array([1] * 30 + [-1] * 170)
    counts = {
        stratified: {int((y[draw(y, 0.2, stratified, seed)[1]] > 0).sum()) for seed in range(20)}
        for stratified in (True, False)
    }
    assert counts[True] == {6}
    assert len(counts[False]) > 3


def test_a_set_without_official_splits_is_split_as_the_settings_say():
    rng = np.random.default_rng(1)
    arrays = {"X": rng.standard_normal((50, 2)), "y": np.array([1, -1] * 25, dtype=np.int8)}
    mine, seeds = Dataset("mine", "local", "local", arrays, ""), Seeds(1, "test", "mine")
    how = {"test": 0.4, "stratified": True}
    split = split_of(mine, 0, how, seeds)
    assert (len(split.clean), len(split.truth), split.truth.sum()) == (30, 20, 10)
    np.testing.assert_allclose(split.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_array_equal(split.X, split_of(mine, 0, how, seeds).X)
    assert not np.array_equal(split.X, split_of(mine, 1, how, seeds).X)
    with pytest.raises(ValueError, match=r"mine has no official splits .*settings\.splits, such as"):
        split_of(mine, 0, None, seeds)


def test_official_splits_go_before_drawn_ones():
    rows = np.arange(10).reshape(1, 10)
    arrays = {
        "X": np.arange(10.0)[:, None],
        "y": np.array([1, -1] * 5),
        "train": rows[:, :4],
        "test": rows[:, 4:],
    }
    official = Dataset("official", "test", "canonical", arrays, "")
    split = split_of(official, 0, {"test": 0.1, "stratified": False}, Seeds(1, "test"))
    assert len(split.clean) == 4
    assert split_of(official, 1, {"test": 0.1, "stratified": False}, Seeds(1, "test")) is None
