"""A wrong parameter of any online learner and wrong arguments of its runs are named in one line."""

import inspect

import numpy as np
import pytest
from bad_values import check_answers

from noisylabels import METHODS
from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import gaussian_pair
from noisylabels.losses import analytic
from noisylabels.noise.features import FeatureNoise
from noisylabels.online.analytic import AnalyticKernel
from noisylabels.online.linear import NaiveOGD, TwoCopy
from noisylabels.online.oracles import ArrayOracle, SimulatedOracle
from reproduction.protocols.settings import method_class

LEARNERS = [method_class(name) for name, where in METHODS.items() if where.startswith("online.")]
every = pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.name)
X, Y = np.ones((4, 2)), np.ones(4)
GIVEN = {
    "kernel": tensor.gaussian(1.0),
    "loss": analytic.squared(),
    "eta": 0.1,
    "rng": np.random.default_rng(0),
    "pair": gaussian_pair(1.0, [0.1, 0.1]),
}
"""Parameters that have no default."""


def made(cls, **changed):
    needed = {name: value for name, value in GIVEN.items() if name in inspect.signature(cls).parameters}
    return cls(**{**needed, **changed})


@every
def test_a_wrong_parameter_is_named_in_one_line(cls):
    check_answers(cls, lambda name, value: made(cls, **{name: value}))


@every
def test_only_an_oracle_teaches(cls):
    for learn in (made(cls).fit, made(cls).partial_fit):
        with pytest.raises(ValueError, match=r"^oracle: must be of the class Oracle, got [^\n]+$"):
            learn(X)


@every
@pytest.mark.parametrize("bad", [None, np.array([[1, "a"]], dtype=object), [[1.0], [1.0, 2.0]], "rows"])
def test_what_is_no_array_of_numbers_is_refused(cls, bad):
    learner = made(cls)
    run = getattr(learner, "run", None)  # a learner may have none
    given = {"X": X, "X1": X, "X2": X.copy(), "y": Y, "copies": lambda rounds: X[rounds], "variances": [1, 1]}
    takes = [name for name in inspect.signature(run).parameters if name in given] if run else []
    for name in {"X", "X1", "X2", "y"} & set(takes):
        with pytest.raises(ValueError, match=r"^(X|X1|X2|y|copy \d): (expected|needs) [^\n]+$"):
            run(**{**{key: given[key] for key in takes}, name: bad})
    with pytest.raises(ValueError, match=r"^X: (expected|needs) [^\n]+$"):
        learner.predict(bad)


def simulated(**changed):
    return SimulatedOracle(**{"X": X, "y": Y, "noise": FeatureNoise(variances=[0.1, 0.1]), **changed})


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: NaiveOGD(0.1).run(X, X, Y, average_from=1.5), "average_from: must be a whole number >= 0"),
        (
            lambda: NaiveOGD(0.1).run(X[0], X[0], 1.0),
            r"X: expected shape \(\*, \*\), got \(2,\); reshape one",
        ),
        (lambda: NaiveOGD(0.1, copies=2.5), "copies: must be a whole number >= 1, got 2.5"),
        (lambda: TwoCopy(0.1).predict(np.ma.masked_equal([[1.0, 0.0]], 0)), "X: value at index .* is masked"),
        (lambda: made(AnalyticKernel).run(X, X, Y), "copies: must be a function, got"),
        (lambda: made(AnalyticKernel).run(X, lambda t: X[t], Y, targets=Y), "targets: must be a function"),
        (lambda: ArrayOracle(X[:, None], [[1.0], [1.0, 2.0]]), "targets: expected an array of real numbers"),
        (lambda: simulated(noise=0.1, rng=GIVEN["rng"]), "noise: must be of the class FeatureNoise, got 0.1"),
        (lambda: simulated(rng=3), "rng: must be of the class Generator, got 3"),
        (lambda: simulated(rng=GIVEN["rng"], target_sd=-1.0), "target_sd: must be a finite number >= 0"),
    ],
)
def test_what_is_wrong_is_said(act, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        act()
