# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the SVM path against scikit-learn's SVC on the same kernel matrices, side by side in one process.

CPU seconds for 11 values of C on a fold of a split of the IDA benchmark, three columns of flipped labels,
every second width: SVC for every C; SVC without the fits whose result follows exactly from another C (no
bounded support vector at a smaller C; a whole class at the bound at a larger C); the path.

    python benchmarks/kernel_svm.py [--data data/prepared/ida_banana.npz ...]
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import time

import numpy as np
from sklearn.svm import SVC

from noisylabels.classifiers.kernel_svm import KernelSVMClassifier
from noisylabels.kernels.gaussian import WIDTHS, Gram, rbf, squared_distances, useful_widths
from noisylabels.seeding import Seeds
from reproduction.data.prepared import load_prepared
from reproduction.run.protocol_loop import At, noisy_labels, split_of
from reproduction.spec.settings import Noise

NOISE = ["independent 0.1", "independent 0.3", "negative_only 0.3"]


def seconds(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def theirs(K, labels, Cs):
    """(all fits, only those that do not follow from another one), from the largest C to the smallest."""
    every = needed = 0.0
    enough, below = np.inf, False
    rare = labels.sum() * 2 <= len(labels)
    for C in sorted(Cs, reverse=True):
        model, spent = seconds(SVC(C=C, kernel="precomputed").fit, K, labels)
        every += spent
        if below or enough <= C:
            continue
        needed += spent
        alpha = np.zeros(len(K))
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        enough = alpha.max() if alpha.max() < C else np.inf
        below = bool((alpha[labels == rare] >= C * (1 - 1e-9)).all())
    return every, needed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["data/prepared/ida_banana.npz"])
    for file in parser.parse_args().data:
        dataset = load_prepared(file)
        at = At(Seeds(1, "benchmark", dataset.id), 0, {})
        split = split_of(dataset, at)
        rows = np.random.default_rng(0).permutation(len(split.clean))[: round(0.72 * len(split.clean))]
        labels = noisy_labels(split.clean, map(Noise.parse, NOISE), at)[rows]
        D = squared_distances(split.X[rows])
        widths = useful_widths(D, WIDTHS)[::2]
        totals = np.zeros(3)
        KernelSVMClassifier.fit_many(Gram(rbf(D, 1.0), rbf(D[:1], 1.0)), labels, [1.0])  # compiles
        for width in widths:
            gram = Gram(rbf(D, width), rbf(D[:1], width))
            totals[2] += seconds(KernelSVMClassifier.fit_many, gram, labels, KernelSVMClassifier.GRID)[1]
            for column in labels.T:
                totals[:2] += theirs(gram.K, column, KernelSVMClassifier.GRID)
        print(
            f"{dataset.id}: n = {len(D)}, {len(widths)} widths: SVC {totals[0]:.2f} s, without the fits that "
            f"follow {totals[1]:.2f} s, path {totals[2]:.3f} s ({totals[0] / totals[2]:.1f}x, "
            f"{totals[1] / totals[2]:.1f}x)"
        )


if __name__ == "__main__":
    main()
