"""A simulated crowd, and what EM makes of its labels."""

import numpy as np
import pytest

from noisylabels.noise.crowd import dawid_skene, majority_vote, simulate, subset


def crowd(n=300, seed=0, **settings):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n).astype(np.int8)
    return y, simulate(y, rng, **{"workers": 40, "per_item": 5, **settings})


def test_every_item_goes_to_different_workers_and_a_few_of_them_toss_coins():
    _, labels = crowd(n=50, per_item=7, spammers=0.1)
    pairs = set(zip(labels.item.tolist(), labels.worker.tolist(), strict=True))
    assert len(pairs) == 50 * 7
    assert (np.bincount(labels.item) == 7).all()
    assert np.count_nonzero(labels.accuracy == 0.5) == 4


def test_workers_are_as_right_as_they_say():
    y, labels = crowd(n=4000)
    right = labels.response == y[labels.item]
    shares = np.bincount(labels.worker, right) / np.bincount(labels.worker)
    sizes = np.bincount(labels.worker)
    z = (shares - labels.accuracy) / np.sqrt(labels.accuracy * (1 - labels.accuracy) / sizes)
    assert np.abs(z).max() < 4.5


def test_more_labels_per_item_contain_the_fewer():
    _, labels = crowd()
    chosen = [set(subset(labels.item, m, np.random.default_rng(5)).tolist()) for m in (1, 2, 5, 9)]
    assert chosen[0] < chosen[1] < chosen[2] == chosen[3]
    assert [len(c) for c in chosen] == [300, 600, 1500, 1500]
    assert np.bincount(labels.item[list(chosen[1])]).tolist() == [2] * 300


def test_the_majority_of_one_is_that_one_and_ties_are_coins():
    rng = np.random.default_rng(0)
    assert majority_vote(np.array([0, 1]), np.array([1, -1]), 2, rng).tolist() == [1, -1]
    tied = majority_vote(np.repeat(np.arange(2000), 2), np.tile([1, -1], 2000), 2000, rng)
    assert abs(tied.mean()) < 0.1
    nobody_labelled = majority_vote(np.array([1999]), np.array([1]), 2000, rng)
    assert abs(nobody_labelled.mean()) < 0.1


@pytest.mark.parametrize("coins", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_em_never_lowers_the_likelihood(coins, seed):
    _, labels = crowd(seed=seed, beta=(3.0, 2.0))
    found = dawid_skene(labels.item, labels.worker, labels.response, 300, coins=coins)
    objectives = np.array(found.objectives)
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:])).all()
    np.testing.assert_allclose(found.confusion.sum(axis=2), 1.0)
    assert np.allclose(found.confusion[:, 0, 1], found.confusion[:, 1, 0]) == (coins == 1)  # one rate each
    assert found.converged


def test_em_beats_the_majority_where_workers_differ_and_finds_their_accuracy():
    y, labels = crowd(n=1000, beta=(2.0, 1.0))
    rng = np.random.default_rng(0)
    found = dawid_skene(labels.item, labels.worker, labels.response, 1000, coins=1)
    vote = majority_vote(labels.item, labels.response, 1000, rng)
    assert np.mean(found.labels(rng) != y) < np.mean(vote != y) - 0.02
    assert np.abs(found.confusion[:, 1, 1] - labels.accuracy).mean() < 0.05


@pytest.mark.parametrize("coins", [1, 2])
def test_other_names_of_workers_and_classes_change_nothing(coins):
    _, labels = crowd()
    item, worker, response = labels.item, labels.worker, labels.response
    order = np.random.default_rng(0).permutation(len(item))
    other = (item, 39 - worker, response), (item, worker, -response)
    same, renamed, swapped, shuffled = (
        dawid_skene(*each, 300, coins=coins).posterior
        for each in ((item, worker, response), *other, (item[order], worker[order], response[order]))
    )
    for found in (renamed, 1 - swapped, shuffled):
        np.testing.assert_allclose(found, same, atol=1e-8)


def test_one_label_is_believed_and_no_number_is_lost():
    found = dawid_skene(np.array([0]), np.array([0]), np.array([1]), 2)
    assert np.isfinite(found.posterior).all()
    assert found.posterior[0] > 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crowd(per_item=41), "per_item: must be a whole number >= 1 and <= 40"),
        (lambda: crowd(spammers=1.5), "spammers: must be"),
        (lambda: simulate(np.array([0, 1], np.int8), np.random.default_rng()), "labels must be -1 or"),
        (lambda: subset(np.zeros(2, np.int32), 0, np.random.default_rng()), "m: must be"),
        (lambda: dawid_skene(np.array([0]), np.array([0]), np.array([1]), 1, coins=3), "coins: must be"),
        (lambda: dawid_skene(np.array([0]), np.array([0]), np.array([1]), 1, rounds=0), "rounds: must"),
        (lambda: dawid_skene(np.array([0]), np.array([0]), np.array([0]), 1), "response must be"),
        (lambda: dawid_skene(np.array([2]), np.array([0]), np.array([1]), 1), "item must hold"),
        (lambda: dawid_skene(np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), 1), "no labels"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
