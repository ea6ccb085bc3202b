"""The protocol with kernels on single features."""

import numpy as np
import pandas as pd
import pytest

from noisylabels.seeding import Seeds
from reproduction import results
from reproduction.data.prepare import Dataset
from reproduction.protocols.kernels import features as kernel_features

SETTINGS = {
    "experiment": "test", "repetitions": 2, "datasets": ["toy"], "train": 0.8, "widths": [-1, 0, 1, 2],
    "noise": ["independent 0", "independent 0.3"],
    "methods": {
        "rmklr": {"method": "robust_multi_kernel"},
        "stpmkl": {"method": "stpmkl_like", "parameters": {"tolerance": 0.02}},
    },
}  # fmt: skip


def toy(n=120):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, 3))
    X[:, 1] += 2 * y
    return Dataset(id="toy", source="package", variant="canonical", arrays={"X": X, "y": y}, digest="")


def whole_run(settings, repetitions=2):
    rows = kernel_features.run(settings, {"toy": toy()}, Seeds(1, "test"), range(repetitions), {})
    return pd.DataFrame([results.DEFAULTS | row for row in rows])[results.COLUMNS]


def test_rows_and_bytes():
    frame = whole_run(SETTINGS)
    assert len(frame) == 2 * 2 * 2 * 2  # repetitions, noise, methods, metrics
    assert set(frame["metric"]) == {"accuracy", "flagged"}
    clean = frame[(frame["metric"] == "accuracy") & (frame["noise"] == "independent 0")]
    assert (clean["value"] > 0.85).all()
    pd.testing.assert_frame_equal(frame, whole_run(SETTINGS))
    one = kernel_features.run(SETTINGS, {"toy": toy()}, Seeds(1, "test"), range(1, 2), {})
    second = frame[frame["repetition"] == 1]["value"]
    np.testing.assert_array_equal([row["value"] for row in one], second)


def test_methods_and_conditions_do_not_change_each_other():
    frame = whole_run(SETTINGS)
    for fewer in (
        {"methods": {"stpmkl": SETTINGS["methods"]["stpmkl"]}},
        {"noise": ["independent 0.3"]},
    ):
        part = whole_run(SETTINGS | fewer)
        both = part.merge(frame, on=[c for c in results.COLUMNS if c not in ("value", "x")])
        assert len(both) == len(part)
        np.testing.assert_array_equal(both["value_x"], both["value_y"])


def test_distances_of_single_features_add_up():
    A = np.random.default_rng(0).standard_normal((5, 4))
    D = kernel_features.feature_distances(A, A[:3])
    assert D.shape == (5, 5, 3)
    np.testing.assert_allclose(D[:-1].sum(axis=0), D[-1])


def test_the_true_rate_is_told_unless_the_settings_say_another(monkeypatch):
    told = []
    from noisylabels.classifiers.stpmkl_like import StPMKLLikeClassifier

    def fit_bank(bank, D, D_out, labels, **parameters):
        told.append(parameters["rho"])
        return original(bank, D, D_out, labels, **parameters)

    original = StPMKLLikeClassifier.fit_bank
    monkeypatch.setattr(StPMKLLikeClassifier, "fit_bank", fit_bank)
    whole_run(SETTINGS, 1)
    wrong = {"stpmkl": {"method": "stpmkl_like", "parameters": {"rho": 0.1, "max_iter": 5}}}
    whole_run(SETTINGS | {"methods": wrong}, 1)
    assert told == [[0.0, 0.3], 0.1]


def test_mistakes_are_named():
    with pytest.raises(ValueError, match=r"noise 'negative_only 0.1': methods are told one flip rate"):
        whole_run(SETTINGS | {"noise": ["negative_only 0.1"]})
    with pytest.raises(ValueError, match="leaves a part empty"):
        whole_run(SETTINGS | {"train": 0.999})
    with pytest.raises(ValueError, match="'heart' is not among the artifact's datasets: toy"):
        whole_run(SETTINGS | {"datasets": ["heart"]})
    svm = {"methods": {"svm": {"method": "kernel_svm"}}}
    with pytest.raises(ValueError, match=r"method svm: KernelSVMClassifier has no fit_bank, which .* needs"):
        whole_run(SETTINGS | svm)
