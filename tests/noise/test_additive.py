"""Variance models and label noise have the moments that their docstrings state."""

import numpy as np
import pytest

from noisylabels.noise.additive import OTHER_LABELS, hammer_variances, noisy_labels, variances

N = 40_000


def rng(seed=0):
    return np.random.default_rng(seed)


def test_variance_models():
    uniform = variances("uniform", N, 5.0, rng())
    assert 0 <= uniform.min() <= uniform.max() <= 5
    assert uniform.mean() == pytest.approx(2.5, abs=4 * 5 / np.sqrt(12 * N))
    increasing = variances("increasing", 11, 5.0, rng())
    assert increasing == pytest.approx(0.5 * np.arange(11))
    assert variances("decreasing", 11, 5.0, rng()) == pytest.approx(increasing[::-1])
    assert variances("constant", 3, 2.0, rng()).tolist() == [2.0, 2.0, 2.0]


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
    standardised = labels / np.sqrt(v)[:, None]
    assert np.abs(standardised.mean(0)).max() < 4 / np.sqrt(N)
    assert np.abs(standardised.var(0) - 1).max() < 4 * np.sqrt(2 / N)
    assert abs(np.corrcoef(standardised.T)[0, 1]) < 4 / np.sqrt(N)


def test_hammer_blows_start_late_and_decay_as_stated():
    rate = 16_000
    v = hammer_variances(10 * rate, rate, rng())
    first = round(0.3 * rate)
    assert v[: first - 1] == pytest.approx(1e-4, rel=1e-9)
    assert 2.0 < v[first] < 6.0001
    ratio = (v[first + 100] - 1e-4) / (v[first] - 1e-4)
    assert ratio == pytest.approx(np.exp(-100 / (0.03 * rate)), rel=1e-9)
    gaps = np.diff(np.flatnonzero(np.diff(v) > 0.1)) / rate
    assert 0.4 - 1e-3 <= gaps.min() <= gaps.max() <= 0.6 + 1e-3
    assert 0.15 < v.mean() < 0.35


@pytest.mark.parametrize("name", sorted(OTHER_LABELS))
def test_told_variance_is_the_mean_squared_error_of_the_label(name):
    y = 4.0 * rng(5).standard_normal(N)
    labels, v = OTHER_LABELS[name](y, rng(6))
    squared = (labels - y) ** 2
    standard_error = (squared - v).std() / np.sqrt(N)
    assert abs((squared - v).mean()) < 4 * standard_error + 0.02 * v.mean()
