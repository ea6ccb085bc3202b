# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of KLR and rKLR: a cross-validation per data set, and the solver against single fits.

    python benchmarks/kernel.py [--sets ida_heart ...] [--prepared data/prepared] [--repetitions 3]

Cross-validation: CPU seconds for the first split, 10 % of it set apart for validation, 5 folds of
the rest, 21 widths, 11 zeta, clean labels and symmetric flips at 10, 20, 30 and 40 %.

Single fits, on sets of at most 400 points: the same models of one kernel by EM-Newton, one at a
time from the same basis, and KLR by scikit-learn's LogisticRegression on the columns of that basis,
interleaved in one process, median CPU times.
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
)
from noisylabels.kernels.gaussian import WIDTHS, Gram, rbf, squared_distances, useful_widths
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_softmax import em_newton
from reproduction.data.prepared import load_prepared

SETS = [
    "ida_banana",
    "ida_breast_cancer",
    "ida_diabetes",
    "ida_flare_solar",
    "ida_german",
    "ida_heart",
    "ida_image",
    "ida_ringnorm",
    "ida_splice",
    "ida_thyroid",
    "ida_titanic",
    "ida_twonorm",
    "ida_waveform",
]
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4)
METHODS = {"KLR": KernelLogisticRegression, "rKLR": RobustKernelLogisticRegression}
GRID = KernelLogisticRegression.GRID
COMPARED = 400  # points at most; EM-Newton needs minutes for one kernel of a larger set


def training_split(path):
    """Load z-scored X (n, d) of the first split, and labels (n, 5) with the flips of `LEVELS`."""
    arrays = load_prepared(path).arrays
    rows = arrays["train"][0]
    X = arrays["X"][rows].astype(float)
    y = (arrays["y"][rows] > 0).astype(float)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rng = np.random.default_rng(0)
    labels = []
    for level in LEVELS:
        flipped = rng.random(len(y)) < level
        labels.append(np.where(flipped, 1 - y, y))
    return X, np.column_stack(labels)


def folds(n, rng, count=5):
    """(training rows, validation rows) with one validation set of 10 % for all folds."""
    order = rng.permutation(n)
    validation = order[: n // 10]
    rest = order[n // 10 :]
    parts = []
    for fold in range(count):
        held = np.arange(fold, len(rest), count)
        parts.append((np.delete(rest, held), validation))
    return parts


PARTS = ["kernels", "bases", *METHODS]


def format_seconds(seconds):
    parts = "  ".join(f"{part} {value:6.2f}" for part, value in seconds.items())
    return f"{parts}  sum {sum(seconds.values()):6.2f} s"


def cross_validation(X, labels):
    """Measure CPU seconds of kernels, bases and the two methods, and count the kernels."""
    seconds = dict.fromkeys(PARTS, 0.0)
    kernels = 0

    def lap(part, start):
        now = time.process_time()
        seconds[part] += now - start
        return now

    start = time.process_time()
    D = squared_distances(X)
    widths = useful_widths(D, WIDTHS)
    for train, validation in folds(len(X), np.random.default_rng(0)):
        D_train = D[np.ix_(train, train)]
        D_validation = D[np.ix_(validation, train)]
        for width in widths:
            gram = Gram(rbf(D_train, width), rbf(D_validation, width))
            start = lap("kernels", start)
            gram.Z_out  # noqa: B018 - computes the basis
            start = lap("bases", start)
            for name, method in METHODS.items():
                method.fit_many(gram, labels[train], GRID)
                start = lap(name, start)
            kernels += 1
    return seconds, kernels


def one_at_a_time(gram, labels, robust):
    omega = flip_matrix.START if robust else np.eye(2)
    Z = gram.basis.Q * gram.basis.lam
    for column in labels.T:
        for zeta in GRID:
            em_newton(Z, column, np.full(Z.shape[1], zeta), omega, learn_omega=robust)


def scikit_learn(gram, labels):
    Z = gram.basis.Q * gram.basis.lam
    options = {"fit_intercept": False, "tol": 1e-4, "max_iter": 200}
    for column in labels.T:
        for zeta in GRID:
            LogisticRegression(C=0.5 / zeta, **options).fit(Z, column)


def compare(X, labels, repetitions):
    """Median CPU milliseconds of all models of one kernel (middle width), given its basis."""
    train, validation = folds(len(X), np.random.default_rng(0))[0]
    D = squared_distances(X[train])
    D_validation = squared_distances(X[validation], X[train])
    widths = useful_widths(D, WIDTHS)
    width = widths[len(widths) // 3]
    gram = Gram(rbf(D, width), rbf(D_validation, width))
    gram.Z_out  # noqa: B018
    y = labels[train]
    runs = {
        "KLR": lambda: METHODS["KLR"].fit_many(gram, y, GRID),
        "rKLR": lambda: METHODS["rKLR"].fit_many(gram, y, GRID),
        "KLR, EM-Newton": lambda: one_at_a_time(gram, y, False),
        "rKLR, EM-Newton": lambda: one_at_a_time(gram, y, True),
        "KLR, scikit-learn": lambda: scikit_learn(gram, y),
    }
    times = {name: [] for name in runs}
    for _ in range(repetitions):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(1e3 * (time.process_time() - start))
    return width, {name: float(np.median(values)) for name, values in times.items()}


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--prepared", type=Path, default=Path("data/prepared"))
    parser.add_argument("--repetitions", type=int, default=3, help="of the comparison; 0: none")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    labels = (rng.random((40, 2)) < 0.5).astype(float)
    cross_validation(X, labels)  # compiles
    total = dict.fromkeys(PARTS, 0.0)
    for name in arguments.sets:
        X, labels = training_split(arguments.prepared / f"{name}.npz")
        seconds, kernels = cross_validation(X, labels)
        for part, value in seconds.items():
            total[part] += value
        sizes = f"n {len(X):5}  kernels {kernels:3}"
        print(f"{name:18} {sizes}  {format_seconds(seconds)}", flush=True)
        if arguments.repetitions and len(X) <= COMPARED:
            width, medians = compare(X, labels, arguments.repetitions)
            times = "  ".join(f"{run} {value:.1f}" for run, value in medians.items())
            ratios = []
            for method in METHODS:
                ratio = medians[f"{method}, EM-Newton"] / medians[method]
                ratios.append(f"{method} {ratio:.0f}x")
            print(f"    width {width:g}, ms: {times};  {', '.join(ratios)}", flush=True)
    print(f"{'all':18} {format_seconds(total)}")


if __name__ == "__main__":
    main()
