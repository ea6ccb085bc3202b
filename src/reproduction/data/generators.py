"""Breiman's artificial classification problems, from which the sets of the same names were once drawn.

L. Breiman, Bias, variance and arcing classifiers, TR 460, University of California, 1996.
"""

import numpy as np
from numpy.typing import NDArray

Points = tuple[NDArray[np.float64], NDArray[np.int8]]

_MEAN = 2 / np.sqrt(20)  # of every coordinate, in both norm problems


def _shuffled(
    rng: np.random.Generator, negative: NDArray[np.float64], positive: NDArray[np.float64]
) -> Points:
    X = np.concatenate([negative, positive])
    y = np.repeat(np.array([-1, 1], np.int8), [len(negative), len(positive)])
    order = rng.permutation(len(y))
    return X[order], y[order]


def ringnorm(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """x | y = -1 ~ N(a 1, I), x | y = +1 ~ N(0, 4 I), a = 2/sqrt(20), 20 columns, given class counts."""
    inner = rng.standard_normal((negative, 20)) + _MEAN
    return _shuffled(rng, inner, 2 * rng.standard_normal((positive, 20)))


def twonorm(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """x | y ~ N(y a 1, I), a = 2/sqrt(20), 20 columns, given class counts."""
    left = rng.standard_normal((negative, 20)) - _MEAN
    return _shuffled(rng, left, rng.standard_normal((positive, 20)) + _MEAN)


def waveform(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """x = u h_a + (1 - u) h_b + N(0, I), u ~ U(0, 1), 21 columns; y = +1 mixes the waves at 7 and 11.

    h_p(i) = max(6 - abs(i - p), 0), i = 1..21; y = -1 mixes 7 and 15 or 11 and 15, with equal probability.
    """
    early, middle, late = (np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0.0) for peak in (7, 11, 15))
    other = np.where(rng.random((negative, 1)) < 0.5, early, middle)

    def mix(first: NDArray[np.float64], second: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        u = rng.random((n, 1))
        return u * first + (1 - u) * second + rng.standard_normal((n, 21))

    return _shuffled(rng, mix(other, late, negative), mix(early, middle, positive))
