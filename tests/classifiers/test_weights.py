"""Weights of examples and classes: whole ones equal repeated rows, and errors say what is wrong."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from found import CLASSIFIERS as ALL
from found import make
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import noisylabels as nl
from noisylabels.classifiers.base import (
    MOST_COPIES,
    Repeated,
    Weighted,
    as_counts,
    trusted_rows,
)
from noisylabels.classifiers.kernel import KernelClassifier

CLASSIFIERS = [cls for cls in ALL if issubclass(cls, Weighted)]
each_class = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.name)
KERNEL_CLASSIFIERS = [cls for cls in CLASSIFIERS if issubclass(cls, KernelClassifier)]
RNG = np.random.default_rng(8)
Y = np.arange(50) % 2
X = RNG.standard_normal((50, 3)) + Y[:, np.newaxis]
A = RNG.integers(0, 4, 50)


def decisions(model):
    return model.decision_function(X + 0.1)


def test_all_but_the_bound_are_weighted():
    assert set(ALL) - set(CLASSIFIERS) == {nl.BoundMinimiser}


# A descent in lockstep solves two classes without weights; it stops elsewhere in its tolerance.
LOOSE = {"kernel_logistic": 1e-3, "robust_kernel_logistic": 1e-2, "liblinear": 1e-6}
LOOSE |= {"robust_multi_kernel": 2e-2}  # its path amplifies rounding; for one round see below


def repeated(X, y, times):
    """Repeat each row and label as many times as its weight says."""
    return np.repeat(X, times, axis=0), np.repeat(y, times)


@each_class
def test_a_whole_weight_is_as_many_rows(cls):
    heavy = decisions(make(cls).fit(X, Y, sample_weight=A))
    wanted = decisions(make(cls).fit(*repeated(X, Y, A)))
    if issubclass(cls, Repeated):
        np.testing.assert_array_equal(heavy, wanted)
    else:
        tolerance = LOOSE.get(cls.name, 1e-7)
        np.testing.assert_allclose(heavy, wanted, atol=tolerance * np.abs(wanted).max())
    without_weights = decisions(make(cls).fit(X, Y))
    assert np.abs(heavy - without_weights).max() > 1e-4


@each_class
def test_a_class_weight_is_the_weight_of_its_examples(cls):
    by_class = decisions(make(cls, class_weight={0: 3}).fit(X, Y))
    by_example = decisions(make(cls).fit(X, Y, sample_weight=np.where(Y, 1, 3)))
    np.testing.assert_array_equal(by_class, by_example)
    rare = np.flatnonzero((Y == 0) | (np.arange(50) < 20))  # 25 of class 0, 10 of class 1
    balanced = decisions(make(cls, class_weight="balanced").fit(X[rare], Y[rare]))
    weights = {0: 35 / 50, 1: 35 / 20}
    by_numbers = decisions(make(cls, class_weight=weights).fit(X[rare], Y[rare]))
    np.testing.assert_allclose(balanced, by_numbers, rtol=1e-9, atol=1e-12)


KERNEL_MODELS = [
    nl.RobustKernelLogisticRegression(bias="free", penalty="rkhs"),
    nl.RobustKernelLogisticRegression(bias="penalised", solver="em_newton"),
    nl.RobustKernelLogisticRegression(regularisation="bayes"),
]


@pytest.mark.parametrize("model", KERNEL_MODELS)
def test_weights_hold_for_every_form_of_the_kernel_model(model):
    heavy = decisions(model.fit(X, Y, A))
    omega = model.flip_matrix_
    wanted = decisions(model.fit(*repeated(X, Y, A)))
    np.testing.assert_allclose(heavy, wanted, atol=1e-2 * np.abs(wanted).max())
    np.testing.assert_allclose(omega, model.flip_matrix_, atol=1e-3)


def test_a_round_of_the_path_with_weights_is_that_of_repeated_rows():
    single_round = nl.RobustMultiKernelLogisticRegression(T=1)
    heavy = decisions(single_round.fit(X, Y, A))
    wanted = decisions(single_round.fit(*repeated(X, Y, A)))
    np.testing.assert_allclose(heavy, wanted, atol=1e-6 * np.abs(wanted).max())


def test_other_weights_draw_rows_in_proportion():
    shares = np.where(Y, 0.25, 4.5)
    n = 2000
    weights = np.tile(shares, 40)
    model = nl.PegasosClassifier(random_state=1)
    model.fit(X, Y)
    drawn, labels, remaining_weights = model._used(np.tile(X, (40, 1)), np.tile(Y, 40), weights)
    assert remaining_weights is None
    assert len(drawn) == n
    assert (labels == 0).mean() == pytest.approx(4.5 / 4.75, abs=0.01)
    too_many = np.full(50, MOST_COPIES + 1)
    rows, *_ = model._used(X, Y, too_many)  # too many copies: every row drawn once
    np.testing.assert_array_equal(rows, X)


SHARES = {
    "equal": np.ones(50),
    "different": np.random.default_rng(9).uniform(0.1, 3.0, 50),
    "some_zero": 1.1 * A,
}


@each_class
@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e-5, 1e5, 1e50, 1e300])
def test_weights_that_are_no_counts_are_shares(cls, shares, scale):
    weights = SHARES[shares]
    mean_of_one = weights / weights.mean()
    wanted = decisions(make(cls).fit(X, Y, sample_weight=mean_of_one))
    scaled = decisions(make(cls).fit(X, Y, sample_weight=scale * weights))
    amplifies_rounding = cls is nl.RobustMultiKernelLogisticRegression
    tolerance = 1e-2 if amplifies_rounding else 1e-9
    np.testing.assert_allclose(scaled, wanted, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("method", ["prune", "likelihood"])
@pytest.mark.parametrize("scale", [1e-20, 1e50])
def test_weights_of_a_corrected_classifier_that_are_no_counts_are_shares(method, scale):
    weights = SHARES["different"]
    mean_of_one = weights / weights.mean()
    model = nl.CorrectedClassifier(method=method)
    wanted = model.fit(X, Y, sample_weight=mean_of_one).predict_proba(X)
    scaled = model.fit(X, Y, sample_weight=scale * weights).predict_proba(X)
    np.testing.assert_allclose(scaled, wanted)


def test_counts_of_rows_are_kept_as_they_are():
    for counts in (np.ones(2), np.full(50, 1000.0), A.astype(float), np.full(50, 0.5)):
        assert as_counts(counts) is counts
    np.testing.assert_allclose(as_counts(np.array([0.5, 0.25, 0.75])), [1.0, 0.5, 1.5])
    np.testing.assert_allclose(as_counts(np.array([1e3, 3e3])), [0.5, 1.5])


def test_chunks_have_weights_too():
    parts = nl.RobustSGDClassifier()
    whole = nl.RobustSGDClassifier()
    for rows in (slice(0, 25), slice(25, 50)):
        parts.partial_fit(X[rows], Y[rows], sample_weight=A[rows])
        whole.partial_fit(*repeated(X[rows], Y[rows], A[rows]))
    np.testing.assert_array_equal(decisions(parts), decisions(whole))
    with pytest.raises(ValueError, match=r'^class_weight: "balanced" needs all rows'):
        nl.PegasosClassifier(class_weight="balanced").partial_fit(X, Y)


def test_sparse_rows_are_weighted():
    for cls in (nl.RobustSGDClassifier, nl.LiblinearClassifier):
        dense = make(cls).fit(X, Y, sample_weight=A)
        sparse = make(cls).fit(csr_array(X), Y, sample_weight=A)
        np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9)


@pytest.mark.parametrize("weights", [None, A])
@pytest.mark.parametrize("cls", KERNEL_CLASSIFIERS)
def test_sparse_rows_are_the_dense_ones(cls, weights):
    rows = np.where(RNG.random(X.shape) < 0.5, X, 0.0)
    sparse_rows = csr_array(rows)
    options = {} if weights is None else {"sample_weight": weights}
    dense = make(cls).fit(rows, Y, **options)
    sparse = make(cls).fit(sparse_rows, Y, **options)
    wanted = dense.decision_function(rows)
    amplifies_rounding = cls is nl.RobustMultiKernelLogisticRegression  # as above
    tolerance = LOOSE[cls.name] if amplifies_rounding else 1e-6
    for model, form in ((sparse, sparse_rows), (sparse, rows), (dense, csr_matrix(rows))):
        f = model.decision_function(form)
        np.testing.assert_allclose(f, wanted, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("choice", ["uniform", "kmeans"])
def test_landmarks_of_sparse_rows(choice):
    is_stored = RNG.random((400, 3)) < 0.5
    values = RNG.standard_normal((400, 3)) + 2
    rows = np.where(is_stored, values, 0.0)
    y = (rows.sum(axis=1) > 3).astype(int)
    model = nl.NystromLogisticRegression(landmarks=60, choice=choice, random_state=0)
    sparse = model.fit(csr_array(rows), y).decision_function(rows)
    dense = model.fit(rows, y).decision_function(rows)
    np.testing.assert_allclose(sparse, dense, atol=1e-3 * np.abs(sparse).max())


def test_weights_are_routed():
    scale = StandardScaler().fit(X)
    scaled = scale.transform(X)
    with sklearn.config_context(enable_metadata_routing=True):
        for model in (nl.RobustLogisticRegression(), make(nl.AdaBoostClassifier)):
            weighted = model.set_fit_request(sample_weight=True)
            pipeline = make_pipeline(FunctionTransformer(scale.transform), weighted)
            routed = pipeline.fit(X, Y, sample_weight=A)
            direct = model.fit(scaled, Y, sample_weight=A)
            f = direct.decision_function(scaled)
            np.testing.assert_array_equal(routed.decision_function(X), f)


TRUSTING_MODELS = [nl.RBoostClassifier(rounds=5, random_state=0), nl.CorrectedClassifier()]


@pytest.mark.parametrize("model", TRUSTING_MODELS)
def test_trusted_labels_are_routed_with_their_rows(model):
    verified = np.where(np.arange(50) < 20, Y, np.nan)
    all_verified = np.where(Y >= 0, Y, 0)
    with sklearn.config_context(enable_metadata_routing=True):
        trusting = clone(model).set_fit_request(sample_trusted=True)
        pipeline = make_pipeline(FunctionTransformer(), trusting)
        routed = pipeline.fit(X, Y, sample_trusted=verified)
        params = {"sample_trusted": all_verified}
        errors = cross_val_score(trusting, X, Y, cv=3, params=params)
    assert len(errors) == 3  # every fold got its part
    if isinstance(model, nl.RBoostClassifier):
        trusted = (X[:20], Y[:20])
    else:
        trusted = verified
    direct = clone(model).fit(X, Y, trusted=trusted)
    np.testing.assert_array_equal(routed.predict_proba(X), direct.predict_proba(X))
    np.testing.assert_array_equal(routed[-1].flip_matrix_, direct.flip_matrix_)
    with pytest.raises(ValueError, match="trusted: one entry for each of the 50 rows"):
        model.fit(X, Y, sample_trusted=verified[1:])
    message = "^trusted and sample_trusted: both hold trusted labels; give one of the two$"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, trusted=trusted, sample_trusted=verified)


@pytest.mark.parametrize("model", TRUSTING_MODELS)
def test_a_mask_of_verified_rows_is_not_taken_for_their_labels(model):
    mask = np.arange(50) < 20
    message = r"^trusted: True is not a class of y, \[0, 1\]; give the label of each verified row"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, sample_trusted=mask)
    truth_values = Y == 1
    verified = np.where(mask, truth_values, None)
    assert model.fit(X, truth_values, sample_trusted=verified).classes_.tolist() == [False, True]


def test_trusted_labels_of_no_row_are_refused_where_they_are_calibrated_on():
    message = "^sample_trusted: no row has a trusted label; give some, or None$"
    with pytest.raises(ValueError, match=message):
        nl.RBoostClassifier().fit(X, Y, sample_trusted=[None] * 50)


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT], ids=str)
def test_every_gap_of_pandas_is_a_row_without_a_trusted_label(gap):
    rows, numbers = trusted_rows([gap, "yes", gap, "no"], np.array(["no", "yes"]), 4)
    assert rows.tolist() == [1, 3]
    assert numbers.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("model", "weights", "message"),
    [
        (
            nl.RobustLogisticRegression(class_weight={2: 1.0}),
            None,
            "class_weight: 2 is not a class of y, [0, 1]",
        ),
        (
            nl.RobustLogisticRegression(class_weight={0: -1}),
            None,
            "class_weight: must be a finite number >= 0",
        ),
        (
            nl.RobustSGDClassifier(class_weight={0: 0}),
            None,
            "class_weight leaves one class only: some",
        ),
        (
            nl.RobustSGDClassifier(class_weight="b"),
            None,
            'class_weight: must be None, "balanced" or a dict',
        ),
        (nl.RobustSGDClassifier(), Y, "sample_weight leaves one class only: some example of each"),
        (nl.RobustSGDClassifier(), -A, "sample_weight: value at index 0 is negative"),
        (nl.RobustSGDClassifier(), 0 * A, "sample_weight: the weights of all examples are zero"),
        (nl.RobustSGDClassifier(), A[:9], "sample_weight: expected shape (50), got (9,)"),
    ],
)
def test_what_is_wrong_is_said(model, weights, message):
    options = {} if weights is None else {"sample_weight": weights}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        model.fit(X, Y, **options)
