"""The rows of the kernel study: errors, choices, flip rates and flags of every method."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from problems import SETTINGS, dataset

from noisylabels.seeding import Seeds
from reproduction import results
from reproduction.frame.schemas import check
from reproduction.protocols.kernels import data as kernel_data
from reproduction.protocols.kernels import errors as kernel_errors
from reproduction.strict_yaml import ArtifactError

SCHEMAS = Path(__file__).resolve().parents[2] / "workflow/schemas"


def run(settings=SETTINGS, repetitions=range(2), seed=1, **data):
    rows = kernel_errors.run(settings, data or {"toy": dataset()}, Seeds(seed, "test"), repetitions, {})
    return pd.DataFrame([results.DEFAULTS | row for row in rows])[results.COLUMNS]


@pytest.fixture(scope="module")
def frame():
    return run()


def test_rows_of_every_method(frame, tmp_path):
    assert not frame.duplicated([c for c in results.COLUMNS if c != "value"]).any()
    counts = frame.groupby(["method", "metric"]).size().unstack()
    assert set(counts.columns) == {
        "error", "width", "parameter", "validation_size", "omega01", "omega10", "flagged",
    }  # fmt: skip
    assert (counts[["error", "width", "parameter", "flagged"]] == 3 * 2).all(axis=None)
    assert counts.loc["rkfd", "omega01"] == 3 * 2
    assert np.isnan(counts.loc["svm", "omega01"])
    assert (frame[frame["metric"] == "validation_size"]["value"] == 14).all()
    assert set(frame["setting"]) == {"trusted"}
    assert set(frame[frame["metric"] == "width"]["value"]) <= {0.25, 1.0, 4.0}
    results.write_rows(frame.to_dict("records"), tmp_path / "table.csv")


def test_clean_labels_are_learned_and_noise_hurts():
    frame = run(SETTINGS | {"noise": ["independent 0", "independent 0.4"]}, toy=dataset(n=1000, train=120))
    mean = frame[frame["metric"] == "error"].groupby(["method", "noise"])["value"].mean().unstack()
    assert (mean["independent 0"] < 30).all()
    assert (mean["independent 0.4"] > mean["independent 0"]).all()


def test_results_repeat_and_do_not_depend_on_the_block(frame):
    pd.testing.assert_frame_equal(frame, run())
    second = run(repetitions=range(1, 2))
    kept = frame[frame["repetition"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, second)


def test_a_method_s_rows_do_not_depend_on_the_other_methods(frame):
    alone = run(SETTINGS | {"methods": {"svm": SETTINGS["methods"]["svm"]}})
    kept = frame[frame["method"] == "svm"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, alone)


def test_all_methods_see_the_same_flipped_labels(monkeypatch):
    seen = {}
    original = kernel_data.noisy_labels

    def watched(clean, noise, seeds, repetition):
        noisy = original(clean, noise, seeds, repetition)
        for k, label in enumerate(noise):
            seen.setdefault((repetition, label), []).append(noisy[:, k].tobytes())
        return noisy

    monkeypatch.setattr(kernel_data, "noisy_labels", watched)
    for name in SETTINGS["methods"]:
        run(SETTINGS | {"methods": {name: SETTINGS["methods"][name]}})
    assert all(len(labels) == 3 and len(set(labels)) == 1 for labels in seen.values())
    assert len(set.union(*(set(labels) for labels in seen.values()))) == len(seen)


def test_test_labels_change_the_error_only(frame):
    changed = dataset()
    train = set(changed.arrays["train"][0])
    outside = [row for row in range(120) if row not in train]
    changed.arrays["y"][outside] *= -1
    mirrored = run(repetitions=range(1), toy=changed)
    before = frame[frame["repetition"] == 0].reset_index(drop=True)
    error = before["metric"] == "error"
    pd.testing.assert_frame_equal(before[~error], mirrored[~error])
    np.testing.assert_allclose(before[error]["value"], 100 - mirrored[error]["value"])


ONE = SETTINGS | {"noise": ["independent 0.2"], "methods": {"svm": SETTINGS["methods"]["svm"]}}


def test_later_splits_are_the_same_as_without_an_offset():
    every = run(ONE, range(5), toy=dataset(splits=5))
    later = run(ONE | {"first_split": 2}, range(3), toy=dataset(splits=5))
    kept = every[every["repetition"] >= 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, later)
    few = run(ONE | {"first_split": 20}, range(9), toy=dataset(splits=5))  # it begins at its half
    pd.testing.assert_frame_equal(kept, few)
    drawn = dataset()
    del drawn.arrays["train"], drawn.arrays["test"]
    again = ONE | {"splits": {"test": 0.4, "stratified": True}, "first_split": 7}
    assert set(run(again, range(2), toy=drawn)["repetition"]) == {7, 8}


def test_a_method_with_noise_of_its_own_has_rows_of_it_only(frame):
    own = {"klr": SETTINGS["methods"]["klr"] | {"noise": ["negative_only 0.3"]}}
    settings = SETTINGS | {"methods": SETTINGS["methods"] | own}
    check(settings, SCHEMAS, "settings/kernels.errors.schema.yaml", "settings")
    dropped = (frame["method"] == "klr") & (frame["noise"] != "negative_only 0.3")
    pd.testing.assert_frame_equal(frame[~dropped].reset_index(drop=True), run(settings))


def test_splits_that_a_set_does_not_have_give_no_rows():
    frame = run(
        SETTINGS | {"noise": ["independent 0"], "methods": {"svm": SETTINGS["methods"]["svm"]}},
        repetitions=range(2, 6),
    )
    assert set(frame["repetition"]) == {2}


class Nearest:
    """Your own method without selection: the class of the nearest training point."""

    name = "nearest"

    @classmethod
    def fit_distances(cls, D, D_out, labels, widths, *, parametrisation, sign=1.0):
        from noisylabels.bases.fits import Fits

        assert parametrisation == SETTINGS["parametrisation"]
        scores = sign * (2.0 * labels[D_out.argmin(axis=1)].T[:, np.newaxis] - 1)
        rates = np.full((labels.shape[1], 1), 0.25)
        return Fits(scores, rates, rates, np.zeros(rates.shape, bool))


def test_your_own_methods_take_part():
    methods = {
        "nearest": {"method": "test_kernel_errors:Nearest"},
        "reversed": {"method": "test_kernel_errors:Nearest", "parameters": {"sign": -1.0}},
        "neighbours": {"method": "sklearn.neighbors:KNeighborsClassifier", "parameters": {"n_neighbors": 1}},
        "forest": {"method": "sklearn.ensemble:RandomForestClassifier", "parameters": {"n_estimators": 3}},
    }
    frame = run(SETTINGS | {"methods": methods})
    wide = frame[frame["metric"] == "error"].pivot_table(
        index=["noise", "repetition"], columns="method", values="value"
    )
    np.testing.assert_allclose(wide["nearest"], wide["neighbours"])
    np.testing.assert_allclose(wide["nearest"], 100 - wide["reversed"])
    assert set(frame["setting"]) == {""}
    assert set(frame[frame["method"] == "nearest"]["metric"]) == {"error", "omega01", "omega10", "flagged"}
    pd.testing.assert_frame_equal(frame, run(SETTINGS | {"methods": methods}))


def test_data_sets_are_checked():
    with pytest.raises(ValueError, match="'toy' is not among the artifact's datasets: other"):
        run(other=dataset("other"))
    without = dataset()
    del without.arrays["train"]
    with pytest.raises(ValueError, match="toy has no official splits"):
        run(toy=without)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"noise": ["asymmetric 0.1"]}, "noise.0"),
        ({"folds": 1}, "folds"),
        ({"trusted": 0}, "trusted"),
        ({"parametrisation": "sigma"}, "parametrisation"),
        (
            {"methods": {"klr": {"method": "kernel_logistic", "selection": "cv_noisy"}}},
            "methods.klr.selection",
        ),
        ({"methods": {"klr": {"method": "kernel_logistic", "grids": [1]}}}, "methods.klr"),
    ],
)
def test_wrong_settings_are_named(change, key):
    schema = "settings/kernels.errors.schema.yaml"
    check(SETTINGS, SCHEMAS, schema, "settings")
    with pytest.raises(ArtifactError, match=key):
        check(SETTINGS | change, SCHEMAS, schema, "settings")
