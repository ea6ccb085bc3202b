"""The estimators keep scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels.classifiers.pegasos import PegasosClassifier
from noisylabels.classifiers.robust_sgd import RobustSGDClassifier
from noisylabels.losses import margin as losses

ESTIMATORS = [
    RobustSGDClassifier(random_state=0),
    RobustSGDClassifier(losses.smooth_ramp(-2.0, 1.5, 0.5), average="epoch", random_state=0),
    RobustSGDClassifier("log", schedule="asgd", average="run", random_state=0),
    PegasosClassifier(random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
