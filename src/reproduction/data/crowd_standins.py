"""Seeded stand-ins of the two sets with real label noise: a simulated crowd, and simulated search results.

Their shapes are those of the originals, their structure is not: results on them are never compared with
published numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise.crowd import simulate
from noisylabels.seeding import Seeds
from reproduction.data.checks import supervised
from reproduction.data.files import Files
from reproduction.data.matrices import pack

Arrays = dict[str, NDArray[Any]]


def websearch(files: Files, n: int = 600, d: int = 6) -> Arrays:
    """n images as d features, half of them bikes; the search found a quarter of the others all the same.

    Bikes lie at +-2 on the first axis and the others at +-2 on the second, in clusters of variance 1:
    the boundary is a pair of lines that cross (Bayes error 14 %), and the other features are noise.
    """
    rng = Seeds(0, "stand-in", "websearch").generator(0, "images")
    y = rng.permutation(np.repeat(np.array([-1, 1], np.int8), [n - n // 2, n // 2]))
    X = rng.standard_normal((n, d))
    X[np.arange(n), np.where(y > 0, 0, 1)] += np.where(rng.random(n) < 0.5, 2.0, -2.0)
    arrays = pack(*supervised("websearch", X, y, d, {-1: None, 1: None}, n))
    found = (y < 0) & (rng.random(n) < 0.25)
    return arrays | {"y_noisy": np.where(found, 1, y).astype(np.int8)}


def rte(files: Files, n: int = 800, d: int = 9) -> Arrays:
    """n items with ten labels each by a simulated crowd of 164 (see `noise.crowd.simulate`), and d features.

    x | y ~ N(y m, I), |m| = 0.25: the features tell as little as the overlap of words (Bayes error 40 %).
    """
    seeds = Seeds(0, "stand-in", "rte")
    rng = seeds.generator(0, "items")
    y = rng.permutation(np.repeat(np.array([-1, 1], np.int8), [n - n // 2, n // 2]))
    X = rng.standard_normal((n, d)) + y[:, None] * 0.25 / np.sqrt(d)
    crowd = simulate(y, seeds.generator(0, "crowd"))
    arrays = pack(*supervised("rte", X, y, d, {-1: None, 1: None}, n))
    return arrays | {"item": crowd.item, "worker": crowd.worker, "response": crowd.response}
