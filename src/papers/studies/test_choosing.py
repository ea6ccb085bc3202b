"""Each rule chooses what it says, among the same candidates, on rows that no fit has seen."""

from dataclasses import replace

import numpy as np
import pytest
from running import make_repetition, table, two_classes, typed

from noisylabels.kernels.gaussian import squared_distances
from reproduction.run.protocol_loop import noisy_labels
from reproduction.run.splits import Split
from studies.choosing import ANY, RULES, Candidate, Tried, score_candidates, try_candidates

SETTINGS = {
    "datasets": ["toy"],
    "noise": ["independent 0.3", "negative_only 0.3"],
    "widths": [-2, 2],
    "penalties": [-4, 0],
    "folds": 3,
    "trusted": 0.2,
    "methods": {"klr": {"method": "kernel_logistic"}, "rklr": {"method": "robust_kernel_logistic"}},
}
TOY = two_classes(n=200, train=120)


def tried_on(clean, flipped):
    """Make two candidates of a method: the first is right, the second knows the flipped labels."""
    candidates = [Candidate("klr", 4.0, 1.0), Candidate("klr", 1.0, 1.0)]
    predicted = np.array([clean, flipped]) > 0
    probability = np.where(predicted, 0.8, 0.2)
    trusted_wrong = np.array([0.0, 3.0])
    return Tried(candidates, predicted, probability, trusted_wrong, np.zeros(2))


def test_each_rule_has_its_own_judge():
    clean = np.tile([0, 1], 50).astype(np.int8)
    flipped = clean.copy()
    flipped[:30] = 1 - clean[:30]
    tried = tried_on(clean, flipped)
    scores, _ = score_candidates(tried, flipped.astype(int), clean, ["klr"])
    best = {rule: int(np.argmin(score)) for rule, score in scores.items()}
    assert list(best) == list(RULES)
    right = 0
    knows_flips = 1
    assert best["clean accuracy"] == right
    assert best["trusted accuracy"] == right
    assert best["noisy accuracy"] == knows_flips
    assert best["noisy likelihood"] == knows_flips


def test_accuracy_corrected_by_the_flip_rates_finds_the_classifier_that_is_right():
    """Flip 30 % of class 0; one classifier follows the flips of a region, the other does not."""
    rng = np.random.default_rng(0)
    clean = np.repeat([0, 1], 5000).astype(np.int8)
    by_coins = rng.random(10_000) < 0.3
    is_flipped = (clean == 0) & by_coins
    observed = np.where(is_flipped, 1, clean).astype(int)
    follows_flips = np.ones(10_000, dtype=np.int8)
    follows_flips[:2000] = 0
    p = np.where(clean == 1, 0.999, 0.3)
    tried = replace(
        tried_on(clean, follows_flips),
        probability=np.array([p, p]),
        trusted_wrong=np.zeros(2),
    )
    scores, omega = score_candidates(tried, observed, clean, ["klr"])
    assert omega[0, 1] == pytest.approx(0.3, abs=0.02)
    of_right, of_follower = scores["corrected accuracy"]
    assert of_right < of_follower


def test_candidates_of_other_methods_are_never_chosen():
    clean = np.tile([0, 1], 20).astype(np.int8)
    tried = tried_on(clean, clean)
    tried.candidates[0] = Candidate("rklr", 4.0, 1.0)
    scores, _ = score_candidates(tried, clean.astype(int), clean, ["klr"])
    for of_other_method, of_klr in scores.values():
        assert np.isinf(of_other_method)
        assert np.isfinite(of_klr)


def test_no_fit_has_seen_the_labels_that_it_is_judged_by():
    settings = typed("studies.choosing:choosing", SETTINGS)
    arrays = TOY.arrays
    split = Split.of(arrays, arrays["train"][0], arrays["test"][0])
    noisy = noisy_labels(split.clean, settings.noise, make_repetition())
    row = 7
    changed = noisy.copy()
    changed[row] = 1 - noisy[row]
    D = squared_distances(split.X)
    before, *_ = try_candidates(settings, D, split, noisy, make_repetition())
    after, *_ = try_candidates(settings, D, split, changed, make_repetition())
    np.testing.assert_array_equal(before.probability[:, row], after.probability[:, row])
    assert (before.probability != after.probability).any()


def test_every_rule_and_method_has_an_error_and_either_of_both_is_one_of_them():
    frame = table("studies.choosing:choosing", SETTINGS, TOY)
    errors = frame[frame["metric"] == "error"]
    assert len(errors) == 2 * 2 * len(RULES) * 3
    keys = ["repetition", "noise", "setting"]
    wide = errors.pivot(index=keys, columns="method", values="value")
    is_of_klr = wide[ANY] == wide["klr"]
    is_of_rklr = wide[ANY] == wide["rklr"]
    assert (is_of_klr | is_of_rklr).all()
    assert frame.equals(table("studies.choosing:choosing", SETTINGS, TOY))


def test_a_method_without_a_fit_of_many_is_refused():
    methods = {"svc": {"method": "sklearn.svm:SVC"}}
    with pytest.raises(ValueError, match="fit_many"):
        typed("studies.choosing:choosing", SETTINGS | {"methods": methods})
