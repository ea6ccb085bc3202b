"""The boosters and the linear competitors keep scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels.classifiers.adaboost import AdaBoostClassifier
from noisylabels.classifiers.gentle_boost import GentleBoostClassifier
from noisylabels.classifiers.modest_boost import ModestBoostClassifier
from noisylabels.classifiers.rboost import RBoostClassifier
from noisylabels.frame.methods import find

BOOSTERS = [
    AdaBoostClassifier(rounds=10),
    AdaBoostClassifier("robust_logistic", weighting="reweight", rounds=10),
    RBoostClassifier(rounds=10),
    RBoostClassifier("robust_logistic", gamma=(0.1, 0.0), learn_gamma=False, rounds=10),
    GentleBoostClassifier(rounds=10),
    ModestBoostClassifier(rounds=10),
]


@parametrize_with_checks(BOOSTERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["adaboost", "rboost", "gentle_boost", "modest_boost"])
def test_an_artifact_finds_them_by_the_name_of_their_file(name):
    assert find(name).name == name
