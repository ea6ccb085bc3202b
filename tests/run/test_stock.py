"""The protocols for everyone: any metric of scikit-learn, K classes, real values, own functions."""

import sys

import numpy as np
import pytest
from running import frame, rows, typed, values
from sklearn import metrics
from sklearn.datasets import load_diabetes, load_wine

from reproduction.data.prepared import Dataset
from reproduction.run.points import KEY
from reproduction.spec.metrics import Metric, better, list_metrics

OWN = """
def ring(y, rng, rate):
    return (y + (rng.random(len(y)) < rate)) % 3


def first_class(truth, predicted):
    return (predicted[truth == 0] == 0).mean()
"""
COMMON = {"splits": {"test": 0.4}, "datasets": ["toy"]}


def data_set(load):
    X, y = load(return_X_y=True)
    return Dataset("toy", "generated", "canonical", {"X": X, "y": y}, "")


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "stock_functions.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "stock_functions"
    sys.modules.pop("stock_functions", None)


def classify(**changes):
    settings = COMMON | {
        "noise": ["symmetric 0", "symmetric 0.4"],
        "metrics": ["error", "accuracy", "roc_auc_ovr", "log_loss", "hamming_loss"],
        "methods": {"logistic": {"method": "sklearn.linear_model:LogisticRegression"}},
    }
    result_rows = rows("stock:classification", settings | changes, data_set(load_wine))
    for row in result_rows:
        row.pop(KEY, None)
    return frame(result_rows)


def test_three_classes_are_learned_as_three_and_measured_as_scikit_learn_does():
    table = classify()
    clean = {}
    for metric in table["metric"].unique():
        clean[metric] = values(table, metric=metric, noise="symmetric 0")
        noisy = values(table, metric=metric, noise="symmetric 0.4")
        worse = noisy.mean() - clean[metric].mean()
        assert (worse > 0) == (better(metric) == "lower"), metric
    np.testing.assert_allclose(clean["error"], 100 * (1 - clean["accuracy"]))
    np.testing.assert_allclose(clean["hamming_loss"], 1 - clean["accuracy"])
    assert (clean["accuracy"] > 0.9).all()


def test_real_values_are_fitted_and_noise_makes_them_worse():
    settings = COMMON | {
        "noise": ["gaussian 0", "outliers 0.3 20"],
        "metrics": ["mean_squared_error", "r2"],
        "methods": {"ridge": {"method": "sklearn.linear_model:Ridge"}},
    }
    table = frame(rows("stock:regression", settings, data_set(load_diabetes)))
    for metric, sign in (("mean_squared_error", 1), ("r2", -1)):
        noisy = values(table, metric=metric, noise="outliers 0.3 20")
        clean = values(table, metric=metric, noise="gaussian 0")
        assert (sign * (noisy - clean) > 0).all()
    assert (values(table, metric="r2", noise="gaussian 0") > 0.3).all()


def test_noise_and_metrics_may_be_functions_of_the_paper(own_module):
    metrics = [f"{own_module}:first_class", "accuracy"]
    table = classify(noise=[f"{own_module}:ring 1"], metrics=metrics)
    assert set(table["noise"]) == {"ring 1"}
    assert (values(table, metric="first_class") < 0.1).all()


def test_an_unseeded_forest_gets_its_seed_from_the_repetition():
    forest = {"method": "sklearn.tree:DecisionTreeClassifier", "parameters": {"max_features": 1}}
    first = classify(methods={"forest": forest})
    assert first.equals(classify(methods={"forest": forest}))


@pytest.mark.parametrize(
    ("protocol", "changes", "message"),
    [
        ("classification", {"metrics": ["roc_acu"]}, "'roc_acu' is unknown; did you mean roc_auc"),
        ("classification", {"noise": ["gaussian 1"]}, "gaussian 1.*use symmetric"),
        ("regression", {"metrics": ["error"]}, "error counts wrong labels; use"),
        ("regression", {"splits": {"test": 0.4, "stratified": True}}, "no classes; remove it"),
        ("classification", {"metrics": ["numpy:meen"]}, "has no function 'meen'"),
        ("classification", {"methods": {"lms": {"method": "lms"}}}, "'lms' is not one of"),
    ],
)
def test_a_mistake_in_the_settings_names_what_there_is(protocol, changes, message):
    settings = COMMON | {
        "noise": ["symmetric 0"] if protocol == "classification" else ["gaussian 0"],
        "metrics": ["r2"],
        "methods": {"one": {"method": "sklearn.linear_model:Ridge"}},
    }
    with pytest.raises(ValueError, match=message):
        typed(f"stock:{protocol}", settings | changes)


def test_which_is_better_agrees_with_the_signs_of_scikit_learn():
    for name in metrics.get_scorer_names():
        expected = "lower" if name.startswith("neg_") else "higher"
        assert better(name.removeprefix("neg_")) == expected, name
    assert {"roc_auc", "mean_absolute_error", "zero_one_loss"} <= set(list_metrics())
    assert Metric.parse("x:regret").better is None
