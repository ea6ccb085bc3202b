"""The 13 benchmark sets of G. Rätsch's IDA repository: points, labels and the index rows of their splits.

Two variants, named in every result. *Genuine*: ``benchmarks.mat`` with the original splits. *Rebuilt*: the
same points recovered from files in package distributions (each recipe was compared with published copies of
the IDA matrices: equal to 1e-6 or better, up to the order of rows), with our own seeded splits of the
original sizes. Ringnorm and waveform can also be *generated* afresh.

z = z-score per column with ddof = 1, as IDA did. Train and test indices are zero-based,
(R, n_train) and (R, n_test).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data import generators, ida_mat, uci
from reproduction.data.checks import supervised
from reproduction.data.files import Files, only
from reproduction.data.matrices import pack
from reproduction.data.readers import svmlight

Arrays = dict[str, NDArray[Any]]
Points = tuple[NDArray[np.float64], NDArray[np.int8]]


@dataclass(frozen=True)
class Facts:
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


def splits(name: str, y: NDArray[np.int8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Our splits of the IDA sizes: (R, n_train), (R, n_test) indices of uniform random partitions.

    Realisation r is drawn from its own stream of the fixed seed 0;
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


def _set(name: str) -> Callable[[Callable[[Files], Points]], Callable[[Files], Arrays]]:
    """Make a recipe (files -> points) a loader: genuine if there is ``benchmarks.mat``, else the recipe."""
    facts = FACTS[name]

    def decorate(recipe: Callable[[Files], Points]) -> Callable[[Files], Arrays]:
        def load(files: Files) -> Arrays:
            if "benchmarks.mat" in files:
                rows = facts.negative + facts.positive
                X, y, train, test = ida_mat.read(
                    files["benchmarks.mat"], name, rows, facts.train, facts.splits
                )
            else:
                X, y = recipe(files)
            classes = {-1: facts.negative, 1: facts.positive}
            arrays = pack(*supervised(f"ida-{name}", X, y, facts.columns, classes))
            if "benchmarks.mat" not in files:
                train, test = splits(name, arrays["y"])
            return arrays | {"train": train, "test": test}

        load.__name__, load.__doc__ = recipe.__name__, recipe.__doc__
        return load

    return decorate


def _z(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


@_set("banana")
def banana(files: Files) -> Points:
    """Two interleaved half moons, already standardised, to six decimals (svmlight format, zipped)."""
    X, y = svmlight.read(only(files), 2, {-1.0: -1, 1.0: 1})
    return X.toarray(), y


@_set("breast-cancer")
def breast_cancer(files: Files) -> Points:
    """Ljubljana breast cancer: ordinal codes, one affine map per column; +1 = recurrence."""
    slope = [0.99732724, 1.79417818, 0.463923119, 0.757977, 2.3300011, 1.350483, 1.993164, 0.805841, 2.43904]
    shift = [2.6935114, 2.68471894, 2.18755, 0.459213, 1.76876, 1.488489, 1.018406, 0.982302, 1.9227466]
    raw = uci.breast_cancer(files)
    return raw["X"] * slope - shift, raw["y"]


@_set("diabetes")
def diabetes(files: Files) -> Points:
    """Pima Indians diabetes, z; +1 = diabetes. (IDA's own scale differs by an affine map per column.)"""
    raw = uci.pima(files)
    return _z(raw["X"]), raw["y"]


@_set("flare-solar")
def flare_solar(files: Files) -> Points:
    """Solar flares, unscaled: activity ... area and C, M, X counts; +1 = spot distribution not "O"."""
    raw = uci.solar_flare(files)
    return raw["X"][:, [2, 3, 4, 5, 6, 7, 9, 10, 11]], raw["y"]


@_set("german")
def german(files: Files) -> Points:
    """German credit, z, with IDA's artefact: purpose A410 is 410 beside A40 ... A49 (nine sd away)."""
    raw = uci.german(files)
    X = raw["X"].copy()
    X[X[:, 3] == 10, 3] = 410 - 40
    return _z(X), raw["y"]


@_set("heart")
def heart(files: Files) -> Points:
    """Statlog heart, z; +1 = disease. (IDA's own scale could not be checked.)"""
    raw = uci.heart(files)
    return _z(raw["X"]), raw["y"]


@_set("image")
def image(files: Files) -> Points:
    """Image segmentation without its constant column, z; +1 = brickface, sky, foliage, path (1, 2, 3, 6)."""
    raw = uci.segment(files)
    return _z(np.delete(raw["X"], 2, axis=1)), np.where(np.isin(raw["y"], [1, 2, 3, 6]), 1, -1).astype(
        np.int8
    )


@_set("ringnorm")
def ringnorm(files: Files) -> Points:
    """Delve ringnorm, z; +1 = class 0, the wide one. Without a file: drawn from the generator."""
    if files:
        raw = uci.ringnorm(files)
        return _z(raw["X"]), -raw["y"]
    X, y = generators.ringnorm(_generator("ringnorm"), 3736, 3664)
    return _z(X), y


@_set("splice")
def splice(files: Files) -> Points:
    """Splice junctions without the 15 rows of ambiguous letters, A, G, C, T = 1..4; +1 = EI or IE."""
    raw = uci.splice(files)
    known = (raw["X"] > 0).all(axis=1)
    return raw["X"][known], np.where(raw["y"][known] == 3, -1, 1).astype(np.int8)


@_set("thyroid")
def thyroid(files: Files) -> Points:
    """New thyroid, one affine map per column; +1 = hyper- or hypothyroid."""
    slope = [
        0.08668282471557734,
        0.2160091459925093,
        0.9076916903051858,
        0.14581820454549435,
        0.12197008374778771,
    ]
    shift = [9.481367370321617, 2.1343863719563236, 1.726429596532679, 0.4164567929859075, 0.5082493382697804]
    raw = uci.new_thyroid(files)
    return raw["X"] * slope - shift, np.where(raw["y"] == 1, -1, 1).astype(np.int8)


@_set("titanic")
def titanic(files: Files) -> Points:
    """Titanic: class, age and sex, z; +1 = survived."""
    raw = uci.titanic(files)
    return _z(raw["X"]), raw["y"]


@_set("twonorm")
def twonorm(files: Files) -> Points:
    """Delve twonorm, z; +1 = class 0."""
    raw = uci.twonorm(files)
    return _z(raw["X"]), -raw["y"]


@_set("waveform")
def waveform(files: Files) -> Points:
    """Breiman's waveforms, z; +1 = class 1 (waves at 7 and 11). Without a file: drawn from the generator."""
    if files:
        raw = uci.waveform(files)
        return _z(raw["X"]), np.where(raw["y"] == 1, 1, -1).astype(np.int8)
    X, y = generators.waveform(_generator("waveform"), 3353, 1647)
    return _z(X), y


def _generator(name: str) -> np.random.Generator:
    return Seeds(0, "ida-generated", name).generator(0, "points")
