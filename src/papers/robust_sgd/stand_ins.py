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
        is_positive = y == 1
        phase = rng.integers(10, size=rows)
        direction = rng.standard_normal((rows, 12))
        direction[is_positive, 0] += 4
        direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
        mean_radius = np.where(is_positive, 0.55, 0.75)
        radius = mean_radius + 0.12 * rng.standard_normal(rows)
        values = np.clip(centres[phase] + radius[:, None] * direction, -1, 1)
        indicators = np.eye(10)[phase]
        return np.hstack([indicators, values]), y

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
    is_positive = y == 1
    cluster = rng.integers(5, size=n) + 5 * is_positive
    centres = rng.uniform(0.3, 0.7, (10, 10))
    spread = 0.15 * rng.standard_normal((n, 10))
    X = np.zeros((n, 54), np.float32)
    X[:, :10] = np.clip(centres[cluster] + spread, 0, 1)
    area = rng.dirichlet(np.ones(4), 10).cumsum(axis=1)
    soil = rng.dirichlet(np.full(40, 0.5), 10).cumsum(axis=1)
    rows = np.arange(n)
    for offset, cumulative in ((10, area), (14, soil)):
        uniform = rng.random(n)
        is_above = uniform[:, None] > cumulative[cluster, :-1]
        level = is_above.sum(axis=1)
        X[rows, offset + level] = 1
    return pack(X, y)


def real_sim(files: Files, n: int = 72_309, d: int = 20_958) -> Arrays:
    """Draw an n x d tf-idf matrix, CSR, 51 words a row, rows of unit length; 31 % positive.

    Two topics share the 100 commonest words of a Zipf law and order the rest differently. A row of
    class +1 draws a word from the first topic with probability 3/4, a row of class -1 with
    probability 1/4. The Bayes error is about 2 %.
    """
    rng = _generator("real_sim")
    y = _labels(rng, n, 0.31)
    topics = _draw_topics(rng, d)
    length = min(51, d)
    words = np.empty((n, length), np.int32)
    for label, weights in ((1, (0.75, 0.25)), (-1, (0.25, 0.75))):
        law = np.average(topics, axis=0, weights=weights)
        has_label = y == label
        words[has_label] = _distinct(rng, law, int(has_label.sum()), length)
    words.sort(axis=1)
    counts = 1 + np.log(rng.geometric(0.7, words.shape))
    rows_with_word = np.bincount(words.ravel(), minlength=d)
    idf = np.log(n / np.maximum(rows_with_word, 1))
    values = counts * (idf[words] + 1e-3)
    values /= np.sqrt((values**2).sum(axis=1, keepdims=True))
    indptr = np.arange(0, words.size + 1, length, dtype=np.int64)
    matrix = csr_matrix((values.ravel(), words.ravel(), indptr), shape=(n, d))
    return pack(matrix, y)


def _draw_topics(rng: np.random.Generator, d: int) -> NDArray[np.float64]:
    """Draw the distributions (2, d) of words of two topics, equal on the commonest words."""
    n_shared = min(100, d)
    zipf = 1 / np.arange(1, d + 1)
    topics = np.tile(zipf, (2, 1))
    for topic in topics:
        topic[n_shared:] = rng.permutation(topic[n_shared:])
    topics /= topics.sum(axis=1, keepdims=True)
    return topics


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
