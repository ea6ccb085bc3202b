"""Flip rates, wrong labels and corrected errors are right where the truth is known."""

import numpy as np
import pytest
from cleanlab import count, rank
from cleanlab import filter as filtering
from numpy.testing import assert_allclose, assert_array_equal
from problems import draw_classes
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import roc_auc_score

from noisylabels.auditing import finders, flip_rates
from noisylabels.auditing.cross_fitting import CrossFit, cross_fitted, drawn, folds_for
from noisylabels.auditing.flip_rates import balanced_error, corrected_error


def flip_matrix(K, rate):
    """Rows = true classes: ``rate`` to the next class; of three, a third of it to the second."""
    identity = np.eye(K)
    to_next = np.roll(identity, 1, axis=1)
    if K == 2:
        return (1 - rate) * identity + rate * to_next
    to_second = np.roll(identity, 2, axis=1)
    return (1 - rate) * identity + 2 * rate / 3 * to_next + rate / 3 * to_second


def simulated(K, rate, n=4000, seed=0):
    """p of the observed labels, observed and true labels, Omega; most rows are certain."""
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=n)
    is_certain = rng.random(n) < 0.8
    certain = np.eye(K)[true]
    uncertain = rng.dirichlet(np.ones(K), n)
    g = np.where(is_certain[:, None], certain, uncertain)
    true = draw_classes(rng, g)
    omega = flip_matrix(K, rate)
    y = draw_classes(rng, omega[true])
    return g @ omega, y, true, omega


@pytest.mark.parametrize("K", [2, 3, 5])
def test_rates_are_recovered_where_classes_are_certain(K):
    p, y, true, omega = simulated(K, 0.2)
    rows_of_class = len(y) / K
    standard_error_of_share = (omega * (1 - omega) / rows_of_class) ** 0.5
    chance = 3 * standard_error_of_share
    # of the rows that are not certain, which the confident joint counts as flips in part
    overlap = 0.2 / K
    error = np.abs(flip_rates.from_joint(p, y) - omega)
    off_diagonal = ~np.eye(K, dtype=bool)
    assert (error < chance + overlap)[off_diagonal].all()
    assert_allclose(flip_rates.anchor(p, y), omega, atol=1e-9)
    standard_error = (0.16 / (800 / K)) ** 0.5
    assert_allclose(flip_rates.surest(p, y).omega, omega, atol=4 * standard_error)
    is_certain = p.max(axis=1) > 0.8 - 1e-9
    p_certain = p[is_certain]
    y_certain = y[is_certain]
    chance *= (len(y) / len(y_certain)) ** 0.5
    error = np.abs(flip_rates.from_joint(p_certain, y_certain) - omega)
    assert (error <= chance + 1e-9).all()
    limit = flip_rates.surest(p_certain, y_certain).limit
    wrong_share = np.mean(y_certain != true[is_certain])
    assert flip_rates.wrong_share_of(limit, y_certain) > wrong_share
    assert flip_rates.wrong_share_of(omega, y_certain) == pytest.approx(0.2, abs=1e-9)


def test_without_an_anchor_the_confident_joint_takes_overlap_for_flips():
    rng = np.random.default_rng(0)
    g = rng.uniform(0.2, 0.8, 4000)
    p = np.column_stack([1 - g, g])
    y = (rng.random(4000) < g).astype(int)  # no label is flipped
    by_joint = flip_rates.from_joint(p, y)
    assert by_joint[0, 1] > 0.2
    by_anchor = flip_rates.anchor(p, y)
    assert by_anchor[0, 1] == pytest.approx(0.2, abs=0.02)  # at most so many are flips
    by_labels = flip_rates.surest(p, y).omega
    assert by_labels[0, 1] == pytest.approx(0.26, abs=0.04)  # likewise, from labels


def test_trusted_labels_are_counted_with_exact_limits():
    true = np.repeat([0, 1], [10, 5])
    observed = np.repeat([0, 1], [8, 7])
    omega, low, high = flip_rates.counted(observed, true, 3)
    assert_allclose(omega[:2], [[0.8, 0.2, 0], [0, 1, 0]])
    assert np.isnan(omega[2]).all()
    assert low[2] == pytest.approx([0, 0, 0])
    assert high[2] == pytest.approx([1, 1, 1])
    assert low[0, 1] == pytest.approx(0.0252, abs=1e-4)  # R: binom.test(2, 10)
    assert high[0, 1] == pytest.approx(0.5561, abs=1e-4)


def flip(y, is_flipped, classes=2):
    """Give the next class to the rows that are flipped."""
    return np.where(is_flipped, (y + 1) % classes, y)


def gaussians(n, distance, rng):
    y = np.arange(n) % 2
    centres = distance * y[:, None] / np.sqrt(2)
    return rng.normal(size=(n, 2)) + centres, y


def evidence(flips, seed):
    rng = np.random.default_rng(seed)
    X, true = gaussians(240, 3.0, rng)
    y = flip(true, rng.random(240) < flips)
    options = {"folds": 5, "repetitions": 1, "random_state": seed}
    p = cross_fitted(X, y, LogisticRegression(), **options).mean
    return flip_rates.surest(p, y).evidence.any()


def test_flipped_labels_are_evidence_and_overlapping_classes_are_not():
    assert sum(evidence(0.0, seed) for seed in range(40)) <= 2
    assert sum(evidence(0.2, seed) for seed in range(10)) >= 9


def noisy(K, n=300, seed=0):
    rng = np.random.default_rng(seed)
    p, y, *_ = simulated(K, 0.25, n, seed)
    noise = rng.normal(0, 0.1, p.shape)
    p = np.clip(p + noise, 0.01, 1)
    return p / p.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("K", [2, 3, 6])
def test_the_joint_the_labels_found_and_the_ranking_are_those_of_cleanlab(K):
    p, y = noisy(K)
    C = count.compute_confident_joint(y, p, calibrate=False)
    assert_array_equal(flip_rates.counts(p, y), C)
    Q = flip_rates.joint(p, y)
    theirs = count.estimate_joint(y, p, confident_joint=C)
    assert_allclose(Q, theirs, atol=2.0 / len(y))  # they round to counts
    shares = np.bincount(y) / len(y)
    calibrated = C.T / C.sum(axis=1) * shares
    assert_allclose(Q, calibrated.T)
    omega = flip_rates.flip_matrix(Q)
    assert_allclose(omega.sum(axis=1), 1.0)
    scores = rank.get_label_quality_scores(y, p, method="normalized_margin")
    our_scores = (flip_rates.margins(p, y) + 1) / 2
    assert_allclose(our_scores, scores, atol=1e-12)
    if K == 2:
        ours = flip_rates.likely_wrong(p, y, Q)
        issues = filtering.find_label_issues(y, p, filter_by="prune_by_noise_rate", n_jobs=1)
        assert np.count_nonzero(ours != issues) <= 2  # they round the joint to whole labels
        assert ours.sum() > 20


def test_the_number_of_labels_found_is_that_of_the_joint():
    p, y = noisy(4, n=800)
    Q = flip_rates.joint(p, y)
    is_wrong = flip_rates.likely_wrong(p, y, Q)
    expected = round(len(y) * (1 - np.trace(Q)))
    assert is_wrong.sum() <= expected + 8
    assert (flip_rates.suggested(p, y) != y).all()
    margins = flip_rates.margins(p, y)
    assert margins[is_wrong].mean() < margins[~is_wrong].mean()


def test_other_names_of_the_classes_change_nothing_else():
    p, y = noisy(4)
    names = np.array([2, 0, 3, 1])  # old class -> new class
    z = names[y]
    q = np.empty_like(p)
    q[:, names] = p
    Q = flip_rates.joint(p, y)
    R = flip_rates.joint(q, z)
    renamed = np.ix_(names, names)
    assert_allclose(R[renamed], Q)
    anchor = flip_rates.anchor(q, z)
    assert_allclose(anchor[renamed], flip_rates.anchor(p, y))
    assert_allclose(flip_rates.margins(q, z), flip_rates.margins(p, y))
    suggested = flip_rates.suggested(p, y)
    assert_array_equal(flip_rates.suggested(q, z), names[suggested])
    is_wrong = flip_rates.likely_wrong(p, y, Q)
    assert_array_equal(flip_rates.likely_wrong(q, z, R), is_wrong)


def test_cross_fitting_does_not_know_the_names_of_the_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    noisy_target = X[:, 0] + rng.normal(size=200)
    is_positive = noisy_target > 0
    y = is_positive.astype(int) + (X[:, 1] > 0.5)
    names = np.array([2, 0, 1])
    options = {"repetitions": 2, "most_rows": 100}
    plain = cross_fitted(X, y, LogisticRegression(), **options)
    renamed = cross_fitted(X, names[y], LogisticRegression(), **options)
    assert_allclose(renamed.p[..., names], plain.p, atol=1e-4)
    p = np.array([[[0.3, 0.7], [0.1 + 0.2, 0.7]]])
    mean = CrossFit(p, p, np.empty((1, 2, 2))).mean
    spread = np.ptp(mean, axis=0)
    assert (spread == 0).all()  # equal but for rounding


def test_a_constant_classifier_ranks_by_chance():
    rng = np.random.default_rng(0)
    constant = DummyClassifier(strategy="uniform")
    aucs = []
    for seed in range(20):
        y = rng.integers(2, size=200)
        is_flipped = rng.random(200) < 0.3
        cross = cross_fitted(np.zeros((200, 1)), y, constant, random_state=seed)
        jitter = rng.uniform(-1e-9, 1e-9, 200)  # a constant ranks by nothing else
        score = jitter - flip_rates.margins(cross.mean, y)
        aucs.append(roc_auc_score(is_flipped, score))
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.03)


def test_every_row_is_judged_by_models_that_did_not_see_it():
    class Memory(LogisticRegression):
        def fit(self, X, y):
            self.rows_of_fit = {row.tobytes() for row in X}
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            rows = {row.tobytes() for row in X}
            assert not rows & self.rows_of_fit
            return np.full((len(X), 2), 0.5)

    X = np.random.default_rng(0).normal(size=(60, 2))
    cross_fitted(X, np.arange(60) % 2, Memory())


def test_folds_suit_the_number_of_rows_and_the_smallest_class():
    assert folds_for(np.arange(200) % 2) == 10
    assert folds_for(np.arange(400) % 2) == 5
    assert folds_for(np.array([0] * 90 + [1] * 6)) == 6
    for fourth, model, repetitions, message in (
        (0, LogisticRegression(), 1, "a class with a single row"),
        (1, LogisticRegression(), 0, "at least 1, got 0"),
        (1, Perceptron(), 1, r"Perceptron has no predict_proba; wrap it"),
    ):
        y = np.array([0, 0, 0, fourth, 1])
        with pytest.raises(ValueError, match=message):
            cross_fitted(np.zeros((5, 1)), y, model, repetitions=repetitions)


def test_a_part_of_many_rows_keeps_the_shares_of_the_classes():
    y = np.repeat([0, 1, 2], [900, 97, 3])
    rows = drawn(y, np.arange(1000), 100, np.random.default_rng(0))
    assert np.bincount(y[rows]).tolist() == [90, 10, 2]
    assert len(set(rows)) == len(rows)
    few_rows = np.arange(50)
    all_drawn = drawn(y, few_rows, 100, np.random.default_rng(0))
    assert_array_equal(all_drawn, few_rows)


def test_a_model_of_flips_gives_the_probabilities_of_observed_and_of_true_labels():
    from noisylabels import RobustLogisticRegression

    rng = np.random.default_rng(0)
    X, true = gaussians(400, 4.0, rng)
    is_flipped = (true == 0) & (rng.random(400) < 0.4)
    y = flip(true, is_flipped)
    model = RobustLogisticRegression(lam=0.1)
    cross = cross_fitted(X, y, model, repetitions=1)
    (omega,) = cross.omega
    assert omega[0, 1] == pytest.approx(0.4, abs=0.1)
    is_right = cross.predicted[0] == true
    assert is_right.mean() > 0.93
    share_of_ones = cross.p[..., 1].mean()
    assert share_of_ones == pytest.approx(np.mean(y), abs=0.03)  # p, not g
    three_classes = np.where(X[:, 0] > 2.5, 2, y)
    several = cross_fitted(X, three_classes, model, repetitions=1)
    assert_allclose(several.p.sum(axis=2), 1.0)
    assert_allclose(several.omega.sum(axis=2), 1.0)


@pytest.mark.parametrize("K", [2, 3])
def test_the_correction_is_unbiased_and_its_interval_covers(K):
    rng = np.random.default_rng(0)
    omega = flip_matrix(K, 0.25)
    truth = 0.1 * (K - 1) / K
    errors = []
    covered = 0
    for _ in range(300):
        true = rng.integers(K, size=400)
        is_guessed = rng.random(400) < 0.1
        guesses = rng.integers(K, size=400)
        predicted = np.where(is_guessed, guesses, true)
        y = draw_classes(rng, omega[true])
        estimate = corrected_error(predicted, y, omega)
        errors.append(estimate.error - truth)
        covered += estimate.low <= truth <= estimate.high
    standard_error = np.std(errors) / 300**0.5
    assert abs(np.mean(errors)) < 3 * standard_error
    assert covered > 0.9 * 300


def test_with_two_classes_it_is_the_known_formula():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=50)
    predicted = rng.integers(2, size=50)
    rho = 0.1
    estimate = corrected_error(predicted, y, flip_matrix(2, rho))
    noisy_error = np.mean(y != predicted)
    formula = (noisy_error - rho) / (1 - 2 * rho)
    assert estimate.error == pytest.approx(formula)


def test_it_is_clipped_and_says_so_or_refuses():
    y = np.array([0, 1] * 20)
    estimate = corrected_error(y, y, flip_matrix(2, 0.2))
    assert estimate.error == 0.0
    assert estimate.clipped
    nearly_singular = flip_matrix(2, 0.49)
    message = r"condition number 50, above 20: with flips this frequent"
    with pytest.raises(ValueError, match=message):
        corrected_error(y, y, nearly_singular)


def test_the_balanced_error_orders_classifiers_as_on_true_labels():
    rng = np.random.default_rng(0)
    n = 20_000
    true = (rng.random(n) < 0.8).astype(int)
    is_flipped = (true == 1) & (rng.random(n) < 0.4)
    y = flip(true, is_flipped)
    good = flip(true, rng.random(n) < 0.1)
    bad = flip(true, rng.random(n) < 0.2)
    assert balanced_error(good, y) < balanced_error(bad, y)
    constant = np.zeros(n, int)
    assert balanced_error(constant, y) == pytest.approx(0.5)


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
    centres = 4 * np.column_stack([np.cos(2 * true), np.sin(2 * true)])
    X = rng.normal(size=(300, 2)) + centres
    is_flipped = rng.random(300) < 0.15
    y = flip(true, is_flipped, classes=3)
    result = finder.find(X, y, 1)
    by_doubt = np.argsort(-result.doubt, kind="stable")
    most_doubted = by_doubt[: is_flipped.sum()]
    assert is_flipped[most_doubted].mean() > 0.8
    assert is_flipped[result.wrong].mean() > 0.75
    assert result.wrong[is_flipped].mean() > 0.75
    lowest_doubt = result.doubt[result.wrong].min()
    assert lowest_doubt >= np.quantile(result.doubt, 0.7)
    repeated = finder.find(X, y, 1)
    assert_array_equal(result.doubt, repeated.doubt)
    without_flips = finder.find(X, true, 1)
    assert without_flips.wrong.mean() < 0.05
