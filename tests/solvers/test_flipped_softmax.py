"""Softmax regression with flipped labels: gradients, limits, two classes, permutations."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_softmax import _Descent, contrasts, em_newton, lbfgs, likelihood

CENTRES = {2: [[-1.5, 0], [1.5, 0]], 3: [[-2, 0], [2, 0], [0, 3]]}
OMEGA = {
    2: np.array([[0.75, 0.25], [0.1, 0.9]]),
    3: np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.05, 0.05, 0.9]]),
}


def problem(K, n=300, seed=0):
    """Columns Z (n, 3) with a constant, observed labels (n,), penalties (3,)."""
    rng = np.random.default_rng(seed)
    true = np.arange(n) % K
    centres = np.array(CENTRES[K])
    X = rng.standard_normal((n, 2)) + centres[true]
    observed = [rng.choice(K, p=chances) for chances in OMEGA[K][true]]
    Z = np.column_stack([np.ones(n), X])
    penalties = np.array([0.0, 0.3, 0.3])
    return Z, np.array(observed), penalties


@pytest.mark.parametrize("K", [2, 3])
def test_gradients_are_finite_differences(K):
    Z, y, penalty = problem(K, n=50)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0, 2, len(y))
    W = rng.standard_normal((3, K))

    def value(x):
        log_likelihood, *_ = likelihood(Z, x.reshape(W.shape), y, OMEGA[K], weights)
        return log_likelihood

    def slope(x):
        _, gradient, *_ = likelihood(Z, x.reshape(W.shape), y, OMEGA[K], weights)
        return gradient.ravel()

    assert check_grad(value, slope, W.ravel()) < 1e-4
    descent = _Descent(Z, y, penalty, OMEGA[K], weights, True)
    x = rng.standard_normal(3 * (K - 1) + K * (K - 1))
    assert check_grad(lambda x: descent(x)[0], lambda x: descent(x)[1], x) < 1e-4


@pytest.mark.parametrize("K", [2, 3])
def test_both_solvers_find_the_same_maximum(K):
    Z, y, penalty = problem(K)
    plain = em_newton(Z, y, penalty, flips.start(K), rounds=3000)
    joint = lbfgs(Z, y, penalty, flips.start(K), tolerance=1e-12)
    assert plain.converged
    assert joint.converged
    assert joint.objectives[-1] == pytest.approx(plain.objectives[-1], rel=1e-6)
    assert joint.omega == pytest.approx(plain.omega, abs=0.01)
    if K > 2:
        assert np.abs(joint.theta.sum(axis=1)).max() < 1e-10


def test_without_flips_it_is_multinomial_logistic_regression():
    Z, y, _ = problem(3)
    penalty = np.array([0.0, 0.25, 0.25])  # 2 penalty ||W||^2 = ||W||^2 / (2 C), C = 1
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(Z[:, 1:], y)
    intercepts = theirs.intercept_ - theirs.intercept_.mean()
    their_theta = np.vstack([intercepts, theirs.coef_.T])
    no_flips = np.eye(3)
    by_em = em_newton(Z, y, penalty, no_flips, learn_omega=False)
    by_lbfgs = lbfgs(Z, y, penalty, no_flips, tolerance=1e-14, learn_omega=False)
    assert by_em.theta == pytest.approx(their_theta, abs=1e-5)
    assert by_lbfgs.theta == pytest.approx(their_theta, abs=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_em_never_lowers_the_likelihood(K):
    Z, y, penalty = problem(K)
    fit = em_newton(Z, y, penalty, flips.start(K), rounds=200)
    rises = np.diff(fit.objectives)
    assert rises.min() >= -1e-9


@pytest.mark.parametrize("solver", [em_newton, lbfgs])
def test_a_permutation_of_the_classes_permutes_everything(solver):
    Z, y, penalty = problem(3)
    start = flips.start(3)
    new = np.array([2, 0, 1])  # class j is called new[j]
    first = solver(Z, y, penalty, start)
    second = solver(Z, new[y], penalty, start)
    assert second.theta[:, new] == pytest.approx(first.theta, abs=1e-6)
    renamed = np.ix_(new, new)
    assert second.omega[renamed] == pytest.approx(first.omega, abs=1e-6)


def test_omega_is_recovered_from_simulated_labels():
    Z, y, penalty = problem(3, n=6000)
    fit = lbfgs(Z, y, penalty, flips.start(3))
    assert fit.omega == pytest.approx(OMEGA[3], abs=0.04)


@pytest.mark.parametrize("K", [2, 3])
def test_weights_are_repetitions(K):
    Z, y, penalty = problem(K, n=80)
    start = flips.start(K)
    times = np.random.default_rng(3).integers(1, 4, len(y))
    weights = times.astype(float)
    rows = np.repeat(Z, times, axis=0)
    labels = np.repeat(y, times)
    for solver in (em_newton, lbfgs):
        weighted = solver(Z, y, penalty, start, weights=weights)
        repeated = solver(rows, labels, penalty, start)
        assert weighted.theta == pytest.approx(repeated.theta, abs=1e-5)
        assert weighted.omega == pytest.approx(repeated.omega, abs=1e-5)


EXCHANGED = {
    2: flips.from_rates(0.9, 0.9),
    3: np.array([[0.05, 0.9, 0.05], [0.9, 0.05, 0.05], [0.05, 0.05, 0.9]]),
}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", [em_newton, lbfgs])
def test_names_that_change_places_are_reset_and_flagged(solver, K):
    Z, y, penalty = problem(K)
    fit = solver(Z, y, penalty, EXCHANGED[K])
    assert fit.permuted
    assert not flips.permuted(fit.omega)


def test_flip_matrices_of_many_classes():
    assert np.array_equal(flips.start(2), flips.START)
    assert flips.projected(2) == pytest.approx(flips.from_rates(0.49, 0.49))
    for K in (2, 3, 7):
        projected = flips.projected(K)
        assert projected.sum(axis=1) == pytest.approx(np.ones(K))
        assert not flips.permuted(projected)
        C = contrasts(K)
        products = C.T @ C
        assert products == pytest.approx(np.eye(K - 1), abs=1e-12)
        sums = C.sum(axis=0)
        assert np.abs(sums).max() < 1e-12
    by_its_row = np.array([[0.4, 0.5, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    assert flips.permuted(by_its_row)
    by_its_column = np.array([[0.4, 0.3, 0.3], [0.5, 0.5, 0], [0, 0, 1]])
    assert flips.permuted(by_its_column)
    sum_below_1 = np.array([[0.4, 0.6], [0.1, 0.9]])
    assert not flips.permuted(sum_below_1)  # what counts for two classes
    assert np.array_equal(flips.checked(flips.START, 4), flips.start(4))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.eye(3), r"shape \(4, 4\)"),
        (np.full((4, 4), 0.3), "sum to 1"),
        (np.eye(4)[::-1], "change names"),
    ],
)
def test_bad_flip_matrices_are_named(bad, message):
    with pytest.raises(ValueError, match=message):
        flips.checked(bad, 4)
