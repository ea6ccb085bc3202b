"""The three labelled sequences of the ORS paper: synthetic regression, channel equaliser, speech filter.

Each function returns a `NoisySequence`. Its random numbers come from the streams x, u, n, v, label1,
label2, ... of one repetition, so that every method of the repetition sees the same sequence.
"""

import numpy as np
from numpy.typing import NDArray

from noisylabels.filters.base import NoisySequence, Sliding
from noisylabels.noise.additive import hammer_variances, noisy_labels, variances
from noisylabels.seeding import Seeds

Array = NDArray[np.float64]
CHANNEL = np.sinc(np.arange(10) / 2)
"""Impulse response of the equaliser's channel, h_k = sin(pi k/2) / (pi k/2), k = 0..9 (minimum phase)."""
WARM_UP = 40
"""Samples that fill the delay line of the equaliser and are dropped."""


def _labels(y: Array, v: Array, seeds: Seeds, repetition: int | str, count: int) -> Array:
    return noisy_labels(y, v, [seeds.generator(repetition, f"label{k}") for k in range(1, count + 1)])


def regression(
    seeds: Seeds,
    repetition: int | str,
    *,
    T: int,
    d: int,
    M: float,
    process_noise: float,
    variance_model: str = "uniform",
    labels: int = 2,
) -> NoisySequence:
    """y_t = u.x_t + n_t with x_t, u ~ N(0, I_d), n_t ~ N(0, process_noise), v_t in [0, M].

    T rounds, d inputs, ``labels`` noisy labels a round, a new u in every repetition.
    Source: ORS paper, Section 4, Figs. 2, 6 and 7.
    """
    x = seeds.generator(repetition, "x").standard_normal((T, d))
    u = seeds.generator(repetition, "u").standard_normal(d)
    y = x @ u + np.sqrt(process_noise) * seeds.generator(repetition, "n").standard_normal(T)
    v = variances(variance_model, T, M, seeds.generator(repetition, "v"))
    return NoisySequence(x=x, y=y, labels=_labels(y, v, seeds, repetition, labels), v=v)


def equalizer(
    seeds: Seeds, repetition: int | str, *, T: int, d: int, M: float, channel_noise: float, delay: int = 0
) -> NoisySequence:
    """Recover s(t) from (x(t+delay), ..., x(t+delay-d+1)), x = h * s + n,
    s ~ N(0, 1), n ~ N(0, channel_noise).

    h is `CHANNEL`; T rounds after a warm-up; v_t ~ U[0, M].
    Source: ORS paper, Section 4, Figs. 3 and 4; decoding delay 0 is our choice (h is minimum phase).
    """
    n = T + WARM_UP + delay
    s = seeds.generator(repetition, "x").standard_normal(n)
    x = np.convolve(s, CHANNEL)[:n]
    x += np.sqrt(channel_noise) * seeds.generator(repetition, "n").standard_normal(n)
    rows = Sliding(x, d, delay=delay).rows(WARM_UP, WARM_UP + T)
    y = s[WARM_UP : WARM_UP + T].copy()
    v = variances("uniform", T, M, seeds.generator(repetition, "v"))
    return NoisySequence(x=rows, y=y, labels=_labels(y, v, seeds, repetition, 2), v=v)


def speech_filter(
    seeds: Seeds,
    repetition: int | str,
    *,
    speech: Array,
    room: Array,
    rate: int,
    d: int,
    delay: int,
    channel_noise: float,
    fraction: float = 1.0,
) -> NoisySequence:
    """Undo a room: s(t) from (x(t+delay), ..., x(t+delay-d+1)), x = h * s + n, hammer noise on the labels.

    ``speech`` is brought to zero mean and unit variance; ``room`` is h; ``rate`` in Hz; n ~ N(0,
    channel_noise). ``fraction`` keeps the first part of the signal only (for tuning).

    Raises
    ------
    ValueError : a silent signal, a fraction outside (0, 1], fewer samples than taps.

    Source: ORS paper, Section 4, Fig. 5; standardisation, modelling delay and hammer noise are our choices.
    """
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction must lie in (0, 1], got {fraction}")
    scale = speech.std()
    if not scale > 0:
        raise ValueError("speech: the signal is silent (all samples are equal)")
    s = (speech - speech.mean()) / scale
    x = _convolve(s, room)
    x += np.sqrt(channel_noise) * seeds.generator(repetition, "n").standard_normal(len(s))
    v = hammer_variances(len(s), rate, seeds.generator(repetition, "v"))
    labels = _labels(s, v, seeds, repetition, 2)
    n = round(fraction * len(s))
    return NoisySequence(x=Sliding(x, d, delay=delay, n=n), y=s[:n], labels=labels[:n], v=v[:n])


def _convolve(s: Array, h: Array) -> Array:
    from scipy import fft  # scipy.signal gives the same bits, but takes half a second to import

    n = fft.next_fast_len(len(s) + len(h) - 1, real=True)
    return np.asarray(fft.irfft(fft.rfft(s, n) * fft.rfft(h, n), n)[: len(s)])
