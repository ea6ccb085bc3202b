"""A wrong parameter of any classifier, and features that no solver can bear, are named in one line."""

import inspect
import re
import warnings

import numpy as np
import pytest
from bad_values import check_answers
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin

from noisylabels import METHODS
from noisylabels.classifiers.boosting import RBoostClassifier
from noisylabels.classifiers.kernel import KernelSVMClassifier
from noisylabels.classifiers.kernel_fisher import RobustKernelFisherClassifier
from noisylabels.classifiers.kernel_logistic import (
    RobustKernelLogisticRegression,
    RobustNystromLogisticRegression,
)
from noisylabels.classifiers.large_margin import BoundMinimiser, LargeMarginDistributionClassifier
from noisylabels.classifiers.linear import (
    MarginMinimiser,
    PegasosClassifier,
    RobustSGDClassifier,
)
from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression, StPMKLLikeClassifier
from noisylabels.classifiers.robust_logistic import RobustLogisticRegression
from reproduction.protocols.settings import method_class

CLASSIFIERS = [cls for name in METHODS if issubclass(cls := method_class(name), ClassifierMixin)]
every = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.name)

FAST = {"rounds": 2, "starts": 0, "max_passes": 2, "epochs": 2}
OWN = {
    BoundMinimiser: {"k": 2},
    LargeMarginDistributionClassifier: {"C": [1.0, 10.0]},  # so that there are folds to draw
    StPMKLLikeClassifier: {"max_iter": 10},
}
"""Parameters with which fits are fast."""

RNG = np.random.default_rng(5)
Y = np.arange(40) % 2
X = RNG.standard_normal((40, 3)) + Y[:, np.newaxis]


def made(cls):
    """A classifier that fits fast."""
    fast = {name: value for name, value in FAST.items() if name in inspect.signature(cls).parameters}
    return cls(**{**fast, **OWN.get(cls, {})})


@every
def test_a_wrong_parameter_is_named_in_one_line(cls):
    def fit(name, value):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an unlucky but allowed value
            made(cls).set_params(**{name: value}).fit(X, Y)

    check_answers(cls, fit, known=["random_state"] if cls is MarginMinimiser else [])  # it reads none


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RobustSGDClassifier(noise_rates=0.1), r"noise_rates: expected shape (2), got (1,)"),
        (RobustSGDClassifier(noise_rates=(0.5, 0.5)), "noise_rates: must lie in [0, 1] and sum to less than"),
        (RobustSGDClassifier(shuffle="rows"), "shuffle, if not 'blocks': must be True or False, got 'rows'"),
        (RBoostClassifier(gamma=(0.1, 0.1, 0.1)), "gamma: must be the two flip rates (gamma01, gamma10)"),
        (RBoostClassifier(gamma=(0.1, np.nan)), "gamma: value at index 1 is not finite"),
        (BoundMinimiser(ks=[]), "ks: at least one k is needed"),
        (BoundMinimiser(ks=[2, 2.5]), "ks: must be a whole number >= 1, got 2.5"),
        (RobustKernelLogisticRegression(zeta=[1.0]), "zeta: must be a finite number >= 1e-08, got [1.0]"),
        (RobustKernelLogisticRegression(zeta=0.0), "zeta: must be a finite number >= 1e-08, got 0"),
        (
            RobustKernelLogisticRegression(bias="some"),
            "bias: 'some' is unknown; known: none, free",
        ),
        (RobustKernelLogisticRegression(solver="mm"), "solver: 'mm' is unknown; known: lbfgs, em_newton"),
        (RobustKernelLogisticRegression(width="auto"), "width: must be a number or 'scale', got 'auto'"),
        (
            RobustNystromLogisticRegression(choice="best"),
            "choice: 'best' is unknown; known: uniform, kmeans",
        ),
        (RobustNystromLogisticRegression(landmarks=0), "landmarks: must be a whole number >= 1, got 0"),
        (KernelSVMClassifier(C=0.0), "C: must be a finite number > 0, got 0"),
        (RobustKernelFisherClassifier(mu=0.0), "mu: must be a finite number > 0, got 0"),
        (RobustMultiKernelLogisticRegression(widths=[]), "widths: at least one number is needed, got none"),
        (RobustMultiKernelLogisticRegression([1.0, -1.0]), "widths: must be a finite number > 0, got -1"),
        (RobustMultiKernelLogisticRegression(w_solver="x"), "w_solver: 'x' is unknown; known: cg10, newton"),
        (StPMKLLikeClassifier(rho=0.5), "rho: must be a finite number >= 0 and < 0.5, got 0.5"),
        (StPMKLLikeClassifier(C=1e308), "C: must be a finite number > 0 and <= 1e+12, got 1e+308"),
        (RobustLogisticRegression(lam=0.0), "lam: must be a finite number > 0, got 0"),
        (RobustLogisticRegression(omega=np.eye(3)), "omega: expected shape (2, 2), got (3, 3)"),
        (PegasosClassifier(project="x"), "project: must be True or False, got 'x'"),
        (StPMKLLikeClassifier([1.0], rho=[0.1, 0.2]), "rho: 2 flip rates for 1 columns"),
    ],
)
def test_what_is_wrong_is_said(model, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        model.fit(X, Y)


def test_trusted_points_are_a_pair():
    with pytest.raises(ValueError, match=r"^trusted: must be a pair \(X, y\) or None, got 3$"):
        RBoostClassifier(rounds=2).fit(X, Y, trusted=3)


def with_value(value):
    """X with one value of its own."""
    changed = X.copy()
    changed[4, 1] = value
    return changed


@every
@pytest.mark.parametrize("value", [2e35, -1e160])
def test_features_that_no_solver_can_bear_are_refused_with_their_place(cls, value):
    message = r"^X: value at index \(4, 1\) is beyond 1e\+35 in size; scale the features$"
    with pytest.raises(ValueError, match=message):
        made(cls).fit(with_value(value), Y)
    with pytest.raises(ValueError, match=message):
        made(cls).fit(X, Y).predict(with_value(value))


@every
def test_sparse_features_are_read_or_refused(cls):
    model = made(cls)
    reads = model.__sklearn_tags__().input_tags.sparse
    if reads:
        model.fit(csr_array(X), Y).predict(csr_array(X))
        with pytest.raises(ValueError, match=r"value at index \(4, 1\) is beyond"):
            model.fit(csr_array(with_value(1e60)), Y)
    else:
        with pytest.raises(TypeError, match=r"^Sparse data was passed.*, but dense data is required"):
            model.fit(csr_array(X), Y)
