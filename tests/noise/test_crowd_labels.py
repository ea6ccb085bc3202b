"""A simulated crowd, and fewer of its labels."""

import numpy as np
import pytest

from noisylabels.noise.flips import simulate, subset


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crowd(per_item=41), "per_item: must be a whole number >= 1 and <= 40"),
        (lambda: crowd(spammers=1.5), "spammers: must be"),
        (lambda: simulate(np.array([0, 1], np.int8), np.random.default_rng()), "labels must be -1 or"),
        (lambda: subset(np.zeros(2, np.int32), 0, np.random.default_rng()), "m: must be"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
