"""Every classifier keeps scikit-learn's contract; none is listed by hand."""

import inspect

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels.classifiers.robust_kernel_logistic import RobustKernelLogisticRegression
from noisylabels.classifiers.robust_multi_kernel import RobustMultiKernelLogisticRegression
from noisylabels.classifiers.robust_sgd import RobustSGDClassifier
from noisylabels.classifiers.stpmkl_like import StPMKLLikeClassifier
from noisylabels.frame import methods
from noisylabels.losses.margin import smooth_ramp

CLASSIFIERS = [
    cls for name in methods.known() if issubclass(cls := methods.find(name), ClassifierMixin)
]  # fmt: skip
OTHER_PARAMETERS = [
    RobustKernelLogisticRegression(regularisation="bayes"),
    RobustKernelLogisticRegression(solver="em_newton"),
    RobustMultiKernelLogisticRegression(2.0 ** np.arange(-2, 3), w_solver="newton", prior_factor="exact"),
    RobustSGDClassifier(smooth_ramp(-2.0, 1.5, 0.5), average="epoch", random_state=0),
    RobustSGDClassifier("log", schedule="asgd", average="run", random_state=0),
    StPMKLLikeClassifier([0.5, 2.0], rho=0.2, max_iter=30),
]


def made(cls):
    """An estimator with its default parameters and a fixed seed."""
    return cls(random_state=0) if "random_state" in inspect.signature(cls).parameters else cls()


@parametrize_with_checks([*map(made, CLASSIFIERS), *OTHER_PARAMETERS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_all_classifiers_are_found():
    folder = {name for name, module in methods.known().items() if ".classifiers." in module}
    assert {cls.name for cls in CLASSIFIERS} >= folder >= {"liblinear", "robust_sgd", "kernel_svm"}
