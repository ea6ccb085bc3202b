# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""CPU seconds of a kernel machine fitted from rows, with the kernel matrix, next to LIBSVM.

    python benchmarks/kernel_rows.py [rows ...]

Each size runs in its own process, because the first kernel matrix of a process pays for fresh
memory.
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
    median = np.median(ours)
    median_of_peer = np.median(peer)
    ratio = median / median_of_peer
    numbers = f"{ours[0]:10.3f} {median:10.3f} {peer[0]:12.3f} {median_of_peer:10.3f}"
    print(f"{n:6} {numbers} {ratio:8.2f}")


def main():
    if sys.argv[1:2] == ["--one"]:
        measure_fits(int(sys.argv[2]))
        return
    print("  rows  ours first     median  LIBSVM first     median    ratio")
    for n in sys.argv[1:] or ["500", "1000", "2000", "4000"]:
        subprocess.run([sys.executable, __file__, "--one", n], check=True)


if __name__ == "__main__":
    main()
