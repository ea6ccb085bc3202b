"""Who gets several labels: budgets are kept, strategies meet where they must, steps shrink."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisylabels.filters.base import Sliding
from noisylabels.filters.label_budget import (
    LARGEST,
    SMALLEST,
    STRATEGIES,
    VARIANCES,
    run_budget,
    tune_a,
)

T, D, R = 3000, 10, 8.0


class Data:
    """A noisy linear target with K labels a round and one uniform number."""

    def __init__(self, seed=0, K=4, T=T, d=D):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(T, d))
        self.y = self.X @ rng.normal(size=d) + 0.1 * rng.normal(size=T)
        deviation = np.sqrt(rng.uniform(0, 5, size=(T, 1)))
        self.labels = self.y[:, None] + deviation * rng.normal(size=(T, K))
        self.uniforms = rng.uniform(size=T)

    def run(self, **options):
        options = {"r": R, "uniforms": self.uniforms} | options
        return run_budget(self.X, self.y, self.labels, **options)


DATA = Data()
SHORT = Data(T=600)
SCALINGS = [(False, "mean_var")] + [(True, variance) for variance in VARIANCES]
with_and_without_scaling = pytest.mark.parametrize("scaling", [True, False])


def spends_several_labels(data, t, k, p, strategy, squared_error, a):
    """Decide by the strategy's rule whether round t gets k labels."""
    if strategy == "const":
        return data.uniforms[t] < p
    if strategy == "begin":
        return t + 1 <= len(data.y) * p
    if k == 1:
        return False
    if strategy == "auto" and p == 1:
        return True
    return data.uniforms[t] >= a / (a + squared_error)


def label_variance(labels, variance):
    """Estimate the variance of the mean label as the paper's three choices do."""
    unbiased = labels.var(ddof=1)
    return {
        "mean_var": unbiased / len(labels),
        "unbiased": unbiased,
        "biased": labels.var(),
    }[variance]


def reference(data, B, strategy, scaling, variance, a):
    """The rules as they stand in the paper, in plain Python."""
    k = math.ceil(B)
    p = (B - 1) / (k - 1) if k > 1 else 0.0
    w = np.zeros(data.X.shape[1])
    losses = []
    labels_used = []
    trace = []
    for t, x in enumerate(data.X):
        yhat = w @ x
        losses.append((yhat - data.y[t]) ** 2)
        label = data.labels[t, 0]
        g = 0.5 if scaling else 1.0
        several = spends_several_labels(data, t, k, p, strategy, (label - yhat) ** 2, a)
        if several:
            labels_of_round = data.labels[t, :k]
            label = labels_of_round.mean()
            vbar = label_variance(labels_of_round, variance)
            squared_error = (label - yhat) ** 2
            g = squared_error / (squared_error + vbar) if scaling else 1.0
        w = w + g * (label - yhat) * x / (R + x @ x)
        labels_used.append(k if several else 1)
        if (t + 1) % 100 == 0:
            if strategy == "self_tuned":
                is_nearly_spent = sum(labels_used) > 0.95 * B * (t + 1)
                a = min(2 * a, 2.0**60) if is_nearly_spent else max(a / 2, 2.0**-60)
            trace.append(a)
    return np.array(losses), np.array(labels_used), np.array(trace)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("B", [1, 1.5, 2, 2.5, 4])
@pytest.mark.parametrize(("scaling", "variance"), SCALINGS)
def test_every_strategy_equals_its_rules(strategy, B, scaling, variance):
    result = SHORT.run(B=B, strategy=strategy, scaling=scaling, variance=variance, a=1.0)
    loss, labels_used, trace = reference(SHORT, B, strategy, scaling, variance, 1.0)
    assert np.array_equal(result.used, labels_used)
    assert result.loss == pytest.approx(loss, rel=1e-9, abs=1e-12)
    if strategy == "self_tuned":
        assert np.array_equal(result.a, trace)


@given(st.floats(1, 4), st.integers(0, 1000))
def test_const_and_begin_spend_the_budget(B, seed):
    data = Data(seed, T=1000, d=2)
    k = math.ceil(B)
    begin = data.run(B=B, strategy="begin", scaling=True)
    labels_at_begin = begin.used.mean()
    assert B - (k - 1) / 1000 - 1e-9 <= labels_at_begin <= B + 1e-9
    const = data.run(B=B, strategy="const", scaling=True)
    largest_standard_error = (k - 1) * 0.5 / np.sqrt(1000)
    assert abs(const.used.mean() - B) <= 5 * largest_standard_error


@with_and_without_scaling
@pytest.mark.parametrize("B", [1.25, 2.5, 3.75])
def test_tuned_threshold_spends_the_budget(scaling, B):
    a = tune_a(
        DATA.X,
        DATA.y,
        DATA.labels,
        r=R,
        B=B,
        scaling=scaling,
        uniforms=DATA.uniforms,
    )
    result = DATA.run(B=B, strategy="auto", scaling=scaling, a=a)
    assert abs(result.used.mean() - B) <= 0.03


@with_and_without_scaling
@pytest.mark.parametrize("B", [1.5, 2.25, 3.5])
def test_self_tuning_stays_just_below_the_budget(scaling, B):
    data = Data(1, T=10_000)
    result = data.run(B=B, strategy="self_tuned", scaling=scaling)
    assert 0.9 * B < result.used.mean() <= B
    assert len(result.a) == 100
    changes = np.abs(np.diff(np.log2(result.a)))
    assert set(changes) == {1.0}


def test_the_threshold_is_clamped():
    data = Data(2, T=7000, d=2)
    rising = data.run(B=1, strategy="self_tuned", scaling=True)
    assert rising.a[-1] == LARGEST  # 0.95 is out of reach
    quiet = run_budget(
        data.X,
        data.y,
        data.y[:, None].repeat(2, 1),
        r=0,
        B=1.9,
        strategy="self_tuned",
        scaling=False,
        uniforms=np.zeros(7000),
    )
    assert quiet.a[-1] == SMALLEST  # uniforms of 0 never ask for a second label


def test_a_sliding_window_equals_its_rows():
    signal = np.random.default_rng(0).normal(size=T)
    x = Sliding(signal, D)
    options = {
        "r": R,
        "B": 2.5,
        "strategy": "auto",
        "scaling": True,
        "a": 0.5,
        "uniforms": DATA.uniforms,
    }
    of_window = run_budget(x, DATA.y, DATA.labels, **options)
    of_rows = run_budget(x.rows(0, T), DATA.y, DATA.labels, **options)
    assert np.array_equal(of_window.used, of_rows.used)
    assert of_window.loss == pytest.approx(of_rows.loss, rel=1e-9)


ONE_IN_ROUND_7 = np.full(T, 0.5)
ONE_IN_ROUND_7[7] = 1.0

ERRORS = {
    "strategy: 'cost' is unknown; known: const, begin, auto, self_tuned": {"strategy": "cost"},
    "B: must be a finite number >= 1, got 0.5": {"B": 0.5},
    "labels: B = 4.5 needs 5 columns, got 4": {"B": 4.5},
    "variance: 'sample' is unknown": {"variance": "sample"},
    "a: must be a finite number > 0, got 0": {"strategy": "auto", "a": 0},
    "a: strategy 'auto' needs its threshold": {"strategy": "auto"},
    "uniforms: strategy 'const' needs one random number for every round": {"uniforms": None},
    "uniforms: value at index 7 is not in [0, 1)": {"uniforms": ONE_IN_ROUND_7},
    "uniforms: expected shape (3000), got (2,)": {"uniforms": [0.1, 0.2]},
    "r: must be a finite number >= 0, got -1": {"r": -1},
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_say_what_is_wrong(message):
    options = {"B": 2.5, "strategy": "const", "scaling": True}
    options.update(ERRORS[message])
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is checked literally
        DATA.run(**options)
    assert message in str(error.value)
    with pytest.raises(ValueError, match="B: auto has no threshold at the integer 2"):
        tune_a(DATA.X, DATA.y, DATA.labels, r=R, B=2, scaling=True, uniforms=DATA.uniforms)
