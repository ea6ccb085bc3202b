# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of robust multi-kernel logistic regression: a split of each of the 13 IDA sets.

Timed is what the study does for a split: squared distances, the kernel stack, one model per noise
level with 21 widths, and the decision values of all test points. CPU seconds, after one run that
compiles, next to the published times of one training without noise (Matlab, 2.67 GHz i5).

    python benchmarks/kernel_mkl.py [--folder data/prepared] [--repetitions 3]

Sets that are not prepared are replaced by Gaussian points of the same sizes and marked with a star.
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import platform
import resource
import time
from pathlib import Path

import numpy as np

from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression
from noisylabels.kernels.gaussian import WIDTHS, squared_distances
from noisylabels.seeding import Seeds
from reproduction.data.loaders.ida import TRAIN
from reproduction.data.prepared import load_prepared
from reproduction.data.registry import REGISTRY, load_registry
from reproduction.run.protocol_loop import Repetition, noisy_labels, split_of
from reproduction.run.splits import Split
from reproduction.spec.settings import Noise

NOISE = [f"independent {rate}" for rate in (0, 0.1, 0.2, 0.3, 0.4)]
PUBLISHED = {
    "banana": 10.16,
    "breast-cancer": 2.96,
    "diabetes": 14.84,
    "flare-solar": 26.73,
    "german": 31.63,
    "heart": 2.15,
    "image": 106.99,
    "ringnorm": 10.54,
    "splice": 64.12,
    "thyroid": 1.64,
    "titanic": 1.68,
    "twonorm": 10.75,
    "waveform": 10.07,
}
"""Published seconds of one training without noise."""


def first_repetition(name):
    return Repetition(Seeds(0, "benchmark", name), 0, {})


def first_split(name, folder):
    """Load the first split, or make one of its size; return it and whether it is the real one."""
    path = Path(folder) / f"ida_{name.replace('-', '_')}.npz"
    if path.is_file():
        return split_of(load_prepared(path), first_repetition(name)), True
    shape = load_registry(REGISTRY)[path.stem].shape
    n = TRAIN[name]
    n_test = shape.rows - n
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, shape.columns))
    X_test = rng.standard_normal((n_test, shape.columns))
    y = (X[:, 0] > 0).astype(np.int8)
    y_test = (X_test[:, 0] > 0).astype(np.int8)
    return Split(X, X_test, y, y_test, np.arange(n), np.arange(n_test)), False


def seconds(split, noisy):
    start = time.process_time()
    D = squared_distances(split.X)
    D_test = squared_distances(split.X_test, split.X)
    RobustMultiKernelLogisticRegression.fit_distances(D, D_test, noisy, WIDTHS)
    return time.process_time() - start


def median_seconds(split, noisy, repetitions):
    return np.median([seconds(split, noisy) for _ in range(repetitions)])


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--folder", default="data/prepared")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    processor = platform.processor() or platform.machine()
    print(f"{processor}, load {os.getloadavg()[0]:.1f}, numpy {np.__version__}")
    times = f"{'5 levels, s':>12} {'clean, s':>11} {'published':>13}"
    print(f"{'set':15} {'n':>5} {'m':>5} {times} {'faster':>7}")
    noises = [Noise.parse(text) for text in NOISE]
    total = 0.0
    for name, published in PUBLISHED.items():
        split, is_real = first_split(name, options.folder)
        noisy = noisy_labels(split.clean, noises, first_repetition(name))
        seconds(split, noisy)  # compiles
        all_levels = median_seconds(split, noisy, options.repetitions)
        clean = median_seconds(split, noisy[:, :1], options.repetitions)
        total += all_levels
        shown = name if is_real else f"{name} *"
        sizes = f"{len(split.clean):5} {len(split.truth):5}"
        times = f"{all_levels:12.3f} {clean:11.3f} {published:13.2f}"
        print(f"{shown:15} {sizes} {times} {published / clean:6.0f}x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    memory = f"peak memory {peak:.2f} GB"
    print(f"all sets, {len(NOISE)} noise levels: {total:.1f} core-seconds; {memory}")


if __name__ == "__main__":
    main()
