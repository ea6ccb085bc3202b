# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""CPU seconds of a kernel machine fitted from rows, with the kernel matrix, next to LIBSVM.

    python benchmarks/kernel_rows.py [rows ...]

Each size runs in a process of its own, because the first kernel matrix of a process pays for fresh memory.
"""

import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import subprocess
import sys
import time

import numpy as np

FEATURES = 10


def measure_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def measure_fits(n):
    from sklearn.svm import SVC

    from noisylabels import KernelSVMClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, FEATURES))
    y = X[:, 0] + rng.normal(size=n) > 0
    for model in (KernelSVMClassifier(), SVC()):
        model.fit(X[:200], y[:200])  # compiles, imports
    ours = [measure_seconds(lambda: KernelSVMClassifier().fit(X, y)) for _ in range(3)]
    peer = [measure_seconds(lambda: SVC().fit(X, y)) for _ in range(3)]
    ratio = np.median(ours) / np.median(peer)
    print(
        f"{n:6} {ours[0]:10.3f} {np.median(ours):10.3f} {peer[0]:12.3f} {np.median(peer):10.3f} {ratio:8.2f}"
    )


def main():
    if sys.argv[1:2] == ["--one"]:
        measure_fits(int(sys.argv[2]))
        return
    print("  rows  ours first     median  LIBSVM first     median    ratio")
    for n in sys.argv[1:] or ["500", "1000", "2000", "4000"]:
        subprocess.run([sys.executable, __file__, "--one", n], check=True)


if __name__ == "__main__":
    main()
