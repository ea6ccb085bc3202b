#!/usr/bin/env python
"""CPU time of single robust logistic fits, linear and on a kernel, next to scikit-learn's.

    python benchmarks/logistic.py

scikit-learn takes labels as they are, so its work is that of the plain models. The kernel models
have its penalty. A tenth of the labels is flipped. All fit the same data; each number is the least
of several fits that take turns.
"""

from time import process_time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from noisylabels import (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
    RobustLogisticRegression,
)

FLIPPED = 0.1
FITS = 5
WIDTH = 0.05  # of the Gaussian kernel, as gamma
LINEAR_ROWS = (1000, 10_000, 100_000)
KERNEL_ROWS = (200, 800, 1600)


def make_problem(rows, features):
    """Rows of Gaussian features, and labels by a logistic model of which some are flipped."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    score = X @ rng.standard_normal(features) + rng.logistic(size=rows)
    flipped = rng.random(rows) < FLIPPED
    return X, ((score > 0) != flipped).astype(int)


def fit_peer_on_kernel(X, y):
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-6, max_iter=2000)
    return peer.fit(rbf_kernel(X, gamma=WIDTH), y)


def measure(fits, X, y):
    """The least CPU time of each of several fits, the first of which is discarded."""
    seconds = {name: [] for name in fits}
    for _ in range(FITS + 1):
        for name, fit in fits.items():
            begin = process_time()
            fit(X, y)
            seconds[name].append(process_time() - begin)
    return {name: min(times[1:]) for name, times in seconds.items()}


def show(title, sizes, features, fits):
    """A line for every size: milliseconds, and the ratio to the last of the fits."""
    print(title)
    for rows in sizes:
        X, y = make_problem(rows, features)
        seconds = measure(fits, X, y)
        peer = list(seconds.values())[-1]
        cells = []
        for name, value in seconds.items():
            cells.append(f"{name} {1000 * value:.1f} ms ({value / peer:.2f})")
        print(f"{rows:9,} rows: {', '.join(cells)}", flush=True)


def fit_robust_on_kernel(X, y):
    return RobustKernelLogisticRegression(WIDTH, 1.0, parametrisation="gamma").fit(X, y)


def fit_plain_on_kernel(X, y):
    return KernelLogisticRegression(WIDTH, 1.0, parametrisation="gamma").fit(X, y)


def main():
    linear = {
        "RobustLogisticRegression": lambda X, y: RobustLogisticRegression().fit(X, y),
        "LogisticRegression": lambda X, y: LogisticRegression(max_iter=1000).fit(X, y),
    }
    show("linear, 20 features", LINEAR_ROWS, 20, linear)
    kernel = {
        "RobustKernelLogisticRegression": fit_robust_on_kernel,
        "KernelLogisticRegression": fit_plain_on_kernel,
        "LogisticRegression on the kernel": fit_peer_on_kernel,
    }
    show("Gaussian kernel, 10 features", KERNEL_ROWS, 10, kernel)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
