"""What every filter promises: chunks, windows, state, losses, and errors that name the cause."""

import copy
from itertools import product

import numpy as np
import pytest
from bad_values import check_answers
from hypothesis import given
from hypothesis import strategies as st
from layouts import check_layouts
from methods import method_class
from numpy.lib.stride_tricks import sliding_window_view
from reference import as_rows, sequence, side_information
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from noisylabels import METHODS
from noisylabels.checks import yield_filter_checks
from noisylabels.filters.base import NoisySequence, Rows, Sliding
from noisylabels.filters.lms import (
    INLMS,
    JONLMS,
    LMS,
    NLMS,
    NPVSSNLMS,
    PNLMS,
    RLS,
    SMNLMS,
    ZALMS,
)
from noisylabels.filters.ors import ORS, VARIANTS
from noisylabels.filters.pnorm import (
    EG,
    BoundedPNormLMS,
    EGPlusMinus,
    ImplicitPNormLMS,
    NormalizedPNormLMS,
    PNormLMS,
)

CONFIGURED_FILTERS = [
    *[ORS(variant, r=2.0, beta=1.0 if variant == "beta" else None) for variant in VARIANTS],
    LMS(0.01),
    NLMS(),
    SMNLMS(),
    NPVSSNLMS(delta=1.0),
    JONLMS(tracking=True),
    INLMS(),
    RLS(drift=1e-3),
    PNormLMS(0.02, 3.0),
    BoundedPNormLMS(0.02, 3.0, 0.8),
    NormalizedPNormLMS(0.5, 3.0),
    PNLMS(0.5),
    ImplicitPNormLMS(0.2, 3.0),
    EG(0.05),
    EGPlusMinus(0.05, 2.0),
    ZALMS(0.02, 1e-4),
]


def name_filter(f):
    variant = getattr(f, "variant", "")
    return f"{f.name}-{variant}"


each_filter = pytest.mark.parametrize("f", CONFIGURED_FILTERS, ids=name_filter)


@each_filter
@pytest.mark.parametrize("check", list(yield_filter_checks()), ids=lambda check: check.__name__)
def test_every_filter_keeps_the_contract_of_filters(f, check):
    check(f)


@each_filter
@pytest.mark.parametrize("d", [1, 7, 70])
def test_a_sliding_window_equals_its_rows(f, d):
    data = sequence(250, d, sliding=True, delay=d // 2)
    rows = as_rows(data)
    later = sequence(20, d, seed=1)
    results = []
    for first_part in (data, rows):
        f._start(d)
        yhat = f.run(first_part.x, first_part.labels[:, 0], **side_information(first_part))
        w = f.w.copy()
        # goes on from the state
        yhat_later = f.run(later.x, later.labels[:, 0], **side_information(later))
        results.append((yhat, w, yhat_later))
    for window, row in zip(*results, strict=True):
        assert window == pytest.approx(row, rel=1e-8, abs=1e-9)


@each_filter
@pytest.mark.parametrize("newest", ["first", "last"])
def test_a_view_of_windows_is_taken_as_it_is(f, newest):
    """The same predictions and weights as of a copy, and no copy is made."""
    rng = np.random.default_rng(6)
    signal = rng.normal(size=(106))
    windows = sliding_window_view(signal, 7)
    x = windows[:, ::-1] if newest == "first" else windows
    data = sequence(100, 7)
    y = x @ np.arange(7.0)
    results = []
    for rows in (x, x.copy()):
        f._start(7)
        yhat = f.run(rows, y, **side_information(data))
        results.append((yhat, f.w.copy(), f.predict(rows)))
    for view, copied in zip(*results, strict=True):
        assert view == pytest.approx(copied, rel=1e-8, abs=1e-9)
    assert np.shares_memory(Rows.of(x).flat, x)
    not_finite = np.array([1.0, 1.0, np.nan, 1.0])
    with pytest.raises(ValueError, match=r"X: value at index \(\d, \d\) is not finite"):
        f.run(sliding_window_view(not_finite, 2), y[:3])


@each_filter
def test_the_form_of_the_arrays_changes_no_bit(f):
    rng = np.random.default_rng(3)
    x = rng.integers(-4, 5, (60, 5))
    y, second, clean = rng.integers(-9, 10, (3, 60))
    v = rng.integers(1, 5, 60)

    def compute(x, y, v, second, clean):
        copied = clone(f)
        copied._start(5)
        return copied.run(x, y, v=v, second=second, clean=clean), copied.w

    arrays = [array.astype(float) for array in (x, y, v, second, clean)]
    check_layouts(compute, arrays)


@each_filter
def test_a_silent_beginning_teaches_nothing(f):
    """Rows of zeros with labels of zero change no weight, however many they are."""
    f = RLS() if f.name == "rls" else clone(f)  # with drift the target moves in silence too
    data = sequence(60, 5)
    labels = data.labels[:, 0]
    side = side_information(data)
    weights = f.fit(data.x, labels, **side).w.copy()
    silent_side = {name: np.pad(values, (5000, 0)) for name, values in side.items()}
    silent_rows = np.pad(data.x, ((5000, 0), (0, 0)))
    silent_labels = np.pad(labels, (5000, 0))
    f.fit(silent_rows, silent_labels, **silent_side)
    assert np.array_equal(f.w, weights)


@each_filter
def test_losses_are_windows_of_the_squared_clean_error(f):
    data = sequence(103, 4)
    f._start(4)
    yhat = f.run(data.x, data.labels[:, 0], **side_information(data))
    loss = (yhat - data.y) ** 2
    parts = [loss[:25], loss[25:50], loss[50:75], loss[75:]]  # the last is longer
    wanted = np.array([part.mean() for part in parts])
    (losses,) = type(f).losses([f], data, 4)
    assert losses == pytest.approx(wanted, rel=1e-11)


def example(cls):
    """A filter of the class with as few arguments as it takes."""
    return cls(variant="noisy") if cls is ORS else cls()


FILTERS = [method_class(name) for name, path in METHODS.items() if path.startswith("filters.")]
each_class = pytest.mark.parametrize("cls", FILTERS, ids=lambda cls: cls.name)

OVERFLOW = {"eg", "eg_pm", "pnorm_lms", "bounded_pnorm_lms", "lms"}  # unbounded steps


@each_class
@pytest.mark.parametrize("sliding", [False, True])
def test_a_call_that_raises_changes_nothing(cls, sliding):
    data = sequence(60, 6, sliding=sliding)
    labels = data.labels[:, 0]
    side = side_information(data)
    if sliding:
        huge = Sliding(np.full(60, 1e200), 6)
    else:
        huge = np.full((60, 6), 1e200)
    rounds = np.arange(60)
    far = np.where(rounds % 2, 1e300, -1e300)
    with_nan = np.where(rounds == 3, np.nan, labels)
    f = example(cls).fit(data.x, labels, **side)
    state = vars(f)
    diverged = False
    for call, (X, y) in product(("run", "partial_fit", "fit"), ((data.x, with_nan), (huge, far))):
        tried = copy.deepcopy(f)
        try:
            with np.errstate(all="ignore"):
                getattr(tried, call)(X, y, **side)
        except ValueError as error:
            diverged |= "diverged" in str(error)
            state_after = vars(tried)
            for name, value in state.items():
                assert np.array_equal(state_after[name], value), name
            assert state_after.keys() == state.keys()
        else:
            assert y is not with_nan
    assert diverged or cls.name not in OVERFLOW


def test_one_filter_that_diverges_leaves_all_of_a_joint_run_as_they_were():
    filters = [PNormLMS(0.01, 2.0), PNormLMS(1e3, 2.0)]
    X = np.full((300, 3), 10.0)
    y = np.ones(300)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="eta = 1000, p = 2 diverged"),
    ):
        PNormLMS.run_many(filters, X, y)
    assert not any(hasattr(f, "theta") for f in filters)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(-50, 50), st.integers(0, 99))
def test_rows_of_a_sliding_window_are_its_definition(T, d, delay, seed):
    d = min(d, T)
    s = np.random.default_rng(seed).normal(size=T)
    x = Sliding(s, d, delay=delay)
    rows = x.rows(0, T)
    for t in range(T):
        positions = [t + delay - k for k in range(d)]
        wanted = [s[position] if 0 <= position < T else 0.0 for position in positions]
        assert np.array_equal(rows[t], wanted)
        assert np.array_equal(rows[t, ::-1], x.padded[t : t + d])


def test_predict_takes_one_row_many_rows_or_a_window():
    data = sequence(60, 8, sliding=True)
    assert NLMS().predict(np.ones(3)) == 0
    f = NLMS().fit(data.x, data.y)
    rows = data.x.rows(0, 60)
    of_window = f.predict(data.x)
    assert of_window == pytest.approx(rows @ f.w, rel=1e-12, abs=1e-14)
    of_rows = f.predict(rows)
    of_one_row = f.predict(rows[3])
    assert of_rows[3] == pytest.approx(of_one_row, rel=1e-12)


def test_scalars_stand_for_constant_variances():
    data = sequence(40, 3)
    constant = np.full(40, 2.0)
    of_number = RLS().run(data.x, data.y, v=2.0)
    of_array = RLS().run(data.x, data.y, v=constant)
    assert np.array_equal(of_number, of_array)
    noisy = NoisySequence(data.x, data.y, data.labels, 2.0)
    assert np.array_equal(noisy.v, constant)


def nan_at(index, shape):
    array = np.ones(shape)
    array[index] = np.nan
    return array


X = np.ones((5, 2))
Y = np.ones(5)
WIDER = np.ones((5, 3))
DATES = np.zeros(5, "datetime64[D]")
DATA = NoisySequence(X, Y, X, Y)


def nan_in_x(row, column):
    return nan_at((row, column), X.shape)


def learned_from_a():
    return NLMS().learn_one({"a": 1}, 1)


ERRORS = {
    "X: value at index (3, 1) is not finite": lambda: NLMS().run(nan_in_x(3, 1), Y),
    "X: expected real numbers, got complex128": lambda: NLMS().run(X * 1j, Y),
    "y: expected real numbers, got datetime64[D]": lambda: NLMS().run(X, DATES),
    "y: value at index 2 is masked": lambda: NLMS().run(X, np.ma.masked_equal([1, 1, 0, 1, 1], 0)),
    "v: value at index 2 is not finite": lambda: ORS("one").run(X, Y, v=nan_at(2, (5,))),
    "v: value at index 1 is negative": lambda: ORS("one").run(X, Y, v=[0, -1, 0, 0, 0]),
    "y: expected shape (5), got (4,)": lambda: NLMS().run(X, Y[:4]),
    "X: expected shape (*, *), got (5,); reshape one row to (1, n)": lambda: NLMS().run(Y, Y),
    "X: rows have 3 entries, the filter has 2": lambda: NLMS().fit(X, Y).partial_fit(WIDER, Y),
    "X: rows need d >= 1": lambda: NLMS().run(np.ones((5, 0)), Y),
    "v: variant 'one' needs the noise variance of every row; pass v=, one number or one per row": (
        lambda: ORS("one").run(X, Y)
    ),
    "second: variant 'two_u' needs the second label of every row": lambda: ORS("two_u").run(X, Y),
    "clean: variant 'clean' needs the clean label of every row": lambda: ORS("clean").run(X, Y),
    "labels: variant 'two' needs a second column": lambda: ORS.losses(
        [ORS("one"), ORS("two")], NoisySequence(X, Y, Y[:, None], Y), 1
    ),
    "filters: ORS.losses needs ORS filters only": lambda: ORS.losses([NLMS()], DATA, 1),
    "windows: must be a whole number >= 1 and <= 5, got 6": lambda: NLMS.losses([NLMS()], DATA, 6),
    "variant: 'tow' is unknown; known: clean": lambda: ORS("tow"),
    "beta: needed by variant 'beta'": lambda: ORS("beta"),
    "beta: has no meaning for variant 'one'": lambda: ORS("one", beta=1),
    "two_variance: 'all' is unknown; known: half, full": lambda: ORS("two", two_variance="all"),
    "mu: must be a finite number > 0, got 0": lambda: LMS(0),
    "v: sm_nlms needs the noise variance": lambda: SMNLMS().run(X, Y),
    "v: npvss_nlms needs": lambda: NPVSSNLMS().run(X, Y),
    "v: jo_nlms needs": lambda: JONLMS().run(X, Y),
    "v: rls needs": lambda: RLS(noise=0).run(X, Y),
    "K: must be": lambda: NPVSSNLMS(K=0.1).run(X, Y, v=1),
    "eta: must be a finite number > 0 and <= 1": lambda: INLMS(eta=2),
    "prior: must be": lambda: RLS(prior=0),
    "lms: diverged at row": lambda: LMS(10.0).run(1e3 * np.ones((200, 2)), np.ones(200)),
    "signal: 3 samples are fewer than the filter's d = 4 taps": lambda: Sliding(np.ones(3), 4),
    "signal: value at index 1 is not finite": lambda: Sliding(nan_at(1, (3,)), 2),
    "d: must be a whole number >= 1, got 0": lambda: Sliding(np.ones(3), 0),
    "n: must be a whole number >= 1 and <= 3, got 4": lambda: Sliding(np.ones(3), 2, n=4),
    "rows: need": lambda: Sliding(np.ones(3), 2).rows(2, 2),
    "x: value at index (0, 1) is not finite": lambda: NoisySequence(nan_in_x(0, 1), Y, X, Y),
    "labels: expected shape (5, *), got (4, 2)": lambda: NoisySequence(X, Y, X[:4], Y),
    "labels: value at index (2, 0) is not finite": lambda: NoisySequence(X, Y, nan_in_x(2, 0), Y),
    "labels: needs at least one column": lambda: NoisySequence(X, Y, np.ones((5, 0)), Y),
    "v: value at index 0 is negative": lambda: NoisySequence(X, Y, X, -Y),
    "x: has the names ['b'], the filter ['a']": lambda: learned_from_a().predict_one({"b": 1}),
    "x: expected shape (*), got (1, 2)": lambda: NLMS().predict_one([[3.0, 1.0]]),
    "X: the squares of values up to 2e+200 overflow; scale the rows": lambda: NLMS().run(
        [[1.0, -2e200], [1.0, 1e200]], [1.0, 1.0]
    ),
    "signal: expected real numbers, got complex64": lambda: Sliding(np.ones(9, np.complex64), 3),
    "y: value at index 2 is not finite": lambda: NLMS().run(X, [1, 1, None, 1, 1]),
    "y: expected real numbers, got": lambda: NLMS().run(X, [1, 1, 10**400, 1, 1]),
    "v: must be a finite number, got 'loud'": lambda: RLS().run(X, Y, v="loud"),
    "delay: must be a whole number, got 0.5": lambda: Sliding(Y, 2, delay=0.5),
    "Y: expected": lambda: PNormLMS.run_many([PNormLMS()], X, "x"),
    "Y: expected shape (1, 5)": lambda: PNormLMS.run_many([PNormLMS()], X, np.ones((2, 5))),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_say_what_is_wrong_and_where(message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is checked literally
        ERRORS[message]()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@each_class
def test_a_wrong_parameter_is_named_in_one_line(cls):
    check_answers(cls, lambda name, value: cls(**{name: value}))
    check_answers(cls, lambda name, value: cls().set_params(**{name: value}))


ROW = np.ones(2)
OBJECTS = np.array([[1, "a"], [2, 3]], dtype=object)
NO_ARRAYS_OF_NUMBERS = [
    None,
    OBJECTS,
    [[1.0], [1.0, 2.0]],
    "rows",
    {"a": 1},
    [[1j, 2.0]],
    ROW,
]


@each_class
@pytest.mark.parametrize("bad", NO_ARRAYS_OF_NUMBERS)
def test_what_is_no_array_of_numbers_is_refused(cls, bad):
    f = cls()
    for call in (f.run, f.fit, f.partial_fit):
        with pytest.raises(ValueError, match=r"^X: expected [^\n]+$"):
            call(bad, Y)
    if bad is not ROW:
        with pytest.raises(ValueError, match=r"^X: expected [^\n]+$"):
            f.predict(bad)
    with pytest.raises(ValueError, match=r"^y: (expected|value at) [^\n]+$"):
        f.run(X, bad)


THREE_FILTERS = [NLMS(0.4), ORS("one_pred", r=2.0), RLS(drift=1e-3)]
each_of_three = pytest.mark.parametrize("f", THREE_FILTERS, ids=lambda f: f.name)


@each_class
def test_parameters_go_round(cls):
    f = cls()
    parameters = f.get_params()
    rebuilt = cls(**parameters)
    assert rebuilt.get_params() == parameters
    assert clone(f).get_params() == parameters
    assert f.set_params(**parameters) is f
    with pytest.raises(ValueError, match=rf"bogus: {cls.__name__} has the parameters"):
        f.set_params(bogus=1)


@each_class
def test_a_representation_makes_the_same_filter(cls):
    f = cls()
    rebuilt = eval(repr(f), {cls.__name__: cls})
    assert rebuilt.get_params() == f.get_params()


def test_a_search_over_a_stream_cut_by_time_finds_the_step():
    data = sequence(600, 5)
    labels = data.labels[:, 0]
    options = {"cv": TimeSeriesSplit(3), "error_score": "raise"}
    search = GridSearchCV(NLMS(), {"mu": [1e-4, 0.05, 1.9]}, **options)
    search.fit(data.x, labels)
    assert search.best_params_ == {"mu": 0.05}
    best = search.best_estimator_
    wanted = r2_score(data.y, best.predict(data.x))
    assert best.score(data.x, data.y) == pytest.approx(wanted)
    searched = GridSearchCV(ORS(), {"r": [0.1, 10.0]}, **options)
    searched.fit(data.x, labels, v=data.v)
    assert searched.best_score_ > 0
    with pytest.raises(ValueError, match="needs labels that differ"):
        best.score(data.x[:1], [1.0])


def test_a_new_parameter_is_checked_and_keeps_the_weights():
    data = sequence(50, 3)
    f = NLMS(0.5).fit(data.x, data.y)
    w = f.w.copy()
    assert f.set_params(mu=0.25).mu == 0.25
    assert np.array_equal(f.w, w)
    with pytest.raises(ValueError, match="mu: must be a finite number > 0"):
        f.set_params(mu=-1)
    assert f.mu == 0.25


@each_of_three
def test_row_after_row_is_one_run(f):
    data = sequence(40, 3)
    labels = data.labels[:, 0]
    side = side_information(data)
    run = copy.deepcopy(f)
    yhat = run.run(data.x, labels, **side)
    by_array = copy.deepcopy(f)
    by_name = copy.deepcopy(f)
    for t, (row, label) in enumerate(zip(data.x, labels, strict=True)):
        side_of_row = {name: values[t] for name, values in side.items()}
        named = dict(zip("cab", row, strict=True))
        if t % 2:  # the order of the names is that of the first row
            named = dict(reversed(named.items()))
        prediction = by_name.predict_one(named)
        assert prediction == pytest.approx(yhat[t], rel=1e-12, abs=1e-14)
        assert by_array.predict_one(row) == prediction
        by_array.learn_one(row, label, **side_of_row)
        by_name.learn_one(named, label, **side_of_row)
    assert by_array.w == pytest.approx(run.w, rel=1e-12, abs=1e-14)
    assert np.array_equal(by_array.w, by_name.w)
