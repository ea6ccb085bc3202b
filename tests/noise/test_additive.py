"""Variance models and label noise have the moments that their docstrings state."""

import numpy as np
import pytest

from noisylabels.noise.additive import OTHER_LABELS, hammer_variances, noisy_labels, variances

N = 40_000


SAMPLING_ERROR = 4 / np.sqrt(N)
"""Four standard errors of the mean of N values of variance 1."""


def rng(seed=0):
    return np.random.default_rng(seed)


def test_variance_models():
    uniform = variances("uniform", N, 5.0, rng())
    assert 0 <= uniform.min() <= uniform.max() <= 5
    standard_deviation = 5 / np.sqrt(12)
    assert uniform.mean() == pytest.approx(2.5, abs=SAMPLING_ERROR * standard_deviation)
    increasing = variances("increasing", 11, 5.0, rng())
    assert increasing == pytest.approx(0.5 * np.arange(11))
    decreasing = variances("decreasing", 11, 5.0, rng())
    assert decreasing == pytest.approx(increasing[::-1])
    constant = variances("constant", 3, 2.0, rng())
    assert constant.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: variances("wavy", 10, 1.0, rng()), "model: 'wavy' is unknown; known: constant"),
        (lambda: variances("uniform", 1, 1.0, rng()), "n: must be a whole number >= 2, got 1"),
        (lambda: variances("uniform", 10, -1.0, rng()), "M: must be a finite number >= 0, got -1"),
        (lambda: hammer_variances(0, 16_000, rng()), "n: must be a whole number >= 1"),
    ],
)
def test_wrong_variance_models_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_labels_have_the_stated_mean_and_variance():
    v = variances("uniform", N, 5.0, rng(1))
    labels = noisy_labels(np.zeros(N), v, [rng(2), rng(3)])
    assert labels.shape == (N, 2)
    first, second = (labels / np.sqrt(v)[:, None]).T
    for standardised in (first, second):
        assert abs(standardised.mean()) < SAMPLING_ERROR
        assert abs(standardised.var() - 1) < SAMPLING_ERROR * np.sqrt(2)
    correlation = np.corrcoef(first, second)[0, 1]
    assert abs(correlation) < SAMPLING_ERROR


def test_hammer_blows_start_late_and_decay_as_stated():
    rate = 16_000
    v = hammer_variances(10 * rate, rate, rng())
    first = round(0.3 * rate)
    assert v[: first - 1] == pytest.approx(1e-4, rel=1e-9)
    assert 2.0 < v[first] < 6.0001
    above_silence = v - 1e-4
    decay = above_silence[first + 100] / above_silence[first]
    assert decay == pytest.approx(np.exp(-100 / (0.03 * rate)), rel=1e-9)
    blows = np.flatnonzero(np.diff(v) > 0.1)
    gaps = np.diff(blows) / rate
    assert 0.4 - 1e-3 <= gaps.min() <= gaps.max() <= 0.6 + 1e-3
    assert 0.15 < v.mean() < 0.35


@pytest.mark.parametrize("name", sorted(OTHER_LABELS))
def test_told_variance_is_the_mean_squared_error_of_the_label(name):
    y = 4.0 * rng(5).standard_normal(N)
    labels, v = OTHER_LABELS[name](y, rng(6))
    excess = (labels - y) ** 2 - v
    sampling_error = SAMPLING_ERROR * excess.std()
    assert abs(excess.mean()) < sampling_error + 0.02 * v.mean()
