"""Label flips: exact rates, classes they hit, mistakes in their labels; a crowd; flip matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisylabels.noise import flip_matrix
from noisylabels.noise.flip_models import corrupt
from noisylabels.noise.simulated_crowd import simulate, subset
from noisylabels.solvers.flipped_logistic import likelihood

Y = np.where(np.arange(1000) % 4 == 0, 1, -1).astype(np.int8)


def changed(label, seed=0, **options):
    noisy = corrupt(Y, label, np.random.default_rng(seed), **options)
    assert noisy.dtype == Y.dtype
    return noisy != Y


COUNTS_OF_RATES = [(0, 0), (0.2, 200), (0.6, 600), (1, 1000), (0.0004, 0)]


@pytest.mark.parametrize(("rate", "count"), COUNTS_OF_RATES)
def test_symmetric_flips_an_exact_number(rate, count):
    assert changed(f"symmetric {rate}").sum() == count


def test_noise_leaves_its_input_alone_and_follows_its_seed():
    before = Y.copy()
    first = changed("symmetric 0.3", 1)
    repeated = changed("symmetric 0.3", 1)
    of_another_seed = changed("symmetric 0.3", 2)
    assert (before == Y).all()
    assert (first == repeated).all()
    assert (first != of_another_seed).any()


def test_class_conditional_rates_and_far_outliers():
    flipped = changed("class_conditional 0.4 0.1")
    assert flipped[Y == 1].sum() == 100
    assert flipped[Y == -1].sum() == 75
    f = np.random.default_rng(0).standard_normal(1000)
    flipped = changed("far_outliers 0.1", f=f)
    assert flipped.sum() == 100
    distances = np.abs(f)
    assert distances[flipped].min() > distances[~flipped].max()


@pytest.mark.parametrize(
    ("model", "positive", "negative"),
    [("independent", 0.3, 0.3), ("negative_only", 0.0, 0.3), ("positive_only", 0.3, 0.0)],
)
def test_coins_flip_a_binomial_number_of_each_class(model, positive, negative):
    drawn = np.array([changed(f"{model} 0.3", seed) for seed in range(400)])
    counts_of_positive = drawn[:, Y == 1].sum(axis=1)
    counts_of_negative = drawn[:, Y == -1].sum(axis=1)
    for counts, n, rate in (
        (counts_of_positive, 250, positive),
        (counts_of_negative, 750, negative),
    ):
        spread = np.sqrt(n * rate * (1 - rate))
        assert counts.mean() == pytest.approx(n * rate, abs=4 * spread / 20)
        assert counts.std() == pytest.approx(spread, rel=0.15)  # an exact number would have none
    if positive == negative:
        correlation = np.corrcoef(counts_of_positive, counts_of_negative)[0, 1]
        assert abs(correlation) < 0.2


def test_coins_are_tossed_anew_while_one_class_is_left():
    two_labels = np.array([1, -1], dtype=np.int8)
    for seed in range(50):  # half of the first draws have one class
        noisy = corrupt(two_labels, "independent 0.4", np.random.default_rng(seed))
        assert len(np.unique(noisy)) == 2
    one_class = np.ones(5, dtype=np.int8)
    message = r"5 labels of which 5 are \+1 were of one class .* lower the rate"
    with pytest.raises(ValueError, match=message):
        corrupt(one_class, "negative_only 0.4", np.random.default_rng(0))


MEAN_RATES = [
    ("compound 0.2 1", 0.4 / 2),
    ("compound 0.2 2", (1 - 0.6**2) / 2),
    ("compound 0.2 3", (1 - 0.6**3) / 2),
    ("uniform 0.4", 0.2),
]


@pytest.mark.parametrize(("label", "expected"), MEAN_RATES)
def test_the_mean_rate_of_compound_and_uniform_noise(label, expected):
    rates = [changed(label, seed).mean() for seed in range(40)]
    assert np.mean(rates) == pytest.approx(expected, abs=0.006)


# A simulated crowd


def crowd(n=300, **settings):
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], n).astype(np.int8)
    settings = {"workers": 40, "per_item": 5} | settings
    return y, simulate(y, rng, **settings)


def test_every_item_goes_to_different_workers_who_are_as_right_as_they_say():
    y, labels = crowd(n=4000, spammers=0.1)
    pairs = set(zip(labels.item.tolist(), labels.worker.tolist(), strict=True))
    assert len(pairs) == 4000 * 5
    assert (np.bincount(labels.item) == 5).all()
    assert np.count_nonzero(labels.accuracy == 0.5) == 4  # who toss coins
    is_right = labels.response == y[labels.item]
    sizes = np.bincount(labels.worker)
    shares = np.bincount(labels.worker, is_right) / sizes
    standard_errors = np.sqrt(labels.accuracy * (1 - labels.accuracy) / sizes)
    z = (shares - labels.accuracy) / standard_errors
    assert np.abs(z).max() < 4.5


def test_more_labels_per_item_contain_the_fewer():
    _, labels = crowd()
    chosen = []
    for m in (1, 2, 5, 9):
        rows = subset(labels.item, m, np.random.default_rng(5))
        chosen.append(set(rows.tolist()))
    assert chosen[0] < chosen[1] < chosen[2] == chosen[3]
    assert [len(rows) for rows in chosen] == [300, 600, 1500, 1500]
    labels_per_item = np.bincount(labels.item[list(chosen[1])])
    assert labels_per_item.tolist() == [2] * 300


# Mistakes


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("asymmetric 0.2", "unknown model 'asymmetric'; known: symmetric, compound"),
        ("symmetric", "symmetric takes rate, got 0 numbers"),
        ("symmetric 0.2 0.3", "symmetric takes rate, got 2 numbers"),
        ("symmetric half", "could not convert string to float"),
        ("symmetric 1.2", "rate: must be a finite number >= 0 and <= 1, got 1.2"),
        ("class_conditional 0.1 -1", "negative: must be a finite number >= 0"),
        ("independent 0.5", "rate: must be a finite number >= 0 and < 0.5, got 0.5"),
        ("negative_only 1", "rate: must be a finite number >= 0 and < 1, got 1"),
        ("compound 0.2 0", "times: must be a whole number >= 1, got 0"),
    ],
)
def test_mistakes_are_named(label, message):
    with pytest.raises(ValueError, match=message):
        changed(label)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda rng: corrupt(Y > 0, "symmetric 0.1", rng),
            r"labels must be -1 or \+1, got \[False, True\]",
        ),
        (lambda rng: simulate(Y * 0, rng), r"labels must be -1 or \+1, got \[0\]"),
        (lambda rng: crowd(per_item=41), "per_item: must be a whole number >= 1 and <= 40"),
        (lambda rng: crowd(spammers=1.5), "spammers: must be"),
        (lambda rng: subset(np.zeros(2, np.int32), 0, rng), "m: must be"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))


OMEGAS = [
    flip_matrix.START,
    flip_matrix.from_rates(0.3, 0.05),
    flip_matrix.from_rates(0.0, 0.4),
    np.eye(2),
]


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    f = 4 * rng.standard_normal(n)
    labels = (rng.random(n) < 0.4).astype(float)
    return f, labels


def plain(f, labels, omega):
    sigma = 1 / (1 + np.exp(-f))
    k = labels.astype(int)
    p = omega[0, k] * (1 - sigma) + omega[1, k] * sigma
    return p, omega[1, k] * sigma / p, sigma


@pytest.mark.parametrize("omega", OMEGAS)
def test_likelihood_and_posterior_are_their_formulas(omega):
    f, labels = draw()
    p, q, _ = plain(f, labels, omega)
    log_likelihood = flip_matrix.log_likelihood(f, labels, omega)
    assert_allclose(log_likelihood, np.log(p), rtol=1e-9)
    assert_allclose(flip_matrix.posterior(f, labels, omega), q, rtol=1e-9)
    if not np.array_equal(omega, np.eye(2)):  # extreme decision values stay finite
        extreme = np.repeat([-800.0, 800.0], 2)
        q = flip_matrix.posterior(extreme, np.array([0.0, 1.0, 0.0, 1.0]), omega)
        assert ((q >= 0) & (q <= 1)).all()


@pytest.mark.parametrize("omega", OMEGAS)
def test_the_compiled_likelihood_has_its_formulas(omega):
    f, labels = draw()
    step = np.full(len(f), 0.5)
    slope = np.empty(len(f))
    rates = (omega[0, 1], omega[1, 0])
    value, by_omega01, by_omega10 = likelihood(f, step, 2.0, labels, *rates, slope)
    p, q, sigma = plain(f + 1.0, labels, omega)
    sign = 2 * labels - 1
    assert value == pytest.approx(np.log(p).sum(), rel=1e-12)
    assert_allclose(slope, q - sigma, atol=1e-13)
    assert by_omega01 == pytest.approx((sign * (1 - sigma) / p).sum(), rel=1e-10)
    assert by_omega10 == pytest.approx(-(sign * sigma / p).sum(), rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_an_update_never_decreases_the_likelihood(seed):
    f, labels = draw(60, seed)
    omega = flip_matrix.START
    likelihoods = []
    for _ in range(20):
        likelihoods.append(flip_matrix.log_likelihood(f, labels, omega).sum())
        q = flip_matrix.posterior(f, labels, omega)
        omega = flip_matrix.updated(q, labels, omega)
        assert_allclose(omega.sum(axis=1), 1.0)
    assert np.diff(likelihoods).min() >= -1e-10


def test_the_identity_is_a_fixed_point_and_an_empty_row_stays():
    f, labels = draw()
    identity = np.eye(2)
    q = flip_matrix.posterior(f, labels, identity)
    assert_array_equal(flip_matrix.updated(q, labels, identity), identity)
    no_ones = np.zeros(len(f))
    updated = flip_matrix.updated(no_ones, labels, flip_matrix.START)
    assert_array_equal(updated[1], flip_matrix.START[1])


def test_weights_are_repetitions():
    f, labels = draw()
    weights = np.random.default_rng(1).integers(0, 4, len(f))
    omega = flip_matrix.START
    q = flip_matrix.posterior(f, labels, omega)
    weighted = flip_matrix.updated(q, labels, omega, weights.astype(float))
    repeated = flip_matrix.updated(np.repeat(q, weights), np.repeat(labels, weights), omega)
    assert_allclose(weighted, repeated)


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        (np.eye(3), "shape"),
        ([[0.9, 0.2], [0.1, 0.9]], "sum to 1"),
        ([[1.1, -0.1], [0.1, 0.9]], ">= 0"),
        ([[0.5, 0.5], [0.5, 0.5]], "less than 1"),
    ],
)
def test_a_wrong_flip_matrix_is_refused(omega, message):
    with pytest.raises(ValueError, match=message):
        flip_matrix.checked(omega)


def test_a_swap_is_seen_and_projected():
    assert flip_matrix.permuted(flip_matrix.from_rates(0.6, 0.5))
    assert not flip_matrix.permuted(flip_matrix.projected())
