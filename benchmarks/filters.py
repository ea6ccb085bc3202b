# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of the filters beside padasip and pyroomacoustics, in one process: ``python benchmarks/filters.py``.

Every repetition runs all candidates one after the other and takes their CPU time, so that a busy machine
disturbs all of them alike; the table shows medians. A filter-sample is one filter that predicts one row and
learns from it, 2 d multiply-adds; "of peak" compares with a loop that multiplies and adds in registers only.
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
        t0, t1, t2, t3 = fma(t0, z, z), fma(t1, z, z), fma(t2, z, z), fma(t3, z, z)
        t4, t5, t6, t7 = fma(t4, z, z), fma(t5, z, z), fma(t6, z, z), fma(t7, z, z)
        u0, u1, u2, u3 = fma(u0, z, z), fma(u1, z, z), fma(u2, z, z), fma(u3, z, z)
        u4, u5, u6, u7 = fma(u4, z, z), fma(u5, z, z), fma(u6, z, z), fma(u7, z, z)
    return fold(t0 + t1 + t2 + t3 + t4 + t5 + t6 + t7 + u0 + u1 + u2 + u3 + u4 + u5 + u6 + u7)


def sequence(d: int, T: int, sliding: bool) -> NoisySequence:
    rng = np.random.default_rng(1)
    signal = rng.normal(size=T)
    u = rng.normal(size=d) / np.sqrt(d)
    x = Sliding(signal, d) if sliding else rng.normal(size=(T, d))
    y = np.convolve(signal, u)[:T] if sliding else x @ u
    v = rng.uniform(0, 5, size=T)
    return NoisySequence(x, y, y[:, None] + np.sqrt(v)[:, None] * rng.normal(size=(T, 2)), v)


class Theirs:
    """The two other libraries on the first n rows of a sequence; both get ready-made arrays."""

    def __init__(self, data: NoisySequence, n: int) -> None:
        self.rows = data.x.rows(0, n) if isinstance(data.x, Sliding) else data.x[:n].copy()
        self.labels, self.d, self.n = data.labels[:n, 0].copy(), data.d, n

    def padasip(self) -> None:
        padasip.filters.FilterNLMS(n=self.d, mu=1.0, eps=1.0, w="zeros").run(self.labels, self.rows)

    def pyroomacoustics(self) -> None:
        f = pyroomacoustics.adaptive.NLMS(self.d, mu=1.0)
        for sample, label in zip(self.rows[:, 0], self.labels, strict=True):
            f.update(sample, label)


def ours(variants: tuple[str, ...], data: NoisySequence) -> Callable[[], object]:
    filters = [ORS(v, r=1.0, beta=1.0 if v == "beta" else None) for v in variants]
    return lambda: ORS.losses(filters, data, 100)


def single(f: Filter, data: NoisySequence) -> Callable[[], object]:
    return lambda: f.fit(data.x, data.labels[:, 0], v=data.v, second=data.labels[:, 1], clean=data.y)


def medians(candidates: dict[str, tuple[Callable[[], object], float]], repetitions: int) -> dict[str, float]:
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

    speech, rows = sequence(1024, 20_000, sliding=True), sequence(20, 50_000, sliding=False)
    few, many = Theirs(speech, 1500), Theirs(rows, 3000)
    candidates: dict[str, tuple[Callable[[], object], float]] = {
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
    ns = medians(candidates, options.repetitions)

    packages = ("numpy", "numba", "padasip", "pyroomacoustics")
    print(
        f"{processor()}; Python {platform.python_version()}, "
        + ", ".join(f"{p} {version(p)}" for p in packages)
    )
    print(f"load {os.getloadavg()[0]:.1f}; multiply-adds in registers: {1 / ns['peak']:.1f} G/s\n")
    print("| filter | ns per filter-sample | padasip / ours | pyroomacoustics / ours | of peak |")
    print("|---|---|---|---|---|")
    labels = {
        "window 4": "ORS.losses, 4 filters, d = 1024, sliding window",
        "window 1": "ORS.losses, 1 filter, d = 1024, sliding window",
        "window run": "ORS.fit, d = 1024, sliding window",
        "rows 7": "ORS.losses, 7 filters, d = 20, rows",
        "rows 56": "ORS.losses, 56 filters, d = 20, rows",
        "rows run": "ORS.fit, d = 20, rows",
    } | {f"rows {f.name}": f"{type(f).__name__}.fit, d = 20, rows" for f in others}
    for name, label in labels.items():
        kind, d = ("window", 1024) if name.startswith("window") else ("rows", 20)
        ratios = [f"{ns[f'{kind} {package}'] / ns[name]:.0f}x" for package in ("padasip", "pyroomacoustics")]
        peak = f"{2 * d * ns['peak'] / ns[name]:.0%}"
        print(f"| {label} | {ns[name]:.1f} | {ratios[0]} | {ratios[1]} | {peak} |")
    for kind in ("window", "rows"):
        theirs = (f"{package} {ns[f'{kind} {package}']:.0f}" for package in ("padasip", "pyroomacoustics"))
        print(f"\n{kind}, ns per filter-sample: {', '.join(theirs)}", end="")
    print()


if __name__ == "__main__":
    main()
