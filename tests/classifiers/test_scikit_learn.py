"""Classifiers inside scikit-learn: meta-estimators, displays and scorers find methods by name."""

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from found import CLASSIFIERS, make
from problems import two_moons
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import (
    DetCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    get_scorer,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.utils.validation import has_fit_parameter

import noisylabels as nl

CURVES = (RocCurveDisplay, PrecisionRecallDisplay, DetCurveDisplay)
WITH_PROBABILITIES = [cls for cls in CLASSIFIERS if hasattr(make(cls), "predict_proba")]
WITHOUT_WEIGHTS = {nl.BoundMinimiser}
X, Y = two_moons(80)


def by_name(cls):
    return cls.name


with_probabilities = pytest.mark.parametrize("cls", WITH_PROBABILITIES, ids=by_name)
with_weights = pytest.mark.parametrize(
    "cls", [cls for cls in CLASSIFIERS if cls not in WITHOUT_WEIGHTS], ids=by_name
)


def public_instance(name):
    """An instance of a public class, or the class where it needs arguments."""
    cls = getattr(nl, name)
    try:
        return cls()
    except TypeError:
        return cls


def test_the_walk_meets_classifiers_with_and_without_probabilities():
    assert {nl.RobustLogisticRegression, nl.RBoostClassifier} <= set(WITH_PROBABILITIES)
    assert nl.PegasosClassifier not in WITH_PROBABILITIES


CLASSES = [name for name in nl.__all__ if isinstance(getattr(nl, name), type)]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_bears_the_name_it_is_called_by(name):
    model = public_instance(name)
    for attribute in dir(type(model)):
        member = getattr(model, attribute, None)
        if callable(member) and not attribute.startswith("_"):
            assert member.__name__ == attribute


@with_probabilities
def test_probabilities_feed_stacking(cls):
    stack = StackingClassifier([("model", make(cls))], cv=3).fit(X, Y)
    assert stack.stack_method_ == ["predict_proba"]
    assert stack.score(X, Y) > 0.7


@with_probabilities
def test_a_threshold_on_probabilities_decides(cls):
    model = make(cls).fit(X, Y)
    options = {"threshold": 0.9, "response_method": "predict_proba"}
    fixed = FixedThresholdClassifier(model, **options).fit(X, Y)
    np.testing.assert_array_equal(fixed.predict(X), model.predict_proba(X)[:, 1] >= 0.9)
    options = {"thresholds": 9, "response_method": "predict_proba"}
    tuned = TunedThresholdClassifierCV(model, cv=3, **options).fit(X, Y)
    assert tuned.predict(X).shape == Y.shape


@with_probabilities
def test_scores_by_probability_are_those_of_the_probabilities(cls):
    model = make(cls).fit(X, Y)
    expected = roc_auc_score(Y, model.predict_proba(X)[:, 1])
    assert make_scorer(roc_auc_score, response_method="predict_proba")(model, X, Y) == expected
    assert get_scorer("roc_auc_ovr")(model, X, Y) == expected


@with_probabilities
def test_curves_and_boundaries_by_probability_are_drawn(cls):
    mpl.use("Agg")
    from matplotlib import pyplot

    model = make(cls).fit(X, Y)
    for display in CURVES:
        display.from_estimator(model, X, Y, response_method="predict_proba")
    CalibrationDisplay.from_estimator(model, X, Y)
    options = {"response_method": "predict_proba", "grid_resolution": 5}
    DecisionBoundaryDisplay.from_estimator(model, X, **options)
    pyplot.close("all")


@with_weights
def test_weights_are_named_where_scikit_learn_looks_for_them(cls):
    assert has_fit_parameter(make(cls), "sample_weight")
    if hasattr(cls, "partial_fit"):
        assert "sample_weight" in cls.partial_fit.__code__.co_varnames


@with_weights
def test_calibration_passes_weights_on_without_a_warning(cls):
    weights = np.where(Y, 1.0, 2.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*sample_weight")
        model = CalibratedClassifierCV(make(cls), cv=3).fit(X, Y, sample_weight=weights)
    assert model.predict_proba(X).shape == (80, 2)


@with_weights
def test_scikit_learns_boosting_takes_every_classifier_with_weights(cls):
    ensemble = AdaBoostClassifier(make(cls), n_estimators=2, random_state=0).fit(X, Y)
    assert ensemble.score(X, Y) > 0.7


def test_the_bound_does_not_claim_to_take_weights():
    assert not has_fit_parameter(nl.BoundMinimiser(), "sample_weight")
