"""Probabilities where decision values are log-odds, a hint elsewhere; what scikit-learn adds."""

import numpy as np
import pytest
from problems import two_moons
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multiclass import OneVsRestClassifier

from noisylabels.classifiers.linear import (
    LiblinearClassifier,
    PegasosClassifier,
    RobustSGDClassifier,
)
from noisylabels.losses import margin


@pytest.mark.parametrize("loss", ["log", margin.Log()])
def test_the_logistic_loss_has_probabilities(loss):
    X, y = two_moons()
    model = RobustSGDClassifier(loss, random_state=0)
    p = model.fit(X, y).predict_proba(X)
    assert p[:, 1] == pytest.approx(expit(model.decision_function(X)))
    assert p.sum(axis=1) == pytest.approx(np.ones(60))


@pytest.mark.parametrize(
    "model",
    [RobustSGDClassifier(), PegasosClassifier(), LiblinearClassifier()],
)
def test_other_margin_losses_say_how_to_calibrate(model):
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as caught:
        model.predict_proba  # noqa: B018
    cause = str(caught.value.__cause__)
    assert "calibrate them, sklearn.calibration.CalibratedClassifierCV" in cause


def test_decision_values_can_be_calibrated():
    X, y = two_moons(200)
    model = CalibratedClassifierCV(LiblinearClassifier(), cv=3).fit(X, y)
    p = model.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(np.ones(200))
    assert np.mean((p[:, 1] - y) ** 2) < 0.15  # the Brier score; 0.25 knows nothing


def test_two_classes_become_more_by_one_against_the_rest():
    X, y = two_moons(150)
    y = np.where(X[:, 0] > 1.5, 2, y)
    assert OneVsRestClassifier(LiblinearClassifier()).fit(X, y).score(X, y) > 0.7
