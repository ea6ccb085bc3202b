"""One row at a time, as river's models: the same as chunks, and usable where river's are."""

import numpy as np
import pandas as pd
import pytest
import river
from river import checks, evaluate, metrics, preprocessing
from sklearn.linear_model import SGDClassifier

from noisylabels import (
    EG,
    INLMS,
    NLMS,
    ORS,
    PNLMS,
    RLS,
    ZALMS,
    EGPlusMinus,
    GentleBoostClassifier,
    NormalizedPNormLMS,
    PegasosClassifier,
    PNormLMS,
    RobustSGDClassifier,
    StreamModel,
    to_river,
)
from noisylabels.filters.base import Filter

RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=["a", "b", "c"])
Y = X["a"] - 2 * X["c"]
SIDES = np.where(Y > 0, "yes", "no")
THREE_CLASSES = np.where(X["b"] > 1, "far", SIDES)
COLUMNS = ["b", "a", "c"]
STEADY = {"eta0": 0.1, "epoch_rows": 60, "schedule": "inv_sqrt_epoch"}


def rows(frame):
    """Make one dictionary a row, in reversed order: names decide, not positions."""
    return [dict(reversed(row.items())) for row in frame.to_dict("records")]


@pytest.mark.parametrize(
    ("model", "labels", "classes"),
    [
        (NLMS(), Y, None),
        (RobustSGDClassifier("log", **STEADY), SIDES, ["no", "yes"]),
        (RobustSGDClassifier("log", **STEADY), THREE_CLASSES, ["far", "no", "yes"]),
    ],
)
def test_rows_are_learned_as_one_table(model, labels, classes):
    row_by_row = StreamModel(model, classes)
    as_table = StreamModel(model, classes)
    as_table.learn_many(X[COLUMNS], labels)
    before = row_by_row.predict_one(rows(X)[0])
    assert before == (0.0 if classes is None else None)
    for x, y in zip(X[COLUMNS].to_dict("records"), labels, strict=True):
        row_by_row.learn_one(x, y)
    predictions = [row_by_row.predict_one(x) for x in rows(X)]
    assert predictions == [as_table.predict_one(x) for x in rows(X)]
    array = X[COLUMNS].to_numpy()
    options = {"classes": classes} if classes else {}
    model.partial_fit(array, labels, **options)
    wanted = model.predict(array).tolist()
    assert predictions == pytest.approx(wanted)
    if classes:
        p = row_by_row.predict_proba_one(rows(X)[0])
        assert list(p) == classes
        assert sum(p.values()) == pytest.approx(1)


def test_a_copy_learns_and_side_information_arrives():
    ors = ORS()
    model = StreamModel(ors)
    model.learn_one({"a": 1.0}, 2.0, v=0.5)
    assert model.predict_one({"a": 1.0}) != 0
    assert not hasattr(ors, "w")
    with pytest.raises(ValueError, match="needs the noise variance of every row; pass v="):
        model.learn_one({"a": 1.0}, 2.0)


RIVER_MODELS = [
    to_river(NLMS()),
    to_river(RLS(drift=1e-3)),
    to_river(EGPlusMinus()),
    pytest.param(to_river(RobustSGDClassifier("log"), [False, True]), marks=pytest.mark.nightly),
    pytest.param(to_river(PegasosClassifier(lam=0.1), [False, True]), marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("model", RIVER_MODELS, ids=lambda model: type(model.model).__name__)
def test_rivers_own_checks_pass(model):
    checks.check_estimator(model)


def test_river_evaluates_it_in_a_pipeline():
    for model, labels, measure, limit in (
        (to_river(NLMS(mu=0.5)), Y, metrics.MAE(), -1.0),
        (to_river(PegasosClassifier(lam=0.1), ["no", "yes"]), SIDES, metrics.Accuracy(), 0.7),
    ):
        pipeline = preprocessing.StandardScaler() | model.clone()
        assert isinstance(model, river.base.Estimator)
        stream = list(zip(rows(X), labels, strict=True))
        result = evaluate.progressive_val_score(stream, pipeline, measure).get()
        assert result * np.sign(limit) > limit


GROWING = [NLMS(), INLMS(), RLS(), RLS(drift=1e-3), ORS("one_pred_u"), ZALMS(), PNLMS()]
GROWING += [EGPlusMinus(), PNormLMS(p=2.5), NormalizedPNormLMS(p=2.5)]
CLASSIFIERS = [
    RobustSGDClassifier("log", **STEADY),
    RobustSGDClassifier("log", average="run", **STEADY),
    PegasosClassifier(lam=0.1),
]


@pytest.mark.parametrize("model", [*GROWING, *CLASSIFIERS], ids=lambda model: type(model).__name__)
def test_a_name_that_comes_later_was_zero_before(model):
    """A missing name counts as 0, so rows without it and rows with 0 in it teach the same."""
    is_filter = isinstance(model, Filter)
    labels = Y if is_filter else SIDES
    classes = None if is_filter else ["no", "yes"]
    full = StreamModel(model, classes)
    growing = StreamModel(model, classes)
    table = X[COLUMNS].to_dict("records")
    for t, (row, label) in enumerate(zip(table, labels, strict=True)):
        named_row = {"b": row["b"], "a": row["a"]} if t < 20 else row
        full_row = {"b": 0.0, "a": 0.0, "c": 0.0} | named_row
        full.learn_one(full_row, label)
        growing.learn_one(named_row, label)
    predictions = [growing.predict_one(x) for x in rows(X)]
    wanted = [full.predict_one(x) for x in rows(X)]
    if is_filter:
        wanted = pytest.approx(wanted, rel=1e-2, abs=1e-3)
    assert predictions == wanted


def test_eg_gives_a_new_name_the_mean_of_the_weights():
    model = StreamModel(EG())
    model.learn_one({"a": 1.0, "b": -1.0}, 1.0)
    model.learn_one({"c": 0.0}, 0.0)
    weights = model._learner.w
    assert weights[2] == pytest.approx(1 / 3)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 1 / 3 > weights[1]


def test_a_model_of_fixed_width_names_what_is_new():
    model = StreamModel(SGDClassifier(), ["no", "yes"])
    model.learn_one({"a": 1.0, "b": 2.0}, "no")
    model.learn_one({"a": 1.0}, "yes")
    with pytest.raises(
        ValueError, match=r"x: the names \['z'\] are new, and SGDClassifier cannot take further"
    ):
        model.learn_one({"a": 1.0, "z": 2.0}, "no")
    with pytest.raises(NotImplementedError, match="PegasosClassifier has no predict_proba"):
        StreamModel(PegasosClassifier(), ["no", "yes"]).predict_proba_one({"a": 1.0})


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: StreamModel(GentleBoostClassifier()),
            "model: GentleBoostClassifier has no partial_fit",
        ),
        (
            lambda: StreamModel(PegasosClassifier()),
            "classes: a classifier needs all classes beforehand",
        ),
        (
            lambda: learned().learn_one({"z": np.nan}, 1.0),
            "x: feature 'z' must be a finite number",
        ),
        (
            lambda: learned().predict_one({"a": "warm"}),
            "x: feature 'a' must be a finite number, got 'warm'",
        ),
    ],
)
def test_what_is_wrong_is_said(act, message):
    with pytest.raises(ValueError, match=message):
        act()


def learned():
    model = StreamModel(NLMS())
    model.learn_one({"a": 1.0}, 2.0)
    return model


@pytest.mark.parametrize("make", [StreamModel, to_river])
def test_a_class_in_place_of_a_model_is_refused(make):
    with pytest.raises(ValueError, match=r"model: NLMS is a class; give an instance: NLMS\(\)"):
        make(NLMS)


@pytest.mark.parametrize("value", [None, "wet", float("nan")])
def test_a_feature_that_is_not_a_number_is_named(value):
    model = StreamModel(NLMS())
    with pytest.raises(ValueError, match="x: feature 'rain' must be a finite number, got"):
        model.learn_one({"sun": 1.0, "rain": value}, 1.0)


def test_a_sparse_matrix_is_refused_with_the_remedy():
    from scipy.sparse import csr_matrix

    with pytest.raises(ValueError, match=r"X: is a sparse matrix; give X.toarray\(\)"):
        NLMS().fit(csr_matrix(np.eye(3)), [1.0, 2.0, 3.0])
