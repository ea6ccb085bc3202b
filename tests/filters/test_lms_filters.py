"""LMS, NLMS, variable step sizes and RLS: limits, optimum, and an independent implementation."""

import re

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


def equal_but_for_rounding(values):
    return pytest.approx(values, rel=1e-10, abs=1e-12)


def tone(frequency, T):
    """Make a pure tone as a sliding window of 16 samples."""
    phase = 2 * np.pi * frequency * np.arange(T)
    return Sliding(np.sin(phase), 16)


@given(seeds, sizes, st.floats(0.01, 1.5), st.floats(1e-3, 10))
def test_lms_and_nlms_are_those_of_padasip(seed, d, mu, eps):
    data = sequence(60, d, seed=seed)
    labels = data.labels[:, 0]
    their_nlms = padasip.filters.FilterNLMS(n=d, mu=mu, eps=eps, w="zeros")
    their_lms = padasip.filters.FilterLMS(d, mu / 75)
    their_lms.w = np.zeros(d)
    pairs = [(NLMS(mu, eps), their_nlms), (LMS(mu / 75), their_lms)]
    for ours, theirs in pairs:
        wanted, *_ = theirs.run(labels, data.x)
        prediction = ours.run(data.x, labels)
        assert prediction == equal_but_for_rounding(wanted)


@given(seeds, sizes, st.floats(1e-3, 50))
def test_nlms_with_unit_step_is_ors_without_scaling(seed, d, r):
    data = sequence(60, d, seed=seed)
    labels = data.labels[:, 0]
    wanted = ORS("noisy", r=r).run(data.x, labels)
    prediction = NLMS(1.0, r).run(data.x, labels)
    assert prediction == pytest.approx(wanted, rel=1e-11, abs=1e-13)


@given(seeds)
def test_sm_nlms_stops_at_the_bound(seed):
    """After a step the error of the row is +-gamma; within gamma nothing moves; tau = 0 is NLMS."""
    data = sequence(1, 5, seed=seed)
    label = data.labels[0, 0]
    f = SMNLMS(tau=5, eps=0).fit(data.x, [label], v=0.01)
    gamma = np.sqrt(5 * 0.01)
    error = label - f.predict(data.x[0])
    wanted = np.sign(label) * min(gamma, abs(label))
    assert error == pytest.approx(wanted, rel=1e-9)
    long = sequence(60, 5, seed=seed)
    plain = NLMS(1.0, 0.1).run(long.x, long.y)
    prediction = SMNLMS(tau=0, eps=0.1).run(long.x, long.y, v=long.v)
    assert prediction == equal_but_for_rounding(plain)


@given(seeds)
def test_npvss_without_noise_is_nlms_and_under_much_noise_rests(seed):
    data = sequence(60, 5, seed=seed)
    plain = NLMS(1.0, 2.0).run(data.x, data.y)
    without_noise = NPVSSNLMS(delta=2.0, eps=0).run(data.x, data.y, v=0)
    assert without_noise == equal_but_for_rounding(plain)
    resting = NPVSSNLMS(delta=2.0).fit(data.x, data.y, v=1e6)
    assert not resting.w.any()
    row = np.ones((1, 10))
    f = NPVSSNLMS(K=2, delta=1e30).fit(row, [3.0], v=0)
    assert f.power[0] == pytest.approx(9 / 20)  # a memory of K d rows


@given(seeds)
def test_jo_nlms_takes_its_optimal_step(seed):
    """One step at d = 1 by hand; the factor d + 2 stands for the fourth moment of x."""
    data = sequence(1, 1, seed=seed)
    x = data.x[0, 0]
    y = data.labels[0, 0]
    v = 0.5
    f = JONLMS(misalignment=2.0).fit(data.x, [y], v=v)
    mu = 2 / (v + 3 * 2 * x * x)
    assert f.w[0] == pytest.approx(mu * x * y, rel=1e-12)
    misalignment = (1 - mu * x * x) * 2
    assert f.m[0] == pytest.approx(misalignment, rel=1e-12)


def test_jo_nlms_limits():
    """Without noise the step is d / ((d + 2) X), under much noise 0; the misalignment falls."""
    data = sequence(300, 4)
    quiet = NLMS(mu=4 / 6, eps=0).run(data.x, data.y)
    without_noise = JONLMS().run(data.x, data.y, v=0)
    assert without_noise == equal_but_for_rounding(quiet)
    under_much_noise = JONLMS().fit(data.x, data.y, v=1e15)
    assert np.abs(under_much_noise.w).max() < 1e-10
    f = JONLMS()
    misalignments = []
    for t in range(300):
        row = slice(t, t + 1)
        f.partial_fit(data.x[row], data.y[row], v=1.0)
        misalignments.append(f.m[0])
    rises = np.diff(misalignments)
    assert (rises < 0).all()
    tracking = JONLMS(tracking=True)
    tracking.fit(data.x, data.labels[:, 0], v=data.v)
    assert tracking.m[0] > f.m[0]


def test_inlms_starts_with_its_largest_step_and_never_exceeds_it():
    data = sequence(100, 6)
    start = INLMS(start=100, mu_max=0.5).run(data.x, data.y)
    largest_steps = NLMS(0.5, 0).run(data.x, data.y)
    assert start == equal_but_for_rounding(largest_steps)
    f = INLMS(start=10, mu_max=0.5)
    labels = data.labels[:, 0]
    for t in range(100):
        row = slice(t, t + 1)
        f.partial_fit(data.x[row], labels[row])
        share_of_largest_step = float(f.scalars[2])
        assert 1e-6 <= share_of_largest_step <= 1


SCALES_WHILE_SILENT = {  # of rows and of labels
    "rows": (0, 1),
    "labels": (1, 0),
    "faint rows and labels": (1e-6, 1e-6),
}


@pytest.mark.parametrize("start", [0, 10, 100])
@pytest.mark.parametrize("silent", SCALES_WHILE_SILENT)
def test_inlms_learns_after_any_silence(start, silent):
    """However long a signal is silent at first, the error afterwards is that of NLMS at least."""
    data = sequence(3000, 6)
    x = data.x.copy()
    y = x @ np.arange(1.0, 7.0)
    x_scale, y_scale = SCALES_WHILE_SILENT[silent]
    x[:1000] *= x_scale
    y[:1000] *= y_scale
    prediction = INLMS(start=start).run(x, y)
    error = prediction[2500:] - y[2500:]
    power_of_labels = np.mean(y[2500:] ** 2)
    assert np.mean(error**2) < 1e-3 * power_of_labels


def ridge_regression(x, labels, prior, v=1.0):
    """The most probable weights for rows, labels and variances of the noise, and the precision."""
    weights = np.full(len(x), 1 / v)
    precision = (x.T * weights) @ x + np.eye(x.shape[1]) / prior
    moments = x.T @ (weights * labels)
    return np.linalg.solve(precision, moments), precision


@given(seeds, sizes, st.floats(0.1, 10), st.floats(0, 1))
def test_rls_is_weighted_ridge_regression(seed, d, prior, noise):
    data = sequence(40, d, seed=seed)
    labels = data.labels[:, 0]
    v = data.v + 0.1
    f = RLS(prior=prior, noise=noise).fit(data.x, labels, v=v)
    wanted, precision = ridge_regression(data.x, labels, prior, v + noise)
    assert f.w == pytest.approx(wanted, rel=1e-8, abs=1e-9)
    covariance = np.linalg.inv(precision)
    assert pytest.approx(covariance, rel=1e-7, abs=1e-9) == f.P
    assert np.array_equal(f.P, f.P.T)


@given(seeds)
def test_rls_with_drift_is_the_kalman_filter(seed):
    """The posterior mean of a wandering target, from the Gaussian of all targets and labels."""
    rng = np.random.default_rng(seed)
    T, d, q, v = 6, 2, 0.3, 0.5
    x = rng.normal(size=(T, d))
    y = rng.normal(size=T)
    # cov(u_s, u_t) = (1 + q min(s, t)) I; row s sees u_s;
    # the filter predicts the target after the last row
    rounds = np.arange(T)
    earlier = np.minimum.outer(rounds, rounds)
    covariance = (x @ x.T) * (1 + q * earlier)
    cross = (1 + q * rounds)[:, None] * x
    covariance_of_labels = covariance + v * np.eye(T)
    wanted = cross.T @ np.linalg.solve(covariance_of_labels, y)
    f = RLS(prior=1, drift=q).fit(x, y, v=v)
    assert f.w == pytest.approx(wanted, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(("prior", "noise"), [(1e6, 1e-6), (1e8, 1e-2), (1e3, 1e-9)])
@pytest.mark.parametrize("frequency", [0.1, 0.0123])
def test_rls_keeps_its_optimum_on_a_pure_tone(prior, noise, frequency):
    """A tone excites 2 of 16 directions: P falls by 1e16 there, and keeps its size elsewhere."""
    rng = np.random.default_rng(4)
    x = tone(frequency, 30_000)
    target = rng.normal(size=16)
    label_noise = np.sqrt(noise) * rng.normal(size=len(x))
    y = x.rows(0, len(x)) @ target + label_noise
    f = RLS(prior, noise)
    error = f.run(x, y) - y
    assert np.mean(error[-1000:] ** 2) < 1.5 * noise
    eigenvalues = np.linalg.eigvalsh(f.P)
    assert eigenvalues[0] > -1e-15 * eigenvalues[-1]


def test_rls_with_drift_that_loses_the_sign_of_p_says_so():
    x = tone(0.1, 20_000)
    rng = np.random.default_rng(4)
    y = rng.normal(size=len(x))
    f = RLS(1e12, 1e-12, drift=1e-30)
    with pytest.raises(ValueError, match=r"rls: diverged at row \d+; raise noise, or lower prior"):
        f.run(x, y)


@given(seeds, sizes, st.floats(0.1, 10))
def test_rls_on_rows_and_labels_alone_is_ridge_regression(seed, d, prior):
    """Without any variance all labels count the same, and the noise has variance 1."""
    data = sequence(40, d, seed=seed)
    labels = data.labels[:, 0]
    wanted, _ = ridge_regression(data.x, labels, prior)
    f = RLS(prior).fit(data.x, labels)
    assert f.w == pytest.approx(wanted, rel=1e-8, abs=1e-9)


def test_rls_goes_on_when_drift_is_switched_on_and_off():
    data = sequence(60, 4)
    f = RLS()
    f.fit(data.x[:20], data.y[:20], v=1.0)
    f.set_params(drift=1e-300)
    f.partial_fit(data.x[20:40], data.y[20:40], v=1.0)
    f.set_params(drift=0.0)
    f.partial_fit(data.x[40:], data.y[40:], v=1.0)
    straight = RLS().fit(data.x, data.y, v=1.0)
    assert f.w == pytest.approx(straight.w, rel=1e-9)
    assert pytest.approx(straight.P, rel=1e-9, abs=1e-12) == f.P


@given(seeds, sizes, st.floats(0.1, 1.0))
def test_lms_reaches_no_more_energy_than_its_bound(seed, d, share):
    """The energy of predictions is at most that of the labels and of the weights at the start."""
    data = sequence(80, d, seed=seed)
    labels = data.labels[:, 0]
    squared_norms = (data.x**2).sum(axis=1)
    mu = share / squared_norms.max()
    f = LMS(mu).fit(data.x, data.y)
    energy_at_start = f.w @ f.w / mu
    prediction = f.run(data.x, labels)
    energy = prediction @ prediction
    bound = energy_at_start + labels @ labels
    assert energy <= bound * (1 + 1e-9)


def test_lms_above_its_limit_is_reported_long_before_numbers_overflow():
    data = sequence(10_000, 16)
    labels = data.labels[:, 0]
    message = r"lms: diverged at row (\d+); take a smaller step"
    with pytest.raises(ValueError, match=message) as error:
        LMS(0.25).run(data.x, labels)
    match = re.search(message, str(error.value))
    row = int(match.group(1))
    prediction = LMS(0.25).run(data.x[:row], labels[:row])
    assert np.abs(prediction).max() < 1e6
    diverging, converging = LMS.losses([LMS(0.25), LMS(0.01)], data, 2)
    assert np.isnan(diverging).all()  # a search over steps goes on
    assert np.isfinite(converging).all()
