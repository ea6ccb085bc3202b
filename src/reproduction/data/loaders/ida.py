"""The 13 sets of G. Rätsch's IDA repository: points, labels and the rows of their splits.

Every result names one of two variants. *Genuine*: ``benchmarks.mat`` with the original splits.
*Rebuilt*: the same points, recovered from files in package distributions, with our seeded splits of
the original sizes. Each recipe was compared with published copies of the IDA matrices: equal to
1e-6 or better, up to the order of rows. Ringnorm and waveform can also be *generated*.

z = z-score per column with ddof = 1, as IDA did. Train and test indices are zero-based,
(R, n_train) and (R, n_test).
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data.loaders import uci
from reproduction.data.loaders.formats import Arrays, Files, fact, mat, matrix, only, pack, svmlight

Floats = NDArray[np.float64]
Points = tuple[Floats, NDArray[Any]]
Splits = tuple[NDArray[np.int32], NDArray[np.int32]]
PointsAndSplits = tuple[Floats, NDArray[Any], NDArray[np.int32], NDArray[np.int32]]

_FACTS = json.loads(fact("ida.json"))
TRAIN: dict[str, int] = _FACTS["train"]
"""Published numbers of training rows, by data set."""
REALISATIONS: dict[str, int] = _FACTS["realisations"]
"""Published numbers of splits, by data set; all others have 100."""


def splits(name: str, y: NDArray[np.int8]) -> Splits:
    """Draw our own splits, uniformly at random, of the sizes in IDA.

    Realisation r is drawn from its stream of the fixed seed 0; a training part of one class is
    drawn again.

    Parameters
    ----------
    name : str
        Name of the set.
    y : ndarray of shape (n,)
        Labels.

    Returns
    -------
    train : ndarray of shape (R, n_train)
        Indices of the training rows.
    test : ndarray of shape (R, n_test)
        Indices of the test rows.
    """
    train = TRAIN[name]
    seeds = Seeds(0, "ida-splits", name)
    order = np.empty((REALISATIONS.get(name, 100), len(y)), np.int32)
    for r, row in enumerate(order):
        rng = seeds.generator(r, "split")
        row[:] = rng.permutation(len(y))
        while len(np.unique(y[row[:train]])) < 2:
            row[:] = rng.permutation(len(y))
    return order[:, :train].copy(), order[:, train:].copy()


def _z(X: Floats) -> Floats:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))


def _plus(is_positive: NDArray[Any]) -> NDArray[np.int8]:
    return np.where(is_positive, 1, -1).astype(np.int8)


def _standardised(X: Floats, y: NDArray[Any]) -> Points:
    return _z(X), y


def _banana(path: Path) -> Points:
    with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as stream:
        X, y = svmlight(stream, 2)  # already standardised, to six decimals
    return X.toarray(), y


def _scaled(name: str, X: Floats) -> Floats:
    slope, shift = _FACTS["slope_and_shift"][name]
    return np.asarray(X * slope - shift)


def _german(X: Floats, y: NDArray[Any]) -> Points:
    X[X[:, 3] == 10, 3] = 410 - 40  # in IDA's file, purpose A410 is 410, next to A40 ... A49
    return _z(X), y


def _splice(X: Floats, y: NDArray[Any]) -> Points:
    is_unambiguous = (X > 0).all(axis=1)  # without the 15 rows of ambiguous letters; +1 = EI or IE
    return X[is_unambiguous], _plus(y[is_unambiguous] != 3)


# generators: L. Breiman, Bias, variance and arcing classifiers, TR 460, University of California,
# 1996
def _shuffled(rng: np.random.Generator, negative: Floats, positive: Floats) -> Points:
    X = np.concatenate([negative, positive])
    y = np.repeat([-1, 1], [len(negative), len(positive)])
    order = rng.permutation(len(y))
    return X[order], y[order]


def generated_ringnorm(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """Generate ringnorm, 20 columns, with these numbers of rows of the two classes.

    x | y = -1 ~ N(a 1, I) and x | y = +1 ~ N(0, 4 I) with a = 2/sqrt(20).
    """
    inner = rng.standard_normal((negative, 20)) + 2 / np.sqrt(20)
    outer = 2 * rng.standard_normal((positive, 20))
    return _shuffled(rng, inner, outer)


def generated_waveform(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """Generate waveform, 21 columns, with these numbers of rows of the two classes.

    x = u h_a + (1 - u) h_b + N(0, I), u ~ U(0, 1), with h_p(i) = max(6 - abs(i - p), 0), i = 1..21.
    y = +1 mixes the waves at 7 and 11, y = -1 those at 7 and 15 or at 11 and 15, with equal
    probability.
    """
    i = np.arange(1, 22)
    early, middle, late = (np.maximum(6 - np.abs(i - peak), 0.0) for peak in (7, 11, 15))
    early_or_middle = np.where(rng.random((negative, 1)) < 0.5, early, middle)

    def mix(first: Floats, second: Floats, n: int) -> Floats:
        u = rng.random((n, 1))
        waves = u * first + (1 - u) * second
        return np.asarray(waves + rng.standard_normal((n, 21)))

    negative_rows = mix(early_or_middle, late, negative)
    positive_rows = mix(early, middle, positive)
    return _shuffled(rng, negative_rows, positive_rows)


GENERATORS = {
    "ringnorm": (generated_ringnorm, 3736, 3664),
    "waveform": (generated_waveform, 3353, 1647),
}
"""Data set -> how it is generated, and its published numbers of rows of class -1 and +1."""


def _loader(
    name: str,
    read: Callable[[Path], Points],
    change: Callable[[Floats, NDArray[Any]], Points],
) -> Callable[[Files], Arrays]:
    """Make the loader of a set: genuine with ``benchmarks.mat``, else rebuilt or generated."""

    def load(files: Files) -> Arrays:
        if "benchmarks.mat" in files:
            X, y, train, test = genuine(files["benchmarks.mat"], name)
            return pack(X, y) | {"train": train, "test": test}
        if files:
            X, y = change(*read(only(files)))
        else:
            rng = Seeds(0, "ida-generated", name).generator(0, "points")
            generated, negative, positive = GENERATORS[name]
            X, y = _standardised(*generated(rng, negative, positive))
        arrays = pack(X, y)
        train, test = splits(name, arrays["y"])
        return arrays | {"train": train, "test": test}

    return load


banana = _loader("banana", _banana, lambda X, y: (X, y))
breast_cancer = _loader(
    "breast-cancer",
    uci.breast_cancer,
    lambda X, y: (_scaled("breast-cancer", X), y),
)
diabetes = _loader("diabetes", uci.pima_points, _standardised)
flare_solar = _loader(  # unscaled: activity ... area and C, M, X counts
    "flare-solar", uci.solar_flare, lambda X, y: (X[:, [2, 3, 4, 5, 6, 7, 9, 10, 11]], y)
)
german = _loader("german", uci.german, _german)
heart = _loader("heart", uci.heart_points, _standardised)
image = _loader(  # brickface, sky, foliage and path are +1
    "image",
    uci.segment,
    lambda X, y: (_z(np.delete(X, 2, axis=1)), _plus(np.isin(y, [1, 2, 3, 6]))),
)
ringnorm = _loader("ringnorm", uci.norm, lambda X, y: (_z(X), -y))
splice = _loader("splice", uci.splice, _splice)
thyroid = _loader("thyroid", uci.new_thyroid, lambda X, y: (_scaled("thyroid", X), _plus(y != 1)))
titanic = _loader("titanic", uci.titanic, _standardised)
twonorm = _loader("twonorm", uci.norm, lambda X, y: (_z(X), -y))
waveform = _loader("waveform", uci.waveform, lambda X, y: (_z(X), _plus(y == 1)))


def genuine(path: Path, name: str) -> PointsAndSplits:
    """Read a data set from ``benchmarks.mat``.

    The file has one struct per set: x and t hold each labelled pattern once; train and test are
    one-based, and name a pattern as often as it occurs in the set. A pattern that occurs m times
    becomes m equal rows, so that every split is a partition of the rows.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Name of the set.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Labels -1 and +1.
    train, test : ndarray of shape (R, n_train) and (R, n_test)
        Zero-based indices.

    Raises
    ------
    ValueError
        If the struct or a field is missing, or the splits are not all partitions of the same
        multiset of patterns, with a training part of the published size.
    """
    variables = mat(path)
    size = TRAIN[name]
    # "diabetis" is the spelling of the IDA repository
    key = "diabetis" if name == "diabetes" else name.replace("-", "_")
    location = f"{path.name}: {key}"
    if key not in variables:
        raise ValueError(f"{path.name}: no set {key!r}, found {', '.join(variables)}")
    struct = variables[key]
    fields = {field: struct[0, 0][field] for field in struct.dtype.names or ()}
    x, t, *parts = (matrix(fields, field, location) for field in ("x", "t", "train", "test"))
    named = np.hstack(parts)
    # each split, sorted, must be the same list, which is the pattern of every row
    sort = np.argsort(named, axis=1, kind="stable")
    patterns = np.take_along_axis(named, sort, axis=1).astype(np.intp) - 1
    rows = patterns[0]
    if parts[0].shape[1] != size or (patterns != rows).any() or patterns.min() < 0:
        rule = f"are not partitions of the same rows, {size} of them to train"
        raise ValueError(f"{location}: the splits {rule}")
    order = np.empty(named.shape, np.int32)
    positions = np.arange(named.shape[1], dtype=np.int32)
    np.put_along_axis(order, sort, positions[np.newaxis], axis=1)
    return x[rows].astype(float), t.ravel()[rows], order[:, :size], order[:, size:]
