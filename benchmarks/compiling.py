"""Compile kernels with Numba's wrapper for callers in C and without it, in turn in one process.

    python benchmarks/compiling.py [--times 3]

Processor seconds of each kernel that three fits compile, the smallest of several times, and the
ratio of the sums.
"""

import argparse
import gc
import time

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

import noisylabels

METHODS = ("RobustLogisticRegression", "RobustKernelLogisticRegression", "RobustSGDClassifier")


def compiled_kernels():
    """List the kernels of the library that fits of `METHODS` have compiled."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = (X[:, 0] > 0).astype(int)
    for method in METHODS:
        getattr(noisylabels, method)().fit(X, y)
    kernels = []
    for value in gc.get_objects():
        if not isinstance(value, CPUDispatcher):
            continue
        if value.signatures and value.py_func.__module__.startswith("noisylabels."):
            kernels.append(value)
    return sorted(kernels, key=lambda kernel: kernel.py_func.__qualname__)


def compile_again(kernel, no_wrapper):
    """Return the processor seconds of one compilation, with nothing kept on disk."""
    options = kernel.targetoptions | {"no_cfunc_wrapper": no_wrapper}
    options.pop("nopython", None)
    start = time.process_time()
    numba.njit(**options)(kernel.py_func).compile(kernel.signatures[0])
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=3, help="compilations of each form")
    options = parser.parse_args()
    with_wrapper = 0.0
    without_wrapper = 0.0
    for kernel in compiled_kernels():
        seconds = {True: [], False: []}
        for _ in range(options.times):
            for no_wrapper in (False, True):
                seconds[no_wrapper].append(compile_again(kernel, no_wrapper))
        with_wrapper += min(seconds[False])
        without_wrapper += min(seconds[True])
        times = f"{min(seconds[False]):.3f} {min(seconds[True]):.3f}"
        print(f"{kernel.py_func.__qualname__:32s} {times}")
    ratio = without_wrapper / with_wrapper
    print(f"{with_wrapper:.1f} s with, {without_wrapper:.1f} s without: {ratio:.2f}")


if __name__ == "__main__":
    main()
