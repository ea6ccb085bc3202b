"""Every random number of the project starts here.

A stream is named by the axes that may change it: experiment, data set, repetition and the role of the stream
("x", "noise", "shuffle", ...). The method is not an axis of data or noise, so that all methods of a
repetition see the same corrupted labels and comparisons are paired. The names alone decide the numbers:
neither the order of the jobs nor their number matters.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.validation import shown


@dataclass(frozen=True)
class Seeds:
    """Independent generators, keyed by (seed, experiment, data set, repetition, stream).

    seed : the project's seed (``config.yaml``), a non-negative integer.
    experiment : name under which the numbers are drawn; artifacts that share it share their data.
    dataset : id of the data set, "" for synthetic data.
    Raises ValueError : a negative seed.
    """

    seed: int
    experiment: str
    dataset: str = ""

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be a non-negative integer, got {self.seed}")

    def generator(self, repetition: int | str, stream: str) -> np.random.Generator:
        """PCG64 generator of one stream; ``repetition`` is a number or a name such as "tuning"."""
        names = (self.experiment, self.dataset, str(repetition), stream)
        digests = b"".join(hashlib.sha256(name.encode()).digest()[:16] for name in names)
        key = struct.unpack("<16I", digests)  # the same on every machine and in every process
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy Generator from one, from a seed, or from what scikit-learn takes as ``random_state``."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    except ValueError:
        rule = "must be None, a whole number >= 0, a NumPy Generator or a RandomState"
        raise ValueError(f"random_state: {rule}, got {shown(random_state)}") from None
    return np.random.default_rng(state.randint(2**31 - 1))
