"""A wrong parameter of any filter and wrong arrays are named in one line."""

import numpy as np
import pytest
from bad_values import check_answers

from noisylabels.filters.base import Sliding
from noisylabels.filters.lms import INLMS, NLMS, RLS
from noisylabels.filters.pnorm import PNormLMS
from reproduction.methods import find, known

FILTERS = [find(name) for name in known() if ".filters." in known()[name]]
every = pytest.mark.parametrize("cls", FILTERS, ids=lambda cls: cls.name)
X, Y = np.ones((5, 2)), np.ones(5)


@every
def test_a_wrong_parameter_is_named_in_one_line(cls):
    check_answers(cls, lambda name, value: cls(**{name: value}))
    check_answers(cls, lambda name, value: cls().set_params(**{name: value}))


@every
def test_a_single_row_is_told_to_reshape(cls):
    for learn in (cls().partial_fit, cls().fit, cls().run):
        with pytest.raises(
            ValueError, match=r"^X: expected shape \(\*, \*\), got \(2,\); reshape one row to"
        ):
            learn(X[0], Y[:1])


OBJECTS = np.array([[1, "a"], [2, 3]], dtype=object)


@every
@pytest.mark.parametrize("bad", [None, OBJECTS, [[1.0], [1.0, 2.0]], "rows", {"a": 1}, [[1j, 2.0]]])
def test_what_is_no_array_of_numbers_is_refused(cls, bad):
    f = cls()
    for call in (f.run, f.fit, f.partial_fit):
        with pytest.raises(ValueError, match=r"^X: expected [^\n]+$"):
            call(bad, Y)
    with pytest.raises(ValueError, match=r"^X: expected [^\n]+$"):
        f.predict(bad)
    with pytest.raises(ValueError, match=r"^y: (expected|value at) [^\n]+$"):
        f.run(X, bad)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: NLMS().predict(np.ones((2, 2, 2))), r"X: expected shape \(\*, \*\), got \(2, 2, 2\)"),
        (lambda: NLMS().run(X, [1, 1, None, 1, 1]), "y: value at index 2 is not finite"),
        (lambda: NLMS().run(X, [1, 1, 10**400, 1, 1]), "y: expected real numbers, got"),
        (lambda: RLS().run(X, Y, v="loud"), r"v: must be a finite number, got"),
        (lambda: RLS().history(X, Y, v="loud"), r"v: must be a finite number, got"),
        (lambda: RLS().run(X, Y, v=-1), "v: value at index 0 is negative"),
        (lambda: NLMS().history(X, Y, every=2.5), "every: must be a whole number >= 1, got 2.5"),
        (lambda: NLMS().delay_line(True), "taps: must be a whole number >= 1, got True"),
        (lambda: Sliding(Y, 2.5), "d: must be a whole number >= 1, got 2.5"),
        (lambda: Sliding(Y, 2, delay=0.5), "delay: must be a whole number, got 0.5"),
        (lambda: NLMS().delay_line(2**70), "taps: must be a whole number >= 1, got 1180591620717411303424"),
        (lambda: INLMS(start=2.5), "start: must be a whole number >= 0, got 2.5"),
        (lambda: PNormLMS(p=[3.0]), r'p, if not "auto": must be a finite number >= 2, got \[3.0\]'),
        (lambda: PNormLMS.run_many([PNormLMS()], X, "x"), "Y: expected an array of real numbers|Y: expected"),
        (lambda: PNormLMS.run_many([PNormLMS()], X, np.ones((2, 5))), r"Y: expected shape \(1, 5\)"),
    ],
)
def test_what_is_wrong_is_said(act, message):
    with pytest.raises(ValueError, match=f"^({message})"):
        act()
