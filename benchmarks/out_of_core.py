# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""A table as large as SUSY (5,000,000 x 18) on disk: seconds and peak memory of an epoch in chunks.

The file is written first, 50,000 rows of random numbers over and over, 20 % of the labels flipped:
as a memory-mapped array of float32, and as CSV. Each way runs in its own child process, whose
peak memory is given.

    python benchmarks/out_of_core.py [--rows 5000000] [--folder FOLDER] [--chunk 100000]
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from noisylabels import chunks
from noisylabels.classifiers.linear import PegasosClassifier, RobustSGDClassifier

FEATURES, REPEATED = 18, 50_000


def write(folder, rows):
    """Write X.npy, y.npy and table.csv into a folder."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((REPEATED, FEATURES)).astype(np.float32)
    y = positive(X)
    labels = np.where(rng.random(REPEATED) < 0.2, ~y, y).astype(np.int8)
    times = -(-rows // REPEATED)
    mapped = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (rows, FEATURES))
    for start in range(0, rows, REPEATED):
        mapped[start : start + REPEATED] = X[: rows - start]
    mapped.flush()
    np.save(folder / "y.npy", np.tile(labels, times)[:rows])
    lines = []
    for label, x in zip(labels, X, strict=True):
        cells = ",".join(f"{value:.4g}" for value in x)
        lines.append(f"{label},{cells}\n")
    with open(folder / "table.csv", "w") as file:
        for _ in range(rows // REPEATED):
            file.writelines(lines)


def positive(X):
    """Decide which rows are of the positive class."""
    return X[:, :3].sum(axis=1) > 0


def learn(way, folder, chunk, rows):
    sgd = RobustSGDClassifier(epoch_rows=rows)
    pegasos = PegasosClassifier(random_state=0)
    start = time.process_time()
    if way == "csv":
        for X, y in chunks(folder / "table.csv", chunk):
            sgd.partial_fit(X, y, classes=[0, 1])
            pegasos.partial_fit(X, y, classes=[0, 1])
    else:
        X = np.load(folder / "X.npy", mmap_mode="r")
        y = np.load(folder / "y.npy")
        sgd = RobustSGDClassifier(epochs=1, shuffle="blocks", random_state=0).fit(X, y)
        pegasos = PegasosClassifier(max_passes=1, random_state=0).fit(X, y)
    spent = time.process_time() - start
    test = np.random.default_rng(1).standard_normal((10_000, FEATURES))
    errors = [100 * np.mean(model.predict(test) != positive(test)) for model in (sgd, pegasos)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{way}: one epoch of SGD and Pegasos {spent:.0f} CPU s, peak {peak:.2f} GiB, "
        f"errors {errors[0]:.1f} and {errors[1]:.1f} %",
        flush=True,
    )


def main():
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--rows", type=int, default=5_000_000)
    folder = "for the files, 1.1 GB, which are removed afterwards"
    parser.add_argument("--folder", type=Path, help=folder)
    parser.add_argument("--chunk", type=int, default=100_000)
    parser.add_argument("--way", choices=["memmap", "csv"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = arguments.rows
    chunk = arguments.chunk
    if arguments.way:
        learn(arguments.way, arguments.folder, chunk, rows)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        write(Path(name), rows)
        sizes = []
        for file in sorted(Path(name).iterdir()):
            sizes.append(f"{file.name} {file.stat().st_size / 2**30:.2f} GiB")
        print(", ".join(sizes), flush=True)
        for way in ("memmap", "csv"):
            words = ["--rows", str(rows), "--chunk", str(chunk), "--folder", name, "--way", way]
            subprocess.run([sys.executable, __file__, *words], check=True)


if __name__ == "__main__":
    main()
