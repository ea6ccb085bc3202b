"""What `scaling.py` measures: every method against the sizes of its input, its theory and peer."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from noisylabels import METHODS
from reproduction.spec.settings import method_class

Call = Callable[[], object]


class Line(NamedTuple):
    """One curve: ``make(size)`` gives the call to time, ``peer(size)`` one of another library.

    A peer may do a part of the work only; the number next to its call says how many calls would do
    all of it. ``theory`` has the exponents between which the cost may grow, from operation counts.
    """

    room: str
    method: str
    against: str
    theory: tuple[float, float]
    peer_name: str
    start: int
    make: Callable[[int], Call]
    peer: Callable[[int], tuple[Call, float]]


# Filters: T rows of d inputs

T_FIXED, D_FIXED = 1000, 16


def _signal(T: int, d: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((T, d)) / math.sqrt(d)
    clean = X @ np.full(d, 1 / d)
    noise = 0.1 * rng.standard_normal((2, T))
    return {
        "X": X,
        "y": clean + noise[0],
        "second": clean + noise[1],
        "clean": clean,
        "v": np.full(T, 0.01),
    }


def _filtering(method: str, T: int, d: int) -> Call:
    filter_class = method_class(method)
    side_information = _signal(T, d)
    X = side_information.pop("X")
    y = side_information.pop("y")
    return lambda: filter_class().run(X, y, **side_information)


def _padasip(T: int, d: int) -> tuple[Call, float]:
    import padasip

    rows = min(T, 300)  # a row costs the same, however many there are
    data = _signal(rows, d)

    def call() -> object:
        return padasip.filters.FilterNLMS(n=d, mu=1.0, w="zeros").run(data["y"], data["X"])

    return call, T / rows


def _names(package: str) -> list[str]:
    """List the methods of a package of the library."""
    return [name for name, module in METHODS.items() if module.startswith(f"{package}.")]


LINEAR = (1.0, 1.0)


def filters() -> Iterator[Line]:
    """Linear in both, but RLS, which updates a matrix."""
    for name in _names("filters"):
        yield Line(
            room="filters",
            method=name,
            against="T",
            theory=LINEAR,
            peer_name="padasip NLMS",
            start=1000,
            make=lambda T, name=name: _filtering(name, T, D_FIXED),
            peer=lambda T: _padasip(T, D_FIXED),
        )
        yield Line(
            room="filters",
            method=name,
            against="d",
            theory=(2.0, 2.0) if name == "rls" else LINEAR,
            peer_name="padasip NLMS",
            start=16,
            make=lambda d, name=name: _filtering(name, T_FIXED, d),
            peer=lambda d: _padasip(T_FIXED, d),
        )


# Classifiers: n rows of d inputs, a fifth of the labels flipped

N_FIXED, INPUTS, EPOCHS = 1000, 10, 15
THEORY = {
    # linear: of n and d. Newton steps and quadratic programs solve systems of d unknowns.
    "robust_sgd": ((1, 1), (1, 1)), "pegasos": ((1, 1), (1, 1)), "liblinear": ((1, 1), (1, 1)),
    "robust_logistic": ((1, 1), (1, 3)),
    "large_margin_distribution": ((1, 1), (1, 3)), "bound_minimiser": ((1, 1), (1, 1)),
    "zero_one_loss": ((1, 1), (1, 2)), "adaboost": ((1, 1), (1, 3)), "rboost": ((1, 1), (1, 3)),
    "gentle_boost": ((1, 1), (1, 1)), "modest_boost": ((1, 1), (1, 1)),
    # kernels: the matrix is n^2 d, its factors at most n^3
    "kernel_logistic": ((2, 3), (0, 1)), "kernel_svm": ((2, 3), (0, 1)),
    "robust_kernel_fisher": ((2, 3), (0, 1)), "robust_kernel_logistic": ((2, 3), (0, 1)),
    "robust_multi_kernel": ((2, 3), (0, 1)), "stpmkl_like": ((2, 3), (0, 1)),
    # as long as all points are landmarks; linear beyond
    "nystrom_logistic": ((1, 3), (0, 1)), "robust_nystrom_logistic": ((1, 3), (0, 1)),
}  # fmt: skip
UNKNOWN = ((0, 3), (0, 3))
"""Of a method whose operations nobody has counted here."""

SMALLER: dict[str, dict[str, Any]] = {
    "pegasos": {"max_passes": 1},  # else the number of steps depends on lambda, not on n
    "bound_minimiser": {"k": 10, "starts": 1},
    "zero_one_loss": {"starts": 1},
    "adaboost": {"rounds": 10}, "rboost": {"rounds": 10},
    "gentle_boost": {"rounds": 10}, "modest_boost": {"rounds": 10},
}  # fmt: skip


def _points(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + X[:, 1] ** 2 > 0.7
    return X, np.where(rng.random(n) < 0.2, ~y, y).astype(int)


def _learning(method: str, n: int, d: int) -> Call:
    classifier = method_class(method)
    X, y = _points(n, d)
    parameters = dict(SMALLER.get(method, {}))
    if "random_state" in classifier().get_params():
        parameters["random_state"] = 0
    return lambda: classifier(**parameters).fit(X, y)


def _peer(kernel: bool, n: int, d: int) -> tuple[Call, float]:
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import SVC

    X, y = _points(n, d)
    if kernel:
        return lambda: SVC(gamma=0.5).fit(X, y), 1.0
    return lambda: SGDClassifier(max_iter=EPOCHS, tol=None, random_state=0).fit(X, y), 1.0


def classifiers() -> Iterator[Line]:
    """Linear ones and boosters against SGDClassifier with 15 epochs, kernel ones against SVC."""
    for name in _names("classifiers"):
        of_n, of_d = THEORY.get(name, UNKNOWN)
        kernel = of_n[1] > 1
        peer_name = "scikit-learn SVC" if kernel else "scikit-learn SGDClassifier"
        n = 100 if kernel else N_FIXED
        yield Line(
            room="classifiers",
            method=name,
            against="n",
            theory=of_n,
            peer_name=peer_name,
            start=50 if kernel else 250,
            make=lambda n, name=name: _learning(name, n, INPUTS),
            peer=lambda n, kernel=kernel: _peer(kernel, n, INPUTS),
        )
        yield Line(
            room="classifiers",
            method=name,
            against="d",
            theory=of_d,
            peer_name=peer_name,
            start=8,
            make=lambda d, name=name, n=n: _learning(name, n, d),
            peer=lambda d, kernel=kernel, n=n: _peer(kernel, n, d),
        )
    yield Line(
        room="classifiers",
        method="liblinear",
        against="n",
        theory=LINEAR,
        peer_name="LIBLINEAR alone",
        start=250,
        make=lambda n: _learning("liblinear", n, INPUTS),
        peer=_liblinear,
    )


def _liblinear(n: int) -> tuple[Call, float]:
    from sklearn.svm import LinearSVC

    X, y = _points(n, INPUTS)
    return lambda: LinearSVC(C=1e4 / n, dual=False).fit(X, y), 1.0


# Learners of noisy instances: T rounds

ROUNDS = 500


def _online(method: str, T: int, d: int) -> Call:
    from noisylabels.kernels import tensor
    from noisylabels.kernels.surrogate import gaussian_pair
    from noisylabels.losses import analytic
    from noisylabels.noise.additive import FeatureNoise

    learner_class = method_class(method)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (T, d)) / math.sqrt(d)
    y = X[:, 0].copy()
    variances = np.full(d, 0.1 / d)
    law = FeatureNoise(variances=variances)
    X1 = X + law.draw(rng, T)
    X2 = X + law.draw(rng, T)
    if method == "analytic_kernel":
        coin = np.random.default_rng(1)
        learner = learner_class(tensor.linear(), analytic.squared(), 1e-3, coin)
        return lambda: learner.run(X, lambda r: X[r] + law.draw(rng, r), y)
    if method == "surrogate_kernel":
        learner = learner_class(gaussian_pair(1.0, variances), 0.01, 8.0)
    else:
        learner = learner_class(0.01)
    copies = [X1]
    if method in ("surrogate_kernel", "two_copy"):
        copies = [X1, X2]
    elif method == "oracle_ogd":
        copies = []
    options = {"variances": variances} if method == "known_covariance" else {}
    return lambda: learner.run(X, *copies, y, **options)


def online() -> Iterator[Line]:
    """Linear learners; with a kernel every round looks at all rounds before it."""
    for name in _names("online"):
        quadratic = name == "surrogate_kernel"
        yield Line(
            room="online",
            method=name,
            against="T",
            theory=(2.0, 2.0) if quadratic else LINEAR,
            peer_name="padasip NLMS",
            start=32 if quadratic else 1000,
            make=lambda T, name=name: _online(name, T, 3),
            peer=lambda T: _padasip(T, 3),
        )
        if not quadratic:
            yield Line(
                room="online",
                method=name,
                against="d",
                theory=(0.0, 1.0) if name == "analytic_kernel" else LINEAR,
                peer_name="padasip NLMS",
                start=4,
                make=lambda d, name=name: _online(name, ROUNDS, d),
                peer=lambda d: _padasip(ROUNDS, d),
            )


# Many models in one pass

FEW = 3  # epochs


def _models(M: int) -> Call:
    from noisylabels.losses.margin import Hinge
    from noisylabels.solvers.sgd import Candidate, fit_models

    X, y = _points(N_FIXED, INPUTS)
    candidates = [Candidate(Hinge(), lam, 1.0) for lam in np.geomspace(1e-5, 1e-1, M)]

    def call() -> object:
        signs = 2.0 * y - 1
        rows = np.arange(len(y))
        return fit_models(X, signs, rows, candidates, np.random.default_rng(0), epochs=FEW)

    return call


def _losses(M: int) -> Call:
    from noisylabels.filters.base import NoisySequence

    data = _signal(T_FIXED, D_FIXED)
    ORS = method_class("ors")
    labels = np.column_stack([data["y"], data["second"]])
    sequence = NoisySequence(data["X"], data["clean"], labels, data["v"])
    several = [ORS("one_pred", r=1.0 + i) for i in range(M)]
    return lambda: ORS.losses(several, sequence, 100)


def models() -> Iterator[Line]:
    """Linear at most: what the models share is computed once. The peers train them one by one."""

    def linear(M: int) -> tuple[Call, float]:
        call, _ = _peer(False, N_FIXED, INPUTS)
        return call, M * FEW / EPOCHS

    def filtering(M: int) -> tuple[Call, float]:
        call, times = _padasip(T_FIXED, D_FIXED)
        return call, M * times

    at_most_linear = (0.0, 1.0)
    yield Line(
        room="models",
        method="robust_sgd",
        against="models",
        theory=at_most_linear,
        peer_name="scikit-learn SGDClassifier",
        start=4,
        make=_models,
        peer=linear,
    )
    yield Line(
        room="models",
        method="ors",
        against="models",
        theory=at_most_linear,
        peer_name="padasip NLMS",
        start=4,
        make=_losses,
        peer=filtering,
    )


ROOMS: dict[str, Callable[[], Iterator[Line]]] = {
    "filters": filters,
    "classifiers": classifiers,
    "online": online,
    "models": models,
}
