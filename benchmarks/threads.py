"""Kernel classifiers under BLAS's default threads: one fit alone, and four processes at once.

    python benchmarks/threads.py [--rows 100 400 800 1600] [--processes 4] [--fits 9] [--limited]

Median milliseconds of a fit, of the slowest process: as the library fits, with its own limit;
with one thread by the environment; and with as many threads as BLAS takes.
"""

import argparse
import os
import subprocess
import sys
import time

VARIABLES = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")]
METHODS = {
    "KLR": "KernelLogisticRegression",
    "rKLR": "RobustKernelLogisticRegression",
    "rMKLR": "RobustMultiKernelLogisticRegression",
}
WAYS = ("the library's", "one by environment", "BLAS's default")


def fit(method, rows, fits, way):
    """Median milliseconds of a fit in this process."""
    import numpy as np

    import noisylabels
    from noisylabels import blas_threads

    if way == WAYS[2]:
        blas_threads.SMALL = 0
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 10))
    y = (X[:, 0] + 0.5 * rng.standard_normal(rows) > 0).astype(int)
    model = getattr(noisylabels, METHODS[method])()
    seconds = []
    model.fit(X, y)  # compiles
    for _ in range(fits):
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    return 1e3 * float(np.median(seconds))


def at_once(processes, way, *arguments):
    """Measure the slowest of several processes that do the same."""
    environment = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    if way == WAYS[1]:
        environment |= dict.fromkeys(VARIABLES, "1")
    command = [sys.executable, __file__, "--one", *map(str, arguments), way]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    return max(float(each.communicate()[0]) for each in running)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 400, 800, 1600])
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--fits", type=int, default=9)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument(
        "--limited", action="store_true", help="without BLAS's default threads, which take long"
    )
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        method, rows, fits, way = arguments.one
        print(fit(method, int(rows), int(fits), way))
        return
    for method in arguments.methods:
        for rows in arguments.rows:
            for processes in (1, arguments.processes):
                ways = WAYS[:2] if arguments.limited else WAYS
                medians = [at_once(processes, way, method, rows, arguments.fits) for way in ways]
                texts = [f"{way} {ms:.1f} ms" for way, ms in zip(ways, medians, strict=True)]
                ratio = f"the library's over one thread {medians[0] / medians[1]:.2f}"
                case = f"{method}, {rows} rows, {processes} at once"
                print(f"{case}: {', '.join(texts)}; {ratio}", flush=True)


if __name__ == "__main__":
    main()
