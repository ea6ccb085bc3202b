"""rKFD and the SVM keep scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels.classifiers.kernel_svm import KernelSVMClassifier
from noisylabels.classifiers.robust_kernel_fisher import RobustKernelFisherClassifier


@parametrize_with_checks([RobustKernelFisherClassifier(), KernelSVMClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
