# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the SVM path against scikit-learn's SVC on the same kernel matrices, in one process.

CPU seconds for 11 values of C on a fold of a split of the IDA benchmark, three columns of flipped
labels, every second width: SVC for every C; SVC without the fits whose result follows exactly from
another C (no bounded support vector at a smaller C; a whole class at the bound at a larger C); the
path.

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
from reproduction.run.protocol_loop import Repetition, noisy_labels, split_of
from reproduction.spec.settings import Noise

NOISE = ["independent 0.1", "independent 0.3", "negative_only 0.3"]


def seconds(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def theirs(K, labels, Cs):
    """Time all fits, and only those that do not follow from another one, from the largest C."""
    all_fits = 0.0
    needed_fits = 0.0
    enough = np.inf  # a C from which on no support vector is bounded
    is_bounded = False  # a whole class is at the bound, as it will be for every smaller C
    rare = labels.sum() * 2 <= len(labels)
    for C in sorted(Cs, reverse=True):
        model, spent = seconds(SVC(C=C, kernel="precomputed").fit, K, labels)
        all_fits += spent
        if is_bounded or enough <= C:
            continue
        needed_fits += spent
        alpha = np.zeros(len(K))
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        largest = alpha.max()
        enough = largest if largest < C else np.inf
        is_bounded = bool((alpha[labels == rare] >= C * (1 - 1e-9)).all())
    return all_fits, needed_fits


def main():
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--data", nargs="*", default=["data/prepared/ida_banana.npz"])
    for file in parser.parse_args().data:
        compare(load_prepared(file))


def compare(dataset):
    """Print the times of both on a fold of the first split."""
    repetition = Repetition(Seeds(1, "benchmark", dataset.id), 0, {})
    split = split_of(dataset, repetition)
    n = len(split.clean)
    rows = np.random.default_rng(0).permutation(n)[: round(0.72 * n)]
    noises = [Noise.parse(text) for text in NOISE]
    labels = noisy_labels(split.clean, noises, repetition)[rows]
    D = squared_distances(split.X[rows])
    widths = useful_widths(D, WIDTHS)[::2]
    fit_path = KernelSVMClassifier.fit_many
    grid = KernelSVMClassifier.GRID
    fit_path(Gram(rbf(D, 1.0), rbf(D[:1], 1.0)), labels, [1.0])  # compiles
    path = 0.0
    all_fits = 0.0
    needed_fits = 0.0
    for width in widths:
        gram = Gram(rbf(D, width), rbf(D[:1], width))
        _, spent = seconds(fit_path, gram, labels, grid)
        path += spent
        for column in labels.T:
            spent_on_all, spent_on_needed = theirs(gram.K, column, grid)
            all_fits += spent_on_all
            needed_fits += spent_on_needed
    print(
        f"{dataset.id}: n = {len(D)}, {len(widths)} widths: SVC {all_fits:.2f} s, "
        f"without the fits that follow {needed_fits:.2f} s, path {path:.3f} s "
        f"({all_fits / path:.1f}x, {needed_fits / path:.1f}x)"
    )


if __name__ == "__main__":
    main()
