# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of SGD against scikit-learn's SGDClassifier, side by side in one process.

The cost is that of a marginal epoch: theirs (6 epochs - 1 epoch) / 5, ours epochs 2 to 6 of a run,
with the random order of each. Medians of the CPU times of interleaved repetitions, nanoseconds per
example (and model).

    python benchmarks/sgd.py [--repetitions 5] [--rows 1000000] [--susy]

--susy times 15 epochs on 5 million rows of 18 features per loss, and prints the peak memory.
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import resource
import time
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier

from noisylabels.classifiers.linear import RobustSGDClassifier
from noisylabels.losses import margin as losses
from noisylabels.solvers.sgd import Candidate, fit_models

LAM, ETA = 1e-5, 0.01


def dense(n, d=18):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal(d) + 2 * rng.standard_normal(n)
    return X, np.where(score > 0, 1.0, -1.0)


BLOCK = 512  # rows that are drawn at once


def sparse(n=72_309, d=20_958, nonzeros=54):
    """Rows of exactly `nonzeros` distinct columns, drawn by Zipf's law."""
    rng = np.random.default_rng(0)
    scores = np.log(1 / np.arange(1, d + 1))
    columns = np.empty((n, nonzeros), np.int32)
    # Gumbel trick: the largest perturbed scores are a draw without replacement
    for start in range(0, n, BLOCK):
        size = (min(BLOCK, n - start), d)
        keys = scores - np.log(rng.standard_exponential(size, np.float32))
        largest = np.argpartition(-keys, nonzeros, axis=1)[:, :nonzeros]
        columns[start : start + BLOCK] = np.sort(largest, axis=1)
    values = rng.random(n * nonzeros)
    starts = np.arange(0, n * nonzeros + 1, nonzeros)
    X = csr_matrix((values, columns.ravel(), starts), (n, d))
    margins = X @ rng.standard_normal(d)
    y = np.where(margins > np.median(margins), 1.0, -1.0)
    y[rng.random(n) < 0.1] *= -1
    return X, y


def theirs(X, y, loss):
    """Seconds of one marginal epoch of scikit-learn."""

    def seconds(epochs):
        model = SGDClassifier(
            loss="log_loss" if loss == "log" else loss,
            alpha=LAM,
            learning_rate="constant",
            eta0=ETA,
            max_iter=epochs,
            tol=None,
            random_state=0,
        )
        start = time.process_time()
        model.fit(X, y)
        return time.process_time() - start

    once = seconds(1)
    return (seconds(6) - once) / 5


def ours(X, y, loss):
    """Seconds of one epoch of RobustSGDClassifier: epochs 2 to 6 of a run."""
    model = RobustSGDClassifier(
        loss,
        lam=LAM,
        schedule="constant",
        eta0=ETA,
        epochs=6,
        random_state=0,
    )
    epochs = model.fit_epochs(X, y)
    next(epochs)
    start = time.process_time()
    for _ in epochs:
        pass
    return (time.process_time() - start) / 5


def many(X, y, loss, models=72):
    """Seconds of one marginal epoch of a grid of models, per model: 8 lambdas, 3 multipliers."""
    grid = []
    for k in range(models):
        lam = 10.0 ** (-6 + k % 8)
        multiplier = (0.3, 1.0, 3.0)[k // 8 % 3]
        grid.append(Candidate(losses.resolve(loss), lam, multiplier))

    def seconds(epochs):
        rows = np.arange(len(y))
        start = time.process_time()
        fit_models(X, y, rows, grid, np.random.default_rng(0), epochs=epochs)
        return time.process_time() - start

    once = seconds(1)
    return (seconds(3) - once) / 2 / models


def compare(name, X, y, loss, repetitions, rows_of_grid):
    some = slice(0, rows_of_grid)
    learners = {
        "scikit-learn": lambda: theirs(X, y, loss) / len(y),
        "ours": lambda: ours(X, y, loss) / len(y),
        "72 models": lambda: many(X[some], y[some], loss) / len(y[some]),
    }
    for learner in ("ours", "72 models"):  # compile, warm up
        learners[learner]()
    times = {learner: [] for learner in learners}
    for _ in range(repetitions):
        for learner, measure in learners.items():
            times[learner].append(measure() * 1e9)
    peer = np.array(times["scikit-learn"])
    cells = [f"scikit-learn {np.median(peer):7.1f} ns"]
    for learner, unit in (("ours", "ns"), ("72 models", "ns each")):
        ratio = np.median(peer / times[learner])
        cells.append(f"{learner} {np.median(times[learner]):6.1f} {unit} ({ratio:.1f}x)")
    print(f"{name:8} {loss:6} {'   '.join(cells)}", flush=True)


def susy():
    X, y = dense(5_000_000)
    for loss in ("log", "hinge", "ramp", "smooth_ramp", "rgomp"):
        start = time.process_time()
        RobustSGDClassifier(loss, lam=1e-6, epochs=15, random_state=0).fit(X, y)
        print(f"5M x 18, 15 epochs, {loss:12} {time.process_time() - start:6.1f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the dense problem")
    susy_size = "time a problem of the size of SUSY instead"
    parser.add_argument("--susy", action="store_true", help=susy_size)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.susy:
        return susy()
    X, y = dense(arguments.rows)
    for loss in ("hinge", "log"):
        compare("dense", X, y, loss, arguments.repetitions, 50_000)
    X, y = sparse()
    for loss in ("hinge", "log"):
        compare("sparse", X, y, loss, arguments.repetitions, 20_000)


if __name__ == "__main__":
    main()
