# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the p-norm filters next to plain NumPy loops: ``python benchmarks/pnorm.py``.

Every turn runs all candidates one after the other in one process and takes their CPU time; the
table shows medians over the turns. "link" is the five-line loop that calls `filters.theory.link`;
"by hand" is the same loop with the link written out and one maximum, which is as fast as we could
write it without leaving NumPy.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np

from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import EGPlusMinus, PNormLMS
from noisylabels.filters.theory import link, norm, rate
from noisylabels.validation import Floats


def with_link(X: Floats, y: Floats, eta: float, p: float) -> Floats:
    theta = np.zeros(X.shape[1])
    w = np.zeros(X.shape[1])
    yhat = np.empty(len(y))
    for t in range(len(y)):
        yhat[t] = w @ X[t]
        theta += eta * (y[t] - yhat[t]) * X[t]
        w = link(theta, p)
    return yhat


def by_hand(X: Floats, y: Floats, eta: float, p: float) -> Floats:
    theta = np.zeros(X.shape[1])
    w = np.zeros(X.shape[1])
    yhat = np.empty(len(y))
    for t in range(len(y)):
        yhat[t] = w @ X[t]
        theta += eta * (y[t] - yhat[t]) * X[t]
        size = np.abs(theta)
        top = size.max()
        z = size / top
        power = z ** (p - 1)
        w = np.copysign(power, theta) * (top * (power @ z) ** ((2 - p) / p))
    return yhat


def cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(n: int, T: int, turns: int, many: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (T, n))
    u = (np.arange(n) < 3).astype(float)
    y = X @ u + 0.1 * rng.standard_normal(T)
    p = 2 * float(np.log(n))
    eta = rate(p, float(norm(X[0], p)))
    few = min(T, 2000)  # rows of the slow loops
    filters = [PNormLMS(eta, p) for _ in range(many)]
    candidates: dict[str, tuple[Callable[[], object], int]] = {
        "NumPy, link": (lambda: with_link(X[:few], y[:few], eta, p), few),
        "NumPy, by hand": (lambda: by_hand(X[:few], y[:few], eta, p), few),
        "pnorm_lms, 1 filter": (lambda: PNormLMS.run_many(filters[:1], X, y), T),
        f"pnorm_lms, {many} filters": (lambda: PNormLMS.run_many(filters, X, y), T * many),
        "eg_pm": (lambda: EGPlusMinus(eta, 3.0).run(X, y), T),
        "lms": (lambda: LMS(1 / n).run(X, y), T),
    }
    of_loop = by_hand(X[:few], y[:few], eta, p)
    of_filter = PNormLMS(eta, p).run(X[:few], y[:few])
    error = np.abs(of_loop - of_filter).max()
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(turns + 1):
        for name, (call, steps) in candidates.items():
            seconds = cpu(call) / steps
            if turn:  # the first turn compiles
                times[name].append(seconds)
    print(f"\nn = {n}, T = {T}, p = {p:.2f}; largest difference of the predictions {error:.1e}")
    print(f"{'':24}{'ns/step':>12}{'ns/step/coord':>15}{'x link':>10}{'x by hand':>11}")
    for name, values in times.items():
        link_ratio = ratio(times["NumPy, link"], values)
        by_hand_ratio = ratio(times["NumPy, by hand"], values)
        step = 1e9 * statistics.median(values)
        print(f"{name:24}{step:12.0f}{step / n:15.2f}{link_ratio:10.1f}{by_hand_ratio:11.1f}")


def ratio(slow: list[float], fast: list[float]) -> float:
    """Median of the ratios within a turn."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--filters", type=int, default=8, help="filters that share one pass")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    for n, T in ((100, 20_000), (1024, 2_000)):
        measure(n, T, arguments.turns, arguments.filters)


if __name__ == "__main__":
    main()
