# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the learners with noisy instances beside plain NumPy: ``python benchmarks/online.py``.

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
    w, predictions = np.zeros(X.shape[1]), np.empty(len(y))
    for t in range(len(y)):
        predictions[t] = X[t] @ w
        w -= (2 * eta * (X1[t] @ w - y[t])) * X2[t]
        size = w @ w
        if size > 1:
            w /= math.sqrt(size)
    return predictions


def numpy_known_covariance(X, X1, y, v, eta):
    w, predictions = np.zeros(X.shape[1]), np.empty(len(y))
    for t in range(len(y)):
        predictions[t] = X[t] @ w
        w = w - 2 * eta * ((X1[t] @ w - y[t]) * X1[t] - v * w)
        size = w @ w
        if size > 1:
            w /= math.sqrt(size)
    return predictions


def numpy_surrogate_rounds(X, X1, X2, y, eta, pair, start, stop):
    """Rounds start..stop-1 of Algorithm 3 after `start` others; kernel rows are vectorised."""
    rate, narrow = float(pair.rates[0]), float(pair.surrogate_rates[0, 0])
    alpha, norm = np.zeros(stop), 0.0
    alpha[:start] = 1e-6
    for t in range(start, stop):
        support, a = X1[:t], alpha[:t]
        a @ np.exp(-rate * ((support - X[t]) ** 2).sum(axis=1))
        guess = pair.diagonal * (a @ np.exp(-narrow * ((support - X2[t]) ** 2).sum(axis=1)))
        h = pair.diagonal * (a @ np.exp(-narrow * ((support - X1[t]) ** 2).sum(axis=1)))
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


def turns(candidates: dict[str, tuple[Callable[[], object], float]], repeat: int) -> dict[str, list[float]]:
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
    y, v = X[:, 0].copy(), np.full(d, 1 / d)
    law = FeatureNoise(variances=v)
    X1, X2, eta = X + law.draw(rng, T), X + law.draw(rng, T), 0.01
    few = slice(0, SLOW)
    times = turns(
        {
            "NumPy, two copies": (lambda: numpy_two_copy(X[few], X1[few], X2[few], y[few], eta), SLOW),
            "two_copy": (lambda: TwoCopy(eta).run(X, X1, X2, y), T),
            "NumPy, known": (lambda: numpy_known_covariance(X[few], X1[few], y[few], v, eta), SLOW),
            "known_covariance": (lambda: KnownCovariance(eta).run(X, X1, y, variances=v), T),
            "noise, one copy": (lambda: law.draw(rng, T), T),
        },
        repeat,
    )
    for name, values in times.items():
        slow = {"two_copy": "NumPy, two copies", "known_covariance": "NumPy, known"}.get(name)
        against = f"{ratio(times[slow], values):8.0f}x NumPy" if slow else ""
        print(f"d = {d:3}  {name:20}{statistics.median(values):10.1f} ns/round{against}", flush=True)


def surrogate(T: int, repeat: int) -> None:
    rng = np.random.default_rng(0)
    pair = gaussian_pair(1.0, [0.25, 0.25])
    X = rng.uniform(-1, 1, (T, 2))
    X1, X2 = X + 0.5 * rng.standard_normal((2, T, 2))
    y, exps = X[:, 0].copy(), np.linspace(-3, 0, 1024)
    middle, few = int(T / math.sqrt(2)), 60  # a round with T / sqrt(2) points has the mean square cost
    ours, numpy_ = 3 * T * T / 2, 3 * few * (middle + few / 2)
    numpy_arguments = X, X1, X2, y, 0.01, pair, middle, middle + few
    times = turns(
        {
            "NumPy, vectorised rows": (lambda: numpy_surrogate_rounds(*numpy_arguments), numpy_),
            "surrogate_kernel": (lambda: SurrogateKernel(pair, 0.01, 8.0).run(X, X1, X2, y), ours),
            "exp alone, in cache": (lambda: exponentials(exps, 2000), 2000 * 1024),
        },
        repeat,
    )
    for name, values in times.items():
        print(f"T = {T}, d = 2  {name:24}{statistics.median(values):8.2f} ns/kernel value", flush=True)
    fast = times["surrogate_kernel"]
    print(f"    {ratio(times['NumPy, vectorised rows'], fast):.0f}x NumPy", end="")
    print(
        f", {1 / ratio(times['exp alone, in cache'], fast):.1f} times an exp,"
        f" {fast[0] * ours / 1e9:.2f} s a run",
    )


def algorithm_4(T: int, repeat: int) -> None:
    cases = {
        "linear, squared, p = 2": (tensor.linear(), analytic.squared(), 2, 2.0),
        "(1 + a)^2, exponential, p = 2": (tensor.polynomial(2, scale=0.25), analytic.exponential(), 2, 2.0),
        "Gaussian, smoothed |.|, p = 1.5": (tensor.gaussian(4.0), analytic.smoothed_absolute(0.5), 1, 1.5),
    }
    for title, (kernel, loss, d, p) in cases.items():
        X = np.random.default_rng(0).uniform(-0.7, 0.7, (T, d))
        y = np.sign(X[:, 0]) if loss.classification else 0.5 * X[:, 0]
        law = FeatureNoise(variances=np.full(d, 0.1))

        def fast(rounds, X=X, y=y, kernel=kernel, loss=loss, p=p, law=law):
            rng, coin = np.random.default_rng(1), np.random.default_rng(2)
            learner = AnalyticKernel(kernel, loss, 1e-3, coin, p)
            return learner.run(X[:rounds], lambda r: X[r] + law.draw(rng, r), y[:rounds])

        times = turns({"fast": (lambda: fast(T), T), "fast, T = 500": (lambda: fast(500), 500)}, repeat)
        medians = {name: statistics.median(values) for name, values in times.items()}
        print(f"{title:34} {medians['fast']:6.0f} ns/round at T = {T}, noise included", end="")
        print(f"; {medians['fast, T = 500']:6.0f} at T = 500", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--T", type=int, default=32_768, help="rounds of Algorithm 3")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}", end="")
    print(f", numba {numba.__version__}")
    linear(3, 200_000, arguments.turns)
    linear(100, 10_000, arguments.turns)
    surrogate(arguments.T, arguments.turns)
    algorithm_4(100_000, arguments.turns)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
