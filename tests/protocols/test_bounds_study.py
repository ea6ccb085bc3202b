"""The rows of the experiments on flip probabilities and bounds."""

from dataclasses import replace

import numpy as np
import pytest
from running import table, two_classes, typed, values
from scipy.special import betainc

HALVES = {"datasets": ["toy"], "train": 0.5}
CURVES = {
    "ks": [1, 5], "angles": 9, "simulated": [5], "simulated_angles": [0.4, 0.5], "trials": 2000,
    "margins": [0, 0.5],
}  # fmt: skip
TOY = two_classes(n=80, apart=0.8, d=3)


def test_the_bound_is_the_sum_of_its_terms():
    wide = table("boosting.bounds", HALVES | {"ks": [2, 20], "delta": 0.05}, TOY).pivot_table(
        index=["repetition", "x"], columns="metric", values="value"
    )
    assert len(wide) == 4
    assert (wide["risk"] + wide["complexity"] + wide["confidence"]).to_numpy() == pytest.approx(wide["bound"])
    assert (wide["error"] - wide["bound"]).to_numpy() == pytest.approx(wide["excess"])
    assert wide["risk"].between(0, 1).all()
    assert wide["complexity"].xs(2, level="x").iloc[0] == pytest.approx(2 * np.sqrt(2 / np.pi * 2 / 40))


def test_choices_of_cross_validation_stand_beside_the_errors():
    methods = {
        "new": {"method": "bound_minimiser", "parameters": {"ks": [5, 50], "folds": 2, "starts": 1}},
        "svm": {"method": "large_margin_distribution", "parameters": {"C": [1, 10], "lam1": 0, "lam2": 0}},
        "zero_one": {"method": "zero_one_loss", "parameters": {"starts": 0}},
    }
    rows = table("boosting.bound_minimisers", HALVES | {"methods": methods}, TOY)
    assert set(values(rows, metric="k")) <= {5.0, 50.0}
    assert set(values(rows, metric="C")) <= {1.0, 10.0}
    found = rows[rows["metric"] == "error"]
    assert list(found["method"]) == [*methods, *methods]
    assert found["value"].between(0, 0.45).all()


def test_features_as_they_are_keep_their_scale():
    methods = {"svm": {"method": "large_margin_distribution", "parameters": {"C": 1, "lam1": 0, "lam2": 0}}}
    tiny = replace(TOY, arrays=TOY.arrays | {"X": 1e-6 * TOY.arrays["X"]})
    rows = [
        table("boosting.bound_minimisers", HALVES | {"methods": methods, "standardise": standardise}, data)
        for standardise in (True, False)
        for data in (TOY, tiny)
    ]
    scaled, same, raw, shrunk = (values(each, metric="error") for each in rows)
    np.testing.assert_allclose(same, scaled)
    assert raw.mean() < 0.2 < shrunk.mean()  # weights that are large enough cost more than the errors


def test_curves_simulations_and_margins_of_the_flip_probability():
    rows = table("boosting.flip_probability", CURVES).set_index(["setting", "method", "metric"])["value"]
    theta = np.linspace(0, np.pi, 9)
    expected = betainc(2.5, 2.5, (1 - np.cos(theta)) / 2)
    assert rows["formula", "k=5", "f"].to_numpy()[:9] == pytest.approx(expected)
    assert rows["formula", "k=1", "f"].to_numpy()[:9] == pytest.approx(theta / np.pi)
    assert rows["gaussian", "k=5", "z"].abs().max() < 4.5
    assert ("gaussian", "k=1", "z") not in rows.index
    small, large = rows["margin", "k=5", "flip_term"].to_numpy()[:2]
    assert large < small
    few = 0.99 * 2 * betainc(2.5, 2.5, 0.05) + 0.01
    assert rows["some without margin", "k=5", "flip_term"].to_numpy() == pytest.approx([few, few])


def test_simulations_differ_from_repetition_to_repetition_and_nothing_else_does():
    rows = table("boosting.flip_probability", CURVES)
    spread = rows.groupby(["setting", "method", "metric", "x"])["value"].std()
    assert (spread.drop(["gaussian", "rademacher"], level="setting") == 0).all()
    assert (spread.loc[["gaussian", "rademacher"]] > 0).any()


def test_only_dimensions_of_the_curves_are_simulated():
    with pytest.raises(ValueError, match="simulated: '7' is unknown here; known: 1, 5"):
        typed("boosting.flip_probability", CURVES | {"simulated": [7]})
