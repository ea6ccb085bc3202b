"""Synthetic speech: pulses or noise through resonators that move, with pauses. A stand-in for a recording.

It has what an adaptive filter meets in speech: a coloured spectrum that changes every 80 to 200 ms,
periodic and noise-like stretches, and silence.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from noisylabels.seeding import Seeds
from reproduction.data.audio import RATE

SEGMENT = (0.08, 0.2)  # s, length of a segment
FADE = 0.01  # s, overlap of neighbours
PAUSES, NOISY = 0.15, 0.3  # share of silent segments; share of noise-like ones among the others
PITCH, JITTER = (90.0, 220.0), 5.0  # Hz
FORMANTS = ((250.0, 850.0), (800.0, 2300.0), (2200.0, 3200.0))  # Hz
BANDWIDTH = 80.0  # Hz

Signal = NDArray[np.float64]


def synthetic_speech(samples: int, rate: int, rng: np.random.Generator) -> Signal:
    """A signal of ``samples`` samples at ``rate`` Hz; every segment that is not a pause has unit power.

    Raises
    ------
    ValueError : samples < 1, or a rate below 8000 Hz (the third resonator needs it).

    Source: our own construction; the literature on source-filter models has better ones.
    """
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    if rate < 8000:
        raise ValueError(f"rate must be at least 8000 Hz, got {rate}")
    fade = round(FADE * rate)
    rise = np.arange(1, fade + 1) / (fade + 1)
    signal = np.zeros(samples + round(SEGMENT[1] * rate) + 2 * fade)
    start, pitch = 0, rng.uniform(*PITCH)
    while start < samples:
        body = round(rng.uniform(*SEGMENT) * rate)
        target = rng.uniform(*PITCH)
        if rng.random() >= PAUSES:
            segment = _voice(body + fade, rate, pitch, target, rng)
            segment[:fade] *= rise
            segment[-fade:] *= rise[::-1]
            signal[start : start + body + fade] += segment
        start, pitch = start + body, target
    return signal[:samples]


def _voice(n: int, rate: int, pitch: float, target: float, rng: np.random.Generator) -> Signal:
    """One segment of unit power: noise, or pulses gliding to pitch ``target``, through three resonators."""
    if rng.random() < NOISY:
        source = rng.standard_normal(n)
    else:
        glide = np.linspace(pitch, target, n)
        source = np.zeros(n)
        t = 0.0
        while t < n:
            source[int(t)] = 1.0
            t += rate / max(glide[int(t)] + JITTER * rng.standard_normal(), PITCH[0] / 2)
    radius = np.exp(-np.pi * BANDWIDTH / rate)
    for low, high in FORMANTS:
        angle = 2 * np.pi * rng.uniform(low, high) / rate
        source = lfilter([1.0 - radius], [1.0, -2.0 * radius * np.cos(angle), radius**2], source)
    return np.asarray(source / np.sqrt(np.mean(source**2)), np.float64)


def stand_in(files: Mapping[str, Path]) -> dict[str, NDArray[Any]]:
    """As long as the read speech it stands for (395,680 samples), always the same; ``files`` is empty."""
    rng = Seeds(0, "stand-in", "speech").generator("data", "speech")
    return {"signal": synthetic_speech(395_680, RATE, rng), "rate": np.array(RATE, np.int64)}
