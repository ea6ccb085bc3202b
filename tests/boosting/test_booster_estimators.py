"""The boosters and the linear competitors keep scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels.classifiers.adaboost import AdaBoostClassifier
from noisylabels.classifiers.bound_minimiser import BoundMinimiser
from noisylabels.classifiers.gentle_boost import GentleBoostClassifier
from noisylabels.classifiers.large_margin_distribution import LargeMarginDistributionClassifier
from noisylabels.classifiers.modest_boost import ModestBoostClassifier
from noisylabels.classifiers.rboost import RBoostClassifier
from noisylabels.classifiers.zero_one_loss import ZeroOneLossClassifier
from noisylabels.frame.methods import find

ESTIMATORS = [
    AdaBoostClassifier(rounds=3),
    AdaBoostClassifier("robust_logistic", weighting="reweight", rounds=3),
    RBoostClassifier(rounds=3),
    RBoostClassifier("robust_logistic", gamma=(0.1, 0.0), learn_gamma=False, rounds=3),
    GentleBoostClassifier(rounds=3),
    ModestBoostClassifier(rounds=3),
    BoundMinimiser(ks=(2, 10), starts=1),
    BoundMinimiser("bound"),
    ZeroOneLossClassifier(starts=1),
    LargeMarginDistributionClassifier([1, 10]),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.name)
def test_an_artifact_finds_them_by_the_name_of_their_file(estimator):
    assert find(estimator.name) is type(estimator)
