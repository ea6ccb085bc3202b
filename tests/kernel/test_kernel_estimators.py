"""The kernel classifiers keep scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression
from noisylabels.classifiers.robust_kernel_logistic import RobustKernelLogisticRegression
from noisylabels.classifiers.robust_logistic import RobustLogisticRegression

ESTIMATORS = [
    KernelLogisticRegression(),
    RobustKernelLogisticRegression(),
    RobustKernelLogisticRegression(regularisation="bayes"),
    RobustKernelLogisticRegression(solver="em_newton"),
    RobustLogisticRegression(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
