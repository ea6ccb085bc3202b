# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""CPU seconds of 50 rounds of Dawid and Skene's EM, next to crowd-kit where it is installed.

    python benchmarks/dawid_skene.py [labels ...]

Five labels an item, 100 annotators, four classes.
"""

import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import sys
import time

import numpy as np
import pandas as pd

from noisylabels import DawidSkene

ROUNDS = 50
LABELS_AN_ITEM = 5
ANNOTATORS = 100
CLASSES = 4


def draw_table(count):
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(count // LABELS_AN_ITEM), LABELS_AN_ITEM)
    truth = rng.integers(CLASSES, size=len(item) // LABELS_AN_ITEM)[item]
    annotator = rng.integers(ANNOTATORS, size=len(item))
    is_right = rng.random(len(item)) < np.linspace(0.4, 0.9, ANNOTATORS)[annotator]
    label = np.where(is_right, truth, rng.integers(CLASSES, size=len(item)))
    return pd.DataFrame({"task": item, "worker": annotator, "label": label}).drop_duplicates(
        ["task", "worker"]
    )


def measure_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def main():
    DawidSkene(max_iter=2).fit(draw_table(500))  # compiles
    try:
        from crowdkit.aggregation import DawidSkene as Peer
    except ImportError:
        Peer = None
    print("labels      ours  ns a label and round   crowd-kit    ratio")
    for count in sys.argv[1:] or ["5000", "50000", "500000"]:
        table = draw_table(int(count))
        ours = DawidSkene(tol=0, max_iter=ROUNDS)
        seconds = measure_seconds(lambda model=ours, table=table: model.fit(table))
        line = f"{count:>7} {seconds:8.3f} {seconds / len(table) / ROUNDS * 1e9:12.1f}"
        if Peer:
            peer = measure_seconds(lambda table=table: Peer(n_iter=ROUNDS, tol=0).fit(table))
            line += f" {peer:20.3f} {seconds / peer:8.2f}"
        print(line)


if __name__ == "__main__":
    main()
