"""Filters as users of scikit-learn, river and pyroomacoustics know them: the same numbers as one run."""

import copy

import numpy as np
import pytest
from reference import sequence, told
from sklearn.base import clone

from noisylabels.filters.base import Filter, Sliding
from noisylabels.filters.lms import LMS, NLMS, RLS
from noisylabels.filters.ors import ORS
from reproduction.methods import find, known

FILTERS = [find(name) for name in known() if ".filters." in known()[name]]
SOME = [NLMS(0.4), ORS("one_pred", r=2.0), RLS(drift=1e-3)]
some = pytest.mark.parametrize("f", SOME, ids=lambda f: f.name)


@pytest.mark.parametrize("cls", FILTERS, ids=lambda cls: cls.name)
def test_parameters_go_round(cls: type[Filter]) -> None:
    f = cls()
    parameters = f.get_params()
    again = cls(**parameters)
    assert again.get_params() == parameters
    assert clone(f).get_params() == parameters
    assert f.set_params(**parameters) is f
    with pytest.raises(ValueError, match=rf"bogus: {cls.__name__} has the parameters"):
        f.set_params(bogus=1)


def test_a_new_parameter_is_checked_and_keeps_the_weights() -> None:
    data = sequence(50, 3)
    f = NLMS(0.5).fit(data.x, data.y)
    w = f.w.copy()
    assert f.set_params(mu=0.25).mu == 0.25
    assert np.array_equal(f.w, w)
    with pytest.raises(ValueError, match="mu: must be a finite number > 0"):
        f.set_params(mu=-1)
    assert f.mu == 0.25


@some
def test_row_after_row_is_one_run(f: Filter) -> None:
    data = sequence(40, 3)
    y = data.labels[:, 0]
    run = copy.deepcopy(f)
    yhat = run.run(data.x, y, **told(data))
    by_array, by_name = copy.deepcopy(f), copy.deepcopy(f)
    for t in range(40):
        side = {name: values[t] for name, values in told(data).items()}
        named = dict(zip("cab", data.x[t], strict=True))
        if t % 2:  # the order of the names is that of the first row
            named = dict(reversed(named.items()))
        assert by_name.predict_one(named) == pytest.approx(yhat[t], rel=1e-12, abs=1e-14)
        assert by_array.predict_one(data.x[t]) == by_name.predict_one(named)
        by_array.learn_one(data.x[t], y[t], **side)
        by_name.learn_one(named, y[t], **side)
    assert by_array.w == pytest.approx(run.w, rel=1e-12, abs=1e-14)
    assert np.array_equal(by_array.w, by_name.w)


@some
def test_sample_after_sample_is_a_run_over_the_sliding_window(f: Filter) -> None:
    data = sequence(80, 5, sliding=True)
    run, f = copy.deepcopy(f), copy.deepcopy(f)
    yhat = run.run(data.x, data.labels[:, 0], **told(data))
    f.delay_line(5)
    signal = data.x.padded[4:]
    for t in range(80):
        side = {name: values[t] for name, values in told(data).items()}
        assert f.update(signal[t], data.labels[t, 0], **side) == pytest.approx(yhat[t], rel=1e-9, abs=1e-11)
    assert f.w == pytest.approx(run.w, rel=1e-9, abs=1e-11)


@some
@pytest.mark.parametrize("sliding", [False, True])
@pytest.mark.parametrize("every", [1, 16, 200])
def test_the_history_has_the_weights_on_the_way(f: Filter, sliding: bool, every: int) -> None:
    data = sequence(100, 4, sliding=sliding)
    y = data.labels[:, 0]
    run, f = copy.deepcopy(f), copy.deepcopy(f)
    wanted = run.run(data.x, y, **told(data))
    yhat, W = f.history(data.x, y, every=every, **told(data))
    assert yhat == pytest.approx(wanted, rel=1e-9, abs=1e-11)
    assert W.shape == (-(-100 // every), 4)
    assert W[-1] == pytest.approx(run.w, rel=1e-9, abs=1e-11)
    assert np.array_equal(f.w, W[-1])
    if every == 16 and not sliding:
        half = copy.deepcopy(SOME[0])
        first = half.history(data.x[:32], y[:32], every=16)[1]
        assert np.array_equal(copy.deepcopy(SOME[0]).history(data.x, y, every=16)[1][:2], first)


def test_a_history_that_raises_changes_nothing() -> None:
    X, y = np.full((40, 2), 1e200), np.tile([1e300, -1e300], 20)
    f = LMS(0.1)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="diverged"):
        f.history(X, y, every=3)
    assert not hasattr(f, "w")


ERRORS = {
    "update: say how many samples": lambda: NLMS().update(1.0, 1.0),
    "taps: must be a whole number >= 1, got 0": lambda: NLMS().delay_line(0),
    "every: must be a whole number >= 1, got 0": lambda: NLMS().history(np.ones((3, 1)), np.ones(3), every=0),
    "x: has the names ['b'], the filter ['a']": lambda: NLMS().learn_one({"a": 1}, 1).predict_one({"b": 1}),
    "x: expected shape (*), got (1, 2)": lambda: NLMS().predict_one([[3.0, 1.0]]),
    "X: the squares of values up to 2e+200 overflow; scale the rows": lambda: NLMS().run(
        [[1.0, -2e200], [1.0, 1e200]], [1.0, 1.0]
    ),
    "X: expected real numbers, got complex128": lambda: NLMS().run(np.ones((3, 2)) * 1j, np.ones(3)),
    "y: expected real numbers, got complex128": lambda: NLMS().run(np.ones((3, 2)), np.ones(3) * 1j),
    "signal: expected real numbers, got complex64": lambda: Sliding(np.ones(9, np.complex64), 3),
    "x: expected real numbers, got complex128": lambda: NLMS().delay_line(2).update(1j, 1.0),
    "v: expected shape (3), got (2,)": lambda: RLS().history(np.ones((3, 2)), np.ones(3), v=np.ones(2)),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_say_what_is_wrong(message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is checked literally
        ERRORS[message]()
    assert message in str(error.value)
