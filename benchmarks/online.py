# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the learners with noisy instances next to plain NumPy: ``python benchmarks/online.py``.

Every turn runs all candidates one after the other, in one process, and takes their CPU time;
the tables show medians over the turns, ratios are medians of the ratios within a turn.
Our times are those of the public calls, with all checks.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import numba
import numpy as np
from numba import njit

from noisylabels.fixed_order.exp_and_log import exp_of_negative
from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import gaussian_pair
from noisylabels.losses import analytic
from noisylabels.noise.additive import FeatureNoise
from noisylabels.online.analytic import AnalyticKernel
from noisylabels.online.kernel import SurrogateKernel
from noisylabels.online.linear import KnownCovariance, TwoCopy

SLOW = 2000  # rounds of the NumPy loops


def numpy_two_copy(X, X1, X2, y, eta):
    w = np.zeros(X.shape[1])
    predictions = np.empty(len(y))
    for t in range(len(y)):
        predictions[t] = X[t] @ w
        w -= (2 * eta * (X1[t] @ w - y[t])) * X2[t]
        size = w @ w
        if size > 1:
            w /= math.sqrt(size)
    return predictions


def numpy_known_covariance(X, X1, y, v, eta):
    w = np.zeros(X.shape[1])
    predictions = np.empty(len(y))
    for t in range(len(y)):
        predictions[t] = X[t] @ w
        gradient = (X1[t] @ w - y[t]) * X1[t] - v * w
        w = w - 2 * eta * gradient
        size = w @ w
        if size > 1:
            w /= math.sqrt(size)
    return predictions


def numpy_surrogate_rounds(X, X1, X2, y, eta, pair, start, stop):
    """Rounds start..stop-1 of Algorithm 3 after `start` others; kernel rows are vectorised."""
    rate = float(pair.rates[0])
    narrow = float(pair.surrogate_rates[0, 0])

    def value(support, a, x, rate):
        squares = ((support - x) ** 2).sum(axis=1)
        return a @ np.exp(-rate * squares)

    alpha = np.zeros(stop)
    alpha[:start] = 1e-6
    norm = 0.0
    for t in range(start, stop):
        support = X1[:t]
        a = alpha[:t]
        value(support, a, X[t], rate)  # the prediction
        guess = pair.diagonal * value(support, a, X2[t], narrow)
        h = pair.diagonal * value(support, a, X1[t], narrow)
        alpha[t] = -eta * 2 * (guess - y[t])
        norm += 2 * alpha[t] * h + alpha[t] ** 2 * pair.diagonal
    return alpha


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def exponentials(values, times):
    """Sum of exp of all values, `times` times over, from the first-level cache."""
    total = 0.0
    for i in range(times):
        for j in range(len(values)):
            total += exp_of_negative(values[j] - 1e-9 * i)
    return total


Candidates = dict[str, tuple[Callable[[], object], float]]
"""Name -> call, and its units of work."""


def turns(candidates: Candidates, repeat: int) -> dict[str, list[float]]:
    """CPU nanoseconds per unit of every candidate in every turn but the first, which compiles."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(repeat + 1):
        for name, (call, units) in candidates.items():
            start = time.process_time()
            call()
            if turn:
                times[name].append(1e9 * (time.process_time() - start) / units)
    return times


def ratio(slow: list[float], fast: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def linear(d: int, T: int, repeat: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((T, d)) / math.sqrt(d)
    y = X[:, 0].copy()
    v = np.full(d, 1 / d)
    law = FeatureNoise(variances=v)
    X1 = X + law.draw(rng, T)
    X2 = X + law.draw(rng, T)
    eta = 0.01
    few = slice(0, SLOW)
    copies = (X[few], X1[few], X2[few], y[few])
    one_copy = (X[few], X1[few], y[few], v)
    candidates: Candidates = {
        "NumPy, two copies": (lambda: numpy_two_copy(*copies, eta), SLOW),
        "two_copy": (lambda: TwoCopy(eta).run(X, X1, X2, y), T),
        "NumPy, known": (lambda: numpy_known_covariance(*one_copy, eta), SLOW),
        "known_covariance": (lambda: KnownCovariance(eta).run(X, X1, y, variances=v), T),
        "noise, one copy": (lambda: law.draw(rng, T), T),
    }
    times = turns(candidates, repeat)
    loops = {"two_copy": "NumPy, two copies", "known_covariance": "NumPy, known"}
    for name, values in times.items():
        against = ""
        if name in loops:
            against = f"{ratio(times[loops[name]], values):8.0f}x NumPy"
        median = statistics.median(values)
        print(f"d = {d:3}  {name:20}{median:10.1f} ns/round{against}", flush=True)


def surrogate(T: int, repeat: int) -> None:
    rng = np.random.default_rng(0)
    pair = gaussian_pair(1.0, [0.25, 0.25])
    X = rng.uniform(-1, 1, (T, 2))
    X1, X2 = X + 0.5 * rng.standard_normal((2, T, 2))
    y = X[:, 0].copy()
    exponents = np.linspace(-3, 0, 1024)
    few = 60
    start = int(T / math.sqrt(2))  # a round with so many points has the mean square cost
    our_values = 3 * T * T / 2
    their_values = 3 * few * (start + few / 2)
    rounds = (X, X1, X2, y, 0.01, pair, start, start + few)
    candidates: Candidates = {
        "NumPy, vectorised rows": (lambda: numpy_surrogate_rounds(*rounds), their_values),
        "surrogate_kernel": (
            lambda: SurrogateKernel(pair, 0.01, 8.0).run(X, X1, X2, y),
            our_values,
        ),
        "exp alone, in cache": (lambda: exponentials(exponents, 2000), 2000 * 1024),
    }
    times = turns(candidates, repeat)
    for name, values in times.items():
        median = statistics.median(values)
        print(f"T = {T}, d = 2  {name:24}{median:8.2f} ns/kernel value", flush=True)
    ours = times["surrogate_kernel"]
    faster = ratio(times["NumPy, vectorised rows"], ours)
    of_an_exp = 1 / ratio(times["exp alone, in cache"], ours)
    seconds = ours[0] * our_values / 1e9
    print(f"    {faster:.0f}x NumPy, {of_an_exp:.1f} times an exp, {seconds:.2f} s a run")


def algorithm_4(T: int, repeat: int) -> None:
    squared = analytic.squared()
    exponential = analytic.exponential()
    smoothed = analytic.smoothed_absolute(0.5)
    quadratic = tensor.polynomial(2, scale=0.25)
    cases = {
        "linear, squared, p = 2": (tensor.linear(), squared, 2, 2.0),
        "(1 + a)^2, exponential, p = 2": (quadratic, exponential, 2, 2.0),
        "Gaussian, smoothed |.|, p = 1.5": (tensor.gaussian(4.0), smoothed, 1, 1.5),
    }
    for title, (kernel, loss, d, p) in cases.items():
        X = np.random.default_rng(0).uniform(-0.7, 0.7, (T, d))
        y = np.sign(X[:, 0]) if loss.classification else 0.5 * X[:, 0]
        law = FeatureNoise(variances=np.full(d, 0.1))

        def fast(rounds, X=X, y=y, kernel=kernel, loss=loss, p=p, law=law):
            rng = np.random.default_rng(1)
            coin = np.random.default_rng(2)
            learner = AnalyticKernel(kernel, loss, 1e-3, coin, p)
            return learner.run(X[:rounds], lambda r: X[r] + law.draw(rng, r), y[:rounds])

        times = turns({"all": (lambda: fast(T), T), "500": (lambda: fast(500), 500)}, repeat)
        of_all = statistics.median(times["all"])
        of_500 = statistics.median(times["500"])
        print(f"{title:34} {of_all:6.0f} ns/round at T = {T}, noise included", end="")
        print(f"; {of_500:6.0f} at T = 500", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--T", type=int, default=32_768, help="rounds of Algorithm 3")
    arguments = parser.parse_args()
    versions = f"NumPy {np.__version__}, numba {numba.__version__}"
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions}")
    linear(3, 200_000, arguments.turns)
    linear(100, 10_000, arguments.turns)
    surrogate(arguments.T, arguments.turns)
    algorithm_4(100_000, arguments.turns)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
