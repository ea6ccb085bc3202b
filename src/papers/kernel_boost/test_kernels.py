"""CPU times, and kernels on single features."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from problems import SETTINGS, dataset
from running import rows, table, two_classes, values

from kernel_boost import kernels
from reproduction.run import results

# CPU times


def test_rows_are_medians_of_process_time(monkeypatch):
    spec = {"selection": "cv", "grid": [0]}
    methods = {"klr": {"method": "kernel_logistic"} | spec, "svm": {"method": "kernel_svm"} | spec}
    timed = SETTINGS | {"timings": 3, "noise": ["independent 0"], "methods": methods}
    ticks = [0.0, 3.0, 0.0, 1.0, 0.0, 2.0] * 4  # two methods, two splits
    monkeypatch.setattr(kernels.time, "process_time", lambda: ticks.pop(0))
    calls, original = [], kernels.train

    def watched(candidates, split, noisy, *arguments):
        calls.append((len(candidates), len(split.X_test), noisy.shape[1]))
        return original(candidates, split, noisy, *arguments)

    monkeypatch.setattr(kernels, "train", watched)
    timings = rows("kernel_boost.kernels:timing", timed, dataset())
    measured = {(row["metric"], row["setting"], row["value"]) for row in timings}
    assert measured == {("cpu_seconds", "cv", 2.0)}
    order = [(row["repetition"], row["method"]) for row in timings]
    assert order == [*product((0, 1), ("klr", "svm"))]
    # First both methods, to compile; then each three times.
    assert calls == [(2, 1, 1), *[(1, 1, 1)] * 12]
    assert not ticks


# Kernels on single features

FEATURES = {
    "datasets": ["toy"], "train": 0.8, "widths": [-1, 0, 1, 2],
    "noise": ["independent 0", "independent 0.3"],
    "methods": {
        "rmklr": {"method": "robust_multi_kernel"},
        "stpmkl": {"method": "stpmkl_like", "parameters": {"tolerance": 0.02}},
    },
}  # fmt: skip
TOY = two_classes(n=120, distance=1.2, d=3)


def features(repetitions=range(2), **changes):
    return table("kernel_boost.kernels:features", FEATURES | changes, TOY, repetitions)


@pytest.fixture(scope="module")
def accuracies():
    return features()


def test_rows_and_bytes(accuracies):
    D = kernels.feature_distances(TOY.arrays["X"], TOY.arrays["X"][:3])
    np.testing.assert_allclose(D[:-1].sum(axis=0), D[-1])
    assert len(accuracies) == 2 * 2 * 2 * 2  # repetitions, noise, methods, metrics
    assert set(accuracies["metric"]) == {"accuracy", "flagged"}
    assert (values(accuracies, metric="accuracy", noise="independent 0") > 0.85).all()
    second = accuracies[accuracies["repetition"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(second, features(range(1, 2)))


def test_methods_and_conditions_do_not_change_each_other(accuracies):
    one_method = {"methods": {"stpmkl": FEATURES["methods"]["stpmkl"]}}
    one_noise = {"noise": ["independent 0.3"]}
    for fewer in (one_method, one_noise):
        part = features(**fewer)
        pairs = part.merge(accuracies, on=[c for c in results.COLUMNS if c not in ("value", "x")])
        assert len(pairs) == len(part)
        np.testing.assert_array_equal(pairs["value_x"], pairs["value_y"])


def test_the_true_rate_is_given_unless_the_settings_say_another(monkeypatch):
    from noisylabels.classifiers.stpmkl_like import StPMKLLikeClassifier

    received = []
    original = StPMKLLikeClassifier.fit_bank

    def fit_bank(bank, D, D_out, labels, **parameters):
        received.append(parameters["rho"])
        return original(bank, D, D_out, labels, **parameters)

    monkeypatch.setattr(StPMKLLikeClassifier, "fit_bank", fit_bank)
    features(range(1))
    method = {"method": "stpmkl_like", "parameters": {"rho": 0.1, "max_iter": 5}}
    features(range(1), methods={"stpmkl": method})
    assert received == [[0.0, 0.3], 0.1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": ["negative_only 0.1"]}, "noise 'negative_only 0.1': use independent here"),
        ({"train": 0.999}, "a share of 0.999 of the 120 rows of toy leaves a part empty"),
        (
            {"methods": {"svm": {"method": "kernel_svm"}}},
            "SVMClassifier has no fit_bank, which .* needs",
        ),
    ],
)
def test_mistakes_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        features(**change)
