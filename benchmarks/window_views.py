# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Nanoseconds a sample of NLMS on sliding windows: views of NumPy, `Sliding`, and its peers.

    python benchmarks/window_views.py [taps ...]

padasip takes the same view; pyroomacoustics takes sample after sample and keeps its own window.
"""

import os
import sys

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import time

import numpy as np
import padasip
from numpy.lib.stride_tricks import sliding_window_view
from pyroomacoustics.adaptive import NLMS as SampleNLMS

from noisylabels import NLMS
from noisylabels.filters.base import Sliding

SAMPLES = 4000


def measure_nanoseconds(function):
    function()
    seconds = []
    for _ in range(5):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return np.median(seconds) / SAMPLES * 1e9


def filter_samples(signal, labels, taps):
    model = SampleNLMS(taps, mu=0.5)
    for x, y in zip(signal, labels, strict=True):
        model.update(x, y)


def compare(taps):
    """Nanoseconds a sample of each form and each peer."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=SAMPLES + taps - 1)
    view = sliding_window_view(signal, taps)
    y = view[:, ::-1] @ rng.normal(size=taps) / np.sqrt(taps)
    sliding = Sliding(signal, taps, delay=taps - 1, n=SAMPLES)
    peer = padasip.filters.FilterNLMS(n=taps, mu=0.5, w="zeros")
    return [
        measure_nanoseconds(lambda: NLMS().fit(view, y)),
        measure_nanoseconds(lambda: NLMS().fit(view[:, ::-1], y)),
        measure_nanoseconds(lambda: NLMS().fit(sliding, y)),
        measure_nanoseconds(lambda: peer.run(y, view)),
        measure_nanoseconds(lambda: filter_samples(signal[-SAMPLES:], y, taps)),
    ]


def main():
    print("taps      view  reversed   Sliding   padasip  pyroomacoustics  (ns a sample)")
    for taps in sys.argv[1:] or ["64", "256", "1024", "4096"]:
        figures = compare(int(taps))
        print(f"{taps:4}" + "".join(f"{figure:10.0f}" for figure in figures))


if __name__ == "__main__":
    main()
