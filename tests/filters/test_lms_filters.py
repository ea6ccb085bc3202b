"""LMS, NLMS, the variable step sizes and RLS: limits, optimum, and an independent implementation."""

import numpy as np
import padasip
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import sequence

from noisylabels.filters.base import Sliding
from noisylabels.filters.lms import INLMS, JONLMS, LMS, NLMS, NPVSSNLMS, RLS, SMNLMS
from noisylabels.filters.ors import ORS

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 20)


@given(seeds, sizes, st.floats(0.01, 1.5), st.floats(1e-3, 10))
def test_lms_and_nlms_are_those_of_padasip(seed, d, mu, eps):
    data = sequence(60, d, seed=seed)
    theirs = padasip.filters.FilterNLMS(n=d, mu=mu, eps=eps, w="zeros"), padasip.filters.FilterLMS(d, mu / 75)
    theirs[1].w = np.zeros(d)
    for f, other in zip((NLMS(mu, eps), LMS(mu / 75)), theirs, strict=True):
        wanted = other.run(data.labels[:, 0], data.x)[0]
        assert f.run(data.x, data.labels[:, 0]) == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@given(seeds, sizes, st.floats(1e-3, 50))
def test_nlms_with_unit_step_is_ors_without_scaling(seed, d, r):
    data = sequence(60, d, seed=seed)
    ors = ORS("noisy", r=r).run(data.x, data.labels[:, 0])
    assert NLMS(1.0, r).run(data.x, data.labels[:, 0]) == pytest.approx(ors, rel=1e-11, abs=1e-13)


@given(seeds)
def test_sm_nlms_stops_at_the_bound(seed):
    """After a step the error of the row is +-gamma; within gamma nothing moves; tau = 0 is NLMS."""
    data = sequence(1, 5, seed=seed)
    y = data.labels[:, 0]
    f = SMNLMS(tau=5, eps=0).fit(data.x, y, v=0.01)
    gamma = np.sqrt(5 * 0.01)
    left = y[0] - f.predict(data.x[0])
    assert left == pytest.approx(np.sign(y[0]) * min(gamma, abs(y[0])), rel=1e-9)
    long = sequence(60, 5, seed=seed)
    plain = NLMS(1.0, 0.1).run(long.x, long.y)
    assert SMNLMS(tau=0, eps=0.1).run(long.x, long.y, v=long.v) == pytest.approx(plain, rel=1e-10, abs=1e-12)


@given(seeds)
def test_npvss_without_noise_is_nlms_and_under_much_noise_rests(seed):
    data = sequence(60, 5, seed=seed)
    plain = NLMS(1.0, 2.0).run(data.x, data.y)
    assert NPVSSNLMS(delta=2.0, eps=0).run(data.x, data.y, v=0) == pytest.approx(plain, rel=1e-10, abs=1e-12)
    assert not NPVSSNLMS(delta=2.0).fit(data.x, data.y, v=1e6).w.any()
    f = NPVSSNLMS(K=2, delta=1e30).fit(np.ones((1, 10)), [3.0], v=0)
    assert f.power[0] == pytest.approx(9 / 20)  # a memory of K d rows


@given(seeds)
def test_jo_nlms_takes_its_optimal_step(seed):
    """One step at d = 1 by hand; the factor d + 2 stands for the fourth moment of x."""
    data = sequence(1, 1, seed=seed)
    x, y, v = data.x[0, 0], data.labels[0, 0], 0.5
    f = JONLMS(misalignment=2.0).fit(data.x, [y], v=v)
    mu = 2 / (v + 3 * 2 * x * x)
    assert f.w[0] == pytest.approx(mu * x * y, rel=1e-12)
    assert f.m[0] == pytest.approx((1 - mu * x * x) * 2, rel=1e-12)


def test_jo_nlms_limits():
    """Without noise the step is d / ((d + 2) X), under much noise 0; the misalignment falls."""
    data = sequence(300, 4)
    quiet = NLMS(mu=4 / 6, eps=0).run(data.x, data.y)
    assert JONLMS().run(data.x, data.y, v=0) == pytest.approx(quiet, rel=1e-10, abs=1e-12)
    assert np.abs(JONLMS().fit(data.x, data.y, v=1e15).w).max() < 1e-10
    f = JONLMS()
    trace = []
    for t in range(300):
        f.partial_fit(data.x[t : t + 1], data.y[t : t + 1], v=1.0)
        trace.append(f.m[0])
    assert np.all(np.diff(trace) < 0)
    tracking = JONLMS(tracking=True).fit(data.x, data.labels[:, 0], v=data.v)
    assert tracking.m[0] > f.m[0]


def test_inlms_starts_with_its_largest_step_and_never_exceeds_it():
    data = sequence(100, 6)
    start = INLMS(start=100, mu_max=0.5).run(data.x, data.y)
    assert start == pytest.approx(NLMS(0.5, 0).run(data.x, data.y), rel=1e-10, abs=1e-12)
    f = INLMS(start=10, mu_max=0.5)
    for t in range(100):
        f.partial_fit(data.x[t : t + 1], data.labels[t : t + 1, 0])
        assert 1e-6 <= float(f.scalars[2]) <= 1


@pytest.mark.parametrize("start", [0, 10, 100])
@pytest.mark.parametrize("silent", ["rows", "labels", "faint rows and labels"])
def test_inlms_learns_after_any_silence(start, silent):
    """However long a signal is silent at its beginning, the error after it is that of NLMS at least."""
    data = sequence(3000, 6)
    x = data.x.copy()
    y = x @ np.arange(1.0, 7.0)
    x[:1000] *= {"rows": 0, "labels": 1, "faint rows and labels": 1e-6}[silent]
    y[:1000] *= {"rows": 1, "labels": 0, "faint rows and labels": 1e-6}[silent]
    error = (INLMS(start=start).run(x, y) - y)[2500:]
    assert np.mean(error**2) < 1e-3 * np.mean(y[2500:] ** 2)


@given(seeds, sizes, st.floats(0.1, 10), st.floats(0, 1))
def test_rls_is_weighted_ridge_regression(seed, d, prior, noise):
    data = sequence(40, d, seed=seed)
    y, v = data.labels[:, 0], data.v + 0.1
    f = RLS(prior=prior, noise=noise).fit(data.x, y, v=v)
    weights = 1 / (v + noise)
    precision = (data.x.T * weights) @ data.x + np.eye(d) / prior
    assert f.w == pytest.approx(np.linalg.solve(precision, data.x.T @ (weights * y)), rel=1e-8, abs=1e-9)
    assert pytest.approx(np.linalg.inv(precision), rel=1e-7, abs=1e-9) == f.P
    assert np.array_equal(f.P, f.P.T)


@given(seeds)
def test_rls_with_drift_is_the_kalman_filter(seed):
    """The posterior mean of a wandering target, from the joint Gaussian of all targets and labels."""
    rng = np.random.default_rng(seed)
    T, d, q, v = 6, 2, 0.3, 0.5
    x = rng.normal(size=(T, d))
    y = rng.normal(size=T)
    # cov(u_s, u_t) = (1 + q min(s, t)) I; row s sees u_s; the filter predicts the target after the last row
    cov = np.array([[(x[s] @ x[t]) * (1 + q * min(s, t)) for t in range(T)] for s in range(T)])
    cross = np.array([(1 + q * s) * x[s] for s in range(T)])
    wanted = cross.T @ np.linalg.solve(cov + v * np.eye(T), y)
    assert RLS(prior=1, drift=q).fit(x, y, v=v).w == pytest.approx(wanted, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(("prior", "noise"), [(1e6, 1e-6), (1e8, 1e-2), (1e3, 1e-9)])
@pytest.mark.parametrize("tone", [0.1, 0.0123])
def test_rls_keeps_its_optimum_on_a_pure_tone(prior, noise, tone):
    """A tone excites 2 of 16 directions: P falls by 1e16 there, and keeps its size elsewhere."""
    rng = np.random.default_rng(4)
    x = Sliding(np.sin(2 * np.pi * tone * np.arange(30_000)), 16)
    y = x.rows(0, len(x)) @ rng.normal(size=16) + np.sqrt(noise) * rng.normal(size=len(x))
    f = RLS(prior, noise)
    error = f.run(x, y) - y
    assert np.mean(error[-1000:] ** 2) < 1.5 * noise
    largest = np.linalg.eigvalsh(f.P)[-1]
    assert np.linalg.eigvalsh(f.P)[0] > -1e-15 * largest


def test_rls_with_drift_that_loses_the_sign_of_p_says_so():
    x = Sliding(np.sin(2 * np.pi * 0.1 * np.arange(20_000)), 16)
    y = np.random.default_rng(4).normal(size=len(x))
    with pytest.raises(ValueError, match=r"rls: diverged at row \d+; raise noise, or lower prior"):
        RLS(1e12, 1e-12, drift=1e-30).run(x, y)


@given(seeds, sizes, st.floats(0.1, 10))
def test_rls_on_rows_and_labels_alone_is_ridge_regression(seed, d, prior):
    """Without any variance all labels count the same, and the noise has variance 1."""
    data = sequence(40, d, seed=seed)
    y = data.labels[:, 0]
    wanted = np.linalg.solve(data.x.T @ data.x + np.eye(d) / prior, data.x.T @ y)
    assert RLS(prior).fit(data.x, y).w == pytest.approx(wanted, rel=1e-8, abs=1e-9)


def test_rls_goes_on_when_drift_is_switched_on_and_off():
    data = sequence(60, 4)
    f = RLS().fit(data.x[:20], data.y[:20], v=1.0)
    f.set_params(drift=1e-300).partial_fit(data.x[20:40], data.y[20:40], v=1.0)
    f.set_params(drift=0.0).partial_fit(data.x[40:], data.y[40:], v=1.0)
    straight = RLS().fit(data.x, data.y, v=1.0)
    assert f.w == pytest.approx(straight.w, rel=1e-9)
    assert pytest.approx(straight.P, rel=1e-9, abs=1e-12) == f.P


@given(seeds, sizes, st.floats(0.1, 1.0))
def test_lms_reaches_no_more_energy_than_its_bound(seed, d, share):
    """The energy of predictions never exceeds that of the labels and of the weights at the start."""
    data = sequence(80, d, seed=seed)
    mu = share / (data.x**2).sum(axis=1).max()
    f = LMS(mu).fit(data.x, data.y)
    start = f.w @ f.w / mu
    prediction = f.run(data.x, data.labels[:, 0])
    assert prediction @ prediction <= (start + data.labels[:, 0] @ data.labels[:, 0]) * (1 + 1e-9)


def test_lms_above_its_limit_is_reported_long_before_numbers_overflow():
    data = sequence(10_000, 16)
    with pytest.raises(ValueError, match=r"lms: diverged at row (\d+); take a smaller step") as error:
        LMS(0.25).run(data.x, data.labels[:, 0])
    row = int(str(error.value).split("row ")[1].split(";")[0])
    assert np.abs(LMS(0.25).run(data.x[:row], data.labels[:row, 0])).max() < 1e6
    losses = LMS.losses([LMS(0.25), LMS(0.01)], data, 2)
    assert np.isnan(losses[0]).all()  # a search over steps goes on
    assert np.isfinite(losses[1]).all()
