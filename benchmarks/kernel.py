# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of KLR and rKLR: a whole cross-validation per data set, and the batched solver against single fits.

    python benchmarks/kernel.py [--sets ida_heart ida_banana ...] [--prepared data/prepared] [--repetitions 3]

Cross-validation: CPU seconds for the first split, 10 % of it set apart for validation, 5 folds of the rest,
21 widths, 11 zeta, clean labels and symmetric flips at 10, 20, 30 and 40 %. Against, on sets of at most 400
points: the same models of one kernel by EM-Newton, one at a time from the same basis, and KLR by
scikit-learn's LogisticRegression on the columns of that basis, interleaved in one process, median CPU times.
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

from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression, RobustKernelLogisticRegression
from noisylabels.kernels.gaussian import WIDTHS, Gram, rbf, squared_distances, useful_widths
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_softmax import em_newton
from reproduction.data.prepared import load_prepared

SETS = [
    "banana", "breast_cancer", "diabetes", "flare_solar", "german", "heart", "image", "ringnorm", "splice",
    "thyroid", "titanic", "twonorm", "waveform",
]  # fmt: skip
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4)
METHODS = {"KLR": KernelLogisticRegression, "rKLR": RobustKernelLogisticRegression}
GRID = KernelLogisticRegression.GRID
COMPARED = 400  # points at most; EM-Newton needs minutes for one kernel of a larger set


def training_split(path):
    """z-scored X (n, d), labels (n, 5) of 0 and 1 with the flips of `LEVELS`, of the first split."""
    arrays = load_prepared(path).arrays
    rows = arrays["train"][0]
    X, y = arrays["X"][rows].astype(float), (arrays["y"][rows] > 0).astype(float)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rng = np.random.default_rng(0)
    return X, np.column_stack([np.where(rng.random(len(y)) < level, 1 - y, y) for level in LEVELS])


def folds(n, rng, count=5):
    """(training rows, validation rows) with one validation set of 10 % for all folds."""
    order = rng.permutation(n)
    validation, rest = order[: n // 10], order[n // 10 :]
    return [(np.delete(rest, np.arange(k, len(rest), count)), validation) for k in range(count)]


def cross_validation(X, labels):
    """CPU seconds of kernels, bases and the two methods, and the number of kernels."""
    seconds, kernels = dict.fromkeys(["kernels", "bases", *METHODS], 0.0), 0

    def lap(part, start):
        now = time.process_time()
        seconds[part] += now - start
        return now

    start = time.process_time()
    D = squared_distances(X)
    widths = useful_widths(D, WIDTHS)
    for train, validation in folds(len(X), np.random.default_rng(0)):
        within, out = D[np.ix_(train, train)], D[np.ix_(validation, train)]
        for width in widths:
            gram = Gram(rbf(within, width), rbf(out, width))
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
    for column in labels.T:
        for zeta in GRID:
            LogisticRegression(C=0.5 / zeta, fit_intercept=False, tol=1e-4, max_iter=200).fit(Z, column)


def compare(X, labels, repetitions):
    """Median CPU milliseconds of all models of one kernel (middle width), given its basis."""
    train, validation = folds(len(X), np.random.default_rng(0))[0]
    D = squared_distances(X[train])
    widths = useful_widths(D, WIDTHS)
    width = widths[len(widths) // 3]
    gram = Gram(rbf(D, width), rbf(squared_distances(X[validation], X[train]), width))
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=[f"ida_{name}" for name in SETS])
    parser.add_argument("--prepared", type=Path, default=Path("data/prepared"))
    parser.add_argument("--repetitions", type=int, default=3, help="of the comparison; 0: none")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    small = rng.standard_normal((40, 2)), (rng.random((40, 2)) < 0.5).astype(float)
    cross_validation(*small)  # compile
    total = dict.fromkeys(["kernels", "bases", *METHODS], 0.0)
    for name in arguments.sets:
        X, labels = training_split(arguments.prepared / f"{name}.npz")
        seconds, kernels = cross_validation(X, labels)
        total = {part: total[part] + value for part, value in seconds.items()}
        parts = "  ".join(f"{part} {value:6.2f}" for part, value in seconds.items())
        print(
            f"{name:18} n {len(X):5}  kernels {kernels:3}  {parts}  sum {sum(seconds.values()):6.2f} s",
            flush=True,
        )
        if arguments.repetitions and len(X) <= COMPARED:
            width, medians = compare(X, labels, arguments.repetitions)
            line = "  ".join(f"{run} {value:.1f}" for run, value in medians.items())
            ratio = {m: medians[f"{m}, EM-Newton"] / medians[m] for m in METHODS}
            print(
                f"    width {width:g}, ms: {line};  KLR {ratio['KLR']:.0f}x, rKLR {ratio['rKLR']:.0f}x",
                flush=True,
            )
    parts = "  ".join(f"{part} {value:6.2f}" for part, value in total.items())
    print(f"{'all':18} {parts}  sum {sum(total.values()):6.2f} s")


if __name__ == "__main__":
    main()
