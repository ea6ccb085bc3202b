"""Seeds: every random number of the project comes from here.

A stream is named by the axes that may change it: experiment, data set, repetition and the role of
the stream ("x", "noise", "shuffle", ...). The method is not an axis of data or noise. So all
methods of a repetition see the same corrupted labels, and comparisons are paired. The names alone
decide the numbers: neither the order of the jobs nor how many there are matters.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.validation import shown

LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Seeds:
    """Independent random number generators of one experiment on one data set.

    Parameters
    ----------
    seed : int
        Seed of the project (``config.yaml``), at least 0.
    experiment : str
        Name under which the numbers are drawn. Artifacts with the same name share their data.
    dataset : str, default ""
        Id of the data set, "" for synthetic data.

    Raises
    ------
    ValueError
        If the seed is negative.

    Examples
    --------
    >>> from noisylabels.seeding import Seeds
    >>> seeds = Seeds(1, experiment="demo")
    >>> noise = seeds.generator(0, "noise").random()
    >>> noise == Seeds(1, experiment="demo").generator(0, "noise").random()
    True
    >>> noise == seeds.generator(1, "noise").random()
    False
    """

    seed: int
    experiment: str
    dataset: str = ""

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be a non-negative integer, got {self.seed}")

    def generator(self, repetition: int | str, stream: str) -> np.random.Generator:
        """Return the generator of one stream of one repetition.

        Parameters
        ----------
        repetition : int or str
            Number of the repetition, or a name such as "tuning".
        stream : str
            What the numbers are for, such as "noise".

        Returns
        -------
        numpy.random.Generator
            A new generator (PCG64), the same on every machine and in every process.
        """
        names = (self.experiment, self.dataset, str(repetition), stream)
        digests = b"".join(hashlib.sha256(name.encode()).digest()[:16] for name in names)
        key = struct.unpack("<16I", digests)
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        return np.random.Generator(np.random.PCG64(sequence))


def generator(random_state: Any) -> np.random.Generator:
    """Make a NumPy generator from any ``random_state`` that scikit-learn accepts.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of the numbers. A generator is returned unchanged.

    Returns
    -------
    numpy.random.Generator
        The generator.

    Raises
    ------
    ValueError
        If ``random_state`` is anything else.

    Examples
    --------
    >>> from noisylabels.seeding import generator
    >>> generator(7).random() == generator(7).random()
    True
    """
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    except ValueError:
        rule = "must be None, a whole number >= 0, a NumPy Generator or a RandomState"
        raise ValueError(f"random_state: {rule}, got {shown(random_state)}") from None
    return np.random.default_rng(state.randint(LARGEST_SEED))
