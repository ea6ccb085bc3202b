"""The study of the audit: the same rows, flips and folds for all methods, and figures that are right."""

from types import SimpleNamespace

import numpy as np
import pytest

from noisylabels.noise.crowd import simulate
from noisylabels.seeding import Seeds
from reproduction.protocols.audit import finding_errors, finding_flips, flip_rates
from reproduction.protocols.audit.cross_fits import audited

ROBUST = {"method": "robust_logistic", "parameters": {"lam": 0.5}}
PLAIN = {"method": "sklearn.linear_model:LogisticRegression"}
SEEDS = Seeds(1, "audit")


def clouds(n=160, apart=4.0):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1, -1).astype(np.int8)
    return {
        "clouds": SimpleNamespace(
            id="clouds", variant="v", arrays={"X": rng.normal(y[:, None] * apart / 2, 1, (n, 2)), "y": y}
        )
    }


def settings(**changes):
    own = {
        "datasets": ["clouds"],
        "noise": ["independent 0.2", "negative_only 0.4"],
        "splits": {"test": 0.2, "stratified": True},
        "cross_fits": 1,
        "folds": 5,
        "methods": {"rlr": ROBUST, "logistic": PLAIN},
    }
    return own | changes


def values(rows, **where):
    return [row["value"] for row in rows if all(row[key] == value for key, value in where.items())]


def test_every_method_sees_the_same_rows_flips_and_folds():
    found = list(audited(settings(methods={"one": PLAIN, "two": PLAIN}), clouds(), SEEDS, range(2)))
    assert len(found) == 2 * 2 * 2
    for one, two in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_array_equal(one.observed, two.observed)
        np.testing.assert_array_equal(one.cross.p, two.cross.p)
    assert (found[0].observed != found[4].observed).any()


def test_flips_of_separate_clouds_are_found():
    rows = finding_flips.run(settings(), clouds(), SEEDS, range(2), {})
    assert min(values(rows, metric="average_precision", noise="independent 0.2")) > 0.9
    assert min(values(rows, metric="precision", noise="independent 0.2")) > 0.8
    assert np.mean(values(rows, metric="flipped", noise="negative_only 0.4")) == pytest.approx(0.2, abs=0.06)
    assert rows == finding_flips.run(settings(), clouds(), SEEDS, range(2), {})


def test_the_scores_are_those_of_the_labels_found():
    wrong, flipped = np.array([1, 1, 1, 0, 0]) > 0, np.array([1, 1, 0, 1, 0]) > 0
    found = finding_flips.scores(wrong, np.array([5, 4, 3, 2, 1]), flipped)
    assert found["precision"] == found["recall"] == found["f1"] == pytest.approx(2 / 3)
    assert found["average_precision"] == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert finding_flips.scores(~flipped & wrong, np.arange(5.0), flipped & ~flipped) == {
        "found": 0.2,
        "flipped": 0.0,
    }
    assert finding_flips.scores(wrong & ~wrong, np.arange(5.0), flipped)["precision"] == 0


def test_rates_of_separate_clouds_are_right_by_every_estimate():
    rows = flip_rates.run(settings(methods={"rlr": ROBUST}), clouds(1500, 6.0), SEEDS, range(2), {})
    assert {row["setting"] for row in rows} == {
        "own",
        "cross-fitted",
        "confident joint",
        "anchor",
        "surest rows",
    }
    for row in rows:
        if row["metric"] in ("bias", "absolute_error"):
            assert abs(row["value"]) < 0.1, row
    assert np.mean(values(rows, metric="omega01", noise="negative_only 0.4")) == pytest.approx(0.4, abs=0.08)
    assert np.mean(values(rows, metric="omega10", noise="negative_only 0.4")) < 0.08


def test_a_model_without_flip_matrix_has_no_own_estimate():
    rows = flip_rates.run(settings(methods={"logistic": PLAIN}), clouds(), SEEDS, range(1), {})
    assert {row["setting"] for row in rows} == {"confident joint", "anchor", "surest rows"}


def crowd():
    own = clouds()["clouds"]
    made = simulate(own.arrays["y"], np.random.default_rng(1), workers=20, per_item=5)
    own.arrays |= {"item": made.item, "worker": made.worker, "response": made.response}
    return {"clouds": own}


def of_people(**changes):
    return settings(share=0.8, annotators=[1, 5], **changes)


def test_wrong_votes_of_a_crowd_are_found_and_more_votes_are_wrong_less_often():
    rows = finding_errors.run(of_people(), crowd(), SEEDS, range(3), {})
    assert min(values(rows, metric="average_precision", noise="vote of 1")) > 0.8
    one, five = (np.mean(values(rows, metric="flipped", noise=f"vote of {m}")) for m in (1, 5))
    assert five < one - 0.1
    assert rows == finding_errors.run(of_people(), crowd(), SEEDS, range(3), {})


def test_labels_that_come_with_a_set_are_taken_as_they_are():
    data = clouds()
    arrays = data["clouds"].arrays
    arrays["y_noisy"] = np.where(np.arange(len(arrays["y"])) % 7 == 0, -1, arrays["y"])
    labels = dict(finding_errors.observed(arrays, [1], SEEDS, 0))
    np.testing.assert_array_equal(labels["as they come"], arrays["y_noisy"] > 0)
    rows = finding_errors.run(of_people(), data, SEEDS, range(1), {})
    assert values(rows, metric="flipped") == pytest.approx([1 / 14] * 2, abs=0.02)


def test_a_set_without_labels_of_people_is_refused():
    with pytest.raises(ValueError, match=r"settings\.datasets: a data set with labels by people"):
        finding_errors.run(of_people(), clouds(), SEEDS, range(1), {})
