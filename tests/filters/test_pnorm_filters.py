"""The compiled filters against plain NumPy, against each other, and their errors."""

import numpy as np
import pytest

from noisylabels.filters.lms import LMS, NLMS, PNLMS, ZALMS
from noisylabels.filters.pnorm import (
    EG,
    BoundedPNormLMS,
    EGPlusMinus,
    ImplicitPNormLMS,
    NormalizedPNormLMS,
    PNormLMS,
)
from noisylabels.filters.theory import (
    best_alpha,
    checked_ratio,
    dual,
    exponent,
    link,
    moving,
    norm,
    prediction,
    rate,
)
from noisylabels.fixed_order.exp_and_log import power_inplace


def data(n=23, T=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, n))
    noise = 0.1 * rng.standard_normal(T)
    return X, X[:, :3].sum(axis=1) + noise


def reference(X, y, eta, p, radius=np.inf):
    theta = np.zeros(X.shape[1])
    yhat = []
    for x, label in zip(X, y, strict=True):
        prediction = link(theta, p) @ x
        yhat.append(prediction)
        theta = theta + eta * (label - prediction) * x
        theta = theta * min(1.0, radius / norm(theta, p))
    return np.array(yhat), theta


@pytest.mark.parametrize("p", [2.0, 2.5, 7.3, 14.0, 40.0])
@pytest.mark.parametrize("n", [1, 7, 64, 100])
def test_pnorm_lms_follows_its_definition(n, p):
    if n >= 3:
        X, y = data(n, T=60)
    else:
        wide, y = data(5)
        X = wide[:, :n]
    eta = 0.5 * rate(p, norm(X, p).max())
    f = PNormLMS(eta, p)
    yhat, theta = reference(X, y, eta, p)
    assert np.allclose(f.run(X, y), yhat, rtol=1e-10, atol=1e-12)
    assert np.allclose(f.theta, theta, rtol=1e-10, atol=1e-13)
    assert np.allclose(f.w, link(theta, p), rtol=1e-10, atol=1e-13)
    bounded = BoundedPNormLMS(eta, p, radius=0.3)
    yhat, theta = reference(X, y, eta, p, 0.3)
    assert np.allclose(bounded.run(X, y), yhat, rtol=1e-10, atol=1e-12)
    assert np.allclose(bounded.theta, theta, rtol=1e-10, atol=1e-13)
    assert norm(bounded.w, dual(p)) <= 0.3 * (1 + 1e-12)


def test_power_agrees_with_plain_pow_to_1e_12():
    rng = np.random.default_rng(0)
    small = 10 ** rng.uniform(-30, 0, 4000)
    near_one = rng.uniform(0.5, 1, 4000)
    z = np.concatenate([small, near_one, [0.0, 1.0]])
    for a in (1.0, 1.5, 6.8, 13.0, 23.0, 60.0):
        out = z.copy()
        power_inplace(out, np.full_like(z, a))
        plain = z**a
        is_normal = plain > 1e-300
        relative_error = out[is_normal] / plain[is_normal] - 1
        assert np.abs(relative_error).max() < 1e-12
        assert out[~is_normal].max(initial=0) < 1e-299


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_no_overflow_at_extreme_dual_weights(size):
    X, y = data()
    plain = PNormLMS(0.01, 14.0).run(X, y)
    scaled = PNormLMS(0.01, 14.0).run(X, size * y)
    assert np.allclose(scaled / size, plain, rtol=1e-9)


@pytest.mark.parametrize(
    ("f", "plain", "error"),
    [
        (PNormLMS(0.01, 2.0), LMS(0.01), 1e-12),
        (NormalizedPNormLMS(0.7, 2.0, eps=0.1), NLMS(0.7, 0.1), 1e-12),
        (ImplicitPNormLMS(4.0, 2.0), NLMS(1.0, 0.25), 1e-9),
        (ImplicitPNormLMS(1e9, 2.0), NLMS(1.0, 0.0), 1e-4),
        (ZALMS(0.02, 0.0), LMS(0.02), 1e-12),
        (PNLMS(0.5, 1.0, eps=0.0), NLMS(0.5, 0.0), 1e-12),
    ],
    ids=lambda f: getattr(f, "name", None),
)
def test_filters_reduce_to_the_plain_ones(f, plain, error):
    X, y = data(9, 200)
    difference = f.run(X, y) - plain.run(X, y)
    assert np.abs(difference).max() < error


@pytest.mark.parametrize("eta", [0.1, 1.0, 100.0])
def test_a_posteriori_filter_needs_no_small_step(eta):
    X, y = data(6, 100)
    u = np.linspace(-1, 1, 6)
    f = ImplicitPNormLMS(eta, 2.0)
    error_after_steps = 0.0
    for x, label in zip(X, y, strict=True):
        f.partial_fit(x[None], [label])
        error_after_steps += float((u - f.w) @ x) ** 2
    noise = y - X @ u
    assert error_after_steps <= (noise**2).sum() + u @ u / eta


def test_several_filters_in_one_pass_equal_single_runs():
    X, y = data(33, 70)
    labels = np.array([y, -y, 2 * y])
    filters = [PNormLMS(0.01, 2.0), PNormLMS(0.02, 9.0), PNormLMS(0.005, "auto")]
    together = PNormLMS.run_many(filters, X, labels)
    for f, predictions, label in zip(filters, together, labels, strict=True):
        single = PNormLMS(f.eta, f.p)
        assert np.allclose(single.run(X, label), predictions, rtol=1e-10, atol=1e-12)
        assert np.allclose(single.w, f.w, rtol=1e-10)


def test_exponentiated_gradient_follows_its_definition():
    X, y = data(11, 50)
    w = np.full(11, 1 / 11)
    v = np.full(22, 1 / 22)
    pairs = np.hstack([1.5 * X, -1.5 * X])
    expected_eg = []
    expected_eg_pm = []
    for x, z, label in zip(X, pairs, y, strict=True):
        expected_eg.append(w @ x)
        expected_eg_pm.append(v @ z)
        w = w * np.exp(-0.1 * (w @ x - label) * x)
        w /= w.sum()
        v = v * np.exp(-0.1 * (v @ z - label) * z)
        v /= v.sum()
    predicted_eg = EG(0.05).run(X, y)
    predicted_eg_pm = EGPlusMinus(0.05, 1.5).run(X, y)
    assert np.allclose(predicted_eg, expected_eg, rtol=1e-9, atol=1e-11)
    assert np.allclose(predicted_eg_pm, expected_eg_pm, rtol=1e-9, atol=1e-11)
    for f in (EG(50.0), EGPlusMinus(50.0, 2.0)):  # large exponents
        assert np.isfinite(f.run(X, 100 * y)).all()


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: PNormLMS(0.0), "eta"),
        (lambda: PNormLMS(0.1, 1.9), "p,"),
        (lambda: BoundedPNormLMS(0.1, 3.0, 0.0), "radius"),
        (lambda: EGPlusMinus(1.0, 0.0), "budget"),
        (lambda: PNLMS(0.1, 2.0), "rho"),
        (lambda: rate(3.0, 1.0, 1.5), "alpha"),
        (lambda: rate(3.0, 0.0), "x_size"),
        (lambda: prediction(1.0, 1.0, 1.0), "alpha"),
        (lambda: dual(1.0), "p:"),
        (lambda: link([1.0, np.nan], 3.0), "finite"),
    ],
)
def test_errors_name_the_argument(make, names):
    with pytest.raises(ValueError, match=names):
        make()


def test_auto_is_twice_ln_n_and_warns_where_that_is_below_2():
    assert exponent("auto", 1024) == 2 * np.log(1024)
    with pytest.warns(UserWarning, match="n >= 3"):
        assert exponent("auto", 2) == 2.0


def test_bounds():
    K, noise = 7.0, 3.0
    alpha = best_alpha(noise, K)
    best = prediction(noise, K, alpha)
    assert np.isclose(best, (np.sqrt(noise) + np.sqrt(K)) ** 2)
    bounds = [prediction(noise, K, weight) for weight in np.linspace(0.01, 0.99, 99)]
    assert best <= min(bounds)
    assert prediction(0.0, K, 1.0) == K
    assert prediction(0.0, K, best_alpha(0.0, K)) == K
    assert moving(noise, 3.0, 1.0, 2.0, 0.5) == noise + 2 * (4 + 2)
    for n in (3, 10, 1000):
        x = np.random.default_rng(n).standard_normal(n)
        largest = np.sqrt(np.e) * np.abs(x).max()
        assert norm(x, exponent("auto", n)) <= largest * (1 + 1e-12)
    assert checked_ratio(1.0, 2.0, "x") == 0.5
    with pytest.raises(RuntimeError, match="exceeds"):
        checked_ratio(1.0 + 1e-8, 1.0, "x")
