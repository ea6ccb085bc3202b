"""The StPMKL-like classifier: saddle point, duality gap, known flip rate, inputs it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.svm import SVC

from noisylabels.classifiers.stpmkl_like import Factors, StPMKLLikeClassifier, mirror_prox
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import rbf, squared_distances


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    s = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + s[:, None]
    is_flipped = rng.random(n) < 0.2
    return X, s, np.where(is_flipped, -s, s)


def stack_of(X, widths):
    bank = KernelBank.of_widths(widths)
    distances = squared_distances(X)[None]
    return bank.stack(distances).K


def mix(p, K):
    return np.tensordot(p, K, 1)


def test_factors_give_the_kernels_back():
    X, _, _ = problem()
    K = stack_of(X, [0.1, 1.0, 50.0])
    factors = Factors.of(K)
    assert factors.G.shape[1] < 100  # of 120: the wide kernel has a low rank
    p = np.array([0.2, 0.5, 0.3])
    v = np.random.default_rng(1).standard_normal(40)
    square, f = factors.forms(p, v)
    expected_square = [v @ kernel @ v for kernel in K]
    assert_allclose(square, expected_square, rtol=1e-8)
    assert_allclose(f, mix(p, K) @ v, atol=1e-8)


def largest_dual(kernel, s, rho, C):
    """Maximise over the boxes for one kernel, by a quasi-Newton method."""
    n = len(s)
    signed_kernel = kernel * np.outer(s, s)

    def minus_dual(z):
        d = z[:n] - z[n:]
        slope = signed_kernel @ d
        value = 0.5 * d @ slope - z.sum()
        return value, np.concatenate([slope - 1, -slope - 1])

    bounds = [(0, (1 - rho) * C)] * n + [(0, rho * C)] * n
    options = {"maxiter": 2000, "ftol": 1e-14}
    end = minimize(minus_dual, np.zeros(2 * n), jac=True, bounds=bounds, options=options)
    return -end.fun


@pytest.mark.parametrize("rho", [0.0, 0.25])
def test_gap_bounds_the_distance_to_the_optimum(rho):
    """The value at the end is a plain solver's for the same mixture; no other mixture is better."""
    X, _, s = problem()
    K = stack_of(X, [0.3, 1.0, 4.0])
    C = 1.0
    saddle = mirror_prox(Factors.of(K), s, rho, C, tolerance=1e-4)
    assert 0 <= saddle.gap < 1e-4
    p = saddle.p
    v = saddle.v
    f = mix(p, K) @ v
    loss_of_label = np.maximum(1 - s * f, 0)
    loss_of_other_label = np.maximum(1 + s * f, 0)
    losses = (1 - rho) * loss_of_label + rho * loss_of_other_label
    primal = 0.5 * v @ f + C * losses.sum()
    dual = largest_dual(mix(p, K), s, rho, C)
    assert primal == pytest.approx(dual, rel=1e-3)
    random_mixtures = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    for other in (np.full(3, 1 / 3), *np.eye(3), *random_mixtures):
        dual = largest_dual(mix(other, K), s, rho, C)
        assert dual > primal * (1 - 2e-4)  # no other mixture is better
    assert p.sum() == pytest.approx(1)
    assert (p >= 0).all()
    assert (s * v >= -rho * C - 1e-12).all()
    assert (s * v <= (1 - rho) * C + 1e-12).all()


def test_one_kernel_without_noise_is_a_support_vector_machine_without_bias():
    X, _, s = problem()
    K = rbf(squared_distances(X), 1.0)
    saddle = mirror_prox(Factors.of(K[None]), s, 0.0, 1.0, tolerance=1e-7, iterations=20_000)
    # Points and their mirror images: the bias is 0 by symmetry.
    doubled = np.block([[K, -K], [-K, K]])
    signs = np.concatenate([s, -s])
    svm = SVC(C=0.5, kernel="precomputed", tol=1e-8).fit(doubled, signs)
    their_f = svm.decision_function(doubled)
    assert_allclose(K @ saddle.v, their_f[: len(s)], atol=5e-3)


def test_iterations_are_limited_and_the_fit_is_then_flagged():
    X, _, s = problem()
    model = StPMKLLikeClassifier(max_iter=3).fit(X, s)
    assert not model.converged_
    assert model.n_iter_ == 3
    D = squared_distances(X)
    fits = StPMKLLikeClassifier.fit_distances(D, D, (s > 0)[:, None], [1.0, 2.0], max_iter=3)
    assert fits.flagged.all()


def test_every_column_has_its_own_flip_rate():
    X, clean, s = problem()
    D = squared_distances(X)
    labels = np.stack([clean > 0, s > 0], axis=1)
    rates = [0.0, 0.2]
    widths = [0.5, 1.0, 3.0]
    fits = StPMKLLikeClassifier.fit_distances(D, D[:9], labels, widths, rho=rates)
    assert fits.scores.shape == (2, 1, 9)
    assert np.isnan(fits.omega01).all()
    assert not fits.flagged.any()
    for column, rho, expected in zip(labels.T, rates, fits.scores[:, 0], strict=True):
        model = StPMKLLikeClassifier(widths, rho=rho).fit(X, column)
        scores = model.decision_function(X[:9])
        assert_allclose(scores, expected, atol=1e-9)
        assert model.eta_.sum() == pytest.approx(1)


def test_equal_kernels_share_their_weight():
    X, _, s = problem()
    model = StPMKLLikeClassifier([1e-4, 1e-3, 1.0]).fit(X, s)
    assert model.eta_[0] == model.eta_[1]
    assert model.eta_.sum() == pytest.approx(1)
