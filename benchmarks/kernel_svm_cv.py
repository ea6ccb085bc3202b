# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Cross-validation of a Gaussian SVM against liquidSVM 1.0.1, side by side in one process.

Both choose among the same 10 widths and 10 values of C in 5 stratified folds, each fold for itself,
and predict by the mean of the five models. CPU seconds from training rows to predictions of the
test rows, one thread, median over splits of the IDA benchmark; mean test error and its standard
error.

liquidSVM is C++ (AGPL) and not among our packages. Its source distribution builds with one command:

    pip download --no-deps --no-binary :all: liquidSVM && tar xf liquidSVM-1.0.1.tar.gz
    g++ -O3 -march=native -std=c++11 -shared -fPIC -w $(python3-config --includes) -Isrc \\
        src/liquidSVMmodule.cpp -o liquidsvm.so -lpthread        # in liquidSVM-1.0.1

    python benchmarks/kernel_svm_cv.py .../liquidsvm.so [--data data/prepared/ida_banana.npz ...]
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import ctypes
import itertools
import time

import numpy as np
from sklearn.model_selection import StratifiedKFold

from noisylabels.classifiers.kernel_svm import KernelSVMClassifier
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances
from noisylabels.seeding import Seeds
from reproduction.data.prepared import load_prepared
from reproduction.run.protocol_loop import Repetition, split_of

FOLDS = 5
RULES = {"LIBSVM's rule": {}, "liquidSVM's rule": {"gap": 1e-3}}
"""When to stop: no violation above 1e-3, or a duality gap of at most 1e-3 n C (`stop_eps`)."""


def grid(n, d):
    """Widths of exp(-D / width^2) and values of C as in liquidSVM's default grid, for n rows."""
    widest = 5.0 * (1 + 5 / n) ** d
    narrowest = 0.2 * n ** (-1 / d)
    lambdas = np.geomspace(1e-2, 1e-3 / n, 10)
    return np.geomspace(widest, narrowest, 10), 1 / (2 * n * lambdas)


class LiquidSVM:
    """The functions of the library that training, selection and prediction need."""

    def __init__(self, file):
        numbers = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")
        integer = ctypes.c_int
        text = ctypes.c_char_p
        texts = ctypes.POINTER(text)
        result = ctypes.POINTER(ctypes.c_double)
        library = ctypes.CDLL(file)
        library.liquid_svm_init.argtypes = [numbers, integer, integer, numbers]
        library.liquid_svm_set_param.argtypes = [integer, text, text]
        library.liquid_svm_get_config_line.argtypes = [integer, integer]
        library.liquid_svm_get_config_line.restype = text
        library.liquid_svm_clean.argtypes = [integer]
        for name in ("train", "select", "test"):
            function = getattr(library, f"liquid_svm_{name}")
            function.argtypes = [integer, integer, texts]
            function.restype = result
        rows_and_errors = [numbers, integer, integer, numbers, ctypes.POINTER(result)]
        library.liquid_svm_test.argtypes += rows_and_errors
        self.library = library

    def _words(self, model, stage, further=()):
        line = self.library.liquid_svm_get_config_line(model, stage).split()
        words = [b"liquidsvm", *line, *(str(word).encode() for word in further)]
        return len(words), (ctypes.c_char_p * len(words))(*words)

    def predict(self, X, y, X_test, widths, Cs):
        """Signs for X_test, of the default solver of classification."""
        n = len(X) * (FOLDS - 1) / FOLDS
        model = self.library.liquid_svm_init(X, *X.shape, y)
        for name, value in (("SCENARIO", "MC AvA_hinge"), ("FOLDS", FOLDS), ("THREADS", 1)):
            self.library.liquid_svm_set_param(model, name.encode(), str(value).encode())
        lambdas = 1 / (2 * n * Cs)
        further = []
        for option, values in (("-g", widths), ("-l", lambdas)):  # it reads no exponents
            further += [option, len(values), f"{values.min():.15f}", f"{values.max():.15f}", 0]
        if not self.library.liquid_svm_train(model, *self._words(model, 1, further)):
            raise SystemExit("liquidSVM did not train")
        self.library.liquid_svm_select(model, *self._words(model, 2))
        labels = np.where(np.arange(len(X_test)) % 2, 1.0, -1.0)  # it wants some
        errors = ctypes.POINTER(ctypes.c_double)()
        test = (X_test, *X_test.shape, labels, ctypes.byref(errors))
        result = self.library.liquid_svm_test(model, *self._words(model, 3), *test)
        rows = int(result[0])
        columns = int(result[1])
        values = np.ctypeslib.as_array(result, (2 + rows * columns,))[2:]
        signs = values.reshape(rows, columns)[:, 0].copy()
        self.library.liquid_svm_clean(model)
        return signs


def without(K, rows):
    """K (n, n) without the rows and columns of a slice."""
    start, stop = rows.start, rows.stop
    n = len(K) - (stop - start)
    remaining = np.empty((n, n))
    remaining[:start, :start] = K[:start, :start]
    remaining[:start, start:] = K[:start, stop:]
    remaining[start:, :start] = K[stop:, :start]
    remaining[start:, start:] = K[stop:, stop:]
    return remaining


def ours(X, y, X_test, widths, Cs, rule):
    """Signs for X_test; rows are sorted by fold, so that the rest of a kernel is in four blocks."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    held = [rows for _, rows in folds.split(X, y)]
    order = np.concatenate(held)
    ends = np.cumsum([0, *map(len, held)])
    X = X[order]
    labels = y[order] > 0
    folds = [slice(start, stop) for start, stop in itertools.pairwise(ends)]
    D = squared_distances(X)
    best = [(np.inf, 0.0, 0.0)] * FOLDS
    for width in widths:
        K = rbf(D, width, "sigma1")
        for k, rows in enumerate(folds):
            training_labels = np.delete(labels, rows)[:, np.newaxis]
            gram = Gram(without(K, rows), np.delete(K[rows], rows, axis=1))
            fits = KernelSVMClassifier.fit_many(gram, training_labels, Cs, **rule)
            wrong = ((fits.scores[0] > 0) != labels[rows]).sum(axis=1)
            # of equal errors the widest kernel, then the smallest C
            best[k] = min(best[k], (wrong.min(), -width, Cs[wrong.argmin()]))
    f = np.zeros(len(X_test))
    for (_, minus_width, C), rows in zip(best, folds, strict=True):
        model = KernelSVMClassifier(-minus_width, C, parametrisation="sigma1", **rule)
        model.fit(np.delete(X, rows, axis=0), np.delete(labels, rows))
        f += model.decision_function(X_test)
    return np.where(f > 0, 1.0, -1.0)


def measure(function, truth, *arguments):
    """(CPU seconds, test error in %)."""
    start = time.process_time()
    signs = function(*arguments)
    return time.process_time() - start, 100 * np.mean(signs != truth)


def main():
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("library", help="liquidSVM as a shared library")
    parser.add_argument("--data", nargs="*", default=["data/prepared/ida_banana.npz"])
    parser.add_argument("--splits", type=int, default=20)
    arguments = parser.parse_args()
    liquid = LiquidSVM(arguments.library)
    for file in arguments.data:
        dataset = load_prepared(file)
        measured = []
        for number in range(arguments.splits):
            split = split_of(dataset, Repetition(Seeds(0, "benchmark"), number, {}))
            X = np.ascontiguousarray(split.X)
            X_test = np.ascontiguousarray(split.X_test)
            y = np.where(split.clean > 0, 1.0, -1.0)
            truth = np.where(split.truth > 0, 1.0, -1.0)
            widths, Cs = grid(len(X) * (FOLDS - 1) / FOLDS, X.shape[1])
            if number == 0:
                ours(X, y, X_test, widths[:1], Cs[:1], {"gap": 0.1})  # compiles
            candidates = [measure(liquid.predict, truth, X, y, X_test, widths, Cs)]
            for rule in RULES.values():
                candidates.append(measure(ours, truth, X, y, X_test, widths, Cs, rule))
            measured.append(candidates)
        report(dataset.id, np.array(measured))


def report(name, measured):
    """Print the means of an array (splits, candidates, 2) of seconds and errors."""
    seconds = np.median(measured[:, :, 0], axis=0)
    errors = measured[:, :, 1]
    mean = errors.mean(axis=0)
    se = errors.std(axis=0, ddof=1) / len(errors) ** 0.5
    print(f"{name}, {len(measured)} splits")
    candidates = ["liquidSVM", *(f"ours, {rule}" for rule in RULES)]
    for k, candidate in enumerate(candidates):
        time_and_ratio = f"{seconds[k]:.3f} s ({seconds[0] / seconds[k]:.2f}x)"
        print(f"  {candidate:23} {time_and_ratio}, {mean[k]:.2f} +- {se[k]:.2f} %")


if __name__ == "__main__":
    main()
