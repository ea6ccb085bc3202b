"""Every classifier, found and not listed by hand, keeps scikit-learn's contract and the common vocabulary."""

import inspect

import numpy as np
import pytest
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisylabels import METHODS
from noisylabels.classifiers.base import FitFlags as Doubts
from noisylabels.classifiers.boosting import AdaBoostClassifier, BoostingClassifier, RBoostClassifier
from noisylabels.classifiers.kernel import KernelClassifier
from noisylabels.classifiers.kernel_logistic import (
    RobustKernelLogisticRegression,
    RobustNystromLogisticRegression,
)
from noisylabels.classifiers.large_margin import (
    BoundMinimiser,
    LargeMarginDistributionClassifier,
    ZeroOneLossClassifier,
)
from noisylabels.classifiers.linear import RobustSGDClassifier
from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression, StPMKLLikeClassifier
from noisylabels.losses.margin import SmoothRamp
from reproduction.protocols.settings import method_class

CLASSIFIERS = [cls for name in METHODS if issubclass(cls := method_class(name), ClassifierMixin)]
OTHER_PARAMETERS = [
    RobustKernelLogisticRegression(regularisation="bayes"),
    RobustKernelLogisticRegression(solver="em_newton"),
    RobustMultiKernelLogisticRegression(2.0 ** np.arange(-2, 3), w_solver="newton", prior_factor="exact"),
    RobustSGDClassifier(SmoothRamp(-2.0, 1.5, 0.5), average="epoch", random_state=0),
    RobustSGDClassifier("log", schedule="asgd", average="run", random_state=0),
    StPMKLLikeClassifier([0.5, 2.0], rho=0.2, max_iter=30),
    AdaBoostClassifier("robust_logistic", weighting="reweight", rounds=3),
    RBoostClassifier("robust_logistic", gamma=(0.1, 0.0), learn_gamma=False, rounds=3),
    BoundMinimiser("bound"),
    LargeMarginDistributionClassifier([1, 10]),
]
FEW = {
    BoostingClassifier: {"rounds": 3},
    BoundMinimiser: {"ks": (2, 10), "starts": 1},
    ZeroOneLossClassifier: {"starts": 1},
}
"""Parameters with which the slow ones keep the same contract in less time."""


def made(cls):
    """An estimator with its default parameters and a fixed seed."""
    return cls(random_state=0) if "random_state" in inspect.signature(cls).parameters else cls()


def small(cls):
    """An estimator with a fixed seed that fits fast."""
    few = next((few for kind, few in FEW.items() if issubclass(cls, kind)), {})
    return made(cls).set_params(**few)


@parametrize_with_checks([*map(small, CLASSIFIERS), *OTHER_PARAMETERS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_all_classifiers_are_found():
    folder = {name for name, where in METHODS.items() if where.startswith("classifiers.")}
    assert {cls.name for cls in CLASSIFIERS} >= folder >= {"liblinear", "robust_sgd", "kernel_svm"}


def noisy_blobs(n=80):
    """Two classes with the names "no" and "yes", 30 % of the first relabelled."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 2)) + 1.5 * (2 * y[:, np.newaxis] - 1)
    observed = np.where((y == 0) & (rng.random(n) < 0.3), 1, y)
    return X, np.array(["no", "yes"])[observed]


# Scores driven far apart leave no room for flips: by default both of these learn that there are none.
TOLD = {
    RBoostClassifier: {"gamma": (0.3, 0.0), "learn_gamma": False},
    RobustNystromLogisticRegression: {"zeta": 5.0},
}


@pytest.mark.parametrize("cls", [cls for cls in CLASSIFIERS if hasattr(cls, "true_label_posterior")])
def test_what_estimates_flips_says_so_in_the_same_words(cls):
    X, y = noisy_blobs()
    model = made(cls).set_params(**TOLD.get(cls, {})).fit(X, y)
    assert model.flip_matrix_.shape == (2, 2)
    np.testing.assert_allclose(model.flip_matrix_.sum(axis=1), 1)
    assert model.flip_matrix_[0, 1] > model.flip_matrix_[1, 0]  # rows are true classes
    assert isinstance(model.converged_, bool)
    q = model.true_label_posterior(X, y)
    assert ((q >= 0) & (q <= 1)).all()
    assert q[y == "yes"].mean() > q[y == "no"].mean()
    with pytest.raises(ValueError, match=r"outside the classes of fit, \['no', 'yes'\]"):
        model.true_label_posterior(X, np.full(len(y), "maybe"))
    with pytest.raises(NotFittedError):
        made(cls).true_label_posterior(X, y)


@pytest.mark.parametrize("cls", [cls for cls in CLASSIFIERS if issubclass(cls, KernelClassifier | Doubts)])
def test_what_can_be_in_doubt_says_so_in_the_same_words(cls):
    model = made(cls).fit(*noisy_blobs())
    assert model.flags_ == ()
    assert model.flagged_ is False


def test_no_classifier_has_another_word_for_it():
    old = {"omega_", "posterior_", "label_swap_", "collapsed_", "broken_"}
    for cls in CLASSIFIERS:
        model = made(cls).fit(*noisy_blobs())
        assert not old & set(vars(model))
        assert hasattr(model, "flip_matrix_") == hasattr(cls, "true_label_posterior")


def test_a_doubtful_fit_names_its_reason():
    X, y = noisy_blobs()
    stopped = StPMKLLikeClassifier(max_iter=1).fit(X, y)
    assert (stopped.flags_, stopped.flagged_, stopped.converged_) == (("not_converged",), True, False)
    narrow = RobustMultiKernelLogisticRegression([1e-6]).fit(X, y)
    assert narrow.flags_ == ("collapsed",)
