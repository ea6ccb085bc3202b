"""Robust logistic regression with three classes and more: flip matrices, posteriors, names, weights."""

import numpy as np
import pytest

from noisylabels.classifiers.kernel_logistic import RobustKernelLogisticRegression
from noisylabels.classifiers.robust_logistic import RobustLogisticRegression

NAMES = np.array(["beech", "elm", "oak"])
OMEGA = np.array([[0.7, 0.3, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]])
ROBUST = [RobustLogisticRegression(), RobustKernelLogisticRegression(2.0, 0.1, bias="free")]


def trees(n=300, seed=0):
    """X (n, 2), true names, observed names."""
    rng = np.random.default_rng(seed)
    true = np.arange(n) % 3
    X = rng.standard_normal((n, 2)) + np.array([[-3, 0], [3, 0], [0, 4]])[true]
    observed = np.array([rng.choice(3, p=OMEGA[k]) for k in true])
    return X, NAMES[true], NAMES[observed]


@pytest.mark.parametrize("model", ROBUST, ids=lambda m: m.name)
def test_it_learns_the_flips_and_sees_through_them(model):
    X, true, observed = trees()
    model.fit(X, observed)
    assert model.classes_.tolist() == NAMES.tolist()
    assert model.flip_matrix_ == pytest.approx(OMEGA, abs=0.12)
    assert model.flip_matrix_.sum(axis=1) == pytest.approx(np.ones(3))
    assert (model.predict(X) == true).mean() > 0.97
    assert model.decision_function(X).shape == (300, 3)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(300))
    assert (model.flags_, model.flagged_, model.converged_) == ((), False, True)


@pytest.mark.parametrize("model", ROBUST, ids=lambda m: m.name)
def test_the_posterior_finds_the_wrong_labels(model):
    X, true, observed = trees()
    q = model.fit(X, observed).true_label_posterior(X, observed)
    assert q.shape == (300, 3)
    assert q.sum(axis=1) == pytest.approx(np.ones(300))
    assert (NAMES[q.argmax(axis=1)] == true).mean() > 0.95
    with pytest.raises(ValueError, match="outside the classes of fit"):
        model.true_label_posterior(X, np.full(300, "fir"))


@pytest.mark.parametrize("solver", ["lbfgs", "em_newton"])
@pytest.mark.parametrize("penalty", ["weights", "rkhs"])
def test_the_solvers_of_the_kernel_model_agree(solver, penalty):
    X, true, observed = trees(90)
    model = RobustKernelLogisticRegression(2.0, 0.1, bias="free", penalty=penalty, solver=solver)
    assert (model.fit(X, observed).predict(X) == true).mean() > 0.93
    reference = RobustKernelLogisticRegression(2.0, 0.1, bias="free", penalty=penalty).fit(X, observed)
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-3)


def test_new_names_of_the_classes_change_nothing_else():
    X, _, observed = trees(120)
    renamed = np.array([{"beech": "c", "elm": "a", "oak": "b"}[name] for name in observed])
    first, second = RobustLogisticRegression().fit(X, observed), RobustLogisticRegression().fit(X, renamed)
    order = [2, 0, 1]  # of beech, elm, oak among a, b, c
    assert second.flip_matrix_[np.ix_(order, order)] == pytest.approx(first.flip_matrix_, abs=1e-9)
    assert second.predict_proba(X)[:, order] == pytest.approx(first.predict_proba(X), abs=1e-9)


def test_a_weight_of_two_is_two_examples():
    X, _, observed = trees(60)
    for y in (observed, np.where(observed == "oak", "elm", observed)):
        times = np.random.default_rng(0).integers(0, 3, 60)
        times[:6] = 1
        heavy = RobustLogisticRegression().fit(X, y, sample_weight=times)
        many = RobustLogisticRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert heavy.decision_function(X) == pytest.approx(many.decision_function(X), abs=1e-6)


def test_what_cannot_be_said_is_refused():
    X, _, observed = trees(60)
    with pytest.raises(ValueError, match=r"Only binary.*; regularisation=.fixed. takes it"):
        RobustKernelLogisticRegression(regularisation="bayes").fit(X, observed)
    with pytest.raises(ValueError, match=r"must have shape \(3, 3\)"):
        RobustLogisticRegression(omega=np.eye(2)).fit(X, observed)
    with pytest.raises(ValueError, match="leave a class without examples"):
        RobustLogisticRegression().fit(X, observed, sample_weight=(observed != "oak").astype(float))
    with pytest.raises(ValueError, match="one class only"):
        RobustLogisticRegression().fit(X, np.full(60, "oak"))
