"""One row at a time, as river's models: the same as chunks, and usable where river's are."""

import numpy as np
import pandas as pd
import pytest

from noisylabels import NLMS, ORS, GentleBoostClassifier, PegasosClassifier, RobustSGDClassifier, StreamModel

RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=["a", "b", "c"])
Y = X["a"] - 2 * X["c"]
SIDES = np.where(Y > 0, "yes", "no")
STEADY = {"eta0": 0.1, "epoch_rows": 60, "schedule": "inv_sqrt_epoch"}


def rows(frame):
    return [dict(reversed(row.items())) for row in frame.to_dict("records")]  # names, not places, count


@pytest.mark.parametrize(
    ("model", "labels", "classes"),
    [
        (NLMS(), Y, None),
        (RobustSGDClassifier("log", **STEADY), SIDES, ["no", "yes"]),
        (RobustSGDClassifier("log", **STEADY), np.where(X["b"] > 1, "far", SIDES), ["far", "no", "yes"]),
    ],
)
def test_rows_are_learned_as_one_table(model, labels, classes):
    one, many = StreamModel(model, classes), StreamModel(model, classes)
    many.learn_many(X[["b", "a", "c"]], labels)
    before = one.predict_one(rows(X)[0])
    assert before == (0.0 if classes is None else None)
    for x, y in zip(X[["b", "a", "c"]].to_dict("records"), labels, strict=True):
        one.learn_one(x, y)
    assert [one.predict_one(x) for x in rows(X)] == [many.predict_one(x) for x in rows(X)]
    whole = model.partial_fit(
        X[["b", "a", "c"]].to_numpy(), labels, **({"classes": classes} if classes else {})
    )
    assert [one.predict_one(x) for x in rows(X)] == pytest.approx(
        whole.predict(X[["b", "a", "c"]].to_numpy()).tolist()
    )
    if classes:
        p = one.predict_proba_one(rows(X)[0])
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


def test_river_takes_it():
    river = pytest.importorskip("river")
    from river import evaluate, metrics, preprocessing

    from noisylabels import to_river

    for model, labels, measure, limit in (
        (to_river(NLMS(mu=0.5)), Y, metrics.MAE(), -1.0),
        (to_river(PegasosClassifier(lam=0.1), ["no", "yes"]), SIDES, metrics.Accuracy(), 0.7),
    ):
        piped = preprocessing.StandardScaler() | model.clone()
        assert isinstance(model, river.base.Estimator)
        found = evaluate.progressive_val_score(list(zip(rows(X), labels, strict=True)), piped, measure).get()
        assert found * np.sign(limit) > limit


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: StreamModel(GentleBoostClassifier()), "model: GentleBoostClassifier has no partial_fit"),
        (lambda: StreamModel(PegasosClassifier()), "classes: a classifier needs all classes beforehand"),
        (lambda: learned().predict_one({"z": 1.0}), r"x: has the names \['z'\], the filter \['a'\]"),
        (lambda: learned().learn_many(X, Y), r"X: has the columns \['a', 'b', 'c'\], learned were \['a'\]"),
    ],
)
def test_what_is_wrong_is_said(act, message):
    with pytest.raises(ValueError, match=message):
        act()


def learned():
    model = StreamModel(NLMS())
    model.learn_one({"a": 1.0}, 2.0)
    return model
