# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of robust multi-kernel logistic regression: a split of each of the 13 IDA sets, several noise levels.

Timed is what the study does for a split: squared distances, the kernel stack, one model per noise level with
21 widths, and the decision values of all test points. CPU seconds, after one run that compiles, beside the
published times of one training without noise (Matlab, 2.67 GHz i5).

    python benchmarks/kernel_mkl.py [--folder data/prepared] [--repetitions 3]

Sets that are not prepared are replaced by Gaussian points of the same sizes, and marked with a star.
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
from reproduction.run.protocol_loop import At, noisy_labels, split_of
from reproduction.run.splits import Split
from reproduction.spec.settings import Noise

NOISE = ["independent 0", *(f"independent {rate}" for rate in (0.1, 0.2, 0.3, 0.4))]
PUBLISHED = {
    "banana": 10.16, "breast-cancer": 2.96, "diabetes": 14.84, "flare-solar": 26.73, "german": 31.63,
    "heart": 2.15, "image": 106.99, "ringnorm": 10.54, "splice": 64.12, "thyroid": 1.64, "titanic": 1.68,
    "twonorm": 10.75, "waveform": 10.07,
}  # fmt: skip


def first_split(name, folder):
    """The first split, and whether it is the real one."""
    path = Path(folder) / f"ida_{name.replace('-', '_')}.npz"
    if path.is_file():
        return split_of(load_prepared(path), At(Seeds(0, "benchmark", name), 0, {})), True
    shape = load_registry(REGISTRY)[path.stem].shape
    n, rng = TRAIN[name], np.random.default_rng(0)
    X = rng.standard_normal((n, shape.columns))
    X_test = rng.standard_normal((shape.rows - n, shape.columns))
    labels = ((points[:, 0] > 0).astype(np.int8) for points in (X, X_test))
    return Split(X, X_test, *labels, np.arange(len(X)), np.arange(len(X_test))), False


def seconds(split, noisy):
    start = time.process_time()
    D, D_test = squared_distances(split.X), squared_distances(split.X_test, split.X)
    RobustMultiKernelLogisticRegression.fit_distances(D, D_test, noisy, WIDTHS)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", default="data/prepared")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{platform.processor() or platform.machine()}, load {os.getloadavg()[0]:.1f}, numpy {np.__version__}"
    )
    print(
        f"{'set':15} {'n':>5} {'m':>5} {'5 levels, s':>12} {'clean, s':>11} {'published':>13} {'faster':>7}"
    )
    total = 0.0
    for name, published in PUBLISHED.items():
        split, real = first_split(name, options.folder)
        noisy = noisy_labels(split.clean, map(Noise.parse, NOISE), At(Seeds(0, "benchmark", name), 0, {}))
        seconds(split, noisy)
        every = np.median([seconds(split, noisy) for _ in range(options.repetitions)])
        clean = np.median([seconds(split, noisy[:, :1]) for _ in range(options.repetitions)])
        total += every
        sizes = f"{len(split.clean):5} {len(split.truth):5}"
        shown = name if real else name + " *"
        print(f"{shown:15} {sizes} {every:12.3f} {clean:11.3f} {published:13.2f} {published / clean:6.0f}x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"all sets, {len(NOISE)} noise levels: {total:.1f} core-seconds; peak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
