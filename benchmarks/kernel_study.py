# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""CPU seconds of one split of the kernel study: three runs apart, against the one run of `rivals`.

Apart are the methods of klr_vs_rklr, of rivals and of cv_vs_mkl, as three artifacts would run them.
Their rows must be those of the one run, to the bit. The kinds take turns; medians are printed.

    python benchmarks/kernel_study.py [--split 3] [--runs 3] [data set ...]

Data sets must be prepared: ./run data kernel_boost_rivals
"""

import argparse
import copy
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import statistics
import time
from pathlib import Path
from typing import Any

from reproduction.run.job import Job
from reproduction.spec.artifact import load_all

CHECKOUT = Path(__file__).resolve().parents[1]
CLEAN = ["independent 0"]
SEED = 20170918

Rows = dict[tuple[str, ...], float]


def settings_apart(together: dict[str, Any]) -> list[dict[str, Any]]:
    """Settings of KLR against rKLR, of the methods at four kinds of noise, and of clean labels."""
    every = together["methods"]
    trusted = copy.deepcopy({name: every[name] for name in ("klr", "rklr")})
    del trusted["rklr"]["also"]
    compared = copy.deepcopy({name: every[name] for name in ("rkfd", "svm", "rmklr")})
    noise = compared["svm"]["noise"]
    for method in compared.values():
        del method["noise"]
    clean = copy.deepcopy({name: every[name] for name in ("rklr", "rmklr")})
    clean["rklr"]["selection"] = "cv"
    del clean["rklr"]["also"]
    del clean["rmklr"]["noise"]
    return [
        together | {"methods": trusted},
        together | {"methods": compared, "noise": noise},
        together | {"methods": clean, "noise": CLEAN},
    ]


def run(settings: dict[str, Any], dataset: str, split: int) -> tuple[float, Rows]:
    """CPU seconds of a split, and its rows."""
    content = {
        "protocol": "stock:errors",
        "experiment": settings["experiment"],
        "seed": SEED,
        "settings": settings | {"datasets": [dataset]},
    }
    (file,) = sorted((CHECKOUT / "data/prepared").glob(f"{dataset}.*.npz"))
    job = Job.read(content, [file])
    start = time.process_time()
    rows, _ = job.run(f"{split}:{split + 1}", {})
    seconds = time.process_time() - start
    by_key: Rows = {}
    for row in rows:
        key = tuple(f"{name}={value}" for name, value in row.items() if name != "value")
        by_key[key] = row["value"]
    return seconds, by_key


def main() -> None:
    """Print a line per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("datasets", nargs="*", default=["ida_titanic", "ida_heart"])
    options = parser.parse_args()
    artifacts = load_all(CHECKOUT / "src/papers", ["kernel_boost"], "full")
    together = artifacts["kernel_boost/rivals"].as_written
    apart = settings_apart(together)
    for dataset in options.datasets:
        run(together, dataset, options.split)  # compiles
        seconds_apart = []
        seconds_together = []
        for _ in range(options.runs):
            results = [run(settings, dataset, options.split) for settings in apart]
            seconds_apart.append(sum(seconds for seconds, _ in results))
            seconds, rows = run(together, dataset, options.split)
            seconds_together.append(seconds)
        expected: Rows = {}
        for _, rows_apart in results:
            expected |= rows_apart
        different = sum(rows.get(key) != value for key, value in expected.items())
        before = statistics.median(seconds_apart)
        after = statistics.median(seconds_together)
        print(
            f"{dataset}: apart {before:.2f} s, together {after:.2f} s, "
            f"saved {100 * (1 - after / before):.0f} %; "
            f"rows {len(expected)} and {len(rows)}, different {different}",
            flush=True,
        )


if __name__ == "__main__":
    main()
