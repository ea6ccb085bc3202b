#!/usr/bin/env python
"""CPU time of linear robust logistic regression, next to scikit-learn's, which takes labels as they are.

    python benchmarks/robust_logistic.py [rows ...]

Rows have 20 features, and a tenth of the labels is flipped. Each line is the least of several fits in turn.
"""

import sys
from time import process_time

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from noisylabels import RobustLogisticRegression

FEATURES = 20
FLIPPED = 0.1
FITS = 5


def make_problem(rows):
    """Rows of Gaussian features, and labels by a logistic model of which some are flipped."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, FEATURES))
    score = X @ rng.standard_normal(FEATURES) + rng.logistic(size=rows)
    flipped = rng.random(rows) < FLIPPED
    return X, ((score > 0) != flipped).astype(int)


def measure(fits):
    """The least CPU time of each of several fits, which take turns."""
    seconds = {name: [] for name in fits}
    for _ in range(FITS):
        for name, fit in fits.items():
            begin = process_time()
            fit()
            seconds[name].append(process_time() - begin)
    return {name: min(times) for name, times in seconds.items()}


def main(words):
    sizes = [int(word) for word in words] or [1000, 10_000, 100_000]
    X, y = make_problem(100)
    RobustLogisticRegression().fit(X, y)  # compile
    print(f"{'rows':>9} {'robust, ms':>11} {'plain, ms':>10} {'ratio':>6}")
    for rows in sizes:
        X, y = make_problem(rows)
        seconds = measure(
            {
                "robust": lambda X=X, y=y: RobustLogisticRegression().fit(X, y),
                "plain": lambda X=X, y=y: LogisticRegression(max_iter=1000).fit(X, y),
            }
        )
        robust = 1000 * seconds["robust"]
        plain = 1000 * seconds["plain"]
        print(f"{rows:9,} {robust:11.1f} {plain:10.1f} {robust / plain:6.2f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1:])
