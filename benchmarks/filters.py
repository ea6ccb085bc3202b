# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the filters next to padasip and pyroomacoustics: ``python benchmarks/filters.py``.

Every repetition runs all candidates one after the other in one process and takes their CPU time, so
that a busy machine disturbs all of them alike; the table shows medians. A filter-sample is one
filter that predicts one row and learns from it, 2 d multiply-adds; "of peak" compares with a loop
that multiplies and adds in registers only.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np
import padasip
import pyroomacoustics
from numba import njit

from noisylabels.filters.base import Filter, NoisySequence, Sliding
from noisylabels.filters.lms import JONLMS, LMS, NLMS, NPVSSNLMS, RLS, SMNLMS
from noisylabels.filters.ors import ORS
from noisylabels.fixed_order.lanes import LANES, fma, fold, splat

CHAINS, TURNS = 16, 1_000_000
KNOWN = ("clean", "noisy", "beta", "opt", "one", "one_pred", "two")


@njit
def registers(turns, a):
    """16 independent chains z <- a z + a in vector registers."""
    z = splat(a)
    t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = u0 = u1 = u2 = u3 = u4 = u5 = u6 = u7 = splat(0.0)
    for _ in range(turns):
        t0 = fma(t0, z, z)
        t1 = fma(t1, z, z)
        t2 = fma(t2, z, z)
        t3 = fma(t3, z, z)
        t4 = fma(t4, z, z)
        t5 = fma(t5, z, z)
        t6 = fma(t6, z, z)
        t7 = fma(t7, z, z)
        u0 = fma(u0, z, z)
        u1 = fma(u1, z, z)
        u2 = fma(u2, z, z)
        u3 = fma(u3, z, z)
        u4 = fma(u4, z, z)
        u5 = fma(u5, z, z)
        u6 = fma(u6, z, z)
        u7 = fma(u7, z, z)
    return fold(t0 + t1 + t2 + t3 + t4 + t5 + t6 + t7 + u0 + u1 + u2 + u3 + u4 + u5 + u6 + u7)


def sequence(d: int, T: int, sliding: bool) -> NoisySequence:
    rng = np.random.default_rng(1)
    signal = rng.normal(size=T)
    u = rng.normal(size=d) / np.sqrt(d)
    if sliding:
        x = Sliding(signal, d)
        y = np.convolve(signal, u)[:T]
    else:
        x = rng.normal(size=(T, d))
        y = x @ u
    v = rng.uniform(0, 5, size=T)
    noise = np.sqrt(v)[:, None] * rng.normal(size=(T, 2))
    return NoisySequence(x, y, y[:, None] + noise, v)


class Theirs:
    """The two other libraries on the first n rows of a sequence; both get ready-made arrays."""

    def __init__(self, data: NoisySequence, n: int) -> None:
        self.rows = data.x.rows(0, n) if isinstance(data.x, Sliding) else data.x[:n].copy()
        self.labels = data.labels[:n, 0].copy()
        self.d = data.d
        self.n = n

    def padasip(self) -> None:
        f = padasip.filters.FilterNLMS(n=self.d, mu=1.0, eps=1.0, w="zeros")
        f.run(self.labels, self.rows)

    def pyroomacoustics(self) -> None:
        f = pyroomacoustics.adaptive.NLMS(self.d, mu=1.0)
        for sample, label in zip(self.rows[:, 0], self.labels, strict=True):
            f.update(sample, label)


def ours(variants: tuple[str, ...], data: NoisySequence) -> Callable[[], object]:
    filters = [ORS(v, r=1.0, beta=1.0 if v == "beta" else None) for v in variants]
    return lambda: ORS.losses(filters, data, 100)


def single(f: Filter, data: NoisySequence) -> Callable[[], object]:
    first, second = data.labels.T
    return lambda: f.fit(data.x, first, v=data.v, second=second, clean=data.y)


Candidates = dict[str, tuple[Callable[[], object], float]]
"""Name -> call, and its units of work."""


def medians(candidates: Candidates, repetitions: int) -> dict[str, float]:
    """Nanoseconds for each unit of work, median over the repetitions; a first round compiles."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for repetition in range(repetitions + 1):
        for name, (call, work) in candidates.items():
            start = time.process_time()
            call()
            if repetition:
                times[name].append((time.process_time() - start) / work * 1e9)
    return {name: statistics.median(values) for name, values in times.items()}


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the filters, as a table.")
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()

    speech = sequence(1024, 20_000, sliding=True)
    rows = sequence(20, 50_000, sliding=False)
    few = Theirs(speech, 1500)
    many = Theirs(rows, 3000)
    candidates: Candidates = {
        "peak": (lambda: registers(TURNS, 0.5), TURNS * CHAINS * LANES),
        "window padasip": (few.padasip, few.n),
        "window pyroomacoustics": (few.pyroomacoustics, few.n),
        "window 4": (ours(("clean", "noisy", "beta", "one_pred"), speech), 4 * len(speech)),
        "window 1": (ours(("one_pred",), speech), len(speech)),
        "window run": (single(ORS("one_pred"), speech), len(speech)),
        "rows padasip": (many.padasip, many.n),
        "rows pyroomacoustics": (many.pyroomacoustics, many.n),
        "rows 7": (ours(KNOWN, rows), 7 * len(rows)),
        "rows 56": (ours(KNOWN * 8, rows), 56 * len(rows)),
        "rows run": (single(ORS("one_pred"), rows), len(rows)),
    }
    others = (LMS(1e-3), NLMS(), SMNLMS(), NPVSSNLMS(), JONLMS(), RLS())
    candidates |= {f"rows {f.name}": (single(f, rows), len(rows)) for f in others}
    nanoseconds = medians(candidates, options.repetitions)
    report(nanoseconds, others)


def report(nanoseconds: dict[str, float], others: tuple[Filter, ...]) -> None:
    """Print the table, and what it was measured on."""
    peak = nanoseconds["peak"]
    packages = ("numpy", "numba", "padasip", "pyroomacoustics")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    print(f"{processor()}; Python {platform.python_version()}, {versions}")
    print(f"load {os.getloadavg()[0]:.1f}; multiply-adds in registers: {1 / peak:.1f} G/s\n")
    print("| filter | ns per filter-sample | padasip / ours | pyroomacoustics / ours | of peak |")
    print("|---|---|---|---|---|")
    labels = {
        "window 4": "ORS.losses, 4 filters, d = 1024, sliding window",
        "window 1": "ORS.losses, 1 filter, d = 1024, sliding window",
        "window run": "ORS.fit, d = 1024, sliding window",
        "rows 7": "ORS.losses, 7 filters, d = 20, rows",
        "rows 56": "ORS.losses, 56 filters, d = 20, rows",
        "rows run": "ORS.fit, d = 20, rows",
    }
    for other in others:
        labels[f"rows {other.name}"] = f"{type(other).__name__}.fit, d = 20, rows"
    for name, label in labels.items():
        kind, d = ("window", 1024) if name.startswith("window") else ("rows", 20)
        ours = nanoseconds[name]
        padasip_ratio = nanoseconds[f"{kind} padasip"] / ours
        pyroomacoustics_ratio = nanoseconds[f"{kind} pyroomacoustics"] / ours
        cells = f"{ours:.1f} | {padasip_ratio:.0f}x | {pyroomacoustics_ratio:.0f}x"
        print(f"| {label} | {cells} | {2 * d * peak / ours:.0%} |")
    for kind in ("window", "rows"):
        times = f"padasip {nanoseconds[f'{kind} padasip']:.0f}"
        times += f", pyroomacoustics {nanoseconds[f'{kind} pyroomacoustics']:.0f}"
        print(f"\n{kind}, ns per filter-sample: {times}", end="")
    print()


if __name__ == "__main__":
    main()
