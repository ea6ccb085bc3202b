"""What `scaling.py` measures: every method against the sizes of its input, the theory of each, and a peer."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from noisylabels import METHODS
from reproduction.spec.settings import method_class

Call = Callable[[], object]


class Line(NamedTuple):
    """One curve: ``make(size)`` gives the call to time, ``peer(size)`` one of another library.

    A peer may do a part of the work only; the number beside its call says how many calls would do all of it.
    theory : the exponents between which the cost may grow, from operation counts.
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
    return {"X": X, "y": clean + noise[0], "second": clean + noise[1], "clean": clean, "v": np.full(T, 0.01)}


def _filtering(method: str, T: int, d: int) -> Call:
    data, cls = _signal(T, d), method_class(method)
    X, y = data.pop("X"), data.pop("y")
    return lambda: cls().run(X, y, **data)


def _padasip(T: int, d: int) -> tuple[Call, float]:
    import padasip

    rows = min(T, 300)  # a row costs the same, however many there are
    data = _signal(rows, d)
    return lambda: padasip.filters.FilterNLMS(n=d, mu=1.0, w="zeros").run(data["y"], data["X"]), T / rows


def filters() -> Iterator[Line]:
    """Linear in both, but RLS, which updates a matrix."""
    for name in (name for name, where in METHODS.items() if where.startswith("filters.")):
        of_d = (2.0, 2.0) if name == "rls" else (1.0, 1.0)
        yield Line(
            "filters", name, "T", (1.0, 1.0), "padasip NLMS", 1000,
            lambda T, name=name: _filtering(name, T, D_FIXED), lambda T: _padasip(T, D_FIXED),
        )  # fmt: skip
        yield Line(
            "filters", name, "d", of_d, "padasip NLMS", 16,
            lambda d, name=name: _filtering(name, T_FIXED, d), lambda d: _padasip(T_FIXED, d),
        )  # fmt: skip


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
    cls, (X, y) = method_class(method), _points(n, d)
    seed = {"random_state": 0} if "random_state" in cls().get_params() else {}
    return lambda: cls(**SMALLER.get(method, {}), **seed).fit(X, y)


def _peer(kernel: bool, n: int, d: int) -> tuple[Call, float]:
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import SVC

    X, y = _points(n, d)
    if kernel:
        return lambda: SVC(gamma=0.5).fit(X, y), 1.0
    return lambda: SGDClassifier(max_iter=EPOCHS, tol=None, random_state=0).fit(X, y), 1.0


def classifiers() -> Iterator[Line]:
    """Linear ones and boosters beside SGDClassifier with 15 epochs, kernel ones beside SVC."""
    for name in (name for name, where in METHODS.items() if where.startswith("classifiers.")):
        of_n, of_d = THEORY.get(name, UNKNOWN)
        kernel = of_n[1] > 1
        peer = "scikit-learn SVC" if kernel else "scikit-learn SGDClassifier"
        n = 100 if kernel else N_FIXED
        yield Line(
            "classifiers", name, "n", of_n, peer, 50 if kernel else 250,
            lambda n, name=name: _learning(name, n, INPUTS), lambda n, k=kernel: _peer(k, n, INPUTS),
        )  # fmt: skip
        yield Line(
            "classifiers", name, "d", of_d, peer, 8,
            lambda d, name=name, n=n: _learning(name, n, d), lambda d, k=kernel, n=n: _peer(k, n, d),
        )  # fmt: skip
    yield Line(
        "classifiers", "liblinear", "n", (1.0, 1.0), "LIBLINEAR alone", 250,
        lambda n: _learning("liblinear", n, INPUTS), _liblinear,
    )  # fmt: skip


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

    cls, rng = method_class(method), np.random.default_rng(0)
    X = rng.uniform(-1, 1, (T, d)) / math.sqrt(d)
    y, law = X[:, 0].copy(), FeatureNoise(variances=np.full(d, 0.1 / d))
    X1, X2 = X + law.draw(rng, T), X + law.draw(rng, T)
    if method == "analytic_kernel":
        learner = cls(tensor.linear(), analytic.squared(), 1e-3, np.random.default_rng(1))
        return lambda: learner.run(X, lambda r: X[r] + law.draw(rng, r), y)
    if method == "surrogate_kernel":
        learner, given = cls(gaussian_pair(1.0, np.full(d, 0.1 / d)), 0.01, 8.0), [X1, X2]
    else:
        learner, given = cls(0.01), {"two_copy": [X1, X2], "oracle_ogd": []}.get(method, [X1])
    told = {"variances": np.full(d, 0.1 / d)} if method == "known_covariance" else {}
    return lambda: learner.run(X, *given, y, **told)


def online() -> Iterator[Line]:
    """Linear learners; with a kernel every round looks at all rounds before it."""
    quadratic = {"surrogate_kernel"}
    of_d = {"analytic_kernel": (0.0, 1.0)}
    for name in (name for name, where in METHODS.items() if where.startswith("online.")):
        exponent = 2.0 if name in quadratic else 1.0
        yield Line(
            "online", name, "T", (exponent, exponent), "padasip NLMS", 32 if name in quadratic else 1000,
            lambda T, name=name: _online(name, T, 3), lambda T: _padasip(T, 3),
        )  # fmt: skip
        if name not in quadratic:
            yield Line(
                "online", name, "d", of_d.get(name, (1.0, 1.0)), "padasip NLMS", 4,
                lambda d, name=name: _online(name, ROUNDS, d), lambda d: _padasip(ROUNDS, d),
            )  # fmt: skip


# Many models in one pass

FEW = 3  # epochs


def _models(M: int) -> Call:
    from noisylabels.losses.margin import Hinge
    from noisylabels.solvers.sgd import Candidate, fit_models

    X, y = _points(N_FIXED, INPUTS)
    candidates = [Candidate(Hinge(), lam, 1.0) for lam in np.geomspace(1e-5, 1e-1, M)]
    return lambda: fit_models(
        X, 2.0 * y - 1, np.arange(len(y)), candidates, np.random.default_rng(0), epochs=FEW
    )


def _losses(M: int) -> Call:
    from noisylabels.filters.base import NoisySequence

    data, ORS = _signal(T_FIXED, D_FIXED), method_class("ors")
    labels = np.column_stack([data["y"], data["second"]])
    sequence = NoisySequence(data["X"], data["clean"], labels, data["v"])
    several = [ORS("one_pred", r=1.0 + i) for i in range(M)]
    return lambda: ORS.losses(several, sequence, 100)


def models() -> Iterator[Line]:
    """Linear at most: what the models share is computed once. The peers train them one by one."""

    def linear(M: int) -> tuple[Call, float]:
        return _peer(False, N_FIXED, INPUTS)[0], M * FEW / EPOCHS

    def filtering(M: int) -> tuple[Call, float]:
        call, times = _padasip(T_FIXED, D_FIXED)
        return call, M * times

    yield Line("models", "robust_sgd", "models", (0.0, 1.0), "scikit-learn SGDClassifier", 4, _models, linear)
    yield Line("models", "ors", "models", (0.0, 1.0), "padasip NLMS", 4, _losses, filtering)


ROOMS: dict[str, Callable[[], Iterator[Line]]] = {
    "filters": filters,
    "classifiers": classifiers,
    "online": online,
    "models": models,
}
