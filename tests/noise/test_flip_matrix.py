"""The flip matrix: probabilities of observed labels, posteriors, the update of Omega."""

import numpy as np
import pytest

from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic import likelihood

OMEGAS = [flip_matrix.START, flip_matrix.from_rates(0.3, 0.05), flip_matrix.from_rates(0.0, 0.4), np.eye(2)]


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return 4 * rng.standard_normal(n), (rng.random(n) < 0.4).astype(float)


def plain(f, labels, omega):
    sigma = 1 / (1 + np.exp(-f))
    k = labels.astype(int)
    p = omega[0, k] * (1 - sigma) + omega[1, k] * sigma
    return p, omega[1, k] * sigma / p, sigma


@pytest.mark.parametrize("omega", OMEGAS)
def test_likelihood_and_posterior_are_their_formulas(omega):
    f, labels = draw()
    p, q, _ = plain(f, labels, omega)
    np.testing.assert_allclose(flip_matrix.log_likelihood(f, labels, omega), np.log(p), rtol=1e-9)
    np.testing.assert_allclose(flip_matrix.posterior(f, labels, omega), q, rtol=1e-9)
    if not np.array_equal(omega, np.eye(2)):  # extreme decision values stay finite
        q = flip_matrix.posterior(np.repeat([-800.0, 800.0], 2), np.array([0.0, 1.0, 0.0, 1.0]), omega)
        assert ((q >= 0) & (q <= 1)).all()
    step, slope = np.full(len(f), 0.5), np.empty(len(f))  # the same, compiled
    value, up, down = likelihood(f, step, 2.0, labels, omega[0, 1], omega[1, 0], slope)
    p, q, sigma = plain(f + 1.0, labels, omega)
    sign = 2 * labels - 1
    assert value == pytest.approx(np.log(p).sum(), rel=1e-12)
    np.testing.assert_allclose(slope, q - sigma, atol=1e-13)
    assert up == pytest.approx((sign * (1 - sigma) / p).sum(), rel=1e-10)
    assert down == pytest.approx(-(sign * sigma / p).sum(), rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_an_update_never_decreases_the_likelihood(seed):
    f, labels = draw(60, seed)
    omega, found = flip_matrix.START, []
    for _ in range(20):
        found.append(flip_matrix.log_likelihood(f, labels, omega).sum())
        omega = flip_matrix.updated(flip_matrix.posterior(f, labels, omega), labels, omega)
        np.testing.assert_allclose(omega.sum(axis=1), 1.0)
    assert np.diff(found).min() >= -1e-10


def test_the_identity_is_a_fixed_point_and_an_empty_row_stays():
    f, labels = draw()
    q = flip_matrix.posterior(f, labels, np.eye(2))
    np.testing.assert_array_equal(flip_matrix.updated(q, labels, np.eye(2)), np.eye(2))
    after = flip_matrix.updated(np.zeros(len(f)), labels, flip_matrix.START)
    np.testing.assert_array_equal(after[1], flip_matrix.START[1])


def test_weights_are_repetitions():
    f, labels = draw()
    weights = np.random.default_rng(1).integers(0, 4, len(f))
    q = flip_matrix.posterior(f, labels, flip_matrix.START)
    repeated = [np.repeat(a, weights) for a in (q, labels)]
    weighted = flip_matrix.updated(q, labels, flip_matrix.START, weights.astype(float))
    np.testing.assert_allclose(weighted, flip_matrix.updated(*repeated, flip_matrix.START))


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
