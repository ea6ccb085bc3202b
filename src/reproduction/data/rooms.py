"""Room impulse responses: simulated by the image method, recorded, or a decay of noise; all with unit norm.

In each of them the direct path stands at tap `DIRECT`, so that simulated and recorded rooms can be exchanged.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data.audio import RATE, resample

DIRECT = 5
"""Tap of the direct path, counted from 0."""

SIZE, SOURCE, MICROPHONE = (5.0, 4.0, 3.0), (1.5, 2.0, 1.5), (3.2, 2.3, 1.2)  # metres
SPEED_OF_SOUND = 343.0  # metres per second
FRACTIONAL_DELAY = 41  # taps of the windowed sinc (Hann) that places an arrival between two samples
HARMONIC = sum(1.0 / side**2 for side in SIZE) ** 0.5  # reflections a metre of path can have at most

Response = NDArray[np.float64]


def simulated(taps: int = 1024, rate: int = RATE, reflection: float = 0.75) -> Response:
    """h of a 5 m x 4 m x 3 m room by the image method: delayed echoes reflection^k / (4 pi distance).

    ``reflection`` is the pressure reflection of every wall (absorption 1 - reflection^2). Images are taken
    up to the order that can still arrive within ``taps``. An echo lies between two samples by a windowed
    sinc of 41 taps.

    Raises
    ------
    ValueError : taps <= DIRECT, rate < 1 or reflection outside [0, 1).

    Source: Allen and Berkley 1979, in pyroomacoustics; the geometry is our choice (the ORS paper gives none).
    """
    _check(taps, rate)
    if not 0 <= reflection < 1:
        raise ValueError(f"reflection must be in [0, 1), got {reflection}")
    import pyroomacoustics as acoustics

    path = np.linalg.norm(np.subtract(SOURCE, MICROPHONE))
    direct = round(path * rate / SPEED_OF_SOUND) + FRACTIONAL_DELAY // 2
    longest = (direct + taps + FRACTIONAL_DELAY) * SPEED_OF_SOUND / rate
    # One thread: the order of summation decides the last bits. No high-pass: it would smear the direct path.
    choices = {"frac_delay_length": FRACTIONAL_DELAY, "rir_hpf_enable": False, "num_threads": 1}
    before = {name: acoustics.constants.get(name) for name in choices}
    try:
        for name, value in choices.items():
            acoustics.constants.set(name, value)
        room = acoustics.ShoeBox(
            SIZE,
            fs=rate,
            materials=acoustics.Material(1.0 - reflection**2),
            max_order=int(HARMONIC * longest) + 3,
        )
        room.add_source(SOURCE)
        room.add_microphone(MICROPHONE)
        room.compute_rir()
    finally:
        for name, value in before.items():
            acoustics.constants.set(name, value)
    return _cut(np.asarray(room.rir[0][0], np.float64), direct, taps)


def recorded(h: Response, rate: int, taps: int = 1024, to_rate: int = RATE) -> Response:
    """A recorded response at ``to_rate``, its strongest tap (the direct path) moved to tap 5, cut, unit norm.

    Raises
    ------
    ValueError : taps <= DIRECT, a rate < 1, or a response that is empty, silent or not finite.
    """
    _check(taps, min(rate, to_rate))
    h = np.asarray(h, np.float64)
    if h.ndim != 1 or not len(h) or not np.isfinite(h).all() or not h.any():
        raise ValueError("the recorded room response must be a non-empty, finite signal that is not silent")
    h = resample(h, rate, to_rate)
    return _cut(h, int(np.argmax(np.abs(h))), taps)


def decaying(taps: int, rate: int, reverberation: float, rng: np.random.Generator) -> Response:
    """h_k = g_k exp(-6.9 k / (rate T60)), g ~ N(0, 0.01), h_0 = 1, behind 5 zeros;
    T60 is ``reverberation`` in s.

    The noise starts 20 dB below the direct path, so that the direct path is the strongest tap.

    Raises
    ------
    ValueError : taps <= DIRECT, rate < 1 or reverberation <= 0.
    """
    _check(taps, rate)
    if not reverberation > 0:
        raise ValueError(f"reverberation must be positive, got {reverberation} s")
    k = np.arange(taps - DIRECT)
    h = 0.1 * rng.standard_normal(len(k)) * np.exp(-6.9 * k / (rate * reverberation))
    h[0] = 1.0
    return _cut(h, 0, taps)


def stand_in(files: Mapping[str, Path]) -> dict[str, NDArray[Any]]:
    """A decay of noise (T60 = 0.4 s) in place of a recorded room; ``files`` is empty."""
    rng = Seeds(0, "stand-in", "living_room").generator("data", "room")
    return {"signal": decaying(round(0.4 * RATE), RATE, 0.4, rng), "rate": np.array(RATE, np.int64)}


def _check(taps: int, rate: int) -> None:
    if taps <= DIRECT:
        raise ValueError(
            f"taps must be more than {DIRECT} (the direct path stands at tap {DIRECT}), got {taps}"
        )
    if rate < 1:
        raise ValueError(f"rate must be at least 1 Hz, got {rate}")


def _cut(h: Response, direct: int, taps: int) -> Response:
    """``taps`` taps of h, index ``direct`` at tap DIRECT (zeros where h has none), divided by their norm."""
    h = np.concatenate([np.zeros(DIRECT), h, np.zeros(taps)])[direct : direct + taps]
    return np.ascontiguousarray(h / np.linalg.norm(h))
