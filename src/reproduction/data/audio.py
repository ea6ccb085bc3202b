"""Recordings of speech, noise and impulse responses: ``signal`` (float64, full scale 1) and ``rate`` (Hz).

They are neither centred nor scaled; whoever uses them does that.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray

RATE = 16_000
"""Samples per second of everything that is prepared."""

SHORTEST = 0.25
"""Seconds; a shorter recording is taken for a mistake."""

Files = Mapping[str, Path]
Arrays = dict[str, NDArray[Any]]
Signal = NDArray[np.float64]


def read(path: Path) -> tuple[Signal, int]:
    """Samples (n, channels) and rate in Hz of an audio file.

    Raises
    ------
    ValueError : not an audio file, empty, too short, silent, or a sample that is not finite.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
    except soundfile.SoundFileError as error:
        raise ValueError(f"{path}: not a readable audio file ({error})") from None
    if not len(samples):
        raise ValueError(f"{path}: the recording is empty")
    bad = np.flatnonzero(~np.isfinite(samples).all(axis=1))
    if len(bad):
        raise ValueError(f"{path}: sample {bad[0]} is not a finite number; export the recording again")
    if len(samples) < SHORTEST * rate:
        raise ValueError(
            f"{path}: {len(samples) / rate:.3g} s are too short, at least {SHORTEST} s are needed"
        )
    if (samples == samples[0]).all():
        raise ValueError(f"{path}: the recording is silent (all samples are equal)")
    return samples, int(rate)


def read_mono(path: Path) -> tuple[Signal, int]:
    """Samples (n,) and rate in Hz of a file with one channel.

    Raises
    ------
    ValueError : more than one channel, or what `read` refuses.
    """
    samples, rate = read(path)
    if samples.shape[1] != 1:
        raise ValueError(
            f"{path}: expects one channel, file has {samples.shape[1]}; mix it down to mono first"
        )
    return samples[:, 0], rate


def resample(signal: Signal, rate: int, to_rate: int) -> Signal:
    """The signal at another rate: polyphase filter with a Kaiser window, ceil(n to_rate / rate) samples."""
    if rate == to_rate:
        return signal
    from scipy.signal import resample_poly

    common = int(np.gcd(rate, to_rate))
    return np.asarray(resample_poly(signal, to_rate // common, rate // common), dtype=np.float64)


def _at_rate(path: Path) -> Signal:
    signal, rate = read_mono(path)
    if rate != RATE:
        raise ValueError(
            f"{path}: expects {RATE} Hz, file has {rate}; resample with `sox {path.name} -r {RATE} out.wav`"
        )
    return signal


def _arrays(signal: Signal) -> Arrays:
    return {"signal": np.ascontiguousarray(signal), "rate": np.array(RATE, np.int64)}


def _only(files: Files) -> Path:
    if len(files) != 1:
        raise ValueError(f"expected one recording, got {', '.join(files) or 'none'}")
    return next(iter(files.values()))


def speech(files: Files) -> Arrays:
    """The utterances one after the other, in the order of their names; 16 kHz, mono."""
    return _arrays(np.concatenate([_at_rate(files[name]) for name in sorted(files)]))


def recording(files: Files) -> Arrays:
    """One recording as it is; it must be mono at 16 kHz (a user's own file is never changed silently)."""
    return _arrays(_at_rate(_only(files)))


def mixed_down(files: Files) -> Arrays:
    """One recording, its channels averaged and resampled to 16 kHz."""
    samples, rate = read(_only(files))
    return _arrays(resample(samples.mean(axis=1), rate, RATE))


def room_response(files: Files) -> Arrays:
    """One impulse response, mono, resampled to 16 kHz."""
    signal, rate = read_mono(_only(files))
    return _arrays(resample(signal, rate, RATE))
