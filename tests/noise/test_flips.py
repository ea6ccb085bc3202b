"""Label flips: exact rates, the classes they hit, and mistakes in their labels; a simulated crowd."""

import numpy as np
import pytest

from noisylabels.noise.flips import corrupt, simulate, subset

Y = np.where(np.arange(1000) % 4 == 0, 1, -1).astype(np.int8)


def flips(label, seed=0, **options):
    noisy = corrupt(Y, label, np.random.default_rng(seed), **options)
    assert noisy.dtype == Y.dtype
    return noisy != Y


@pytest.mark.parametrize(("rate", "count"), [(0, 0), (0.2, 200), (0.6, 600), (1, 1000), (0.0004, 0)])
def test_symmetric_flips_an_exact_number(rate, count):
    assert flips(f"symmetric {rate}").sum() == count


def test_noise_leaves_its_input_alone_and_follows_its_seed():
    before = Y.copy()
    first, same, other = (flips("symmetric 0.3", seed) for seed in (1, 1, 2))
    assert (before == Y).all()
    assert (first == same).all()
    assert (first != other).any()


def test_class_conditional_rates_and_far_outliers():
    flipped = flips("class_conditional 0.4 0.1")
    assert (flipped[Y == 1].sum(), flipped[Y == -1].sum()) == (100, 75)
    f = np.random.default_rng(0).standard_normal(1000)
    flipped = flips("far_outliers 0.1", f=f)
    assert flipped.sum() == 100
    assert np.abs(f[flipped]).min() > np.abs(f[~flipped]).max()


@pytest.mark.parametrize(
    ("model", "positive", "negative"),
    [("independent", 0.3, 0.3), ("negative_only", 0.0, 0.3), ("positive_only", 0.3, 0.0)],
)
def test_coins_flip_a_binomial_number_of_each_class(model, positive, negative):
    drawn = np.array([flips(f"{model} 0.3", seed) for seed in range(400)])
    counts = np.array([drawn[:, Y == 1].sum(axis=1), drawn[:, Y == -1].sum(axis=1)])
    for count, n, rate in zip(counts, (250, 750), (positive, negative), strict=True):
        spread = np.sqrt(n * rate * (1 - rate))
        assert count.mean() == pytest.approx(n * rate, abs=4 * spread / 20)
        assert count.std() == pytest.approx(spread, rel=0.15)  # an exact number would have none
    assert positive != negative or abs(np.corrcoef(counts)[0, 1]) < 0.2


def test_coins_are_tossed_anew_while_one_class_is_left():
    few = np.array([1, -1], dtype=np.int8)
    for seed in range(50):  # half of the first draws have one class
        assert len(np.unique(corrupt(few, "independent 0.4", np.random.default_rng(seed)))) == 2
    with pytest.raises(ValueError, match=r"5 labels of which 5 are \+1 were of one class .* lower the rate"):
        corrupt(np.ones(5, dtype=np.int8), "negative_only 0.4", np.random.default_rng(0))


@pytest.mark.parametrize(
    ("label", "expected"),
    [*((f"compound 0.2 {k}", (1 - 0.6**k) / 2) for k in (1, 2, 3)), ("uniform 0.4", 0.2)],
)
def test_the_mean_rate_of_compound_and_uniform_noise(label, expected):
    assert np.mean([flips(label, seed).mean() for seed in range(40)]) == pytest.approx(expected, abs=0.006)


# A simulated crowd


def crowd(n=300, **settings):
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], n).astype(np.int8)
    return y, simulate(y, rng, **{"workers": 40, "per_item": 5, **settings})


def test_every_item_goes_to_different_workers_who_are_as_right_as_they_say():
    y, labels = crowd(n=4000, spammers=0.1)
    assert len(set(zip(labels.item.tolist(), labels.worker.tolist(), strict=True))) == 4000 * 5
    assert (np.bincount(labels.item) == 5).all()
    assert np.count_nonzero(labels.accuracy == 0.5) == 4  # who toss coins
    sizes = np.bincount(labels.worker)
    shares = np.bincount(labels.worker, labels.response == y[labels.item]) / sizes
    z = (shares - labels.accuracy) / np.sqrt(labels.accuracy * (1 - labels.accuracy) / sizes)
    assert np.abs(z).max() < 4.5


def test_more_labels_per_item_contain_the_fewer():
    _, labels = crowd()
    chosen = [set(subset(labels.item, m, np.random.default_rng(5)).tolist()) for m in (1, 2, 5, 9)]
    assert chosen[0] < chosen[1] < chosen[2] == chosen[3]
    assert [len(c) for c in chosen] == [300, 600, 1500, 1500]
    assert np.bincount(labels.item[list(chosen[1])]).tolist() == [2] * 300


# Mistakes


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("asymmetric 0.2", "unknown model 'asymmetric'; known: symmetric, compound"),
        ("symmetric", "symmetric takes rate, got 0 numbers"),
        ("symmetric 0.2 0.3", "symmetric takes rate, got 2 numbers"),
        ("symmetric half", "could not convert string to float"),
        ("symmetric 1.2", "rate: must be a finite number >= 0 and <= 1, got 1.2"),
        ("class_conditional 0.1 -1", "negative: must be a finite number >= 0"),
        ("independent 0.5", "rate: must be a finite number >= 0 and < 0.5, got 0.5"),
        ("negative_only 1", "rate: must be a finite number >= 0 and < 1, got 1"),
        ("compound 0.2 0", "times: must be a whole number >= 1, got 0"),
    ],
)
def test_mistakes_are_named(label, message):
    with pytest.raises(ValueError, match=message):
        flips(label)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: corrupt(Y > 0, "symmetric 0.1", rng), r"labels must be -1 or \+1, got \[False, True\]"),
        (lambda rng: simulate(Y * 0, rng), r"labels must be -1 or \+1, got \[0\]"),
        (lambda rng: crowd(per_item=41), "per_item: must be a whole number >= 1 and <= 40"),
        (lambda rng: crowd(spammers=1.5), "spammers: must be"),
        (lambda rng: subset(np.zeros(2, np.int32), 0, rng), "m: must be"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
