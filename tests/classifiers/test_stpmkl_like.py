"""The StPMKL-like classifier: saddle point, duality gap, known flip rate, inputs it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from noisylabels.classifiers.stpmkl_like import Factors, StPMKLLikeClassifier, mirror_prox
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import rbf, squared_distances


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    s = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + s[:, None]
    noisy = np.where(rng.random(n) < 0.2, -s, s)
    return X, s, noisy


def stack_of(X, widths):
    return KernelBank.of_widths(widths).stack(squared_distances(X)[None]).K


def test_factors_give_the_kernels_back():
    X, _, _ = problem()
    K = stack_of(X, [0.1, 1.0, 50.0])
    factors = Factors.of(K)
    assert factors.G.shape[1] < 100  # of 120: the wide kernel has a low rank
    p = np.array([0.2, 0.5, 0.3])
    v = np.random.default_rng(1).standard_normal(40)
    square, f = factors.forms(p, v)
    np.testing.assert_allclose(square, np.einsum("n,snm,m->s", v, K, v), rtol=1e-8)
    np.testing.assert_allclose(f, np.tensordot(p, K, 1) @ v, atol=1e-8)


@pytest.mark.parametrize("rho", [0.0, 0.25])
def test_gap_bounds_the_distance_to_the_optimum(rho):
    """The value at the end is a plain solver's for the same mixture; no other mixture is better."""
    X, _, s = problem()
    K = stack_of(X, [0.3, 1.0, 4.0])
    C = 1.0
    saddle = mirror_prox(Factors.of(K), s, rho, C, tolerance=1e-4)
    assert 0 <= saddle.gap < 1e-4

    def primal(p, v):
        f = np.tensordot(p, K, 1) @ v
        loss = (1 - rho) * np.maximum(1 - s * f, 0) + rho * np.maximum(1 + s * f, 0)
        return 0.5 * v @ f + C * loss.sum()

    def largest_dual(p):
        """max over the boxes for fixed p, by a quasi-Newton method."""
        Kp = np.tensordot(p, K, 1) * np.outer(s, s)

        def minus(z):
            d = z[:40] - z[40:]
            slope = Kp @ d
            return 0.5 * d @ slope - z.sum(), np.r_[slope - 1, -slope - 1]

        bounds = [(0, (1 - rho) * C)] * 40 + [(0, rho * C)] * 40
        options = {"maxiter": 2000, "ftol": 1e-14}
        end = minimize(minus, np.zeros(80), jac=True, bounds=bounds, options=options)
        return -end.fun

    value = primal(saddle.p, saddle.v)
    assert value == pytest.approx(largest_dual(saddle.p), rel=1e-3)
    for p in (np.full(3, 1 / 3), *np.eye(3), *np.random.default_rng(0).dirichlet(np.ones(3), 5)):
        assert largest_dual(p) > value * (1 - 2e-4)  # no other mixture is better
    assert saddle.p.sum() == pytest.approx(1)
    assert (saddle.p >= 0).all()
    assert (s * saddle.v >= -rho * C - 1e-12).all()
    assert (s * saddle.v <= (1 - rho) * C + 1e-12).all()


def test_one_kernel_without_noise_is_a_support_vector_machine_without_bias():
    X, _, s = problem()
    K = rbf(squared_distances(X), 1.0)
    saddle = mirror_prox(Factors.of(K[None]), s, 0.0, 1.0, tolerance=1e-7, iterations=20_000)
    # Points and their mirror images: the bias is 0 by symmetry.
    doubled = np.block([[K, -K], [-K, K]])
    svm = SVC(C=0.5, kernel="precomputed", tol=1e-8).fit(doubled, np.r_[s, -s])
    np.testing.assert_allclose(K @ saddle.v, svm.decision_function(doubled)[:40], atol=5e-3)


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
    fits = StPMKLLikeClassifier.fit_distances(D, D[:9], labels, [0.5, 1.0, 3.0], rho=rates)
    assert fits.scores.shape == (2, 1, 9)
    assert np.isnan(fits.omega01).all()
    assert not fits.flagged.any()
    for column, rho in enumerate(rates):
        model = StPMKLLikeClassifier([0.5, 1.0, 3.0], rho=rho).fit(X, labels[:, column])
        scores = model.decision_function(X[:9])
        np.testing.assert_allclose(scores, fits.scores[column, 0], atol=1e-9)
        assert model.eta_.sum() == pytest.approx(1)


def test_equal_kernels_share_their_weight():
    X, _, s = problem()
    model = StPMKLLikeClassifier([1e-4, 1e-3, 1.0]).fit(X, s)
    assert model.eta_[0] == model.eta_[1]
    assert model.eta_.sum() == pytest.approx(1)
