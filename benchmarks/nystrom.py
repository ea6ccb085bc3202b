# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""rKLR on many rows by Nystrom's features: CPU seconds, peak memory, and error.

Two classes on interleaved curves in the plane and 8 features of noise, 30 % of class 0 under the
wrong name; errors are against the true classes of 20,000 new points. The exact fit takes the first
rows only.

    python benchmarks/nystrom.py [--rows 100000] [--landmarks 1000] [--exact 5000]
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import resource
import time
from typing import get_args

import numpy as np

from noisylabels.classifiers.kernel_logistic import RobustKernelLogisticRegression
from noisylabels.classifiers.nystrom_logistic import (
    Landmarks,
    RobustNystromLogisticRegression,
)


def curves(n, seed):
    """X (n, 10), true classes (n,), observed classes (n,)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    angle = np.pi * rng.random(n)
    side = np.where(y == 1, -1, 1)
    moons = np.column_stack([np.cos(angle) + y, side * np.sin(angle) + 0.5 * y])
    noise = rng.standard_normal((n, 10))
    X = np.column_stack([2.0 * moons + 0.5 * noise[:, :2], 0.3 * noise[:, 2:]])
    flipped = (y == 0) & (rng.random(n) < 0.3)
    return X, y, np.where(flipped, 1, y)


def report(name, model, X, observed, new):
    start = time.process_time()
    model.fit(X, observed)
    fitted = time.process_time()
    error = 100 * (1 - model.score(*new))
    spent = time.process_time() - fitted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    up, down = model.flip_matrix_[0, 1], model.flip_matrix_[1, 0]
    print(
        f"{name}: fit {fitted - start:.1f} s, {len(new[1])} predictions {spent:.1f} s, "
        f"peak so far {peak:.2f} GiB, "
        f"error {error:.2f} %, flip rates {up:.3f} {down:.3f}, flags {model.flags_}",
        flush=True,
    )


def main():
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--exact", type=int, default=5000, help="rows of the exact fit; 0: none")
    parser.add_argument("--choice", nargs="*", default=["uniform"], choices=get_args(Landmarks))
    arguments = parser.parse_args()
    options = {"width": 1.5, "zeta": 0.1, "bias": "free", "penalty": "rkhs"}
    X, _, observed = curves(arguments.rows, 0)
    new = curves(20_000, 1)[:2]
    part = X[: arguments.exact], observed[: arguments.exact]
    for choice in arguments.choice:
        chosen = {"landmarks": arguments.landmarks, "choice": choice, "random_state": 0}
        model = RobustNystromLogisticRegression(**chosen, **options)
        name = f"{arguments.landmarks} landmarks, {choice}"
        report(f"{arguments.rows} rows, {name}", model, X, observed, new)
        if arguments.exact:
            report(f"{arguments.exact} rows, {name}", model, *part, new)
    if arguments.exact:
        exact = RobustKernelLogisticRegression(**options)
        report(f"{arguments.exact} rows, exact", exact, *part, new)
        agree = np.mean(exact.predict(X) == model.predict(X))
        print(f"same class as the exact fit: {100 * agree:.2f} %")


if __name__ == "__main__":
    main()
