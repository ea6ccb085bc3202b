"""Speech and impulse responses: ``signal`` (float64, full scale 1) and ``rate`` (Hz).

Recordings are neither centred nor scaled; whoever uses them does that. The room responses of
`simulated` and `recorded` have unit norm and the direct path at tap `DIRECT`, so that they can be
exchanged.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import soundfile
from numpy.typing import NDArray

from reproduction.data.loaders.formats import Arrays, Files, only

Signal = NDArray[np.float64]
RATE = 16_000
"""Samples per second of all prepared audio."""
SHORTEST = 0.25
"""Seconds below which a recording counts as a mistake."""
LARGEST_SAMPLE = 10.0  # Full scale is 1; much larger samples have another unit.
UNKNOWN_LENGTH = 0x7FFFF000
"""Smallest length in a header that means an unknown length, as when a program writes a stream."""
DIRECT = 5
"""Number of the tap of the direct path, from 0."""
SIZE, SOURCE, MICROPHONE = (5.0, 4.0, 3.0), (1.5, 2.0, 1.5), (3.2, 2.3, 1.2)  # metres
SPEED_OF_SOUND = 343.0  # speed of sound in metres per second
FRACTIONAL_DELAY = 41  # taps of the windowed sinc (Hann) that places an arrival between two samples
HARMONIC = sum(1.0 / side**2 for side in SIZE) ** 0.5
"""Most reflections per metre of path."""


def read(path: Path) -> tuple[Signal, int]:
    """Read the samples (n,) and the rate in Hz of a file with one channel.

    Raises
    ------
    ValueError
        If the file cannot be used; the message says why.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
    except soundfile.SoundFileError as error:
        raise ValueError(f"{path}: not a readable audio file ({error})") from None
    n, channels = samples.shape
    problem = describe_missing_samples(path)
    if problem:
        raise ValueError(f"{path}: {problem}")
    is_finite = np.isfinite(samples).all(axis=1)
    if not n:
        problem = "the recording is empty"
    elif not is_finite.all():
        problem = f"sample {is_finite.argmin()} is not a finite number; export the recording again"
    elif n < SHORTEST * rate:
        problem = f"{n / rate:.3g} s are too short, at least {SHORTEST} s are needed"
    elif (samples == samples[0]).all():
        problem = "the recording is silent (all samples are equal)"
    elif channels != 1:
        problem = f"expects one channel, file has {channels}; mix it down to mono first"
    if problem:
        raise ValueError(f"{path}: {problem}")
    return np.ascontiguousarray(samples[:, 0]), int(rate)


def describe_missing_samples(path: Path) -> str:
    """Say how much of a WAV or AIFF file is missing; "" if nothing is, or the length is unknown.

    The library that reads such files takes what is there for all of the recording.
    """
    with open(path, "rb") as file:
        head = file.read(12)
        form, kind = head[:4], head[8:]
        if form not in (b"RIFF", b"RIFX", b"FORM") or kind not in (b"WAVE", b"AIFF", b"AIFC"):
            return ""
        order: Literal["little", "big"] = "little" if form == b"RIFF" else "big"
        while len(header := file.read(8)) == 8:
            promised = int.from_bytes(header[4:], order)
            if header[:4] in (b"data", b"SSND"):
                present = path.stat().st_size - file.tell()
                is_known = promised < UNKNOWN_LENGTH
                if is_known and (promised > present or (promised == 0 and present)):
                    counts = f"promises {promised} bytes of samples, the file has {present}"
                    fault = f"the recording is not complete: its header {counts}"
                    return f"{fault}; copy or export it again"
                return ""
            file.seek(promised + promised % 2, 1)
    return ""


def resample(signal: Signal, rate: int, to_rate: int) -> Signal:
    """Resample by a polyphase filter with a Kaiser window."""
    if rate == to_rate:
        return signal
    from scipy.signal import resample_poly

    common = int(np.gcd(rate, to_rate))
    return np.asarray(resample_poly(signal, to_rate // common, rate // common), dtype=np.float64)


def recording(files: Files) -> Arrays:
    """Load one recording without changes; it must be mono at 16 kHz."""
    path = only(files)
    signal, rate = read(path)
    if rate != RATE:
        advice = f"resample with `sox {path.name} -r {RATE} out.wav`"
        raise ValueError(f"{path}: expects {RATE} Hz, file has {rate}; {advice}")
    largest = float(np.abs(signal).max())
    if largest > LARGEST_SAMPLE:
        unit = f"has samples up to {largest:.6g}, but full scale is 1"
        remedy = "divide by the full scale (32768 for 16 bits) and export again"
        raise ValueError(f"{path}: {unit}; {remedy}")
    return {"signal": signal, "rate": np.array(RATE, np.int64)}


def speech(files: Files) -> Arrays:
    """Load utterances in the order of their names, one after the other, mono at 16 kHz."""
    parts = [recording({name: files[name]}) for name in sorted(files)]
    return parts[0] | {"signal": np.concatenate([part["signal"] for part in parts])}


def room_response(files: Files) -> Arrays:
    """Load one impulse response, mono, resampled to 16 kHz."""
    signal, rate = read(only(files))
    return {"signal": resample(signal, rate, RATE), "rate": np.array(RATE, np.int64)}


def simulated(taps: int = 1024, rate: int = RATE, reflection: float = 0.75) -> Signal:
    """Simulate the response of a room of 5 m x 4 m x 3 m by the image method.

    Parameters
    ----------
    taps : int
        Length of the response.
    rate : int
        Samples per second.
    reflection : float
        Pressure reflection of every wall; its absorption is 1 - reflection^2.

    Returns
    -------
    ndarray of shape (taps,)
        Delayed echoes reflection^k / (4 pi distance), divided by their norm.

    Raises
    ------
    ValueError
        If taps is not above `DIRECT`, rate is below 1, or reflection is outside [0, 1).

    Notes
    -----
    Images are taken up to the order that can still arrive within ``taps``. A windowed sinc of 41
    taps puts an echo between two samples. The geometry is ours: the ORS paper gives none.

    References
    ----------
    Allen and Berkley (1979), in pyroomacoustics.
    """
    _check(taps, rate)
    if not 0 <= reflection < 1:
        raise ValueError(f"reflection must be in [0, 1), got {reflection}")
    import pyroomacoustics as acoustics

    path = np.linalg.norm(np.subtract(SOURCE, MICROPHONE))
    direct = round(path * rate / SPEED_OF_SOUND) + FRACTIONAL_DELAY // 2
    longest = (direct + taps + FRACTIONAL_DELAY) * SPEED_OF_SOUND / rate
    # One thread: the order of summation decides the last bits. A high-pass filter would smear the
    # direct path.
    choices = {"frac_delay_length": FRACTIONAL_DELAY, "rir_hpf_enable": False, "num_threads": 1}
    before = {name: acoustics.constants.get(name) for name in choices}
    try:
        for name, value in choices.items():
            acoustics.constants.set(name, value)
        walls = acoustics.Material(1.0 - reflection**2)
        order = int(HARMONIC * longest) + 3
        room = acoustics.ShoeBox(SIZE, fs=rate, materials=walls, max_order=order)
        room.add_source(SOURCE)
        room.add_microphone(MICROPHONE)
        room.compute_rir()
    finally:
        for name, value in before.items():
            acoustics.constants.set(name, value)
    return _cut(np.asarray(room.rir[0][0], np.float64), direct, taps)


def recorded(h: Signal, rate: int, taps: int = 1024, to_rate: int = RATE) -> Signal:
    """Resample a recorded response and move its strongest tap, the direct path, to tap `DIRECT`.

    Parameters
    ----------
    h : ndarray of shape (n,)
        The response.
    rate, to_rate : int
        Samples per second of the response and of the result.
    taps : int
        Length of the result.

    Returns
    -------
    ndarray of shape (taps,)
        The response, divided by its norm.

    Raises
    ------
    ValueError
        If taps is not above `DIRECT`, a rate is below 1, or the response is empty, silent or not
        finite.
    """
    _check(taps, min(rate, to_rate))
    h = np.asarray(h, np.float64)
    if h.ndim != 1 or not len(h) or not np.isfinite(h).all() or not h.any():
        rule = "must be a non-empty, finite signal that is not silent"
        raise ValueError(f"the recorded room response {rule}")
    h = resample(h, rate, to_rate)
    return _cut(h, int(np.argmax(np.abs(h))), taps)


def _check(taps: int, rate: int) -> None:
    if taps <= DIRECT:
        reason = f"(the direct path is at tap {DIRECT})"
        raise ValueError(f"taps must be more than {DIRECT} {reason}, got {taps}")
    if rate < 1:
        raise ValueError(f"rate must be at least 1 Hz, got {rate}")


def _cut(h: Signal, direct: int, taps: int) -> Signal:
    """Cut a response so that index ``direct`` is at tap `DIRECT`, and divide it by its norm."""
    h = np.concatenate([np.zeros(DIRECT), h, np.zeros(taps)])[direct : direct + taps]
    return np.ascontiguousarray(h / np.linalg.norm(h))
