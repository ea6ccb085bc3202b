"""Sets of the LIBSVM page that the robust-loss paper uses, and seeded stand-ins where they are out of reach.

Sparse sets stay sparse. Where an official test set exists it is kept apart (``X_test`` or its CSR pieces,
``y_test``). A stand-in has the shape, sparsity and difficulty (Bayes error) of the original, not its
structure: results on it are never compared with published numbers, and tables and figures call it so.

MNIST's digits 3 against 8 are moved and deformed as MNIST8M was made of MNIST, and in two controls:
x' = floor(clip(x + f_x t_x + f_y t_y, 0, 255)), then moved by -1, 0 or 1 pixel each way. t_x and t_y are the
derivatives of the image x by its columns and rows (the tangent vectors), f_x and f_y smooth random fields of
displacements in pixels, two of a pool of 1522.

That form, the size of the pool and the nine moves are those of the program that generates MNIST8M. Its fields
are a file of 5 MB that we could not have; ours are drawn as in Simard, Steinkraus and Platt (2003): uniform
in [-1, 1], smoothed by a Gaussian of 4 pixels, times 34 (root mean square 1.3 pixels).

Sources: Loosli, Canu, Bottou, Training invariant support vector machines using selective sampling, in Large
Scale Kernel Machines, 2007, and their program InfiMNIST; Simard, Steinkraus, Platt, ICDAR 2003.
"""

import gzip
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from noisylabels.seeding import Seeds
from reproduction.data.loaders.formats import (
    Arrays,
    Files,
    codes,
    fact,
    numbers,
    numeric_csv,
    only,
    pack,
    svmlight,
    table,
)

Images = NDArray[np.float64]
"""(n, 28, 28), values 0..255."""
Digits = tuple[NDArray[np.uint8], NDArray[Any]]
Change = Callable[[Images, np.random.Generator], Images]

COPIES, POOL, SMOOTHING, SIZE = 4, 1522, 4.0, 34.0
"""Images made of each training image (MNIST8M has 134); fields, their smoothing and size in pixels."""
ARRAY = ("numpy.core.multiarray _reconstruct", "numpy ndarray", "numpy dtype", "_codecs encode")
"""All that a pickled array needs."""


def a7a(files: Files) -> Arrays:
    """a7a (16100) and a7a.t (16461 rows), 123 binary features, CSR; also rebuilt from Adult."""
    if "adult.tab" in files:
        train, test = halves_of_adult(only(files))
    else:
        train, test = (svmlight(files[name], 123) for name in ("a7a", "a7a.t"))
    return pack(*train) | pack(*test, "test")


def ijcnn1(files: Files) -> Arrays:
    """ijcnn1, dense, 22 columns: 49990 training and 91701 test rows."""
    (X, y), (X_test, y_test) = (svmlight(files[name], 22) for name in ("ijcnn1", "ijcnn1.t"))
    return pack(X.toarray(), y) | pack(X_test.toarray(), y_test, "test")


def real_sim(files: Files) -> Arrays:
    """real-sim, 72309 x 20958, CSR."""
    return pack(*svmlight(only(files), 20958))


def covtype(files: Files) -> Arrays:
    """Forest cover, lodgepole pine (class 2, +1) against the rest, 581012 x 54, float32; UCI's table."""
    values = numeric_csv(only(files))
    return pack(values[:, :54], np.where(values[:, 54] == 2, 1, -1))


def susy(files: Files, test: int = 500_000) -> Arrays:
    """SUSY, 18 float32 columns: 4,500,000 training rows and the last 500,000 as test set; +1 = signal."""
    values = numeric_csv(only(files))
    y = codes(values[:, 0], {0: -1, 1: 1})
    return pack(values[:-test, 1:], y[:-test]) | pack(values[-test:, 1:], y[-test:], "test")


def halves_of_adult(path: Path) -> list[tuple["csr_matrix[Any]", NDArray[np.int8]]]:
    """LIBSVM's a7a and a7a.t from Orange's ``adult.tab``, one line per person in the order of the file.

    The 14 attributes are indices of 123 binary features: ``facts/adult.json`` has the first index of a column
    and its cuts (quintiles) or levels; "?" has none. Row i is in a7a by bit i & 7 of byte i >> 3 of
    ``facts/a7a_rows.bin``.
    """
    rows, facts = table(path, 15), json.loads(fact("adult.json"))
    index = np.empty((len(rows), 14), np.int32)
    for column, each in facts["cuts"].items():
        index[:, int(column)] = each["first"] + np.searchsorted(each["cuts"], numbers(rows[:, int(column)]))
    for column, each in facts["levels"].items():
        coding = {"?": 0} | {level: code for code, level in enumerate(each["levels"], each["first"])}
        index[:, int(column)] = codes(rows[:, int(column)], coding)
    indptr = np.concatenate([[0], np.cumsum((index > 0).sum(axis=1))])
    X = csr_matrix((np.ones(indptr[-1]), index[index > 0] - 1, indptr), shape=(len(rows), 123))
    y = codes(rows[:, 14], {"<=50K": -1, ">50K": 1})
    half = np.unpackbits(np.frombuffer(fact("a7a_rows.bin"), np.uint8), bitorder="little")[: len(rows)] == 1
    return [(X[half], y[half]), (X[~half], y[~half])]


def _generator(name: str, part: str = "points") -> np.random.Generator:
    return Seeds(0, "stand-in", name).generator(0, part)


def _labels(rng: np.random.Generator, n: int, positive: float) -> NDArray[np.int8]:
    """Exactly round(positive n) labels +1, in random order."""
    y = np.full(n, -1, np.int8)
    y[: round(positive * n)] = 1
    return rng.permutation(y)


def susy_stand_in(files: Files, n: int = 5_000_000) -> Arrays:
    """n x 18 Gaussian features, float32, two classes with a Bayes error of 20 %; the last 10 % test.

    x | y ~ N(y m, I) with m along the diagonal and Phi(-|m|) = 0.2.
    """
    from scipy.special import ndtri

    rng = _generator("susy")
    y = _labels(rng, n, 0.46)
    X = rng.standard_normal((n, 18), np.float32)
    X += (y * (-ndtri(0.2) / np.sqrt(18))).astype(np.float32)[:, None]
    train = n - n // 10
    return pack(X[:train], y[:train]) | pack(X[train:], y[train:], "test")


def ijcnn1_stand_in(files: Files, n: int = 49_990, n_test: int = 91_701) -> Arrays:
    """22 columns: ten indicators of the phase of a cycle, twelve values in [-1, 1]; 9.7 % positive.

    Both classes lie in shells around a centre that depends on the phase; positives are nearer to it and lean
    to one side, so that the best hyperplane errs on about 7.5 % and a curved boundary on less than 3 %.
    """
    centres = _generator("ijcnn1", "centres").uniform(-0.5, 0.5, (10, 12))

    def draw(rows: int, part: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        rng = _generator("ijcnn1", part)
        y, phase = _labels(rng, rows, 0.097), rng.integers(10, size=rows)
        direction = rng.standard_normal((rows, 12))
        direction[y == 1, 0] += 4
        direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
        radius = np.where(y == 1, 0.55, 0.75) + 0.12 * rng.standard_normal(rows)
        values = np.clip(centres[phase] + radius[:, None] * direction, -1, 1)
        return np.hstack([np.eye(10)[phase], values]), y

    train, test = draw(n, "training"), draw(n_test, "test")
    return pack(*train) | pack(*test, "test")


def covtype_stand_in(files: Files, n: int = 581_012) -> Arrays:
    """n x 54 float32 as in covtype: ten values in [0, 1], 4 area and 40 soil indicators; 48.8 % positive.

    Each class mixes five clusters of the ten values, and soils by its frequencies; linear error about 25 %.
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


def real_sim_stand_in(files: Files, n: int = 72_309, d: int = 20_958) -> Arrays:
    """n x d tf-idf matrix, CSR, 51 words a row, rows of unit length; 31 % positive, Bayes error about 2 %.

    Two topics share the 100 commonest words of a Zipf law and order the rest differently; a row of class +1
    draws a word from the first topic with probability 3/4, a row of class -1 with probability 1/4.
    """
    rng = _generator("real_sim")
    y = _labels(rng, n, 0.31)
    shared, zipf = min(100, d), 1 / np.arange(1, d + 1)
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


def _distinct(rng: np.random.Generator, law: NDArray[np.float64], rows: int, k: int) -> NDArray[np.int32]:
    """(rows, k) different words each: the first k different ones of an i.i.d. sequence drawn from ``law``."""
    cumulative, out, todo = law.cumsum(), np.empty((rows, k), np.int32), np.arange(rows)
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


def mnist38(files: Files) -> Arrays:
    """Digits 3 (+1) and 8 (-1), 784 float32 pixels in [0, 1]: 11982 training and 1984 test images."""
    if "mnist.pkl.gz" in files:
        train, test = _from_pickle(files["mnist.pkl.gz"])
    else:
        train, test = (
            (_idx(files[f"{part}-images-idx3-ubyte"]), _idx(files[f"{part}-labels-idx1-ubyte"]))
            for part in ("train", "t10k")
        )
    return _pair(*train) | _pair(*test, "test")


def _pair(pixels: NDArray[np.uint8], digits: NDArray[Any], part: str = "") -> Arrays:
    chosen = np.isin(digits, [3, 8])
    X = pixels[chosen].reshape(int(chosen.sum()), -1).astype(np.float32) / np.float32(255)
    return pack(X, np.where(digits[chosen] == 3, 1, -1), part)


def _idx(path: Path) -> NDArray[np.uint8]:
    """Bytes of an IDX file: two zero bytes, type, number of axes, sizes as big-endian uint32, the values."""
    raw = path.read_bytes()
    start = 4 + 4 * raw[3]
    shape = tuple(int(size) for size in np.frombuffer(raw[4:start], ">u4"))
    if raw[:3] != b"\0\0\x08" or math.prod(shape) != len(raw) - start:
        raise ValueError(f"{path.name}: not an IDX file of {'x'.join(map(str, shape))} unsigned bytes")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module} {name}" not in ARRAY:
            raise ValueError(f"the pickle asks for {module}.{name}, which is not part of an array; refused")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def _from_pickle(path: Path) -> tuple[Digits, Digits]:
    """Training (with validation) and test images of ``mnist.pkl.gz``; its pixels are multiples of 1/256."""
    with gzip.open(path) as stream:
        (x1, y1), (x2, y2), (x3, y3) = _ArraysOnly(stream, encoding="latin1").load()
    train, test = ((np.asarray(x) * 256).astype(np.uint8) for x in (np.concatenate([x1, x2]), x3))
    return (train, np.concatenate([y1, y2])), (test, np.asarray(y3))


def moved(images: Images, rng: np.random.Generator) -> Images:
    """Each image moved by -1, 0 or 1 pixel along rows and columns, nine moves alike; what enters is 0."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(3, size=(2, len(images), 1)) + np.arange(images.shape[1])
    return padded[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]


def displaced(images: Images, f_x: Images, f_y: Images) -> Images:
    """floor(clip(x + f_x t_x + f_y t_y, 0, 255)): every image, to first order, displaced by a field.

    t_x and t_y are central differences. f_x, f_y : (n, 28, 28), pixels.
    """
    t_y, t_x = np.gradient(images, axis=(1, 2))
    return np.floor(np.clip(images + f_x * t_x + f_y * t_y, 0, 255))


def mapped(images: Images, rng: np.random.Generator) -> Images:
    """Each image seen through z -> z + b + M z / 13.5, z from the centre, interpolated between four pixels.

    The six entries of b and M are uniform in [-1, 1]: each moves no pixel by more than one.
    """
    from scipy.ndimage import map_coordinates

    n, side = len(images), images.shape[1]
    middle = (side - 1) / 2
    grid = np.indices((side, side)).reshape(2, -1) - middle
    shift, matrix = rng.uniform(-1, 1, (n, 2, 1)), rng.uniform(-1, 1, (n, 2, 2))
    places = grid + shift + matrix @ grid / middle + middle
    seen = [map_coordinates(image, place, order=1) for image, place in zip(images, places, strict=True)]
    return np.rint(np.reshape(seen, images.shape))


def fields(rng: np.random.Generator, size: float) -> Images:
    """(1522, 28, 28) values uniform in [-1, 1], smoothed by a Gaussian of 4 pixels, times ``size``."""
    from scipy.ndimage import gaussian_filter

    noise = rng.uniform(-1, 1, (POOL, 28, 28))
    return size * np.asarray(gaussian_filter(noise, (0, SMOOTHING, SMOOTHING), mode="constant"))


def _by_fields(size: float) -> Change:
    """Each image displaced by two fields of the pool, one for each axis, and moved."""

    def change(images: Images, rng: np.random.Generator) -> Images:
        pool = fields(rng, size)
        first, second = rng.integers(POOL, size=(2, len(images)))
        return moved(displaced(images, pool[first], pool[second]), rng)

    return change


def _deformed(name: str, change: Change) -> Callable[[Files], Arrays]:
    """Changed copies of the training images, float32 in [0, 1], and their labels; no test part."""

    def load(files: Files) -> Arrays:
        digits = mnist38(files)
        images = np.rint(digits["X"].astype(float) * 255).reshape(-1, 28, 28)
        seeds = Seeds(0, "deformed-digits", "mnist38")
        copies = [change(images, seeds.generator(copy, name)).astype(np.uint8) for copy in range(COPIES)]
        X = np.concatenate(copies).reshape(-1, 784).astype(np.float32) / np.float32(255)
        return pack(X, np.tile(digits["y"], COPIES))

    return load


shifted = _deformed("shifted", moved)
deformed = _deformed("deformed", _by_fields(SIZE))  # as in MNIST8M
half_deformed = _deformed("half deformed", _by_fields(SIZE / 2))
affine = _deformed("affine", mapped)
