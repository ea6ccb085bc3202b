"""Label flips: exact rates, the classes they hit, and mistakes in their labels."""

import numpy as np
import pytest

from noisylabels.label_noise import corrupt, parse

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


@pytest.mark.parametrize("times", [1, 2, 3])
def test_compound_rate(times):
    rate = np.mean([flips(f"compound 0.2 {times}", seed).mean() for seed in range(40)])
    assert rate == pytest.approx((1 - 0.6**times) / 2, abs=0.006)


def test_uniform_flips_half_of_its_rate():
    assert np.mean([flips("uniform 0.4", seed).mean() for seed in range(40)]) == pytest.approx(0.2, abs=0.006)


def test_class_conditional_rates():
    flipped = flips("class_conditional 0.4 0.1")
    assert flipped[Y == 1].sum() == 100
    assert flipped[Y == -1].sum() == 75


def test_far_outliers_are_those_with_the_largest_decision_values():
    f = np.random.default_rng(0).standard_normal(1000)
    flipped = flips("far_outliers 0.1", f=f)
    assert flipped.sum() == 100
    assert np.abs(f[flipped]).min() > np.abs(f[~flipped]).max()


def test_labels_are_parsed():
    assert parse("compound 0.2 3") == ("compound", {"rate": 0.2, "times": 3})
    assert parse("class_conditional 0.3 0.1") == ("class_conditional", {"positive": 0.3, "negative": 0.1})


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("asymmetric 0.2", "unknown model 'asymmetric'; known: symmetric, compound"),
        ("symmetric", "symmetric takes rate, got 0 numbers"),
        ("symmetric 0.2 0.3", "symmetric takes rate, got 2 numbers"),
        ("symmetric half", "could not convert string to float"),
        ("symmetric 1.2", r"rate, a share of the labels, must lie in \[0, 1\], got 1.2"),
        ("class_conditional 0.1 -1", "negative, a share of the labels"),
        ("compound 0.2 0", "times must be at least 1, got 0"),
    ],
)
def test_mistakes_are_named(label, message):
    with pytest.raises(ValueError, match=message):
        corrupt(Y, label, np.random.default_rng(0))


def test_other_classes_are_refused():
    with pytest.raises(ValueError, match=r"labels must be -1 or \+1, got \[0, 1\]"):
        corrupt((Y + 1) // 2, "symmetric 0.1", np.random.default_rng(0))
