"""Flip rates, wrong labels and corrected errors are right where the truth is known."""

import numpy as np
import pytest
from cleanlab import count, rank
from cleanlab import filter as filtering
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import roc_auc_score

from noisylabels.auditing import finders, flip_rates
from noisylabels.auditing.cross_fitting import CrossFit, cross_fitted, drawn, folds_for
from noisylabels.auditing.flip_rates import balanced_error, corrected_error


def flip_matrix(K, rate):
    """Rows = true classes: ``rate`` to the next class; of three and more, a third of it to the one after."""
    parts = [rate] if K == 2 else [2 * rate / 3, rate / 3]
    shifts = [np.roll(np.eye(K), k, axis=1) for k in (1, 2)]
    return (1 - rate) * np.eye(K) + sum(part * shift for part, shift in zip(parts, shifts, strict=False))


def simulated(K, rate, n=4000, seed=0):
    """p of the observed labels, observed and true labels, Omega; most rows are certain of their class."""
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=n)
    sure = rng.random(n) < 0.8
    g = np.where(sure[:, None], np.eye(K)[true], rng.dirichlet(np.ones(K), n))
    true = (rng.random(n)[:, None] > np.cumsum(g, axis=1)[:, :-1]).sum(axis=1)
    omega = flip_matrix(K, rate)
    p = g @ omega
    y = (rng.random(n)[:, None] > np.cumsum(omega[true], axis=1)[:, :-1]).sum(axis=1)
    return p, y, true, omega


@pytest.mark.parametrize("K", [2, 3, 5])
def test_rates_are_recovered_where_classes_are_certain(K):
    p, y, true, omega = simulated(K, 0.2)
    chance = 3 * (omega * (1 - omega) / (len(y) / K)) ** 0.5  # three standard errors of a share
    off = ~np.eye(K, dtype=bool)
    overlap = 0.2 / K  # of the rows that are not certain, which the confident joint counts as flips in part
    assert (np.abs(flip_rates.from_joint(p, y) - omega)[off] < chance[off] + overlap).all()
    np.testing.assert_allclose(flip_rates.anchor(p, y), omega, atol=1e-9)
    np.testing.assert_allclose(flip_rates.surest(p, y).omega, omega, atol=4 * (0.16 / (800 / K)) ** 0.5)
    sure = p.max(axis=1) > 0.8 - 1e-9
    chance *= (len(y) / sure.sum()) ** 0.5
    assert (np.abs(flip_rates.from_joint(p[sure], y[sure]) - omega) <= chance + 1e-9).all()
    limit = flip_rates.surest(p[sure], y[sure]).limit
    assert flip_rates.wrong_share_of(limit, y[sure]) > np.mean((y != true)[sure])
    assert flip_rates.wrong_share_of(omega, y[sure]) == pytest.approx(0.2, abs=1e-9)


def test_without_an_anchor_the_confident_joint_takes_overlap_for_flips():
    rng = np.random.default_rng(0)
    g = rng.uniform(0.2, 0.8, 4000)
    p = np.column_stack([1 - g, g])
    y = (rng.random(4000) < g).astype(int)  # no label is flipped
    assert flip_rates.from_joint(p, y)[0, 1] > 0.2
    assert flip_rates.anchor(p, y)[0, 1] == pytest.approx(0.2, abs=0.02)  # at most so many are flips
    assert flip_rates.surest(p, y).omega[0, 1] == pytest.approx(0.26, abs=0.04)  # likewise, from labels


def test_trusted_labels_are_counted_with_exact_limits():
    observed = np.array([0] * 8 + [1] * 2 + [1] * 5)
    true = np.array([0] * 10 + [1] * 5)
    omega, low, high = flip_rates.counted(observed, true, 3)
    np.testing.assert_allclose(omega[:2], [[0.8, 0.2, 0], [0, 1, 0]])
    assert np.isnan(omega[2]).all()
    assert (low[2], high[2]) == (pytest.approx([0, 0, 0]), pytest.approx([1, 1, 1]))
    assert low[0, 1] == pytest.approx(0.0252, abs=1e-4)  # R: binom.test(2, 10)
    assert high[0, 1] == pytest.approx(0.5561, abs=1e-4)


def gaussians(n, apart, rng):
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + apart * y[:, None] / np.sqrt(2), y


def evidence(flips, seed):
    rng = np.random.default_rng(seed)
    X, y = gaussians(240, 3.0, rng)
    y = np.where(rng.random(len(y)) < flips, 1 - y, y)
    p = cross_fitted(X, y, LogisticRegression(), folds=5, repetitions=1, random_state=seed).mean
    return flip_rates.surest(p, y).evidence.any()


def test_flipped_labels_are_evidence_and_overlapping_classes_are_not():
    assert sum(evidence(0.0, seed) for seed in range(40)) <= 2
    assert sum(evidence(0.2, seed) for seed in range(10)) >= 9


def noisy(K, n=300, seed=0):
    rng = np.random.default_rng(seed)
    p, y, *_ = simulated(K, 0.25, n, seed)
    p = np.clip(p + rng.normal(0, 0.1, p.shape), 0.01, 1)
    return p / p.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("K", [2, 3, 6])
def test_the_joint_the_labels_found_and_the_ranking_are_those_of_cleanlab(K):
    p, y = noisy(K)
    C = count.compute_confident_joint(y, p, calibrate=False)
    np.testing.assert_array_equal(flip_rates.counts(p, y), C)
    Q = flip_rates.joint(p, y)
    theirs = count.estimate_joint(y, p, confident_joint=C)
    np.testing.assert_allclose(Q, theirs, atol=2.0 / len(y))  # they round to counts
    np.testing.assert_allclose(Q, (C.T / C.sum(axis=1) * np.bincount(y) / len(y)).T)
    np.testing.assert_allclose(flip_rates.flip_matrix(Q).sum(axis=1), 1.0)
    scores = rank.get_label_quality_scores(y, p, method="normalized_margin")
    np.testing.assert_allclose((flip_rates.margins(p, y) + 1) / 2, scores, atol=1e-12)
    if K == 2:
        ours = flip_rates.likely_wrong(p, y, Q)
        issues = filtering.find_label_issues(y, p, filter_by="prune_by_noise_rate", n_jobs=1)
        assert np.count_nonzero(ours != issues) <= 2  # they round the joint to whole labels
        assert ours.sum() > 20


def test_the_number_of_labels_found_is_that_of_the_joint():
    p, y = noisy(4, n=800)
    Q = flip_rates.joint(p, y)
    wrong = flip_rates.likely_wrong(p, y, Q)
    assert wrong.sum() <= round(len(y) * (1 - np.trace(Q))) + 8
    found = flip_rates.suggested(p, y)
    assert (found != y).all()
    assert flip_rates.margins(p, y)[wrong].mean() < flip_rates.margins(p, y)[~wrong].mean()


def test_other_names_of_the_classes_change_nothing_else():
    p, y = noisy(4)
    names = np.array([2, 0, 3, 1])  # old class -> new class
    q = np.empty_like(p)
    z = names[y]
    q[:, names] = p
    Q = flip_rates.joint(p, y)
    R = flip_rates.joint(q, z)
    np.testing.assert_allclose(R[np.ix_(names, names)], Q)
    np.testing.assert_allclose(flip_rates.anchor(q, z)[np.ix_(names, names)], flip_rates.anchor(p, y))
    np.testing.assert_allclose(flip_rates.margins(q, z), flip_rates.margins(p, y))
    np.testing.assert_array_equal(flip_rates.suggested(q, z), names[flip_rates.suggested(p, y)])
    np.testing.assert_array_equal(flip_rates.likely_wrong(q, z, R), flip_rates.likely_wrong(p, y, Q))


def test_cross_fitting_does_not_know_the_names_of_the_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int) + (X[:, 1] > 0.5)
    names = np.array([2, 0, 1])
    one = cross_fitted(X, y, LogisticRegression(), repetitions=2, most_rows=100)
    two = cross_fitted(X, names[y], LogisticRegression(), repetitions=2, most_rows=100)
    np.testing.assert_allclose(two.p[..., names], one.p, atol=1e-4)
    p = np.array([[[0.3, 0.7], [0.1 + 0.2, 0.7]]])
    assert (np.ptp(CrossFit(p, p, np.empty((1, 2, 2))).mean, axis=0) == 0).all()  # equal but for rounding


def test_a_constant_classifier_ranks_by_chance():
    rng = np.random.default_rng(0)
    aucs = []
    for seed in range(20):
        y = rng.integers(2, size=200)
        flipped = rng.random(200) < 0.3
        cross = cross_fitted(np.zeros((200, 1)), y, DummyClassifier(strategy="uniform"), random_state=seed)
        jitter = rng.uniform(-1e-9, 1e-9, 200)  # a constant ranks by nothing else
        aucs.append(roc_auc_score(flipped, jitter - flip_rates.margins(cross.mean, y)))
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.03)


def test_every_row_is_judged_by_models_that_did_not_see_it():
    class Memory(LogisticRegression):
        def fit(self, X, y):
            self.seen = {row.tobytes() for row in X}
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            assert not {row.tobytes() for row in X} & self.seen
            return np.full((len(X), 2), 0.5)

    X = np.random.default_rng(0).normal(size=(60, 2))
    cross_fitted(X, np.arange(60) % 2, Memory())


def test_folds_suit_the_number_of_rows_and_the_smallest_class():
    assert folds_for(np.arange(200) % 2) == 10
    assert folds_for(np.arange(400) % 2) == 5
    assert folds_for(np.array([0] * 90 + [1] * 6)) == 6
    for last, model, repetitions, message in (
        (0, LogisticRegression(), 1, "a class with a single row"),
        (1, LogisticRegression(), 0, "at least 1, got 0"),
        (1, Perceptron(), 1, r"Perceptron has no predict_proba; wrap it"),
    ):
        with pytest.raises(ValueError, match=message):
            cross_fitted(np.zeros((5, 1)), np.array([0, 0, 0, last, 1]), model, repetitions=repetitions)


def test_a_part_of_many_rows_keeps_the_shares_of_the_classes():
    y = np.array([0] * 900 + [1] * 97 + [2] * 3)
    rows = drawn(y, np.arange(1000), 100, np.random.default_rng(0))
    assert np.bincount(y[rows]).tolist() == [90, 10, 2]
    assert len(set(rows)) == len(rows)
    np.testing.assert_array_equal(drawn(y, np.arange(50), 100, np.random.default_rng(0)), np.arange(50))


def test_a_model_of_flips_gives_the_probabilities_of_observed_and_of_true_labels():
    from noisylabels import RobustLogisticRegression

    rng = np.random.default_rng(0)
    X, true = gaussians(400, 4.0, rng)
    y = np.where((true == 0) & (rng.random(400) < 0.4), 1, true)
    cross = cross_fitted(X, y, RobustLogisticRegression(lam=0.1), repetitions=1)
    omega = cross.omega[0]
    assert omega[0, 1] == pytest.approx(0.4, abs=0.1)
    assert np.mean(cross.predicted[0] == true) > 0.93
    assert cross.p.mean(axis=(0, 1))[1] == pytest.approx(np.mean(y), abs=0.03)  # p, not g
    three = np.where(X[:, 0] > 2.5, 2, y)
    several = cross_fitted(X, three, RobustLogisticRegression(lam=0.1), repetitions=1)
    np.testing.assert_allclose(several.p.sum(axis=2), 1.0)
    np.testing.assert_allclose(several.omega.sum(axis=2), 1.0)


@pytest.mark.parametrize("K", [2, 3])
def test_the_correction_is_unbiased_and_its_interval_covers(K):
    rng = np.random.default_rng(0)
    omega = flip_matrix(K, 0.25)
    errors = []
    covered = 0
    for _ in range(300):
        true = rng.integers(K, size=400)
        predicted = np.where(rng.random(400) < 0.1, rng.integers(K, size=400), true)
        y = (rng.random(400)[:, None] > np.cumsum(omega[true], axis=1)[:, :-1]).sum(axis=1)
        found = corrected_error(predicted, y, omega)
        truth = 0.1 * (K - 1) / K
        errors.append(found.error - truth)
        covered += found.low <= truth <= found.high
    assert abs(np.mean(errors)) < 3 * np.std(errors) / 300**0.5
    assert covered > 0.9 * 300


def test_with_two_classes_it_is_the_known_formula():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=50)
    predicted = rng.integers(2, size=50)
    rho = 0.1
    noisy_error = np.mean(y != predicted)
    omega = np.array([[1 - rho, rho], [rho, 1 - rho]])
    assert corrected_error(predicted, y, omega).error == pytest.approx((noisy_error - rho) / (1 - 2 * rho))


def test_it_is_clipped_and_says_so_or_refuses():
    y = np.array([0, 1] * 20)
    found = corrected_error(y, y, np.array([[0.8, 0.2], [0.2, 0.8]]))
    assert (found.error, found.clipped) == (0.0, True)
    with pytest.raises(ValueError, match=r"condition number 50, above 20: with flips this frequent"):
        corrected_error(y, y, np.array([[0.51, 0.49], [0.49, 0.51]]))


def test_the_balanced_error_orders_classifiers_as_on_true_labels():
    rng = np.random.default_rng(0)
    true = (rng.random(20_000) < 0.8).astype(int)
    y = np.where((true == 1) & (rng.random(20_000) < 0.4), 0, true)
    good, bad = (np.where(rng.random(20_000) < e, 1 - true, true) for e in (0.1, 0.2))
    assert balanced_error(good, y) < balanced_error(bad, y)
    assert balanced_error(np.zeros(20_000, int), y) == pytest.approx(0.5)


FINDERS = {
    "confident learning": finders.ConfidentLearning("logistic"),
    "self-confidence": finders.ConfidentLearning("logistic", "self_confidence"),
    "ensemble": finders.EnsembleFilter(),
    "partitioning": finders.IterativePartitioning(),
}


@pytest.mark.parametrize("finder", FINDERS.values(), ids=FINDERS)
def test_a_finder_finds_flips_of_separate_clouds_and_few_where_there_are_none(finder):
    rng = np.random.default_rng(0)
    true = np.arange(300) % 3
    X = rng.normal(size=(300, 2)) + 4 * np.column_stack([np.cos(2 * true), np.sin(2 * true)])
    flipped = rng.random(300) < 0.15
    y = np.where(flipped, (true + 1) % 3, true)
    found = finder.find(X, y, 1)
    first = np.argsort(-found.doubt, kind="stable")[: flipped.sum()]
    assert flipped[first].mean() > 0.8
    assert flipped[found.wrong].mean() > 0.75
    assert found.wrong[flipped].mean() > 0.75
    assert found.doubt[found.wrong].min() >= np.quantile(found.doubt, 0.7)
    np.testing.assert_array_equal(found.doubt, finder.find(X, y, 1).doubt)
    assert finder.find(X, true, 1).wrong.mean() < 0.05
