"""Label flips: exact rates, the classes they hit, and mistakes in their labels."""

import numpy as np
import pytest

from noisylabels.noise.flips import corrupt

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
    first, same, other = flips("symmetric 0.3", 1), flips("symmetric 0.3", 1), flips("symmetric 0.3", 2)
    np.testing.assert_array_equal(Y, before)
    assert (first == same).all()
    assert (first != other).any()


def test_class_conditional_rates():
    flipped = flips("class_conditional 0.4 0.1")
    assert (flipped[Y == 1].sum(), flipped[Y == -1].sum()) == (100, 75)


def test_far_outliers_are_those_with_the_largest_decision_values():
    f = np.random.default_rng(0).standard_normal(1000)
    flipped = flips("far_outliers 0.1", f=f)
    assert flipped.sum() == 100
    assert np.abs(f[flipped]).min() > np.abs(f[~flipped]).max()


@pytest.mark.parametrize(
    ("model", "positive", "negative"),
    [("independent", 0.3, 0.3), ("negative_only", 0.0, 0.3), ("positive_only", 0.3, 0.0)],
)
def test_coins_flip_a_binomial_number_of_each_class(model, positive, negative):
    counts = np.array([[flipped[Y == 1].sum(), flipped[Y == -1].sum()]
                       for flipped in (flips(f"{model} 0.3", seed) for seed in range(400))])  # fmt: skip
    for count, n, rate in zip(counts.T, (250, 750), (positive, negative), strict=True):
        spread = np.sqrt(n * rate * (1 - rate))
        assert count.mean() == pytest.approx(n * rate, abs=4 * spread / 20)
        assert count.std() == pytest.approx(spread, rel=0.15)  # an exact number would have none
    if positive == negative:
        assert abs(np.corrcoef(counts.T)[0, 1]) < 0.2


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
        corrupt(Y, label, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"labels must be -1 or \+1, got \[0, 1\]"):
        corrupt((Y + 1) // 2, "symmetric 0.1", np.random.default_rng(0))
