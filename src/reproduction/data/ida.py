"""The 13 benchmark sets of G. Rätsch's IDA repository: points, labels and the index rows of their splits.

Two variants, named in every result. *Genuine*: ``benchmarks.mat`` with the original splits. *Rebuilt*: the
same points recovered from files in package distributions (each recipe was compared with published copies of
the IDA matrices: equal to 1e-6 or better, up to the order of rows), with our seeded splits of the original
sizes. Ringnorm and waveform can also be *generated*.

z = z-score per column with ddof = 1, as IDA did. Train and test indices are zero-based,
(R, n_train) and (R, n_test).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data import uci
from reproduction.data.formats import Arrays, Files, contents, mat, matrix, only, supervised, svmlight

Floats = NDArray[np.float64]
Points = tuple[Floats, NDArray[Any]]
Splits = tuple[NDArray[np.int32], NDArray[np.int32]]


class Facts(NamedTuple):
    """Published sizes of one set: columns, rows of the two classes, training rows, number of splits."""

    columns: int
    negative: int
    positive: int
    train: int
    splits: int = 100


FACTS = {
    "banana": Facts(2, 2924, 2376, 400),
    "breast-cancer": Facts(9, 196, 81, 200),
    "diabetes": Facts(8, 500, 268, 468),
    "flare-solar": Facts(9, 477, 589, 666),
    "german": Facts(20, 700, 300, 700),
    "heart": Facts(13, 150, 120, 170),
    "image": Facts(18, 990, 1320, 1300, 20),
    "ringnorm": Facts(20, 3736, 3664, 400),
    "splice": Facts(60, 1648, 1527, 1000, 20),
    "thyroid": Facts(5, 150, 65, 140),
    "titanic": Facts(3, 1490, 711, 150),
    "twonorm": Facts(20, 3697, 3703, 400),
    "waveform": Facts(21, 3353, 1647, 400),
}


def splits(name: str, y: NDArray[np.int8]) -> Splits:
    """Our splits of the IDA sizes: (R, n_train), (R, n_test) indices of uniform random partitions.

    Realisation r is drawn from its stream of the fixed seed 0;
    a training part of one class only is redrawn.
    """
    facts, seeds = FACTS[name], Seeds(0, "ida-splits", name)
    order = np.empty((facts.splits, len(y)), np.int32)
    for r in range(facts.splits):
        rng = seeds.generator(r, "split")
        order[r] = rng.permutation(len(y))
        while len(np.unique(y[order[r, : facts.train]])) < 2:
            order[r] = rng.permutation(len(y))
    return order[:, : facts.train].copy(), order[:, facts.train :].copy()


def _z(X: Floats) -> Floats:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))


def _plus(found: NDArray[Any]) -> NDArray[np.int8]:
    return np.where(found, 1, -1).astype(np.int8)


# recipes: the points of a set from a file of a package or a mirror


def _banana(path: Path) -> Points:
    X, y = svmlight(path, 2, {-1.0: -1, 1.0: 1})  # standardised already, to six decimals
    return X.toarray(), y


def _breast_cancer(path: Path) -> Points:
    slope = [0.99732724, 1.79417818, 0.463923119, 0.757977, 2.3300011, 1.350483, 1.993164, 0.805841, 2.43904]
    shift = [2.6935114, 2.68471894, 2.18755, 0.459213, 1.76876, 1.488489, 1.018406, 0.982302, 1.9227466]
    X, y = uci.breast_cancer(path)
    return X * slope - shift, y


def _diabetes(path: Path) -> Points:
    arrays = uci.pima({path.name: path})
    return _z(arrays["X"]), arrays["y"]


def _flare_solar(path: Path) -> Points:
    X, y = uci.solar_flare(path)  # unscaled: activity ... area and C, M, X counts
    return X[:, [2, 3, 4, 5, 6, 7, 9, 10, 11]], y


def _german(path: Path) -> Points:
    X, y = uci.german(path)
    X[X[:, 3] == 10, 3] = 410 - 40  # IDA's artefact: purpose A410 is 410 beside A40 ... A49
    return _z(X), y


def _heart(path: Path) -> Points:
    arrays = uci.heart({path.name: path})
    return _z(arrays["X"]), arrays["y"]


def _image(path: Path) -> Points:
    X, y = uci.segment(path)  # without its constant column; +1 = brickface, sky, foliage, path
    return _z(np.delete(X, 2, axis=1)), _plus(np.isin(y, [1, 2, 3, 6]))


def _norm(path: Path) -> Points:
    X, y = uci.norm(path)
    return _z(X), -y


def _splice(path: Path) -> Points:
    X, y = uci.splice(path)
    known = (X > 0).all(axis=1)  # without the 15 rows of ambiguous letters; +1 = EI or IE
    return X[known], _plus(y[known] != 3)


def _thyroid(path: Path) -> Points:
    slope = [
        0.08668282471557734,
        0.2160091459925093,
        0.9076916903051858,
        0.14581820454549435,
        0.12197008374778771,
    ]
    shift = [9.481367370321617, 2.1343863719563236, 1.726429596532679, 0.4164567929859075, 0.5082493382697804]
    X, y = uci.new_thyroid(path)
    return X * slope - shift, _plus(y != 1)


def _titanic(path: Path) -> Points:
    X, y = uci.titanic(path)
    return _z(X), y


def _waveform(path: Path) -> Points:
    X, y = uci.waveform(path)
    return _z(X), _plus(y == 1)


# generators: L. Breiman, Bias, variance and arcing classifiers, TR 460, University of California, 1996


def _shuffled(rng: np.random.Generator, negative: Floats, positive: Floats) -> Points:
    X, y = np.concatenate([negative, positive]), np.repeat([-1, 1], [len(negative), len(positive)])
    order = rng.permutation(len(y))
    return X[order], y[order]


def generated_ringnorm(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """x | y = -1 ~ N(a 1, I), x | y = +1 ~ N(0, 4 I), a = 2/sqrt(20), 20 columns, given class counts."""
    inner = rng.standard_normal((negative, 20)) + 2 / np.sqrt(20)
    return _shuffled(rng, inner, 2 * rng.standard_normal((positive, 20)))


def generated_waveform(rng: np.random.Generator, negative: int, positive: int) -> Points:
    """x = u h_a + (1 - u) h_b + N(0, I), u ~ U(0, 1), 21 columns; y = +1 mixes the waves at 7 and 11.

    h_p(i) = max(6 - abs(i - p), 0), i = 1..21; y = -1 mixes 7 and 15 or 11 and 15, with equal probability.
    """
    early, middle, late = (np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0.0) for peak in (7, 11, 15))
    other = np.where(rng.random((negative, 1)) < 0.5, early, middle)

    def mix(first: Floats, second: Floats, n: int) -> Floats:
        u = rng.random((n, 1))
        return np.asarray(u * first + (1 - u) * second + rng.standard_normal((n, 21)))

    return _shuffled(rng, mix(other, late, negative), mix(early, middle, positive))


GENERATORS = {"ringnorm": generated_ringnorm, "waveform": generated_waveform}


# loaders


def _loader(name: str, recipe: Callable[[Path], Points]) -> Callable[[Files], Arrays]:
    """Genuine if there is ``benchmarks.mat``, else by the recipe, without any file generated."""
    facts = FACTS[name]

    def load(files: Files) -> Arrays:
        parts = None
        if "benchmarks.mat" in files:
            X, y, *parts = genuine(files["benchmarks.mat"], name)
        elif files:
            X, y = recipe(only(files))
        else:
            rng = Seeds(0, "ida-generated", name).generator(0, "points")
            X, y = GENERATORS[name](rng, facts.negative, facts.positive)
            X = _z(X)
        classes = {-1: facts.negative, 1: facts.positive}
        arrays = supervised(f"ida-{name}", X, y, facts.columns, classes)
        train, test = parts or splits(name, arrays["y"])
        return arrays | {"train": train, "test": test}

    return load


banana = _loader("banana", _banana)
breast_cancer = _loader("breast-cancer", _breast_cancer)
diabetes = _loader("diabetes", _diabetes)
flare_solar = _loader("flare-solar", _flare_solar)
german = _loader("german", _german)
heart = _loader("heart", _heart)
image = _loader("image", _image)
ringnorm = _loader("ringnorm", _norm)
splice = _loader("splice", _splice)
thyroid = _loader("thyroid", _thyroid)
titanic = _loader("titanic", _titanic)
twonorm = _loader("twonorm", _norm)
waveform = _loader("waveform", _waveform)


def genuine(path: Path, name: str) -> tuple[Floats, NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
    """X (n, d), y (n,) in {-1, +1}, zero-based indices (R, train) and (R, n - train) of ``benchmarks.mat``.

    The file has one struct per set: x and t hold each labelled pattern once; train and test are one-based,
    and name a pattern as often as it occurs in the set. A pattern that occurs m times becomes m equal rows,
    so that every split is a partition of the rows.

    Raises
    ------
    ValueError : the struct or a field is missing, labels other than -1 and +1, other sizes, rows that are not
        there, or splits that are not all partitions of the same multiset of patterns.
    """
    facts, variables = FACTS[name], mat(path)
    rows = facts.negative + facts.positive
    key = "diabetis" if name == "diabetes" else name.replace("-", "_")  # the repository's spelling
    where = f"{path.name}: {key}"
    if key not in variables:
        raise ValueError(f"{path.name}: no set {key!r}, found {contents(variables)}")
    struct = variables[key]
    fields = {field: struct[0, 0][field] for field in struct.dtype.names or ()}
    x, t, first, second = (matrix(fields, field, where) for field in ("x", "t", "train", "test"))
    if t.size != len(x) or not np.isin(t, [-1, 1]).all():
        raise ValueError(f"{where}.t must hold {len(x)} labels -1 or +1, found {contents(fields)}")
    R = len(first)
    if not 1 <= R <= facts.splits or first.shape[1:] + second.shape != (facts.train, R, rows - facts.train):
        expected = f"{facts.splits}x{facts.train} and {facts.splits}x{rows - facts.train}, or fewer rows"
        raise ValueError(f"{where}: train and test must be {expected}, found {contents(fields)}")
    named = np.hstack([first, second])
    if not (np.equal(named, np.floor(named)).all() and named.min() >= 1 and named.max() <= len(x)):
        raise ValueError(f"{where}: train and test must name patterns 1..{len(x)}")
    # sorted, each split must be the same list: the pattern of every row
    sort = np.argsort(named, axis=1, kind="stable")
    patterns = np.take_along_axis(named, sort, axis=1).astype(np.intp) - 1
    if (differs := (patterns != patterns[0]).any(axis=1)).any():
        raise ValueError(f"{where}: split {int(differs.argmax()) + 1} holds other patterns than split 1")
    order = np.empty(named.shape, np.int32)
    np.put_along_axis(order, sort, np.arange(rows, dtype=np.int32)[np.newaxis], axis=1)
    X, y = x[patterns[0]].astype(float), t.ravel()[patterns[0]]
    return X, y, order[:, : facts.train], order[:, facts.train :]
