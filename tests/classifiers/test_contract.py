"""Every classifier, found by the library, keeps scikit-learn's contract and our vocabulary."""

import numpy as np
import pytest
from found import CLASSIFIERS, each_class, make
from sklearn.exceptions import NotFittedError

import noisylabels as nl
from noisylabels import METHODS
from noisylabels.checks import check_classifier
from noisylabels.classifiers.base import FitFlags
from noisylabels.classifiers.kernel import KernelClassifier
from noisylabels.losses.margin import SmoothRamp

OTHER_PARAMETERS = [
    nl.RobustKernelLogisticRegression(regularisation="bayes"),
    nl.RobustKernelLogisticRegression(solver="em_newton"),
    nl.RobustMultiKernelLogisticRegression(
        2.0 ** np.arange(-2, 3),
        w_solver="newton",
        prior_factor="exact",
    ),
    nl.RobustSGDClassifier(SmoothRamp(-2.0, 1.5, 0.5), average="epoch", random_state=0),
    nl.RobustSGDClassifier("log", schedule="asgd", average="run", random_state=0),
    nl.StPMKLLikeClassifier([0.5, 2.0], rho=0.2, max_iter=30),
    nl.AdaBoostClassifier("robust_logistic", weighting="reweight", rounds=3),
    nl.RBoostClassifier("robust_logistic", gamma=(0.1, 0.0), learn_gamma=False, rounds=3),
    nl.BoundMinimiser("bound"),
    nl.LargeMarginDistributionClassifier([1, 10]),
]


DRAWS = {
    nl.AdaBoostClassifier: "members learn rows that are drawn from the weights",
    nl.ModestBoostClassifier: "equally good splits are chosen at random",
    nl.PegasosClassifier: "rows are drawn at random",
    nl.RBoostClassifier: "members learn rows that are drawn from the weights",
    nl.RobustSGDClassifier: "rows come in random order",
}
"""Classifier -> why a weight gives other random numbers than as many equal rows elsewhere."""


def nightly(estimator):
    """A case of the nightly level."""
    return pytest.param(estimator, marks=pytest.mark.nightly)


def expected_failures(estimator):
    """Checks that an estimator cannot pass, with the reason, as scikit-learn lists its own."""
    reason = DRAWS.get(type(estimator))
    if reason is None or getattr(estimator, "weighting", "resample") == "reweight":
        return {}
    checks = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    return dict.fromkeys(checks, reason)


SLOW = [nl.StPMKLLikeClassifier, nl.ZeroOneLossClassifier]
"""Classifiers of the nightly level only; another class of the same module is checked by default."""
CASES = [nightly(make(cls)) if cls in SLOW else make(cls) for cls in CLASSIFIERS]


@pytest.mark.parametrize("estimator", [*CASES, *map(nightly, OTHER_PARAMETERS)], ids=repr)
def test_every_classifier_keeps_the_contract_of_scikit_learn(estimator):
    check_classifier(estimator, expected_failures(estimator))


def test_all_classifiers_are_found():
    folder = {name for name, path in METHODS.items() if path.startswith("classifiers.")}
    assert {cls.name for cls in CLASSIFIERS} >= folder >= {"liblinear", "robust_sgd", "kernel_svm"}


def noisy_blobs(n=80):
    """Two classes with the names "no" and "yes", 30 % of the first relabelled."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 2)) + 1.5 * (2 * y[:, np.newaxis] - 1)
    observed = np.where((y == 0) & (rng.random(n) < 0.3), 1, y)
    return X, np.array(["no", "yes"])[observed]


# Scores far apart leave no room for flips: by default both of these learn that there are none.
TOLD = {
    nl.RBoostClassifier: {"gamma": (0.3, 0.0), "learn_gamma": False},
    nl.RobustNystromLogisticRegression: {"zeta": 5.0},
}


@each_class
def test_every_fit_speaks_of_flips_and_doubts_in_the_same_words(cls):
    X, y = noisy_blobs()
    model = make(cls, **TOLD.get(cls, {})).fit(X, y)
    if issubclass(cls, KernelClassifier | FitFlags):
        assert (model.flags_, model.flagged_) == ((), False)
    assert hasattr(model, "flip_matrix_") == hasattr(cls, "true_label_posterior")
    if not hasattr(cls, "true_label_posterior"):
        return
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
        make(cls).true_label_posterior(X, y)


def test_a_doubtful_fit_names_its_reason():
    X, y = noisy_blobs()
    stopped = nl.StPMKLLikeClassifier(max_iter=1).fit(X, y)
    assert stopped.flags_ == ("not_converged",)
    assert stopped.flagged_
    assert not stopped.converged_
    narrow = nl.RobustMultiKernelLogisticRegression([1e-6]).fit(X, y)
    assert narrow.flags_ == ("collapsed",)
