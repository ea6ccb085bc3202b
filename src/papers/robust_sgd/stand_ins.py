"""Seeded stand-ins for large sets of the LIBSVM page, where they are out of reach.

A stand-in has the shape, sparsity and difficulty (Bayes error) of the original, not its structure:
results on it are never compared with published numbers, and tables and figures call it so.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import ndtri

from noisylabels.seeding import Seeds
from reproduction.data.loaders.formats import Arrays, Files, pack


def _generator(name: str, part: str = "points") -> np.random.Generator:
    return Seeds(0, "stand-in", name).generator(0, part)


def _labels(rng: np.random.Generator, n: int, positive: float) -> NDArray[np.int8]:
    """Draw labels of which exactly round(positive n) are +1, in random order."""
    y = np.full(n, -1, np.int8)
    y[: round(positive * n)] = 1
    return rng.permutation(y)


def susy(files: Files, n: int = 5_000_000) -> Arrays:
    """Draw n x 18 Gaussian features, float32, with a Bayes error of 20 %; the last 10 % test.

    x | y ~ N(y m, I) with m along the diagonal and Phi(-|m|) = 0.2.
    """
    rng = _generator("susy")
    y = _labels(rng, n, 0.46)
    X = rng.standard_normal((n, 18), np.float32)
    X += (y * (-ndtri(0.2) / np.sqrt(18))).astype(np.float32)[:, None]
    train = n - n // 10
    return pack(X[:train], y[:train]) | pack(X[train:], y[train:], "test")


def ijcnn1(files: Files, n: int = 49_990, n_test: int = 91_701) -> Arrays:
    """Draw 22 columns: indicators of the phase of a cycle, and values; 9.7 % are positive.

    Both classes are in shells around a centre that depends on the phase. Positives are nearer to it
    and lean to one side: the best hyperplane is wrong on about 7.5 %, a curved boundary on less
    than 3 %.
    """
    centres = _generator("ijcnn1", "centres").uniform(-0.5, 0.5, (10, 12))

    def draw(rows: int, part: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        rng = _generator("ijcnn1", part)
        y = _labels(rng, rows, 0.097)
        phase = rng.integers(10, size=rows)
        direction = rng.standard_normal((rows, 12))
        direction[y == 1, 0] += 4
        direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
        radius = np.where(y == 1, 0.55, 0.75) + 0.12 * rng.standard_normal(rows)
        values = np.clip(centres[phase] + radius[:, None] * direction, -1, 1)
        return np.hstack([np.eye(10)[phase], values]), y

    train = draw(n, "training")
    test = draw(n_test, "test")
    return pack(*train) | pack(*test, "test")


def covtype(files: Files, n: int = 581_012) -> Arrays:
    """Draw n x 54 features: ten values, 4 area and 40 soil indicators; 48.8 % are positive.

    Each class mixes five clusters of the ten values, and soils by its frequencies; linear error
    about 25 %.
    """
    rng = _generator("covtype")
    y = _labels(rng, n, 0.4876)
    cluster = rng.integers(5, size=n) + 5 * (y == 1)
    centres = rng.uniform(0.3, 0.7, (10, 10))
    X = np.zeros((n, 54), np.float32)
    X[:, :10] = np.clip(centres[cluster] + 0.15 * rng.standard_normal((n, 10)), 0, 1)
    area = rng.dirichlet(np.ones(4), 10).cumsum(axis=1)
    soil = rng.dirichlet(np.full(40, 0.5), 10).cumsum(axis=1)
    for offset, law in ((10, area), (14, soil)):
        level = (rng.random(n)[:, None] > law[cluster, :-1]).sum(axis=1)
        X[np.arange(n), offset + level] = 1
    return pack(X, y)


def real_sim(files: Files, n: int = 72_309, d: int = 20_958) -> Arrays:
    """Draw an n x d tf-idf matrix, CSR, 51 words a row, rows of unit length; 31 % positive.

    Two topics share the 100 commonest words of a Zipf law and order the rest differently. A row of
    class +1 draws a word from the first topic with probability 3/4, a row of class -1 with
    probability 1/4. The Bayes error is about 2 %.
    """
    rng = _generator("real_sim")
    y = _labels(rng, n, 0.31)
    shared = min(100, d)
    zipf = 1 / np.arange(1, d + 1)
    topics = np.tile(zipf, (2, 1))
    for topic in topics:
        topic[shared:] = rng.permutation(topic[shared:])
    topics /= topics.sum(axis=1, keepdims=True)
    words = np.empty((n, min(51, d)), np.int32)
    for label, weights in ((1, (0.75, 0.25)), (-1, (0.25, 0.75))):
        law = np.average(topics, axis=0, weights=weights)
        words[y == label] = _distinct(rng, law, int((y == label).sum()), words.shape[1])
    words.sort(axis=1)
    counts = 1 + np.log(rng.geometric(0.7, words.shape))
    idf = np.log(n / np.maximum(np.bincount(words.ravel(), minlength=d), 1))
    values = counts * (idf[words] + 1e-3)
    values /= np.sqrt((values**2).sum(axis=1, keepdims=True))
    indptr = np.arange(0, words.size + 1, words.shape[1], dtype=np.int64)
    return pack(csr_matrix((values.ravel(), words.ravel(), indptr), shape=(n, d)), y)


def _distinct(
    rng: np.random.Generator,
    law: NDArray[np.float64],
    rows: int,
    k: int,
) -> NDArray[np.int32]:
    """Draw rows of k different words from a distribution of words."""
    cumulative = law.cumsum()
    out = np.empty((rows, k), np.int32)
    todo = np.arange(rows)
    while len(todo):
        places = np.searchsorted(cumulative, rng.random((len(todo), 4 * k)), side="right")
        draws = np.minimum(places, len(law) - 1)
        order = np.argsort(draws, axis=1, kind="stable")
        ranked = np.take_along_axis(draws, order, axis=1)
        new = np.ones(draws.shape, bool)
        new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
        first = np.zeros_like(new)
        np.put_along_axis(first, order, new, axis=1)
        first &= first.cumsum(axis=1) <= k
        full = first.sum(axis=1) == k
        out[todo[full]] = draws[full][first[full]].reshape(-1, k)
        todo = todo[~full]
    return out
